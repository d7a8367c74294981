/* stalls.c - what may have made instructions of a function slower than at best
 *
 * Tested by tests/e2e/annotate.sh, on programs made to stall.
 */
#include "editor/annotate/stalls.h"

#include <math.h>

#include "lib/arena.h"

/* How far back a path goes; chosen: what is in flight at a time is less. */
enum { PATH_INSNS = 128, PATH_BLOCKS = 64, LINE = 64 };

/* Cycles that instructions begin before they retire, some 400 being under way; chosen. */
static const double AHEAD = 64;
/* Cycles that a misprediction costs at most, and which part of what is to be explained a cause
 * must be able to explain; chosen. */
static const double MISPREDICT_CYCLES = 30, WORTH = 0.25;

const char *const stall_name[NSTALL] = {
	[STALL_FORWARD] = "store-forwarding", [STALL_DIVIDE] = "division",
	[STALL_MISPREDICT] = "misprediction", [STALL_MEMORY] = "memory",
	[STALL_FETCH] = "fetch", [STALL_UNKNOWN] = "unknown",
};

struct finder {
	const struct prog *prog;
	const struct fn *fn;
	struct arena *arena;
	struct insntime *time;		/* [fn->ninsn] */
	struct stalls_insn *insn;	/* [fn->ninsn] */
	uint32_t *before;		/* [fn->nblock] the block that mostly runs before */
	double *most;			/* [fn->nblock] how often that does */
	/* [fn->nblock] how often branches to it go the way that is less frequent, at most; the
	 * one that does so most, and how often */
	double *less, *worst;
	uint32_t *branch;
	bool *jumped;			/* [fn->nblock] entered by a taken branch */
	bool *loops;			/* [fn->nblock] its path comes through it before */
};

void stalls_each_edge(const struct fn *fn, const double *runs, uint32_t block,
		      void (*f)(void *ctx, uint32_t from, uint32_t to, double count), void *ctx)
{
	const struct block *b = &fn->block[block];
	double share = fn_table_share(fn, runs, block);

	if (b->fall != NO_BLOCK)
		f(ctx, block, b->fall, b->fall_count);
	if (b->taken != NO_BLOCK)
		f(ctx, block, b->taken, b->taken_count);
	for (uint32_t k = 0; share > 0 && k < fn->table[b->table].nentry; k++)
		if (fn->table[b->table].succ[k] != NO_BLOCK)
			f(ctx, block, fn->table[b->table].succ[k],
			  share * fn->table[b->table].count[k]);
}

static void take_edge(void *ctx, uint32_t from, uint32_t to, double count)
{
	struct finder *f = ctx;
	const struct block *b = &f->fn->block[from];
	uint32_t last = b->insn + b->ninsn - 1;

	if (count > f->most[to]) {
		f->most[to] = count;
		f->before[to] = from;
	}
	if (!b->ninsn)
		return;
	bool choice = b->fall != NO_BLOCK && b->taken != NO_BLOCK && b->fall != b->taken;
	if (choice || f->fn->insn[last].kind == INSN_IJMP) {
		double less = choice ? fmin(b->fall_count, b->taken_count) : count;

		f->less[to] += less;
		if (f->branch[to] == UINT32_MAX || less > f->worst[to]) {
			f->worst[to] = less;
			f->branch[to] = last;
		}
	}
	if (to != b->fall)
		f->jumped[to] = true;
}

static void run_block(struct finder *f, uint32_t id)
{
	uint32_t chain[PATH_BLOCKS], n = 0, blocks = 0, insns = 0;
	const struct fn *fn = f->fn;
	const struct block *b = &fn->block[id];
	const struct insntime **path;
	struct bestcase *out;
	uint32_t *index;

	for (uint32_t at = id; blocks < PATH_BLOCKS && insns < PATH_INSNS;
	     at = f->before[at]) {
		chain[blocks++] = at;
		insns += fn->block[at].ninsn;
		f->loops[id] = f->loops[id] || (blocks > 1 && at == id);
		if (f->before[at] == NO_BLOCK)
			break;
	}
	path = arena_array(f->arena, insns, sizeof(struct insntime *));
	index = arena_array(f->arena, insns, sizeof(*index));
	while (blocks-- > 0) {
		const struct block *c = &fn->block[chain[blocks]];

		/* of a long block in front of the others, the end */
		uint32_t skip = blocks && c->ninsn > PATH_INSNS ? c->ninsn - PATH_INSNS : 0;
		for (uint32_t i = skip; i < c->ninsn; i++) {
			index[n] = c->insn + i;
			path[n++] = &f->time[c->insn + i];
		}
	}
	if (!n)
		return;
	out = arena_array(f->arena, n, sizeof(*out));
	bestcase_run(path, n, f->loops[id] ? 0 : AHEAD, out);
	for (uint32_t i = 0; i < b->ninsn; i++)
		f->insn[b->insn + i].least = out[n - b->ninsn + i].cycles;
	bestcase_run(path, n, 0, out);
	for (uint32_t i = 0; i < b->ninsn; i++) {
		struct bestcase *best = &f->insn[b->insn + i].best;

		*best = out[n - b->ninsn + i];
		if (best->culprit != UINT32_MAX)
			best->culprit = index[best->culprit];
		if (best->operand != UINT32_MAX)
			best->operand = index[best->operand];
		if (best->unforwarded != UINT32_MAX)
			best->unforwarded = index[best->unforwarded];
	}
}

/* It waits for itself, or for another one.  What was just stored is at hand, whatever the
 * caches have. */
static void take_source(struct finder *f, struct stalls_insn *s, uint32_t i)
{
	uint32_t class = f->time[i].class;

	if (class == INSNTIME_DIVIDE)
		s->may |= 1U << STALL_DIVIDE;
	else if (f->time[i].load && !f->insn[i].best.stored)
		s->may |= 1U << STALL_MEMORY;
	else
		return;
	s->source = i;
}

/* What goes wrong where its path comes through is found up to as far behind as retires at once:
 * `ahead` instructions of the block are in front of it. */
static void take_branches(struct finder *f, struct stalls_insn *s, uint32_t id, uint32_t ahead)
{
	double most = 0;

	for (int n = 0; n < PATH_BLOCKS && id != NO_BLOCK && ahead < BESTCASE_WIDTH; n++) {
		double count = f->fn->block[id].count;
		double wrong = count > 0 ? f->less[id] / count : 0;

		if (wrong > most) {
			most = wrong;
			s->branch = f->branch[id];
		}
		s->mispredict_most += MISPREDICT_CYCLES * wrong;
		id = f->before[id];
		ahead += id == NO_BLOCK ? 0 : f->fn->block[id].ninsn;
	}
	if (most > 0)
		s->may |= 1U << STALL_MISPREDICT;
}

/* What may be the matter with it, besides what its dependences explain. */
static void set_causes(struct finder *f, uint32_t id)
{
	const struct block *b = &f->fn->block[id];

	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++) {
		struct stalls_insn *s = &f->insn[i];
		vaddr at = prog_insn_addr(f->prog, &f->fn->insn[i]);
		bool first = i == b->insn;

		if (s->best.unforwarded != UINT32_MAX)
			s->may |= 1U << STALL_FORWARD;
		if (s->best.operand != UINT32_MAX)
			take_source(f, s, s->best.operand);
		take_source(f, s, i);
		take_branches(f, s, id, i - b->insn);
		/* what came by a moment ago is still there */
		if (!f->loops[id] && ((first && f->jumped[id]) || at % LINE == 0 ||
				      at / LINE != (at + f->fn->insn[i].len - 1) / LINE))
			s->may |= 1U << STALL_FETCH;
	}
}

uint32_t stalls_may(const struct stalls_insn *s, double excess)
{
	uint32_t may = s->may;

	if (s->mispredict_most < WORTH * excess)
		may &= ~(1U << STALL_MISPREDICT);
	return may ? may : 1U << STALL_UNKNOWN;
}

struct stalls_insn *stalls_find(const struct prog *prog, const struct fn *fn, struct arena *a,
				const uint32_t **before)
{
	struct finder f = { .prog = prog, .fn = fn, .arena = a };
	double *runs = arena_array(a, fn->ntable, sizeof(*runs));

	f.time = arena_array(a, fn->ninsn, sizeof(*f.time));
	f.insn = arena_array(a, fn->ninsn, sizeof(*f.insn));
	f.before = arena_array(a, fn->nblock, sizeof(*f.before));
	f.branch = arena_array(a, fn->nblock, sizeof(*f.branch));
	f.most = arena_array(a, fn->nblock, sizeof(*f.most));
	f.jumped = arena_array(a, fn->nblock, sizeof(*f.jumped));
	f.less = arena_array(a, fn->nblock, sizeof(*f.less));
	f.worst = arena_array(a, fn->nblock, sizeof(*f.worst));
	f.loops = arena_array(a, fn->nblock, sizeof(*f.loops));
	for (uint32_t i = 0; i < fn->ninsn; i++)
		insntime_of(prog, &fn->insn[i], &f.time[i]);
	for (uint32_t i = 0; i < fn->nblock; i++) {
		f.before[i] = NO_BLOCK;
		f.branch[i] = UINT32_MAX;
	}
	fn_table_runs(fn, runs);
	for (uint32_t i = 0; i < fn->nblock; i++)
		stalls_each_edge(fn, runs, i, take_edge, &f);
	for (uint32_t i = 0; i < fn->nblock; i++)
		run_block(&f, i);
	for (uint32_t i = 0; i < fn->nblock; i++)
		set_causes(&f, i);
	*before = f.before;
	return f.insn;
}
