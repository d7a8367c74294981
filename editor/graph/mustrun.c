/* mustrun.c - shortest ways from the entry to what was seen to run, and from there to an exit
 *
 * Samples are few: a block without any runs all the same when no other way leads to one that
 * has some.  Which way was taken is not known; assumed is one on which the fewest nodes run
 * that were not seen to (profi joins its islands likewise: Levin, Nowak, Bonfante, Pupyrev,
 * Profile Inference Revisited, POPL 2022).
 *
 * The search is breadth first, a node that was seen to run being no step: `queue` holds the
 * nodes that so many steps reach, `later` those that need one more.
 */
#include "editor/graph/mustrun.h"

#include <stdlib.h>

#include "editor/graph/memory.h"

#define NONE UINT32_MAX
#define ROOT (UINT32_MAX - 1)		/* via[]: where ways begin, or already joined */

struct work {
	struct mustrun *m;
	uint32_t *first[2], *jump[2];	/* jumps by node: entered [0], left [1] */
	uint32_t *via;			/* [nnode] the jump by which it was reached */
	uint32_t *queue, *later;	/* [nnode] */
	uint32_t nqueue, nlater;
	uint32_t *seen, nseen;		/* what runs from the beginning */
};

static void index_jumps(struct work *w, bool left)
{
	const struct mustrun *m = w->m;
	uint32_t *first = memory_new((size_t)m->nnode + 1, sizeof(*first));
	uint32_t *jump = memory_new(m->njump, sizeof(*jump));

	for (uint32_t j = 0; j < m->njump; j++)
		if (left || m->jump[j].to != MUSTRUN_EXIT)
			first[left ? m->jump[j].from : m->jump[j].to]++;
	for (uint32_t v = 0; v < m->nnode; v++)
		first[v + 1] += first[v];
	for (uint32_t j = m->njump; j-- > 0; )
		if (left || m->jump[j].to != MUSTRUN_EXIT)
			jump[--first[left ? m->jump[j].from : m->jump[j].to]] = j;
	w->first[left] = first;
	w->jump[left] = jump;
}

static bool has_exit(const struct work *w, uint32_t v)
{
	for (uint32_t i = w->first[true][v]; i < w->first[true][v + 1]; i++) {
		const struct mustrun_jump *j = &w->m->jump[w->jump[true][i]];

		if (j->to == MUSTRUN_EXIT && !j->abnormal)
			return true;
	}
	return false;
}

/* Nodes from which neither a normal exit nor one that runs can be reached. */
static void find_abnormal(struct work *w)
{
	struct mustrun *m = w->m;
	uint32_t n = 0;

	for (uint32_t v = 0; v < m->nnode; v++) {
		m->node[v].leads_to_abnormal = !m->node[v].runs && !has_exit(w, v);
		if (!m->node[v].leads_to_abnormal)
			w->queue[n++] = v;
	}
	for (uint32_t head = 0; head < n; head++) {
		uint32_t v = w->queue[head];

		for (uint32_t i = w->first[false][v]; i < w->first[false][v + 1]; i++) {
			uint32_t from = m->jump[w->jump[false][i]].from;

			if (m->node[from].leads_to_abnormal) {
				m->node[from].leads_to_abnormal = false;
				w->queue[n++] = from;
			}
		}
	}
}

static void reach(struct work *w, uint32_t v, uint32_t via)
{
	w->via[v] = via;
	if (w->m->node[v].runs)
		w->queue[w->nqueue++] = v;
	else
		w->later[w->nlater++] = v;
}

/* From what is queued, forward or backward, over all nodes but those that lead to abnormal
 * exits only. */
static void spread(struct work *w, bool forward)
{
	const struct mustrun *m = w->m;

	while (w->nqueue + w->nlater) {
		for (uint32_t head = 0; head < w->nqueue; head++) {
			uint32_t v = w->queue[head];

			for (uint32_t i = w->first[forward][v]; i < w->first[forward][v + 1];
			     i++) {
				uint32_t j = w->jump[forward][i];
				uint32_t to = forward ? m->jump[j].to : m->jump[j].from;

				if (to != MUSTRUN_EXIT && w->via[to] == NONE &&
				    !m->node[to].leads_to_abnormal)
					reach(w, to, j);
			}
		}
		uint32_t *queue = w->queue;

		w->queue = w->later;
		w->later = queue;
		w->nqueue = w->nlater;
		w->nlater = 0;
	}
}

/* Joins what was seen to run to where control comes in (forward) or to an exit. */
static void join(struct work *w, bool forward)
{
	struct mustrun *m = w->m;

	for (uint32_t v = 0; v < m->nnode; v++)
		w->via[v] = NONE;
	/* Exceptions are rare: first the ways without. */
	for (int thrown = 0; thrown < 2; thrown++) {
		for (uint32_t v = 0; v < m->nnode; v++) {
			const struct mustrun_node *n = &m->node[v];

			if (w->via[v] == NONE && n->thrown == thrown &&
			    (forward ? v == 0 || n->entered : has_exit(w, v)))
				reach(w, v, ROOT);
		}
		spread(w, forward);
	}
	for (uint32_t i = 0; i < w->nseen; i++) {
		for (uint32_t u = w->seen[i]; w->via[u] != NONE && w->via[u] != ROOT; ) {
			struct mustrun_jump *j = &m->jump[w->via[u]];

			j->runs = true;
			w->via[u] = ROOT;
			u = forward ? j->from : j->to;
			m->node[u].runs = true;
		}
	}
}

void mustrun_find(struct mustrun *m)
{
	struct work w = { .m = m };

	w.via = memory_new(m->nnode, sizeof(*w.via));
	w.queue = memory_new(m->nnode, sizeof(*w.queue));
	w.later = memory_new(m->nnode, sizeof(*w.later));
	w.seen = memory_new(m->nnode, sizeof(*w.seen));
	for (uint32_t v = 0; v < m->nnode; v++)
		if (m->node[v].runs)
			w.seen[w.nseen++] = v;
	index_jumps(&w, false);
	index_jumps(&w, true);
	find_abnormal(&w);
	join(&w, true);
	join(&w, false);
	free(w.via);
	free(w.queue);
	free(w.later);
	free(w.seen);
	for (int left = 0; left < 2; left++) {
		free(w.first[left]);
		free(w.jump[left]);
	}
}
