/* test_patience.c - time in which nobody could look does not count against who is waited for */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "manager/parent/patience.h"

static void time_that_is_looked_at_counts(void **state)
{
	struct patience p = patience_begin(5000, 3000);
	uint64_t now = 5000;

	(void)state;
	assert_int_equal(patience_poll(&p), 1000);
	for (int i = 0; i < 5; i++)
		assert_false(patience_over(&p, now += 500));
	assert_int_equal(patience_poll(&p), 500);
	assert_true(patience_over(&p, now + 500));
	assert_int_equal(patience_poll(&p), 0);
	assert_true(patience_over(&p, now + 500));
}

/* Stopped for a day, then there is still time. */
static void a_gap_counts_as_two_looks(void **state)
{
	struct patience p = patience_begin(0, 60000);
	uint64_t now = UINT64_C(86400) * 1000;

	(void)state;
	assert_false(patience_over(&p, now));
	assert_int_equal(p.left_ms, 58000);
	assert_false(patience_over(&p, now + 1000));
	assert_int_equal(p.left_ms, 57000);
	assert_false(patience_over(&p, now));		/* a clock that goes back */
	assert_int_equal(p.left_ms, 57000);
}

static void time_that_is_skipped_does_not_count(void **state)
{
	struct patience p = patience_begin(0, 3000);

	(void)state;
	assert_false(patience_over(&p, 1000));
	patience_skip(&p, 90000);
	assert_false(patience_over(&p, 91000));
	assert_int_equal(p.left_ms, 1000);
}

static void never_is_later_than_any_time(void **state)
{
	(void)state;
	assert_int_equal(patience_earlier(-1, -1), -1);
	assert_int_equal(patience_earlier(-1, 0), 0);
	assert_int_equal(patience_earlier(7, -1), 7);
	assert_int_equal(patience_earlier(7, 5), 5);
	assert_int_equal(patience_earlier(0, 5), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_that_is_looked_at_counts),
		cmocka_unit_test(a_gap_counts_as_two_looks),
		cmocka_unit_test(time_that_is_skipped_does_not_count),
		cmocka_unit_test(never_is_later_than_any_time),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
