/* counting.h - what a counting generation has besides images: counters, and what leads to them
 *
 * A generation has counters only where that was asked for (verify_counting() in verify.h).
 */
#ifndef VERIFY_COUNTING_H
#define VERIFY_COUNTING_H

#include <elf.h>
#include <stdbool.h>

#include "lib/addr.h"
#include "lib/arena.h"
#include "lib/rd.h"

struct verify;

struct vstub {			/* counts the way from a new jump table to an image */
	new_vaddr at, to;
};

struct vinner {			/* where a jump table of a function leads */
	vaddr addr;
	uint32_t group;		/* of FDEs, verify_group() */
};

struct vleap {			/* a direct jump, branch or fall into another group */
	uint32_t from, to;
	vaddr at;
};

struct vcounting {
	bool wanted;		/* the generation is to have counters */
	const Elf64_Phdr *segment;	/* of the counters, by headers.c; NULL: none */
	new_vaddr start, start_end;	/* the code that runs first, by counting.c */
	/* file offset in the original of what leads there instead: eight bytes */
	uint64_t leads_at;
	VEC(struct vstub) stubs;	/* ascending by at, by code.c */
	/* by flagsdead.c: [ocfi.nfde] how ways end at returns of that group, and where its
	 * jump tables lead; there may be labels in it */
	uint8_t *returns, *tables;
	bool *labels;
	/* [ocfi.nfde] a call or a pointer leads to its start; it was asked what that reads */
	bool *called, *asked;
	VEC(struct vleap) leaps;	/* ascending by from */
	bool odd;		/* something leads to what begins by reading flags */
	uint64_t left;		/* instructions that may be looked at yet */
	bool all_live, changed;
	VEC(struct vinner) inner;	/* ascending by group, addr; likewise */
	/* tables of addresses, by group in the place of FDE; ascending by hi, and by lo */
	VEC(struct vextent) held;
	struct vextent *starts;		/* [held.n] */
	/* computed jumps whose code has the address of a table; ascending */
	VEC(vaddr) direct;
	/* those through registers that hold what was calculated, maybe; where ways begin that
	 * are not followed from where they come.  Ascending; by calculated.c */
	struct vbases calculated, unfollowed;
};

/* The length of the counter at `code`, which stands at address `at`; 0: there is none.  It adds
 * one to a word of the counters' segment: it changes no register, no other memory and of the
 * flags all but CF. */
uint32_t verify_counter(const struct verify *v, struct bytes code, new_vaddr at);
/* The stub at that address, NULL if none. */
const struct vstub *verify_find_stub(const struct verify *v, new_vaddr at);

#endif
