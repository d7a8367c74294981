/* test_workcost.c - what a unit of a process's work costs, and which work is counted */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "policy/workcost.h"

/* Readings whose work of a kind grows by these, each for one second of CPU time. */
static void fill(struct procwork r[4], enum procwork_kind kind, double a, double b, double c)
{
	const double more[4] = { 0, a, b, c };
	double sum = 100;

	for (int i = 0; i < 4; i++) {
		r[i].cpu_s = i;
		r[i].work[kind] = sum += more[i];
	}
}

static void the_steadiest_work_is_counted(void **state)
{
	struct procwork r[4] = { 0 };

	(void)state;
	assert_int_equal(workcost_choose(r, 4), -1);
	fill(r, PROCWORK_WAKES, 50, 55, 60);
	assert_int_equal(workcost_choose(r, 4), PROCWORK_WAKES);
	fill(r, PROCWORK_BYTES, 1000, 3000, 9000);
	assert_int_equal(workcost_choose(r, 4), PROCWORK_WAKES);
	fill(r, PROCWORK_BYTES, 1000, 1220, 1000);	/* less steady, but not by half */
	assert_int_equal(workcost_choose(r, 4), PROCWORK_BYTES);
	fill(r, PROCWORK_CALLS, 100, 101, 102);
	assert_int_equal(workcost_choose(r, 4), PROCWORK_CALLS);
	fill(r, PROCWORK_CALLS, 7, 7, 7);		/* steady, but too few of them */
	assert_int_equal(workcost_choose(r, 4), PROCWORK_BYTES);
	assert_int_equal(workcost_choose(r, 1), -1);
}

static void cost_is_for_work_that_was_done(void **state)
{
	struct procwork a = { .cpu_s = 1 }, b = { .cpu_s = 3 };

	(void)state;
	a.work[PROCWORK_CALLS] = 10;
	b.work[PROCWORK_CALLS] = 14;
	assert_true(workcost(&a, &b, PROCWORK_CALLS) == 0.5);
	assert_true(workcost(&a, &b, PROCWORK_BYTES) == 0);	/* none */
	assert_true(workcost(&b, &a, PROCWORK_CALLS) == 0);	/* a counter that went back */
	b.cpu_s = 1;
	assert_true(workcost(&a, &b, PROCWORK_CALLS) == 0);
}

static void what_was_done_too_seldom_has_no_cost(void **state)
{
	struct procwork a = { .cpu_s = 1 }, b = { .cpu_s = 2 };

	(void)state;
	b.work[PROCWORK_CALLS] = 7;
	assert_true(workcost_enough(&a, &b, PROCWORK_CALLS) == 0);
	b.work[PROCWORK_CALLS] = 8;
	assert_true(workcost_enough(&a, &b, PROCWORK_CALLS) == 0.125);
}

static void costs_that_are_alike_spread_little(void **state)
{
	static const double same[] = { 2, 2, 2 }, twice[] = { 1, 2 }, none[] = { 1, 0, 1 };

	(void)state;
	assert_true(workcost_spread(same, 3) == 0);
	assert_true(fabs(workcost_spread(twice, 2) - log(2) / 2) < 1e-12);
	assert_true(isinf(workcost_spread(none, 3)));
	assert_true(isinf(workcost_spread(none, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_steadiest_work_is_counted),
		cmocka_unit_test(cost_is_for_work_that_was_done),
		cmocka_unit_test(what_was_done_too_seldom_has_no_cost),
		cmocka_unit_test(costs_that_are_alike_spread_little),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
