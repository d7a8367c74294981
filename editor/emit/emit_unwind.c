/* emit_unwind.c - the unwind rows of new text
 *
 * ROWS     A copied instruction has the state (rules for the CFA and all registers) that the
 *          original has at that instruction.  A synthetic jmp runs after the whole block: it
 *          has the state that the original has at the first NOP that was left out, or else at
 *          the first byte after the block, even if that is in another FDE.  If no FDE is there,
 *          or the block ends in a call at the end of its range (which as a rule does not
 *          return), it has the state at the block's last instruction.  The same holds for NOPs
 *          after a block; after a branch, which leaves the frame as it is, they have the
 *          branch's state.
 *
 * SPANS    A span is one new FDE: adjacent places of one part of a function whose blocks have
 *          the same CIE, and the same exception table or none.  (A function's entry range and
 *          its fragment may differ in both.)
 *
 * Tested by tests/unit/editor/emit/test_emit.c and, by unwinding from every instruction, by
 * tests/programs/unwinding.sh.
 */
#include "editor/emit/emit.h"

#include "lib/err.h"

struct fill {
	const struct emit_plan *plan;
	struct arena *a;
	VEC(struct ehframe_span) span;
	VEC(struct emit_span) source;	/* of the same number */
	VEC(struct ehframe_row) row;
	/* row of the original found last: addresses mostly ascend */
	uint32_t cursor;
};

/* The state at `addr` in an FDE, found from where the last search ended. */
static uint32_t state_at(struct fill *f, const struct fde *fde, vaddr addr)
{
	const struct cfi_row *rows = f->plan->prog->cfi.rows;
	uint32_t end = fde->row + fde->nrow, i = f->cursor;

	if (i < fde->row || i >= end || rows[i].addr > addr)
		i = fde->row;
	while (i + 1 < end && rows[i + 1].addr <= addr)
		i++;
	f->cursor = i;
	return rows[i].state;
}

static void add_row(struct fill *f, new_vaddr addr, uint32_t state)
{
	struct ehframe_span *span = &f->span.v[f->span.n - 1];
	struct ehframe_row row = { .addr = addr, .state = state };

	if (span->nrow > 0 && f->row.v[f->row.n - 1].state == state)
		return;
	vec_push(f->a, &f->row, row);
	span->nrow++;
}

static void start_span(struct fill *f, uint32_t place, uint32_t fde)
{
	struct ehframe_span span = {
		.cie = f->plan->prog->cfi.fde[fde].cie, .addr = emit_place_addr(f->plan, place),
		.row = f->row.n,
	};
	struct emit_span source = { .place = place, .fde = fde };

	vec_push(f->a, &f->span, span);
	vec_push(f->a, &f->source, source);
}

/* The last span can go on with code of FDE `fde`. */
static bool goes_on(const struct fill *f, uint32_t fde)
{
	const struct fde *all = f->plan->prog->cfi.fde;
	uint32_t last = f->source.v[f->source.n - 1].fde;

	return all[last].cie == all[fde].cie &&
	       (last == fde || (all[last].lsda == 0 && all[fde].lsda == 0));
}

/* The state at a synthetic jmp after block `b`, of which `nkept` instructions were copied. */
static uint32_t state_behind(struct fill *f, const struct fde *fde, const struct fn *fn,
			     const struct block *b, uint32_t nkept)
{
	const struct prog *prog = f->plan->prog;
	const struct insn *last = &fn->insn[b->insn + b->ninsn - 1];
	vaddr end = b->addr + b->size;

	if (last->kind == INSN_NOP && nkept < b->ninsn)
		end = prog_insn_addr(prog, &fn->insn[b->insn + nkept]);
	if (end - fde->addr < fde->len)
		return state_at(f, fde, end);
	uint32_t next = cfi_find(&prog->cfi, end);
	if (next == UINT32_MAX || !prog->cfi.fde[next].understood || last->kind == INSN_CALL ||
	    last->kind == INSN_ICALL)
		return state_at(f, fde, prog_insn_addr(prog, last));
	return state_at(f, &prog->cfi.fde[next], end);
}

/* An edge counter at `at`, where `state` holds: one that saves has the stack lower.  Returns
 * its end. */
static new_vaddr add_counter(struct fill *f, const struct edgecounter *c,
			     const struct insn *insn, new_vaddr at, uint32_t state)
{
	if (!c)
		return at;
	add_row(f, at, state);
	if (c->saved)
		add_row(f, at + EDGECOUNTER_ROOM_FROM, state + f->plan->counters->state_shift);
	return at + emit_counters_size(f->plan, c, insn);
}

static new_vaddr add_before(struct fill *f, const struct emit_place *p, uint32_t i,
			    new_vaddr at, uint32_t state)
{
	const struct emit_plan *plan = f->plan;
	const struct fn *fn = &plan->prog->fn[p->fn];
	const struct insn *insn = &fn->insn[fn->block[p->block].insn + i];

	at = add_counter(f, emit_counters_find(plan, p, EDGECOUNTER_BEFORE, i), NULL, at,
			 state);
	return add_counter(f, emit_counters_find(plan, p, EDGECOUNTER_TARGET, i), insn, at,
			   state);
}

/* Rows of the edge counters on the edges out of a block.  `branch` is the state at its last
 * instruction, whose image begins at `at`; `behind` is the state after the block. */
static void add_ways(struct fill *f, uint32_t index, new_vaddr at, uint32_t branch,
		     uint32_t behind)
{
	const struct emit_plan *plan = f->plan;
	const struct emit_place *p = &plan->place[index];
	const struct fn *fn = &plan->prog->fn[p->fn];
	const struct block *b = &fn->block[p->block];
	const struct relax_item *item = &plan->item[p->item];
	const struct edgecounter *c = emit_counters_find(plan, p, EDGECOUNTER_TAKEN, 0);
	const struct insn *last = &fn->insn[b->insn + b->ninsn - 1];
	uint32_t n;

	if (c) {
		at = emit_place_addr(plan, index) + relax_size(item) - relax_branch_size(item) -
		     emit_counters_taken(plan, p);
		add_row(f, add_counter(f, c, NULL, at, branch), branch);
	}
	if (p->branched)
		at = emit_place_addr(plan, index) + relax_size(item);
	c = emit_counters_find(plan, p, EDGECOUNTER_FALL, 0);
	if (c)
		add_row(f, add_counter(f, c, NULL, at, behind), behind);
	c = edgecounter_entries(plan->counters, p->fn, p->block, &n);
	for (uint32_t i = 0; i < n; i++) {
		at = plan->text_addr + plan->item[p->item + p->nitem - p->nentry + i].addr;
		add_row(f, add_counter(f, &c[i], last, at, branch), branch);
	}
}

static void add_place(struct fill *f, uint32_t index, const struct fde *fde)
{
	const struct emit_plan *plan = f->plan;
	const struct emit_place *p = &plan->place[index];
	const struct fn *fn = &plan->prog->fn[p->fn];
	const struct block *b = &fn->block[p->block];
	const struct relax_item *item = &plan->item[p->item];
	const struct insn *last = &fn->insn[b->insn + b->ninsn - 1];
	new_vaddr at = emit_place_addr(plan, index);
	uint32_t state = 0;

	/* a jmp to what comes next may be gone, but not what counts in front of it */
	for (uint32_t i = 0; i < p->nkept + emit_ends_in_branch(fn, b); i++) {
		const struct insn *insn = &fn->insn[b->insn + i];

		state = state_at(f, fde, prog_insn_addr(plan->prog, insn));
		at = add_before(f, p, i, at, state);
		if (i < p->nkept || p->branched || plan->counters)
			add_row(f, at, state);
		at += i < p->nkept ? emit_insn_size(plan, p, i) : 0;
	}
	if (plan->counters)
		add_ways(f, index, at, state, state_behind(f, fde, fn, b, p->nkept));
	if (p->jumps) {
		const struct relax_item *jump = item + p->nitem - 1;

		add_row(f, emit_place_addr(plan, index) + emit_place_size(plan, index) -
			   relax_branch_size(jump),
			p->inverted ? state_at(f, fde, prog_insn_addr(plan->prog, last)) :
				      state_behind(f, fde, fn, b, p->nkept));
	}
	if (emit_place_fill(plan, index)) {
		bool branch = last->kind == INSN_JMP || last->kind == INSN_JCC ||
			      last->kind == INSN_LOOP || last->kind == INSN_XBEGIN;

		add_row(f, emit_place_addr(plan, index) + emit_place_code(plan, index),
			branch ? state_at(f, fde, prog_insn_addr(plan->prog, last)) :
				 state_behind(f, fde, fn, b, p->nkept));
	}
	f->span.v[f->span.n - 1].len = emit_place_addr(plan, index) +
					 emit_place_size(plan, index) -
					 f->span.v[f->span.n - 1].addr;
}

int emit_unwind_fill(const struct emit_plan *plan, struct arena *a, struct emit_unwind *out,
		     struct err *err)
{
	const struct prog *prog = plan->prog;
	struct fill f = { .plan = plan, .a = a };

	for (uint32_t i = 0; i < plan->nplace; i++) {
		const struct emit_place *p = &plan->place[i];
		const struct fn *fn = &prog->fn[p->fn];
		const struct block *b = &fn->block[p->block];
		uint32_t index = fn->range[b->range].fde;
		const struct fde *fde = &prog->cfi.fde[index];

		if (!fde->understood || prog->cfi.cie[fde->cie].signal_frame)
			return err_set(err, ERR_REFUSED, "%s: its unwind data cannot be moved",
				       emit_fn_text(prog, fn));
		if (p->starts_part || !goes_on(&f, index))
			start_span(&f, i, index);
		f.source.v[f.source.n - 1].nplace++;
		if (emit_place_size(plan, i) > 0)
			add_place(&f, i, fde);
	}

	uint32_t n = 0;

	for (uint32_t i = 0; i < f.span.n; i++) {
		if (f.span.v[i].len == 0)	/* a part of dropped jmps alone */
			continue;
		f.span.v[n] = f.span.v[i];
		f.source.v[n++] = f.source.v[i];
	}
	*out = (struct emit_unwind){ .span = f.source.v,
				     .row_span = f.span.v, .row = f.row.v, .nspan = n,
				     .nrow = f.row.n };
	return 0;
}
