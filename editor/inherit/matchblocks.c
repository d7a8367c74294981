/* matchblocks.c - pairs the blocks of two versions of one function
 *
 * 1. a block whose exact hash no other block of either function has; then one that alone calls
 *    what it calls;
 * 2. the entries, and where there are as many labels, the first with the first;
 * 3. from each pair along its edges: what the same kind of edge leads to, or comes from, if it
 *    has the same loose hash;
 * 4. between two neighbouring pairs, in the order of addresses: blocks of one loose hash, the
 *    first with the first; and from these again along their edges;
 * 5. the same as 3 and 4 by the rough hash;
 * 6. along edges also where the hashes differ, if as many edges leave both blocks.
 */
#include "editor/inherit/match.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

/* Blocks that are looked through for one that is alike: chosen, so that functions without any
 * likeness take no quadratic time. */
enum { GAP = 64 };

/* What two blocks must have in common, from strict to lenient. */
enum level { EXACT, LOOSE, ROUGH, SHAPE };

struct side {
	const struct signature_block *block;	/* of the function */
	uint32_t n;
	uint32_t *to;		/* [n] the other side's number, or NONE */
	/* edges that lead to block i: from[first[i] .. first[i + 1]) */
	uint32_t *first, *from;
};

struct work {
	struct side old, now;
	uint32_t *queue;	/* of the old side; each pair is put in once a round */
	uint32_t head, tail;
};

static void list_predecessors(struct side *s, struct arena *a)
{
	s->first = arena_array(a, s->n + 2, sizeof(*s->first));
	s->from = arena_array(a, 2 * (size_t)s->n, sizeof(*s->from));
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < s->n; i++) {
			const uint32_t next[2] = { s->block[i].fall, s->block[i].taken };

			for (int k = 0; k < 2; k++) {
				if (next[k] == SIGNATURE_NONE)
					continue;
				if (pass == 0)
					s->first[next[k] + 2]++;
				else
					s->from[s->first[next[k] + 1]++] = i;
			}
		}
		for (uint32_t i = 0; pass == 0 && i < s->n; i++)
			s->first[i + 2] += s->first[i + 1];
	}
}

static struct side side_of(const struct signature *s, const struct signature_fn *fn,
			   struct arena *a)
{
	struct side out = { .block = &s->block[fn->block], .n = fn->nblock };

	out.to = arena_array(a, out.n, sizeof(*out.to));
	memset(out.to, 0xff, out.n * sizeof(*out.to));		/* NONE */
	list_predecessors(&out, a);
	return out;
}

static bool pair(struct work *w, uint32_t x, uint32_t y)
{
	if (x == SIGNATURE_NONE || y == SIGNATURE_NONE || w->old.to[x] != SIGNATURE_NONE ||
	    w->now.to[y] != SIGNATURE_NONE)
		return false;
	w->old.to[x] = y;
	w->now.to[y] = x;
	w->queue[w->tail++] = x;
	return true;
}

struct hashed {
	uint64_t hash;
	uint32_t block;
};

static int by_hash(const void *x, const void *y)
{
	const struct hashed *a = x, *b = y;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return a->block < b->block ? -1 : a->block > b->block;
}

static uint32_t hash_of(const struct signature_block *b, enum level level)
{
	return level == EXACT ? b->exact : level == LOOSE ? b->loose : b->rough;
}

static struct hashed *sorted(const struct side *s, enum level level, struct arena *a)
{
	struct hashed *h = arena_array(a, s->n, sizeof(*h));

	for (uint32_t i = 0; i < s->n; i++)
		h[i] = (struct hashed){ hash_of(&s->block[i], level), i };
	qsort(h, s->n, sizeof(*h), by_hash);
	return h;
}

static bool alone(const struct hashed *h, uint32_t n, uint32_t i)
{
	return (i == 0 || h[i - 1].hash != h[i].hash) &&
	       (i + 1 == n || h[i + 1].hash != h[i].hash);
}

/* 1: x[] and y[], ascending */
static void pair_unique(struct work *w, const struct hashed *x, uint32_t nx,
			const struct hashed *y, uint32_t ny)
{
	for (uint32_t i = 0, k = 0; i < nx && k < ny; ) {
		if (x[i].hash != y[k].hash) {
			if (x[i].hash < y[k].hash)
				i++;
			else
				k++;
			continue;
		}
		if (alone(x, nx, i) && alone(y, ny, k))
			(void)pair(w, x[i].block, y[k].block);
		i++;
		k++;
	}
}

/* What the blocks of the function call, as numbers of the new version's functions, which
 * `partner` gives (NULL: they are its own); blocks that call nothing known are left out. */
static struct hashed *calls(const struct signature *s, const struct signature_fn *fn,
			    const uint32_t *partner, uint32_t *n, struct arena *a)
{
	struct hashed *h = arena_array(a, fn->ncall, sizeof(*h));
	static const uint64_t IMPORT = (uint64_t)1 << 32, MULTIPLIER = 0x9e3779b97f4a7c15u;

	*n = 0;
	for (uint32_t i = fn->call; i < fn->call + fn->ncall; i++) {
		const struct signature_call *c = &s->call[i];
		uint32_t callee = c->callee != SIGNATURE_NONE && partner ? partner[c->callee] :
									   c->callee;

		if (callee == SIGNATURE_NONE && !c->import)
			continue;
		if (*n == 0 || h[*n - 1].block != c->block)
			h[(*n)++] = (struct hashed){ 0, c->block };
		uint64_t to = callee == SIGNATURE_NONE ? IMPORT | c->import : callee + 1;
		h[*n - 1].hash = (h[*n - 1].hash ^ to) * MULTIPLIER;
	}
	qsort(h, *n, sizeof(*h), by_hash);
	return h;
}

static uint32_t edges_of(const struct signature_block *b)
{
	return (b->fall != SIGNATURE_NONE) + (b->taken != SIGNATURE_NONE);
}

static bool are_alike(const struct work *w, uint32_t x, uint32_t y, enum level level)
{
	if (x == SIGNATURE_NONE || y == SIGNATURE_NONE)
		return false;
	const struct signature_block *a = &w->old.block[x], *b = &w->now.block[y];
	return level == SHAPE ? edges_of(a) == edges_of(b) :
				hash_of(a, level) == hash_of(b, level);
}

/* The one open block from which the same kind of edge comes as on the other side; several: the
 * pair would be a guess. */
static uint32_t only_open(const struct side *s, uint32_t to)
{
	uint32_t found = SIGNATURE_NONE;

	for (uint32_t i = s->first[to]; i < s->first[to + 1]; i++) {
		if (s->to[s->from[i]] != SIGNATURE_NONE)
			continue;
		if (found != SIGNATURE_NONE && found != s->from[i])
			return SIGNATURE_NONE;
		found = s->from[i];
	}
	return found;
}

/* 3, 5 and 6 */
static void follow(struct work *w, enum level level)
{
	while (w->head < w->tail) {
		uint32_t x = w->queue[w->head++], y = w->old.to[x];
		const struct signature_block *a = &w->old.block[x], *b = &w->now.block[y];

		if (are_alike(w, a->fall, b->fall, level))
			(void)pair(w, a->fall, b->fall);
		if (are_alike(w, a->taken, b->taken, level))
			(void)pair(w, a->taken, b->taken);
		uint32_t p = only_open(&w->old, x), q = only_open(&w->now, y);
		if (are_alike(w, p, q, level))
			(void)pair(w, p, q);
	}
}

static uint32_t count_labels(const struct side *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += s->block[i].label != 0;
	return n;
}

/* The block of each label. */
static uint32_t *by_label(const struct side *s, uint32_t n, struct arena *a)
{
	uint32_t *block = arena_array(a, n, sizeof(*block));

	memset(block, 0xff, n * sizeof(*block));		/* NONE */
	for (uint32_t i = 0; i < s->n; i++)
		if (s->block[i].label && s->block[i].label <= n)
			block[s->block[i].label - 1] = i;
	return block;
}

/* 2 */
static void pair_labels(struct work *w, struct arena *a)
{
	uint32_t n = count_labels(&w->old);

	if (n != count_labels(&w->now))
		return;
	const uint32_t *x = by_label(&w->old, n, a), *y = by_label(&w->now, n, a);
	for (uint32_t i = 0; i < n; i++)
		if (are_alike(w, x[i], y[i], SHAPE))
			(void)pair(w, x[i], y[i]);
}

static void begin_round(struct work *w)
{
	w->head = w->tail = 0;
	for (uint32_t x = 0; x < w->old.n; x++)
		if (w->old.to[x] != SIGNATURE_NONE)
			w->queue[w->tail++] = x;
}

/* 4: the open blocks behind a pair, from x and y on */
static void pair_gap(struct work *w, uint32_t x, uint32_t y, enum level level)
{
	while (x < w->old.n && w->old.to[x] == SIGNATURE_NONE) {
		for (uint32_t k = y; k < w->now.n && k - y < GAP; k++) {
			if (w->now.to[k] != SIGNATURE_NONE)
				break;
			if (are_alike(w, x, k, level)) {
				(void)pair(w, x, k);
				y = k + 1;
				break;
			}
		}
		x++;
	}
}

static void pair_gaps(struct work *w, enum level level)
{
	w->head = w->tail = 0;
	for (uint32_t x = 0; x < w->old.n; x++)
		if (w->old.to[x] != SIGNATURE_NONE && x + 1 < w->old.n &&
		    w->old.to[x + 1] == SIGNATURE_NONE)
			pair_gap(w, x + 1, w->old.to[x] + 1, level);
}

static void pair_callers(const struct match *m, uint32_t f, struct work *w, struct arena *a)
{
	uint32_t nx, ny;
	const struct hashed *x = calls(m->old, &m->old->fn[f], m->fn, &nx, a);
	const struct hashed *y = calls(m->now, &m->now->fn[m->fn[f]], NULL, &ny, a);

	pair_unique(w, x, nx, y, ny);
}

void match_blocks(struct match *m, uint32_t f, struct arena *scratch)
{
	const struct signature_fn *fn = &m->old->fn[f], *other = &m->now->fn[m->fn[f]];
	struct work w = { .old = side_of(m->old, fn, scratch),
			  .now = side_of(m->now, other, scratch) };

	w.queue = arena_array(scratch, w.old.n, sizeof(*w.queue));
	if (w.old.n && w.now.n) {
		pair_unique(&w, sorted(&w.old, EXACT, scratch), w.old.n,
			    sorted(&w.now, EXACT, scratch), w.now.n);
		pair_callers(m, f, &w, scratch);
		(void)pair(&w, 0, 0);
		pair_labels(&w, scratch);
		for (enum level level = LOOSE; level <= ROUGH; level++) {
			begin_round(&w);
			follow(&w, level);
			pair_gaps(&w, level);
			follow(&w, level);
		}
		begin_round(&w);
		follow(&w, SHAPE);
	}
	for (uint32_t i = 0; i < w.old.n; i++)
		m->block[fn->block + i] = w.old.to[i] == SIGNATURE_NONE ?
						  SIGNATURE_NONE :
						  other->block + w.old.to[i];
}

double match_likeness(const struct signature *old, uint32_t f, const struct signature *now,
		      uint32_t g, struct arena *scratch)
{
	const struct signature_fn *x = &old->fn[f], *y = &now->fn[g];
	struct side a = { .block = &old->block[x->block], .n = x->nblock };
	struct side b = { .block = &now->block[y->block], .n = y->nblock };
	double both = 0, all = 0;

	/* without more work where there is no hope */
	if (a.n == 0 || b.n == 0 || a.n > 4 * b.n || b.n > 4 * a.n)
		return 0;
	const struct hashed *p = sorted(&a, ROUGH, scratch), *q = sorted(&b, ROUGH, scratch);
	for (uint32_t i = 0; i < a.n; i++)
		all += a.block[i].ninsn;
	for (uint32_t i = 0; i < b.n; i++)
		all += b.block[i].ninsn;
	for (uint32_t i = 0, k = 0; i < a.n && k < b.n; ) {
		int order = (p[i].hash > q[k].hash) - (p[i].hash < q[k].hash);

		if (order == 0)
			both += a.block[p[i].block].ninsn + b.block[q[k].block].ninsn;
		i += order <= 0;
		k += order >= 0;
	}
	return both / all;
}
