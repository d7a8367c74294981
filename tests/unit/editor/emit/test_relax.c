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

/* What at address 0 ends `end` bytes from its start has its last `tail` bytes kept in a
 * line. */
static uint64_t moved(uint32_t end, uint8_t tail, uint8_t align, uint8_t max_skip)
{
	struct relax_item item[] = { CODE(16), CODE(end - 16) };

	item[1].in_line = true;
	item[1].tail = tail;
	item[1].align = align;
	item[1].max_skip = max_skip;
	relax_run(item, 2);
	return item[1].addr - 16;
}

static void ends_are_kept_in_a_line(void **state)
{
	(void)state;
	assert_int_equal(moved(31, 2, 0, 0), 0);
	assert_int_equal(moved(32, 2, 0, 0), 2);	/* would end at the line's end */
	assert_int_equal(moved(33, 2, 0, 0), 1);	/* would cross it */
	assert_int_equal(moved(34, 2, 0, 0), 0);	/* begins there */
	assert_int_equal(moved(33, 1, 0, 0), 0);
	assert_int_equal(moved(33, 7, 0, 0), 6);
	assert_int_equal(moved(97, 2, 0, 0), 1);
}

static void a_branch_is_kept_in_a_line_with_its_tail(void **state)
{
	struct relax_item item[] = { JMP(29, 0), CODE(200), JMP(20, 0) };

	(void)state;
	item[0].in_line = item[2].in_line = true;
	item[0].tail = 3;				/* 26 .. 31 */
	item[2].tail = 4;				/* 247 .. 256 */
	relax_run(item, 3);
	assert_int_equal(item[0].addr, 0);
	assert_int_equal(item[2].addr, 231 + 9);
	assert_true(item[2].is_long);
}

static void what_can_grow_in_front_need_not_move(void **state)
{
	(void)state;
	for (uint32_t room = 0; room < 8; room++) {
		struct relax_item item[] = { CODE(20), CODE(17), JMP(4, 1) };

		item[1].in_line = true;
		item[1].tail = 8;			/* 29 .. 36: 3 bytes too early */
		item[1].max_front = (uint8_t)room;
		assert_int_equal(relax_run(item, 3), 20 + 3 + 17 + 6);
		assert_int_equal(item[1].front, room >= 3 ? 3 : 0);
		assert_int_equal(item[1].addr, room >= 3 ? 20 : 23);
		assert_int_equal(item[2].addr, 40);
	}
}

static void an_end_in_a_line_comes_before_a_start_that_may_be_aligned(void **state)
{
	(void)state;
	for (uint32_t end = 17; end < 80; end++) {
		struct relax_item item[] = { CODE(9), CODE(end - 16) };

		item[1].in_line = true;
		item[1].tail = 1;
		item[1].align = 16;
		item[1].max_skip = 10;
		relax_run(item, 2);
		assert_int_not_equal((item[1].addr + item[1].size) % RELAX_LINE, 0);
		assert_int_equal(item[1].addr, end % RELAX_LINE ? 16 : 9);
	}
	assert_int_equal(moved(32, 2, 16, 0), 16);	/* one that must be stays aligned */
	assert_int_equal(moved(32, 15, 16, 0), 16);
	assert_int_equal(moved(31, 15, 16, 0), 0);
	assert_int_equal(moved(49, 20, 16, 0), 0);	/* it would cross there, too */
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
		cmocka_unit_test(ends_are_kept_in_a_line),
		cmocka_unit_test(a_branch_is_kept_in_a_line_with_its_tail),
		cmocka_unit_test(what_can_grow_in_front_need_not_move),
		cmocka_unit_test(an_end_in_a_line_comes_before_a_start_that_may_be_aligned),
		cmocka_unit_test(a_row_of_dominoes_ends_valid),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
