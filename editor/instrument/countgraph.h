/* countgraph.h - a function as a graph whose flow is conserved, for exact counting
 *
 * Blocks are cut behind their calls: a call may not come back (exit, longjmp, an exception), or
 * come back twice (fork, setjmp).  So each piece of a block is an edge of its own, and behind
 * each call an edge leads outside that has the difference.
 */
#ifndef EDITOR_INSTRUMENT_COUNTGRAPH_H
#define EDITOR_INSTRUMENT_COUNTGRAPH_H

#include "editor/graph/spanningtree.h"
#include "editor/emit/edgecounter.h"
#include "postmorph/ir/ir.h"

enum countedge_kind {
	COUNTEDGE_IN,		/* from outside to a block */
	COUNTEDGE_PIECE,	/* part of a block, up to a call or its end */
	COUNTEDGE_CALL,		/* a call that did not come back */
	COUNTEDGE_FALL, COUNTEDGE_TAKEN,
	COUNTEDGE_TABLE,	/* to a block, by whichever entries */
	COUNTEDGE_OUT,		/* out of the function from a block's end */
};

struct countedge {		/* of flow.edge[] of the same number */
	uint8_t kind;
	bool first;		/* PIECE: the first of its block, runs as often as the block */
	bool saved;		/* flags live where it is counted */
	bool shared;		/* TABLE: of several jumps; told by the targets of each */
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

/* Heat: two bytes a block, how often it runs and how often its branch is taken; a coarse
 * logarithm, 0 where it does not run.  Any byte is valid. */
enum { COUNTGRAPH_HEAT = 2 };
uint8_t countgraph_heat(double count);

/* In arena `a`, counted edges chosen.  `flags` are those live before each instruction
 * (editor/instrument/flaglive.h), or NULL: then costs mean nothing.  `heat` may be NULL:
 * nothing is known.  Depends on nothing else but fn. */
void countgraph_make(const struct prog *prog, const struct fn *fn, const uint16_t *flags,
		     const uint8_t *heat, struct arena *a, struct countgraph *out);

#endif
