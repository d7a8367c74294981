/* spanningtree.c - a spanning tree of greatest cost is not counted, the rest is
 *
 * After Ball, Larus: Optimally Profiling and Tracing Programs (1994).  Every edge that is not
 * in a spanning tree closes a circle with edges of it; counting those and only those edges
 * tells all.  Edges are taken into the tree by falling cost (Kruskal), blind ones before all
 * others.
 *
 * A leaf of the tree has one edge that is not known: it follows from the others.  With it
 * known, the leaf goes, and so on until no edge is left.
 */
#include "editor/graph/spanningtree.h"

#include "editor/graph/memory.h"

struct rank {
	uint32_t edge;
	bool blind;
	double cost;
};

/* Blind ones first, then by falling cost, then as they stand. */
static int by_cost(const void *x, const void *y)
{
	const struct rank *a = x, *b = y;

	if (a->blind != b->blind)
		return a->blind ? -1 : 1;
	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return a->edge < b->edge ? -1 : a->edge > b->edge;
}

static uint32_t find(uint32_t *parent, uint32_t v)
{
	while (parent[v] != v)
		v = parent[v] = parent[parent[v]];
	return v;
}

uint32_t spanningtree_choose(struct spanningtree *t)
{
	uint32_t *parent = memory_new(t->nnode, sizeof(*parent)), n = 0;
	struct rank *rank = memory_new(t->nedge, sizeof(*rank));

	for (uint32_t v = 0; v < t->nnode; v++)
		parent[v] = v;
	for (uint32_t i = 0; i < t->nedge; i++)
		rank[i] = (struct rank){ i, t->edge[i].blind, t->edge[i].cost };
	qsort(rank, t->nedge, sizeof(*rank), by_cost);
	for (uint32_t i = 0; i < t->nedge; i++) {
		struct spanningtree_edge *e = &t->edge[rank[i].edge];
		uint32_t from = find(parent, e->from), to = find(parent, e->to);

		e->untold = from == to && e->blind;
		e->counted = from == to && !e->blind;
		n += e->counted;
		parent[from] = to;
	}
	free(rank);
	free(parent);
	return n;
}

struct solve {
	struct spanningtree *t;
	uint32_t *first, *at;		/* edges of the tree by node, each twice */
	uint32_t *left;			/* [nnode] of them not known yet */
	bool *known;			/* [nedge] */
	int64_t *surplus;		/* [nnode] known flow in less known flow out */
	uint32_t *queue, n;
};

static void know(struct solve *s, uint32_t edge)
{
	const struct spanningtree_edge *e = &s->t->edge[edge];

	s->known[edge] = true;
	s->surplus[e->from] = (int64_t)((uint64_t)s->surplus[e->from] - (uint64_t)e->count);
	s->surplus[e->to] = (int64_t)((uint64_t)s->surplus[e->to] + (uint64_t)e->count);
}

static void index_tree(struct solve *s)
{
	const struct spanningtree *t = s->t;

	for (uint32_t i = 0; i < t->nedge; i++) {
		if (s->known[i])
			continue;
		s->left[t->edge[i].from]++;
		s->left[t->edge[i].to]++;
	}
	for (uint32_t v = 0; v < t->nnode; v++)
		s->first[v + 1] = s->first[v] + s->left[v];
	for (uint32_t i = t->nedge; i-- > 0; ) {
		if (s->known[i])
			continue;
		s->at[--s->first[t->edge[i].from + 1]] = i;
		s->at[--s->first[t->edge[i].to + 1]] = i;
	}
}

/* first[v + 1] is now where the edges of v begin. */
static void solve_leaf(struct solve *s, uint32_t v)
{
	for (uint32_t i = s->first[v + 1]; s->left[v]; i++) {
		struct spanningtree_edge *e = &s->t->edge[s->at[i]];
		uint32_t other = e->from == v ? e->to : e->from;

		if (s->known[s->at[i]])
			continue;
		e->count = e->from == v ? s->surplus[v] :
					  (int64_t)(0 - (uint64_t)s->surplus[v]);
		know(s, s->at[i]);
		s->left[v]--;
		if (--s->left[other] == 1)
			s->queue[s->n++] = other;
	}
}

void spanningtree_solve(struct spanningtree *t)
{
	struct solve s = { .t = t };

	s.first = memory_new((size_t)t->nnode + 1, sizeof(*s.first));
	s.at = memory_new(2 * (size_t)t->nedge, sizeof(*s.at));
	s.left = memory_new(t->nnode, sizeof(*s.left));
	s.known = memory_new(t->nedge, sizeof(*s.known));
	s.surplus = memory_new(t->nnode, sizeof(*s.surplus));
	s.queue = memory_new(t->nnode, sizeof(*s.queue));
	for (uint32_t i = 0; i < t->nedge; i++) {
		if (t->edge[i].untold)
			t->edge[i].count = 0;
		if (t->edge[i].counted || t->edge[i].untold)
			know(&s, i);
	}
	index_tree(&s);
	for (uint32_t v = 0; v < t->nnode; v++)
		if (s.left[v] == 1)
			s.queue[s.n++] = v;
	for (uint32_t head = 0; head < s.n; head++)
		if (s.left[s.queue[head]] == 1)
			solve_leaf(&s, s.queue[head]);
	free(s.first);
	free(s.at);
	free(s.left);
	free(s.known);
	free(s.surplus);
	free(s.queue);
}
