/* countgraph.h - a function as a flow graph in which counts are conserved, for exact counting
 *
 * A call may not return (exit, longjmp, an exception), or return twice (fork, setjmp).  So
 * blocks are divided after their calls: each piece of a block is an edge of its own, and after
 * each call an edge leads outside, whose count is the difference.
 */
#ifndef EDITOR_INSTRUMENT_COUNTGRAPH_H
#define EDITOR_INSTRUMENT_COUNTGRAPH_H

#include "editor/graph/spanningtree.h"
#include "editor/emit/edgecounter.h"
#include "postmorph/ir/ir.h"

struct flagscan;

enum countedge_kind {
	COUNTEDGE_IN,		/* from outside to a block */
	COUNTEDGE_PIECE,	/* part of a block, up to a call or its end */
	COUNTEDGE_CALL,		/* a call that did not come back */
	COUNTEDGE_FALL, COUNTEDGE_TAKEN,
	COUNTEDGE_TABLE,	/* to a block, by whichever entries */
	COUNTEDGE_OUT,		/* out of the function from a block's end */
};

struct countedge {		/* what flow.edge[] of the same index is in the program */
	uint8_t kind;
	bool first;		/* PIECE: the first of its block, runs as often as the block */
	bool saved;		/* flags live where it is counted */
	/* TABLE: several jumps use the table; counts come from the recorded targets of each */
	bool shared;
	uint32_t block;
	/* PIECE: instruction of the block that it is counted before; FALL, TAKEN, TABLE:
	 * block that it leads to, NO_BLOCK if outside */
	uint32_t where;
};

struct countgraph {
	struct spanningtree flow;
	struct countedge *edge;	/* [flow.nedge] */
	/* [ntable] the block that jumps through it; NO_BLOCK if several do */
	uint32_t *table_user;
};

/* Heat: block frequencies in two bytes a block, how often it runs and how often its branch is
 * taken.  A byte is 0 where the count is 0; else 1 + 4 * (log2(count) + 20), rounded, from 1 to
 * 255.  Any byte is valid. */
enum { COUNTGRAPH_HEAT = 2 };
uint8_t countgraph_heat(double count);

struct countgraph_by {
	/* [ninsn] the flags live before each instruction (flaglive.h); NULL: costs mean
	 * nothing */
	const uint16_t *flags;
	/* instead of these, for private counters: targets of computed jumps are not recorded,
	 * and counting where flags live is to be avoided at any cost */
	const struct flagscan *scan;
	/* the function's frequencies; NULL: a static guess takes their place */
	const uint8_t *heat;
};

/* Makes the graph of `fn` in arena `a`, and chooses the edges that get counters.  The same
 * arguments give the same graph. */
void countgraph_make(const struct prog *prog, const struct fn *fn,
		     const struct countgraph_by *by, struct arena *a, struct countgraph *out);

#endif
