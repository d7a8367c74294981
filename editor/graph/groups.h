/* groups.h - items by the part that each belongs to, those of one part in their order */
#ifndef EDITOR_GRAPH_GROUPS_H
#define EDITOR_GRAPH_GROUPS_H

#include <stdint.h>

#include "editor/graph/memory.h"

struct groups {
	uint32_t *first;		/* [npart + 1] of item[] */
	uint32_t *item;
};

static inline void groups_make(struct groups *g, uint32_t npart, const uint32_t *part_of,
			       uint32_t n)
{
	g->first = memory_new((size_t)npart + 2, sizeof(*g->first));
	g->item = memory_new(n, sizeof(*g->item));
	for (uint32_t i = 0; i < n; i++)
		g->first[part_of[i] + 2]++;
	for (uint32_t p = 0; p < npart; p++)
		g->first[p + 2] += g->first[p + 1];
	for (uint32_t i = 0; i < n; i++)
		g->item[g->first[part_of[i] + 1]++] = i;
}

static inline void groups_free(struct groups *g)
{
	free(g->first);
	free(g->item);
}

#endif
