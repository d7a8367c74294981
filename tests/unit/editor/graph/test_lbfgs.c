/* test_lbfgs.c - the lowest place is found, and the function is called there last, also when
 * the search ends with tries that were no lower
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "editor/graph/lbfgs.h"

enum { N = 7 };

struct bowl {
	double last[N];		/* where it was called */
	bool lies;		/* its gradient says from the second call on that down is up */
	uint32_t calls;
};

/* Least at 1, 2, ...; steeper by powers of ten. */
static double bowl(const double *x, double *gradient, void *ctx)
{
	struct bowl *b = ctx;
	double value = 0, steep = 0.01;

	memcpy(b->last, x, sizeof(b->last));
	b->calls++;
	for (uint32_t i = 0; i < N; i++, steep *= 10) {
		double off = x[i] - (i + 1);

		value += steep * off * off;
		gradient[i] = (b->lies && b->calls > 1 ? -2 : 2) * steep * off;
	}
	return value;
}

static void finds_the_least(void **state)
{
	struct bowl b = { .lies = false };
	double x[N] = { 0 };

	(void)state;
	assert_true(lbfgs_minimize(N, x, bowl, &b, (struct lbfgs_limits){ 200, 400, 1e-12 }) <
		    1e-6);
	for (uint32_t i = 0; i < N; i++)
		assert_true(fabs(x[i] - (i + 1)) < 0.01);
	assert_memory_equal(b.last, x, sizeof(x));
}

static void calls_last_what_it_found(void **state)
{
	(void)state;
	for (uint32_t rounds = 1; rounds <= 12; rounds++) {
		struct bowl b = { .lies = rounds % 2 };
		double x[N] = { 0 };
		double value = lbfgs_minimize(N, x, bowl, &b,
					      (struct lbfgs_limits){ rounds, rounds + 1, 0 });

		assert_memory_equal(b.last, x, sizeof(x));
		double gradient[N];
		b.lies = false;
		assert_true(value == bowl(x, gradient, &b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_least),
		cmocka_unit_test(calls_last_what_it_found),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
