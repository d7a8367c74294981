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
	spread_ends(count, NULL, LINEFIT_ENDS, 10, ends);
	for (uint32_t i = 0; i < LINEFIT_ENDS; i++) {
		assert_near(ends[i][best_of(ends[i])], 0);
		seen |= 1u << best_of(ends[i]);
	}
	assert_int_equal(seen, 0xffff);
}

/* Each of two: at the other's offsets it costs all, elsewhere nothing, and each has some that
 * are no other's, the more the more often it is executed. */
static void two_at_one_offset_cost_all(void **state)
{
	static const double count[] = { 30, 70 };
	double ends[2][LINEFIT_ENDS];
	uint32_t n[2] = { 0 };

	(void)state;
	spread_ends(count, NULL, 2, 10, ends);
	for (uint32_t k = 0; k < LINEFIT_ENDS; k++) {
		uint32_t whose = ends[0][k] > 0;

		n[whose]++;
		assert_near(ends[whose][k], 0);
		assert_near(ends[!whose][k], 10 * count[!whose]);
	}
	assert_in_range(n[0], 4, 6);
	assert_int_equal(n[0] + n[1], LINEFIT_ENDS);
}

/* Blocks of one size end alike if nothing keeps them: no offset may be free for two of a few
 * that are executed often, however many others there are that hardly ever are. */
static void no_offset_is_free_for_two(void **state)
{
	(void)state;
	for (uint32_t often = 2; often <= LINEFIT_ENDS; often++)
		for (uint32_t n = often; n <= MANY; n += MANY - often) {
			double count[MANY], ends[MANY][LINEFIT_ENDS];

			for (uint32_t i = 0; i < n; i++)
				count[i] = i < often ? 1000 + i : 0.01;
			spread_ends(count, NULL, n, 10, ends);
			for (uint32_t k = 0; k < LINEFIT_ENDS; k++) {
				uint32_t free = 0;

				for (uint32_t i = 0; i < often; i++)
					free += ends[i][k] < count[i] / (2 * often);
				assert_in_range(free, 0, 1);
			}
		}
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
	spread_ends(count, NULL, MANY, 3, ends);
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

/* Who ends where nobody else does stays there. */
static void where_they_are_is_good(void **state)
{
	static const double count[] = { 40, 50, 60, 70 };
	static const uint32_t from[] = { 3, 3 + 64, 9, 31 };
	double ends[4][LINEFIT_ENDS];

	(void)state;
	spread_ends(count, from, 4, 10, ends);
	assert_near(ends[1][3], 0);
	assert_near(ends[0][4], 0);
	assert_near(ends[2][9], 0);
	assert_near(ends[3][15], 0);
}

static void one_alone_is_free(void **state)
{
	static const double count[] = { 5 };
	double ends[1][LINEFIT_ENDS];

	(void)state;
	spread_ends(count, NULL, 1, 10, ends);
	for (uint32_t k = 0; k < LINEFIT_ENDS; k++)
		assert_near(ends[0][k], 0);
	spread_ends(NULL, NULL, 0, 10, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_there_are_offsets_have_their_own),
		cmocka_unit_test(two_at_one_offset_cost_all),
		cmocka_unit_test(no_offset_is_free_for_two),
		cmocka_unit_test(costs_are_shares_of_the_others),
		cmocka_unit_test(where_they_are_is_good),
		cmocka_unit_test(one_alone_is_free),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
