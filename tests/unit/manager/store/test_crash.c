/* Crashes in the store: by module, generation and user, so many of each and no more. */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/err.h"
#include "manager/store/store.h"
#include "policy/blame.h"

static char dir[64];

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/var/tmp/morph-store-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static struct store *open_store(void)
{
	struct err err = { 0 };
	struct store *s = store_open(dir, &err);

	assert_string_equal(err.text, "");
	assert_non_null(s);
	return s;
}

static void add(struct store *s, int64_t module, uint32_t generation, uint32_t uid, int n)
{
	struct err err;

	for (int i = 0; i < n; i++)
		assert_int_equal(store_crash_add(s, module, generation, uid, &err), 0);
}

static void crashes_are_counted_by_user(void **state)
{
	struct store *s = open_store();
	struct blame_user *u;
	struct err err;
	uint32_t n;

	(void)state;
	add(s, 1, 2, 1000, 3);
	add(s, 1, 0, 1000, 5);
	add(s, 1, 1, 1000, 7);			/* an older generation's */
	add(s, 1, 0, 33, 1);
	add(s, 1, 2, BLAME_NOBODY, 1);
	add(s, 9, 2, 1000, 11);			/* another module's */
	store_close(s);
	s = open_store();
	assert_int_equal(store_crash_users(s, 1, 2, 0, &u, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_int_equal(u[0].uid, 33);
	assert_true(u[0].deaths == 0 && u[0].deaths_before == 1);
	assert_int_equal(u[1].uid, 1000);
	assert_true(u[1].deaths == 3 && u[1].deaths_before == 5);
	assert_int_equal(u[2].uid, BLAME_NOBODY);
	assert_true(u[2].deaths == 1 && u[2].deaths_before == 0);
	free(u);
	assert_int_equal(store_crash_users(s, 1, 2, store_now_ns() + 1000000000, &u, &n, &err),
			 0);
	assert_int_equal(n, 0);
	free(u);
	store_close(s);
}

static void nobody_fills_the_place_of_others(void **state)
{
	struct store *s = open_store();
	struct blame_user *u;
	struct err err;
	uint32_t n;

	(void)state;
	add(s, 1, 2, 0, 1);
	assert_int_equal(store_begin(s, &err), 0);
	add(s, 1, 2, 1000, 3 * STORE_CRASHES_MAX);
	add(s, 1, 0, 1000, 2 * STORE_CRASHES_MAX);
	assert_int_equal(store_commit(s, &err), 0);
	assert_int_equal(store_crash_users(s, 1, 2, 0, &u, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_true(u[0].uid == 0 && u[0].deaths == 1);
	assert_true(u[1].deaths == STORE_CRASHES_MAX &&
		    u[1].deaths_before == STORE_CRASHES_MAX);
	free(u);
	store_close(s);
}

/* What was counted before were signals of all kinds, by nobody in particular. */
static void older_ones_are_forgotten(void **state)
{
	struct store *s = open_store();
	struct blame_user *u;
	struct err err;
	char path[96];
	sqlite3 *db;
	uint32_t n;

	(void)state;
	store_close(s);
	(void)snprintf(path, sizeof(path), "%s/morph.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "DROP TABLE space; DROP TABLE contributor;"
			     "DROP TABLE counting; DROP TABLE counted;"
			     "DROP TABLE count_spent; DROP TABLE live; DROP TABLE turns;"
			     "DROP TABLE signature; DROP TABLE legacy;"
			     "DROP TABLE inherited;"
			     "ALTER TABLE generation DROP COLUMN inherited;"
			     "DROP TABLE left_alone;"
			     "DROP TABLE epoch; DROP TABLE fleet; DROP TABLE used;"
			     "DROP TABLE measured; DROP TABLE own;"
			     "DROP TABLE program; DROP TABLE ran;"
			     "DROP TABLE place; DROP TABLE made;"
				      "DROP INDEX spent_uid;"
				      "ALTER TABLE spent DROP COLUMN uid;"
				      "ALTER TABLE spent DROP COLUMN bytes;"
				      "ALTER TABLE crash DROP COLUMN uid;"
				      "INSERT INTO crash(module, generation, time_ns)"
				      " VALUES(1, 2, 3);"
				      "PRAGMA user_version = 17", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	s = open_store();
	assert_int_equal(store_crash_users(s, 1, 2, 0, &u, &n, &err), 0);
	assert_int_equal(n, 0);
	free(u);
	store_close(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(crashes_are_counted_by_user),
		TEST(nobody_fills_the_place_of_others),
		TEST(older_ones_are_forgotten),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
