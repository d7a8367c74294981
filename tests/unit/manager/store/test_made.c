/* test_made.c - code made at run time in the store: added up, told apart, faded, bounded */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "manager/store/store_made.h"
#include "manager/store/store_ran.h"
#include "tests/unit/storefixture.h"

enum { ANNA = 1000, BEN = 1001, HALF_LIFE_S = 100 };

/* A spool file that covers `span_s` has brought it. */
static void add_all(struct store *s, struct attribution *a, double span_s)
{
	static unsigned k;
	struct store_fading fading = { span_s, HALF_LIFE_S, 600, 0 };
	char key[32];
	struct err err;

	(void)snprintf(key, sizeof(key), "file %u", ++k);
	if (store_add_attribution(s, key, a, (struct bytes){ 0 }, &fading, &err) < 0)
		fail_msg("%s", err.text);
	attribution_free(a);
}

static void add(struct store *s, const char *program, const char *name, uint32_t uid,
		uint64_t samples)
{
	struct attribution a = { 0 };

	attribution_made(&a, program, name, uid, samples);
	add_all(s, &a, 0);
}

static char told[1 << 16];

static bool tell(void *ctx, const struct store_made *m)
{
	size_t n = strlen(told);

	(void)ctx;
	(void)snprintf(told + n, sizeof(told) - n, "%s|%s|%.2f\n", m->program, m->name,
		       m->samples);
	return true;
}

static void expect(struct store *s, int64_t uid, const char *want)
{
	struct err err;

	told[0] = '\0';
	if (store_made_each(s, uid, tell, NULL, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(told, want);
}

static void users_are_told_apart(void **state)
{
	struct store *s = open_store();

	(void)state;
	add(s, "/usr/bin/node", "run", ANNA, 5);
	add(s, "/usr/bin/node", "", ANNA, 2);
	add(s, "/usr/bin/node", "run", BEN, 1);
	add(s, "/usr/bin/node", "run", ANNA, 3);
	add(s, "/usr/bin/node", "stop", BEN, 4);
	add(s, "/usr/bin/java", "run", BEN, 6);
	add(s, "", "", MADESET_NOBODY, 9);
	expect(s, STORE_MADE_ALL, "||9.00\n/usr/bin/node||2.00\n/usr/bin/node|run|9.00\n"
	       "/usr/bin/node|stop|4.00\n/usr/bin/java|run|6.00\n");
	expect(s, ANNA, "/usr/bin/node||2.00\n/usr/bin/node|run|8.00\n");
	expect(s, BEN, "/usr/bin/node|run|1.00\n/usr/bin/node|stop|4.00\n"
	       "/usr/bin/java|run|6.00\n");
	expect(s, 7, "");
	store_close(s);
	s = open_store();
	expect(s, BEN, "/usr/bin/node|run|1.00\n/usr/bin/node|stop|4.00\n"
	       "/usr/bin/java|run|6.00\n");
	store_close(s);
}

static void samples_fade_while_the_program_runs(void **state)
{
	struct store *s = open_store();
	struct attribution a = { 0 };

	(void)state;
	add(s, "/usr/bin/node", "run", ANNA, 8);
	add(s, "/usr/bin/java", "run", ANNA, 8);
	attribution_made(&a, "/usr/bin/node", "new", BEN, 1);
	attribution_made(&a, "/usr/bin/node", "other", BEN, 1);
	add_all(s, &a, HALF_LIFE_S);
	expect(s, STORE_MADE_ALL, "/usr/bin/node|new|1.00\n/usr/bin/node|other|1.00\n"
	       "/usr/bin/node|run|4.00\n/usr/bin/java|run|8.00\n");
	attribution_made(&a, "/usr/bin/node", "new", BEN, 1);
	add_all(s, &a, 9 * HALF_LIFE_S);	/* of 4, and of 1, hardly anything is left */
	expect(s, STORE_MADE_ALL, "/usr/bin/node|new|1.00\n/usr/bin/java|run|8.00\n");
	store_close(s);
}

struct sum {
	uint32_t rows, programs;
	double named, unnamed, nobody;
	char last[128];
};

static bool sum_up(void *ctx, const struct store_made *m)
{
	struct sum *sum = ctx;

	sum->rows++;
	sum->programs += strcmp(sum->last, m->program) != 0;
	(void)snprintf(sum->last, sizeof(sum->last), "%s", m->program);
	*(*m->name ? &sum->named : *m->program ? &sum->unnamed : &sum->nobody) += m->samples;
	return true;
}

static struct sum sum_of(struct store *s)
{
	struct sum sum = { 0 };
	struct err err;

	assert_int_equal(store_made_each(s, STORE_MADE_ALL, sum_up, &sum, &err), 0);
	return sum;
}

static void the_smallest_names_lose_theirs(void **state)
{
	struct store *s = open_store();
	struct attribution a = { 0 };
	uint32_t users = 0;
	struct err err;
	char name[32];

	(void)state;
	for (int i = 0; i < STORE_MADE_ROWS + 10; i++) {
		(void)snprintf(name, sizeof(name), "f%d", i);
		attribution_made(&a, "/usr/bin/node", name, ANNA, i < 10 ? 1 : 3);
	}
	add_all(s, &a, 0);
	struct sum sum = sum_of(s);
	assert_int_equal(sum.rows, STORE_MADE_ROWS + 1);
	assert_true(sum.named == 3 * STORE_MADE_ROWS && sum.unnamed == 10);
	add(s, "/usr/bin/node", "f0", ANNA, 2);		/* not enough now */
	add(s, "/usr/bin/node", "f1", ANNA, 5);
	sum = sum_of(s);
	assert_int_equal(sum.rows, STORE_MADE_ROWS + 1);
	assert_true(sum.named == 3 * STORE_MADE_ROWS + 2 && sum.unnamed == 15);
	/* so do users who are many */
	for (uint32_t uid = 0; uid < 2 * STORE_MADE_ROWS; uid++)
		attribution_made(&a, "/usr/bin/java", "", 5000 + uid, 1);
	add_all(s, &a, 0);
	for (uint32_t uid = 0; uid < 2 * STORE_MADE_ROWS; uid++) {
		told[0] = '\0';
		assert_int_equal(store_made_each(s, 5000 + uid, tell, NULL, &err), 0);
		users += told[0] != '\0';
	}
	assert_int_equal(users, STORE_MADE_ROWS);
	store_close(s);
}

static void the_smallest_programs_become_none(void **state)
{
	struct store *s = open_store();
	struct attribution a = { 0 };
	char path[32];

	(void)state;
	for (int i = 0; i < STORE_MADE_PROGRAMS + 10; i++) {
		(void)snprintf(path, sizeof(path), "/usr/bin/p%d", i);
		attribution_made(&a, path, i % 2 ? "run" : "", ANNA, i < 10 ? 1 : 3);
	}
	add_all(s, &a, 0);
	struct sum sum = sum_of(s);
	assert_int_equal(sum.programs, STORE_MADE_PROGRAMS);	/* "" comes first: uncounted */
	assert_true(sum.nobody == 10 && sum.named + sum.unnamed == 3 * STORE_MADE_PROGRAMS);
	store_close(s);
}

static void what_is_forgotten_is_gone(void **state)
{
	struct store *s = open_store();
	struct store_module m = module_at("/usr/bin/node", 1);
	struct err err;

	(void)state;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	add(s, "/usr/bin/node", "run", ANNA, 5);
	add(s, "/usr/bin/java", "run", ANNA, 5);
	assert_int_equal(store_ran_thin(s, store_now_ns(), &err), 0);
	expect(s, ANNA, "/usr/bin/node|run|5.00\n/usr/bin/java|run|5.00\n");
	assert_int_equal(store_module_delete(s, m.id, &err), 0);
	expect(s, ANNA, "/usr/bin/java|run|5.00\n");
	store_close(s);
}

/* Before there were names, programs alone: in state, and never less than the counter. */
/* The store's form before the table was there. */
#define OLDER "DROP TABLE made; ALTER TABLE counting DROP COLUMN ended_ns; " \
	      "PRAGMA user_version = 33"

static void an_older_store_is_taken_over(void **state)
{
	struct store *s = open_store();
	struct err err;

	(void)state;
	assert_int_equal(store_counter_add(s, COUNTER_ANON, 12, &err), 0);
	store_close(s);
	/* others 0, two names: /usr/bin/node 5, /usr/bin/java 3 */
	sql("INSERT INTO state(name, value) VALUES('makers', x'0002"
	    "2f7573722f62696e2f6e6f64650005"
	    "2f7573722f62696e2f6a6176610003'); " OLDER);
	s = open_store();
	expect(s, STORE_MADE_ALL, "||4.00\n/usr/bin/node||5.00\n/usr/bin/java||3.00\n");
	store_close(s);
	s = open_store();
	expect(s, STORE_MADE_ALL, "||4.00\n/usr/bin/node||5.00\n/usr/bin/java||3.00\n");
	store_close(s);
	sql(OLDER);			/* it had no such list */
	s = open_store();
	expect(s, STORE_MADE_ALL, "||12.00\n");
	store_close(s);
}

static void damage_is_seen(void **state)
{
	struct store *s = open_store();
	struct err err;

	(void)state;
	add(s, "/usr/bin/node", "run", ANNA, 5);
	store_close(s);
	sql("UPDATE made SET samples = -1");
	s = open_store();
	assert_int_equal(store_made_each(s, STORE_MADE_ALL, tell, NULL, &err), -1);
	assert_non_null(strstr(err.text, "made"));
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(users_are_told_apart),
		TEST(samples_fade_while_the_program_runs),
		TEST(the_smallest_names_lose_theirs),
		TEST(the_smallest_programs_become_none),
		TEST(what_is_forgotten_is_gone),
		TEST(an_older_store_is_taken_over),
		TEST(damage_is_seen),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
