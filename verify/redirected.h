/* redirected.h - pointers that lead to images in the generation */
#ifndef VERIFY_REDIRECTED_H
#define VERIFY_REDIRECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/addr.h"
#include "verify/entries.h"

struct verify;

struct vredirect {		/* pointers to `from` are pointers to `to` in the generation */
	vaddr from;
	new_vaddr to;
};

struct vchange {		/* bytes of pointers, which may differ from the original's */
	file_off off;
	vaddr addr;
	uint64_t n;
};

/* Section, value and size of an Elf64_Sym: where they begin in it, and their bytes. */
enum { VERIFY_SYMBOL_FIELDS = 6, VERIFY_SYMBOL_FIELDS_SIZE = 18 };

struct vpointers {
	VEC(struct vredirect) redirects;	/* ascending after verify_redirected() */
	VEC(struct vchange) changes;
	VEC(vaddr) leas;	/* originals of instructions that form an image's address */
	vaddr dynamic_symbols;	/* DT_SYMTAB, or where nothing is */
	/* [ocfi.nfde] of a group: pointers to labels lead to their images */
	bool *labelled;
	/* [ocfi.nfde] something leads inside: original code may run.  Whoever meets such a way
	 * notes it (verify_note_inner()); stalepointers.c follows it. */
	bool *open;
	struct vbases held;	/* ways.c: where something else than branches leads */
	struct vunled {		/* unled.c */
		bool *asked;	/* [ocfi.nfde] of a group */
		vaddr *at;	/* [ocfi.nfde] verify_unled() of its members */
	} unled;
};

/* Fills redirects and changes.  0, or -1 after a refusal of holders.c. */
int verify_find_redirects(struct verify *v);
/* The image of the lea at addr may form `to` where that forms `from`. */
bool verify_redirect_lea(struct verify *v, vaddr addr, vaddr from, new_vaddr to);

/* labelwords.c: a redirected pointer to a label leads to a place where that is possible.  0, or
 * -1 with the refusal. */
int verify_label_place(struct verify *v, vaddr from, new_vaddr to);
/* labelwords.c: inside of a function with redirected labels, not at its start. */
bool verify_is_labelled(const struct verify *v, vaddr addr);

/* ways.c: something else than a branch may lead there, a pointer, an operand, a table, a pad;
 * or it is the start of a function. */
bool verify_is_held(struct verify *v, vaddr addr);
/* unled.c: the first instruction of the FDE to which nothing seems to lead; 0: there is none.
 * What a jump fetches may have been calculated, and kept, then. */
vaddr verify_unled(struct verify *v, uint32_t fde);

enum verify_way { WAY_CALCULATED, WAY_FETCHED, WAY_BY_TABLE };
/* ways.c: where the computed jump at `jump` gets its target from. */
enum verify_way verify_way_of(struct verify *v, vaddr jump);

#endif
