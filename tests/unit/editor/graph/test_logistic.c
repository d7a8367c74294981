/* test_logistic.c - what weights are learned: none near by are likelier, by a reckoning of its
 * own; and that they tell of cases not seen
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "editor/graph/logistic.h"

enum { MAX_CASES = 40, MAX_WEIGHTS = 6 };

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static double unlikeliness(const struct logistic_case *c, uint32_t n, double firm,
			   const double *weight)
{
	double value = 0;

	for (uint32_t i = 0; i < MAX_WEIGHTS; i++)
		value += firm / 8 * weight[i] * weight[i];
	for (uint32_t i = 0; i < n; i++) {
		double p = logistic_predict(&c[i], weight);

		value -= c[i].yes * log(p) + c[i].no * log(1 - p);
	}
	return value;
}

static void no_weights_near_by_are_likelier(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct logistic_feature feature[MAX_CASES][3];
		struct logistic_case c[MAX_CASES];
		double weight[MAX_WEIGHTS], firm = 1 + (double)(seed % 7);
		uint64_t s = seed;

		for (uint32_t i = 0; i < MAX_CASES; i++) {
			for (uint32_t k = 0; k < 3; k++)
				feature[i][k] = (struct logistic_feature){
					2 * k + (uint32_t)(splitmix(&s) % 2),
					splitmix(&s) % 2 ? 1 : -1
				};
			c[i] = (struct logistic_case){ feature[i], 3,
						       (double)(splitmix(&s) % 9),
						       (double)(splitmix(&s) % 5) };
		}
		logistic_fit(c, MAX_CASES, firm, weight, MAX_WEIGHTS);
		double best = unlikeliness(c, MAX_CASES, firm, weight);
		for (uint32_t i = 0; i < MAX_WEIGHTS; i++) {
			double kept = weight[i];

			for (int by = -1; by <= 1; by += 2) {
				weight[i] = kept + 0.02 * by;
				assert_true(unlikeliness(c, MAX_CASES, firm, weight) >=
					    best - 1e-6);
			}
			weight[i] = kept;
		}
	}
}

static void nothing_seen_says_nothing(void **state)
{
	struct logistic_feature feature = { 0, 1 };
	struct logistic_case c = { &feature, 1, 0, 0 };
	double weight[1];

	(void)state;
	logistic_fit(&c, 1, 8, weight, 1);
	assert_true(fabs(logistic_predict(&c, weight) - 0.5) < 1e-9);
	logistic_fit(NULL, 0, 8, weight, 1);
	assert_true(weight[0] == 0);
}

/* A case with a feature seen elsewhere, and one with its opposite. */
static void what_was_seen_tells_of_others(void **state)
{
	struct logistic_feature feature = { 0, 1 }, opposite = { 0, -1 };
	struct logistic_case c = { &feature, 1, 90, 10 }, other = { &opposite, 1, 0, 0 };
	double weight[1];

	(void)state;
	logistic_fit(&c, 1, 1, weight, 1);
	assert_true(logistic_predict(&c, weight) > 0.85 && logistic_predict(&c, weight) < 0.9);
	assert_true(fabs(logistic_predict(&c, weight) + logistic_predict(&other, weight) - 1) <
		    1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_weights_near_by_are_likelier),
		cmocka_unit_test(nothing_seen_says_nothing),
		cmocka_unit_test(what_was_seen_tells_of_others),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
