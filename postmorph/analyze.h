/* analyze.h - analyses a file: from its bytes to the annotated program of ir.h */
#ifndef POSTMORPH_ANALYZE_H
#define POSTMORPH_ANALYZE_H

#include "postmorph/ir/ir.h"

struct err;

/* Analyses a whole file.  Returns -1 with ERR_REFUSED when Morph must not touch the file at
 * all (Go, OCaml, GHC, no code covered by FDEs, ...; set-id bits are the caller's to check),
 * ERR_INPUT when it is malformed; *out is then unusable.  `file` must live as long as the
 * arena. */
int prog_analyze(struct bytes file, struct arena *a, struct prog *out, struct err *err);
/* The same, but only the functions that hold one of the `n` addresses are kept, and
 * prog->call[] has only their calls.  Of others the reason to skip them may be missing.
 * NULL keeps all. */
int prog_analyze_at(struct bytes file, const vaddr *wanted, uint32_t n, struct arena *a,
		    struct prog *out, struct err *err);

struct prog_wanted {
	const vaddr *addr;	/* [n] NULL: all */
	uint32_t n;
	/* functions that those hold which are kept, directly call are kept too, and those
	 * that these call, so many calls deep */
	uint32_t depth;
};

int prog_analyze_around(struct bytes file, const struct prog_wanted *wanted, struct arena *a,
			struct prog *out, struct err *err);

#endif
