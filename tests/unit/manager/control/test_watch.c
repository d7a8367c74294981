/* test_watch.c - a file that is touched is told once for each look, however often that is */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fcntl.h>
#include <cmocka.h>

#include "manager/control/watch.h"

enum { NOW = 70000 };

static char dir[] = "/var/tmp/morph-watch-XXXXXX", path[2][64];
static struct watch *w;

static int begin(void **state)
{
	(void)state;
	(void)strcpy(dir + strlen(dir) - 6, "XXXXXX");
	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 2; i++) {
		(void)snprintf(path[i], sizeof(path[i]), "%s/%d", dir, i);
		close(open(path[i], O_WRONLY | O_CREAT, 0600));
	}
	w = watch_new();
	assert_non_null(w);
	assert_true(watch_add(w, path[0]));
	assert_true(watch_add(w, path[1]));
	assert_false(watch_add(w, path[1]));
	return 0;
}

static int end(void **state)
{
	(void)state;
	watch_free(w);
	(void)unlink(path[0]);
	(void)unlink(path[1]);
	return rmdir(dir);
}

static void touch(const char *p)
{
	assert_int_equal(utimensat(AT_FDCWD, p, NULL, 0), 0);
}

static void who_is_touched_is_due_when_it_has_settled(void **state)
{
	char p[PATH_MAX];

	(void)state;
	assert_true(watch_due_ms(w) == UINT64_MAX);
	touch(path[0]);
	watch_read(w, NOW);
	assert_int_equal(watch_due_ms(w), NOW + WATCH_SETTLE_MS);
	assert_false(watch_next(w, NOW + WATCH_SETTLE_MS - 1, p));
	assert_true(watch_next(w, NOW + WATCH_SETTLE_MS, p));
	assert_string_equal(p, path[0]);
	assert_false(watch_next(w, UINT64_MAX - 1, p));
	assert_true(watch_add(w, path[0]));		/* is watched no more until then */
}

/* Ten thousand touches are one event to read, and put nothing off. */
static void a_loop_of_touches_costs_one_event(void **state)
{
	char p[PATH_MAX], buf[4096];

	(void)state;
	touch(path[0]);
	watch_read(w, NOW);
	for (int i = 0; i < 10000; i++) {
		touch(path[0]);
		watch_read(w, NOW + 500);
	}
	assert_int_equal(read(watch_fd(w), buf, sizeof(buf)), -1);
	assert_true(watch_next(w, NOW + WATCH_SETTLE_MS, p));
	assert_string_equal(p, path[0]);
	touch(path[1]);					/* the other one still is */
	watch_read(w, NOW + 2000);
	assert_int_equal(watch_due_ms(w), NOW + 2000 + WATCH_SETTLE_MS);
}

/* A touch sooner than what was put off does not bring it forward. */
static void what_has_to_wait_waits(void **state)
{
	char p[PATH_MAX];

	(void)state;
	watch_later(w, path[0], NOW + 60000);
	touch(path[0]);
	watch_read(w, NOW);
	assert_int_equal(watch_due_ms(w), NOW + 60000);
	assert_false(watch_next(w, NOW + 59999, p));
	assert_true(watch_next(w, NOW + 60000, p));
	watch_later(w, path[0], NOW + 70000);	/* not watched: remembered all the same */
	assert_true(watch_next(w, NOW + 70000, p));
	assert_string_equal(p, path[0]);
}

static void nothing_is_written_but_the_path(void **state)
{
	struct {
		char path[PATH_MAX], behind[8];
	} out;

	(void)state;
	memset(&out, 'x', sizeof(out));
	touch(path[0]);
	watch_read(w, NOW);
	assert_true(watch_next(w, NOW + WATCH_SETTLE_MS, out.path));
	assert_int_equal(out.path[PATH_MAX - 1], '\0');
	assert_memory_equal(out.behind, "xxxxxxxx", 8);
}

static void a_replaced_file_is_due(void **state)
{
	char p[PATH_MAX];

	(void)state;
	assert_int_equal(rename(path[1], path[0]), 0);
	watch_read(w, NOW);
	int n = 0;
	while (watch_next(w, NOW + WATCH_SETTLE_MS, p))
		n++;
	assert_int_equal(n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_is_touched_is_due_when_it_has_settled,
						begin, end),
		cmocka_unit_test_setup_teardown(a_loop_of_touches_costs_one_event, begin, end),
		cmocka_unit_test_setup_teardown(what_has_to_wait_waits, begin, end),
		cmocka_unit_test_setup_teardown(nothing_is_written_but_the_path, begin, end),
		cmocka_unit_test_setup_teardown(a_replaced_file_is_due, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
