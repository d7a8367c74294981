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
 *   indirect jumps    the more, the more of its function's end at the same offset of 16 bytes
 *   prefixes          instructions get them where they mean nothing: less than a NOP, but each
 *                     time the block runs
 *
 * So a block is moved only if that costs less than it saves.  What a byte costs is raised until
 * the hot text grows by no more than max_growth (or ROOM bytes): in large programs that price
 * is found on SAMPLE rows evenly spread, since to fit a row takes time.
 *
 * Tested by tests/unit/editor/emit/test_emit_lines.c, and tests/programs/dispatch.sh.
 */
#include "editor/emit/emit.h"

#include <math.h>

#include "editor/graph/spread.h"
#include "lib/cpu.h"

/* A price is good enough at which so much of what the text may grow by is used. */
static const double enough = 0.95;
/* Hot text that is twice as large costs so many cycles each time that a block runs; chosen. */
static const double room = 0.05;
static const double max_growth = 0.026;
/* A sample may grow by this part of it, since padding also makes branches long: in the sample
 * they are as they were.  As measured in cc1. */
static const double of_sample = 0.87;
/* The growth falls with the price to the power of -0.8, as measured in cc1: this is 1 / 0.8. */
static const double power = 1.25;
/* Bytes of a loop that counts as short: what is fetched in a few cycles. */
enum { MAX_LOOP = 256, TRIES = 8, MAX_FRONT = 12, ROOM = 64 };
/* Places that are fitted together, unless one function has more. */
enum { MAX_ROW = 1024, SAMPLE = 16 };
/* See LOOP_SHARE of emit_plan.c. */
static const double loop_share = 0.875;

struct part {			/* hot places [first, end) of one function */
	struct emit_plan *plan;
	const struct cpu_costs *costs;
	const double *const *ends;	/* by place; see linefit.h */
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

static uint32_t part_end(const struct emit_plan *plan, uint32_t first)
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
	plan->fitted = any;
}

/* How often control falls into a place. */
static double falls_into(const struct part *part, uint32_t i)
{
	const struct emit_place *before = &part->plan->place[i - 1];

	if (i == part->first || !before->fills)
		return 0;
	const struct block *b = block_of(part->plan, i - 1);

	return before->inverted || last_of(part->plan, i - 1)->kind == INSN_JMP ?
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

/* Pointers lead to entries, and programs use their low bits.  The others are aligned for speed
 * only, and for that there are better reasons here. */
static bool must_be_aligned(const struct emit_plan *plan, uint32_t i)
{
	const struct emit_place *p = &plan->place[i];

	return plan->place_of[p->fn][0] == i && plan->prog->fn[p->fn].redirected;
}

/* The jmp behind a place's branch: what it costs is that it is fetched. */
static void weigh_jmp(const struct part *part, uint32_t i, struct linefit_item *fit)
{
	const struct block *b = block_of(part->plan, i);
	double count = part->plan->place[i].inverted ? b->taken_count : b->fall_count;

	*fit = (struct linefit_item){ .align = 1, .joined = true, .pad_byte = part->byte };
	fit->inside[LINEFIT_AT_LINE] = fit->before[LINEFIT_AT_LINE] = count * part->costs->line;
	fit->inside[LINEFIT_AT_HALF] = fit->before[LINEFIT_AT_HALF] = count * part->costs->half;
	fit->tail_end = b->jump_in_line ? count * part->costs->jump : 0;
}

static void weigh_place(const struct part *part, uint32_t i, double back)
{
	const struct cpu_costs *c = part->costs;
	const struct emit_place *p = &part->plan->place[i];
	const struct block *b = block_of(part->plan, i);
	struct relax_item *item = &part->plan->item[p->item];
	struct linefit_item *fit = item->fit;
	double falls = falls_into(part, i);
	bool fused, dispatches = last_of(part->plan, i)->kind == INSN_IJMP;

	item->tail = tail_of(part->plan, p, &fused);
	*fit = (struct linefit_item){
		.inside = { b->count * (c->line + (dispatches ? c->dispatch : 0)),
			    b->count * c->half },
		.in_tail = { fused ? b->count * c->pair : 0, 0 },
		.before = { falls * c->fall, 0 },
		.pad = falls * c->nop, .pad_byte = part->byte + falls * c->nop / 8,
		.align = must_be_aligned(part->plan, i) && item->align ? item->align : 1,
		.parted = item->parted && p->item > 0,
		.max_front = (uint8_t)emit_front_room(part->plan, p,
						      b->in_line ? MAX_FRONT : 0),
		.front_byte = part->byte + b->count * c->prefix,
		.ends = part->ends[i],
	};
	if (b->jump_in_line && (item->tail || item->target != RELAX_NONE))
		fit->tail_end = b->count * c->jump;
	if (b->confidence != CONFIDENCE_LOW && b->count > 0 && back >= loop_share * b->count)
		fit->unaligned = b->count * c->head;
	for (uint32_t k = 1; k < p->nitem; k++)
		weigh_jmp(part, i, &fit[k]);
}

/* `rounds` times control goes from place `to` back to the start of place `from`. */
static void weigh_loop(const struct part *part, uint32_t from, uint32_t to, double rounds)
{
	const struct relax_item *item = part->plan->item;
	const struct emit_place *p = part->plan->place;
	uint32_t first = p[from].item, end = p[to].item + p[to].nitem;
	uint64_t size = 0;

	for (uint32_t k = first; k < end && size <= MAX_LOOP; k++)
		size += relax_size(&item[k]);
	if (size > MAX_LOOP)
		return;
	for (uint32_t k = first; k < end; k++) {
		item[k].fit->inside[LINEFIT_AT_LINE] += rounds * part->costs->loop;
		if (k > first)
			item[k].fit->before[LINEFIT_AT_LINE] += rounds * part->costs->loop;
	}
}

static void weigh_loops(const struct part *part)
{
	const struct emit_plan *plan = part->plan;

	for (uint32_t i = part->first; i < part->end; i++) {
		const struct block *b = block_of(plan, i);
		const uint32_t to[2] = { b->fall, b->taken };
		const double count[2] = { b->fall_count, b->taken_count };

		for (int k = 0; k < 2; k++) {
			uint32_t place = to[k] == NO_BLOCK
				? NO_PLACE : plan->place_of[plan->place[i].fn][to[k]];

			if (place >= part->first && place <= i && count[k] > 0)
				weigh_loop(part, place, i, count[k]);
		}
	}
}

/* All that is fitted: parts of functions, as many together as there is room for in a row. */
struct rows {
	struct emit_plan *plan;
	const double *back;		/* see count_loops() of emit_plan.c */
	const double **ends;		/* [nhot] what the ends of indirect jumps cost; NULL */
	uint32_t *first;		/* [n + 1] places; a row ends where the next begins */
	uint32_t n, every;		/* each so many-th is a sample */
};

/* What it costs at which offsets the indirect jumps of a function end. */
static void spread_part(struct emit_plan *plan, uint32_t first, uint32_t end,
			const double **ends)
{
	double *count = arena_array(plan->arena, end - first, sizeof(*count));
	uint32_t *place = arena_array(plan->arena, end - first, sizeof(*place)), n = 0;
	uint32_t *from = arena_array(plan->arena, end - first, sizeof(*from));

	for (uint32_t i = first; i < end; i++)
		if (last_of(plan, i)->kind == INSN_IJMP && block_of(plan, i)->in_line) {
			const struct relax_item *item = &plan->item[plan->place[i].item];

			count[n] = block_of(plan, i)->count;
			from[n] = (uint32_t)(item->addr + relax_size(item));
			place[n++] = i;
		}
	double (*of)[LINEFIT_ENDS] = arena_array(plan->arena, n, sizeof(*of));

	spread_ends(count, from, n, plan->prog->line_costs->alike, of);
	for (uint32_t k = 0; k < n; k++)
		ends[place[k]] = of[k];
}

static struct rows find_rows(struct emit_plan *plan, const double *back)
{
	struct rows rows = { .plan = plan, .back = back };
	uint32_t first = 0;

	rows.first = arena_array(plan->arena, plan->nhot + 1, sizeof(*rows.first));
	rows.ends = arena_array(plan->arena, plan->nhot, sizeof(*rows.ends));
	for (uint32_t i = 0, end; i < plan->nhot; i = end) {
		end = part_end(plan, i);
		if (plan->prog->line_costs->alike > 0)
			spread_part(plan, i, end, rows.ends);
		if (i == 0 || end - first > MAX_ROW)
			rows.first[rows.n++] = first = i;
	}
	rows.first[rows.n] = plan->nhot;
	rows.every = 1 + rows.n / SAMPLE;
	return rows;
}

/* Gives the items of a row what they weigh. */
static void weigh_row(const struct rows *rows, uint32_t row, double byte)
{
	struct emit_plan *plan = rows->plan;
	uint32_t end = rows->first[row + 1];

	for (uint32_t i = rows->first[row]; i < end; ) {
		struct part part = { plan, plan->prog->line_costs, rows->ends,
				     i, part_end(plan, i), byte };

		for (; i < part.end; i++)
			weigh_place(&part, i, rows->back[i]);
		weigh_loops(&part);
	}
}

static uint32_t first_item(const struct rows *rows, uint32_t row)
{
	return rows->plan->place[rows->first[row]].item;
}

static uint32_t end_item(const struct rows *rows, uint32_t row)
{
	const struct emit_place *last = &rows->plan->place[rows->first[row + 1] - 1];

	return last->item + last->nitem;
}

/* Has all rows fitted, or none (NULL). */
static void set_fit(const struct rows *rows, struct linefit_item *fit)
{
	struct relax_item *item = rows->plan->item;

	for (uint32_t r = 0; r < rows->n; r++)
		for (uint32_t i = first_item(rows, r); i < end_item(rows, r); i++) {
			item[i].fit = fit ? &fit[i] : NULL;
			item[i].begins_row = fit && i == first_item(rows, r);
		}
}

/* Bytes from the end of what is in front of a row to its own. */
static uint64_t row_size(const struct rows *rows, uint32_t row, uint64_t *at)
{
	const struct relax_item *item = rows->plan->item;
	uint32_t first = first_item(rows, row), end = end_item(rows, row);

	*at = first ? item[first - 1].addr + relax_size(&item[first - 1]) : 0;
	return item[end - 1].addr + relax_size(&item[end - 1]) - *at;
}

/* The share by which the sample grows at a price of a byte. */
static double try_price(const struct rows *rows, double byte)
{
	uint64_t was = 0, is = 0, at;

	for (uint32_t r = 0; r < rows->n; r += rows->every) {
		uint32_t first = first_item(rows, r);

		weigh_row(rows, r, byte);
		was += row_size(rows, r, &at);
		is += relax_try_row(&rows->plan->item[first], end_item(rows, r) - first, at);
	}
	return (double)is / (double)was - 1;
}

/* Prices that were tried: the highest at which it grew too much, and the lowest at which it did
 * not; 0: none yet.  And by what part of what it may it grew then. */
struct tried {
	double low, low_grown, high, high_grown;
};

static void note_price(struct tried *b, double byte, double grown)
{
	if (grown <= 1) {
		b->high = byte;
		b->high_grown = grown;
	} else {
		b->low = byte;
		b->low_grown = grown;
	}
}

/* The price to try next, after k others: growth falls nearly with a power of the price, so it
 * is looked for where that power says. */
static double next_price(const struct tried *b, unsigned k)
{
	const double aim = (1 + enough) / 2;

	if (b->low > 0 && b->high > 0) {
		double part = b->high_grown > 0 ? log(aim / b->low_grown) /
						  log(b->high_grown / b->low_grown) : 0.5;

		return b->low * pow(b->high / b->low, fmin(fmax(part, 0.1), 0.9));
	}
	if (b->high > 0)
		return b->high * pow(fmax(b->high_grown, 0.1) / aim, power);
	return b->low * 1.05 * (1u << (k / 2)) * pow(b->low_grown / aim, power);
}

/* The least price of a byte at which the sample grows by no more than `share`, by trying. */
static double find_price(const struct rows *rows, double least, double share)
{
	struct tried b = { 0 };
	double byte = least;

	if (rows->every > 1)
		share *= of_sample;
	for (unsigned k = 0; k < TRIES; k++) {
		double grown = try_price(rows, byte) / share;

		note_price(&b, byte, grown);
		if (grown <= 1 && (grown >= enough || byte <= least))
			break;
		byte = fmax(least, next_price(&b, k));
	}
	return b.high > 0 ? b.high : byte;
}

static uint64_t hot_size(const struct emit_plan *plan, uint64_t all)
{
	return plan->nhot < plan->nplace ? plan->item[plan->place[plan->nhot].item].addr : all;
}

/* Places all with a byte at this price, from as if nothing had been fitted; by how much the hot
 * text has grown over `hot` bytes. */
static double place_all(const struct rows *rows, struct linefit_item *fit, double byte,
			uint64_t hot, uint64_t *size)
{
	struct emit_plan *plan = rows->plan;

	set_fit(rows, NULL);
	(void)relax_run(plan->item, plan->nitem);
	set_fit(rows, fit);
	for (uint32_t r = 0; r < rows->n; r++)
		weigh_row(rows, r, byte);
	*size = relax_again(plan->item, plan->nitem);
	return (double)hot_size(plan, *size) - (double)hot;
}

/* Places all at the least price at which the hot text grows by `more` bytes at most, or by
 * hardly less; the size of the text. */
static uint64_t place_within(const struct rows *rows, struct linefit_item *fit, double least,
			     uint64_t hot, double more)
{
	double byte = find_price(rows, least, more / (double)hot);
	struct tried b = { 0 };
	uint64_t size;

	for (unsigned k = 0; k < TRIES; k++) {
		double grown = place_all(rows, fit, byte, hot, &size) / more;

		note_price(&b, byte, grown);
		if (grown <= 1 && (grown >= enough || byte <= least))
			return size;
		byte = fmax(least, next_price(&b, k));
	}
	if (b.high > 0) {
		(void)place_all(rows, fit, b.high, hot, &size);
		return size;
	}
	set_fit(rows, NULL);
	return relax_run(rows->plan->item, rows->plan->nitem);
}

uint64_t emit_lines_relax(struct emit_plan *plan, const double *back)
{
	uint64_t size = relax_run(plan->item, plan->nitem), hot = hot_size(plan, size);
	double executions = 0;

	for (uint32_t i = 0; i < plan->nhot; i++)
		executions += block_of(plan, i)->count;
	if (hot == 0 || !plan->fitted)
		return size;
	struct linefit_item *fit = arena_array(plan->arena, plan->nitem, sizeof(*fit));
	struct rows rows = find_rows(plan, back);
	double least = room * (executions > 0 ? executions : 1) / (double)hot;
	double more = fmax(max_growth * (double)hot, ROOM);

	set_fit(&rows, fit);
	return place_within(&rows, fit, least, hot, more);
}
