/* test_spread.c - jumps get offsets of their own as long as there are some */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "editor/graph/spread.h"

enum { MANY = 40 };

static uint32_t best_of(const double *ends)
{
	uint32_t best = 0;

	for (uint32_t k = 1; k < LINEFIT_ENDS; k++)
		if (ends[k] < ends[best])
			best = k;
	return best;
}

static void assert_near(double got, double want)
{
	if (fabs(got - want) > 1e-9 * (1 + fabs(want)))
		fail_msg("%.9f is not %.9f", got, want);
}

static void as_many_as_there_are_offsets_have_their_own(void **state)
{
	double count[LINEFIT_ENDS], ends[LINEFIT_ENDS][LINEFIT_ENDS];
	uint32_t seen = 0;

	(void)state;
	for (uint32_t i = 0; i < LINEFIT_ENDS; i++)
		count[i] = 1 + (double)(i * 7 % 16);
	spread_ends(count, LINEFIT_ENDS, 10, ends);
	for (uint32_t i = 0; i < LINEFIT_ENDS; i++) {
		assert_near(ends[i][best_of(ends[i])], 0);
		seen |= 1u << best_of(ends[i]);
	}
	assert_int_equal(seen, 0xffff);
}

/* Each of two: at the other's offset it costs all, elsewhere nothing. */
static void two_at_one_offset_cost_all(void **state)
{
	static const double count[] = { 30, 70 };
	double ends[2][LINEFIT_ENDS];

	(void)state;
	spread_ends(count, 2, 10, ends);
	assert_near(ends[1][best_of(ends[1])], 0);
	uint32_t hot = 0;		/* the first to choose */

	for (uint32_t k = 0; k < LINEFIT_ENDS; k++)
		assert_near(ends[0][k], k == hot ? 10 * 30 : 0);
	assert_near(ends[1][0], 0);
	assert_near(ends[1][1], 10 * 70);
}

/* By counts that are all different, what each offset costs is what the others there have. */
static void costs_are_shares_of_the_others(void **state)
{
	double count[MANY], ends[MANY][LINEFIT_ENDS], at[LINEFIT_ENDS] = { 0 }, all = 0;
	uint32_t chosen[MANY];

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		all += count[i] = 1000 - 20.0 * i;
	for (uint32_t i = 0; i < MANY; i++) {	/* in their order, the emptiest first */
		chosen[i] = best_of(at);
		at[chosen[i]] += count[i];
	}
	spread_ends(count, MANY, 3, ends);
	for (uint32_t i = 0; i < MANY; i++) {
		double least = INFINITY;

		at[chosen[i]] -= count[i];
		for (uint32_t k = 0; k < LINEFIT_ENDS; k++)
			least = fmin(least, at[k]);
		for (uint32_t k = 0; k < LINEFIT_ENDS; k++)
			assert_near(ends[i][k],
				    3 * count[i] * (at[k] - least) / (all - count[i]));
		at[chosen[i]] += count[i];
	}
}

static void one_alone_is_free(void **state)
{
	static const double count[] = { 5 };
	double ends[1][LINEFIT_ENDS];

	(void)state;
	spread_ends(count, 1, 10, ends);
	for (uint32_t k = 0; k < LINEFIT_ENDS; k++)
		assert_near(ends[0][k], 0);
	spread_ends(NULL, 0, 10, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_there_are_offsets_have_their_own),
		cmocka_unit_test(two_at_one_offset_cost_all),
		cmocka_unit_test(costs_are_shares_of_the_others),
		cmocka_unit_test(one_alone_is_free),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
