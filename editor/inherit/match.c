/* match.c - pairs the functions of two versions of a program, and has their blocks paired
 *
 * 1. the same name, which no other function of either version has;
 * 2. the same exact hash over all blocks and edges, unique likewise; 3. the same loose one;
 * 4. the texts that a function refers to and the imports that it calls, where few others do;
 * 5. from each pair to others, as long as there are new ones: what the same call of both calls,
 *    and what lies shortly before or behind both, the nearest first, if it is alike enough.
 *
 * A pair of one name may have nothing else in common: then its blocks find no partners, and
 * nothing is taken for its counts.
 */
#include "editor/inherit/match.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/search.h"

const char *const match_how_name[MATCH_NHOW] = {
	[MATCH_NAME] = "name", [MATCH_EXACT] = "instructions", [MATCH_LOOSE] = "operations",
	[MATCH_WORDS] = "texts and imports", [MATCH_CALLS] = "calls",
	[MATCH_PLACE] = "neighbours",
};

/* Chosen: half of the operations in common; functions of fewer operations are too short to be
 * told apart by their hashes; so many functions away is near; and a word of so many functions
 * tells of them; and functions that have so many words can be told apart by these. */
static const double LIKE = 0.5;
enum { SHORT = 8, NEAR = 3, RARE = 4, WORDS = 3 };

struct pairing {
	struct match *m;
	struct arena *scratch;
	uint32_t *queue;	/* [old->nfn] pairs whose surroundings are to be looked at */
	uint32_t head, tail;
};

struct key {
	uint64_t hash;
	uint32_t fn;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	h ^= v;				/* the finalizer of MurmurHash3 */
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdu;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 33;
}

/* 0: too short to be told apart, or without the name. */
static uint64_t hash_fn(const struct signature *s, uint32_t f, enum match_how how)
{
	const struct signature_fn *fn = &s->fn[f];
	uint64_t h = fn->nblock, ninsn = 0;

	if (how == MATCH_NAME)
		return fn->name;
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct signature_block *b = &s->block[fn->block + i];

		h = mix(h, how == MATCH_EXACT ? b->exact : b->loose);
		h = mix(h, (uint64_t)b->fall << 32 | b->taken);
		ninsn += b->ninsn;
	}
	return ninsn < SHORT ? 0 : h;
}

static int by_hash(const void *x, const void *y)
{
	const struct key *a = x, *b = y;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return a->fn < b->fn ? -1 : a->fn > b->fn;
}

/* Of the functions without a partner, ascending; *n are how many. */
static struct key *keys(const struct signature *s, const uint32_t *partner, enum match_how how,
			uint32_t *n, struct arena *a)
{
	struct key *key = arena_array(a, s->nfn, sizeof(*key));

	*n = 0;
	for (uint32_t f = 0; f < s->nfn; f++) {
		uint64_t h = partner[f] == SIGNATURE_NONE ? hash_fn(s, f, how) : 0;

		if (h)
			key[(*n)++] = (struct key){ h, f };
	}
	qsort(key, *n, sizeof(*key), by_hash);
	return key;
}

static bool pair(struct pairing *p, uint32_t f, uint32_t g, enum match_how how)
{
	struct match *m = p->m;

	if (m->fn[f] != SIGNATURE_NONE || m->fn_back[g] != SIGNATURE_NONE)
		return false;
	m->fn[f] = g;
	m->fn_back[g] = f;
	m->how[f] = (uint8_t)how;
	p->queue[p->tail++] = f;
	match_blocks(m, f, p->scratch);
	arena_reset(p->scratch);
	return true;
}

static void pair_unique(struct pairing *p, enum match_how how)
{
	const struct match *m = p->m;
	struct arena *a = arena_new();
	uint32_t nx, ny;
	const struct key *x = keys(m->old, m->fn, how, &nx, a);
	const struct key *y = keys(m->now, m->fn_back, how, &ny, a);

	for (uint32_t i = 0, k = 0; i < nx && k < ny; ) {
		uint32_t i_end = i + 1, k_end = k + 1;

		while (i_end < nx && x[i_end].hash == x[i].hash)
			i_end++;
		while (k_end < ny && y[k_end].hash == y[k].hash)
			k_end++;
		if (x[i].hash == y[k].hash && i_end == i + 1 && k_end == k + 1)
			(void)pair(p, x[i].fn, y[k].fn, how);
		int order = (x[i].hash > y[k].hash) - (x[i].hash < y[k].hash);
		if (order <= 0)
			i = i_end;
		if (order >= 0)
			k = k_end;
	}
	arena_free(a);
}

/* The same coefficient of the words of both; 0 if there are too few to tell anything. */
static double words_in_common(const struct signature *old, uint32_t f,
			      const struct signature *now, uint32_t g)
{
	const uint32_t *x = &old->word[old->fn[f].word], *y = &now->word[now->fn[g].word];
	uint32_t nx = old->fn[f].nword, ny = now->fn[g].nword, both = 0;

	if (nx < WORDS || ny < WORDS)
		return 0;
	for (uint32_t i = 0, k = 0; i < nx && k < ny; ) {
		int order = (x[i] > y[k]) - (x[i] < y[k]);

		both += order == 0;
		i += order <= 0;
		k += order >= 0;
	}
	return 2.0 * both / ((double)nx + ny);
}

static void try_pair(struct pairing *p, uint32_t f, uint32_t g, enum match_how how)
{
	const struct match *m = p->m;

	if (f >= m->old->nfn || g >= m->now->nfn || m->fn[f] != SIGNATURE_NONE ||
	    m->fn_back[g] != SIGNATURE_NONE)
		return;
	double like = match_likeness(m->old, f, m->now, g, p->scratch);
	arena_reset(p->scratch);
	if (like >= LIKE || words_in_common(m->old, f, m->now, g) >= LIKE)
		(void)pair(p, f, g, how);
}

static void try_callees(struct pairing *p, uint32_t x, uint32_t y, uint32_t n)
{
	const struct match *m = p->m;

	for (uint32_t k = 0; k < n; k++)
		try_pair(p, m->old->call[x + k].callee, m->now->call[y + k].callee,
			 MATCH_CALLS);
}

/* What the same call of both calls. */
static void follow_calls(struct pairing *p, uint32_t f)
{
	const struct match *m = p->m;
	const struct signature_fn *fn = &m->old->fn[f], *other = &m->now->fn[m->fn[f]];

	if (fn->ncall == other->ncall)
		try_callees(p, fn->call, other->call, fn->ncall);
	for (uint32_t i = 0; i < fn->nblock; i++) {
		uint32_t to = m->block[fn->block + i], x, y;

		if (to == SIGNATURE_NONE)
			continue;
		uint32_t n = signature_calls(m->old, fn, i, &x);
		if (n == 0 || signature_calls(m->now, other, to - other->block, &y) != n)
			continue;
		try_callees(p, x, y, n);
	}
}

/* What lies so many functions before or behind them. */
static void try_both_sides(struct pairing *p, uint32_t f, uint32_t g, uint32_t i, uint32_t k)
{
	try_pair(p, f + i, g + k, MATCH_PLACE);
	if (f >= i && g >= k)
		try_pair(p, f - i, g - k, MATCH_PLACE);
}

static void follow(struct pairing *p)
{
	while (p->head < p->tail) {
		uint32_t f = p->queue[p->head++], g = p->m->fn[f];

		follow_calls(p, f);
		for (uint32_t sum = 2; sum <= 2 * NEAR; sum++)
			for (uint32_t i = 1; i <= NEAR; i++)
				if (sum > i && sum - i <= NEAR)
					try_both_sides(p, f, g, i, sum - i);
	}
}

/* --- by words --- */

/* Words of the functions without a partner, ascending: key.hash is the word. */
static struct key *words(const struct signature *s, const uint32_t *partner, uint32_t *n,
			 struct arena *a)
{
	struct key *key = arena_array(a, s->nword, sizeof(*key));

	*n = 0;
	for (uint32_t f = 0; f < s->nfn; f++)
		for (uint32_t i = 0; i < s->fn[f].nword && partner[f] == SIGNATURE_NONE; i++)
			key[(*n)++] = (struct key){ s->word[s->fn[f].word + i], f };
	qsort(key, *n, sizeof(*key), by_hash);
	return key;
}

struct votes {
	double *of;		/* [now->nfn] */
	uint32_t *who, n;	/* who has any */
};

/* A rare word of the function counts for all that have it, the rarer the more. */
static void vote(struct votes *v, const struct key *y, uint32_t ny, double weight)
{
	for (uint32_t k = 0; k < ny; k++) {
		if (v->of[y[k].fn] == 0)
			v->who[v->n++] = y[k].fn;
		v->of[y[k].fn] += weight / ny;
	}
}

static uint32_t first_of(const struct key *key, uint32_t n, uint64_t word)
{
	return search_first(i, 0, n, key[i].hash < word);
}

/* The function with clearly the most votes, a word's of its own at least; NONE.  Takes all
 * votes away. */
static uint32_t elect(struct votes *v)
{
	static const double LEAST = 0.9, CLEARLY = 2;
	uint32_t best = SIGNATURE_NONE;
	double most = 0, second = 0;

	for (uint32_t i = 0; i < v->n; i++) {
		double votes = v->of[v->who[i]];

		if (votes > most) {
			second = most;
			most = votes;
			best = v->who[i];
		} else if (votes > second) {
			second = votes;
		}
		v->of[v->who[i]] = 0;
	}
	v->n = 0;
	return most >= LEAST && most >= CLEARLY * second ? best : SIGNATURE_NONE;
}

static void pair_by_words(struct pairing *p)
{
	const struct signature *old = p->m->old, *now = p->m->now;
	struct arena *a = arena_new();
	struct votes v = { arena_array(a, now->nfn, sizeof(*v.of)),
			   arena_array(a, now->nfn, sizeof(*v.who)), 0 };
	uint32_t nx, ny;
	const struct key *x = words(old, p->m->fn, &nx, a);
	const struct key *y = words(now, p->m->fn_back, &ny, a);

	for (uint32_t f = 0; f < old->nfn; f++) {
		if (p->m->fn[f] != SIGNATURE_NONE)
			continue;
		for (uint32_t i = 0; i < old->fn[f].nword; i++) {
			uint64_t word = old->word[old->fn[f].word + i];
			uint32_t at = first_of(y, ny, word);
			uint32_t n = first_of(x, nx, word + 1) - first_of(x, nx, word);
			uint32_t k = first_of(y, ny, word + 1) - at;

			if (n <= RARE && k <= RARE)
				vote(&v, y + at, k, 1.0 / n);
		}
		uint32_t g = elect(&v);
		if (g != SIGNATURE_NONE)
			(void)pair(p, f, g, MATCH_WORDS);
	}
	arena_free(a);
}

void match_signatures(const struct signature *old, const struct signature *now,
		      struct arena *a, struct match *out)
{
	struct match m = { .old = old, .now = now };
	struct pairing p = { .m = &m, .scratch = arena_new() };

	m.fn = arena_array(a, old->nfn, sizeof(*m.fn));
	m.fn_back = arena_array(a, now->nfn, sizeof(*m.fn_back));
	m.how = arena_array(a, old->nfn, sizeof(*m.how));
	m.block = arena_array(a, old->nblock, sizeof(*m.block));
	memset(m.fn, 0xff, old->nfn * sizeof(*m.fn));			/* NONE */
	memset(m.fn_back, 0xff, now->nfn * sizeof(*m.fn_back));
	memset(m.block, 0xff, old->nblock * sizeof(*m.block));
	p.queue = arena_array(a, old->nfn, sizeof(*p.queue));
	for (enum match_how how = MATCH_NAME; how <= MATCH_LOOSE; how++)
		pair_unique(&p, how);
	pair_by_words(&p);
	follow(&p);
	pair_by_words(&p);
	follow(&p);
	/* once more, by all callees that are known now */
	for (uint32_t f = 0; f < old->nfn; f++) {
		if (m.fn[f] != SIGNATURE_NONE)
			match_blocks(&m, f, p.scratch);
		arena_reset(p.scratch);
	}
	arena_free(p.scratch);
	*out = m;
}
