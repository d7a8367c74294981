/* flaglive.c - finds where the condition flags are live, through the whole program
 *
 * The usual backward dataflow analysis over the blocks of each function.  By the ABI no flag is
 * live across a call, at a function's entry or at its return.  Assembly does not always keep to
 * that, so the analysis is interprocedural:
 *
 *   entry[f]   flags that f reads before it writes them: they are live before calls of f
 *   back[f]    flags that are read after some call of f: they are live at its returns
 *
 * These two sets grow until nothing changes.  Where it is not known what runs next (computed
 * jumps that may stay inside, jumps into the middle of other functions), all flags are live.
 * So they are at what looks like a tail call where something leads inside of the function.
 * Functions that are called through pointers or in other modules are assumed to keep to the ABI
 * at their entry; if flags are live after such a call, they are live at the returns of all
 * functions.
 *
 * Tested by tests/programs/instrument.sh: programs whose flags a counter destroyed would not do
 * what they did.
 */
#include "editor/instrument/flaglive.h"

#include "editor/instrument/innerways.h"
#include "lib/err.h"
#include "postmorph/machine/memview.h"
#include "postmorph/machine/flags.h"

struct flaglive {
	const struct prog *prog;
	struct arena *arena;
	uint16_t **before;		/* [nfn] -> [ninsn] */
	struct flags **effect;		/* likewise */
	uint16_t *entry, *back;		/* [nfn] */
	uint16_t back_all;
	const struct innerways *inner;
	bool changed;
};

static void grow(struct flaglive *l, uint16_t *set, uint16_t more)
{
	if ((*set | more) == *set)
		return;
	*set |= more;
	l->changed = true;
}

static uint16_t back_of(const struct flaglive *l, uint32_t f)
{
	return l->back[f] | l->back_all;
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
		return l->entry[to];
	}
	return prog_find_fn(l->prog, addr) == NO_FN ? 0 : FLAGS_ALL;
}

static uint16_t call(struct flaglive *l, const struct insn *insn, uint16_t behind)
{
	uint32_t to = NO_FN;

	if (insn->kind == INSN_CALL)
		to = known_fn(l, insn_target(insn, prog_insn_bytes(l->prog, insn),
					     prog_insn_addr(l->prog, insn)));
	if (to == NO_FN) {
		grow(l, &l->back_all, behind);
		return behind;
	}
	grow(l, &l->back[to], behind);
	return l->entry[to] | behind;
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
	else if (fn->insn[last].kind == INSN_IJMP && !fn->insn[last].field &&
		 (l->inner->any[f] || !is_tail_jump(fn, last)))
		live = FLAGS_ALL;
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

struct flaglive *flaglive_new(const struct prog *prog, struct arena *a)
{
	struct flaglive *l = arena_alloc(a, sizeof(*l));
	struct memview_file words;
	struct err ignored;

	*l = (struct flaglive){ .prog = prog, .arena = a, .changed = true };
	bool known = memview_open(&prog->img, a, &words, &ignored) == 0;
	l->inner = innerways_find(prog, known ? &words : NULL, a);
	l->before = arena_array(a, prog->nfn, sizeof(*l->before));
	l->effect = arena_array(a, prog->nfn, sizeof(*l->effect));
	l->entry = arena_array(a, prog->nfn, sizeof(*l->entry));
	l->back = arena_array(a, prog->nfn, sizeof(*l->back));
	for (uint32_t f = 0; f < prog->nfn; f++)
		if (prog->fn[f].moved)
			find_effects(l, f);
	while (l->changed) {
		l->changed = false;
		for (uint32_t f = 0; f < prog->nfn; f++)
			if (l->before[f])
				walk_fn(l, f);
	}
	return l;
}

const uint16_t *flaglive_before(const struct flaglive *l, uint32_t fn)
{
	return l->before[fn];
}
