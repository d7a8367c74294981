/* test_ranktest.c - Mann and Whitney's distribution, Hodges and Lehmann's estimate and
 * interval */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/ranktest.h"

static struct ranktest_stratum sizes(uint32_t m, uint32_t n)
{
	return (struct ranktest_stratum){ .nbefore = m, .nnow = n };
}

static int32_t critical(uint32_t m, uint32_t n, double alpha)
{
	struct ranktest_stratum s = sizes(m, n);

	return ranktest_critical(&s, 1, alpha);
}

/* The tables of every textbook: two-sided 5 % and 1 %; -1: no value is that rare. */
static void critical_values_are_the_published_ones(void **state)
{
	static const struct { uint32_t m, n; int32_t at5, at1; } table[] = {
		{ 3, 3, -1, -1 }, { 4, 4, 0, -1 }, { 5, 5, 2, 0 }, { 6, 6, 5, 2 },
		{ 7, 7, 8, 4 }, { 8, 8, 13, 7 }, { 9, 9, 17, 11 }, { 10, 10, 23, 16 },
		{ 15, 15, 64, 51 }, { 20, 20, 127, 105 }, { 5, 10, 8, 4 }, { 10, 20, 55, 42 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_int_equal(critical(table[i].m, table[i].n, 0.025), table[i].at5);
		assert_int_equal(critical(table[i].m, table[i].n, 0.005), table[i].at1);
		assert_int_equal(critical(table[i].n, table[i].m, 0.005), table[i].at1);
	}
}

/* Counted out: all 2^10 ways to share five numbers of two strata, of 2 against 3 each. */
static void strata_add_up(void **state)
{
	struct ranktest_stratum s[] = { sizes(2, 3), sizes(2, 3), sizes(4, 0) };
	uint32_t count[13] = { 0 }, all = 0, below = 0;

	(void)state;
	for (unsigned a = 0; a < 32; a++)
		for (unsigned b = 0; b < 32; b++) {
			unsigned u = 0;

			if (__builtin_popcount(a) != 2 || __builtin_popcount(b) != 2)
				continue;
			for (unsigned i = 0; i < 5; i++)
				for (unsigned j = 0; j < i; j++)
					u += ((a >> i & 1) && !(a >> j & 1)) +
					     ((b >> i & 1) && !(b >> j & 1));
			count[u]++;
			all++;
		}
	for (int32_t c = 0; c < 6; c++) {
		below += count[c];
		assert_int_equal(ranktest_critical(s, 3, (double)below / all + 1e-9), c);
		assert_int_equal(ranktest_critical(s, 3, (double)below / all - 1e-9), c - 1);
	}
}

/* Permeability of the human placenta to water, Hollander, Wolfe, Chicken, table 4.1. */
static void interval_is_that_of_the_textbook(void **state)
{
	struct ranktest_stratum s = {
		.nbefore = 10,
		.before = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 },
		.nnow = 5, .now = { 1.15, 0.88, 0.90, 0.74, 1.21 },
	};
	struct ranktest_shift d;

	(void)state;
	assert_true(ranktest_shift(&s, 1, 0.025, &d));
	assert_true(fabs(d.estimate - -0.305) < 1e-9);
	assert_true(fabs(d.low - -0.76) < 1e-9);
	assert_true(fabs(d.high - 0.15) < 1e-9);
}

static void few_numbers_bound_nothing(void **state)
{
	struct ranktest_stratum s = {
		.nbefore = 2, .nnow = 2, .before = { 1, 2 }, .now = { 8, 9 }
	};
	struct ranktest_stratum none = sizes(5, 0);
	struct ranktest_shift d;

	(void)state;
	assert_true(ranktest_shift(&s, 1, 0.01, &d));
	assert_true(d.estimate == 7 && d.low == -INFINITY && d.high == INFINITY);
	assert_false(ranktest_shift(&none, 1, 0.01, &d));
}

/* Numbers of one stratum say nothing about those of another. */
static void strata_are_not_compared_with_each_other(void **state)
{
	struct ranktest_stratum s[2] = { { .nbefore = 8, .nnow = 2 },
					 { .nbefore = 2, .nnow = 8 } };
	struct ranktest_shift d;

	(void)state;
	for (int i = 0; i < 8; i++) {
		s[0].before[i] = i;
		s[1].now[i] = 1000 + i;
	}
	s[0].now[0] = s[0].now[1] = 3.5;
	s[1].before[0] = s[1].before[1] = 1003.5;
	assert_true(ranktest_shift(s, 2, 0.025, &d));
	assert_true(d.estimate == 0 && d.low >= -4 && d.low < 0 && d.high <= 4 && d.high > 0);
}

static uint64_t seed = 1;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* A distribution without a mean; intervals at 10 % miss a true shift of 0.3 that often on
 * each side. */
static void intervals_miss_as_often_as_they_may(void **state)
{
	enum { ROUNDS = 4000 };
	unsigned above = 0, below = 0;

	(void)state;
	for (int r = 0; r < ROUNDS; r++) {
		struct ranktest_stratum s = sizes(9, 12);
		struct ranktest_shift d;

		for (int i = 0; i < 12; i++) {
			s.before[i] = tan(3.14159265 * (uniform() - 0.5));
			s.now[i] = 0.3 + tan(3.14159265 * (uniform() - 0.5));
		}
		assert_true(ranktest_shift(&s, 1, 0.05, &d));
		below += d.low > 0.3;
		above += d.high < 0.3;
	}
	/* The exact size at 9 and 12 is 0.0464; four standard deviations are 0.0133. */
	assert_in_range(below, ROUNDS * 0.033, ROUNDS * 0.06);
	assert_in_range(above, ROUNDS * 0.033, ROUNDS * 0.06);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(critical_values_are_the_published_ones),
		cmocka_unit_test(strata_add_up),
		cmocka_unit_test(interval_is_that_of_the_textbook),
		cmocka_unit_test(few_numbers_bound_nothing),
		cmocka_unit_test(strata_are_not_compared_with_each_other),
		cmocka_unit_test(intervals_miss_as_often_as_they_may),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
