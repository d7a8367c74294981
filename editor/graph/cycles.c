/* cycles.c - strongly connected components (Tarjan 1972), without recursion
 *
 * Nodes are numbered as a depth-first search meets them.  low[v] is the least number that v is
 * known to come back to among those not yet in a cycle of their own; v is the first of its
 * cycle when that is its own number, and all that is above it on the stack then belongs to it.
 */
#include "editor/graph/cycles.h"

#include <stdlib.h>

#include "editor/graph/memory.h"

#define NONE UINT32_MAX

struct search {
	const uint32_t *first;
	const struct cycles_edge *edge;
	uint32_t *cycle;	/* NONE: not known yet */
	uint32_t *number, *low;	/* number: from 1, 0 when it was not met */
	uint32_t *at;		/* next edge to look at, index + 1 */
	uint32_t *path, npath;	/* nodes being looked at */
	uint32_t *open, nopen;	/* met, in no cycle yet */
	uint32_t met;
};

static void enter(struct search *s, uint32_t v)
{
	s->number[v] = s->low[v] = ++s->met;
	s->at[v] = s->first[v];
	s->path[s->npath++] = v;
	s->open[s->nopen++] = v;
}

static void lower(struct search *s, uint32_t v, uint32_t to)
{
	if (to < s->low[v])
		s->low[v] = to;
}

static void leave(struct search *s, uint32_t v)
{
	s->npath--;
	if (s->npath)
		lower(s, s->path[s->npath - 1], s->low[v]);
	if (s->low[v] != s->number[v])
		return;
	do
		s->cycle[s->open[--s->nopen]] = v;
	while (s->open[s->nopen] != v);
}

static void search_from(struct search *s, uint32_t root)
{
	enter(s, root);
	while (s->npath) {
		uint32_t v = s->path[s->npath - 1];

		if (!s->at[v]) {
			leave(s, v);
			continue;
		}
		const struct cycles_edge *e = &s->edge[s->at[v] - 1];
		s->at[v] = e->next;
		if (!s->number[e->to])
			enter(s, e->to);
		else if (s->cycle[e->to] == NONE)
			lower(s, v, s->number[e->to]);
	}
}

void cycles_find(uint32_t n, const uint32_t *first, const struct cycles_edge *edge,
		 uint32_t *cycle)
{
	struct search s = { .first = first, .edge = edge, .cycle = cycle };

	s.number = memory_new(n, sizeof(*s.number));
	s.low = memory_new(n, sizeof(*s.low));
	s.at = memory_new(n, sizeof(*s.at));
	s.path = memory_new(n, sizeof(*s.path));
	s.open = memory_new(n, sizeof(*s.open));
	for (uint32_t v = 0; v < n; v++)
		cycle[v] = NONE;
	for (uint32_t v = 0; v < n; v++) {
		if (!s.number[v])
			search_from(&s, v);
	}
	free(s.number);
	free(s.low);
	free(s.at);
	free(s.path);
	free(s.open);
}
