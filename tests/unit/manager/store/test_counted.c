/* test_counted.c - what is being counted and what was counted, as long as the original is
 * there */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>
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
	a.ended_ns = 30;
	assert_int_equal(store_counting_put(store, &a, &err), 0);
	assert_int_equal(store_counting_get(store, 7, &got, &err), 1);
	assert_int_equal(got.runs, 2);
	assert_int_equal(got.begun_ns, 20);
	assert_int_equal(got.ended_ns, 30);
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

static struct store_counted counted(char original, uint32_t runs, const char *profile)
{
	struct store_counted c = { .original = all_bytes((uint8_t)original), .runs = runs,
				   .weight = 1, .cost_s = 2.5, .gain = 0.01,
				   .burst_s = 2.25 };

	wr_text(&c.profile, profile);
	return c;
}

static void counts_are_of_one_original(void **state)
{
	const struct digest o = all_bytes('o'), other = all_bytes('p');
	struct store_counted c = counted('o', 5, "profile"), got;
	struct store_count use = { 3, 7 * STORE_UNIT };
	struct err err;

	(void)state;
	c.use = (struct store_profile){ .ncount = 1, .count = &use };
	assert_int_equal(store_counted_get(store, 7, &o, &got, &err), 0);
	assert_int_equal(store_counted_put(store, 7, &c, &err), 0);
	assert_int_equal(store_counted_get(store, 7, &other, &got, &err), 0);
	assert_int_equal(got.profile.n, 0);
	assert_int_equal(store_counted_get(store, 7, &o, &got, &err), 1);
	assert_int_equal(got.runs, 5);
	assert_true(got.cost_s == 2.5 && got.gain == 0.01 && got.weight == 1);
	assert_true(got.burst_s == 2.25);
	assert_int_equal(got.profile.n, 7);
	assert_memory_equal(got.profile.p, "profile", 7);
	assert_int_equal(got.use.ncount, 1);
	assert_int_equal(got.use.count[0].block, 3);
	assert_int_equal(got.use.count[0].samples, 7 * STORE_UNIT);
	store_counted_free(&got);
	wr_free(&c.profile);
	c = counted('o', 0, "");
	assert_int_equal(store_counted_put(store, 7, &c, &err), 0);
	assert_int_equal(store_counted_get(store, 7, &o, &got, &err), 1);
	assert_int_equal(got.profile.n, 0);		/* tried in vain */
	store_counted_free(&got);
	assert_int_equal(store_counted_delete(store, 7, &err), 0);
	assert_int_equal(store_counted_get(store, 7, &o, &got, &err), 0);
}

static void both_go_with_the_profile(void **state)
{
	const struct digest o = all_bytes('o');
	struct store_counting c = counting(7, 20);
	struct store_counted d = counted('o', 5, ""), got;
	struct err err;

	(void)state;
	assert_int_equal(store_counting_put(store, &c, &err), 0);
	assert_int_equal(store_counted_put(store, 7, &d, &err), 0);
	assert_int_equal(store_module_discard(store, 7, &err), 0);
	assert_int_equal(store_counting_get(store, 7, &c, &err), 0);
	assert_int_equal(store_counted_get(store, 7, &o, &got, &err), 0);
}

static void counts_fade_as_samples_do(void **state)
{
	const struct digest o = all_bytes('o');
	struct store_counted c = counted('o', 5, "p"), got;
	struct store_count one = { 1, 8 * STORE_UNIT };
	struct store_profile samples = { .ncount = 1, .count = &one };
	struct err err;

	(void)state;
	assert_int_equal(store_counted_put(store, 7, &c, &err), 0);
	assert_int_equal(store_profile_put(store, 7, &samples, 0, &err), 0);
	assert_int_equal(store_profile_fade(store, 7, 0.5, NULL, &err), 0);
	assert_int_equal(store_profile_fade(store, 7, 0.25, NULL, &err), 0);
	assert_int_equal(store_profile_fade(store, 8, 0.25, NULL, &err), 0);
	assert_int_equal(store_counted_get(store, 7, &o, &got, &err), 1);
	assert_true(got.weight == 0.125);
	store_counted_free(&got);
	wr_free(&c.profile);
}

static double spent(int64_t module, uint64_t now_ns)
{
	struct err err;
	double s;

	assert_int_equal(store_counting_spent(store, module, now_ns, &s, &err), 0);
	return s;
}

static void what_was_spent_today_is_known(void **state)
{
	const uint64_t day = UINT64_C(86400) * 1000000000, now = 10 * day;
	struct store_counting c = counting(7, 20), got;
	struct err err;

	(void)state;
	assert_true(spent(0, now) == 0);
	assert_int_equal(store_counting_spend(store, 7, now - day - 1, 100, &err), 0);
	assert_int_equal(store_counting_spend(store, 7, now - day + 1, 2, &err), 0);
	assert_int_equal(store_counting_spend(store, 8, now, 0.5, &err), 0);
	assert_true(spent(0, now) == 2.5);
	assert_true(spent(7, now) == 2);
	assert_true(spent(9, now) == 0);
	c.expected_s = 4;		/* it is on the way */
	c.gain = 0.25;
	c.burst_s = 1.5;
	c.speed = (struct store_counting_speed){ 1, 2, 3, 4, 5, 6 };
	c.took_s = 7;
	assert_int_equal(store_counting_put(store, &c, &err), 0);
	assert_true(spent(0, now) == 6.5);
	assert_true(spent(7, now) == 6 && spent(8, now) == 0.5);
	assert_int_equal(store_counting_get(store, 7, &got, &err), 1);
	assert_true(got.expected_s == 4 && got.gain == 0.25 && got.burst_s == 1.5);
	assert_memory_equal(&got.speed, &c.speed, sizeof(c.speed));
	assert_float_equal(got.took_s, 7, 0);
}

/* As a version of Morph wrote it that did not know how long runs took: its last 8 bytes. */
static void what_an_older_version_counted_is_read(void **state)
{
	static const char text[] = "UPDATE counting SET speed ="
				   " substr(speed, 1, length(speed) - 8)";
	struct store_counting c = { .module = 7, .runs = 3, .took_s = 2,
				    .speed = { .all_s = 4, .usual_module_s = 5 } }, got;
	char path[96];
	struct err err;
	sqlite3 *db;

	(void)state;
	assert_int_equal(store_counting_put(store, &c, &err), 0);
	(void)snprintf(path, sizeof(path), "%s/morph.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(store_counting_get(store, 7, &got, &err), 1);
	assert_true(got.runs == 3 && got.took_s == 0);
	assert_true(got.speed.all_s == 4 && got.speed.usual_module_s == 5);
}

static void a_crash_is_remembered_beyond_its_original(void **state)
{
	struct store_generation *g = calloc(1, sizeof(*g));
	const struct store_profile none = { 0 };
	bool crashed = true;
	struct err err;

	(void)state;
	*g = (struct store_generation){ .module = 7, .number = 1, .original = all_bytes('a'),
					.digest = all_bytes('b'), .state = STATE_INSTALLED };
	assert_int_equal(store_generation_add(store, g, (struct bytes){ 0 }, &none, &err), 0);
	assert_int_equal(store_generation_crashed(store, 7, &crashed, &err), 0);
	assert_false(crashed);
	assert_int_equal(store_generation_state(store, g->id, STATE_CRASHED, "", &err), 0);
	assert_int_equal(store_module_discard(store, 7, &err), 0);	/* another original */
	assert_int_equal(store_generation_crashed(store, 7, &crashed, &err), 0);
	assert_true(crashed);
	assert_int_equal(store_generation_crashed(store, 8, &crashed, &err), 0);
	assert_false(crashed);
	free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_counted_is_found_again, begin, end),
		cmocka_unit_test_setup_teardown(counts_are_of_one_original, begin, end),
		cmocka_unit_test_setup_teardown(both_go_with_the_profile, begin, end),
		cmocka_unit_test_setup_teardown(counts_fade_as_samples_do, begin, end),
		cmocka_unit_test_setup_teardown(what_was_spent_today_is_known, begin, end),
		cmocka_unit_test_setup_teardown(what_an_older_version_counted_is_read, begin,
						end),
		cmocka_unit_test_setup_teardown(a_crash_is_remembered_beyond_its_original,
						begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
