/* test_signedrank.c - shifts by signed ranks: tables of others, and how often they are right */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "policy/signedrank.h"

/* The same numbers in every run (Park and Miller). */
static uint32_t seed = 1;

static double chance(void)
{
	seed = (uint32_t)((uint64_t)seed * 48271 % 2147483647);
	return (double)seed / 2147483647;
}

/* Wilcoxon's table, as textbooks have it: one side of 0.025 and of 0.005. */
static void critical_values_are_those_of_the_table(void **state)
{
	static const struct {
		uint32_t n;
		int32_t c025, c005;
	} table[] = {
		{ 5, -1, -1 }, { 6, 0, -1 }, { 7, 2, -1 }, { 8, 3, 0 },	  { 10, 8, 3 },
		{ 15, 25, 15 }, { 20, 52, 37 }, { 30, 137, 109 }, { 50, 434, 373 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_int_equal(signedrank_critical(table[i].n, 0.025), table[i].c025);
		assert_int_equal(signedrank_critical(table[i].n, 0.005), table[i].c005);
	}
}

static void an_interval_is_what_the_means_of_two_say(void **state)
{
	/* means: 1 1.5 2 2 2.5 2.5 3 3 3 3.5 ..., 21 of them; c = 0 */
	static const double d[] = { 1, 2, 3, 4, 5, 6 };
	struct ranktest_shift s;

	(void)state;
	assert_true(signedrank_shift(d, 6, 0.025, &s));
	assert_true(s.estimate == 3.5 && s.low == 1 && s.high == 6);
	assert_true(signedrank_shift(d, 6, 0.05, &s));	/* c = 2 */
	assert_true(s.low == 2 && s.high == 5);
	assert_true(signedrank_shift(d, 5, 0.025, &s));
	assert_true(isinf(s.low) && isinf(s.high) && s.estimate == 3);
	assert_false(signedrank_shift(d, 0, 0.025, &s));
}

/* Differences of two draws of a distribution with a long tail, as times have it. */
static void it_is_right_as_often_as_it_says(void **state)
{
	enum { TIMES = 4000, PAIRS = 20 };
	int below = 0, above = 0;

	(void)state;
	for (int k = 0; k < TIMES; k++) {
		struct ranktest_shift s;
		double d[PAIRS];

		for (int i = 0; i < PAIRS; i++)
			d[i] = 0.1 + log(chance()) - log(chance());
		assert_true(signedrank_shift(d, PAIRS, 0.025, &s));
		below += s.high < 0.1;
		above += s.low > 0.1;
	}
	assert_true(below < 0.031 * TIMES && below > 0.017 * TIMES);
	assert_true(above < 0.031 * TIMES && above > 0.017 * TIMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(critical_values_are_those_of_the_table),
		cmocka_unit_test(an_interval_is_what_the_means_of_two_say),
		cmocka_unit_test(it_is_right_as_often_as_it_says),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
