/* debugsymbols.h - the symbol table of a debug file, where the generation has none */
#ifndef EDITOR_DEBUG_DEBUGSYMBOLS_H
#define EDITOR_DEBUG_DEBUGSYMBOLS_H

#include "editor/debug/addresses.h"
#include "editor/debug/debugsource.h"
#include "lib/wr.h"

/* Appends symbols and strings that name images as editor/emit/elfout_symbols.c does: those of
 * `s` are of the original.  *nlocal is the number of local symbols.  Returns 1; 0 if there are
 * no symbols in `s`; -1 with the reason. */
int debugsymbols_write(const struct debugsource *s, struct addresses *addresses,
		       struct wr *symbols, struct wr *strings, uint32_t *nlocal,
		       struct err *err);

struct debugsymbols_names {		/* of functions, ascending by address */
	const struct debugsymbols_name {
		vaddr at;
		const char *name;
	} *v;
	uint32_t n;
	const struct debugsymbols_name **by_name;	/* [n], ascending */
};

/* From .symtab, else .dynsym of `s`; n == 0 if it has neither. */
void debugsymbols_names(const struct debugsource *s, struct arena *a,
			struct debugsymbols_names *out);
/* The name of the function that begins at `at`, or NULL. */
const char *debugsymbols_name(const struct debugsymbols_names *names, vaddr at);
/* The first such name that no function elsewhere has, or NULL. */
const char *debugsymbols_unique(const struct debugsymbols_names *names, vaddr at);

#endif
