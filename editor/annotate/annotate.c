/* annotate.c - where the cycles of a function go, instruction by instruction
 *
 * Tested by tests/e2e/annotate.sh and tests/fuzz/fuzz_annotate.c.
 */
#include "editor/annotate/annotate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "editor/annotate/stalls.h"
#include "editor/exchange/samplelines.h"
#include "editor/infer/infer.h"
#include "editor/optimize.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "lib/profile.h"
#include "postmorph/analyze.h"

/* A block must have so many samples, and so large a share of them, to tell the scale. */
static const double SCALE_SAMPLES = 16, SCALE_SHARE = 0.01;
/* Of each instruction: best cases are that at least. */
static const double ISSUE = 1.0 / BESTCASE_WIDTH;
/* Instructions that retire in a cycle, at most: the interrupt comes behind the last of them. */
enum { RETIRED = BESTCASE_WIDTH };

enum {
	CAUSE_ISSUE,
	CAUSE_DEPENDENCE,		/* and the others of enum insntime_class */
	NCAUSE_FIXED = CAUSE_DEPENDENCE + NINSNTIME_CLASS,
};

static const char *const class_name[NINSNTIME_CLASS] = {
	[INSNTIME_PLAIN] = "arithmetic", [INSNTIME_MULTIPLY] = "multiplication",
	[INSNTIME_DIVIDE] = "division", [INSNTIME_FLOAT] = "floating-point",
	[INSNTIME_LOAD] = "load", [INSNTIME_STORE] = "store", [INSNTIME_BRANCH] = "branch",
};

/* Of what an instruction takes at least, in cycles of all its executions: what is not found at
 * itself, since it retired with others; and what of others is found at it. */
struct least {
	double issue, latency;
	double of_others, most;
	uint32_t from;			/* of which the most is */
};

struct work {
	struct arena *arena;
	struct wr *out;
	struct prog *prog;
	const struct fn *fn;
	double *seen, *charged;		/* [fn->ninsn] samples at it; due to it */
	double *in;			/* [fn->nblock] sum of counts of edges into it */
	struct stalls_insn *insn;
	struct least *least;		/* [fn->ninsn] */
	const uint32_t *before;		/* [fn->nblock] as stalls_find() has it */
	double scale;			/* cycles of a sample, by executions' unit */
	double fixed[NCAUSE_FIXED], hidden[NCAUSE_FIXED];	/* at least; besides, at most */
	double low[NSTALL], high[NSTALL], total;
};

static void put(struct work *w, const char *text)
{
	wr_text(w->out, text);
}

/* --- samples --- */

/* The samples as a profile of blocks. */
static int profile_of(struct work *w, struct bytes file, const struct samplelines *s,
		      struct profile *p, struct err *err)
{
	struct prog *prog = arena_alloc(w->arena, sizeof(*prog));
	vaddr *wanted = arena_array(w->arena, s->n, sizeof(*wanted));
	struct profile_block *block = arena_array(w->arena, s->n, sizeof(*block));
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		wanted[i] = s->at[i].addr;
	if (prog_analyze_at(file, wanted, s->n, w->arena, prog, err) < 0)
		return -1;
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t f = prog_find_fn(prog, s->at[i].addr), b;

		if (f == NO_FN || !prog->fn[f].nblock)
			continue;
		b = fn_find_block(&prog->fn[f], s->at[i].addr);
		if (b != NO_BLOCK)
			block[n++] = (struct profile_block){ prog->fn[f].block[b].addr,
							     s->at[i].count };
	}
	*p = (struct profile){ .module = "", .original = prog->digest, .clock = "other",
			       .block = block, .nblock = n };
	profile_sort(p);
	for (uint32_t i = 0; i < p->nblock; i++)
		p->samples += p->block[i].samples;
	return 0;
}

static void take_in(void *ctx, uint32_t from, uint32_t to, double count)
{
	struct work *w = ctx;

	(void)from;
	w->in[to] += count;
}

/* Samples at a block's first instruction are due to what ran before it. */
static void take_first(void *ctx, uint32_t from, uint32_t to, double count)
{
	struct work *w = ctx;
	const struct block *b = &w->fn->block[from], *c = &w->fn->block[to];

	if (b->ninsn && c->ninsn && w->in[to] > 0)
		w->charged[b->insn + b->ninsn - 1] += w->seen[c->insn] * count / w->in[to];
}

static void charge(struct work *w, const struct samplelines *s)
{
	const struct fn *fn = w->fn;
	double *runs = arena_array(w->arena, fn->ntable, sizeof(*runs));

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t b = fn_find_block(fn, s->at[i].addr);

		for (uint32_t k = 0; b != NO_BLOCK && k < fn->block[b].ninsn; k++)
			if (prog_insn_addr(w->prog, &fn->insn[fn->block[b].insn + k]) ==
			    s->at[i].addr)
				w->seen[fn->block[b].insn + k] += s->at[i].count;
	}
	fn_table_runs(fn, runs);
	for (uint32_t i = 0; i < fn->nblock; i++)
		stalls_each_edge(fn, runs, i, take_in, w);
	for (uint32_t b = 0; b < fn->nblock; b++) {
		uint32_t first = fn->block[b].insn, n = fn->block[b].ninsn;

		for (uint32_t i = first + 1; i < first + n; i++)
			w->charged[i - 1] += w->seen[i];
		if (n && w->in[b] <= 0)
			w->charged[first] += w->seen[first];
		stalls_each_edge(fn, runs, b, take_first, w);
	}
}

/* --- cycles --- */

static double block_sum(const double *v, const struct block *b)
{
	double sum = 0;

	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++)
		sum += v[i];
	return sum;
}

static double block_best(const struct work *w, const struct block *b)
{
	double sum = 0;

	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++)
		sum += w->insn[i].least;
	return sum;
}

/* The smallest scale with which no block that is known well is faster than at best, nor the
 * function as a whole. */
static double least_scale(const struct work *w, double samples)
{
	double scale = 0, best = 0;

	for (uint32_t i = 0; i < w->fn->nblock; i++)
		best += block_best(w, &w->fn->block[i]) * w->fn->block[i].count;
	if (samples > 0)
		scale = best / samples;
	for (uint32_t i = 0; i < w->fn->nblock; i++) {
		const struct block *b = &w->fn->block[i];
		double n = block_sum(w->charged, b);

		if (n >= SCALE_SAMPLES && n >= SCALE_SHARE * samples)
			scale = fmax(scale, block_best(w, b) * b->count / n);
	}
	return scale;
}

static double cycles_of(const struct work *w, const struct block *b, double samples)
{
	return b->count > 0 ? w->scale * samples / b->count : 0;
}

/* --- what retires together --- */

static uint32_t class_of(const struct work *w, uint32_t i)
{
	const struct stalls_insn *s = &w->insn[i];
	struct insntime t;

	insntime_of(w->prog, &w->fn->insn[s->best.culprit == UINT32_MAX ? i : s->best.culprit],
		    &t);
	return t.class;
}

static double part(double *of, double most)
{
	double n = fmin(*of, most);

	*of -= n;
	return n;
}

static void take_own(struct work *w, const struct block *b, uint32_t i)
{
	double all = w->insn[i].least * b->count, time = w->scale * w->charged[i];
	struct least *l = &w->least[i];

	l->issue = fmin(all, ISSUE * b->count);
	l->latency = all - l->issue;
	time -= part(&l->issue, time);
	(void)part(&l->latency, time);
}

/* What instruction i, which has run so often, has more than at least may be of those that
 * retired with it, as often at most. */
static void take_of(struct work *w, double runs, uint32_t i, uint32_t from, double *excess)
{
	double once = w->insn[from].least, first = fmin(once, ISSUE);
	double issue = part(&w->least[from].issue, fmin(*excess, first * runs));
	double latency = part(&w->least[from].latency,
			      fmin(*excess - issue, (once - first) * runs));
	struct least *l = &w->least[i];

	*excess -= issue + latency;
	l->of_others += issue + latency;
	w->fixed[CAUSE_ISSUE] += issue;
	w->fixed[CAUSE_DEPENDENCE + class_of(w, from)] += latency;
	if (latency > l->most) {
		l->most = latency;
		l->from = from;
	}
}

/* Of those in front of it, on the way that mostly leads to it; blocks may be empty. */
static void take_of_others(struct work *w, uint32_t id, uint32_t i)
{
	const struct block *b = &w->fn->block[id];
	double runs = b->count, excess = w->scale * w->charged[i] - w->insn[i].least * runs;
	uint32_t at = i;

	for (int n = 1; n < RETIRED && excess > 0; n++) {
		for (int k = 0; at == b->insn && k < RETIRED; k++) {
			if (w->before[id] == NO_BLOCK)
				return;
			id = w->before[id];
			b = &w->fn->block[id];
			at = b->insn + b->ninsn;
		}
		if (at == b->insn)
			return;
		take_of(w, runs, i, --at, &excess);
	}
}

static void find_retired(struct work *w)
{
	const struct fn *fn = w->fn;

	for (uint32_t k = 0; k < fn->nblock; k++)
		for (uint32_t i = 0; i < fn->block[k].ninsn; i++)
			take_own(w, &fn->block[k], fn->block[k].insn + i);
	for (uint32_t k = 0; k < fn->nblock; k++)
		for (uint32_t i = 0; i < fn->block[k].ninsn; i++)
			take_of_others(w, k, fn->block[k].insn + i);
}

/* --- causes --- */

/* What is more than at least, and what of it no hidden latency explains. */
static void add_stalls(struct work *w, const struct block *b, const struct stalls_insn *s,
		       double excess, double certain)
{
	uint32_t may = stalls_may(s, excess);
	double mispredicted = fmin(excess, s->mispredict_most);

	if (may == 1U << STALL_MISPREDICT && certain > mispredicted) {
		w->low[STALL_UNKNOWN] += (certain - mispredicted) * b->count;
		w->high[STALL_UNKNOWN] += (certain - mispredicted) * b->count;
		certain = mispredicted;
	}
	for (int k = 0; k < NSTALL; k++) {
		if (!(may >> k & 1))
			continue;
		double most = k == STALL_MISPREDICT ? mispredicted
			      : k == STALL_UNKNOWN  ? certain
						    : excess;
		w->high[k] += most * b->count;
		if (may == 1U << k)
			w->low[k] += certain * b->count;
	}
}

static void add_causes(struct work *w, const struct block *b, uint32_t i)
{
	const struct stalls_insn *s = &w->insn[i];
	double all = cycles_of(w, b, w->charged[i]);
	double cycles = all - (b->count > 0 ? w->least[i].of_others / b->count : 0);
	double least = fmin(s->least, cycles);
	double best = fmin(fmax(s->best.cycles, least), cycles);
	double issue = fmin(least, ISSUE), excess = cycles - least;

	w->total += all * b->count;
	w->fixed[CAUSE_ISSUE] += issue * b->count;
	if (best > issue) {
		uint32_t class = class_of(w, i);

		w->fixed[CAUSE_DEPENDENCE + class] += (least - issue) * b->count;
		w->hidden[CAUSE_DEPENDENCE + class] += (best - least) * b->count;
	}
	add_stalls(w, b, s, excess, cycles - best);
}

static void put_cause(struct work *w, const char *name, double low, double high)
{
	if (high > 0.0005 * w->total)
		put(w, arena_printf(w->arena, "cause\t%s\t%.3f\t%.3f\n", name,
				    100 * low / w->total, 100 * high / w->total));
}

static void put_causes(struct work *w)
{
	const struct fn *fn = w->fn;

	find_retired(w);
	for (uint32_t k = 0; k < fn->nblock; k++)
		for (uint32_t i = 0; i < fn->block[k].ninsn; i++)
			add_causes(w, &fn->block[k], fn->block[k].insn + i);
	if (w->total <= 0)
		return;
	put_cause(w, "issue", w->fixed[CAUSE_ISSUE], w->fixed[CAUSE_ISSUE]);
	for (int c = 0; c < NINSNTIME_CLASS; c++)
		put_cause(w, arena_printf(w->arena, "latency of %s", class_name[c]),
			  w->fixed[CAUSE_DEPENDENCE + c],
			  w->fixed[CAUSE_DEPENDENCE + c] + w->hidden[CAUSE_DEPENDENCE + c]);
	for (int k = 0; k < NSTALL; k++)
		put_cause(w, stall_name[k], w->low[k], w->high[k]);
}

/* --- rows --- */

/* The instruction to blame and why: for what is more than at best if that is most of it and not
 * noise, else for what it waits for at best. */
static void put_culprit(struct work *w, const struct block *b, uint32_t i)
{
	const struct stalls_insn *s = &w->insn[i];
	const struct least *l = &w->least[i];
	double cycles = cycles_of(w, b, w->charged[i]), excess = cycles - s->best.cycles;
	double noise = cycles_of(w, b, 2 * sqrt(w->charged[i] + 1));
	uint32_t at = s->best.culprit;
	const char *why = "";
	struct insntime t;

	excess -= b->count > 0 ? l->of_others / b->count : 0;
	if (at == UINT32_MAX && l->most > 0)
		at = w->insn[l->from].best.culprit;
	/* that a store cannot be forwarded is known, and never hidden */
	bool most = excess > s->best.cycles || s->best.unforwarded != UINT32_MAX;
	if (excess > noise && most) {
		uint32_t may = stalls_may(s, excess);

		at = may >> STALL_FORWARD & 1 ? s->best.unforwarded :
		     may & (1U << STALL_DIVIDE | 1U << STALL_MEMORY) ? s->source :
		     may >> STALL_MISPREDICT & 1 ? s->branch : i;
		for (int k = 0; k < NSTALL; k++)
			if (may >> k & 1)
				why = arena_printf(w->arena, "%s%s%s", why, *why ? ", " : "",
						   stall_name[k]);
	} else if (at != UINT32_MAX) {
		insntime_of(w->prog, &w->fn->insn[at], &t);
		why = arena_printf(w->arena, "latency of %s", class_name[t.class]);
	}
	if (at == UINT32_MAX || w->charged[i] <= 0)
		put(w, "-\t\n");
	else
		put(w, arena_printf(w->arena, "0x%" PRIx64 "\t%s\n",
				    prog_insn_addr(w->prog, &w->fn->insn[at]), why));
}

static void put_block(struct work *w, const struct block *b)
{
	put(w, arena_printf(w->arena,
			    "block\t0x%" PRIx64 "\t%u\t%u\t%.3f\t%.3f\t%s\t%.3f\t%.3f\n",
			    b->addr, b->size, b->ninsn, block_sum(w->seen, b), b->count,
			    confidence_name[b->confidence],
			    cycles_of(w, b, block_sum(w->charged, b)), block_best(w, b)));
	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++) {
		put(w, arena_printf(w->arena,
				    "insn\t0x%" PRIx64 "\t%.3f\t%.3f\t%.3f\t%.3f\t",
				    prog_insn_addr(w->prog, &w->fn->insn[i]), w->seen[i],
				    b->count, cycles_of(w, b, w->charged[i]),
				    w->insn[i].least));
		put_culprit(w, b, i);
	}
}

/* --- all --- */

static int find_function(struct work *w, vaddr entry, struct err *err)
{
	uint32_t f = prog_find_fn(w->prog, entry);

	if (f == NO_FN || w->prog->fn[f].entry != entry)
		return err_set(err, ERR_INPUT, "no function begins at 0x%" PRIx64, entry);
	w->fn = &w->prog->fn[f];
	if (!w->fn->kept || !w->fn->nblock)
		return err_set(err, ERR_REFUSED, "the function at 0x%" PRIx64
			       " is not divided into blocks: %s", entry,
			       skip_text[w->fn->skip]);
	return 0;
}

/* What was counted in other runs. */
static int add_counted(struct bytes text, struct arena *a, struct profile *p, struct err *err)
{
	struct profile *counted = arena_alloc(a, sizeof(*counted));

	if (!text.p)
		return 0;
	if (profile_read(text, a, counted, err) < 0)
		return err_wrap(err, "what was counted");
	p->counted = counted;
	return 0;
}

int annotated_read(const struct annotate_input *in, struct arena *a, struct annotated *out,
		   struct err *err)
{
	struct work w = { .arena = a };
	struct annotated r = { .prog = arena_alloc(a, sizeof(*r.prog)),
			       .profile = arena_alloc(a, sizeof(*r.profile)),
			       .samples = arena_alloc(a, sizeof(*r.samples)) };
	struct image img = { 0 };

	if (image_parse(in->file, a, &img, err) < 0 ||
	    samplelines_read(in->samples, &img, a, r.samples, err) < 0)
		return -1;
	if (in->counts.p && profile_read(in->counts, a, r.profile, err) < 0)
		return err_wrap(err, "the counts");
	if (!in->counts.p && (profile_of(&w, in->file, r.samples, r.profile, err) < 0 ||
			      add_counted(in->counted, a, r.profile, err) < 0))
		return -1;
	if (in->counts.p && !profile_is_exact(r.profile))
		return err_set(err, ERR_INPUT, "the counts are not exact: clock %s",
			       r.profile->clock);
	if (edit_analyze(in->file, r.profile, false, a, r.prog, err) < 0 ||
	    infer_counts(r.prog, err) < 0)
		return -1;
	r.cycles_per_sample = in->counts.p ? in->cycles_per_sample : 0;
	*out = r;
	return 0;
}

int annotated_function(const struct annotated *p, vaddr entry, struct arena *a, struct wr *out,
		       struct err *err)
{
	struct work w = { .arena = a, .out = out, .prog = p->prog };
	double sum = 0;

	if (find_function(&w, entry, err) < 0)
		return -1;
	w.seen = arena_array(a, w.fn->ninsn, sizeof(*w.seen));
	w.charged = arena_array(a, w.fn->ninsn, sizeof(*w.charged));
	w.in = arena_array(a, w.fn->nblock, sizeof(*w.in));
	w.least = arena_array(a, w.fn->ninsn, sizeof(*w.least));
	charge(&w, p->samples);
	w.insn = stalls_find(w.prog, w.fn, a, &w.before);
	for (uint32_t i = 0; i < w.fn->ninsn; i++)
		sum += w.seen[i];
	bool counted = p->cycles_per_sample > 0;
	w.scale = counted ? p->cycles_per_sample : least_scale(&w, sum);
	put(&w, arena_printf(a, "function\t0x%" PRIx64 "\t%.3f\t%.3f\t%s\n", w.fn->entry, sum,
			     w.fn->entry_count, counted ? "counted" : "at-least"));
	put_causes(&w);
	for (uint32_t i = 0; i < w.fn->nblock; i++)
		put_block(&w, &w.fn->block[i]);
	return 0;
}

int annotate_write(const struct annotate_input *in, struct arena *a, struct wr *out,
		   struct err *err)
{
	struct annotated p;

	if (annotated_read(in, a, &p, err) < 0)
		return -1;
	return annotated_function(&p, in->function, a, out, err);
}
