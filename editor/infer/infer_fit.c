/* infer_fit.c - estimates counts of blocks and edges by the likelihood fit
 *
 * It makes the graph of the fit (editor/graph/likelihood.h) from the program, and reads the
 * counts back.
 *
 * Every moved function with samples or seen edges becomes a part: a node for each block, and
 * nodes that are no blocks:
 *
 *    the hub       where computed jumps without a proven table meet, except for the ways that
 *                  they were seen to go; it leads to every block whose address is taken, or out
 *    a tail call   the target of a conditional jump out of the function, so that it can be
 *                  counted
 *
 * The search starts from the edges seen of a branch, from the samples of the blocks that it
 * leads to, and from what other branches teach (branchguess.h).  A block without samples or
 * seen edges that need not run for one that has some (mustrun.h) gets its count from the
 * branches around it, whose probabilities are guessed, and is marked as guessed.  Its count is
 * 0 if it leads to a call that does not return.
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/infer_*.txt).
 */
#include "editor/infer/infer_fit.h"

#include <math.h>
#include <string.h>

#include "editor/graph/flowcut.h"
#include "editor/infer/branchguess.h"
#include "editor/infer/expectation.h"

/* Limits of confidence, chosen so that it says something: against complete profiles at 100,000
 * samples the likelier successor is right in .99 of the branch executions of high confidence,
 * in .91 of medium and in .87 of low. */
enum { CLEAR_SAMPLES = 20, FEW_SAMPLES = 4, FEW_SEEN = 5 };
/* Observations of one branch teach the others as much as so many at most; chosen. */
static const double GUESS_LIMIT = 5;
/* How firmly each weight of a feature is believed to be 0 (logistic.h); chosen. */
static const double GUESS_FIRM = 8;
/* Samples expected below which a node without any is left out of the fit (flowcut.h).  So it is
 * with half of the blocks of cc1's functions that have any of 5,000 samples; what the fit finds
 * of the rest changes no more than by a few rounds more or less. */
static const double LEAST_EXPECTED = 2e-4;
/* With so many observations samples and the guess count where the search starts; chosen: where
 * it ends hardly depends on them. */
static const double START_SAMPLES = 2, START_GUESS = 0.6;

enum way { FALL, TAKEN, TABLE, OTHER };	/* of a block's edges */

struct builder {
	struct prog *prog;
	struct arena *arena;		/* scratch */
	struct arena *pass;		/* for one function */
	struct arena *features;		/* of branches, until they are guessed */
	VEC(struct likelihood_node) node;
	VEC(struct likelihood_edge) edge;
	/* of each edge: enum way, and the table entry above it */
	VEC(uint32_t) way;
	VEC(struct likelihood_entry) entry;
	VEC(struct likelihood_call) call;
	VEC(struct likelihood_part) part;
	VEC(struct logistic_case) branch;	/* conditional branches ... */
	/* ... and the first of their two edges: fall, then taken */
	VEC(uint32_t) branch_edge;
	uint32_t *part_of;		/* [nfn], NO_FN if none */
	uint32_t *entry_of;		/* [nfn] of its entry */
	/* of the function being built */
	const struct fn *fn;
	uint32_t base;			/* node of block 0 */
	uint32_t hub;			/* node, NO_BLOCK if none */
	uint32_t tails;			/* nodes behind conditional jumps out, so far */
	uint32_t tail_base;		/* node of the first */
	uint8_t *listed;		/* [nblock] scratch of tables */
};

/* The first seen edge that is not before from -> to; they are ascending. */
static uint32_t first_seen_edge(const struct fn *fn, uint32_t from, uint32_t to)
{
	uint32_t lo = 0, hi = fn->nseen_edge;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct seen_edge *e = &fn->seen_edge[mid];

		if (e->from < from || (e->from == from && e->to < to))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static double seen_edge(const struct fn *fn, uint32_t from, uint32_t to)
{
	uint32_t i = first_seen_edge(fn, from, to);

	return i < fn->nseen_edge && fn->seen_edge[i].from == from && fn->seen_edge[i].to == to
		       ? fn->seen_edge[i].count
		       : 0;
}

/* The first call seen at this instruction or a later one; they are ascending. */
static uint32_t first_seen(const struct fn *fn, uint32_t insn)
{
	uint32_t lo = 0, hi = fn->nseen_call;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (fn->seen_call[mid].insn < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* How many calls or jumps instruction `insn` was seen to make, to whatever target. */
static double seen_calls(const struct fn *fn, uint32_t insn)
{
	double sum = 0;

	for (uint32_t i = first_seen(fn, insn);
	     i < fn->nseen_call && fn->seen_call[i].insn == insn; i++)
		sum += fn->seen_call[i].count;
	return sum;
}

static const struct insn *last_insn(const struct fn *fn, const struct block *b)
{
	return b->ninsn ? &fn->insn[b->insn + b->ninsn - 1] : NULL;
}

static bool is_computed(const struct fn *fn, const struct block *b)
{
	const struct insn *last = last_insn(fn, b);

	return last && last->kind == INSN_IJMP && b->table == NO_TABLE;
}

/* A conditional jump that leaves the function. */
static bool is_tail(const struct fn *fn, const struct block *b)
{
	const struct insn *last = last_insn(fn, b);

	return last && last->kind == INSN_JCC && b->taken == NO_BLOCK && b->taken_out;
}

static void add_edge(struct builder *w, uint32_t from, uint32_t to, double seen, uint32_t way)
{
	struct likelihood_edge s = { .from = from, .to = to, .seen = seen };

	vec_push(w->arena, &w->edge, s);
	vec_push(w->arena, &w->way, way);
}

static void add_block_edge(struct builder *w, uint32_t id, uint32_t to, uint32_t way)
{
	add_edge(w, w->base + id, w->base + to, seen_edge(w->fn, id, to), way);
	w->edge.v[w->edge.n - 1].never = w->fn->block[to].leads_to_noreturn;
}

static void add_table(struct builder *w, uint32_t id, const struct jump_table *t)
{
	bool leaves = false;

	for (uint32_t i = 0; i < t->nentry; i++) {
		uint32_t to = t->succ[i];

		if (to == NO_BLOCK) {
			leaves = true;
		} else if (!w->listed[to]) {
			w->listed[to] = 1;
			add_block_edge(w, id, to, i << 2 | TABLE);
		}
	}
	for (uint32_t i = 0; i < t->nentry; i++) {
		if (t->succ[i] != NO_BLOCK)
			w->listed[t->succ[i]] = 0;
	}
	if (leaves)
		add_edge(w, w->base + id, LIKELIHOOD_EXIT, 0, OTHER);
}

/* To where the jump was seen to go, and to the hub.  What is seen of one jump tells nothing of
 * others: jumps through constant tables are always seen, and jumps through memory, which
 * dispatch an interpreter, never. */
static void add_computed(struct builder *w, uint32_t id)
{
	const struct fn *fn = w->fn;

	for (uint32_t i = first_seen_edge(fn, id, 0);
	     i < fn->nseen_edge && fn->seen_edge[i].from == id; i++)
		add_edge(w, w->base + id, w->base + fn->seen_edge[i].to,
			 fn->seen_edge[i].count, OTHER);
	add_edge(w, w->base + id, w->hub, 0, OTHER);
}

static void add_edges(struct builder *w, uint32_t id)
{
	const struct fn *fn = w->fn;
	const struct block *b = &fn->block[id];
	const struct insn *last = last_insn(fn, b);
	uint32_t before = w->edge.n, node = w->base + id;

	if (b->padding)
		return;
	if (b->noreturn || (last && last->kind == INSN_TRAP)) {
		add_edge(w, node, LIKELIHOOD_EXIT, 0, OTHER);
		return;
	}
	if (b->fall != NO_BLOCK)
		add_block_edge(w, id, b->fall, FALL);
	if (b->taken != NO_BLOCK && b->taken != b->fall)
		add_block_edge(w, id, b->taken, TAKEN);
	if (b->table != NO_TABLE)
		add_table(w, id, &fn->table[b->table]);
	if (is_tail(fn, b))
		add_edge(w, node, w->tail_base + w->tails++,
			 seen_calls(fn, b->insn + b->ninsn - 1), TAKEN);
	else if (b->fall_out || b->taken_out)
		add_edge(w, node, LIKELIHOOD_EXIT, 0, OTHER);
	if (w->edge.n != before)
		return;
	if (is_computed(fn, b) && w->hub != NO_BLOCK) {
		add_computed(w, id);
		return;
	}
	add_edge(w, node, LIKELIHOOD_EXIT, 0, OTHER);
}

/* From the hub to each block whose address is taken. */
static void add_hub(struct builder *w)
{
	const struct fn *fn = w->fn;

	for (uint32_t i = 0; i < fn->nblock; i++) {
		if (fn->block[i].pinned && !fn->block[i].padding)
			add_edge(w, w->hub, w->base + i, 0, OTHER);
	}
	add_edge(w, w->hub, LIKELIHOOD_EXIT, 0, OTHER);
}

/* The time spent in a block of `len` instructions tells as much as so many samples: the longer
 * the block, the more its stalls even out.  In proportion to the length, and with a bound on
 * the pull (LIKELIHOOD_EXCESS), edges of 14 programs overlap with complete profiles by .802 at
 * 100,000 samples; with 1.5 times the root of the length, and no bound, by .787.  30 is
 * chosen. */
static double trust_of(double len)
{
	const double of_instruction = 0.8, longest = 30;

	return of_instruction * fmin(fmax(len, 1), longest);
}

static void add_nodes(struct builder *w)
{
	const struct fn *fn = w->fn;
	struct likelihood_node other = { 0 };
	bool computed = false, pinned = false;

	w->base = w->node.n;
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];
		struct likelihood_node n = {
			.samples = b->samples,
			.count = b->count,
			.cost = expectation_samples(w->prog, fn, b),
			.trust = trust_of(block_length(fn, b))
		};

		vec_push(w->arena, &w->node, n);
		computed |= is_computed(fn, b);
		pinned |= b->pinned;
	}
	w->hub = NO_BLOCK;
	if (computed && pinned && fn->unproven) {
		w->hub = w->node.n;
		vec_push(w->arena, &w->node, other);
	}
	w->tail_base = w->node.n;
	w->tails = 0;
	for (uint32_t i = 0; i < fn->nblock; i++) {
		if (is_tail(fn, &fn->block[i]))
			vec_push(w->arena, &w->node, other);
	}
}

/* Executions of the node that the edge leads to, by its samples and what is guessed of one
 * more: that a short block has none tells little. */
static double sampled(const struct builder *w, const struct likelihood_edge *s)
{
	const struct likelihood_node *n =
		s->to == LIKELIHOOD_EXIT ? NULL : &w->node.v[s->to];

	return n && n->cost > 0 && !s->never ? (n->samples + s->guess) / fmax(n->cost, 1) : 0;
}

/* The search starts from proportions of what was seen and of samples, neither believed
 * altogether; where both know nothing, from the guess. */
static void set_start(struct builder *w)
{
	for (uint32_t i = 0, end; i < w->edge.n; i = end) {
		double all = 0, seen = 0;

		for (end = i; end < w->edge.n && w->edge.v[end].from == w->edge.v[i].from;
		     end++) {
			all += sampled(w, &w->edge.v[end]);
			seen += w->edge.v[end].seen;
		}
		for (uint32_t k = i; k < end; k++) {
			struct likelihood_edge *s = &w->edge.v[k];
			double part = all > 0 ? sampled(w, s) / all : s->guess;
			double observed =
				s->seen + START_SAMPLES * part + START_GUESS * s->guess;

			s->probability = observed / (seen + (START_SAMPLES + START_GUESS));
		}
	}
}

static void add_entries(struct builder *w, uint32_t f)
{
	const struct fn *fn = w->fn;
	struct likelihood_entry s = { .node = w->base,
				      .rate = fmax(fn->entry_count, 1e-3),
				      .callers_known = fn->pointers == POINTERS_NONE };

	w->entry_of[f] = w->entry.n;
	vec_push(w->arena, &w->entry, s);
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];

		if (!b->landing || b->samples <= 0)
			continue;
		s = (struct likelihood_entry){
			.node = w->base + i, .rate = b->samples / fmax(block_length(fn, b), 1)
		};
		vec_push(w->arena, &w->entry, s);
	}
}

/* Conditional branches of the function, which are pairs of edges from `first` on. */
static void add_branches(struct builder *w, uint32_t first)
{
	struct logistic_case *cases = arena_array(w->pass, w->fn->nblock, sizeof(*cases));

	branchguess_features(w->prog, w->fn, w->pass, cases);
	for (uint32_t i = first; i + 1 < w->edge.n; i++) {
		const struct likelihood_edge *s = &w->edge.v[i];
		uint32_t id = s->from - w->base;

		if (s[1].from != s->from || id >= w->fn->nblock || !cases[id].nfeature)
			continue;
		double scale = GUESS_LIMIT / (GUESS_LIMIT + s->seen + s[1].seen);
		cases[id].no = scale * s->seen;
		cases[id].yes = scale * s[1].seen;
		cases[id].feature = arena_dup(w->features, cases[id].feature,
					      cases[id].nfeature * sizeof(*cases[id].feature));
		vec_push(w->features, &w->branch, cases[id]);
		vec_push(w->features, &w->branch_edge, i);
	}
}

/* Guesses the probabilities of branches that were not seen by what those teach that were. */
static void guess_branches(struct builder *w, double *weight)
{
	for (uint32_t i = 0, end; i < w->edge.n; i = end) {
		for (end = i; end < w->edge.n && w->edge.v[end].from == w->edge.v[i].from;
		     end++)
			;
		for (uint32_t k = i; k < end; k++)
			w->edge.v[k].guess = 1.0 / (end - i);
	}
	logistic_fit(w->branch.v, w->branch.n, GUESS_FIRM, weight, BRANCHGUESS_WEIGHTS);
	for (uint32_t i = 0; i < w->branch.n; i++) {
		struct likelihood_edge *s = &w->edge.v[w->branch_edge.v[i]];

		s[1].guess = logistic_predict(&w->branch.v[i], weight);
		s->guess = 1 - s[1].guess;
	}
}

static void add_fn(struct builder *w, uint32_t f)
{
	struct likelihood_part part = { .node = w->node.n, .edge = w->edge.n };

	w->fn = &w->prog->fn[f];
	w->listed = arena_alloc(w->pass, w->fn->nblock);
	w->part_of[f] = w->part.n;
	add_nodes(w);
	for (uint32_t i = 0; i < w->fn->nblock; i++)
		add_edges(w, i);
	if (w->hub != NO_BLOCK)
		add_hub(w);
	for (uint32_t i = 0; i < w->tails; i++)
		add_edge(w, w->tail_base + i, LIKELIHOOD_EXIT, 0, OTHER);
	vec_push(w->arena, &w->part, part);
	add_branches(w, part.edge);
	add_entries(w, f);
	arena_reset(w->pass);
}

static bool is_part(const struct fn *fn)
{
	return fn->moved && fn_is_seen(fn);
}

/* Vectors that grow would need most of the memory. */
static void reserve(struct builder *w)
{
	uint32_t nblock = 0, nentry = 0, nfn = 0;

	for (uint32_t f = 0; f < w->prog->nfn; f++) {
		const struct fn *fn = &w->prog->fn[f];

		if (!is_part(fn))
			continue;
		nfn++;
		nblock += fn->nblock;
		for (uint32_t i = 0; i < fn->nblock; i++)
			nentry += fn->block[i].table != NO_TABLE
					  ? fn->table[fn->block[i].table].nentry
					  : 0;
	}
	vec_reserve(w->arena, &w->node, nblock + nfn);
	vec_reserve(w->arena, &w->edge, 2 * nblock + nentry);
	vec_reserve(w->arena, &w->way, 2 * nblock + nentry);
	vec_reserve(w->features, &w->branch, nblock);
	vec_reserve(w->features, &w->branch_edge, nblock);
}

static uint32_t node_of(const struct builder *w, uint32_t f, uint32_t block)
{
	return w->part.v[w->part_of[f]].node + block;
}

/* How often the callee was seen to run because of this call.  Jumps out of the function are
 * seen as ways of their branch. */
static double seen_from(const struct prog *prog, const struct call_site *c)
{
	const struct fn *fn = &prog->fn[c->caller];
	const struct block *b = &fn->block[c->block];
	vaddr at = fn->range[b->range].addr + c->off;
	double sum = 0;

	for (uint32_t i = first_seen(fn, b->insn); i < fn->nseen_call; i++) {
		const struct seen_call *s = &fn->seen_call[i];
		const struct insn *insn = &fn->insn[s->insn];

		if (s->insn >= b->insn + b->ninsn)
			break;
		if (insn->kind == INSN_CALL && prog_insn_addr(prog, insn) == at &&
		    s->target == prog->fn[c->callee].entry)
			sum += s->count;
	}
	return sum;
}

static void add_calls(struct builder *w)
{
	const struct prog *prog = w->prog;

	for (uint32_t i = 0; i < prog->ncall; i++) {
		const struct call_site *c = &prog->call[i];

		if (w->part_of[c->caller] == NO_FN || w->part_of[c->callee] == NO_FN)
			continue;
		const struct fn *fn = &prog->fn[c->caller];
		const struct block *b = &fn->block[c->block];
		struct likelihood_call call = { .site = node_of(w, c->caller, c->block),
						.entry = w->entry_of[c->callee],
						.probability = 1 };
		vaddr last = prog_insn_addr(prog, last_insn(fn, b));
		if (is_tail(fn, b) && fn->range[b->range].addr + c->off == last) {
			/* Tail nodes are in the order of their blocks' edges. */
			for (uint32_t k = w->part.v[w->part_of[c->caller]].edge;
			     k < w->edge.n; k++) {
				if (w->edge.v[k].from == call.site && w->way.v[k] == TAKEN) {
					call.site = w->edge.v[k].to;
					break;
				}
			}
		}
		call.seen = seen_from(prog, c);
		vec_push(w->arena, &w->call, call);
	}
	for (uint32_t f = 0; f < prog->nfn; f++) {
		const struct fn *fn = &prog->fn[f];
		double all = 0;

		for (uint32_t i = 0; w->part_of[f] != NO_FN && i < fn->nseen_call; i++) {
			const struct seen_call *s = &fn->seen_call[i];
			const struct insn *insn = &fn->insn[s->insn];
			uint32_t to = prog_find_fn(prog, s->target);

			if (i == 0 || fn->seen_call[i - 1].insn != s->insn)
				all = seen_calls(fn, s->insn);
			if ((insn->kind != INSN_ICALL && insn->kind != INSN_IJMP) ||
			    to == NO_FN || w->part_of[to] == NO_FN ||
			    prog->fn[to].entry != s->target)
				continue;
			struct likelihood_call call = {
				.site = node_of(w, f,
						fn_find_block(fn, prog_insn_addr(prog, insn))),
				.entry = w->entry_of[to],
				.probability = s->count / (all + EXPECTATION_UNSEEN_TARGET)
			};
			vec_push(w->arena, &w->call, call);
		}
	}
}

/* Confidence in a count by how far the block's own samples agree with it. */
static enum confidence by_samples(const struct likelihood_node *n)
{
	double off = fabs(log((n->samples + 1) / (n->count * n->cost + 1)));

	if (n->samples >= CLEAR_SAMPLES && off < log(2))
		return CONFIDENCE_HIGH;
	return n->samples >= FEW_SAMPLES && off < log(4) ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
}

/* Confidence in that the likeliest of edges [i, end), which leave one block, is the
 * likeliest. */
static enum confidence by_edges(const struct likelihood *fit, uint32_t i, uint32_t end)
{
	double most = 0, next = 0, seen = 0, first = 0, second = 0;
	enum confidence of_block = by_samples(&fit->node[fit->edge[i].from]);

	for (uint32_t k = i; k < end; k++) {
		const struct likelihood_edge *s = &fit->edge[k];

		seen += s->seen;
		if (s->probability > most) {
			next = most;
			second = first;
			most = s->probability;
			first = s->seen;
		} else if (s->probability > next) {
			next = s->probability;
			second = s->seen;
		}
	}
	if (seen >= FEW_SEEN && first - second > 2 * sqrt(seen))
		return CONFIDENCE_HIGH;
	if (first - second >= 2)
		return CONFIDENCE_MEDIUM;
	if (most > 4 * next && of_block == CONFIDENCE_HIGH)
		return CONFIDENCE_MEDIUM;
	return CONFIDENCE_LOW;
}

static void set_confidence(const struct builder *w, const struct likelihood *fit, uint32_t f,
			   uint32_t first, uint32_t last)
{
	struct fn *fn = &w->prog->fn[f];
	uint32_t base = w->part.v[w->part_of[f]].node;

	for (uint32_t i = 0; i < fn->nblock; i++)
		fn->block[i].confidence = (uint8_t)by_samples(&fit->node[base + i]);
	for (uint32_t i = first, end; i < last; i = end) {
		uint32_t id = fit->edge[i].from - base;

		for (end = i; end < last && fit->edge[end].from == fit->edge[i].from; end++)
			;
		if (id < fn->nblock && end - i > 1)
			fn->block[id].confidence = (uint8_t)by_edges(fit, i, end);
	}
}

/* Marks blocks of which nothing says that they run; counts are still those before the fit. */
static void mark_guessed(struct builder *w, struct fn *fn)
{
	bool *seen = arena_alloc(w->pass, fn->nblock);

	for (uint32_t i = 0; i < fn->nseen_edge; i++)
		seen[fn->seen_edge[i].from] = seen[fn->seen_edge[i].to] = true;
	for (uint32_t i = 1; i < fn->nblock; i++)
		fn->block[i].guessed =
			fn->block[i].count <= 0 && fn->block[i].samples <= 0 && !seen[i];
}

static bool never_runs(const struct block *b)
{
	return b->guessed && b->leads_to_noreturn;
}

/* The count of what must run is not 0, but may be next to nothing. */
static double at_least(double count, double needed)
{
	return needed > 0 ? fmax(count, 1e-6) : count;
}

static void read_fn(struct builder *w, const struct likelihood *fit, uint32_t f)
{
	struct fn *fn = &w->prog->fn[f];
	uint32_t p = w->part_of[f], base = w->part.v[p].node;
	uint32_t end = p + 1 < w->part.n ? w->part.v[p + 1].edge : w->edge.n;
	double (*needed)[2] = arena_array(w->pass, fn->nblock, sizeof(*needed));

	mark_guessed(w, fn);
	for (uint32_t t = 0; t < fn->ntable; t++)
		memset(fn->table[t].count, 0, fn->table[t].nentry * sizeof(double));
	for (uint32_t i = 0; i < fn->nblock; i++) {
		struct block *b = &fn->block[i];

		b->count = never_runs(b) ? 0 : at_least(fit->node[base + i].count, b->count);
		needed[i][0] = b->fall_count;
		needed[i][1] = b->taken_count;
		b->fall_count = b->taken_count = 0;
	}
	for (uint32_t k = fit->part[p].edge; k < end; k++) {
		const struct likelihood_edge *s = &fit->edge[k];
		uint32_t from = s->from - base, to = s->to - base;

		if (from >= fn->nblock)
			break;
		struct block *b = &fn->block[from];
		double count = b->count * s->probability;
		if (s->to != LIKELIHOOD_EXIT && to < fn->nblock && never_runs(&fn->block[to]))
			count = 0;
		switch ((enum way)(w->way.v[k] & 3)) {
		case FALL:
			b->fall_count = at_least(count, needed[from][0]);
			break;
		case TAKEN:
			b->taken_count = at_least(count, needed[from][1]);
			break;
		case TABLE:
			fn->table[b->table].count[w->way.v[k] >> 2] += count;
			break;
		case OTHER:
			break;
		}
	}
	fn->entry_count = fit->entry[w->entry_of[f]].rate;
	set_confidence(w, fit, f, fit->part[p].edge, end);
	arena_reset(w->pass);
}

bool infer_fit(struct prog *prog, struct arena *scratch, double *weight)
{
	struct builder w = {
		.prog = prog, .arena = scratch, .pass = arena_new(), .features = arena_new()
	};

	w.part_of = arena_array(scratch, prog->nfn, sizeof(uint32_t));
	w.entry_of = arena_array(scratch, prog->nfn, sizeof(uint32_t));
	reserve(&w);
	for (uint32_t f = 0; f < prog->nfn; f++) {
		w.part_of[f] = NO_FN;
		if (is_part(&prog->fn[f]))
			add_fn(&w, f);
	}
	if (w.part.n > 0) {
		add_calls(&w);
		guess_branches(&w, weight);
		arena_reset(w.features);
		set_start(&w);
		struct likelihood fit = { w.node.n, w.edge.n, w.entry.n, w.call.n, w.part.n,
					  w.node.v, w.edge.v, w.entry.v, w.call.v, w.part.v };
		flowcut_fit(&fit, LEAST_EXPECTED);
		for (uint32_t f = 0; f < prog->nfn; f++)
			if (w.part_of[f] != NO_FN && fit.part[w.part_of[f]].fitted)
				read_fn(&w, &fit, f);
	}
	arena_free(w.pass);
	arena_free(w.features);
	return w.part.n > 0;
}
