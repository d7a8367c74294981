/* test_relax.c - branches get the shortest form that reaches */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "editor/emit/relax.h"

#define CODE(n) { .size = (n), .target = RELAX_NONE }
#define JMP(n, to) { .size = (n), .target = (to), .short_size = 2, .long_size = 5 }

static void a_branch_that_reaches_is_short(void **state)
{
	struct relax_item item[] = { JMP(10, 2), CODE(127), CODE(1) };

	(void)state;
	assert_int_equal(relax_run(item, 3), 140);
	assert_false(item[0].is_long);
	assert_int_equal(item[1].addr, 12);
	assert_int_equal(item[2].addr, 139);
}

static void one_byte_more_makes_it_long(void **state)
{
	struct relax_item forward[] = { JMP(10, 2), CODE(128), CODE(1) };
	struct relax_item backward[] = { CODE(126), JMP(0, 0) };
	struct relax_item further[] = { CODE(127), JMP(0, 0) };

	(void)state;
	assert_int_equal(relax_run(forward, 3), 144);
	assert_true(forward[0].is_long);
	relax_run(backward, 2);
	assert_false(backward[1].is_long);	/* -128 */
	relax_run(further, 2);
	assert_true(further[1].is_long);
}

static void growing_one_can_grow_another(void **state)
{
	/* item 0 reaches item 3 only while item 1's branch is short; that one is far */
	struct relax_item item[] = { JMP(0, 3), JMP(60, 4), CODE(65), CODE(200), CODE(1) };

	(void)state;
	relax_run(item, 5);
	assert_true(item[1].is_long);
	assert_true(item[0].is_long);
}

static void far_branches_are_long_at_once(void **state)
{
	struct relax_item item[] = { JMP(1, RELAX_FAR), JMP(1, 0) };

	(void)state;
	assert_int_equal(relax_run(item, 2), 9);
	assert_true(item[0].is_long);
	assert_false(item[1].is_long);
}

static void starts_are_aligned(void **state)
{
	struct relax_item item[] = { CODE(3), CODE(1), CODE(1) };

	(void)state;
	item[1].align = 16;
	item[2].align = 4;
	assert_int_equal(relax_run(item, 3), 21);
	assert_int_equal(item[1].addr, 16);
	assert_int_equal(item[2].addr, 20);
}

static void no_more_is_skipped_than_allowed(void **state)
{
	struct relax_item item[] = { CODE(5), CODE(1), CODE(1) };

	(void)state;
	item[1].align = item[2].align = 16;
	item[1].max_skip = 10;			/* 11 bytes would be needed */
	item[2].max_skip = 10;			/* 10 are */
	assert_int_equal(relax_run(item, 3), 17);
	assert_int_equal(item[1].addr, 5);
	assert_int_equal(item[2].addr, 16);
}

/* Three items in a row, of 40, 30 and 20 bytes: the last two would each lie across a line. */
static void rows_get_the_paddings_that_cost_least(void **state)
{
	struct relax_item item[] = { CODE(8), CODE(40), CODE(30), JMP(18, 0) };
	struct linefit_item fit[3] = {
		{ .align = 1, .inside = { 9, 0 }, .pad_byte = 0.2 },
		{ .align = 1, .inside = { 9, 0 }, .pad_byte = 0.1 },
		{ .align = 1, .inside = { 9, 0 }, .pad_byte = 0.1 },
	};

	(void)state;
	for (int i = 0; i < 3; i++)
		item[i + 1].fit = &fit[i];
	item[1].begins_row = true;
	relax_run(item, 4);
	assert_int_equal(item[1].addr, 8);		/* up to 48 */
	assert_int_equal(item[2].addr, 64);		/* up to 94 */
	assert_int_equal(item[3].addr, 94);		/* up to 114 */
	assert_true(fit[2].size == 20 && fit[2].tail == 2);
	fit[0].inside[0] = fit[1].inside[0] = fit[2].inside[0] = 0;
	relax_again(item, 4);
	assert_int_equal(item[3].addr, 78);
}

/* Two rows of one item, each tried where it is: each would begin at a line. */
static void a_row_that_is_tried_stays_where_it_is(void **state)
{
	struct relax_item item[] = { CODE(8), CODE(60), CODE(62), CODE(1) };
	struct linefit_item fit[2] = {
		{ .align = 1, .inside = { 9, 0 }, .pad_byte = 0.1 },
		{ .align = 1, .inside = { 9, 0 }, .pad_byte = 0.1 },
	};

	(void)state;
	relax_run(item, 4);
	for (int i = 0; i < 2; i++) {
		item[i + 1].fit = &fit[i];
		item[i + 1].begins_row = true;
	}
	assert_int_equal(relax_try_row(&item[1], 3, 8), 56 + 60);
	assert_int_equal(relax_try_row(&item[2], 2, 68), 60 + 62);
	assert_int_equal(item[1].addr, 8);
	assert_int_equal(item[2].addr, 68);
	assert_int_equal(relax_again(item, 4), 191);
	item[1].fit = item[2].fit = NULL;
	assert_int_equal(relax_run(item, 4), 131);
}

/* Padding pushes a target out of reach; the branch to it is long, and then the row is placed
 * anew with its new size. */
static void paddings_and_branches_agree(void **state)
{
	struct relax_item item[] = { JMP(2, 2), CODE(118), CODE(62) };
	struct linefit_item fit[3] = {
		{ .align = 1, .pad_byte = 50 },
		{ .align = 1, .pad_byte = 50 },
		{ .align = 1, .inside = { 99, 0 }, .pad_byte = 0.1 },
	};

	(void)state;
	for (int i = 0; i < 3; i++)
		item[i].fit = &fit[i];
	item[0].begins_row = true;
	assert_int_equal(relax_run(item, 3), 128 + 62);
	assert_int_equal(item[2].addr, 128);
	assert_false(item[0].is_long);
	item[1].size = 127;
	assert_int_equal(relax_run(item, 3), 192 + 62);
	assert_true(item[0].is_long);
	assert_int_equal(item[2].addr, 192);
}

/* A branch in front of a row grows in the second round: the row, which was in one line, would
 * lie across its end. */
static void a_row_that_is_pushed_is_placed_anew(void **state)
{
	struct relax_item item[] = { JMP(10, 2), CODE(130), CODE(50) };
	struct linefit_item fit = { .align = 1, .inside = { 9, 0 }, .pad_byte = 0.1 };

	(void)state;
	item[2].fit = &fit;
	item[2].begins_row = true;
	assert_int_equal(relax_run(item, 3), 192 + 50);
	assert_true(item[0].is_long);
	assert_int_equal(item[2].addr, 192);
}

static void prefixes_are_part_of_an_item(void **state)
{
	struct relax_item item[] = { CODE(20), CODE(17), CODE(40) };
	struct linefit_item fit = { .align = 1, .tail_end = 9, .pad_byte = 1, .pad = 3,
				    .max_front = 4, .front_byte = 0.5 };

	(void)state;
	item[1].fit = &fit;
	item[1].begins_row = true;
	item[1].tail = 6;			/* 31 .. 36 */
	assert_int_equal(relax_run(item, 3), 20 + 1 + 17 + 40);
	assert_int_equal(item[1].front, 1);
	assert_int_equal(item[1].addr, 20);
	assert_int_equal(item[2].addr, 38);
}

/* Every item's branch goes 25 items on, so one that grows pushes those before it: more
 * rounds than the limit, which must still end in a valid row. */
static void a_row_of_dominoes_ends_valid(void **state)
{
	enum { N = 20000 };
	static struct relax_item item[N];

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		item[i] = (struct relax_item)JMP(3, i + 26 < N ? i + 26 : i);
	item[N - 40].size = 6;
	relax_run(item, N);
	assert_true(item[N - 1].is_long);	/* reaches itself: long by the limit alone */
	for (uint32_t i = 0; i < N; i++) {
		int64_t from = (int64_t)(item[i].addr + relax_size(&item[i]));
		int64_t d = (int64_t)item[item[i].target].addr - from;

		assert_true(item[i].is_long || (d >= -128 && d <= 127));
		if (i + 1 < N)
			assert_int_equal(item[i + 1].addr, from);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_branch_that_reaches_is_short),
		cmocka_unit_test(one_byte_more_makes_it_long),
		cmocka_unit_test(growing_one_can_grow_another),
		cmocka_unit_test(far_branches_are_long_at_once),
		cmocka_unit_test(starts_are_aligned),
		cmocka_unit_test(no_more_is_skipped_than_allowed),
		cmocka_unit_test(rows_get_the_paddings_that_cost_least),
		cmocka_unit_test(a_row_that_is_tried_stays_where_it_is),
		cmocka_unit_test(paddings_and_branches_agree),
		cmocka_unit_test(a_row_that_is_pushed_is_placed_anew),
		cmocka_unit_test(prefixes_are_part_of_an_item),
		cmocka_unit_test(a_row_of_dominoes_ends_valid),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
