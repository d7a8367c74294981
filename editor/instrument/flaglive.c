/* flaglive.c - finds where the condition flags are live, through the whole program
 *
 * The usual backward dataflow analysis over the blocks of each function.  By the ABI no flag is
 * live across a call, at a function's entry or at its return.  Assembly does not always keep to
 * that, so the analysis is interprocedural:
 *
 *   entry[f]   flags that f reads before it writes them: they are live before calls of f
 *   back[f]    flags that are read after some call of f: they are live at its returns
 *
 * These two sets grow until nothing changes; a function is walked again where one that it asks
 * has grown since.  Where it is not known what runs next (computed jumps that may stay inside,
 * jumps into the middle of other functions), all flags are live.  So they are at what looks
 * like a tail call where something leads inside of the function.  Functions that are called
 * through pointers or in other modules are assumed to keep to the ABI at their entry; if flags
 * are live after such a call, or at the returns of what jumps to such a function, they are live
 * at the returns of all functions.
 *
 * Tested by tests/programs/instrument.sh: programs whose flags a counter destroyed would not do
 * what they did.
 */
#include "editor/instrument/flaglive.h"

#include "editor/instrument/flagscan.h"
#include "editor/instrument/innerways.h"
#include "lib/err.h"
#include "postmorph/ir/plt.h"
#include "postmorph/machine/memview.h"
#include "postmorph/machine/flags.h"

struct set {
	uint16_t flags;
	uint32_t grown;			/* at which time, by flaglive.now */
};

struct out {				/* the functions that one calls or jumps to */
	uint32_t *fn, n;
};

struct flaglive {
	const struct prog *prog;
	struct arena *arena;
	uint16_t **before;		/* [nfn] -> [ninsn] */
	struct flags **effect;		/* likewise */
	struct set *entry, *back;	/* [nfn] */
	struct set back_all;
	struct out *out;		/* [nfn] */
	uint32_t *walked;		/* [nfn] at which time; 0: not so far */
	uint32_t now;			/* one more whenever a set grows */
	const struct innerways *inner;
	bool odd;		/* flagscan_leads_to_reads() */
};

static void grow(struct flaglive *l, struct set *set, uint16_t more)
{
	if ((set->flags | more) == set->flags)
		return;
	set->flags |= more;
	set->grown = ++l->now;
}

static uint16_t back_of(const struct flaglive *l, uint32_t f)
{
	return l->back[f].flags | l->back_all.flags;
}

/* The function that begins at addr, if it was looked at; NO_FN else. */
static uint32_t known_fn(const struct flaglive *l, vaddr addr)
{
	uint32_t f = prog_find_fn(l->prog, addr);

	return f != NO_FN && l->prog->fn[f].entry == addr && l->before[f] ? f : NO_FN;
}

/* A jump or a run from function f to `addr` in another. */
static uint16_t leave(struct flaglive *l, uint32_t f, vaddr addr)
{
	uint32_t to = known_fn(l, addr);

	if (to != NO_FN) {
		grow(l, &l->back[to], back_of(l, f));
		return l->entry[to].flags;
	}
	return prog_find_fn(l->prog, addr) == NO_FN ? 0 : FLAGS_ALL;
}

/* What is called directly, 0 if nothing is. */
static vaddr callee(const struct flaglive *l, const struct insn *insn)
{
	return insn->kind == INSN_CALL ? insn_target(insn, prog_insn_bytes(l->prog, insn),
						     prog_insn_addr(l->prog, insn)) : 0;
}

/* The function that is called there, as known_fn(). */
static uint32_t called(const struct flaglive *l, const struct insn *insn)
{
	vaddr target = callee(l, insn);

	return target ? known_fn(l, target) : NO_FN;
}

/* Code of this file that was not looked at. */
static bool is_own(const struct prog *prog, vaddr addr)
{
	uint32_t f = prog_find_fn(prog, addr);

	return f != NO_FN && prog->fn[f].skip != SKIP_PLT;
}

static uint16_t call(struct flaglive *l, const struct insn *insn, uint16_t behind)
{
	uint32_t to = called(l, insn);

	if (to == NO_FN) {
		grow(l, &l->back_all, behind);
		return is_own(l->prog, callee(l, insn)) ? FLAGS_ALL : behind;
	}
	grow(l, &l->back[to], behind);
	return l->entry[to].flags | behind;
}

static uint16_t in_of(const struct flaglive *l, uint32_t f, uint32_t block)
{
	const struct block *b = &l->prog->fn[f].block[block];

	return b->ninsn ? l->before[f][b->insn] : FLAGS_ALL;
}

static uint16_t behind_table(const struct flaglive *l, uint32_t f, const struct jump_table *t)
{
	uint16_t live = 0;

	for (uint32_t i = 0; i < t->nentry; i++)
		live |= t->succ[i] == NO_BLOCK ? FLAGS_ALL : in_of(l, f, t->succ[i]);
	return live;
}

static bool is_tail_jump(const struct fn *fn, uint32_t insn)
{
	for (uint32_t i = 0; i < fn->njump; i++)
		if (fn->jump[i].insn == insn)
			return fn->jump[i].kind == JUMP_TAIL;
	return false;
}

/* It jumps through a word that the loader fills with the address of another module's. */
static bool is_filled(const struct flaglive *l, uint32_t f, uint32_t insn)
{
	const struct insn *in = &l->prog->fn[f].insn[insn];

	return in->field && l->prog->plt &&
	       plt_name(l->prog->plt, insn_target(in, prog_insn_bytes(l->prog, in),
						  prog_insn_addr(l->prog, in)));
}

/* A computed jump: to another function, any of which returns to the caller of f then, or, where
 * that is not known, inside. */
static uint16_t leave_anywhere(struct flaglive *l, uint32_t f, uint32_t insn)
{
	const struct fn *fn = &l->prog->fn[f];
	bool leaves = fn->insn[insn].field || is_tail_jump(fn, insn);
	bool inside = !is_filled(l, f, insn) && (l->odd || l->inner->any[f] || !leaves);

	grow(l, &l->back_all, back_of(l, f));
	return inside ? FLAGS_ALL : 0;
}

static uint16_t behind_block(struct flaglive *l, uint32_t f, const struct block *b)
{
	const struct fn *fn = &l->prog->fn[f];
	uint32_t last = b->insn + b->ninsn - 1;
	uint16_t live = 0;

	if (b->fall != NO_BLOCK)
		live |= in_of(l, f, b->fall);
	if (b->fall_out)
		live |= leave(l, f, b->fall_out);
	if (b->taken != NO_BLOCK)
		live |= in_of(l, f, b->taken);
	if (b->taken_out)
		live |= leave(l, f, b->taken_out);
	if (b->table != NO_TABLE)
		live |= behind_table(l, f, &fn->table[b->table]);
	else if (fn->insn[last].kind == INSN_IJMP)
		live |= leave_anywhere(l, f, last);
	if (fn->insn[last].kind == INSN_RET)
		live |= back_of(l, f);
	return live;
}

/* True when what lives at the block's start has changed. */
static bool walk_block(struct flaglive *l, uint32_t f, const struct block *b)
{
	const struct fn *fn = &l->prog->fn[f];
	uint16_t live = behind_block(l, f, b), was = b->ninsn ? l->before[f][b->insn] : 0;

	for (uint32_t i = b->insn + b->ninsn; i-- > b->insn; ) {
		if (fn->insn[i].kind == INSN_CALL || fn->insn[i].kind == INSN_ICALL)
			live = call(l, &fn->insn[i], live);
		else
			live = (uint16_t)((live & ~l->effect[f][i].writes) |
					  l->effect[f][i].reads);
		l->before[f][i] = live;
	}
	return b->ninsn && l->before[f][b->insn] != was;
}

static void walk_fn(struct flaglive *l, uint32_t f)
{
	const struct fn *fn = &l->prog->fn[f];

	l->walked[f] = l->now;
	for (bool more = true; more; ) {
		more = false;
		for (uint32_t i = fn->nblock; i-- > 0; )
			more |= walk_block(l, f, &fn->block[i]);
	}
	grow(l, &l->entry[f], in_of(l, f, 0));
}

static void find_effects(struct flaglive *l, uint32_t f)
{
	const struct fn *fn = &l->prog->fn[f];

	l->before[f] = arena_array(l->arena, fn->ninsn, sizeof(**l->before));
	l->effect[f] = arena_array(l->arena, fn->ninsn, sizeof(**l->effect));
	for (uint32_t i = 0; i < fn->ninsn; i++)
		l->effect[f][i] = flags_of(image_rest(&l->prog->img,
						      prog_insn_addr(l->prog, &fn->insn[i])));
}

static void add_out(const struct flaglive *l, struct out *out, vaddr addr)
{
	uint32_t to = known_fn(l, addr);

	if (to != NO_FN)
		out->fn[out->n++] = to;
}

static void find_out(struct flaglive *l, uint32_t f)
{
	const struct fn *fn = &l->prog->fn[f];
	struct out *out = &l->out[f];
	uint32_t most = 2 * fn->nblock;

	for (uint32_t i = 0; i < fn->ninsn; i++)
		most += fn->insn[i].kind == INSN_CALL;
	out->fn = arena_array(l->arena, most, sizeof(*out->fn));
	for (uint32_t i = 0; i < fn->ninsn; i++) {
		uint32_t to = called(l, &fn->insn[i]);

		if (to != NO_FN)
			out->fn[out->n++] = to;
	}
	for (uint32_t i = 0; i < fn->nblock; i++) {
		if (fn->block[i].fall_out)
			add_out(l, out, fn->block[i].fall_out);
		if (fn->block[i].taken_out)
			add_out(l, out, fn->block[i].taken_out);
	}
}

/* Has something that it depends on grown since it was walked? */
static bool is_behind(const struct flaglive *l, uint32_t f)
{
	uint32_t walked = l->walked[f];
	bool grown = !walked || l->back[f].grown > walked || l->back_all.grown > walked;

	for (uint32_t i = 0; i < l->out[f].n && !grown; i++)
		grown = l->entry[l->out[f].fn[i]].grown > walked;
	return grown;
}

/* True when there was something to do. */
static bool walk_all(struct flaglive *l)
{
	bool any = false;

	for (uint32_t f = 0; f < l->prog->nfn; f++)
		if (l->before[f] && is_behind(l, f)) {
			walk_fn(l, f);
			any = true;
		}
	return any;
}

struct flaglive *flaglive_new(const struct prog *prog, struct arena *a)
{
	struct flaglive *l = arena_alloc(a, sizeof(*l));
	struct memview_file words;
	struct err ignored;

	*l = (struct flaglive){ .prog = prog, .arena = a, .now = 1 };
	bool known = memview_open(&prog->img, a, &words, &ignored) == 0;
	l->inner = innerways_find(prog, known ? &words : NULL, a);
	l->odd = flagscan_leads_to_reads(prog, l->inner);
	l->before = arena_array(a, prog->nfn, sizeof(*l->before));
	l->effect = arena_array(a, prog->nfn, sizeof(*l->effect));
	l->entry = arena_array(a, prog->nfn, sizeof(*l->entry));
	l->back = arena_array(a, prog->nfn, sizeof(*l->back));
	l->out = arena_array(a, prog->nfn, sizeof(*l->out));
	l->walked = arena_array(a, prog->nfn, sizeof(*l->walked));
	for (uint32_t f = 0; f < prog->nfn; f++)
		if (prog->fn[f].moved)
			find_effects(l, f);
	for (uint32_t f = 0; f < prog->nfn; f++)
		if (l->before[f])
			find_out(l, f);
	while (walk_all(l))
		;
	return l;
}

const uint16_t *flaglive_before(const struct flaglive *l, uint32_t fn)
{
	return l->before[fn];
}
