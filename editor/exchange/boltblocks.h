/* boltblocks.h - the blocks of a function as llvm-bolt cuts them
 *
 * They begin at labels (the start of a piece of code, targets of branches and tables, landing
 * pads, what pointers lead to) and behind instructions that end a block.  Other than ours,
 *   - a call that does not come back ends none;
 *   - an unconditional jump behind a conditional one is in its block, if nothing leads to it.
 */
#ifndef EDITOR_EXCHANGE_BOLTBLOCKS_H
#define EDITOR_EXCHANGE_BOLTBLOCKS_H

#include "postmorph/ir/ir.h"

struct boltblocks {
	uint32_t *number;	/* [fn->nblock]: of the block in its range that ours is in */
	bool *begins;		/* [fn->nblock]: ours is the first one in it */
	uint32_t *n;		/* [fn->nrange]: how many the range has */
};

/* Lives in the arena. */
void boltblocks_find(const struct fn *fn, struct arena *a, struct boltblocks *out);

#endif
