/* symbols.h - what symbols of new text must name */
#ifndef VERIFY_SYMBOLS_H
#define VERIFY_SYMBOLS_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/arena.h"

struct verify;

struct vname {			/* that the original has for a function */
	uint32_t group;		/* of FDEs */
	const char *text;
};

struct vnames {
	VEC(struct vname) all;	/* ascending by group */
};

/* All names of functions and fragments, by .symtab and .dynsym. */
void verify_find_names(struct verify *v, struct vnames *out);
/* A group of FDEs is called by the first n bytes of `name`, if `whole`, or is by its name a
 * fragment of what is called so. */
bool verify_is_called(const struct vnames *names, uint32_t group, const char *name, size_t n,
		      bool whole);

/* [from, from + size) is, from the start of one FDE to the end of one, images of functions of
 * which is_of() says so, by the root of their group of FDEs. */
bool verify_is_piece(const struct verify *v, new_vaddr from, uint64_t size,
		     bool (*is_of)(const void *ctx, uint32_t group), const void *ctx);
/* The symbol is of section .morph.text (*hot) or .morph.fluff, and its bytes are in there. */
bool verify_in_new_text(const struct verify *v, const Elf64_Sym *sym, bool *hot);

#endif
