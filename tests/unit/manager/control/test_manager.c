/* test_manager.c - the Manager's loop: whoever changes large files over and over, or floods it
 * with requests, holds up nobody else
 *
 * What is measured are bytes that were read and the order of answers; the clock is the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/err.h"
#include "manager/control/watch.h"
#include "manager/parent/role.h"
#include "manager/work/lookwait.h"
#include "tests/unit/daemon.h"

enum { SIZE = 32 << 20, SLICES = SIZE / DIGEST_SLICE };

static const char policy[] = "modules:\n  include: [\"@/*\"]\nidle:\n  check_s: 3600\n";

/* A sparse program that belongs to a user, and is a module. */
static void add_program(struct daemon *d, const char *name, char path[96])
{
	struct store_module m = { .owner = DAEMON_NOBODY };

	(void)snprintf(path, 96, "%s/%s", d->dir, name);
	daemon_write(path, "\177ELF");
	assert_int_equal(truncate(path, SIZE), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(path, DAEMON_NOBODY, DAEMON_NOBODY), 0);
	(void)snprintf(m.path, sizeof(m.path), "%s", path);
	assert_int_equal(store_module_put(d->m.work.store, &m, NULL), 0);
}

static void change(const char *path)
{
	static uint8_t n;
	int fd = open(path, O_WRONLY);

	n++;
	assert_int_equal(pwrite(fd, &n, 1, 100), 1);
	assert_int_equal(close(fd), 0);
}

static struct store_module known(struct daemon *d, const char *path)
{
	struct store_module m = { 0 };

	assert_int_equal(store_module_by_path(d->m.work.store, path, &m, NULL), 1);
	return m;
}

static bool is_known(struct daemon *d, const char *path)
{
	struct store_module m = known(d, path);
	struct digest now;
	int fd = open(path, O_RDONLY);

	assert_int_equal(digest_fd(fd, &now, NULL), 0);
	close(fd);
	return digest_equal(&m.present, &now);
}

/* A request after which the manager watches its modules, as after any. */
static void begin_watching(struct daemon *d)
{
	static const char *const report[] = { "report" };
	int code;

	free(daemon_ask(d, geteuid() ? geteuid() : DAEMON_NOBODY + 1, 1, report, &code));
	daemon_now_ms += 60000;
}

/* The event is there before the clock goes on. */
static void round_at(struct daemon *d)
{
	daemon_look_at(d, daemon_now_ms + 2);
	manager_round(&d->m);
}

static void a_change_is_seen_when_it_has_settled(void **state)
{
	struct daemon d;
	char path[96];

	(void)state;
	daemon_open(&d, policy);
	add_program(&d, "big", path);
	begin_watching(&d);
	assert_int_equal(d.m.work.read_bytes, SIZE);
	change(path);
	round_at(&d);				/* takes the event */
	assert_int_equal(d.m.work.read_bytes, SIZE);
	daemon_now_ms += WATCH_SETTLE_MS;
	round_at(&d);
	assert_int_equal(d.m.work.read_bytes, 2 * SIZE);
	assert_true(is_known(&d, path));
	daemon_close(&d);
}

static void a_loop_of_changes_is_read_less_and_less(void **state)
{
	struct daemon d;
	char path[96];

	(void)state;
	daemon_open(&d, policy);
	add_program(&d, "big", path);
	begin_watching(&d);
	d.m.work.read_bytes = 0;
	for (int s = 0; s < 1200; s++) {		/* 20 minutes */
		change(path);
		round_at(&d);
		daemon_now_ms += 1000;
	}
	/* some at once, then after 2, 4, 8, ... 512 s: not 1200 times */
	assert_in_range(d.m.work.read_bytes, 5 * (uint64_t)SIZE,
			(10 + LOOKWAIT_FREE) * (uint64_t)SIZE);
	for (int i = 0; i < 10; i++) {			/* it is left alone: its turn comes */
		daemon_now_ms += LOOKWAIT_MOST_MS;
		round_at(&d);
	}
	assert_true(is_known(&d, path));
	daemon_close(&d);
}

static bool owes(const struct daemon *d, uint32_t uid)
{
	for (int i = 0; i < LOOKWAIT_OWNERS; i++) {
		const struct lookwait_bucket *b = &d->m.work.lookwait->owner[i];

		if (b->used && b->uid == uid)
			return b->spent > 0;
	}
	return false;
}

/* He has no files: what it costs to answer him is his all the same. */
static void what_an_answer_takes_is_the_askers(void **state)
{
	enum { ASKER = DAEMON_NOBODY + 1 };
	static const char *const report[] = { "report" };
	struct daemon d;
	int code;

	(void)state;
	daemon_open(&d, policy);
	for (int i = 0; i < 20000 && !owes(&d, ASKER); i++) {	/* of CPU time, at last a ms */
		free(daemon_ask(&d, ASKER, 1, report, &code));
		daemon_now_ms += 1000;
	}
	assert_true(owes(&d, ASKER));
	daemon_close(&d);
}

/* As many files as he likes. */
static void a_user_with_many_files_costs_no_more(void **state)
{
	struct daemon d;
	char path[20][96];

	(void)state;
	if (geteuid()) {
		print_message("# not root: no file of another user\n");
		skip();
	}
	daemon_open(&d, policy);
	for (int i = 0; i < 20; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "%d", i);
		add_program(&d, name, path[i]);
	}
	begin_watching(&d);
	for (int s = 0; s < 60; s++) {
		for (int i = 0; i < 20; i++)
			change(path[i]);
		round_at(&d);
		daemon_now_ms += 1000;
	}
	uint64_t most = LOOKWAIT_MOST + SIZE + 120ull * LOOKWAIT_PER_S;
	assert_in_range(d.m.work.read_bytes, LOOKWAIT_MOST / 2, most);
	/* What is root's does not wait for him. */
	char roots[96];
	add_program(&d, "root", roots);
	assert_int_equal(chown(roots, 0, 0), 0);
	d.m.work.read_bytes = 0;
	begin_watching(&d);
	assert_true(is_known(&d, roots));
	daemon_close(&d);
}

/* --- what the parent says meanwhile --- */

static void (*own_pass)(void *ctx);
static struct daemon *told;
static enum msg_type what;

/* It says that while a slice is read, and nothing more after that. */
static void pass_and_tell(void *ctx)
{
	struct msg m = { .type = what };

	if (what && msg_send(told->parent, &m, NULL) == 0)
		what = 0;
	told->m.ask.pass = own_pass;
	own_pass(ctx);
}

/* Whoever waited for the next look would do what he was told an hour later. */
static void what_is_told_during_a_look_is_not_waited_with(void **state)
{
	static const enum msg_type all[] = { MSG_STOP, MSG_RELOAD };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct daemon d;
		char path[96];

		daemon_open(&d, policy);
		add_program(&d, "big", path);
		begin_watching(&d);
		change(path);
		round_at(&d);
		daemon_now_ms += WATCH_SETTLE_MS;
		told = &d;
		what = all[i];
		own_pass = d.m.ask.pass;
		d.m.ask.pass = pass_and_tell;
		daemon_look_at(&d, daemon_now_ms + 3000);
		uint64_t begun_ms = role_now_ms();
		manager_round(&d.m);
		assert_true(d.m.ask.stop || d.m.ask.reload);
		assert_in_range(role_now_ms() - begun_ms, 0, 2000);
		daemon_close(&d);
	}
}

/* --- others are served meanwhile --- */

static struct daemon *served;
static int reader;
static uint64_t answered_at;		/* bytes that had been read by then; 0: not yet */

static void pass_and_look(void *ctx)
{
	char c;

	own_pass(ctx);
	if (!answered_at && recv(reader, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 1)
		answered_at = served->m.work.read_bytes;
}

static void requests_are_answered_between_slices(void **state)
{
	static const char *const list[] = { "list" };
	struct wr answer = { 0 };
	struct daemon d;
	char path[96];

	(void)state;
	daemon_open(&d, policy);
	add_program(&d, "big", path);
	begin_watching(&d);
	change(path);
	round_at(&d);
	daemon_now_ms += WATCH_SETTLE_MS;
	served = &d;
	own_pass = d.m.ask.pass;
	d.m.ask.pass = pass_and_look;
	d.m.work.read_bytes = answered_at = 0;
	reader = daemon_send(&d, geteuid() ? geteuid() : DAEMON_NOBODY, 1, list);
	daemon_look_at(&d, daemon_now_ms + 2);
	manager_round(&d.m);			/* the look, all of it */
	assert_int_equal(d.m.work.read_bytes, SIZE);
	assert_in_range(answered_at, DIGEST_SLICE, SIZE / 2);
	daemon_receive(&d, reader, &answer);
	wr_free(&answer);
	daemon_close(&d);
}

/* Which of the connections has its whole answer: rounds until one has. */
static int next_answered(struct daemon *d, int *fd, int n)
{
	uint8_t buf[4096];

	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < n; i++)
			while (fd[i] >= 0) {
				ssize_t k = recv(fd[i], buf, sizeof(buf), MSG_DONTWAIT);

				if (k < 0)
					break;
				if (k > 0)
					continue;
				close(fd[i]);
				fd[i] = -1;
				return i;
			}
		round_at(d);
	}
	fail_msg("no answer");
	return -1;
}

static void roots_requests_do_not_wait_for_users(void **state)
{
	static const char *const report[] = { "report" };
	struct daemon d;
	int fd[13];

	(void)state;
	if (geteuid()) {
		print_message("# not root: nobody is trusted\n");
		skip();
	}
	daemon_open(&d, policy);
	for (int i = 0; i < 12; i++)		/* three users with all that each may have */
		fd[i] = daemon_send(&d, (uid_t)(DAEMON_NOBODY + i / 4), 1, report);
	for (int i = 0; i < 2; i++)
		round_at(&d);			/* one of them is answered, the rest wait */
	assert_true(d.m.queue.n >= 8);
	fd[12] = daemon_send(&d, 0, 1, report);
	bool seen = false;
	for (int i = 0; i < 4 && !seen; i++)
		seen = next_answered(&d, fd, 13) == 12;
	assert_true(seen);
	while (d.m.queue.n)
		round_at(&d);
	for (int i = 0; i < 12; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	daemon_close(&d);
}

/* A long read of a user's file gives way to root, and is made up for. */
static void a_long_read_gives_way_to_root(void **state)
{
	static const char *const look[] = { "report" };
	struct daemon d;
	char path[96];
	int fd;

	(void)state;
	if (geteuid()) {
		print_message("# not root: nobody is trusted\n");
		skip();
	}
	daemon_open(&d, policy);
	add_program(&d, "big", path);
	begin_watching(&d);
	change(path);
	round_at(&d);
	daemon_now_ms += WATCH_SETTLE_MS;
	d.m.work.read_bytes = 0;
	fd = daemon_send(&d, 0, 1, look);
	round_at(&d);
	assert_in_range(d.m.work.read_bytes, DIGEST_SLICE, SIZE / 2);
	assert_int_equal(next_answered(&d, &fd, 1), 0);
	assert_false(is_known(&d, path));
	for (int i = 0; i < 10; i++) {
		daemon_now_ms += 2 * LOOKWAIT_LEAST_MS;
		round_at(&d);
	}
	assert_true(is_known(&d, path));
	daemon_close(&d);
}

static char *ask(struct daemon *d, const char *command, const char *path)
{
	const char *argv[] = { command, path };
	int code;

	daemon_now_ms += 1000;
	return daemon_ask(d, geteuid() ? geteuid() : DAEMON_NOBODY, 2, argv, &code);
}

/* Undo is for when things go wrong: it does not wait because somebody changes the file. */
static void undo_waits_for_nothing(void **state)
{
	struct daemon d;
	char path[96];

	(void)state;
	daemon_open(&d, policy);
	add_program(&d, "big", path);
	begin_watching(&d);
	for (int i = 0; i < 40; i++) {
		change(path);
		round_at(&d);
		daemon_now_ms += 1000;
	}
	change(path);
	char *text = ask(&d, "reoptimize", path);
	assert_non_null(strstr(text, "its turn comes"));
	free(text);
	text = ask(&d, "restore", path);
	assert_null(strstr(text, "its turn comes"));
	assert_non_null(strstr(text, "is the original already"));
	assert_true(is_known(&d, path));
	free(text);
	daemon_close(&d);
}

/* Whose a file is is known before it is read again. */
static void a_file_that_waits_is_already_its_new_owners(void **state)
{
	struct daemon d;
	char path[96];

	(void)state;
	if (geteuid()) {
		print_message("# not root: nobody else can own it\n");
		skip();
	}
	daemon_open(&d, policy);
	add_program(&d, "big", path);
	begin_watching(&d);
	for (int i = 0; i < 40; i++) {
		change(path);
		round_at(&d);
		daemon_now_ms += 1000;
	}
	assert_int_equal(chown(path, DAEMON_NOBODY + 1, DAEMON_NOBODY), 0);
	char *text = ask(&d, "reoptimize", path);
	assert_non_null(strstr(text, "that is yours"));
	free(text);
	assert_int_equal(known(&d, path).owner, DAEMON_NOBODY + 1);
	assert_false(is_known(&d, path));
	daemon_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_is_seen_when_it_has_settled),
		cmocka_unit_test(a_loop_of_changes_is_read_less_and_less),
		cmocka_unit_test(what_an_answer_takes_is_the_askers),
		cmocka_unit_test(a_user_with_many_files_costs_no_more),
		cmocka_unit_test(what_is_told_during_a_look_is_not_waited_with),
		cmocka_unit_test(requests_are_answered_between_slices),
		cmocka_unit_test(roots_requests_do_not_wait_for_users),
		cmocka_unit_test(a_long_read_gives_way_to_root),
		cmocka_unit_test(undo_waits_for_nothing),
		cmocka_unit_test(a_file_that_waits_is_already_its_new_owners),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
