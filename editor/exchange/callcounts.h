/* callcounts.h - which call entered which function of the program, and how often */
#ifndef EDITOR_EXCHANGE_CALLCOUNTS_H
#define EDITOR_EXCHANGE_CALLCOUNTS_H

#include "postmorph/ir/ir.h"

struct callcount {
	uint32_t caller, block, callee;	/* block: of the caller */
	vaddr at;			/* the call, or the jump out of the function */
	double count;
};

struct callcounts {
	struct callcount *at;		/* [n] ascending by caller, block, at, callee */
	uint32_t n;
};

/* Of the program with its counts (editor/infer/infer.h).  Direct calls are made as often as
 * their blocks run.  Indirect ones are there where they were counted: of an exact profile. */
void callcounts_find(const struct prog *prog, struct callcounts *out);

#endif
