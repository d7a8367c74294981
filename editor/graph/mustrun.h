/* mustrun.h - what runs because something else was seen to; knows graphs only */
#ifndef EDITOR_GRAPH_MUSTRUN_H
#define EDITOR_GRAPH_MUSTRUN_H

#include <stdbool.h>
#include <stdint.h>

#define MUSTRUN_EXIT UINT32_MAX

struct mustrun_node {
	bool runs;		/* in: it was seen to; out: or something needs it */
	bool entered;		/* in: control may come in from where no jump shows ... */
	bool thrown;		/* in: ... but as good as never does: a landing pad */
	bool leads_to_abnormal;		/* out: leads to abnormal exits only */
};

struct mustrun_jump {
	uint32_t from, to;	/* in: nodes; `to` may be MUSTRUN_EXIT */
	/* in: an exit that is not meant to happen: abort, endless call */
	bool abnormal;
	bool runs;		/* out: something needs it */
};

struct mustrun {
	uint32_t nnode, njump;
	struct mustrun_node *node;	/* node 0 is the entry */
	struct mustrun_jump *jump;
};

/* Fills the fields marked `out`.  Each node that was seen to run is then joined to the entry,
 * or where else control comes in, and to a normal exit by nodes and jumps that run, if there is
 * a way. */
void mustrun_find(struct mustrun *m);

#endif
