/* flowgraphs.h - all flow graphs of a few blocks, each once
 *
 * A flow graph: block 0 is the entry and leads to all others; from each block control goes to
 * none (it returns), one or two other blocks or itself.  Two are the same if the blocks other
 * than the entry can be renamed so that they are equal.  Which of two ways falls through is no
 * part of a graph: weights are tried for both.
 *
 *	blocks	graphs
 *	1	2
 *	2	8
 *	3	70
 *	4	802
 *	5	12,008
 *	6	218,317
 *	7	4,674,632
 *
 * All orders of all graphs of 5 blocks, with five weightings, take a second; those of 6 half a
 * minute; those of 7 are 20 times as many graphs, with 6 times as many orders each.
 *
 * Numbered in the order in which they are met, block by block, renamed graphs become few: only
 * where two new blocks are met at once is their order free.  Of those one is kept, that with
 * the least code.
 */
#ifndef TESTS_UNIT_FLOWGRAPHS_H
#define TESTS_UNIT_FLOWGRAPHS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { FLOWGRAPH_MAX = 7, FLOWGRAPH_NONE = 0xff };

struct flowgraph {
	uint32_t n;
	uint8_t way[FLOWGRAPH_MAX][2];	/* ascending; NONE: there is no such way */
};

typedef void flowgraph_use(const struct flowgraph *g, void *ctx);

struct flowgraph_walk {
	struct flowgraph g;
	flowgraph_use *use;
	void *ctx;
	uint32_t count;
};

static inline void flowgraph_set(uint8_t *way, uint8_t a, uint8_t b)
{
	way[0] = a < b ? a : b;
	way[1] = a < b ? b : a;
}

/* Less than the graph itself when its block v is called name[v]? */
static inline bool flowgraph_renamed_is_less(const struct flowgraph *g, const uint8_t *name)
{
	uint8_t was[FLOWGRAPH_MAX], now[2];

	for (uint32_t v = 0; v < g->n; v++)
		was[name[v]] = (uint8_t)v;
	for (uint32_t v = 0; v < g->n; v++) {
		const uint8_t *way = g->way[was[v]];

		flowgraph_set(now, way[0] == FLOWGRAPH_NONE ? way[0] : name[way[0]],
			      way[1] == FLOWGRAPH_NONE ? way[1] : name[way[1]]);
		int order = memcmp(now, g->way[v], sizeof(now));
		if (order)
			return order < 0;
	}
	return false;
}

/* Tries all names for blocks at..; one of the graphs that are met in their numbers' order is
 * the least. */
static inline bool flowgraph_is_least(const struct flowgraph *g, uint8_t *name, uint32_t at)
{
	if (at == g->n)
		return !flowgraph_renamed_is_less(g, name);
	for (uint32_t i = at; i < g->n; i++) {
		uint8_t t = name[at];

		name[at] = name[i];
		name[i] = t;
		bool least = flowgraph_is_least(g, name, at + 1);
		name[i] = name[at];
		name[at] = t;
		if (!least)
			return false;
	}
	return true;
}

/* Ways out of block v and those behind it; `met` blocks have been met so far. */
static inline void flowgraph_extend(struct flowgraph_walk *w, uint32_t v, uint32_t met)
{
	uint8_t name[FLOWGRAPH_MAX];
	uint32_t n = w->g.n;

	if (v == n) {
		for (uint32_t i = 0; i < n; i++)
			name[i] = (uint8_t)i;
		if (met == n && flowgraph_is_least(&w->g, name, 1)) {
			w->count++;
			w->use(&w->g, w->ctx);
		}
		return;
	}
	if (v >= met)			/* nothing leads to the rest */
		return;
	flowgraph_set(w->g.way[v], FLOWGRAPH_NONE, FLOWGRAPH_NONE);
	flowgraph_extend(w, v + 1, met);
	for (uint32_t a = 0; a <= met && a < n; a++) {
		uint32_t now = met + (a == met);

		flowgraph_set(w->g.way[v], (uint8_t)a, FLOWGRAPH_NONE);
		flowgraph_extend(w, v + 1, now);
		for (uint32_t b = a + 1; b <= now && b < n; b++) {
			flowgraph_set(w->g.way[v], (uint8_t)a, (uint8_t)b);
			flowgraph_extend(w, v + 1, now + (b == now));
		}
	}
}

/* How many there are. */
static inline uint32_t flowgraphs_each(uint32_t n, flowgraph_use *use, void *ctx)
{
	struct flowgraph_walk w = { .g.n = n, .use = use, .ctx = ctx };

	flowgraph_extend(&w, 0, 1);
	return w.count;
}

#endif
