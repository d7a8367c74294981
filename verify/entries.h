/* entries.h - what the walk over the original's code has found */
#ifndef VERIFY_ENTRIES_H
#define VERIFY_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/arena.h"
#include "verify/coderefs.h"

struct vbases {			/* VEC: ascending */
	vaddr *v;
	uint32_t n, cap;
};

struct vextent {		/* from lo up to hi */
	vaddr lo, hi;
	uint32_t kind;		/* of its entries, enum blockmap_table_kind */
	uint32_t fde;		/* whose code forms its address */
};

struct vwalk {			/* filled by entries.c; `start` and `cut` by one bit a byte */
	uint8_t *start;		/* of the original file: an instruction of an FDE begins here */
	uint8_t *cut;		/* of the original file: byte 1..4 of an entry jump */
	/* [ocfi.nfde] union-find: fragments and their functions (verify_group()) */
	uint32_t *group;
	/* [ocfi.nfde] FDEs, those of a group together, ascending; where a group's begin, and
	 * how many there are, by its root: once all code has been walked (verify_members()) */
	uint32_t *member, *first_member, *nmember;
	bool *has_table;	/* [ocfi.nfde] forms the address of what looks like a table */
	bool *own_label;	/* [ocfi.nfde] something holds an address inside of it */
	struct vbases tables;	/* addresses of what looks like jump tables */
	struct vbases bases;	/* addresses that `lea` forms */
	/* what reads as entries of jump tables, for the code that forms their addresses, and
	 * what verify_show_cases() has shown to be some */
	VEC(struct vextent) extents;
	/* bit a byte of the original file, like start: an instruction, a table or an exception
	 * leads there, or forms the address */
	uint8_t *met;
	VEC(vaddr) traps;	/* instructions of FDEs behind which a handler goes on */
	/* of the last executable section, of the last such segment, of all segments */
	vaddr end_of_code, end_of_exec, end;
	VEC(struct vref) ends;	/* instructions that form one of these */
	bool asks_end;		/* something compares or calculates with them, perhaps */
};

#endif
