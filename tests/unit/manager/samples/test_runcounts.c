/* test_runcounts.c - runs add up, and no one run is all that is seen */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "manager/samples/runcounts.h"

static void runs_add_up(void **state)
{
	uint64_t all[5] = { 0 }, a[5] = { 1, 9, 3, 0, 5 }, b[5] = { 1, 9, 4, 1, 0 };

	(void)state;
	runcounts_add(all, a, 5);
	runcounts_add(all, b, 5);
	assert_int_equal(all[0], 2);	/* runs */
	assert_int_equal(all[1], 0);	/* targets, which such runs do not count */
	assert_int_equal(all[2], 7);
	assert_int_equal(all[3], 1);
	assert_int_equal(all[4], 5);
}

static void a_run_of_too_much_is_made_smaller(void **state)
{
	uint64_t all[4] = { 0 }, honest[4] = { 1, 0, 1000, 3000 };
	uint64_t huge[4] = { 1, 0, RUNCOUNTS_MOST * 6, RUNCOUNTS_MOST * 2 };
	uint64_t most[4] = { 1, 0, RUNCOUNTS_MOST, 0 };

	(void)state;
	runcounts_add(all, huge, 4);
	assert_int_equal(all[2], RUNCOUNTS_MOST * 6 / 8);
	assert_int_equal(all[3], RUNCOUNTS_MOST * 2 / 8);
	runcounts_add(all, honest, 4);
	assert_int_equal(all[2], RUNCOUNTS_MOST * 6 / 8 + 1000);
	runcounts_add(all, most, 4);	/* the most that counts as it is */
	assert_int_equal(all[2], RUNCOUNTS_MOST * 6 / 8 + 1000 + RUNCOUNTS_MOST);
}

static void sums_do_not_wrap(void **state)
{
	uint64_t all[4] = { UINT64_MAX, 0, UINT64_MAX - 2, 1 };
	uint64_t run[4] = { 1, 0, UINT64_MAX, UINT64_MAX };

	(void)state;
	runcounts_add(all, run, 4);
	assert_true(all[0] == UINT64_MAX);
	assert_true(all[2] == UINT64_MAX);
	assert_int_equal(all[3], 1 + (UINT64_MAX >> 24));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_add_up),
		cmocka_unit_test(a_run_of_too_much_is_made_smaller),
		cmocka_unit_test(sums_do_not_wrap),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
