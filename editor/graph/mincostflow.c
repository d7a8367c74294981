/* mincostflow.c - successive shortest paths, all paths of one length at a time
 *
 * Arc 2k is the k-th edge, arc 2k + 1 its reverse; for the search they are laid out by the node
 * they leave.  Residual capacity of an arc is what it can still carry (for a reverse arc: the
 * flow to be taken back).  Potentials keep the reduced cost
 *     cost(u, v) + potential[u] - potential[v]
 * of every arc with residual capacity at zero or more, so that Dijkstra applies.  After each
 * Dijkstra the arcs of reduced cost zero hold all shortest paths; a blocking-flow search
 * (levels by breadth first, then depth first with current arcs) saturates them all before the
 * next Dijkstra.  The number of rounds is thus the number of different path lengths, which
 * callers keep small by coarse costs.
 *
 * Everything is integral and no order depends on addresses: the result is deterministic.
 */
#include "editor/graph/mincostflow.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "editor/graph/memory.h"

#define NO_ARC UINT32_MAX
#define FAR INT64_MAX

struct arc {
	uint32_t to;
	uint32_t twin;			/* in out[]: its reverse */
	int64_t residual, cost;
};

struct mcf {
	uint32_t nnode, nedge, cap;
	struct arc *arc;		/* [2 * nedge] */
	/* made by mcf_solve() */
	uint32_t *first;		/* [nnode + 1] into out[] */
	struct arc *out;		/* [2 * nedge] arc[], grouped by tail */
	uint32_t *at;			/* [2 * nedge] where an arc is in out[] */
	int64_t *potential, *dist;	/* [nnode] */
	uint32_t *level, *next;		/* [nnode] of the blocking-flow search */
	/* [nnode] binary heap of nodes by dist, and its inverse */
	uint32_t *heap, *heap_at;
	uint32_t nheap;
	uint32_t *path;			/* [nnode] arcs of the current path; queue of nodes */
	uint64_t work, max_work;
};

struct mcf *mcf_new(uint32_t nnode, uint32_t nedge_hint)
{
	struct mcf *m = memory_grow(NULL, 1, sizeof(*m));

	*m = (struct mcf){ .nnode = nnode, .cap = nedge_hint ? nedge_hint : 16 };
	m->arc = memory_grow(NULL, 2 * (size_t)m->cap, sizeof(*m->arc));
	return m;
}

void mcf_free(struct mcf *m)
{
	if (!m)
		return;
	free(m->arc);
	free(m->first);
	free(m->out);
	free(m->at);
	free(m->potential);
	free(m->dist);
	free(m->level);
	free(m->next);
	free(m->heap);
	free(m->heap_at);
	free(m->path);
	free(m);
}

uint32_t mcf_add(struct mcf *m, uint32_t from, uint32_t to, int64_t capacity, int64_t cost)
{
	assert(from < m->nnode && to < m->nnode && capacity >= 0 && cost >= 0);
	if (m->nedge == m->cap) {
		m->cap *= 2;
		m->arc = memory_grow(m->arc, 2 * (size_t)m->cap, sizeof(*m->arc));
	}
	m->arc[2 * m->nedge] = (struct arc){ to, 0, capacity, cost };
	m->arc[2 * m->nedge + 1] = (struct arc){ from, 0, 0, -cost };
	return m->nedge++;
}

int64_t mcf_flow(const struct mcf *m, uint32_t edge)
{
	return m->out ? m->out[m->at[2 * edge + 1]].residual : 0;
}

static void prepare(struct mcf *m)
{
	uint32_t narc = 2 * m->nedge;

	m->first = memory_grow(m->first, (size_t)m->nnode + 1, sizeof(*m->first));
	m->out = memory_grow(m->out, narc, sizeof(*m->out));
	m->at = memory_grow(m->at, narc, sizeof(*m->at));
	m->potential = memory_grow(m->potential, m->nnode, sizeof(*m->potential));
	m->dist = memory_grow(m->dist, m->nnode, sizeof(*m->dist));
	m->level = memory_grow(m->level, m->nnode, sizeof(*m->level));
	m->next = memory_grow(m->next, m->nnode, sizeof(*m->next));
	m->heap = memory_grow(m->heap, m->nnode, sizeof(*m->heap));
	m->heap_at = memory_grow(m->heap_at, m->nnode, sizeof(*m->heap_at));
	m->path = memory_grow(m->path, m->nnode, sizeof(*m->path));
	memset(m->first, 0, ((size_t)m->nnode + 1) * sizeof(*m->first));
	memset(m->potential, 0, m->nnode * sizeof(*m->potential));
	for (uint32_t a = 0; a < narc; a++)
		m->first[m->arc[a ^ 1].to]++;
	uint32_t sum = 0;
	for (uint32_t v = 0; v <= m->nnode; v++) {
		sum += m->first[v];
		m->first[v] = sum;
	}
	for (uint32_t a = narc; a-- > 0; )
		m->at[a] = --m->first[m->arc[a ^ 1].to];
	for (uint32_t a = 0; a < narc; a++) {
		m->out[m->at[a]] = m->arc[a];
		m->out[m->at[a]].twin = m->at[a ^ 1];
	}
}

static void heap_place(struct mcf *m, uint32_t at, uint32_t node)
{
	m->heap[at] = node;
	m->heap_at[node] = at;
}

/* `node` has a new, smaller dist (or is new: heap_at is NO_ARC). */
static void heap_raise(struct mcf *m, uint32_t node)
{
	uint32_t at = m->heap_at[node] == NO_ARC ? m->nheap++ : m->heap_at[node];

	while (at > 0 && m->dist[m->heap[(at - 1) / 2]] > m->dist[node]) {
		heap_place(m, at, m->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	heap_place(m, at, node);
}

static uint32_t heap_pop(struct mcf *m)
{
	uint32_t top = m->heap[0], last = m->heap[--m->nheap], at = 0;

	while (2 * at + 1 < m->nheap) {
		uint32_t kid = 2 * at + 1;

		if (kid + 1 < m->nheap && m->dist[m->heap[kid + 1]] < m->dist[m->heap[kid]])
			kid++;
		if (m->dist[m->heap[kid]] >= m->dist[last])
			break;
		heap_place(m, at, m->heap[kid]);
		at = kid;
	}
	if (m->nheap)
		heap_place(m, at, last);
	return top;
}

/* Distances by reduced cost up to the sink's, and potentials raised by them.  False: no
 * path. */
static bool shortest(struct mcf *m, uint32_t source, uint32_t sink)
{
	for (uint32_t v = 0; v < m->nnode; v++) {
		m->dist[v] = FAR;
		m->heap_at[v] = NO_ARC;
	}
	m->work += m->nnode;
	m->nheap = 0;
	m->dist[source] = 0;
	heap_raise(m, source);
	while (m->nheap) {
		uint32_t u = heap_pop(m);

		if (u == sink)
			break;
		m->work += m->first[u + 1] - m->first[u];
		for (uint32_t i = m->first[u]; i < m->first[u + 1]; i++) {
			const struct arc *a = &m->out[i];

			if (a->residual == 0)
				continue;
			int64_t d =
				m->dist[u] + a->cost + m->potential[u] - m->potential[a->to];
			if (d < m->dist[a->to]) {
				m->dist[a->to] = d;
				heap_raise(m, a->to);
			}
		}
	}
	if (m->dist[sink] == FAR)
		return false;
	/* Nodes beyond the sink count as being as far as the sink. */
	for (uint32_t v = 0; v < m->nnode; v++)
		m->potential[v] += m->dist[v] < m->dist[sink] ? m->dist[v] : m->dist[sink];
	return true;
}

static bool usable(const struct mcf *m, uint32_t u, const struct arc *a)
{
	return a->residual > 0 && a->cost + m->potential[u] - m->potential[a->to] == 0;
}

/* Breadth-first levels over arcs of reduced cost zero.  False: the sink has none. */
static bool set_levels(struct mcf *m, uint32_t source, uint32_t sink)
{
	uint32_t *queue = m->path, head = 0, tail = 0;

	for (uint32_t v = 0; v < m->nnode; v++) {
		m->level[v] = UINT32_MAX;
		m->next[v] = m->first[v];
	}
	m->work += m->nnode;
	m->level[source] = 0;
	queue[tail++] = source;
	while (head < tail && m->level[sink] == UINT32_MAX) {
		uint32_t u = queue[head++];

		m->work += m->first[u + 1] - m->first[u];
		for (uint32_t i = m->first[u]; i < m->first[u + 1]; i++) {
			const struct arc *a = &m->out[i];

			if (m->level[a->to] == UINT32_MAX && usable(m, u, a)) {
				m->level[a->to] = m->level[u] + 1;
				queue[tail++] = a->to;
			}
		}
	}
	return m->level[sink] != UINT32_MAX;
}

/* The next arc from u towards the sink's level, NO_ARC when u is a dead end. */
static uint32_t advance(struct mcf *m, uint32_t u)
{
	for (; m->next[u] < m->first[u + 1]; m->next[u]++) {
		const struct arc *a = &m->out[m->next[u]];

		m->work++;
		if (m->level[a->to] == m->level[u] + 1 && usable(m, u, a))
			return m->next[u];
	}
	return NO_ARC;
}

/* Saturates all paths along the levels; returns the flow sent. */
static int64_t blocking_flow(struct mcf *m, uint32_t source, uint32_t sink)
{
	uint32_t depth = 0, u = source;
	int64_t sent = 0;

	while (m->work < m->max_work) {
		if (u == sink) {
			int64_t room = INT64_MAX;
			uint32_t back = 0;

			for (uint32_t i = depth; i-- > 0; ) {
				if (m->out[m->path[i]].residual <= room) {
					room = m->out[m->path[i]].residual;
					back = i;
				}
			}
			for (uint32_t i = 0; i < depth; i++) {
				struct arc *a = &m->out[m->path[i]];

				a->residual -= room;
				m->out[a->twin].residual += room;
			}
			m->work += depth;
			sent += room;
			depth = back;		/* the first arc that is full now */
			u = m->out[m->out[m->path[back]].twin].to;
			continue;
		}
		uint32_t a = advance(m, u);
		if (a != NO_ARC) {
			m->path[depth++] = a;
			u = m->out[a].to;
		} else if (depth > 0) {
			m->level[u] = UINT32_MAX;
			u = m->out[m->out[m->path[--depth]].twin].to;
		} else {
			break;
		}
	}
	return sent;
}

int64_t mcf_solve(struct mcf *m, uint32_t source, uint32_t sink, uint64_t max_work,
		  int64_t *cost)
{
	int64_t sent = 0, total = 0;

	assert(source != sink && source < m->nnode && sink < m->nnode);
	m->work = 0;
	m->max_work = max_work ? max_work : UINT64_MAX;
	prepare(m);
	while (m->work < m->max_work && shortest(m, source, sink)) {
		while (m->work < m->max_work && set_levels(m, source, sink))
			sent += blocking_flow(m, source, sink);
	}
	for (uint32_t e = 0; e < m->nedge; e++)
		total += mcf_flow(m, e) * m->arc[2 * e].cost;
	if (cost)
		*cost = total;
	return sent;
}
