/* test_runs.c - time of processes goes to their kinds, and runs end where processes do */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "lib/err.h"
#include "manager/samples/runs.h"
#include "manager/samples/space.h"
#include "monitor/spool.h"

enum { PERIOD = 4000000 };

static struct spaces *s;
static struct runs *r;

static int setup(void **state)
{
	(void)state;
	s = spaces_new(NULL);
	r = runs_new(s);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	runs_free(r);
	spaces_free(s);
	return 0;
}

static void event(struct spool_event ev)
{
	runs_event(r, &ev, PERIOD);
	spaces_event(s, &ev);
}

static void map(uint32_t pid, uint64_t addr, uint64_t inode, const char *path)
{
	struct spool_event ev = { .kind = SPOOL_MMAP, .pid = pid, .tid = pid };

	ev.mmap.addr = addr;
	ev.mmap.len = 0x1000;
	ev.mmap.inode = inode;
	ev.mmap.path = path;
	event(ev);
}

static void plain(enum spool_kind kind, uint32_t pid)
{
	event((struct spool_event){ .kind = kind, .pid = pid, .tid = pid });
}

static void forked(uint32_t parent, uint32_t pid)
{
	struct spool_event ev = { .kind = SPOOL_FORK, .pid = pid, .tid = pid };

	ev.fork.parent_pid = parent;
	event(ev);
}

/* A shell, whose file is 0. */
static void shell(uint32_t pid)
{
	plain(SPOOL_EXEC, pid);
	map(pid, 0x1000, 1, "/bin/sh");
}

/* Started by `parent`: the program, 1, and a library, 2. */
static void program(uint32_t parent, uint32_t pid)
{
	forked(parent, pid);
	plain(SPOOL_EXEC, pid);
	map(pid, 0x1000, 2, "/bin/prog");
	map(pid, 0x2000, 3, "/lib/libx");
}

static void samples(uint32_t pid, uint32_t file, int n)
{
	while (n--)
		runs_sample(r, pid, file);
}

static const struct runs_use *use_of(uint32_t file, uint32_t exe, uint32_t from)
{
	uint32_t n;
	const struct runs_use *u = runs_of(r, file, &n);

	for (uint32_t i = 0; i < n; i++)
		if (u[i].exe == exe && u[i].from == from)
			return &u[i];
	return NULL;
}

static void check_use(uint32_t file, uint32_t exe, uint32_t from, uint64_t in, uint64_t rest,
		      uint64_t run, uint32_t runs)
{
	const struct runs_use *u = use_of(file, exe, from);

	assert_non_null(u);
	assert_int_equal(u->module_ns, in * PERIOD);
	assert_int_equal(u->rest_ns, rest * PERIOD);
	assert_int_equal(u->samples, in + rest);
	assert_int_equal(u->rest_samples, rest);
	assert_int_equal(u->run_ns, run * PERIOD);
	assert_int_equal(u->runs, runs);
}

static void time_is_in_a_file_or_in_the_rest(void **state)
{
	(void)state;
	shell(10);
	for (uint32_t pid = 20; pid < 23; pid++) {
		program(10, pid);
		samples(pid, 1, 5);
		samples(pid, 2, 3);
		samples(pid, RUNS_NO_FILE, 2);
		plain(SPOOL_EXIT, pid);
	}
	samples(10, 0, 4);
	runs_flush(r, PERIOD);
	runs_sort(r);
	check_use(1, 1, 0, 15, 15, 30, 3);
	check_use(2, 1, 0, 9, 21, 30, 3);
	check_use(0, 0, RUNS_NO_FILE, 4, 0, 0, 0);	/* the shell goes on */
	uint32_t n;
	(void)runs_of(r, 77, &n);
	assert_int_equal(n, 0);
}

static void who_started_it_makes_a_kind(void **state)
{
	(void)state;
	shell(10);
	program(10, 20);
	program(20, 21);		/* by itself */
	samples(20, 2, 1);
	samples(21, 2, 7);
	plain(SPOOL_EXIT, 20);
	plain(SPOOL_EXIT, 21);
	runs_sort(r);
	check_use(2, 1, 0, 1, 0, 1, 1);
	check_use(2, 1, 1, 7, 0, 7, 1);
}

/* Short ones count, though nobody met them. */
static void a_run_without_samples_is_a_run(void **state)
{
	(void)state;
	shell(10);
	program(10, 20);
	plain(SPOOL_EXIT, 20);
	program(10, 20);
	samples(20, 1, 1);
	plain(SPOOL_EXIT, 20);
	runs_sort(r);
	check_use(1, 1, 0, 1, 0, 1, 2);
}

static void an_exec_ends_a_run_and_a_fork_is_none(void **state)
{
	(void)state;
	shell(10);
	samples(10, 0, 3);
	forked(10, 11);
	samples(11, 0, 2);
	plain(SPOOL_EXIT, 11);		/* no run: its program began elsewhere */
	plain(SPOOL_EXEC, 10);
	runs_sort(r);
	check_use(0, 0, RUNS_NO_FILE, 5, 0, 3, 1);
}

static int move_row(void *ctx, uint32_t pid, struct bytes row, struct err *err)
{
	return row.p ? spaces_load_row(ctx, pid, row, err) : 0;
}

/* Over the ends of spool files and of the daemon. */
static void a_run_may_take_long(void **state)
{
	struct wr w = { 0 };
	struct err err;

	(void)state;
	shell(10);
	program(10, 20);
	samples(20, 1, 8);
	runs_flush(r, PERIOD);
	runs_sort(r);
	check_use(1, 1, 0, 8, 0, 0, 0);
	runs_clear(r);
	struct spaces *t = spaces_new(NULL);
	spaces_save(s, &w);
	assert_int_equal(spaces_load(t, wr_bytes(&w), &err), 0);
	assert_int_equal(spaces_changes(s, move_row, t, &err), 0);
	wr_free(&w);
	runs_free(r);
	spaces_free(s);
	s = t;
	r = runs_new(s);
	samples(20, 1, 1);
	plain(SPOOL_EXIT, 20);
	runs_sort(r);
	for (uint32_t file = 0; file < spaces_nfile(s); file++)	/* their numbers are new */
		if (strcmp(spaces_file(s, file)->path, "/bin/prog") == 0) {
			uint32_t n;
			const struct runs_use *u = runs_of(r, file, &n);

			assert_int_equal(n, 1);
			assert_string_equal(spaces_file(s, u->from)->path, "/bin/sh");
			assert_int_equal(u->runs, 1);
			assert_int_equal(u->run_ns, 9 * PERIOD);
			assert_int_equal(u->module_ns, 1 * PERIOD);
			return;
		}
	fail_msg("the program is gone");
}

/* Who was there before us began we do not know when. */
static void a_run_not_seen_from_its_beginning_is_none(void **state)
{
	(void)state;
	map(30, 0x1000, 9, "/bin/daemon");
	samples(30, 0, 6);
	plain(SPOOL_EXIT, 30);
	runs_sort(r);
	check_use(0, 0, RUNS_NO_FILE, 6, 0, 0, 0);
}

/* A number that comes again brings nothing along, whatever was unmapped meanwhile. */
static void numbers_of_processes_come_again(void **state)
{
	(void)state;
	shell(10);
	for (int i = 0; i < 3000; i++) {
		program(10, 20 + (uint32_t)i % 50);
		samples(20 + (uint32_t)i % 50, 2, 2);
		map(20 + (uint32_t)i % 50, 0x2000, 4, "/lib/liby");	/* over the library */
		samples(20 + (uint32_t)i % 50, 1, 1);
		plain(SPOOL_EXIT, 20 + (uint32_t)i % 50);
	}
	program(10, 20);
	samples(20, 2, 1);
	plain(SPOOL_EXIT, 20);
	runs_sort(r);
	check_use(1, 1, 0, 3000, 6001, 9001, 3001);
	check_use(3, 1, 0, 0, 9000, 9000, 3000);
	check_use(2, 1, 0, 1, 0, 1, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(time_is_in_a_file_or_in_the_rest),
		TEST(who_started_it_makes_a_kind),
		TEST(a_run_without_samples_is_a_run),
		TEST(an_exec_ends_a_run_and_a_fork_is_none),
		TEST(a_run_may_take_long),
		TEST(a_run_not_seen_from_its_beginning_is_none),
		TEST(numbers_of_processes_come_again),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
