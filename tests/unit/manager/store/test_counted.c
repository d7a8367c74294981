/* test_counted.c - what is being counted and what was counted, as long as the original is
 * there */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "manager/store/store.h"

static char dir[] = "/tmp/morph-test-counted.XXXXXX";
static struct store *store;

static int begin(void **state)
{
	struct err err;

	(void)state;
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	store = mkdtemp(dir) ? store_open(dir, &err) : NULL;
	return store ? 0 : -1;
}

static int end(void **state)
{
	char command[64];

	(void)state;
	store_close(store);
	(void)snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static struct digest all_bytes(uint8_t c)
{
	struct digest d;

	memset(&d, c, sizeof(d));
	return d;
}

static struct store_counting counting(int64_t module, uint64_t begun_ns)
{
	return (struct store_counting){ .module = module, .generation = all_bytes('g'),
					.original = all_bytes('o'), .begun_ns = begun_ns };
}

static void what_is_counted_is_found_again(void **state)
{
	struct store_counting a = counting(7, 20), b = counting(3, 10), got;
	const struct digest other = all_bytes('h');
	int64_t *module = NULL;
	struct err err;
	uint32_t n;

	(void)state;
	b.generation = all_bytes('b');
	assert_int_equal(store_counting_put(store, &a, &err), 0);
	assert_int_equal(store_counting_put(store, &b, &err), 0);
	a.runs = 2;
	assert_int_equal(store_counting_put(store, &a, &err), 0);
	assert_int_equal(store_counting_get(store, 7, &got, &err), 1);
	assert_int_equal(got.runs, 2);
	assert_int_equal(got.begun_ns, 20);
	assert_true(digest_equal(&got.original, &a.original));
	assert_int_equal(store_counting_by_generation(store, &b.generation, &got, &err), 1);
	assert_int_equal(got.module, 3);
	assert_int_equal(store_counting_by_generation(store, &other, &got, &err), 0);
	assert_int_equal(store_counting_get(store, 8, &got, &err), 0);
	assert_int_equal(store_counting_ids(store, &module, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_int_equal(module[0], 3);		/* began first */
	free(module);
	assert_int_equal(store_counting_end(store, 7, &err), 0);
	assert_int_equal(store_counting_get(store, 7, &got, &err), 0);
}

static void counts_are_of_one_original(void **state)
{
	const struct digest o = all_bytes('o'), other = all_bytes('p');
	struct bytes text = { (const uint8_t *)"profile", 7 };
	struct wr got = { 0 };
	struct err err;
	uint32_t runs;

	(void)state;
	assert_int_equal(store_counted_get(store, 7, &o, &runs, &got, &err), 0);
	assert_int_equal(store_counted_put(store, 7, &o, 5, text, &err), 0);
	assert_int_equal(store_counted_get(store, 7, &other, &runs, &got, &err), 0);
	assert_int_equal(got.n, 0);
	assert_int_equal(store_counted_get(store, 7, &o, &runs, &got, &err), 1);
	assert_int_equal(runs, 5);
	assert_int_equal(got.n, 7);
	assert_memory_equal(got.p, "profile", 7);
	wr_free(&got);
	assert_int_equal(store_counted_put(store, 7, &o, 0, (struct bytes){ 0 }, &err), 0);
	assert_int_equal(store_counted_get(store, 7, &o, &runs, &got, &err), 1);
	assert_int_equal(got.n, 0);		/* tried in vain */
	assert_int_equal(store_counted_delete(store, 7, &err), 0);
	assert_int_equal(store_counted_get(store, 7, &o, &runs, &got, &err), 0);
}

static void both_go_with_the_profile(void **state)
{
	const struct digest o = all_bytes('o');
	struct store_counting c = counting(7, 20);
	struct wr got = { 0 };
	struct err err;
	uint32_t runs;

	(void)state;
	assert_int_equal(store_counting_put(store, &c, &err), 0);
	assert_int_equal(store_counted_put(store, 7, &o, 5, (struct bytes){ 0 }, &err), 0);
	assert_int_equal(store_module_discard(store, 7, &err), 0);
	assert_int_equal(store_counting_get(store, 7, &c, &err), 0);
	assert_int_equal(store_counted_get(store, 7, &o, &runs, &got, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_counted_is_found_again, begin, end),
		cmocka_unit_test_setup_teardown(counts_are_of_one_original, begin, end),
		cmocka_unit_test_setup_teardown(both_go_with_the_profile, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
