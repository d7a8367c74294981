/* test_clock.c - what a clock entered that was days ahead must not bind for ever */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "lib/err.h"
#include "manager/store/store.h"

static void a_generation_of_the_future_spends_no_budget(void **state)
{
	const uint64_t day = UINT64_C(86400) * 1000000000, now = 20000 * day;
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
		assert_int_equal(store_spent_add(s, 5 + (i & 1), made[i], 1 << i, NULL), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_generation_of_the_future_spends_no_budget),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
