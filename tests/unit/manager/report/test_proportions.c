/* test_proportions.c - probabilities of tables whose values are in the literature or were
 * computed by hand, and how often a difference is seen where there is none */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "manager/report/proportions.h"

static void is_near(double got, double want)
{
	if (fabs(got - want) > 1e-4 * want + 1e-12)
		fail_msg("%.8g instead of %.8g", got, want);
}

static void few_counts_are_tested_exactly(void **state)
{
	(void)state;
	/* Fisher's lady tasting tea: 3 of 4 and 1 of 4: (16 + 1 + 16 + 1) / 70 */
	is_near(proportions_test(3, 4, 1, 4), 34.0 / 70);
	is_near(proportions_test(4, 4, 0, 4), 2.0 / 70);
	is_near(proportions_test(0, 4, 4, 4), 2.0 / 70);
	/* 1 of 10 and 11 of 14 (a textbook's students who study): 0.002759 */
	is_near(proportions_test(1, 10, 11, 14), 0.0027594562);
	is_near(proportions_test(1, 1000, 0, 1000), 1);
}

static void many_counts_are_tested_by_z(void **state)
{
	(void)state;
	/* 120 of 1000 and 90 of 1000: z = 0.03 / sqrt(0.105 * 0.895 * 2 / 1000) = 2.188266 */
	is_near(proportions_test(120, 1000, 90, 1000), erfc(2.1882663 / sqrt(2)));
	is_near(proportions_test(90, 1000, 120, 1000), erfc(2.1882663 / sqrt(2)));
	is_near(proportions_test(100, 1000, 100, 1000), 1);
	assert_true(proportions_test(5e8, 1e9, 1e8, 1e9) < 1e-100);
}

static void nothing_is_no_difference(void **state)
{
	(void)state;
	assert_true(proportions_test(0, 0, 5, 10) == 1);
	assert_true(proportions_test(0, 10, 0, 10) == 1);
	assert_true(proportions_test(10, 10, 20, 20) == 1);
}

/* Both tests say that something differs where nothing does in about 5 of 100 cases; the exact
 * one in fewer. */
static void chance_alone_is_seldom_taken_for_a_difference(void **state)
{
	static const int each[] = { 30, 3000 };
	static const double share = 0.1;
	enum { TRIES = 2000 };

	(void)state;
	srand(7);
	for (int k = 0; k < 2; k++) {
		int seen = 0;

		for (int t = 0; t < TRIES; t++) {
			double a = 0, b = 0;

			for (int i = 0; i < each[k]; i++) {
				a += rand() < share * RAND_MAX;
				b += rand() < share * RAND_MAX;
			}
			seen += proportions_test(a, each[k], b, each[k]) < 0.05;
		}
		if (seen > TRIES * 0.065 || (k == 1 && seen < TRIES * 0.035))
			fail_msg("%d of %d, with %d counts", seen, TRIES, each[k]);
	}
}

static void of_many_the_smallest_counts_most(void **state)
{
	double p[] = { 0.01, 0.04, 0.03, 0.005 };

	(void)state;
	/* Holm: 0.005 * 4, 0.01 * 3, 0.03 * 2, then no less than that */
	proportions_adjust(p, 4);
	is_near(p[3], 0.02);
	is_near(p[0], 0.03);
	is_near(p[2], 0.06);
	is_near(p[1], 0.06);
	double large[] = { 0.9, 0.8 };
	proportions_adjust(large, 2);
	is_near(large[0], 1);
	is_near(large[1], 1);
	proportions_adjust(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_counts_are_tested_exactly),
		cmocka_unit_test(many_counts_are_tested_by_z),
		cmocka_unit_test(nothing_is_no_difference),
		cmocka_unit_test(chance_alone_is_seldom_taken_for_a_difference),
		cmocka_unit_test(of_many_the_smallest_counts_most),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("proportions", tests, NULL, NULL);
}
