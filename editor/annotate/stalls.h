/* stalls.h - what may have made instructions of a function slower than at best */
#ifndef EDITOR_ANNOTATE_STALLS_H
#define EDITOR_ANNOTATE_STALLS_H

#include "editor/annotate/bestcase.h"

enum stall {			/* what PCs do not tell apart */
	STALL_FORWARD,		/* a load that waits for a store that it has other bytes than */
	STALL_DIVIDE,		/* operands that are not easy */
	STALL_MISPREDICT,
	STALL_MEMORY,		/* caches, the TLB, data across lines */
	STALL_FETCH,		/* code that is not in the cache */
	STALL_UNKNOWN,
	NSTALL
};
extern const char *const stall_name[NSTALL];

struct stalls_insn {
	/* where its path begins when nothing else is under way; culprits are indices in
	 * fn->insn[] here */
	struct bestcase best;
	/* cycles where as much as can be is hidden behind what ran before the path: the same
	 * where the path is a loop's, which runs behind itself */
	double least;
	uint32_t may;			/* bits: enum stall */
	uint32_t branch;		/* for MISPREDICT: fn->insn[] index of the branch that
					 * goes wrong most */
	/* for MEMORY and DIVIDE: which instruction; itself, or the one that it waits for */
	uint32_t source;
	/* cycles of each execution that mispredictions take at most: a predictor is no worse
	 * than one that always says what is more frequent */
	double mispredict_most;
};

/* What may have cost it so many cycles more than at least; at least one bit. */
uint32_t stalls_may(const struct stalls_insn *s, double excess);

/* [fn->ninsn] in the arena.  The path to a block is the one over the edges that run most, so
 * fn has its counts: before[fn->nblock] has for each block the one that mostly runs before,
 * NO_BLOCK where none does. */
struct stalls_insn *stalls_find(const struct prog *prog, const struct fn *fn, struct arena *a,
				const uint32_t **before);

/* The edges of a block to others, and how often they run; calls f for each. */
void stalls_each_edge(const struct fn *fn, const double *runs, uint32_t block,
		      void (*f)(void *ctx, uint32_t from, uint32_t to, double count),
		      void *ctx);

#endif
