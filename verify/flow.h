/* flow.h - one run of the data flow: the instructions of a function, and what is known in front
 * of each
 *
 * flow.c walks, tablelengths.c counts the entries that loads can reach by the ways that it has
 * found, and dataflow.c makes the runs.
 */
#ifndef VERIFY_FLOW_H
#define VERIFY_FLOW_H

#include "verify/bounds.h"
#include "verify/effect.h"
#include "verify/values.h"

struct node {			/* one instruction */
	struct effect e;
	struct regs in;
	bool queued;
	bool open;		/* control may come there from elsewhere */
	bool dead;		/* no way is known by which control comes there */
	bool former;		/* its image forms the address of a new table */
	struct line line;	/* of a former */
	int32_t shift;		/* its image reads so far from where it does */
	/* by an index from here on it goes on in the original; 0: it does not */
	uint32_t guard;
};

struct range {
	vaddr addr;
	uint64_t len;
	uint32_t *at;		/* [len] number of the instruction that begins there + 1 */
	struct node *node;
	vaddr *node_addr;
	uint32_t n, first;	/* nodes, and those of the ranges before it */
};

struct place {
	uint32_t range, node;
};

struct flow {
	struct verify *v;
	struct arena *a;	/* lifetime of one run */
	struct vtables tables;
	VEC(struct range) ranges;
	VEC(uint32_t) fdes;	/* of ranges[] */
	VEC(struct place) queue;
	bool unknown;		/* an indirect jump that may go anywhere was met */
	bool stays;		/* an image may lead to original code by a table */
	bool outside;		/* where control is about to arrive, it comes from elsewhere */
	bool dead;		/* from what is dead: that says nothing of what is not */
	/* all ways are known, and are put down here */
	bool collecting;
	struct vgraph graph;
	struct vedge edge;	/* `from` and the condition of the next one */
};

/* flow.c: follows the function of FDEs member[nmember] from all its beginnings;
 * uses.formers[former[n]] are in it.  0, or -1 with the refusal, here and below. */
int vflow_all(struct flow *f, const uint32_t *former, uint32_t n, const uint32_t *member,
	      uint32_t nmember);
/* flow.c: goes on where tables have more entries than they had. */
int vflow_again(struct flow *f);
/* flow.c: puts all ways down in f->graph. */
int vflow_ways(struct flow *f);
/* tablelengths.c; f->graph has all ways.  Each load of an entry of a new table reads one that
 * it has: 0, or -1 with the refusal.  *more: it may read entries that were not followed, which
 * are to be now; then all is to be asked again. */
int verify_check_lengths(struct flow *f, bool *more);
/* How many entries of an original table the loads of one can read, by comparisons: no fewer
 * than t->nentry, which look like some.  0: that is not shown, or they are not all entries. */
uint32_t verify_shown_entries(struct flow *f, const struct vtable *t);

#endif
