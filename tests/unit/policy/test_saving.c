/* test_saving.c - CPU time saved, by use and by how fast generations are */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy/saving.h"

static void is_near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * fmax(1, fabs(want))))
		fail_msg("%.9f, not %.9f", got, want);
}

/* So many times as long as before, with an interval of a tenth of it. */
static struct saving_link takes(double times, bool of_module)
{
	return (struct saving_link){ of_module, log(times * 0.9), log(times),
				     log(times * 1.1) };
}

static void what_takes_half_the_time_has_saved_as_much(void **state)
{
	const struct saving_link half = takes(0.5, false);
	struct saving got = saving_of(100, 60, &half, 1);

	(void)state;
	is_near(got.estimate_s, 100);
	is_near(got.low_s, 100 / 0.55 - 100);
	is_near(got.high_s, 100 / 0.45 - 100);
}

static void time_in_the_module_counts_where_that_was_compared(void **state)
{
	const struct saving_link half = takes(0.5, true);
	struct saving got = saving_of(100, 60, &half, 1);

	(void)state;
	is_near(got.estimate_s, 60);
	is_near(got.low_s, 60 / 0.55 - 60);
}

static void what_is_slower_has_lost(void **state)
{
	const struct saving_link twice = takes(2, false);
	struct saving got = saving_of(100, 60, &twice, 1);

	(void)state;
	is_near(got.estimate_s, -50);
	assert_true(got.low_s < -50 && got.high_s > -50);
}

/* Of the original 200 s, 100 with the first, 80 with the second. */
static void the_second_generation_has_saved_what_both_have(void **state)
{
	const struct saving_link runs[] = { takes(0.8, false), takes(0.5, false) };
	struct saving got = saving_of(80, 80, runs, 2);

	(void)state;
	is_near(got.estimate_s, 120);
	/* 60 of 100 s in the module with the first, 40 of 80 now; the first by whole runs */
	const struct saving_link mixed[] = { takes(40 / 60.0, true), takes(0.5, false) };
	got = saving_of(80, 40, mixed, 2);
	is_near(got.estimate_s, 20 + 100);
	/* and the first by its time in the module: 60 of 100 s, 160 of 200 */
	const struct saving_link shares[] = { takes(40 / 60.0, true), takes(60 / 160.0, true) };
	got = saving_of(80, 40, shares, 2);
	is_near(got.estimate_s, 20 + 100);
}

static void nothing_is_saved_without_use_and_what_is_lost_is_at_most_all(void **state)
{
	const struct saving_link bad[] = { takes(1e9, false), takes(0.5, true) };
	struct saving got = saving_of(0, 0, bad, 2);

	(void)state;
	is_near(got.estimate_s, 0);
	got = saving_of(100, 10, bad, 2);
	assert_true(got.estimate_s >= -100 && got.low_s >= -100);
}

static void sums_add_up_at_both_ends(void **state)
{
	struct saving sum = { 1, 2, 4 };
	const struct saving more = { -3, 5, 6 };

	(void)state;
	saving_add(&sum, &more);
	is_near(sum.low_s, -2);
	is_near(sum.estimate_s, 7);
	is_near(sum.high_s, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_takes_half_the_time_has_saved_as_much),
		cmocka_unit_test(time_in_the_module_counts_where_that_was_compared),
		cmocka_unit_test(what_is_slower_has_lost),
		cmocka_unit_test(the_second_generation_has_saved_what_both_have),
		cmocka_unit_test(nothing_is_saved_without_use_and_what_is_lost_is_at_most_all),
		cmocka_unit_test(sums_add_up_at_both_ends),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
