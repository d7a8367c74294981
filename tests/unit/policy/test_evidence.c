/* test_evidence.c - registers are taken for hot modules that have few, and not on and off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "policy/evidence.h"

static void a_hot_module_needs_it_until_it_has_enough(void **state)
{
	(void)state;
	assert_true(evidence_lacking(0.5, 0, false));
	assert_true(evidence_lacking(0.5, EVIDENCE_AGAIN - 1, false));
	assert_true(evidence_lacking(0.5, EVIDENCE_ENOUGH - 1, true));
	assert_false(evidence_lacking(0.5, EVIDENCE_ENOUGH, true));
}

static void between_the_limits_it_stays_as_it_is(void **state)
{
	double between = (EVIDENCE_AGAIN + EVIDENCE_ENOUGH) / 2.0;

	(void)state;
	assert_true(evidence_lacking(0.5, between, true));
	assert_false(evidence_lacking(0.5, between, false));
}

static void a_module_with_few_samples_is_not_worth_it(void **state)
{
	(void)state;
	assert_false(evidence_lacking(0.001, 0, false));
	assert_false(evidence_lacking(0.001, 0, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hot_module_needs_it_until_it_has_enough),
		cmocka_unit_test(between_the_limits_it_stays_as_it_is),
		cmocka_unit_test(a_module_with_few_samples_is_not_worth_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
