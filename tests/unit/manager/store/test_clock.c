/* test_clock.c - what was spent in a day: also by a clock that was days ahead, and by whom */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "lib/err.h"
#include "manager/store/store.h"

static const uint64_t day = UINT64_C(86400) * 1000000000;

static void a_generation_of_the_future_spends_no_budget(void **state)
{
	const uint64_t now = 20000 * day;
	const uint64_t made[] = { now - 2 * day, now - day / 2, now + day / 2, now + 30 * day };
	struct store_generation *g = calloc(1, sizeof(*g));
	char dir[] = "/tmp/morph-clock-XXXXXX", command[64];
	struct bytes map = { (const uint8_t *)"m", 1 };
	double cpu_s, bytes;

	(void)state;
	assert_non_null(mkdtemp(dir));
	struct store *s = store_open(dir, NULL);
	assert_non_null(s);
	assert_non_null(g);
	for (uint32_t i = 0; i < 4; i++) {
		*g = (struct store_generation){ .module = 5, .number = i + 1, .cpu_s = 1 << i,
						.size_bytes = 10, .made_ns = made[i],
						.state = STATE_MADE };
		g->digest.b[0] = (uint8_t)i;
		assert_int_equal(store_spent_add(s, &(struct store_cost){
				.module = 5 + (i & 1), .cpu_s = 1 << i }, made[i], NULL), 0);
		assert_int_equal(
			store_generation_add(s, g, map, &(struct store_profile){ 0 }, NULL), 0);
	}
	assert_int_equal(store_spent(s, 0, now - day, &cpu_s, &bytes, NULL), 0);
	/* set right by half a day is no reason to forget */
	assert_true(cpu_s == 2 + 4);
	assert_true(bytes == 20);
	assert_int_equal(store_spent(s, 6, now - day, &cpu_s, &bytes, NULL), 0);
	assert_true(cpu_s == 2 && bytes == 0);
	store_close(s);
	free(g);
	(void)snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static void each_owner_has_his_own_account(void **state)
{
	const uint64_t now = store_now_ns();
	char dir[] = "/var/tmp/morph-clock-XXXXXX", command[128];
	double cpu_s, bytes;

	(void)state;
	assert_non_null(mkdtemp(dir));
	struct store *s = store_open(dir, NULL);
	assert_non_null(s);
	const struct store_cost cost[] = {
		{ 5, 1000, 10, 100 }, { 0, 1000, 5, 0 }, { 6, 1001, 3, 7 }, { 7, 0, 2, 1000 },
		{ 0, 0, 1, 0 },
	};
	for (int i = 0; i < 5; i++)
		assert_int_equal(store_spent_add(s, &cost[i], now, NULL), 0);
	assert_int_equal(store_spent_add(s, &cost[0], now - 2 * day, NULL), 0);
	assert_int_equal(store_spent_by(s, 1000, now - day, &cpu_s, &bytes, NULL), 0);
	assert_true(cpu_s == 15 && bytes == 100);
	assert_int_equal(store_spent_by(s, 1001, now - day, &cpu_s, &bytes, NULL), 0);
	assert_true(cpu_s == 3 && bytes == 7);
	assert_int_equal(store_spent_by(s, 1002, now - day, &cpu_s, &bytes, NULL), 0);
	assert_true(cpu_s == 0 && bytes == 0);
	/* What users have spent is not what is done for root's files. */
	assert_int_equal(store_spent(s, 0, now - day, &cpu_s, &bytes, NULL), 0);
	assert_true(cpu_s == 3);
	assert_int_equal(store_spent(s, 5, now - day, &cpu_s, &bytes, NULL), 0);
	assert_true(cpu_s == 10);
	/* However often he asks, nothing is forgotten, neither his nor others'. */
	assert_int_equal(store_begin(s, NULL), 0);
	for (int i = 0; i < 20000; i++)
		assert_int_equal(store_spent_add(s, &(struct store_cost){ .owner = 1002,
								.cpu_s = 1 }, now, NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	assert_int_equal(store_spent_by(s, 1000, now - day, &cpu_s, &bytes, NULL), 0);
	assert_true(cpu_s == 15);
	assert_int_equal(store_spent_by(s, 1002, now - day, &cpu_s, &bytes, NULL), 0);
	assert_true(cpu_s == 20000);
	store_close(s);
	(void)snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_generation_of_the_future_spends_no_budget),
		cmocka_unit_test(each_owner_has_his_own_account),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
