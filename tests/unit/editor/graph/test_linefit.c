/* test_linefit.c - paddings against all that there are, on short rows made by chance */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "editor/graph/linefit.h"

enum { MAX_ITEMS = 3, ROWS = 60 };

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 33) % below;
}

/* What the items cost when each has pad[i] bytes in front and grows by front[i], by looking at
 * every byte. */
static double cost_of(const struct linefit_item *item, uint32_t n, uint32_t from,
		      const uint32_t *pad, const uint32_t *front)
{
	uint32_t at = from;
	double cost = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct linefit_item *it = &item[i];

		if ((it->joined && pad[i]) || (it->parted && !pad[i]))
			return INFINITY;
		for (uint32_t b = at; b <= at + pad[i]; b++)
			cost += b % 32 ? 0 : it->before[b % 64 ? 1 : 0];
		cost += pad[i] ? it->pad + pad[i] * it->pad_byte : 0;
		at += pad[i];
		if (at % it->align)
			return INFINITY;
		cost += at % 16 ? it->unaligned : 0;
		uint32_t end = at + front[i] + it->size;
		bool ends = false;

		for (uint32_t b = at + 1; b <= end; b++) {
			if (b % 32)
				continue;
			cost += b < end ? it->inside[b % 64 ? 1 : 0] : 0;
			cost += b > end - it->tail && b < end ? it->in_tail[b % 64 ? 1 : 0] : 0;
			ends |= b > end - it->tail;
		}
		cost += ends ? it->tail_end : 0;
		cost += front[i] * it->front_byte;
		cost += it->ends ? it->ends[end % 16] : 0;
		at = end;
	}
	return cost;
}

static double least(const struct linefit_item *item, uint32_t n, uint32_t from, uint32_t i,
		    uint32_t *pad, uint32_t *front)
{
	double best = INFINITY;

	if (i == n)
		return cost_of(item, n, from, pad, front);
	uint32_t most = item[i].joined ? 0 : LINEFIT_LINE - 1 + item[i].parted;

	for (pad[i] = 0; pad[i] <= most; pad[i]++)
		for (front[i] = 0; front[i] <= item[i].max_front; front[i]++)
			best = fmin(best, least(item, n, from, i + 1, pad, front));
	return best;
}

static void make_row(uint64_t *seed, struct linefit_item *item, uint32_t n)
{
	static double ends[MAX_ITEMS][LINEFIT_ENDS];

	for (uint32_t i = 0; i < n; i++) {
		struct linefit_item *it = &item[i];

		*it = (struct linefit_item){ .size = 1 + (uint32_t)draw(seed, 90),
					     .align = draw(seed, 4) ? 1 : 16 };
		it->tail = (uint32_t)draw(seed, it->size < 9 ? it->size + 1 : 9);
		for (int k = 0; k < LINEFIT_CUTS; k++) {
			it->inside[k] = (double)draw(seed, 40);
			it->in_tail[k] = (double)draw(seed, 30);
			it->before[k] = (double)draw(seed, 20);
		}
		it->tail_end = draw(seed, 2) ? (double)draw(seed, 50) : 0;
		it->unaligned = draw(seed, 3) ? 0 : (double)draw(seed, 10);
		it->pad = (double)draw(seed, 8);
		it->pad_byte = (1 + (double)draw(seed, 40)) / 20;
		it->joined = i > 0 && it->align == 1 && draw(seed, 5) == 0;
		it->parted = !it->joined && draw(seed, 4) == 0;
		it->max_front = draw(seed, 3) ? 0 : (uint8_t)(1 + draw(seed, 2));
		it->front_byte = (double)draw(seed, 10) / 10;
		for (uint32_t k = 0; k < LINEFIT_ENDS; k++)
			ends[i][k] = (double)draw(seed, 30);
		it->ends = draw(seed, 3) ? NULL : ends[i];
	}
}

/* What was chosen, as paddings. */
static void paddings(const struct linefit_item *item, uint32_t n, uint32_t from, uint32_t *pad,
		     uint32_t *front)
{
	uint32_t at = from;

	for (uint32_t i = 0; i < n; i++) {
		pad[i] = (item[i].start - at - item[i].parted) % LINEFIT_LINE + item[i].parted;
		front[i] = item[i].front;
		at += pad[i] + front[i] + item[i].size;
	}
}

static void no_other_paddings_cost_less(void **state)
{
	uint64_t seed = 7;
	uint32_t padded = 0, grown = 0;

	(void)state;
	for (uint32_t row = 0; row < ROWS; row++) {
		struct linefit_item item[MAX_ITEMS];
		uint32_t n = 1 + row % MAX_ITEMS, from = (uint32_t)draw(&seed, 64);
		uint32_t pad[MAX_ITEMS], front[MAX_ITEMS];

		make_row(&seed, item, n);
		double best = least(item, n, from, 0, pad, front);
		double got = linefit_run(item, n, from);

		paddings(item, n, from, pad, front);
		if (fabs(got - best) > 1e-9 ||
		    fabs(cost_of(item, n, from, pad, front) - best) > 1e-9)
			fail_msg("row %u: %f, chosen %f, least %f", row, got,
				 cost_of(item, n, from, pad, front), best);
		for (uint32_t i = 0; i < n; i++) {
			padded += pad[i] > 0;
			grown += front[i] > 0;
		}
	}
	assert_true(padded > 10);
	assert_true(grown > 3);
}

static void a_block_is_moved_into_a_line_only_if_it_pays(void **state)
{
	(void)state;
	for (int cost = 1; cost < 20; cost++) {
		/* from 50 to 70: the next line is 14 bytes away */
		struct linefit_item item[] = {
			{ .size = 50, .align = 1, .pad_byte = 1 },
			{ .size = 20, .align = 1, .inside = { cost, 0 }, .pad_byte = 0.5 },
		};

		assert_true(fabs(linefit_run(item, 2, 0) - (cost < 7 ? cost : 7)) < 1e-9);
		assert_int_equal(item[1].start, cost <= 7 ? 50 : 0);
	}
}

static void the_padding_goes_where_it_costs_least(void **state)
{
	/* the third block moves by padding in front of the second */
	struct linefit_item item[] = {
		{ .size = 10, .align = 1, .pad_byte = 1 },
		{ .size = 40, .align = 1, .pad_byte = 0.1 },
		{ .size = 20, .align = 1, .inside = { 100, 0 }, .pad_byte = 5 },
	};

	(void)state;
	linefit_run(item, 3, 0);
	assert_int_equal(item[1].start, 24);
	assert_int_equal(item[2].start, 0);
}

static void an_empty_row_costs_nothing(void **state)
{
	(void)state;
	assert_true(fabs(linefit_run(NULL, 0, 5)) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_other_paddings_cost_less),
		cmocka_unit_test(a_block_is_moved_into_a_line_only_if_it_pays),
		cmocka_unit_test(the_padding_goes_where_it_costs_least),
		cmocka_unit_test(an_empty_row_costs_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
