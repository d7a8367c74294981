/* markov.c - visits of the states of a Markov chain, by elimination of states
 *
 * With p(u, w) the probability of going from u to w, the visits x obey x[w] = rate[w] + sum of
 * p(u, w) x[u].  This is a linear system, I - P transposed.  It is solved by triangular
 * factors, L U, without pivoting, which such matrices do not need.  Flow graphs are almost
 * trees: when the state with the fewest neighbours is eliminated first, few new entries arise,
 * and all work is nearly linear.
 *
 * Which entries there are is told by the graph without directions, so U has in row k what L has
 * in column k.  near[k] are the neighbours of k when it is eliminated; value[] holds
 *
 *    the diagonal   [0, n)
 *    U, row k       [n + first[k], ...)             in the order of near[k]
 *    L, column k    [n + nnear + first[k], ...)     likewise
 *
 * Eliminating k changes the entries of every pair a < b of its neighbours, at the same place in
 * U and in L: a's neighbours are all those of k that come after a, and maybe others.  run[]
 * lists these places as runs of neighbours that stand side by side in both lists.  It has none
 * where a has no other neighbours, since then all of its entries change; so it is at the end of
 * a dense graph, where most of the work is.
 */
#include "editor/graph/markov.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "editor/graph/fours.h"
#include "editor/graph/memory.h"

#define NONE UINT32_MAX
/* leaves from each state anyway, so that no circle is closed; chosen, not measured */
#define LEAK 1e-6

/* A run in 32 bits: its length in the lowest RUN_BITS, where it begins above them. */
enum { RUN_BITS = 7, RUN_MAX = (1 << RUN_BITS) - 1 };

struct markov {
	uint32_t n, nedge, nnear;
	uint32_t *order;	/* [n] states as they are eliminated */
	uint32_t *first;	/* [n + 1] by rank, into near[] */
	uint32_t *near;		/* [nnear] ranks, ascending */
	uint32_t *run;		/* of indices in near[] */
	uint32_t *at;		/* [nedge] index in value[] of its entry */
	double *value;		/* [n + 2 * nnear] */
	double *probability;	/* [nedge] from which value[] was made, once it was */
	bool is_set;
	double *scratch;	/* [n] */
};

struct list {
	uint32_t *v, n, cap;
	bool own;		/* v is freed by itself */
};

struct ordering {
	uint32_t n;
	struct list *near;	/* [n] of states left, ascending */
	uint32_t *room;		/* that lists begin in */
	uint32_t *joined;	/* scratch, [n] */
	uint32_t *head, *next, *prev;	/* of states by degree; head is [n + 1] */
	uint32_t *order;
	uint64_t ntarget;
};

static void put(struct ordering *o, uint32_t v)
{
	uint32_t *head = &o->head[o->near[v].n];

	o->prev[v] = NONE;
	o->next[v] = *head;
	if (*head != NONE)
		o->prev[*head] = v;
	*head = v;
}

static void drop(struct ordering *o, uint32_t v)
{
	if (o->prev[v] != NONE)
		o->next[o->prev[v]] = o->next[v];
	else
		o->head[o->near[v].n] = o->next[v];
	if (o->next[v] != NONE)
		o->prev[o->next[v]] = o->prev[v];
}

/* The first place in [lo, hi) of ascending v[] where there is x or more; hi if there is
 * none. */
static uint32_t lower_bound(const uint32_t *v, uint32_t lo, uint32_t hi, uint32_t x)
{
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v[mid] < x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The first place from i on where there is x or more.  Mostly it is near. */
static uint32_t place_from(const struct list *l, uint32_t i, uint32_t x)
{
	uint32_t step = 1;

	for (; i + step <= l->n && l->v[i + step - 1] < x; step *= 2)
		i += step;
	return lower_bound(l->v, i, i + step <= l->n ? i + step - 1 : l->n, x);
}

static void copy(struct list *to, const struct list *from, uint32_t i, uint32_t end)
{
	memcpy(to->v + to->n, from->v + i, (end - i) * sizeof(*to->v));
	to->n += end - i;
}

static void set_list(struct list *l, const struct list *to)
{
	if (to->n > l->cap) {
		l->cap = 2 * to->n;
		l->v = memory_grow(l->own ? l->v : NULL, l->cap, sizeof(*l->v));
		l->own = true;
	}
	l->n = 0;
	copy(l, to, 0, to->n);
}

/* The numbers that are in a or in b, but for k and v. */
static void merge(struct list *out, struct list *a, const struct list *b, uint32_t k,
		  uint32_t v)
{
	for (uint32_t i = 0, j = 0; i < a->n || j < b->n; ) {
		bool first = j == b->n || (i < a->n && a->v[i] <= b->v[j]);
		uint32_t x = first ? a->v[i] : b->v[j];

		j += j < b->n && b->v[j] == x;
		i += first;
		if (x != k && x != v)
			out->v[out->n++] = x;
	}
}

/* The same when a is long: what stands between two of b's numbers is copied at once. */
static void merge_long(struct list *out, struct list *a, const struct list *b, uint32_t k,
		       uint32_t v)
{
	uint32_t at = place_from(a, 0, k);

	a->n--;
	memmove(a->v + at, a->v + at + 1, (a->n - at) * sizeof(*a->v));
	at = 0;
	for (uint32_t j = 0; j < b->n; j++) {
		uint32_t x = b->v[j], next = place_from(a, at, x);

		copy(out, a, at, next);
		at = next;
		if (x != v && (at == a->n || a->v[at] != x))
			out->v[out->n++] = x;
	}
	copy(out, a, at, a->n);
}

/* v's neighbours become those of itself and of k, but k and v.  Either both have few or v
 * has many. */
static void join(struct ordering *o, uint32_t v, uint32_t k)
{
	enum { FEW = 16 };
	struct list *a = &o->near[v], out = { .v = o->joined };

	(a->n > FEW ? merge_long : merge)(&out, a, &o->near[k], k, v);
	set_list(a, &out);
}

static int by_number(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* Most have two or three numbers. */
static void sort(uint32_t *v, uint32_t n)
{
	enum { FEW = 12 };

	if (n > FEW) {
		qsort(v, n, sizeof(*v), by_number);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		uint32_t x = v[i], k = i;

		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

static void find_neighbours(struct ordering *o, const struct markov_edge *edge, uint32_t nedge)
{
	uint32_t *degree = memory_new(o->n, sizeof(*degree));

	for (uint32_t i = 0; i < nedge; i++) {
		degree[edge[i].from]++;
		degree[edge[i].to]++;
	}
	o->room = memory_grow(NULL, 2 * (size_t)nedge, sizeof(*o->room));
	for (uint32_t v = 0, at = 0; v < o->n; at += degree[v++])
		o->near[v] = (struct list){ .v = o->room + at, .cap = degree[v] };
	for (uint32_t i = 0; i < nedge; i++) {
		uint32_t u = edge[i].from, w = edge[i].to;

		if (u != w) {
			o->near[u].v[o->near[u].n++] = w;
			o->near[w].v[o->near[w].n++] = u;
		}
	}
	for (uint32_t v = 0; v < o->n; v++) {
		struct list *l = &o->near[v];
		uint32_t n = 0;

		sort(l->v, l->n);
		for (uint32_t i = 0; i < l->n; i++) {
			if (n == 0 || l->v[n - 1] != l->v[i])
				l->v[n++] = l->v[i];
		}
		l->n = n;
		put(o, v);
	}
	free(degree);
}

/* Each state's neighbours when its turn comes stay in near[].  False: too much work, or more
 * neighbours than a run can begin at. */
static bool find_order(struct ordering *o, uint64_t budget)
{
	uint32_t degree = 0;

	if (budget > UINT32_MAX >> RUN_BITS)
		budget = UINT32_MAX >> RUN_BITS;
	for (uint32_t i = 0; i < o->n; i++) {
		while (o->head[degree] == NONE)
			degree++;
		uint32_t k = o->head[degree];
		const struct list *l = &o->near[k];

		drop(o, k);
		o->order[i] = k;
		o->ntarget += (uint64_t)l->n * l->n;
		if (o->ntarget > budget)
			return false;
		for (uint32_t j = 0; j < l->n; j++) {
			drop(o, l->v[j]);
			join(o, l->v[j], k);
			put(o, l->v[j]);
		}
		degree = degree > 0 ? degree - 1 : 0;
	}
	return true;
}

/* Index in near[] of `high` among the neighbours of `low`, of which it is one. */
static uint32_t place(const struct markov *m, uint32_t low, uint32_t high)
{
	return lower_bound(m->near, m->first[low], m->first[low + 1], high);
}

/* Index in value[] of the entry in row i, column j, which exists. */
static uint32_t entry(const struct markov *m, uint32_t i, uint32_t j)
{
	if (i == j)
		return i;
	return i < j ? m->n + place(m, i, j) : m->n + m->nnear + place(m, j, i);
}

/* near[i] is a neighbour of a state whose neighbours end at `end`: are all of its own among
 * those after it? */
static bool has_no_others(const struct markov *m, uint32_t i, uint32_t end)
{
	uint32_t a = m->near[i];

	return m->first[a + 1] - m->first[a] == end - i - 1;
}

/* Writes the runs in which the neighbours (i, end) are among those of near[i], unless run is
 * NULL; returns their number. */
static uint32_t find_runs(const struct markov *m, uint32_t i, uint32_t end, uint32_t *run)
{
	uint32_t first = m->first[m->near[i]], at = 0, n = 0, len = 0;
	const struct list l = { .v = m->near + first, .n = m->first[m->near[i] + 1] - first };

	for (i++; i < end; i += len, at += len) {
		at = place_from(&l, at, m->near[i]);
		for (len = 1; len < RUN_MAX && i + len < end &&
			      l.v[at + len] == m->near[i + len]; len++)
			;
		if (run)
			run[n] = (first + at) << RUN_BITS | len;
		n++;
	}
	return n;
}

static void set_runs(struct markov *m)
{
	uint32_t n = 0;

	for (int fill = 0; fill < 2; fill++) {
		if (fill)
			m->run = memory_grow(NULL, n, sizeof(*m->run));
		n = 0;
		for (uint32_t k = 0; k < m->n; k++) {
			uint32_t end = m->first[k + 1];

			for (uint32_t i = m->first[k]; i < end; i++)
				if (!has_no_others(m, i, end))
					n += find_runs(m, i, end, fill ? m->run + n : NULL);
		}
	}
}

static void set_pattern(struct markov *m, const struct ordering *o,
			const struct markov_edge *edge)
{
	uint32_t *rank = memory_new(m->n, sizeof(*rank));

	for (uint32_t k = 0; k < m->n; k++) {
		rank[o->order[k]] = k;
		m->first[k + 1] = m->first[k] + o->near[o->order[k]].n;
	}
	m->nnear = m->first[m->n];
	m->near = memory_new(m->nnear, sizeof(*m->near));
	m->value = memory_new((size_t)m->n + 2 * (size_t)m->nnear, sizeof(*m->value));
	for (uint32_t k = 0; k < m->n; k++) {
		const struct list *l = &o->near[o->order[k]];
		uint32_t *near = m->near + m->first[k];

		for (uint32_t i = 0; i < l->n; i++)
			near[i] = rank[l->v[i]];
		sort(near, l->n);
	}
	set_runs(m);
	for (uint32_t i = 0; i < m->nedge; i++)
		m->at[i] = entry(m, rank[edge[i].to], rank[edge[i].from]);
	free(rank);
}

struct markov *markov_new(uint32_t nstate, const struct markov_edge *edge, uint32_t nedge,
			  uint64_t *budget)
{
	struct ordering o = { .n = nstate };
	struct markov *m = memory_new(1, sizeof(*m));

	*m = (struct markov){ .n = nstate, .nedge = nedge };
	m->order = o.order = memory_new(nstate, sizeof(*m->order));
	m->first = memory_new((size_t)nstate + 1, sizeof(*m->first));
	m->at = memory_new(nedge, sizeof(*m->at));
	m->probability = memory_new(nedge, sizeof(*m->probability));
	m->scratch = memory_new(nstate, sizeof(*m->scratch));
	o.near = memory_new(nstate, sizeof(*o.near));
	o.joined = memory_grow(NULL, nstate, sizeof(*o.joined));
	o.head = memory_new((size_t)nstate + 1, sizeof(*o.head));
	o.next = memory_new(nstate, sizeof(*o.next));
	o.prev = memory_new(nstate, sizeof(*o.prev));
	memset(o.head, 0xff, ((size_t)nstate + 1) * sizeof(*o.head));
	find_neighbours(&o, edge, nedge);
	bool found = find_order(&o, *budget);
	if (found)
		set_pattern(m, &o, edge);
	for (uint32_t v = 0; v < nstate; v++) {
		if (o.near[v].own)
			free(o.near[v].v);
	}
	free(o.near);
	free(o.room);
	free(o.joined);
	free(o.head);
	free(o.next);
	free(o.prev);
	if (!found) {
		markov_free(m);
		return NULL;
	}
	*budget -= o.ntarget;
	return m;
}

void markov_free(struct markov *m)
{
	if (!m)
		return;
	free(m->order);
	free(m->first);
	free(m->near);
	free(m->run);
	free(m->at);
	free(m->value);
	free(m->probability);
	free(m->scratch);
	free(m);
}

/* Subtracts the n entries of U after entry i, times L's entry i, and those of L, times U's, at
 * the places that the runs say; returns the run after them.  One of the two factors mostly is
 * 0, and then nothing changes. */
static const uint32_t *subtract(uint32_t n, double *u, double *l, uint32_t i,
				const uint32_t *run)
{
	double by_l = l[i], by_u = u[i];

	for (uint32_t at = i + 1, end = at + n; at < end; run++) {
		uint32_t len = *run & RUN_MAX, to = *run >> RUN_BITS;

		if (by_l != 0)
			subtract_times(len, u + to, by_l, u + at);
		if (by_u != 0)
			subtract_times(len, l + to, by_u, l + at);
		at += len;
	}
	return run;
}

void markov_set(struct markov *m, const double *probability)
{
	size_t size = m->nedge * sizeof(*probability);
	const uint32_t *run = m->run;
	double *u = m->value + m->n, *l = u + m->nnear;

	if (m->is_set && (size == 0 || memcmp(m->probability, probability, size) == 0))
		return;
	m->is_set = true;
	if (size > 0)
		memcpy(m->probability, probability, size);
	memset(u, 0, 2 * (size_t)m->nnear * sizeof(*u));
	for (uint32_t k = 0; k < m->n; k++)
		m->value[k] = 1;
	for (uint32_t i = 0; i < m->nedge; i++)
		m->value[m->at[i]] -= (1 - LEAK) * probability[i];
	for (uint32_t k = 0; k < m->n; k++) {
		uint32_t first = m->first[k], end = m->first[k + 1];

		const double diagonal = m->value[k];
		for (uint32_t i = first; i < end; i++)
			l[i] /= diagonal;
		for (uint32_t i = first; i < end; i++) {
			uint32_t a = m->near[i], n = end - i - 1;

			m->value[a] -= l[i] * u[i];
			if (n == 0)
				break;
			uint32_t to = m->first[a];
			if (m->first[a + 1] - to != n) {
				run = subtract(n, u, l, i, run);
				continue;
			}
			if (l[i] != 0)
				subtract_times(n, u + to, l[i], u + i + 1);
			if (u[i] != 0)
				subtract_times(n, l + to, u[i], l + i + 1);
		}
	}
}

/* x[k] less the product of row k, whose entries are in v[], and x[]. */
static inline double less_row(const struct markov *m, uint32_t k, const double *v,
			      const double *x)
{
	double left = x[k];

	for (uint32_t i = m->first[k], end = m->first[k + 1]; i < end; i++)
		left -= v[i] * x[m->near[i]];
	return left;
}

/* Takes column k, whose entries are in v[], times x[k] off x[]. */
static inline void subtract_column(const struct markov *m, uint32_t k, const double *v,
				   double *x)
{
	double by = x[k];

	for (uint32_t i = m->first[k], end = m->first[k + 1]; i < end; i++)
		x[m->near[i]] -= v[i] * by;
}

/* Few states are entered from outside. */
void markov_visits(const struct markov *m, double *rate)
{
	const double *u = m->value + m->n, *l = u + m->nnear;
	double *x = m->scratch;

	for (uint32_t k = 0; k < m->n; k++)
		x[k] = rate[m->order[k]];
	for (uint32_t k = 0; k < m->n; k++)
		if (x[k] != 0)
			subtract_column(m, k, l, x);
	for (uint32_t k = m->n; k-- > 0; ) {
		x[k] = less_row(m, k, u, x) / m->value[k];
		rate[m->order[k]] = x[k];
	}
}

void markov_worth(const struct markov *m, double *worth)
{
	const double *u = m->value + m->n, *l = u + m->nnear;
	double *x = m->scratch;

	for (uint32_t k = 0; k < m->n; k++)
		x[k] = worth[m->order[k]];
	for (uint32_t k = 0; k < m->n; k++) {
		x[k] /= m->value[k];
		subtract_column(m, k, u, x);
	}
	for (uint32_t k = m->n; k-- > 0; ) {
		x[k] = less_row(m, k, l, x);
		worth[m->order[k]] = x[k];
	}
}
