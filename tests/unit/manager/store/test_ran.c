/* test_ran.c - samples by time, program and module: added up, made coarser, and bounded */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "manager/store/store_ran.h"
#include "tests/unit/storefixture.h"

static const uint64_t hour = UINT64_C(3600000000000), day = 24 * UINT64_C(3600000000000);
static const uint64_t midnight = UINT64_C(1795651200) * 1000000000;	/* 2026-11-26, UTC */

static void ran(struct store *s, uint64_t at_ns, const char *program, int64_t module,
		uint64_t samples)
{
	struct attribution a = { 0 };
	struct err err;

	attribution_ran(&a, program, &(struct attribute_ran){ (uint32_t)(at_ns / hour), NULL,
							      module, samples });
	if (store_ran_add(s, &a, &err) < 0)
		fail_msg("%s", err.text);
	attribution_free(&a);
}

struct seen {
	char text[1024];
	unsigned rows;
	uint64_t samples, begin_ns, end_ns;
};

static bool see(void *ctx, const struct store_ran *r)
{
	struct seen *seen = ctx;
	size_t n = strlen(seen->text);

	if (seen->rows++ < 8)
		(void)snprintf(seen->text + n, sizeof(seen->text) - n, "%s %lld %llu;",
			       r->program, (long long)r->module,
			       (unsigned long long)r->samples);
	seen->samples += r->samples;
	if (!seen->begin_ns || r->begin_ns < seen->begin_ns)
		seen->begin_ns = r->begin_ns;
	if (r->end_ns > seen->end_ns)
		seen->end_ns = r->end_ns;
	return true;
}

static struct seen look(struct store *s, uint64_t since_ns, uint64_t until_ns, bool programs)
{
	const struct store_ran_span span = { since_ns, until_ns, programs };
	struct seen seen = { .text = "" };
	struct err err;

	if (store_ran_each(s, &span, see, &seen, &err) < 0)
		fail_msg("%s", err.text);
	return seen;
}

static int64_t add_module(struct store *s, const char *path)
{
	struct store_module m = module_at(path, 1);
	struct err err;

	assert_int_equal(store_module_put(s, &m, &err), 0);
	return m.id;
}

static void samples_are_summed_by_hour_program_and_module(void **state)
{
	struct store *s = open_store();
	int64_t a = add_module(s, "/usr/bin/a");

	(void)state;
	assert_int_equal(a, 1);
	ran(s, midnight, "/usr/bin/a", a, 5);
	ran(s, midnight + 1, "/usr/bin/a", a, 2);
	ran(s, midnight + hour, "/usr/bin/a", a, 30);
	ran(s, midnight, "/usr/bin/b", a, 100);
	ran(s, midnight, "/usr/bin/a", -COUNTER_KERNEL, 1000);
	ran(s, midnight, "", -COUNTER_NOPROCESS, 4);
	struct seen all = look(s, 0, 0, true);
	assert_string_equal(all.text, " -6 4;/usr/bin/a -5 1000;/usr/bin/a 1 37;"
				      "/usr/bin/b 1 100;");
	assert_true(all.begin_ns == midnight && all.end_ns == midnight + 2 * hour);
	assert_string_equal(look(s, 0, 0, false).text, " -6 4; -5 1000; 1 137;");
	assert_string_equal(look(s, midnight + hour, 0, true).text, "/usr/bin/a 1 30;");
	assert_int_equal(look(s, midnight, midnight + hour, true).samples, 1111);
	assert_int_equal(look(s, midnight + 2 * hour, 0, true).rows, 0);
	/* only whole periods */
	assert_int_equal(look(s, midnight + 1, midnight + 2 * hour - 1, true).rows, 0);
	store_close(s);
}

/* It would take hours to look at each hour between. */
static void a_clock_that_was_set_costs_no_time(void **state)
{
	const uint32_t last = UINT32_MAX / 2;
	struct store *s = open_store();
	struct attribution a = { 0 };
	struct err err;

	(void)state;
	const struct attribute_ran first = { 1, NULL, -COUNTER_KERNEL, 5 },
				   then = { last, NULL, -COUNTER_KERNEL, 7 };
	attribution_ran(&a, "/usr/bin/a", &then);
	attribution_ran(&a, "/usr/bin/a", &first);
	assert_int_equal(store_ran_add(s, &a, &err), 0);
	attribution_free(&a);
	assert_int_equal(look(s, 0, 2 * hour, true).samples, 5);
	assert_int_equal(look(s, last * hour, 0, true).samples, 7);
	store_close(s);
}

static void a_module_that_is_not_there_is_none(void **state)
{
	struct store *s = open_store();
	struct err err;

	(void)state;
	int64_t a = add_module(s, "/usr/bin/a");
	ran(s, midnight, "/usr/bin/x", 99, 3);
	ran(s, midnight, "/usr/bin/x", a, 5);
	assert_string_equal(look(s, 0, 0, true).text, "/usr/bin/x -2 3;/usr/bin/x 1 5;");
	assert_int_equal(store_module_delete(s, a, &err), 0);
	assert_string_equal(look(s, 0, 0, true).text, "/usr/bin/x -2 8;");
	store_close(s);
}

static void what_is_old_is_kept_by_days_and_then_by_thirty(void **state)
{
	struct store *s = open_store();
	struct err err;

	(void)state;
	for (unsigned h = 0; h < 48; h++)
		ran(s, midnight + h * hour, "/usr/bin/a", -COUNTER_ANON, 1);
	uint64_t later = midnight + 10 * day;
	assert_int_equal(store_ran_unit_ns(midnight, midnight + 8 * day), hour);
	assert_int_equal(store_ran_unit_ns(midnight, later), day);
	assert_int_equal(store_ran_unit_ns(midnight + 2 * day, later), hour);
	assert_int_equal(store_ran_thin(s, midnight + 9 * day, &err), 0);
	assert_int_equal(look(s, midnight, midnight + hour, true).samples, 0);
	assert_int_equal(look(s, midnight, midnight + day, true).samples, 24);
	assert_int_equal(look(s, midnight + day, midnight + day + hour, true).samples, 1);
	ran(s, midnight, "/usr/bin/a", -COUNTER_ANON, 7);	/* late ones */
	ran(s, midnight + 3 * hour, "/usr/bin/a", -COUNTER_ANON, 9);
	ran(s, midnight + 3 * hour, "/usr/bin/late", -COUNTER_ANON, 2);
	for (int twice = 0; twice < 2; twice++)
		assert_int_equal(store_ran_thin(s, later, &err), 0);
	assert_string_equal(look(s, midnight, midnight + day, true).text,
			    "/usr/bin/a -3 40;/usr/bin/late -3 2;");
	assert_int_equal(store_ran_thin(s, midnight + 120 * day, &err), 0);
	struct seen all = look(s, 0, 0, true);
	assert_int_equal(all.samples, 66);
	assert_true(all.begin_ns <= midnight && all.begin_ns % (30 * day) == 0);
	assert_int_equal(store_ran_unit_ns(midnight, midnight + 120 * day), 30 * day);
	store_close(s);
}

static unsigned names(void)
{
	char path[96];
	sqlite3_stmt *q;
	sqlite3 *db;

	(void)snprintf(path, sizeof(path), "%s/morph.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM program", -1, &q, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	unsigned n = (unsigned)sqlite3_column_int(q, 0);
	(void)sqlite3_finalize(q);
	sqlite3_close(db);
	return n;
}

static void what_has_no_samples_any_more_has_no_name(void **state)
{
	struct store *s = open_store();
	struct err err;

	(void)state;
	ran(s, midnight, "/usr/bin/a", -COUNTER_ANON, 1);
	ran(s, midnight, "/usr/bin/b", -COUNTER_ANON, 1);
	store_close(s);
	assert_int_equal(names(), 2);
	sql("DELETE FROM ran WHERE program = (SELECT id FROM program WHERE path LIKE '%a')");
	s = open_store();
	assert_int_equal(store_ran_thin(s, midnight, &err), 0);
	store_close(s);
	assert_int_equal(names(), 1);
}

static void the_smallest_of_a_period_are_together(void **state)
{
	enum { MANY = 700 };
	struct store *s = open_store();
	struct attribution a = { 0 };
	int64_t module = add_module(s, "/usr/bin/a");
	struct err err;
	char name[32];

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		struct attribute_ran r = { (uint32_t)(midnight / hour), NULL,
					   i % 2 ? module : -COUNTER_KERNEL, 1 + i };

		(void)snprintf(name, sizeof(name), "/tmp/%u", i);
		attribution_ran(&a, name, &r);
	}
	assert_int_equal(store_ran_add(s, &a, &err), 0);
	struct seen all = look(s, 0, 0, true);
	assert_int_equal(all.samples, MANY * (MANY + 1) / 2);	/* none is lost */
	assert_int_equal(all.rows, STORE_RAN_ROWS + 2);
	/* 188 of them, 1 to 188 samples */
	assert_memory_equal(all.text, " -5 8836; -2 8930;/tmp/188 -5 189;", 34);
	attribution_free(&a);
	store_close(s);
}

static void what_cannot_be_is_damage(void **state)
{
	const struct store_ran_span span = { 0, 0, true };
	struct seen seen = { .text = "" };
	struct store *s = open_store();
	struct err err;

	(void)state;
	store_close(s);
	sql("INSERT INTO ran VALUES(5, 1, 0, -4711, 3)");
	s = open_store();
	assert_int_equal(store_ran_each(s, &span, see, &seen, &err), -1);
	assert_non_null(strstr(err.text, "ran"));
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(samples_are_summed_by_hour_program_and_module),
		TEST(a_clock_that_was_set_costs_no_time),
		TEST(a_module_that_is_not_there_is_none),
		TEST(what_is_old_is_kept_by_days_and_then_by_thirty),
		TEST(what_has_no_samples_any_more_has_no_name),
		TEST(the_smallest_of_a_period_are_together),
		TEST(what_cannot_be_is_damage),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
