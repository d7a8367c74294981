/* blockflow.h - execution counts of blocks and edges from samples of blocks; knows graphs and
 * numbers only
 */
#ifndef EDITOR_GRAPH_BLOCKFLOW_H
#define EDITOR_GRAPH_BLOCKFLOW_H

#include <stdbool.h>
#include <stdint.h>

#define BLOCKFLOW_EXIT UINT32_MAX

struct blockflow_node {
	double samples;		/* in */
	double insns;		/* in: length, without NOPs; 0 or more */
	bool absent;		/* in: takes no part, has no jumps */
	bool entered;		/* in: control may come in from where no jump shows ... */
	bool thrown;		/* in: ... but as good as never does: a landing pad */
	bool leads_to_abnormal;		/* out: leads to abnormal exits only */
	double count;		/* out: executions, in samples per instruction */
};

struct blockflow_jump {
	uint32_t from, to;	/* in: nodes; `to` may be BLOCKFLOW_EXIT */
	/* in: an exit that is not meant to happen: abort, endless call */
	bool abnormal;
	double count;		/* out */
};

struct blockflow {
	uint32_t nnode, njump;
	struct blockflow_node *node;	/* node 0 is the entry */
	struct blockflow_jump *jump;
	double entry_count;		/* out: times entered through node 0 from outside */
};

/* Fills the fields marked `out`.  Deterministic; work is bounded.  Afterwards
 *   - what comes into a node goes out of it, up to rounding (unless the bound was hit);
 *   - a node with samples, and the nodes that must run for it to run, have a positive count;
 *   - a node with no samples may have a positive count, or zero: then nothing says it runs. */
void blockflow_infer(struct blockflow *f);

#endif
