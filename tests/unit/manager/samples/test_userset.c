/* test_userset.c - whose samples they are, of processes that still run, that have ended, and
 * that are too many */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "manager/samples/userset.h"
#include "monitor/spool.h"

enum { ANNA = 1000, BEN, SHELL = 50, LOGIN = 60, TOOL = 7, LIB = 9 };

/* What the system says: by process, a user; 0 is root. */
static struct { uint32_t pid, uid; bool there; } running[8];

static int whose(void *ctx, uint32_t pid, uint64_t before_ns, uint32_t *uid)
{
	(void)ctx;
	(void)before_ns;
	for (int i = 0; i < 8; i++)
		if (running[i].there && running[i].pid == pid) {
			*uid = running[i].uid;
			return 1;
		}
	return pid == 99 ? 0 : -1;		/* 99: there, and not to be told */
}

static void runs(int i, uint32_t pid, uint32_t uid)
{
	running[i].pid = pid;
	running[i].uid = uid;
	running[i].there = true;
}

static struct userset *u;

static int begin(void **state)
{
	const struct userset_source source = { whose, NULL };

	(void)state;
	for (int i = 0; i < 8; i++)
		running[i].there = false;
	u = userset_new(&source);
	return 0;
}

static int end(void **state)
{
	(void)state;
	userset_free(u);
	return 0;
}

static void forks(uint32_t parent, uint32_t pid)
{
	struct spool_event ev = { .kind = SPOOL_FORK, .pid = pid, .tid = pid,
				  .fork.parent_pid = parent };

	userset_event(u, &ev);
}

static void exits(uint32_t pid)
{
	struct spool_event ev = { .kind = SPOOL_EXIT, .pid = pid, .tid = pid };

	userset_event(u, &ev);
}

static void samples(uint32_t pid, uint32_t file, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		userset_sample(u, pid, file, 5);
}

static uint32_t of(uint32_t file, uint32_t uid)
{
	uint32_t n, sum = 0;
	const struct userset_use *use = userset_of(u, file, &n);

	for (uint32_t i = 0; i < n; i++)
		if (use[i].uid == uid)
			sum += use[i].samples;
	return sum;
}

static void who_still_runs_is_asked_about(void **state)
{
	(void)state;
	runs(0, 10, ANNA);
	runs(1, 11, BEN);
	runs(2, 12, USERSET_SYSTEM);
	samples(10, TOOL, 3);
	samples(11, TOOL, 4);
	samples(12, TOOL, 5);
	samples(10, LIB, 6);
	samples(99, LIB, 7);
	userset_flush(u);
	assert_int_equal(of(TOOL, ANNA), 3);
	assert_int_equal(of(TOOL, BEN), 4);
	assert_int_equal(of(TOOL, USERSET_SYSTEM), 5);
	assert_int_equal(of(LIB, ANNA), 6);
	assert_int_equal(of(LIB, USERSET_UNKNOWN), 7);
	assert_int_equal(of(8, ANNA), 0);
	userset_clear(u);
	userset_flush(u);
	assert_int_equal(of(TOOL, ANNA), 0);
}

/* A shell that is known starts tools that nobody has the time to ask about. */
static void short_processes_are_of_who_started_them(void **state)
{
	(void)state;
	runs(0, SHELL, ANNA);
	forks(SHELL, 100);
	samples(100, TOOL, 3);
	exits(100);
	userset_flush(u);
	assert_int_equal(of(TOOL, USERSET_UNKNOWN), 3);		/* not known yet */
	userset_clear(u);
	forks(SHELL, 101);
	forks(101, 102);			/* and what those start */
	samples(101, TOOL, 3);
	samples(102, TOOL, 4);
	exits(101);
	exits(102);
	userset_flush(u);
	assert_int_equal(of(TOOL, ANNA), 7);
}

static void children_of_root_may_be_anybody(void **state)
{
	(void)state;
	runs(0, LOGIN, USERSET_SYSTEM);
	forks(LOGIN, 100);
	userset_flush(u);
	userset_clear(u);
	forks(LOGIN, 101);
	samples(101, TOOL, 3);
	exits(101);
	userset_flush(u);
	assert_int_equal(of(TOOL, USERSET_UNKNOWN), 3);
	assert_int_equal(of(TOOL, USERSET_SYSTEM), 0);
}

/* As a login does: asked about again, it is somebody else's. */
static void who_becomes_another_user_is_that_one(void **state)
{
	(void)state;
	runs(0, LOGIN, USERSET_SYSTEM);
	samples(LOGIN, TOOL, 1);
	userset_flush(u);
	assert_int_equal(of(TOOL, USERSET_SYSTEM), 1);
	userset_clear(u);
	runs(0, LOGIN, BEN);
	samples(LOGIN, TOOL, 2);
	userset_flush(u);
	assert_int_equal(of(TOOL, BEN), 2);
}

/* A number that comes again is another process. */
static void a_number_that_comes_again_is_not_the_old_one(void **state)
{
	(void)state;
	runs(0, SHELL, ANNA);
	samples(SHELL, TOOL, 1);
	userset_flush(u);
	userset_clear(u);
	exits(SHELL);
	running[0].there = false;
	samples(SHELL, TOOL, 2);
	userset_flush(u);
	assert_int_equal(of(TOOL, ANNA), 0);
	assert_int_equal(of(TOOL, USERSET_UNKNOWN), 2);
	userset_clear(u);
	runs(0, SHELL, ANNA);			/* whose end was lost: a fork tells it */
	samples(SHELL, TOOL, 1);
	userset_flush(u);
	userset_clear(u);
	running[0].there = false;
	samples(SHELL, TOOL, 1);
	forks(77, SHELL);
	samples(SHELL, TOOL, 2);
	userset_flush(u);
	assert_int_equal(of(TOOL, ANNA), 1);
	assert_int_equal(of(TOOL, USERSET_UNKNOWN), 2);
}

static void after_a_boot_nobody_is_known(void **state)
{
	(void)state;
	runs(0, SHELL, ANNA);
	samples(SHELL, TOOL, 1);
	userset_flush(u);
	userset_clear(u);
	userset_forget(u);
	forks(SHELL, 100);
	samples(100, TOOL, 1);
	exits(100);
	userset_flush(u);
	assert_int_equal(of(TOOL, USERSET_UNKNOWN), 1);
}

/* Numbers by chance, against a plain table. */
static void a_crowd_is_told_apart(void **state)
{
	static uint32_t uid_of[3000], expected[4][8];
	uint32_t seed = 1, total = 0;

	(void)state;
	for (int step = 0; step < 200000; step++) {
		seed = seed * 1103515245 + 12345;
		uint32_t pid = 100 + (seed >> 8) % 2900, what = seed >> 28;

		if (what == 0) {
			exits(pid);
			uid_of[pid] = 0;
		} else if (what == 1 && uid_of[pid] == 0) {
			/* a child of a shell that is known */
			runs(pid % 3, SHELL + pid % 3, 1 + pid % 3);
			if (step < 1000) {
				userset_sample(u, SHELL + pid % 3, 20, 5);
				userset_flush(u);
			}
			forks(SHELL + pid % 3, pid);
			uid_of[pid] = 1 + pid % 3;
		} else if (what > 12 && uid_of[pid]) {
			userset_sample(u, pid, seed >> 20 & 7, 5);
			expected[uid_of[pid]][seed >> 20 & 7]++;
			total++;
			exits(pid);
			uid_of[pid] = 0;
		}
	}
	assert_true(total > 5000);
	userset_flush(u);
	for (uint32_t uid = 1; uid <= 3; uid++)
		for (uint32_t file = 0; file < 8; file++)
			assert_int_equal(of(file, uid), expected[uid][file]);
}

static void what_is_too_much_is_of_nobody(void **state)
{
	(void)state;
	runs(0, 10, ANNA);
	for (uint32_t pid = 1000; pid < 201000; pid++)
		userset_sample(u, pid, TOOL, 5);
	userset_sample(u, 10, LIB, 5);
	userset_flush(u);
	assert_int_equal(of(TOOL, ANNA), 0);
	assert_true(of(TOOL, USERSET_UNKNOWN) > 1000);
	for (uint32_t file = 0; file < 200000; file++)
		userset_sample(u, 10, file, 5);		/* and it comes to an end */
	userset_flush(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_still_runs_is_asked_about, begin, end),
		cmocka_unit_test_setup_teardown(short_processes_are_of_who_started_them, begin,
						end),
		cmocka_unit_test_setup_teardown(children_of_root_may_be_anybody, begin, end),
		cmocka_unit_test_setup_teardown(who_becomes_another_user_is_that_one, begin,
						end),
		cmocka_unit_test_setup_teardown(a_number_that_comes_again_is_not_the_old_one,
						begin, end),
		cmocka_unit_test_setup_teardown(after_a_boot_nobody_is_known, begin, end),
		cmocka_unit_test_setup_teardown(a_crowd_is_told_apart, begin, end),
		cmocka_unit_test_setup_teardown(what_is_too_much_is_of_nobody, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
