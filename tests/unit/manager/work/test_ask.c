/* test_ask.c - questions to a parent made up here: its answers, its lies, and its end */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/err.h"
#include "manager/work/ask.h"

/* --- the parent --- */

static struct {
	int sock, file;
	struct msg asked;		/* the last request */
	struct msg first, reply;	/* sent for it, in this order; MSG_NONE: not */
	bool ends;			/* instead of an answer */
	int turns;
	char named[128];		/* what NAME has told, a word each, before that */
} parent;

static void turn(void *ctx)
{
	struct ask *a = ctx;
	struct err err;

	assert_true(++parent.turns < 10);
	if (msg_receive(parent.sock, MSG_ROLE_MANAGER, MSG_ROLE_PARENT, &parent.asked, &err) ==
	    1) {
		msg_close_fds(&parent.asked);
		if (parent.asked.type == MSG_NAME) {	/* no reply */
			size_t n = strlen(parent.named);

			(void)snprintf(parent.named + n, sizeof(parent.named) - n, "%.60s ",
				       parent.asked.text);
			return;
		}
		if (parent.ends)
			shutdown(parent.sock, SHUT_RDWR);
		if (parent.first.type)
			assert_int_equal(msg_send(parent.sock, &parent.first, &err), 0);
		parent.reply.serial += parent.asked.serial;
		if (parent.reply.type)
			assert_int_equal(msg_send(parent.sock, &parent.reply, &err), 0);
	}
	if (ask_receive(a, &err) < 0)
		a->stop = true;
}

static void replies(enum err_kind status, const char *text, int nfd)
{
	parent.reply = (struct msg){ .type = MSG_REPLY, .nfd = nfd };
	parent.reply.num[MSG_REPLY_status] = status;
	parent.reply.num[MSG_REPLY_cpu_ms] = 40;
	strcpy(parent.reply.text, text);
	for (int i = 0; i < nfd; i++)
		parent.reply.fd[i] = parent.file;
}

static int setup(void **state)
{
	static struct ask a;
	int pair[2];

	memset(&parent, 0, sizeof(parent));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return -1;
	parent.sock = pair[0];
	parent.file = memfd_create("test", MFD_CLOEXEC);
	a = (struct ask){ .sock = pair[1], .turn = turn, .ctx = &a };
	*state = &a;
	return 0;
}

static int teardown(void **state)
{
	struct ask *a = *state;

	close(a->sock);
	close(parent.sock);
	close(parent.file);
	return 0;
}

/* The first descriptor that is free: no other way tells that none was left open. */
static int next_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* --- the tests --- */

static void an_answer_brings_its_descriptor_and_what_it_cost(void **state)
{
	struct ask *a = *state;
	struct err err;

	replies(ERR_NONE, "", 1);
	int fd = ask_open_file(a, "/usr/bin/perl", &err);
	assert_true(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
	assert_int_equal(parent.asked.type, MSG_OPEN_FILE);
	assert_string_equal(parent.asked.text, "/usr/bin/perl");
	assert_int_equal(a->job_cpu_ms, 40);
	close(fd);
	replies(ERR_NONE, "", 1);
	fd = ask_open_policy(a, &err);
	assert_true(fd >= 0);
	assert_int_equal(a->job_cpu_ms, 80);
	close(fd);
}

static void what_jobs_cost_is_told_by_what_they_are_for(void **state)
{
	static const struct { enum job_kind kind; enum ask_cost cost;
	} t[] = {
		{ JOB_ANALYZE, ASK_ANALYSES }, { JOB_OPTIMIZE, ASK_LAYOUTS },
		{ JOB_COUNTS, ASK_LAYOUTS }, { JOB_VERIFY, ASK_PROOFS },
		{ JOB_INTERPRET, ASK_REGISTERS }, { JOB_SYMBOLS, ASK_OTHERS },
	};
	const struct ask_limits limits = { 100, 10 };
	int none;
	struct ask *a = *state;
	struct err err;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct ask_job job = { .kind = t[i].kind };
		uint64_t before = a->cost_ms[t[i].cost];

		replies(ERR_NONE, "", 0);
		assert_int_equal(ask_run_job(a, &job, &limits, &none, 0, &err), 0);
		assert_int_equal(a->cost_ms[t[i].cost], before + 40);
		assert_int_equal(a->job_cpu_ms, 40 * (i + 1));
	}
	replies(ERR_REFUSED, "", 0);
	assert_int_equal(ask_check(a, "/usr/bin/su", NULL, true, &err), -1);
	assert_int_equal(a->cost_ms[ASK_PROOFS], 80);
}

static void that_jobs_cannot_be_run_is_known_until_one_is(void **state)
{
	const struct ask_job job = { .kind = JOB_ANALYZE };
	const struct ask_limits limits = { 100, 10 };
	struct ask *a = *state;
	struct err err;
	int none;

	replies(ERR_SYS, "no library", 0);
	parent.reply.num[MSG_REPLY_exit_code] = JOB_NOT_RUN;
	assert_int_equal(ask_run_job(a, &job, &limits, &none, 0, &err), -1);
	assert_int_equal(err.kind, ERR_SYS);
	assert_string_equal(a->not_run, "no library");
	replies(ERR_REFUSED, "", 0);
	assert_int_equal(ask_check(a, "/usr/bin/su", NULL, true, &err), -1);
	assert_string_equal(a->not_run, "no library");	/* that was none */
	replies(ERR_INPUT, "a bad file", 0);
	assert_int_equal(ask_run_job(a, &job, &limits, &none, 0, &err), -1);
	assert_string_equal(a->not_run, "");
}

static void a_refusal_is_told_as_it_is(void **state)
{
	struct ask *a = *state;
	struct err err = { 0 };

	replies(ERR_REFUSED, "it is set-user-id", 0);
	assert_int_equal(ask_check(a, "/usr/bin/su", NULL, true, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_string_equal(err.text, "it is set-user-id");
	assert_int_equal(parent.asked.num[MSG_CHECK_hard_links], 1);
	assert_int_equal(a->job_cpu_ms, 40);	/* what was refused has cost as well */
}

static void names_are_told_before_the_question(void **state)
{
	struct ask *a = *state;
	struct names names = { 0 };
	struct err err = { 0 };

	assert_int_equal(names_add(&names, "/usr/bin/perl5.36.0"), 0);
	assert_int_equal(names_add(&names, "/usr/lib/perl"), 0);
	replies(ERR_NONE, "/usr/lib/perl\n", 0);
	assert_int_equal(ask_check(a, "/usr/bin/perl", &names, false, &err), 0);
	assert_string_equal(parent.named, "/usr/bin/perl5.36.0 /usr/lib/perl ");
	assert_int_equal(parent.asked.type, MSG_CHECK);
	assert_string_equal(parent.asked.text, "/usr/bin/perl");
	assert_string_equal(a->reply.text, "/usr/lib/perl\n");
}

static void descriptors_that_nobody_wants_are_closed(void **state)
{
	static const int wrong[] = { 0, 2, 4 };
	struct ask *a = *state;
	struct err err = { 0 };
	int before = next_fd();

	for (int i = 0; i < 3; i++) {
		replies(ERR_NONE, "", wrong[i]);
		assert_int_equal(ask_open_file(a, "/x", &err), -1);
		assert_non_null(strstr(err.text, "OPEN_FILE was answered with"));
	}
	replies(ERR_REFUSED, "no", 1);		/* a refusal has none either */
	assert_int_equal(ask_open_file(a, "/x", &err), -1);
	assert_int_equal(next_fd(), before);
}

static void an_answer_to_another_question_is_none(void **state)
{
	struct ask *a = *state;
	struct err err;
	int before = next_fd();

	replies(ERR_NONE, "", 1);
	parent.first = parent.reply;
	parent.first.serial = 4711;
	int fd = ask_open_file(a, "/x", &err);
	assert_int_equal(fd, before);		/* the first one's was closed */
	close(fd);
	assert_int_equal(next_fd(), before);
}

static void what_the_parent_tells_meanwhile_is_kept(void **state)
{
	struct ask *a = *state;
	struct err err;

	replies(ERR_NONE, "", 0);
	parent.first = (struct msg){ .type = MSG_ROLES };
	parent.first.num[MSG_ROLES_monitor_pid] = 77;
	assert_int_equal(ask_check(a, "/x", NULL, false, &err), 0);
	assert_int_equal(a->roles.num[MSG_ROLES_monitor_pid], 77);
	replies(ERR_NONE, "", 0);
	parent.first = (struct msg){ .type = MSG_CRASHED_TOLD };
	assert_int_equal(ask_check(a, "/x", NULL, false, &err), 0);
	assert_true(a->crashed && !a->reload && !a->stop);
	replies(ERR_NONE, "", 0);
	parent.first = (struct msg){ .type = MSG_RELOAD };
	assert_int_equal(ask_check(a, "/x", NULL, false, &err), 0);
	assert_true(a->reload);
}

static void the_end_of_the_parent_ends_what_is_asked(void **state)
{
	struct ask *a = *state;
	struct err err;

	parent.ends = true;
	assert_int_equal(ask_check(a, "/x", NULL, false, &err), -1);
	assert_string_equal(err.text, "morphd is stopping");
	assert_true(a->stop && !a->waiting);
	int turns = parent.turns;
	/* nothing is sent any more */
	assert_int_equal(ask_check(a, "/x", NULL, false, &err), -1);
	assert_int_equal(parent.turns, turns);
}

static void it_can_be_told_to_stop_while_it_waits(void **state)
{
	struct ask *a = *state;
	struct err err;

	parent.first = (struct msg){ .type = MSG_STOP };
	assert_int_equal(ask_check(a, "/x", NULL, false, &err), -1);
	assert_string_equal(err.text, "morphd is stopping");
}

static void states_may_come_with_the_spool_or_not(void **state)
{
	struct ask *a = *state;
	struct err err;
	int fd = 99;

	replies(ERR_NONE, "", 0);
	assert_int_equal(ask_sync(a, &fd, &err), 0);
	assert_int_equal(fd, -1);
	replies(ERR_NONE, "", 1);
	assert_int_equal(ask_sync(a, &fd, &err), 0);
	assert_true(fd >= 0);
	close(fd);
}

static void a_path_that_fits_no_message_is_refused_here(void **state)
{
	struct ask *a = *state;
	static char path[MSG_MAX_TEXT + 2];
	struct err err;

	memset(path, 'x', sizeof(path) - 1);
	assert_int_equal(ask_check(a, path, NULL, false, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_int_equal(parent.turns, 0);
}

/* What the monitor tells may come as fast as it is read. */
static void a_flood_leaves_others_their_turn(void **state)
{
	struct ask *a = *state;
	struct msg roles = { .type = MSG_ROLES };
	struct err err;

	for (unsigned i = 1; i <= 100; i++) {
		roles.num[MSG_ROLES_manager_starts] = i;
		assert_int_equal(msg_send(parent.sock, &roles, &err), 0);
	}
	assert_int_equal(ask_receive(a, &err), 0);
	assert_in_range(a->roles.num[MSG_ROLES_manager_starts], 1, 99);
	assert_int_equal(ask_receive(a, &err), 0);
	assert_int_equal(a->roles.num[MSG_ROLES_manager_starts], 100);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_flood_leaves_others_their_turn),
		TEST(an_answer_brings_its_descriptor_and_what_it_cost),
		TEST(what_jobs_cost_is_told_by_what_they_are_for),
		TEST(that_jobs_cannot_be_run_is_known_until_one_is),
		TEST(a_refusal_is_told_as_it_is),
		TEST(names_are_told_before_the_question),
		TEST(descriptors_that_nobody_wants_are_closed),
		TEST(an_answer_to_another_question_is_none),
		TEST(what_the_parent_tells_meanwhile_is_kept),
		TEST(the_end_of_the_parent_ends_what_is_asked),
		TEST(it_can_be_told_to_stop_while_it_waits),
		TEST(states_may_come_with_the_spool_or_not),
		TEST(a_path_that_fits_no_message_is_refused_here),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
