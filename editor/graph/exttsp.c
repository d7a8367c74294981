/* exttsp.c - greedy merging of chains of blocks for the Extended TSP score
 *
 * Every node starts as a chain of its own.  The pair of chains whose merging gains most is
 * merged, until none gains anything.  A merging of X and Y is one of
 *     X.Y   Y.X   X1.Y.X2   Y.X2.X1   X2.X1.Y        (X = X1.X2, or the same with Y split)
 * Only edges between X and Y, and edges of the split chain that cross the split, change their
 * length, so only those are scored.
 *
 * The order that merging leaves is improved by exchanges (exttsp_improve.c).
 *
 * For each pair of chains joined by an edge there is a `link` with their edges, and for each
 * link an entry in a heap (the stamp there tells which entries are outdated).  The entry says
 * first what the link could gain at best.  The best merging is computed when no other link
 * could gain more, and again only when one of the two chains has changed.
 *
 * INVARIANTS
 *   I1  a chain's nodes are numbered at[] = byte offset in the chain, in order;
 *   I2  a live link joins two different live chains, and each of them lists it once;
 *   I3  node 0 never has anything in front of it;
 *   I4  the work is bounded: when MAX_WORK edges have been scored chains are only appended, not
 *       split any more;
 *   I5  a link that has not been judged gains no more than its entry says.
 */
#include "editor/graph/exttsp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "editor/graph/exttsp_improve.h"
#include "editor/graph/gainheap.h"
#include "editor/graph/larger.h"
#include "editor/graph/memory.h"

#define NONE UINT32_MAX

enum {
	/* LLVM 17 splits chains up to 128 nodes; MAX_SPLIT and MAX_WORK are chosen */
	MAX_SPLIT = 64,		/* nodes of a chain that may be split */
	MAX_CHAIN = 512,	/* nodes of a chain that may still grow */
	MAX_WORK = 100000000,
};
#define ROUNDING 1e-9
#define LEAST_GAIN 1e-9		/* of all edge weight: less is rounding */

enum kind { X_Y, X1_Y_X2, Y_X2_X1, X2_X1_Y };

/* An inner edge that scores, by what it loses when something is put between its ends. */
struct span {
	uint32_t lo, hi;		/* places behind its ends */
	uint64_t bytes, reach;
	double jump, score;		/* as a jump over no bytes; now */
};

struct chain {
	uint32_t *node;			/* one alone stands in state.alone[] */
	uint32_t nnode;
	uint64_t size;
	double count;
	uint32_t edge, edge_tail;	/* list of inner edges through next_edge[] */
	uint32_t *link;
	uint32_t nlink, cap_link;
	/* [nnode] what inner edges gain when the chain is split in front of a node and the
	 * halves change places; NULL: to be found */
	double *swap;
	/* [nnode] what a fall-through to a node loses when it no longer is one; in the memory
	 * of swap[] */
	double *lose;
	struct span *span;
	uint32_t nspan;
	double most_swap;		/* that a split gains inside the chain, 0 at least */
	double most;			/* the same of swaps and of gaps, which may all lose */
};

struct merging {
	double gain;
	uint32_t x, y;		/* chain x is the one that may be split */
	uint32_t split;		/* nodes in X1 */
	enum kind kind;
};

struct link {
	uint32_t a, b;		/* chains; NONE, NONE when dead */
	uint32_t edge, edge_tail;
	double most;		/* that its edges can score */
	double bound;		/* of a link that is not judged: what its entry says */
	bool judged;
	uint32_t stamp;
	struct merging best;	/* of one that is */
};

/* An edge of the link at hand, as it is scored again and again. */
struct joint {
	uint64_t end, to;	/* offsets in their chains: behind its source; of its target */
	double weight;
	uint32_t from_index, to_index;
	uint8_t kind;
	bool from_a;		/* from chain a to chain b */
};

struct state {
	const struct exttsp_graph *g;
	struct chain *chain;		/* [nnode]; chain i begins as node i */
	uint32_t *chain_of;		/* [nnode] */
	uint32_t *alone;		/* [nnode] its own number */
	uint64_t *at;			/* [nnode] offset in the chain */
	uint32_t *index;		/* [nnode] place in the chain */
	uint32_t *next_edge;		/* [nedge] */
	struct link *link;
	uint32_t nlink;
	struct joint *joint;		/* [njoint] */
	uint32_t njoint, cap_joint;
	struct gainheap heap;
	uint32_t *link_to;		/* [nnode] scratch: link of chain at hand to chain i */
	uint64_t work;
	double least;
};

/* The most that the edge can score, wherever its nodes are laid. */
static double most_of(const struct exttsp_edge *e)
{
	return e->weight * (e->kind == EXTTSP_INDIRECT ? EXTTSP_JUMP :
			    e->kind == EXTTSP_ONLY ? EXTTSP_ONLY_BONUS : 1);
}

static double edge_score(const struct exttsp_edge *e, uint64_t src_end, uint64_t dst)
{
	return exttsp_score_edge(e->weight, e->kind, src_end, dst);
}

/* Where X1, X2 and Y begin in the merged chain, each relative to its old offsets. */
struct shifts {
	uint64_t x1, x2, y;
};

static struct shifts shifts_of(const struct state *s, const struct merging *m)
{
	const struct chain *x = &s->chain[m->x];
	uint64_t ysize = s->chain[m->y].size;
	uint64_t x1 = m->split < x->nnode ? s->at[x->node[m->split]] : x->size;

	switch (m->kind) {
	case X1_Y_X2:
		return (struct shifts){ 0, ysize, x1 };
	case Y_X2_X1:
		return (struct shifts){ ysize + x->size - x1, ysize - x1, 0 };
	case X2_X1_Y:
		return (struct shifts){ x->size - x1, 0 - x1, x->size };
	default:
		return (struct shifts){ 0, 0, x->size };
	}
}

/* Score of the edges between the two chains when they are merged as `m` says. */
static double link_score(struct state *s, const struct link *l, const struct merging *m)
{
	struct shifts sh = shifts_of(s, m);
	bool x_is_a = m->x == l->a;
	double score = 0;

	for (const struct joint *j = s->joint; j < s->joint + s->njoint; j++) {
		bool from_x = j->from_a == x_is_a;
		uint32_t at = from_x ? j->from_index : j->to_index;
		uint64_t of_x = at >= m->split ? sh.x2 : sh.x1;

		score += exttsp_score_edge(j->weight, j->kind, j->end + (from_x ? of_x : sh.y),
				    j->to + (from_x ? sh.y : of_x));
	}
	s->work += s->njoint;
	return score;
}

static bool keeps_entry(const struct state *s, const struct merging *m)
{
	uint32_t first = s->chain_of[0];

	if (m->y == first)
		return m->kind == Y_X2_X1;
	return m->x != first || m->kind == X_Y || m->kind == X1_Y_X2;
}

/* `inside`: what the edges inside chain X gain. */
static void consider(struct state *s, const struct link *l, struct merging m, double inside,
		     struct merging *best)
{
	if (!keeps_entry(s, &m))
		return;
	m.gain = link_score(s, l, &m) + inside;
	if (m.gain > best->gain + s->least)
		*best = m;
}

static bool may_split(const struct state *s, const struct chain *x)
{
	return x->nnode > 1 && x->nnode <= MAX_SPLIT && s->work <= MAX_WORK;
}

/* An edge that bridges `far` bytes of the chain, either way, bridges all of it but `far`,
 * the other way, when the halves are swapped: wherever it is split. */
static void weigh_swaps(struct state *s, struct chain *x)
{
	uint32_t n = 0;

	if (x->swap)
		return;
	x->swap = memory_new(2 * (size_t)x->nnode + 1, sizeof(*x->swap));
	x->lose = x->swap + x->nnode + 1;
	for (uint32_t i = x->edge; i != NONE; i = s->next_edge[i])
		n++;
	x->span = memory_grow(x->span, n, sizeof(*x->span));
	x->nspan = 0;
	for (uint32_t i = x->edge; i != NONE; i = s->next_edge[i]) {
		const struct exttsp_edge *e = &s->g->edge[i];
		uint32_t from = s->index[e->from], to = s->index[e->to];
		uint32_t lo = (from < to ? from : to) + 1, hi = (from < to ? to : from) + 1;
		uint64_t end = s->at[e->from] + s->g->size[e->from], at = s->at[e->to];
		double score = edge_score(e, end, at);
		double gain = (from < to ? edge_score(e, end + x->size, at) :
					   edge_score(e, end, at + x->size)) - score;

		x->swap[lo] += gain;
		x->swap[hi] -= gain;
		if (to == from + 1 && e->kind != EXTTSP_INDIRECT)
			x->lose[to] += e->weight;
		if (score > 0)
			x->span[x->nspan++] = (struct span){ lo, hi,
				from < to ? at - end : end - at,
				from < to ? EXTTSP_FORWARD : EXTTSP_BACKWARD,
				EXTTSP_JUMP * e->weight, score };
	}
	s->work += n;
	x->most = -INFINITY;
	x->most_swap = 0;
	for (uint32_t k = 1; k < x->nnode; k++) {
		x->swap[k] += x->swap[k - 1];
		x->lose[k] *= 1 - EXTTSP_JUMP;
		x->most_swap = larger(x->swap[k], x->most_swap);
		x->most = larger(larger(x->swap[k], -x->lose[k]), x->most);
	}
}

/* gap[k]: what X's edges gain when Y stands in front of X's node k.  They bridge Y, too. */
static void weigh_gaps(struct state *s, const struct chain *x, uint64_t ysize, double *gap)
{
	memset(gap, 0, ((size_t)x->nnode + 1) * sizeof(*gap));
	for (uint32_t i = 0; ysize && i < x->nspan; i++) {
		const struct span *p = &x->span[i];
		uint64_t bytes = p->bytes + ysize;
		double gain = (bytes < p->reach ?
			       p->jump * (1 - (double)bytes / (double)p->reach) : 0) - p->score;

		gap[p->lo] += gain;
		gap[p->hi] -= gain;
	}
	s->work += x->nspan;
	for (uint32_t k = 1; k < x->nnode; k++)
		gap[k] += gap[k - 1];
}

/* What a split of X in front of its node k could gain by edges between X and Y. */
struct splits {
	double in[MAX_SPLIT + 1];	/* falls through from X's node k - 1 to Y's first */
	double out[MAX_SPLIT + 1];	/* from Y's last to X's node k */
	bool near[MAX_SPLIT + 1];	/* no place without fall-through is nearer to an edge */
};

static void mark_near(const struct chain *x, uint32_t place, bool *near)
{
	uint32_t front = place, behind = place + 1;

	while (front > 0 && x->lose[front] > 0)
		front--;
	while (behind < x->nnode && x->lose[behind] > 0)
		behind++;
	near[front] = near[behind] = true;
}

static void weigh_between(struct state *s, const struct chain *x, const struct chain *y,
			  bool x_is_a, struct splits *w)
{
	size_t n = (size_t)x->nnode + 1;

	memset(w->in, 0, n * sizeof(*w->in));
	memset(w->out, 0, n * sizeof(*w->out));
	memset(w->near, 0, n * sizeof(*w->near));
	for (const struct joint *j = s->joint; j < s->joint + s->njoint; j++) {
		bool from_x = j->from_a == x_is_a;

		mark_near(x, from_x ? j->from_index : j->to_index, w->near);
		if (j->kind == EXTTSP_INDIRECT)
			continue;
		if (from_x && j->to_index == 0)
			w->in[j->from_index + 1] += j->weight;
		if (!from_x && j->from_index == y->nnode - 1)
			w->out[j->to_index] += j->weight;
	}
	s->work += s->njoint;
}

/* A split is scored only where something falls through then or an edge's end is near, and if
 * it could be the best: new neighbours fall through, all else is a jump. */
static void consider_splits(struct state *s, const struct link *l, uint32_t xi, uint32_t yi,
			    double between, struct merging *best)
{
	struct chain *x = &s->chain[xi], *y = &s->chain[yi];
	double gap[MAX_SPLIT + 1], jumps = EXTTSP_JUMP * between;
	struct splits w;
	bool gaps = false;

	if (!may_split(s, x))
		return;
	weigh_swaps(s, x);
	if (y->size && x->most + EXTTSP_ONLY_BONUS * between <= best->gain)
		return;
	weigh_between(s, x, y, xi == l->a, &w);
	for (uint32_t k = 1; k < x->nnode; k++) {
		double in = EXTTSP_ONLY_BONUS * w.in[k], out = EXTTSP_ONLY_BONUS * w.out[k];
		double into = jumps + in + out, swap = x->swap[k];

		if ((w.near[k] || in + out > 0) &&
		    into - (y->size ? x->lose[k] : 0) > best->gain) {
			if (!gaps)
				weigh_gaps(s, x, y->size, gap);
			gaps = true;
			if (into + gap[k] > best->gain)
				consider(s, l, (struct merging){ 0, xi, yi, k, X1_Y_X2 },
					 gap[k], best);
		}
		if ((swap > 0 || out > 0) && swap + jumps + out > best->gain)
			consider(s, l, (struct merging){ 0, xi, yi, k, Y_X2_X1 }, swap, best);
		if ((swap > 0 || in > 0) && swap + jumps + in > best->gain)
			consider(s, l, (struct merging){ 0, xi, yi, k, X2_X1_Y }, swap, best);
	}
}

/* Returns the weight of all. */
static double list_joints(struct state *s, const struct link *l)
{
	double weight = 0;

	s->njoint = 0;
	for (uint32_t i = l->edge; i != NONE; i = s->next_edge[i]) {
		const struct exttsp_edge *e = &s->g->edge[i];

		if (s->njoint == s->cap_joint) {
			s->cap_joint = s->cap_joint ? 2 * s->cap_joint : 64;
			s->joint = memory_grow(s->joint, s->cap_joint, sizeof(*s->joint));
		}
		s->joint[s->njoint++] = (struct joint){
			.end = s->at[e->from] + s->g->size[e->from], .to = s->at[e->to],
			.weight = e->weight, .kind = e->kind,
			.from_index = s->index[e->from], .to_index = s->index[e->to],
			.from_a = s->chain_of[e->from] == l->a };
		weight += e->weight;
	}
	return weight;
}

static double most_inside(struct state *s, struct chain *x)
{
	if (!may_split(s, x))
		return 0;
	weigh_swaps(s, x);
	return x->most_swap;
}

/* Chain l->a or l->b is another one now. */
static void bound_best(struct state *s, uint32_t li)
{
	struct link *l = &s->link[li];
	struct chain *a = &s->chain[l->a], *b = &s->chain[l->b];

	if (a->nnode + b->nnode > MAX_CHAIN) {
		l->stamp++;
		return;
	}
	double inside = larger(most_inside(s, a), most_inside(s, b));
	double bound = (l->most + inside) * (1 + ROUNDING);
	if (!l->judged && l->bound >= bound)	/* its entry will do */
		return;
	l->judged = false;
	l->bound = bound;
	l->stamp++;
	if (bound > s->least)
		gainheap_push(&s->heap, bound, li, l->stamp);
}

static void find_best(struct state *s, uint32_t li)
{
	struct link *l = &s->link[li];
	struct merging best = { 0 };

	l->judged = true;
	l->stamp++;
	double between = list_joints(s, l);
	uint32_t lo = l->a < l->b ? l->a : l->b, hi = l->a < l->b ? l->b : l->a;
	consider(s, l, (struct merging){ 0, lo, hi, s->chain[lo].nnode, X_Y }, 0, &best);
	consider(s, l, (struct merging){ 0, hi, lo, s->chain[hi].nnode, X_Y }, 0, &best);
	consider_splits(s, l, lo, hi, between, &best);
	consider_splits(s, l, hi, lo, between, &best);
	l->best = best;
	if (best.gain > s->least)
		gainheap_push(&s->heap, best.gain, li, l->stamp);
}

static void list_append(struct state *s, uint32_t *head, uint32_t *tail, uint32_t h, uint32_t t)
{
	if (h == NONE)
		return;
	if (*head == NONE)
		*head = h;
	else
		s->next_edge[*tail] = h;
	*tail = t;
}

static void add_link(struct chain *c, uint32_t link)
{
	if (c->nlink == c->cap_link) {
		c->cap_link = c->cap_link ? 2 * c->cap_link : 4;
		c->link = memory_grow(c->link, c->cap_link, sizeof(*c->link));
	}
	c->link[c->nlink++] = link;
}

static void free_nodes(struct chain *c)
{
	if (c->nnode > 1)
		free(c->node);
}

/* The merged nodes, in order, as the new content of chain x. */
static void join_nodes(struct state *s, const struct merging *m)
{
	struct chain *x = &s->chain[m->x], *y = &s->chain[m->y];
	const uint32_t *x1 = x->node, *x2 = x->node + m->split;
	uint32_t n1 = m->split, n2 = x->nnode - m->split, n = 0;
	uint32_t *node = memory_grow(NULL, x->nnode + y->nnode, sizeof(*node));
	const uint32_t *part[3] = { x1, y->node, x2 };
	uint32_t len[3] = { n1, y->nnode, n2 };

	if (m->kind == Y_X2_X1) {
		part[0] = y->node, part[1] = x2, part[2] = x1;
		len[0] = y->nnode, len[1] = n2, len[2] = n1;
	} else if (m->kind == X2_X1_Y) {
		part[0] = x2, part[1] = x1, part[2] = y->node;
		len[0] = n2, len[1] = n1, len[2] = y->nnode;
	}
	for (int p = 0; p < 3; p++) {
		for (uint32_t i = 0; i < len[p]; i++)
			node[n++] = part[p][i];
	}
	free_nodes(x);
	free_nodes(y);
	free(x->swap);
	free(y->swap);
	free(y->span);
	x->swap = y->swap = NULL;
	y->span = NULL;
	x->node = node;
	x->nnode = n;
	x->size += y->size;
	x->count += y->count;
	y->node = NULL;
	y->nnode = 0;
	uint64_t off = 0;
	for (uint32_t i = 0; i < n; i++) {
		s->chain_of[node[i]] = m->x;
		s->index[node[i]] = i;
		s->at[node[i]] = off;
		off += s->g->size[node[i]];
	}
}

/* The links of y become links of x; two links to the same third chain become one. */
static void join_links(struct state *s, uint32_t xi, uint32_t yi)
{
	struct chain *x = &s->chain[xi], *y = &s->chain[yi];
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->nlink; i++) {
		struct link *l = &s->link[x->link[i]];
		uint32_t other = l->a == xi ? l->b : l->a;

		if (l->a == NONE)
			continue;
		if (other == yi) {
			list_append(s, &x->edge, &x->edge_tail, l->edge, l->edge_tail);
			l->a = l->b = NONE;
			continue;
		}
		x->link[n++] = x->link[i];
		s->link_to[other] = x->link[i];
	}
	x->nlink = n;
	for (uint32_t i = 0; i < y->nlink; i++) {
		struct link *l = &s->link[y->link[i]];

		if (l->a == NONE)
			continue;
		uint32_t other = l->a == yi ? l->b : l->a;
		if (s->link_to[other] == NONE) {
			*(l->a == yi ? &l->a : &l->b) = xi;
			add_link(x, y->link[i]);
			s->link_to[other] = y->link[i];
		} else {
			struct link *to = &s->link[s->link_to[other]];

			to->most += l->most;
			list_append(s, &to->edge, &to->edge_tail, l->edge, l->edge_tail);
			l->a = l->b = NONE;
		}
	}
	for (uint32_t i = 0; i < x->nlink; i++) {
		const struct link *l = &s->link[x->link[i]];

		s->link_to[l->a == xi ? l->b : l->a] = NONE;
	}
	list_append(s, &x->edge, &x->edge_tail, y->edge, y->edge_tail);
	free(y->link);
	y->link = NULL;
	y->nlink = y->cap_link = 0;
}

static void merge_chains(struct state *s)
{
	struct gainheap_entry top;

	while (gainheap_pop(&s->heap, &top)) {
		const struct link *l = &s->link[top.item];

		if (l->a == NONE || l->stamp != top.stamp)
			continue;
		if (!l->judged) {
			find_best(s, top.item);
			continue;
		}
		struct merging m = l->best;
		join_nodes(s, &m);
		join_links(s, m.x, m.y);
		for (uint32_t i = 0; i < s->chain[m.x].nlink; i++)
			bound_best(s, s->chain[m.x].link[i]);
	}
}

static void make_links(struct state *s)
{
	const struct exttsp_graph *g = s->g;
	uint32_t *out = memory_grow(NULL, (size_t)g->nnode + 1, sizeof(*out));
	uint32_t *by_node = memory_grow(NULL, 2 * (size_t)g->nedge, sizeof(*by_node));

	/* Edges grouped by their lower node, so that parallel and opposite ones meet. */
	memset(out, 0, ((size_t)g->nnode + 1) * sizeof(*out));
	for (uint32_t e = 0; e < g->nedge; e++) {
		const struct exttsp_edge *ed = &g->edge[e];

		out[(ed->from < ed->to ? ed->from : ed->to) + 1] += exttsp_counts(ed);
	}
	for (uint32_t v = 0; v < g->nnode; v++)
		out[v + 1] += out[v];
	uint32_t *fill = memory_grow(NULL, g->nnode, sizeof(*fill));
	memcpy(fill, out, g->nnode * sizeof(*fill));
	for (uint32_t e = 0; e < g->nedge; e++) {
		const struct exttsp_edge *ed = &g->edge[e];

		if (exttsp_counts(ed))
			by_node[fill[ed->from < ed->to ? ed->from : ed->to]++] = e;
	}
	for (uint32_t v = 0; v < g->nnode; v++) {
		for (uint32_t i = out[v]; i < out[v + 1]; i++) {
			uint32_t e = by_node[i], to = g->edge[e].from ^ g->edge[e].to ^ v;

			if (s->link_to[to] == NONE) {
				s->link_to[to] = s->nlink;
				s->link[s->nlink] = (struct link){ .a = v, .b = to,
					.edge = NONE, .edge_tail = NONE };
				add_link(&s->chain[v], s->nlink);
				add_link(&s->chain[to], s->nlink++);
			}
			struct link *l = &s->link[s->link_to[to]];

			l->most += most_of(&g->edge[e]);
			list_append(s, &l->edge, &l->edge_tail, e, e);
		}
		for (uint32_t i = out[v]; i < out[v + 1]; i++) {
			const struct exttsp_edge *e = &g->edge[by_node[i]];
			s->link_to[e->from ^ e->to ^ v] = NONE;
		}
	}
	free(out);
	free(by_node);
	free(fill);
}

static void state_init(struct state *s, const struct exttsp_graph *g)
{
	double weight = 0;

	*s = (struct state){ .g = g };
	s->chain = memory_grow(NULL, g->nnode, sizeof(*s->chain));
	s->chain_of = memory_grow(NULL, g->nnode, sizeof(*s->chain_of));
	s->alone = memory_grow(NULL, g->nnode, sizeof(*s->alone));
	s->at = memory_grow(NULL, g->nnode, sizeof(*s->at));
	s->index = memory_grow(NULL, g->nnode, sizeof(*s->index));
	s->link_to = memory_grow(NULL, g->nnode, sizeof(*s->link_to));
	s->next_edge = memory_grow(NULL, g->nedge, sizeof(*s->next_edge));
	s->link = memory_grow(NULL, g->nedge, sizeof(*s->link));
	for (uint32_t v = 0; v < g->nnode; v++) {
		s->alone[v] = v;
		s->chain[v] = (struct chain){ .node = &s->alone[v], .nnode = 1,
			.size = g->size[v], .count = g->count[v],
			.edge = NONE, .edge_tail = NONE };
		s->chain_of[v] = v;
		s->at[v] = 0;
		s->index[v] = 0;
		s->link_to[v] = NONE;
	}
	for (uint32_t e = 0; e < g->nedge; e++) {
		s->next_edge[e] = NONE;
		weight += g->edge[e].weight;
	}
	s->least = LEAST_GAIN * weight;
}

static void state_free(struct state *s)
{
	for (uint32_t v = 0; v < s->g->nnode; v++) {
		free_nodes(&s->chain[v]);
		free(s->chain[v].link);
		free(s->chain[v].swap);
		free(s->chain[v].span);
	}
	free(s->chain);
	free(s->chain_of);
	free(s->alone);
	free(s->at);
	free(s->index);
	free(s->link_to);
	free(s->next_edge);
	free(s->link);
	free(s->joint);
	gainheap_free(&s->heap);
}

/* The entry's chain first, then by density; chains that never ran last, in their old order. */
static int chain_cmp(const void *x, const void *y, void *ctx)
{
	const struct state *s = ctx;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y, first = s->chain_of[0];

	if ((i == first) != (j == first))
		return i == first ? -1 : 1;
	const struct chain *a = &s->chain[i], *b = &s->chain[j];
	double da = a->count / (a->size ? (double)a->size : 1);
	double db = b->count / (b->size ? (double)b->size : 1);
	if (da != db)
		return da > db ? -1 : 1;
	return a->node[0] < b->node[0] ? -1 : a->node[0] > b->node[0];
}

static void write_order(struct state *s, uint32_t *order)
{
	uint32_t *live = memory_grow(NULL, s->g->nnode, sizeof(*live)), nlive = 0, n = 0;

	for (uint32_t v = 0; v < s->g->nnode; v++) {
		if (s->chain[v].nnode)
			live[nlive++] = v;
	}
	qsort_r(live, nlive, sizeof(*live), chain_cmp, s);
	for (uint32_t i = 0; i < nlive; i++) {
		for (uint32_t k = 0; k < s->chain[live[i]].nnode; k++)
			order[n++] = s->chain[live[i]].node[k];
	}
	free(live);
}

void exttsp_order(const struct exttsp_graph *g, uint32_t *order)
{
	struct state s;

	if (g->nnode == 0)
		return;
	state_init(&s, g);
	make_links(&s);
	for (uint32_t l = 0; l < s.nlink; l++)
		bound_best(&s, l);
	merge_chains(&s);
	write_order(&s, order);
	state_free(&s);
	exttsp_improve(g, order);

	uint32_t *identity = memory_grow(NULL, g->nnode, sizeof(*identity));
	for (uint32_t v = 0; v < g->nnode; v++)
		identity[v] = v;
	if (exttsp_score(g, order) <= exttsp_score(g, identity) + s.least)
		memcpy(order, identity, g->nnode * sizeof(*order));
	free(identity);
}
