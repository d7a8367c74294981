/* entries.h - what the walk over the original's code has found */
#ifndef VERIFY_ENTRIES_H
#define VERIFY_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"

struct vbases {			/* VEC: ascending */
	vaddr *v;
	uint32_t n, cap;
};

struct vwalk {			/* filled by entries.c; `start` and `cut` by one bit a byte */
	uint8_t *start;		/* of the original file: an instruction of an FDE begins here */
	/* of the original file, by one bit for four bytes: an instruction refers to them */
	uint8_t *referred;
	uint8_t *cut;		/* of the original file: byte 1..4 of an entry jump */
	/* [ocfi.nfde] union-find: fragments and their functions (verify_group()) */
	uint32_t *group;
	bool *has_table;	/* [ocfi.nfde] forms the address of what looks like a table */
	struct vbases tables;	/* addresses of what looks like jump tables */
	struct vbases bases;	/* addresses that `lea` forms */
};

#endif
