/* profile.h - the block profile of one original module, as a text file
 *
 *   morph-profile 2
 *   module /usr/bin/perl
 *   sha256 <64 hex digits of the original>
 *   clock tick
 *   outside 12.000                samples of this module in no known block
 *   block 0x4f2a0 153.000         samples in the block that begins there, ascending
 *   edge 0x4f2a0 0x4f2c0 17.000   control went from the end of one block to the start of
 *                                 another
 *   call 0x4f2b3 0x51230 4.000    the call or jump at 0x4f2b3 entered the function at 0x51230
 *
 * Control bytes and '%' in the module's path are written as %XX.  Numbers are plain decimals.
 * A block's count is in samples, not divided by the block's length, which the reader knows.
 * Edges and calls of such a profile are sparse observations: their ratios tell something, their
 * sums nothing.  When the clock is `exact`, blocks, edges and calls are executions, and
 * complete; when it is `branches` they are executions that branch stacks show, a part of all
 * but a fair one.  Lines of unknown kind are an error: a newer profile must not be half
 * understood.
 */
#ifndef LIB_PROFILE_H
#define LIB_PROFILE_H

#include <stdbool.h>

#include "lib/addr.h"
#include "lib/digest.h"
#include "lib/rd.h"
#include "lib/wr.h"

struct arena;
struct err;

struct profile_block {
	vaddr addr;
	double samples;
};

struct profile_edge {
	vaddr from, to;			/* starts of blocks */
	double count;
};

struct profile_call {
	vaddr insn, target;
	double count;
};

struct profile {
	const char *module;
	struct digest original;
	const char *clock;		/* tick, cpu-clock, cycles, branches, exact, state,
					 * other */
	double outside;
	double samples;			/* sum over block[]; derived on reading */
	struct profile_block *block;
	uint32_t nblock, nedge, ncall;
	struct profile_edge *edge;	/* ascending by from, to */
	struct profile_call *call;	/* ascending by insn, target */
	/* besides, exact counts of some functions; NULL: none */
	const struct profile *counted;
};

/* Counts are executions and nothing is missing. */
bool profile_is_exact(const struct profile *p);
/* Its blocks have executions, and not samples. */
bool profile_has_executions(const struct profile *p);
/* Blocks, edges and calls ascend afterwards, each once: the counts of equal ones are added up.
 * p->samples stays as it is. */
void profile_sort(struct profile *p);
/* Does the open file begin as one?  -1: it cannot be read, says errno. */
int profile_is_in(int fd);
int profile_read(struct bytes text, struct arena *a, struct profile *out, struct err *err);
void profile_write(const struct profile *p, struct wr *out);

#endif
