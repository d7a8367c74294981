/* test_damaged.c - a database that SQLite calls damaged: noticed, kept under another name */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/store/store.h"

static char dir[64];

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/var/tmp/morph-damaged-XXXXXX");
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

static void a_damaged_database_is_set_aside(void **state)
{
	char kept[PATH_MAX], path[96];
	struct err err = { 0 };

	(void)state;
	for (int n = 1; n <= 11; n++) {
		(void)snprintf(path, sizeof(path), "%s/morph.db-wal", dir);
		int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		assert_int_equal(write(fd, "log", 3), 3);
		close(fd);
		(void)snprintf(path, sizeof(path), "%s/morph.db", dir);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		assert_int_equal(write(fd, path, sizeof(path)), sizeof(path));
		close(fd);
		assert_null(store_open(dir, &err));
		assert_int_equal(err.kind, ERR_INPUT);
		if (store_set_aside(dir, kept, &err) < 0)
			fail_msg("%d: %s", n, err.text);
		(void)snprintf(path, sizeof(path), "%s/morph.db.damaged-%d", dir,
			       n < 9 ? n : 9);
		assert_string_equal(kept, path);
		assert_int_equal(access(path, F_OK), 0);
		(void)snprintf(path, sizeof(path), "%s/morph.db-wal", dir);
		assert_int_equal(access(path, F_OK), -1);
		struct store *s = open_store();
		assert_false(store_is_damaged(s));
		store_close(s);
	}
}

static bool none(void *ctx, const struct store_event *e)
{
	(void)ctx;
	(void)e;
	return true;
}

static void damage_is_noticed_in_use(void **state)
{
	char path[96], text[4000], junk[4096];

	(void)state;
	struct store *s = open_store();
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(store_begin(s, NULL), 0);
	for (int i = 0; i < 3000; i++)		/* more than is kept in memory */
		assert_int_equal(store_history_add(s, "/some/path", "e", text, NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	store_close(s);
	s = open_store();
	assert_int_equal(store_history_each(s, NULL, 1, none, NULL, NULL), 0);
	(void)snprintf(path, sizeof(path), "%s/morph.db", dir);
	int fd = open(path, O_WRONLY);
	memset(junk, 0x5a, sizeof(junk));
	for (off_t at = 1 << 20; at < 3 << 20; at += sizeof(junk))
		assert_int_equal(pwrite(fd, junk, sizeof(junk), at), sizeof(junk));
	close(fd);
	assert_false(store_is_damaged(s));
	assert_int_equal(store_history_each(s, NULL, 3000, none, NULL, NULL), -1);
	assert_true(store_is_damaged(s));
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_damaged_database_is_set_aside, setup,
						teardown),
		cmocka_unit_test_setup_teardown(damage_is_noticed_in_use, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
