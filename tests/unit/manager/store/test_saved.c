/* test_saved.c - use of generations, their speeds, and what Morph takes, as the store keeps
 * them */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "manager/store/store_saved.h"
#include "tests/unit/storefixture.h"

static const uint64_t hour = UINT64_C(3600000000000), day = 24 * UINT64_C(3600000000000);
/* 2026-11-26 12:10 */
static const uint64_t noon = UINT64_C(1795694400) * 1000000000 + UINT64_C(600) * 1000000000;

static void use(struct store *s, int64_t module, uint64_t time_ns, struct store_used u)
{
	struct err err;

	assert_int_equal(store_used_add(s, module, time_ns, &u, &err), 0);
}

/* Sums of the module since then: so many rows, the first with so much time in it. */
static void check_used(struct store *s, uint64_t since_ns, uint32_t rows, double module_s)
{
	struct store_used *u;
	struct err err;
	uint32_t n;

	assert_int_equal(store_used_get(s, 7, since_ns, &u, &n, &err), 0);
	assert_int_equal(n, rows);
	if (n && fabs(u[0].module_s - module_s) > 1e-9)
		fail_msg("%f, not %f", u[0].module_s, module_s);
	free(u);
}

static void use_is_summed_by_hours(void **state)
{
	struct store *s = open_store();
	struct store_used *u;
	struct err err;
	uint32_t n;

	(void)state;
	use(s, 7, noon, (struct store_used){ 2, false, STORE_KIND_OBSERVED, 1, 10, 0 });
	use(s, 7, noon + hour / 2,
	    (struct store_used){ 2, false, STORE_KIND_OBSERVED, 2, 20, 0 });
	use(s, 7, noon + hour, (struct store_used){ 2, false, STORE_KIND_OBSERVED, 4, 40, 0 });
	use(s, 7, noon, (struct store_used){ 2, false, STORE_KIND_OTHER, 8, 80, 0 });
	use(s, 7, noon, (struct store_used){ 1, true, 99, 16, 160, 0 });
	use(s, 8, noon, (struct store_used){ 2, false, STORE_KIND_OBSERVED, 32, 320, 0 });
	assert_int_equal(store_used_get(s, 7, 0, &u, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_true(u[0].generation == 1 && u[0].live && u[0].kind == 99 && u[0].rest_s == 160);
	assert_true(u[1].kind == STORE_KIND_OTHER && u[1].module_s == 8);
	assert_true(u[2].kind == STORE_KIND_OBSERVED && u[2].module_s == 7 &&
		    u[2].rest_s == 70);
	assert_int_equal(u[2].begin_ns, noon - noon % hour);
	free(u);
	/* the hour in which that moment lies counts, those before it do not */
	assert_int_equal(store_used_get(s, 7, noon + hour, &u, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_true(u[0].module_s == 4);
	free(u);
	check_used(s, noon + 2 * hour, 0, 0);
	store_close(s);
}

static void of_what_runs_a_few_kinds_are_told_apart(void **state)
{
	struct store *s = open_store();
	struct store_used *u;
	struct err err;
	uint32_t n;

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		use(s, 7, noon, (struct store_used){ 1, true, 100 + i, 1, 0, 0 });
	use(s, 7, noon, (struct store_used){ 1, true, 107, 1, 0, 0 });
	use(s, 7, noon, (struct store_used){ 1, true, 108, 1, 0, 0 });
	assert_int_equal(store_used_get(s, 7, 0, &u, &n, &err), 0);
	assert_int_equal(n, 9);
	assert_true(u[0].kind == STORE_KIND_OTHER && u[0].module_s == 13);
	assert_true(u[8].kind == 107 && u[8].module_s == 2);
	free(u);
	store_close(s);
}

static int rows_of(const char *table)
{
	char path[96], text[64];
	sqlite3_stmt *q;
	sqlite3 *db;

	(void)snprintf(path, sizeof(path), "%s/morph.db", dir);
	(void)snprintf(text, sizeof(text), "SELECT count(*) FROM %s", table);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, text, -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	int n = sqlite3_column_int(q, 0);
	(void)sqlite3_finalize(q);
	sqlite3_close(db);
	return n;
}

static void what_is_old_is_kept_by_days_and_then_by_thirty(void **state)
{
	struct store *s = open_store();
	const struct store_used one = { 2, false, STORE_KIND_OBSERVED, 1, 0, 0 };
	uint64_t midnight = noon - noon % day, begin;
	double own[STORE_NOWN];
	struct err err;

	(void)state;
	for (int i = 0; i < 48; i++) {
		uint64_t at = midnight + (unsigned)i * hour;

		use(s, 7, at, one);
		assert_int_equal(store_own_add(s, STORE_OWN_JOBS, at, 0.5, &err), 0);
	}
	assert_int_equal(store_saved_thin(s, midnight + 30 * day, &err), 0);
	assert_int_equal(rows_of("used"), 48);		/* not yet */
	for (int twice = 0; twice < 2; twice++)
		assert_int_equal(store_saved_thin(s, midnight + 32 * day + hour, &err), 0);
	assert_int_equal(rows_of("used"), 25);		/* one day, and 24 hours */
	assert_int_equal(rows_of("own"), 25);
	check_used(s, 0, 1, 48);
	check_used(s, midnight + 5 * hour, 1, 48);	/* of the day nothing is cut off */
	check_used(s, midnight + day + 5 * hour, 1, 19);
	/* what comes late goes to its hour, and to the day with the next round */
	use(s, 7, midnight, one);
	use(s, 7, midnight + hour, one);
	assert_int_equal(store_saved_thin(s, midnight + 60 * day, &err), 0);
	assert_int_equal(rows_of("used"), 2);
	check_used(s, 0, 1, 50);
	assert_int_equal(store_saved_thin(s, midnight + 440 * day, &err), 0);
	assert_int_equal(store_own_get(s, 0, own, &begin, &err), 0);
	assert_true(own[STORE_OWN_JOBS] == 24 && own[STORE_OWN_MONITOR] == 0);
	assert_true(begin <= midnight && begin > midnight - 30 * day);
	assert_in_range(rows_of("used"), 1, 2);
	check_used(s, 0, 1, 50);
	store_close(s);
}

static void a_speed_is_of_one_generation_and_one_way(void **state)
{
	struct store_measured m = { 7, 3, 2, STORE_BY_SHARE, 0, { -0.1, -0.2, 0.1 } }, got;
	struct store_measured turns = { 7, 3, 0, STORE_BY_TURNS, 55, { -0.3, -0.4, -0.2 } };
	struct store *s = open_store();
	struct err err;

	(void)state;
	assert_int_equal(store_measured_get(s, 7, 3, false, &got, &err), 0);
	assert_int_equal(store_measured_put(s, &turns, &err), 0);
	assert_int_equal(store_measured_get(s, 7, 3, false, &got, &err), 0);
	assert_int_equal(store_measured_put(s, &m, &err), 0);
	m.shift.estimate = -0.15;
	assert_int_equal(store_measured_put(s, &m, &err), 0);
	assert_int_equal(store_measured_get(s, 7, 3, false, &got, &err), 1);
	assert_true(got.by == STORE_BY_SHARE && got.before == 2 && got.shift.low == -0.2 &&
		    got.shift.estimate == -0.15 && got.shift.high == 0.1);
	assert_int_equal(store_measured_get(s, 7, 3, true, &got, &err), 1);
	assert_true(got.by == STORE_BY_TURNS && got.kind == 55 && got.shift.high == -0.2);
	assert_int_equal(store_measured_forget(s, 7, 3, &err), 0);	/* not that in turns */
	assert_int_equal(store_measured_get(s, 7, 3, false, &got, &err), 0);
	assert_int_equal(store_measured_get(s, 7, 3, true, &got, &err), 1);
	assert_int_equal(store_measured_get(s, 7, 4, false, &got, &err), 0);
	store_close(s);
}

static void impossible_rows_are_refused(void **state)
{
	static const char *const bad[] = {
		"how = 0", "how = 4", "before = 3", "low = 9e999", "high = -65", "kind = -1",
	};
	struct store_measured m = { 7, 3, 2, STORE_BY_SHARE, 0, { -0.1, -0.2, 0.1 } };
	char text[64];
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct store *s = open_store();

		assert_int_equal(store_measured_put(s, &m, &err), 0);
		(void)snprintf(text, sizeof(text), "UPDATE measured SET %s", bad[i]);
		sql(text);
		if (store_measured_get(s, 7, 3, false, &m, &err) != -1)
			fail_msg("%s", bad[i]);
		store_close(s);
		m = (struct store_measured){ 7, 3, 2, STORE_BY_SHARE, 0, { -0.1, -0.2, 0.1 } };
	}
	struct store *s = open_store();
	struct store_used *u;
	double own[STORE_NOWN];
	uint64_t begin;
	uint32_t n;

	use(s, 7, noon, (struct store_used){ 2, false, STORE_KIND_OBSERVED, 1, 10, 0 });
	assert_int_equal(store_own_add(s, STORE_OWN_JOBS, noon, 1, &err), 0);
	sql("UPDATE used SET module_s = -1; UPDATE own SET what = 99");
	assert_int_equal(store_used_get(s, 7, 0, &u, &n, &err), -1);
	assert_int_equal(store_own_get(s, 0, own, &begin, &err), -1);
	store_close(s);
}

/* --- what a spool file tells --- */

enum { KNOWN_KIND = 42, NEW_KIND = 43 };

static void add_uses(struct store *s, int64_t module, uint32_t generation, bool live,
		     uint32_t kind, const char *key)
{
	struct attribute_use u = { .module = (uint64_t)module, .generation = generation,
				   .live = live, .kind = kind,
				   .sums = { .module_s = 3, .rest_s = 5, .samples = 800,
					     .rest_samples = 500 } };
	struct attribution a = { .nuse = 1, .use = &u };
	struct store_fading fading = { .span_s = 60, .half_life_s = 3600, .observe_s = 10,
				       .begun_ns = noon };
	struct err err;

	if (store_add_attribution(s, key, &a, (struct bytes){ 0 }, &fading, &err) < 0)
		fail_msg("%s", err.text);
}

static void use_counts_where_it_can_be_compared_with_before(void **state)
{
	struct store_module m = module_at("/usr/bin/perl", 1);
	struct store *s = open_store();
	struct store_used *u;
	struct err err;
	uint32_t n;

	(void)state;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	add_uses(s, m.id, 0, false, KNOWN_KIND, "1");
	assert_int_equal(store_used_get(s, m.id, 0, &u, &n, &err), 0);
	assert_int_equal(n, 0);				/* of the original nothing is kept */
	free(u);
	m.generation = 1;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	add_uses(s, m.id, 1, false, KNOWN_KIND, "2");
	add_uses(s, m.id, 1, false, NEW_KIND, "3");
	/* known by now, but not of before */
	add_uses(s, m.id, 1, false, NEW_KIND, "3 again");
	add_uses(s, m.id, 1, true, NEW_KIND, "4");
	assert_int_equal(store_used_get(s, m.id, noon, &u, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_true(u[0].kind == STORE_KIND_OTHER && u[0].module_s == 6 && u[0].rest_s == 10);
	assert_true(u[1].kind == STORE_KIND_OBSERVED && u[1].module_s == 3);
	assert_true(u[2].live && u[2].kind == NEW_KIND);
	free(u);
	/* another one is there: what goes on with the old one is compared with nothing */
	m.generation = 2;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	add_uses(s, m.id, 1, false, KNOWN_KIND, "5");
	assert_int_equal(store_used_get(s, m.id, noon, &u, &n, &err), 0);
	assert_true(n == 3 && u[0].kind == STORE_KIND_OTHER && u[0].module_s == 9);
	free(u);
	/* what counts is no layout */
	struct store_generation g = { .module = m.id, .number = 2, .state = STATE_INSTALLED };
	const struct store_profile none = { 0 };
	memset(g.digest.b, 2, sizeof(g.digest.b));
	assert_int_equal(store_generation_add(s, &g, (struct bytes){ 0 }, &none, &err), 0);
	const struct store_counting c = { .module = m.id, .generation = g.digest,
					  .begun_ns = 1 };
	assert_int_equal(store_counting_put(s, &c, &err), 0);
	add_uses(s, m.id, 2, false, KNOWN_KIND, "6");
	assert_int_equal(store_used_get(s, m.id, noon, &u, &n, &err), 0);
	assert_int_equal(n, 3);
	free(u);
	assert_int_equal(store_module_delete(s, m.id, &err), 0);
	assert_int_equal(store_used_get(s, m.id, 0, &u, &n, &err), 0);
	assert_int_equal(n, 0);
	free(u);
	store_close(s);
}

static void what_counting_costs_is_a_cost(void **state)
{
	struct store *s = open_store();
	double own[STORE_NOWN];
	uint64_t begin;
	struct err err;

	(void)state;
	assert_int_equal(store_counting_spend(s, 7, noon, 2.5, &err), 0);
	assert_int_equal(store_own_get(s, noon, own, &begin, &err), 0);
	assert_true(own[STORE_OWN_COUNTING] == 2.5);
	assert_int_equal(begin, noon - noon % hour);
	assert_int_equal(store_own_get(s, noon + hour, own, &begin, &err), 0);
	assert_true(own[STORE_OWN_COUNTING] == 0 && begin == 0);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(use_is_summed_by_hours),
		TEST(of_what_runs_a_few_kinds_are_told_apart),
		TEST(what_is_old_is_kept_by_days_and_then_by_thirty),
		TEST(a_speed_is_of_one_generation_and_one_way),
		TEST(impossible_rows_are_refused),
		TEST(use_counts_where_it_can_be_compared_with_before),
		TEST(what_counting_costs_is_a_cost),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
