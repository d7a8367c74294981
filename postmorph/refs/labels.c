/* labels.c - decides which pointers to labels inside of functions may lead to images
 *
 * Interpreters jump to labels through tables.  The pointers to a label may be changed when all
 * of them are found, and changed together: two of them must stay equal.
 *
 * GOES    a label that nothing but relocated data holds, and at which an image of its own
 *         begins, so that no two labels become equal.
 * STAYS   one that an instruction forms as well and only keeps: all pointers to it stay as they
 *         are, and whoever jumps there goes on in original code until the next jump.
 *
 * Wherever control comes from, being at a label or at its image is the same: so the originals
 * of the jumps may run as well, and some labels of a function may go while others stay.
 *
 * Nobody may have the distance between two labels, which changes: nothing is known of the
 * labels of a function when one of its jumps calculates where it goes, when code calculates
 * with one of them, when anything else refers to them, or when there is code in it to which
 * nothing seems to lead: a sum may have been kept in memory, from where the jump fetches it.
 *
 * An engine that copies the code between two labels at run time has the distance, too (dynamic
 * superinstructions: gforth).  To leave out the dispatch it needs a label in front of the jump,
 * and a jump by a register that such a block does not set counts as calculated:
 * brings_fetched().  Where such an engine fetches behind that label, nothing here would see it.
 *
 * Tested by tests/unit/editor/passes/test_redirect.c.
 */
#include <stdlib.h>

#include "postmorph/refs/addressuse.h"
#include "postmorph/refs/labels.h"

enum { MAX_DEPTH = 4 };		/* blocks that a fetched label is brought through */

/* An image of its own begins for this address. */
static bool has_image(const struct fn *fn, vaddr addr)
{
	uint32_t id = fn_find_block(fn, addr), i;

	if (id == NO_BLOCK || fn->block[id].addr != addr)
		return false;
	const struct block *b = &fn->block[id];
	for (i = b->insn; i < b->insn + b->ninsn && fn->insn[i].kind == INSN_NOP; i++)
		;
	return i < b->insn + b->ninsn;
}

static struct bytes code_of(const struct text *t, const struct block *b)
{
	return bytes_at(image_rest(&t->prog->img, b->addr), 0, b->size);
}

static bool is_entry_of_table(const struct fn *fn, uint32_t id)
{
	for (uint32_t i = 0; i < fn->ntable; i++)
		for (uint32_t k = 0; k < fn->table[i].nentry; k++)
			if (fn->table[i].succ[k] == id)
				return true;
	return false;
}

/* Every branch and fall to block `id` brings something in `reg` that was fetched: a dispatch
 * that compilers have found to be common to several operations. */
static bool brings_fetched(const struct text *t, const struct fn *fn, uint32_t id, uint8_t reg,
			   int depth)
{
	uint32_t ways = 0;

	if (depth == 0 || id == 0 || fn->block[id].pinned || fn->block[id].landing ||
	    is_entry_of_table(fn, id))
		return false;
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];

		if (b->fall != id && b->taken != id)
			continue;
		ways++;
		enum jump_way way = address_origin(code_of(t, b), reg);
		if (way != WAY_FETCHED &&
		    (way != WAY_BROUGHT || !brings_fetched(t, fn, i, reg, depth - 1)))
			return false;
	}
	return ways > 0;
}

enum jump_way labels_way(const struct text *t, const struct fn *fn, uint32_t insn)
{
	uint32_t id = fn_find_block(fn, prog_insn_addr(t->prog, &fn->insn[insn]));
	uint8_t reg;
	enum jump_way way = address_way(code_of(t, &fn->block[id]), &reg);

	if (way != WAY_BROUGHT)
		return way;
	return brings_fetched(t, fn, id, reg, MAX_DEPTH) ? WAY_FETCHED : WAY_CALCULATED;
}

/* Some jump goes to labels: one without a frame, too, as good as it looks like a tail call. */
static bool fetches(const struct text *t, const struct fn *fn)
{
	for (uint32_t i = 0; i < fn->njump; i++)
		if (labels_way(t, fn, fn->jump[i].insn) == WAY_FETCHED)
			return true;
	return false;
}

/* Something inside of it is referred to by what could not be made to hold another address. */
static bool has_stray(const struct text *t, const struct fn *fn)
{
	for (uint32_t r = 0; r < fn->nrange; r++) {
		const uint8_t *mark = text_mark(t, fn->range[r].addr);

		for (uint32_t i = r == 0; i < fn->range[r].size; i++)
			if (mark[i] & MARK_STRAY)
				return true;
	}
	return false;
}

struct ways {
	const struct text *t;
	const struct fn *fn;
	bool *reached;		/* [fn->nblock] */
	VEC(uint32_t) queue;
};

static void reach(struct ways *w, uint32_t id)
{
	if (id >= w->fn->nblock || w->reached[id])
		return;
	w->reached[id] = true;
	vec_push(w->t->scratch, &w->queue, id);
}

/* More than padding. */
static bool has_code(const struct text *t, const struct fn *fn, uint32_t id)
{
	enum { INT3 = 0xcc };

	return has_image(fn, fn->block[id].addr) &&
	       *prog_insn_bytes(t->prog, &fn->insn[fn->block[id].insn]) != INT3;
}

bool labels_all_led(const struct text *t, const struct fn *fn)
{
	struct ways w = { .t = t, .fn = fn };

	w.reached = arena_array(t->scratch, fn->nblock, sizeof(*w.reached));
	for (uint32_t i = 0; i < fn->nblock; i++)
		if (i == 0 || (*text_mark(t, fn->block[i].addr) & (MARK_POINTER | MARK_PAD)))
			reach(&w, i);
	for (uint32_t i = 0; i < fn->ntable; i++)
		for (uint32_t k = 0; k < fn->table[i].nentry; k++)
			reach(&w, fn->table[i].succ[k]);
	while (w.queue.n) {
		const struct block *b = &fn->block[w.queue.v[--w.queue.n]];

		reach(&w, b->fall);
		reach(&w, b->taken);
	}
	for (uint32_t i = 0; i < fn->nblock; i++)
		if (!w.reached[i] && has_code(t, fn, i))
			return false;
	return true;
}

/* A jump of the function may go to a label at a distance from another one. */
static bool may_calculate(const struct text *t, const struct fn *fn)
{
	for (uint32_t i = 0; fn->kept && i < fn->njump; i++)
		if (labels_way(t, fn, fn->jump[i].insn) == WAY_CALCULATED)
			return true;
	return !fn->kept || !labels_all_led(t, fn);
}

/* Functions that jump into each other, or share a part, are one to the Verifier: doubt[] of
 * their kin is set where one of them may calculate labels, as far as it is wanted[]. */
static void find_doubts(const struct text *t, const bool *wanted, bool *doubt)
{
	const struct prog *prog = t->prog;

	for (uint32_t i = 0; i < t->npiece; i++) {
		const struct fn *fn = &prog->fn[prog->fn_of_fde[i]];
		uint32_t kin = text_kin(t, i);

		if (wanted[kin] && !doubt[kin] && t->piece[i].addr == fn->entry)
			doubt[kin] = may_calculate(t, fn);
	}
}

static int compare(const void *x, const void *y)
{
	const struct reference *a = x, *b = y;

	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->user != b->user)
		return a->user < b->user ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* The references to one label; true when they go to its image. */
static bool judge_label(const struct fn *fn, struct reference *ref, uint32_t n)
{
	bool goes = has_image(fn, ref->to);

	for (uint32_t i = 0; i < n; i++)
		goes &= ref[i].kind == REFERENCE_ADDEND;
	for (uint32_t i = 0; i < n; i++)
		ref[i].stays = !goes;
	return goes;
}

/* All references to one function; some are to labels. */
static void judge(const struct text *t, struct fn *fn, struct reference *ref, uint32_t n)
{
	bool go = false;

	for (uint32_t i = 0; i < n; i++)
		if (ref[i].kind == REFERENCE_SYMBOL && ref[i].to != fn->entry)
			return;
	if (has_stray(t, fn) || !fetches(t, fn))
		return;
	for (uint32_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && ref[k].to == ref[i].to; )
			k++;
		if (ref[i].to == fn->entry)
			continue;
		bool goes = judge_label(fn, ref + i, k - i);

		go |= goes;
		fn->labels_stay |= !goes;
	}
	if (!go)
		return;
	fn->labels = POINTERS_KNOWN;
	for (uint32_t i = 0; i < fn->njump; i++)
		if (ijump_is_unproven(fn->jump[i].kind))
			fn->jump[i].kind = JUMP_LABEL;
}

static bool has_label(const struct fn *fn, const struct reference *ref, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (ref[i].to != fn->entry)
			return true;
	return false;
}

static uint32_t kin_of(const struct text *t, uint32_t fn)
{
	return text_kin(t, text_piece(t, t->prog->fn[fn].entry));
}

/* The references prog->ref[i .. end) are to one function, to labels of it that could go. */
static bool is_candidate(const struct prog *prog, uint32_t i, uint32_t end)
{
	const struct fn *fn = &prog->fn[prog->ref[i].fn];

	return fn->kept && fn_has_open_jump(fn) && has_label(fn, prog->ref + i, end - i);
}

static uint32_t end_of(const struct prog *prog, uint32_t i)
{
	uint32_t k = i + 1;

	while (k < prog->nref && prog->ref[k].fn == prog->ref[i].fn)
		k++;
	return k;
}

void labels_judge(struct text *t)
{
	struct prog *prog = t->prog;
	bool *wanted = arena_array(t->scratch, t->npiece, sizeof(*wanted));
	bool *doubt = arena_array(t->scratch, t->npiece, sizeof(*doubt));
	uint32_t i, end;

	for (i = 0; i < prog->nref; i = end) {
		end = end_of(prog, i);
		if (is_candidate(prog, i, end))
			wanted[kin_of(t, prog->ref[i].fn)] = true;
	}
	find_doubts(t, wanted, doubt);
	for (i = 0; i < prog->nref; i = end) {
		end = end_of(prog, i);
		if (!is_candidate(prog, i, end))
			continue;
		qsort(prog->ref + i, end - i, sizeof(*prog->ref), compare);
		struct fn *fn = &prog->fn[prog->ref[i].fn];
		fn->labels = POINTERS_UNKNOWN;
		if (!doubt[kin_of(t, prog->ref[i].fn)])
			judge(t, fn, prog->ref + i, end - i);
	}
}
