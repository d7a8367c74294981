/* infer_callees.c - estimates the counts of functions without samples from their callers'
 * counts
 *
 * A short function gets no sample now and then even if it is called a thousand times as often
 * as the program is sampled; with few samples most functions of a large program are like that.
 * But the functions that were sampled tell about them: they are entered as often as the blocks
 * run that call them, and the probabilities of their branches are those that other branches of
 * the program teach (branchguess.h).
 *
 * That there is no sample says something as well.  When calls let n entries expect, each of c
 * samples, and nothing but its mean n is known of their number, then without a sample it is n /
 * (1 + n c) on average: together less than one sample's worth, however often the function seems
 * to be called.
 *
 * Functions that these call in turn follow in further rounds.  All of their blocks but the
 * entry are marked as guessed.
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/infer_callee*.txt).
 */
#include "editor/infer/infer_callees.h"

#include "editor/graph/markov.h"
#include "editor/infer/branchguess.h"
#include "editor/infer/expectation.h"

/* Chosen, not measured, as is what follows. */
enum { ROUNDS = 4, MAX_CHANGES = 1000000 };
static const double leak = 1e-3;	/* of each edge, so that every loop is left */

struct guess {			/* of one function */
	double *visits;		/* [nblock] for one entry; NULL: not made yet */
	double *taken;		/* [nblock] the part of them that leaves by the branch */
	double cost;		/* of one entry, in samples */
};

struct work {
	struct prog *prog;
	const double *weight;
	struct arena *a;
	struct arena *pass;	/* for one function */
	uint32_t *first;	/* scratch of add_table_counts() */
	struct guess *guess;	/* [nfn] */
	double *calls;		/* [nfn] entries that calls let expect */
	VEC(struct markov_edge) edge;	/* of the function at hand ... */
	VEC(double) probability;	/* ... and of each edge */
};

static void add_edge(struct work *w, uint32_t from, uint32_t to, double probability)
{
	struct markov_edge s = { from, to };

	if (to == NO_BLOCK)
		return;
	vec_push(w->a, &w->edge, s);
	vec_push(w->a, &w->probability, probability * (1 - leak));
}

static void add_edges(struct work *w, const struct fn *fn, uint32_t id, double taken)
{
	const struct block *b = &fn->block[id];
	const struct jump_table *t = b->table != NO_TABLE ? &fn->table[b->table] : NULL;

	if (b->noreturn)
		return;
	add_edge(w, id, b->fall, 1 - taken);
	add_edge(w, id, b->taken, taken);
	for (uint32_t i = 0; t && i < t->nentry; i++)
		add_edge(w, id, t->succ[i], 1.0 / t->nentry);
}

static bool leads_to_noreturn(const struct fn *fn, uint32_t id)
{
	return id != NO_BLOCK && fn->block[id].leads_to_noreturn;
}

/* How likely the branch at the end of a block is taken. */
static double taken_part(const struct fn *fn, const struct block *b,
			 const struct logistic_case *c, const double *weight)
{
	bool falls = b->fall != NO_BLOCK || b->fall_out,
	     takes = b->taken != NO_BLOCK || b->taken_out;

	if (!falls || !takes)
		return takes;
	if (leads_to_noreturn(fn, b->fall) != leads_to_noreturn(fn, b->taken))
		return leads_to_noreturn(fn, b->fall);
	return c->nfeature ? logistic_predict(c, weight) : 0.5;
}

static void make_guess(struct work *w, const struct fn *fn, struct guess *g)
{
	struct logistic_case *cases = arena_array(w->pass, fn->nblock, sizeof(*cases));
	uint64_t budget = MAX_CHANGES;

	g->visits = arena_array(w->a, fn->nblock, sizeof(*g->visits));
	g->taken = arena_array(w->a, fn->nblock, sizeof(*g->taken));
	branchguess_features(w->prog, fn, w->pass, cases);
	w->edge.n = w->probability.n = 0;
	for (uint32_t i = 0; i < fn->nblock; i++) {
		g->taken[i] = taken_part(fn, &fn->block[i], &cases[i], w->weight);
		add_edges(w, fn, i, g->taken[i]);
	}
	struct markov *markov = markov_new(fn->nblock, w->edge.v, w->edge.n, &budget);
	g->visits[0] = 1;
	if (markov) {
		markov_set(markov, w->probability.v);
		markov_visits(markov, g->visits);
	}
	markov_free(markov);
	arena_reset(w->pass);
	for (uint32_t i = 0; i < fn->nblock; i++)
		g->cost += g->visits[i] * expectation_samples(w->prog, fn, &fn->block[i]);
}

/* Evenly over its entries.  Those that lead to one block share the edge of the first of
 * them; first[] is scratch, [nblock], 0 before and after. */
static void add_table_counts(struct jump_table *t, double count, uint32_t *first)
{
	for (uint32_t i = 0; i < t->nentry; i++) {
		if (t->succ[i] == NO_BLOCK)
			continue;
		if (!first[t->succ[i]])
			first[t->succ[i]] = i + 1;
		t->count[first[t->succ[i]] - 1] += count / t->nentry;
	}
	for (uint32_t i = 0; i < t->nentry; i++)
		if (t->succ[i] != NO_BLOCK)
			first[t->succ[i]] = 0;
}

static void set_counts(struct work *w, struct fn *fn, const struct guess *g, double entries)
{
	fn->entry_count = entries;
	for (uint32_t t = 0; t < fn->ntable; t++)
		for (uint32_t i = 0; i < fn->table[t].nentry; i++)
			fn->table[t].count[i] = 0;
	for (uint32_t i = 0; i < fn->nblock; i++) {
		struct block *b = &fn->block[i];

		b->count = entries * g->visits[i];
		b->guessed = i > 0;
		b->taken_count = b->count * g->taken[i];
		b->fall_count =
			b->fall != NO_BLOCK || b->fall_out ? b->count - b->taken_count : 0;
		if (b->table != NO_TABLE)
			add_table_counts(&fn->table[b->table], b->count, w->first);
	}
}

static void add_direct(struct work *w)
{
	const struct prog *prog = w->prog;

	for (uint32_t i = 0; i < prog->ncall; i++) {
		const struct call_site *c = &prog->call[i];
		const struct block *b = &prog->fn[c->caller].block[c->block];
		bool branch = b->taken_out && (b->fall != NO_BLOCK || b->fall_out) &&
			      b->taken_out == prog->fn[c->callee].entry;

		if (prog->fn[c->caller].moved)
			w->calls[c->callee] += branch ? b->taken_count : b->count;
	}
}

/* Calls seen at one instruction stand together. */
static void add_seen(struct work *w, const struct fn *fn)
{
	for (uint32_t i = 0, next; i < fn->nseen_call; i = next) {
		const struct insn *insn = &fn->insn[fn->seen_call[i].insn];
		double sum = EXPECTATION_UNSEEN_TARGET;

		for (next = i; next < fn->nseen_call &&
			       fn->seen_call[next].insn == fn->seen_call[i].insn; next++)
			sum += fn->seen_call[next].count;
		if (insn->kind != INSN_ICALL && insn->kind != INSN_IJMP)
			continue;
		uint32_t block = fn_find_block(fn, prog_insn_addr(w->prog, insn));
		for (uint32_t k = i; k < next; k++) {
			uint32_t to = prog_find_fn(w->prog, fn->seen_call[k].target);

			if (to != NO_FN && w->prog->fn[to].entry == fn->seen_call[k].target)
				w->calls[to] +=
					fn->block[block].count * fn->seen_call[k].count / sum;
		}
	}
}

void infer_callees(struct prog *prog, const double *weight, struct arena *scratch)
{
	struct work w = { .prog = prog, .weight = weight, .a = scratch, .pass = arena_new() };
	uint32_t most = 0;

	for (uint32_t f = 0; f < prog->nfn; f++)
		most = prog->fn[f].nblock > most ? prog->fn[f].nblock : most;
	w.first = arena_array(scratch, most, sizeof(*w.first));
	w.guess = arena_array(scratch, prog->nfn, sizeof(*w.guess));
	w.calls = arena_array(scratch, prog->nfn, sizeof(*w.calls));
	for (int round = 0; round < ROUNDS; round++) {
		for (uint32_t f = 0; f < prog->nfn; f++)
			w.calls[f] = 0;
		add_direct(&w);
		for (uint32_t f = 0; f < prog->nfn; f++)
			if (prog->fn[f].moved)
				add_seen(&w, &prog->fn[f]);
		for (uint32_t f = 0; f < prog->nfn; f++) {
			struct fn *fn = &prog->fn[f];
			struct guess *g = &w.guess[f];

			if (!fn->moved || fn_is_seen(fn) || w.calls[f] <= 0)
				continue;
			if (!g->visits)
				make_guess(&w, fn, g);
			set_counts(&w, fn, g, w.calls[f] / (1 + w.calls[f] * g->cost));
		}
	}
	arena_free(w.pass);
}
