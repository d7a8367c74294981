/* test_age.c - calls that have just begun are told from those that are old, or at their end */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "live/age.h"

enum { US = 1000, MS = 1000000 };
enum place { CALL, LIMITED, RUNNING };

static uint64_t start_ns = UINT64_C(1000000000);

/* A look so many ns after the start: must it not be stopped? */
static bool is_old(struct age *a, uint64_t at_ns, uint64_t cpu_ns, uint64_t runs,
		   enum place place)
{
	struct age_seen s = { start_ns + at_ns, cpu_ns, runs, place == LIMITED,
			      place == RUNNING };

	age_look(a, &s);
	return a->old;
}

static void what_was_never_seen_to_begin_is_old(void **state)
{
	struct age a = { 0 };

	(void)state;
	assert_true(is_old(&a, 0, 50 * MS, 7, LIMITED));
	assert_true(is_old(&a, 1 * MS, 50 * MS, 7, LIMITED));
	assert_true(is_old(&a, 900 * MS, 50 * MS, 7, LIMITED));
}

static void what_began_between_two_looks_is_young_for_a_while(void **state)
{
	struct age a = { 0 };

	(void)state;
	assert_false(is_old(&a, 0, 50 * MS, 7, CALL));
	assert_false(is_old(&a, 1 * MS, 51 * MS, 8, LIMITED));
	assert_false(is_old(&a, 4 * MS, 51 * MS, 8, LIMITED));
	assert_true(is_old(&a, 6 * MS, 51 * MS, 8, LIMITED));
	assert_false(is_old(&a, 7 * MS, 51 * MS + 9 * US, 9, LIMITED));	/* another one */
}

/* It may have begun right after the first of the two. */
static void looks_that_are_far_apart_tell_nothing(void **state)
{
	struct age a = { 0 };

	(void)state;
	assert_false(is_old(&a, 0, 50 * MS, 7, CALL));
	assert_true(is_old(&a, 20 * MS, 51 * MS, 8, LIMITED));
	assert_false(is_old(&a, 21 * MS, 51 * MS + 9 * US, 9, LIMITED));
}

/* Its time is over, and it is preempted before it is out. */
static void who_was_woken_in_a_call_is_in_it_still(void **state)
{
	struct age a = { 0 };

	(void)state;
	(void)is_old(&a, 0, 50 * MS, 7, LIMITED);
	assert_true(is_old(&a, 1 * MS, 50 * MS, 7, RUNNING));
	assert_true(is_old(&a, 2 * MS, 50 * MS + 3 * US, 8, RUNNING));
	assert_true(is_old(&a, 3 * MS, 50 * MS + 5 * US, 9, RUNNING));
	assert_true(is_old(&a, 4 * MS, 50 * MS + 900 * US, 9, RUNNING));
	assert_true(is_old(&a, 5 * MS, 50 * MS + 900 * US, 9, LIMITED));
}

/* The host has taken its CPU away for a while: that is one step. */
static void one_step_does_not_tell_that_it_has_left(void **state)
{
	struct age a = { 0 };

	(void)state;
	(void)is_old(&a, 0, 50 * MS, 7, LIMITED);
	assert_true(is_old(&a, 1 * MS, 70 * MS, 8, RUNNING));
	assert_true(is_old(&a, 2 * MS, 70 * MS, 8, RUNNING));
	assert_false(is_old(&a, 5 * MS, 74 * MS, 8, RUNNING));
	assert_false(is_old(&a, 6 * MS, 74 * MS, 8, RUNNING));
}

static void who_runs_at_the_first_look_may_be_in_one(void **state)
{
	struct age a = { 0 };

	(void)state;
	assert_true(is_old(&a, 0, 50 * MS, 7, RUNNING));
	assert_true(is_old(&a, 4 * MS, 54 * MS, 7, RUNNING));
	assert_false(is_old(&a, 8 * MS, 58 * MS, 7, RUNNING));
}

static void who_was_seen_elsewhere_is_not_in_one(void **state)
{
	struct age a = { 0 };

	(void)state;
	(void)is_old(&a, 0, 50 * MS, 7, LIMITED);
	assert_false(is_old(&a, 1 * MS, 50 * MS + 2 * US, 8, CALL));
	assert_false(is_old(&a, 2 * MS, 50 * MS + 2 * US, 8, RUNNING));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_never_seen_to_begin_is_old),
		cmocka_unit_test(what_began_between_two_looks_is_young_for_a_while),
		cmocka_unit_test(looks_that_are_far_apart_tell_nothing),
		cmocka_unit_test(who_was_woken_in_a_call_is_in_it_still),
		cmocka_unit_test(one_step_does_not_tell_that_it_has_left),
		cmocka_unit_test(who_runs_at_the_first_look_may_be_in_one),
		cmocka_unit_test(who_was_seen_elsewhere_is_not_in_one),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
