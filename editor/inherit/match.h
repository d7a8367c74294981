/* match.h - which function and block of a program is which of another version of it
 *
 * Knows signatures only.  The method is that of stale profile matching as LLVM's and bolt's
 * documents describe it (blocks by hashes from strict to loose, then along the flow graph), and
 * of comparing binaries by fixed points (Flake, "Structural Comparison of Executable Objects",
 * DIMVA 2004): what is unique on both sides is a pair, and pairs lead to pairs among what calls
 * them, what they call and what lies beside them.
 */
#ifndef EDITOR_INHERIT_MATCH_H
#define EDITOR_INHERIT_MATCH_H

#include "editor/inherit/signature.h"

enum match_how {		/* a function was recognised */
	MATCH_NAME, MATCH_EXACT, MATCH_LOOSE, MATCH_WORDS, MATCH_CALLS, MATCH_PLACE,
	MATCH_NHOW
};
extern const char *const match_how_name[MATCH_NHOW];

struct match {
	const struct signature *old, *now;
	uint32_t *fn;			/* [old->nfn] index in now->fn[], or NONE */
	uint32_t *fn_back;		/* [now->nfn] likewise of old->fn[] */
	uint8_t *how;			/* [old->nfn] enum match_how, where fn[] is not NONE */
	/* [old->nblock] index in now->block[], or NONE */
	uint32_t *block;
};

/* Everything lives in the arena. */
void match_signatures(const struct signature *old, const struct signature *now,
		      struct arena *a, struct match *out);

/* --- the steps (matchblocks.c) --- */

/* Pairs the blocks of a pair of functions, by m->fn[] as far as that is known: sets the part of
 * m->block[] that is old->fn[f]'s. */
void match_blocks(struct match *m, uint32_t f, struct arena *scratch);
/* How much of the two functions is alike, 0 to 1: operations in blocks that both have, in
 * whatever order, of all operations (Dice's coefficient). */
double match_likeness(const struct signature *old, uint32_t f, const struct signature *now,
		      uint32_t g, struct arena *scratch);

#endif
