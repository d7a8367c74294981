/* What each user may ask for, by numbers and times alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "manager/control/quota.h"

static void a_burst_is_served_and_no_more(void **state)
{
	struct quota q = { 0 };

	(void)state;
	for (int i = 0; i < QUOTA_MOST; i++)
		assert_int_equal(quota_take(&q, 7, 1, 1000), 0);
	assert_int_equal(quota_take(&q, 7, 1, 1000), 1);
	assert_int_equal(quota_take(&q, 8, 1, 1000), 0);	/* others have their own */
}

static void tokens_come_at_a_constant_rate(void **state)
{
	struct quota q = { 0 };
	unsigned served = 0;

	(void)state;
	assert_int_equal(quota_take(&q, 7, QUOTA_MOST, 0), 0);
	for (uint64_t ms = 0; ms <= 10000; ms += 10)	/* asks far too often */
		served += quota_take(&q, 7, 1, ms) == 0;
	assert_int_equal(served, 10 * QUOTA_PER_S);
	assert_int_equal(quota_take(&q, 7, 20, 10000), 20 / QUOTA_PER_S);
	assert_int_equal(quota_take(&q, 7, 20, 15000), 0);
}

static void a_bucket_is_never_more_than_full(void **state)
{
	struct quota q = { 0 };

	(void)state;
	assert_int_equal(quota_take(&q, 7, 1, 0), 0);
	assert_int_equal(quota_take(&q, 7, QUOTA_MOST, UINT64_MAX), 0);
	assert_int_not_equal(quota_take(&q, 7, 1, UINT64_MAX), 0);
	assert_int_not_equal(quota_take(&q, 7, 1, 5), 0);	/* a clock that steps back */
}

static void many_users_do_not_free_one_that_asks_much(void **state)
{
	struct quota q = { 0 };

	(void)state;
	assert_int_equal(quota_take(&q, 7, QUOTA_MOST, 0), 0);
	for (uint32_t uid = 100; uid < 100 + 10 * QUOTA_USERS; uid++)
		assert_int_equal(quota_take(&q, uid, 1, 0), 0);
	assert_int_not_equal(quota_take(&q, 7, 1, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst_is_served_and_no_more),
		cmocka_unit_test(tokens_come_at_a_constant_rate),
		cmocka_unit_test(a_bucket_is_never_more_than_full),
		cmocka_unit_test(many_users_do_not_free_one_that_asks_much),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
