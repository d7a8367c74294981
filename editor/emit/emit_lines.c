/* emit_lines.c - weighs where the ends of lines lie in the images of the blocks that run most
 *
 * A pass has marked the blocks (block->in_line) and chosen what the ends of lines cost the
 * processor (prog->line_costs).  The hot parts of functions, where any has such a block, are
 * rows for linefit.h: many together, since what one is padded with is often nothing but what
 * aligns the next.  Everything is in cycles by the counts of the profile:
 *
 *   in a block        what the end of a line costs, times its executions; more in a block that
 *                     ends in an indirect jump, and in a comparison with its branch
 *   between blocks    the same for control that falls from one to the next
 *   in a short loop   on top of that, in and between its blocks, times the rounds
 *   padding           where control falls into a block NOPs run, elsewhere they do not; each
 *                     byte takes room in the cache from all that runs
 *   prefixes          instructions get them where they mean nothing: less than a NOP, but each
 *                     time the block runs
 *
 * So a block is moved only if that costs less than it saves.  What a byte costs is raised until
 * the hot text grows by no more than MAX_GROWTH (or ROOM bytes).
 *
 * Tested by tests/unit/editor/emit/test_emit_lines.c, and tests/programs/dispatch.sh.
 */
#include "editor/emit/emit.h"

#include <math.h>

#include "lib/cpu.h"

/* Hot text that is twice as large costs so many cycles each time that a block runs; chosen. */
static const double room = 0.05;
static const double max_growth = 0.0145;
/* Bytes of a loop that counts as short: what is fetched in a few cycles. */
enum { MAX_LOOP = 256, TRIES = 8, MAX_FRONT = 12, ROOM = 64 };
/* Places that are fitted together, unless one function has more; linefit.c's memory. */
enum { MAX_ROW = 4096 };
/* See LOOP_SHARE of emit_plan.c. */
static const double loop_share = 0.875;

struct row {			/* hot places [first, end) of one function */
	struct emit_plan *plan;
	const struct cpu_costs *costs;
	uint32_t first, end;
	double byte;		/* cost of one */
};

static const struct block *block_of(const struct emit_plan *plan, uint32_t place)
{
	const struct emit_place *p = &plan->place[place];

	return &plan->prog->fn[p->fn].block[p->block];
}

static const struct insn *last_of(const struct emit_plan *plan, uint32_t place)
{
	const struct block *b = block_of(plan, place);

	return &plan->prog->fn[plan->place[place].fn].insn[b->insn + b->ninsn - 1];
}

static uint32_t row_end(const struct emit_plan *plan, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < plan->nhot && !plan->place[end].starts_part)
		end++;
	return end;
}

void emit_lines_mark(struct emit_plan *plan)
{
	bool any = false;

	for (uint32_t i = 0; plan->prog->line_costs && i < plan->nhot; i++)
		any |= block_of(plan, i)->in_line;
	for (uint32_t i = 0; i < plan->nhot; i++)
		plan->place[i].fitted = any;
}

/* How often control falls into a place. */
static double falls_into(const struct row *row, uint32_t i)
{
	const struct emit_place *before = &row->plan->place[i - 1];

	if (i == row->first || !before->fills)
		return 0;
	const struct block *b = block_of(row->plan, i - 1);

	return before->inverted || last_of(row->plan, i - 1)->kind == INSN_JMP ?
		       b->taken_count : b->fall_count;
}

static bool fuses(const struct prog *prog, const struct insn *insn, const struct insn *branch)
{
	const struct bytes code = { prog_insn_bytes(prog, insn), insn->len };

	return branch->kind == INSN_JCC && insn_fuses(code);
}

/* Bytes in front of the branch that belong to it: a comparison that is fused with it, or the
 * last instruction itself where that is a return or an indirect jump. */
static uint8_t tail_of(const struct emit_plan *plan, const struct emit_place *p, bool *fused)
{
	const struct fn *fn = &plan->prog->fn[p->fn];
	const struct block *b = &fn->block[p->block];
	const struct insn *kept = p->nkept ? &fn->insn[b->insn + p->nkept - 1] : NULL;

	*fused = kept && p->branched &&
		 fuses(plan->prog, kept, &fn->insn[b->insn + b->ninsn - 1]);
	if (*fused || (kept && !p->branched && !p->jumps && insn_ends_flow(kept)))
		return (uint8_t)emit_insn_size(plan, p, p->nkept - 1);
	return 0;
}

/* The jmp behind a place's branch: what it costs is that it is fetched. */
static void weigh_jmp(const struct row *row, uint32_t i, struct linefit_item *fit)
{
	const struct block *b = block_of(row->plan, i);
	double count = row->plan->place[i].inverted ? b->taken_count : b->fall_count;

	*fit = (struct linefit_item){ .joined = true, .pad_byte = row->byte };
	fit->inside[LINEFIT_AT_LINE] = fit->before[LINEFIT_AT_LINE] = count * row->costs->line;
	fit->inside[LINEFIT_AT_HALF] = fit->before[LINEFIT_AT_HALF] = count * row->costs->half;
	fit->tail_end = b->jump_in_line ? count * row->costs->jump : 0;
}

static void weigh_place(const struct row *row, uint32_t i, double back)
{
	const struct cpu_costs *c = row->costs;
	const struct emit_place *p = &row->plan->place[i];
	const struct block *b = block_of(row->plan, i);
	struct relax_item *item = &row->plan->item[p->item];
	struct linefit_item *fit = item->fit;
	double falls = falls_into(row, i);
	bool fused, dispatches = last_of(row->plan, i)->kind == INSN_IJMP;

	item->tail = tail_of(row->plan, p, &fused);
	*fit = (struct linefit_item){
		.inside = { b->count * (c->line + (dispatches ? c->dispatch : 0)),
			    b->count * c->half },
		.in_tail = { fused ? b->count * c->pair : 0, 0 },
		.before = { falls * c->fall, 0 },
		.pad = falls * c->nop, .pad_byte = row->byte + falls * c->nop / 8,
		.max_front = (uint8_t)emit_front_room(row->plan, p, b->in_line ? MAX_FRONT : 0),
		.front_byte = row->byte + b->count * c->prefix,
	};
	if (b->jump_in_line && (item->tail || item->target != RELAX_NONE))
		fit->tail_end = b->count * c->jump;
	if (b->confidence != CONFIDENCE_LOW && b->count > 0 && back >= loop_share * b->count)
		fit->unaligned = b->count * c->head;
	for (uint32_t k = 1; k < p->nitem; k++)
		weigh_jmp(row, i, &fit[k]);
}

/* `rounds` times control goes from place `to` back to the start of place `from`. */
static void weigh_loop(const struct row *row, uint32_t from, uint32_t to, double rounds)
{
	const struct relax_item *item = row->plan->item;
	const struct emit_place *p = row->plan->place;
	uint32_t first = p[from].item, end = p[to].item + p[to].nitem;
	uint64_t size = 0;

	for (uint32_t k = first; k < end && size <= MAX_LOOP; k++)
		size += relax_size(&item[k]);
	if (size > MAX_LOOP)
		return;
	for (uint32_t k = first; k < end; k++) {
		item[k].fit->inside[LINEFIT_AT_LINE] += rounds * row->costs->loop;
		if (k > first)
			item[k].fit->before[LINEFIT_AT_LINE] += rounds * row->costs->loop;
	}
}

static void weigh_loops(const struct row *row)
{
	const struct emit_plan *plan = row->plan;

	for (uint32_t i = row->first; i < row->end; i++) {
		const struct block *b = block_of(plan, i);
		const uint32_t to[2] = { b->fall, b->taken };
		const double count[2] = { b->fall_count, b->taken_count };

		for (int k = 0; k < 2; k++) {
			uint32_t place = to[k] == NO_BLOCK
				? NO_PLACE : plan->place_of[plan->place[i].fn][to[k]];

			if (place >= row->first && place <= i && count[k] > 0)
				weigh_loop(row, place, i, count[k]);
		}
	}
}

/* Pointers lead to entries, and programs use their low bits.  The others are aligned for speed
 * only, and for that there are better reasons here. */
static bool must_be_aligned(const struct emit_plan *plan, uint32_t i)
{
	const struct emit_place *p = &plan->place[i];

	return plan->place_of[p->fn][0] == i && plan->prog->fn[p->fn].redirected;
}

/* Gives the items of all rows what they weigh; `back` as count_loops() of emit_plan.c. */
static void weigh_rows(struct emit_plan *plan, const double *back, struct linefit_item *fit,
		       double byte)
{
	uint32_t joined = 0;

	for (uint32_t i = 0, end; i < plan->nhot; i = end) {
		struct row row = { plan, plan->prog->line_costs, i, 0, byte };

		end = row.end = row_end(plan, i);
		if (joined + end - i > MAX_ROW)
			joined = 0;
		for (uint32_t k = i; k < end; k++) {
			const struct emit_place *p = &plan->place[k];

			for (uint32_t n = p->item; n < p->item + p->nitem; n++)
				plan->item[n].fit = &fit[n];
			plan->item[p->item].begins_row = joined++ == 0;
			if (!must_be_aligned(plan, k))
				plan->item[p->item].align = 1;
			weigh_place(&row, k, back[k]);
		}
		weigh_loops(&row);
	}
}

static uint64_t hot_size(const struct emit_plan *plan, uint64_t all)
{
	return plan->nhot < plan->nplace ? plan->item[plan->place[plan->nhot].item].addr : all;
}

static void weigh_nothing(struct emit_plan *plan)
{
	for (uint32_t i = 0; i < plan->nitem; i++)
		plan->item[i].fit = NULL;
}

uint64_t emit_lines_relax(struct emit_plan *plan, const double *back)
{
	uint64_t size = relax_run(plan->item, plan->nitem), hot = hot_size(plan, size);
	double executions = 0;

	for (uint32_t i = 0; i < plan->nhot; i++)
		executions += block_of(plan, i)->count;
	if (hot == 0 || plan->nhot == 0 || !plan->place[0].fitted)
		return size;
	struct linefit_item *fit = arena_array(plan->arena, plan->nitem, sizeof(*fit));
	uint64_t more = (uint64_t)(max_growth * (double)hot);
	double low = 0, byte = room * (executions > 0 ? executions : 1) / (double)hot, high = 0;

	for (unsigned k = 0; k < TRIES && (high == 0 || low > 0); k++) {
		weigh_rows(plan, back, fit, byte);
		size = relax_again(plan->item, plan->nitem);
		bool fits = hot_size(plan, size) <= hot + (more > ROOM ? more : ROOM);

		*(fits ? &high : &low) = byte;
		byte = high == 0 ? 4 * low : sqrt(low * high);
	}
	if (high == 0)
		weigh_nothing(plan);
	else
		weigh_rows(plan, back, fit, high);
	return relax_again(plan->item, plan->nitem);
}
