/* The privileged parent's services: what a manager that has been taken over cannot get. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/digest.h"
#include "lib/err.h"
#include "manager/parent/counting.h"
#include "manager/parent/requests.h"
#include "manager/work/yield.h"

struct fixture {
	struct role_options options;
	struct requests requests;
	int sock;		/* the manager's end */
};

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int pair[2];

	if (!f || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) < 0)
		return -1;
	f->options.morph_edit = f->options.morph_verify = "/bin/false";
	f->options.policy = "/etc/passwd";	/* a regular file */
	f->options.folders = "/";
	f->requests.options = &f->options;
	f->requests.counting = counting_new();
	f->requests.originals_fd = f->requests.ledger_fd = -1;
	f->requests.reply_sock = pair[0];
	f->sock = pair[1];
	*state = f;
	return 0;
}

static int unmake(void **state)
{
	struct fixture *f = *state;

	requests_abort(&f->requests);
	counting_free(f->requests.counting);
	close(f->requests.reply_sock);
	close(f->sock);
	free(f);
	return 0;
}

static int request(struct fixture *f, enum msg_type type, const char *text, struct err *err)
{
	struct msg m = { .type = type, .serial = 9 };

	strcpy(m.text, text);
	return requests_take(&f->requests, &m, err);
}

/* The reply's status; its descriptors are closed and counted in *nfd. */
static int reply(struct fixture *f, int *nfd)
{
	struct msg m = { 0 };
	struct err err = { 0 };

	assert_int_equal(msg_receive(f->sock, MSG_ROLE_PARENT, MSG_ROLE_MANAGER, &m, &err), 1);
	assert_int_equal(m.type, MSG_REPLY);
	assert_int_equal(m.serial, 9);
	*nfd = m.nfd;
	msg_close_fds(&m);
	return (int)m.num[MSG_REPLY_status];
}

static void a_program_is_opened(void **state)
{
	struct err err;
	int nfd;

	assert_int_equal(request(*state, MSG_OPEN_FILE, "/proc/self/exe", &err), 0);
	assert_int_equal(reply(*state, &nfd), ERR_REFUSED);	/* a symbolic link */
	assert_int_equal(nfd, 0);
	char *self = realpath("/proc/self/exe", NULL);
	assert_int_equal(request(*state, MSG_OPEN_FILE, self, &err), 0);
	assert_int_equal(reply(*state, &nfd), ERR_NONE);
	assert_int_equal(nfd, 1);
	free(self);
}

static void nothing_but_programs_is_opened(void **state)
{
	static const char *const path[] = { "/etc/passwd", "/etc", "/dev/zero", "/dev/mem",
					    "/proc/kcore", "etc/passwd", "", "/nonexistent" };
	struct err err;
	int nfd;

	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
		assert_int_equal(request(*state, MSG_OPEN_FILE, path[i], &err), 0);
		assert_int_not_equal(reply(*state, &nfd), ERR_NONE);
		assert_int_equal(nfd, 0);
	}
}

static void a_policy_that_is_missing_is_said(void **state)
{
	struct fixture *f = *state;
	struct err err;
	int nfd;

	f->options.policy = "/nonexistent/morph.yaml";
	assert_int_equal(request(f, MSG_OPEN_POLICY, "", &err), 0);
	assert_int_equal(reply(f, &nfd), ERR_SYS);
	assert_int_equal(nfd, 0);
}

static void install_wants_a_sealed_file(void **state)
{
	struct fixture *f = *state;
	struct msg m = { .type = MSG_INSTALL, .text = "/bin/true", .nfd = 1 };
	struct err err;

	m.num[MSG_INSTALL_memory_mib] = 64;
	m.num[MSG_INSTALL_cpu_s] = 1;
	m.fd[0] = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(m.fd[0] >= 0);
	assert_int_equal(requests_take(&f->requests, &m, &err), -1);
	assert_non_null(strstr(err.text, "could still change"));
	requests_abort(&f->requests);
	m.nfd = 0;
	assert_int_equal(requests_take(&f->requests, &m, &err), -1);
}

/* A request to install something over this very program. */
static struct msg install_over_self(void)
{
	struct msg m = { .type = MSG_INSTALL, .serial = 9, .nfd = 1 };
	char *self = realpath("/proc/self/exe", NULL);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct err err;

	strcpy(m.text, self);
	free(self);
	assert_int_equal(digest_fd(fd, &m.digest[0], &err), 0);
	close(fd);
	m.digest[1] = m.digest[0];
	m.num[MSG_INSTALL_memory_mib] = 4096;
	m.num[MSG_INSTALL_cpu_s] = 10;
	m.fd[0] = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(
		fcntl(m.fd[0], F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), 0);
	return m;
}

static void the_proof_is_about_the_named_content(void **state)
{
	struct fixture *f = *state;
	struct msg m = install_over_self();
	struct err err;
	int nfd;

	m.digest[0].b[0] ^= 1;
	m.digest[1] = m.digest[0];
	assert_int_equal(requests_take(&f->requests, &m, &err), 0);
	assert_null(f->requests.job);
	assert_int_equal(reply(f, &nfd), ERR_REFUSED);
}

static int install_by(struct fixture *f, const char *verifier)
{
	struct msg m = install_over_self();
	struct pollfd p[2];
	struct err err;
	int nfd;

	f->options.morph_verify = verifier;
	assert_int_equal(requests_take(&f->requests, &m, &err), 0);
	assert_non_null(f->requests.job);
	while (f->requests.busy) {
		int timeout = requests_poll(&f->requests, p);

		(void)poll(p, 2, timeout);
		assert_int_equal(requests_step(&f->requests, &err), 0);
	}
	return reply(f, &nfd);
}

static void install_wants_a_proof(void **state)
{
	assert_int_equal(install_by(*state, "/bin/cat"), ERR_REFUSED);	/* which says why */
	assert_int_equal(install_by(*state, "/bin/false"), ERR_SYS);	/* cannot be run */
}

/* Asks for a job that never ends, this program by another name, and lets it take that much
 * CPU time.  The clock of one that has died stands still. */
static void start_spinning(struct fixture *f, uint64_t ms, bool background)
{
	struct msg m = { .type = MSG_RUN_JOB, .serial = 9, .nfd = 1 };
	struct timespec used = { 0 };
	struct err err = { 0 };
	clockid_t clock;

	f->options.morph_edit = "/proc/self/exe";
	m.num[MSG_RUN_JOB_kind] = JOB_ANALYZE;
	m.num[MSG_RUN_JOB_memory_mib] = 4096;
	m.num[MSG_RUN_JOB_cpu_s] = 60;
	m.num[MSG_RUN_JOB_background] = background;
	m.fd[0] = memfd_create("test", MFD_CLOEXEC);
	if (requests_take(&f->requests, &m, &err) < 0 || !f->requests.job)
		fail_msg("%s", err.text);
	assert_int_equal(clock_getcpuclockid(requests_job_pid(&f->requests), &clock), 0);
	while ((uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000 < ms) {
		siginfo_t dead = { 0 };

		(void)poll(NULL, 0, 5);
		assert_int_equal(clock_gettime(clock, &used), 0);
		assert_int_equal(waitid(P_PID, (id_t)requests_job_pid(&f->requests), &dead,
					WEXITED | WNOHANG | WNOWAIT), 0);
		assert_int_equal(dead.si_pid, 0);
	}
}

static uint64_t cpu_ms_told(struct fixture *f)
{
	struct msg m = { 0 };
	struct err err = { 0 };

	assert_int_equal(msg_receive(f->sock, MSG_ROLE_PARENT, MSG_ROLE_MANAGER, &m, &err), 1);
	msg_close_fds(&m);
	return m.num[MSG_REPLY_cpu_ms];
}

/* Under a limit of address space, which the sanitizers' shadow exceeds. */
static void a_job_that_is_given_up_has_cost_something(void **state)
{
#ifdef MORPH_SANITIZED
	skip();
#endif
	struct msg end = { .type = MSG_YIELD, .serial = 9, .num = { YIELD_GIVE_UP } };
	struct fixture *f = *state;
	struct err err = { 0 };

	start_spinning(f, 100, false);
	assert_int_equal(requests_yield(&f->requests, &end, &err), 0);
	assert_in_range(cpu_ms_told(f), 90, 60000);
	assert_int_equal(requests_job_pid(&f->requests), 0);
	/* When nobody is there to be told, the next one is. */
	start_spinning(f, 100, false);
	requests_abort(&f->requests);
	assert_int_equal(request(f, MSG_OPEN_POLICY, "", &err), 0);
	assert_in_range(cpu_ms_told(f), 90, 60000);
	assert_int_equal(request(f, MSG_OPEN_POLICY, "", &err), 0);
	assert_int_equal(cpu_ms_told(f), 0);
}

/* It may have ended by the time that the word about it comes. */
static void word_about_another_job_changes_nothing(void **state)
{
	struct msg end = { .type = MSG_YIELD, .serial = 9, .num = { YIELD_GIVE_UP } };
	struct fixture *f = *state;
	struct err err = { 0 };

	assert_int_equal(requests_yield(&f->requests, &end, &err), 0);
#ifndef MORPH_SANITIZED			/* as above */
	start_spinning(f, 10, false);
	end.serial = 8;
	assert_int_equal(requests_yield(&f->requests, &end, &err), 0);
	assert_int_not_equal(requests_job_pid(&f->requests), 0);
#endif
}

/* The job's part of what_is_asked_of_a_job_reaches_it(): into its first output. */
static int tell_arguments(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (dprintf(5, "%s ", argv[i]) < 0)
			return 1;
	return 0;
}

static void check_arguments(struct fixture *f, const char *want)
{
	struct msg m = { .type = MSG_RUN_JOB, .serial = 9, .nfd = 2, .text = "align,split" };
	struct err err = { 0 };
	struct pollfd p[2];
	char text[256] = "";

	f->options.morph_edit = "/proc/self/exe";
	m.num[MSG_RUN_JOB_kind] = JOB_OPTIMIZE;
	m.num[MSG_RUN_JOB_memory_mib] = 4096;
	m.num[MSG_RUN_JOB_cpu_s] = 60;
	m.num[MSG_RUN_JOB_a] = 77;
	m.num[MSG_RUN_JOB_b] = 4096;
	for (int i = 0; i < m.nfd; i++)
		m.fd[i] = memfd_create("test", MFD_CLOEXEC);
	assert_int_equal(requests_take(&f->requests, &m, &err), 0);
	while (f->requests.busy) {
		int timeout = requests_poll(&f->requests, p);

		(void)poll(p, 2, timeout);
		assert_int_equal(requests_step(&f->requests, &err), 0);
	}
	m = (struct msg){ 0 };
	assert_int_equal(msg_receive(f->sock, MSG_ROLE_PARENT, MSG_ROLE_MANAGER, &m, &err), 1);
	if (m.num[MSG_REPLY_status] != ERR_NONE)
		fail_msg("%s", m.text);
	assert_int_equal(m.nfd, 3);
	assert_true(pread(m.fd[0], text, sizeof(text) - 1, 0) > 0);
	assert_string_equal(text, want);
	msg_close_fds(&m);
}

static void what_is_asked_of_a_job_reaches_it(void **state)
{
#ifdef MORPH_SANITIZED			/* as above */
	skip();
#endif
	struct fixture *f = *state;

	check_arguments(f, "fd:3 --profile fd:4 -o fd:5 --map fd:6 --stats fd:7 "
			   "--generation=77 --passes=align,split --keep-pointers "
			   "--text-at=0x1000 ");
	for (int background = 0; background < 2; background++) {
		start_spinning(f, 1, background);
		assert_int_equal(sched_getscheduler(requests_job_pid(&f->requests)),
				 background ? SCHED_IDLE : SCHED_BATCH);
		requests_abort(&f->requests);
	}
}

static void wants_own_code(struct fixture *f, struct err *err)
{
	struct msg m = { .type = MSG_MADE_CODE, .serial = 9 };
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	m.num[MSG_MADE_CODE_pid] = (uint64_t)getpid();
	m.num[MSG_MADE_CODE_at_ns] = (uint64_t)now.tv_sec * 1000000000;
	m.num[MSG_MADE_CODE_max_bytes] = 4096;
	assert_int_equal(requests_take(&f->requests, &m, err), 0);
}

static void what_a_process_has_made_is_a_copy(void **state)
{
	struct fixture *f = *state;
	struct msg m = { 0 };
	struct pollfd wait[2];
	char path[64], got[8] = "", whose[16];
	struct err err = { 0 };

	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	(void)unlink(path);
	wants_own_code(f, &err);
	assert_true(f->requests.made.child > 0);
	requests_abort(&f->requests);			/* nobody waits for it any more */
	assert_int_equal(f->requests.made.child, 0);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_int_equal(write(fd, "0 1 f\n", 6), 6);
	close(fd);
	for (int i = 0; i < 100; i++) {		/* the one before is seen to have ended */
		wants_own_code(f, &err);
		if (f->requests.busy)
			break;
		assert_int_equal(msg_receive(f->sock, MSG_ROLE_PARENT, MSG_ROLE_MANAGER, &m,
					     &err), 1);
		(void)usleep(20000);
	}
	while (f->requests.busy) {
		int timeout = requests_poll(&f->requests, wait);

		assert_in_range(timeout, 0, 60000);
		(void)poll(wait, 2, timeout);
		assert_int_equal(requests_step(&f->requests, &err), 0);
	}
	assert_int_equal(msg_receive(f->sock, MSG_ROLE_PARENT, MSG_ROLE_MANAGER, &m, &err), 1);
	(void)snprintf(whose, sizeof(whose), "%u", (unsigned)getuid());
	assert_string_equal(m.text, whose);
	assert_int_equal(m.nfd, 1);
	assert_int_equal(read(m.fd[0], got, sizeof(got)), 6);
	assert_string_equal(got, "0 1 f\n");
	assert_int_equal(write(m.fd[0], got, 1), -1);
	msg_close_fds(&m);
	(void)unlink(path);
}

/* What reads it is nobody's but for the file: real, effective, saved. */
static void who_reads_it_is_of_the_jobs(void **state)
{
	struct fixture *f = *state;
	char path[64], status[2048] = "";
	struct err err = { 0 };
	siginfo_t ended;

	if (geteuid() != 0)
		skip();
	f->requests.job_user = (struct job_user){ true, 64003, 64004 };
	wants_own_code(f, &err);
	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)f->requests.made.child);
	assert_int_equal(waitid(P_PID, (id_t)f->requests.made.child, &ended, WEXITED | WNOWAIT),
			 0);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(read(fd, status, sizeof(status) - 1) > 0);
	close(fd);
	assert_non_null(strstr(status, "\nUid:\t64003\t0\t64003\t"));
	assert_non_null(strstr(status, "\nGid:\t64004\t0\t64004\t"));
	requests_abort(&f->requests);
}

static void a_second_request_at_a_time_is_a_lie(void **state)
{
	struct fixture *f = *state;
	struct err err;
	int nfd;

	assert_int_equal(request(f, MSG_SYNC, "", &err), 0);
	assert_int_equal(request(f, MSG_OPEN_POLICY, "", &err), -1);
	assert_int_equal(requests_synced(&f->requests, true, "", -1, &err), 0);
	assert_int_equal(reply(*state, &nfd), ERR_NONE);
	assert_int_equal(request(*state, MSG_OPEN_POLICY, "", &err), 0);
	assert_int_equal(reply(*state, &nfd), ERR_NONE);
	assert_int_equal(nfd, 1);
}

static void states_come_with_the_answer_to_a_sync(void **state)
{
	struct fixture *f = *state;
	struct err err;
	int nfd;

	for (int with = 0; with < 2; with++) {
		int fd = with ? memfd_create("states", MFD_CLOEXEC) : -1;

		assert_int_equal(request(f, MSG_SYNC, "", &err), 0);
		assert_int_equal(requests_synced(&f->requests, true, "", fd, &err), 0);
		assert_int_equal(reply(f, &nfd), ERR_NONE);
		assert_int_equal(nfd, with);
		if (with)
			close(fd);
	}
}

/* Ten minutes in which we were stopped say nothing about the monitor. */
static void a_monitor_is_not_silent_while_nobody_listens(void **state)
{
	struct fixture *f = *state;
	struct err err;
	int nfd;

	assert_int_equal(request(f, MSG_SYNC, "", &err), 0);
	f->requests.sync.seen_ms -= 600000;
	assert_int_equal(requests_step(&f->requests, &err), 0);
	assert_false(f->requests.monitor_silent);
	assert_true(f->requests.syncing);
	/* 30 s in which it is looked at */
	for (int i = 0; i < 30 && f->requests.syncing; i++) {
		f->requests.sync.seen_ms -= 1000;
		assert_int_equal(requests_step(&f->requests, &err), 0);
	}
	assert_true(f->requests.monitor_silent);
	assert_int_equal(reply(f, &nfd), ERR_SYS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_program_is_opened, make, unmake),
		cmocka_unit_test_setup_teardown(nothing_but_programs_is_opened, make, unmake),
		cmocka_unit_test_setup_teardown(a_policy_that_is_missing_is_said, make, unmake),
		cmocka_unit_test_setup_teardown(install_wants_a_sealed_file, make, unmake),
		cmocka_unit_test_setup_teardown(the_proof_is_about_the_named_content, make,
						unmake),
		cmocka_unit_test_setup_teardown(install_wants_a_proof, make, unmake),
		cmocka_unit_test_setup_teardown(a_job_that_is_given_up_has_cost_something, make,
						unmake),
		cmocka_unit_test_setup_teardown(word_about_another_job_changes_nothing, make,
						unmake),
		cmocka_unit_test_setup_teardown(what_is_asked_of_a_job_reaches_it, make,
						unmake),
		cmocka_unit_test_setup_teardown(what_a_process_has_made_is_a_copy, make,
						unmake),
		cmocka_unit_test_setup_teardown(who_reads_it_is_of_the_jobs, make, unmake),
		cmocka_unit_test_setup_teardown(a_second_request_at_a_time_is_a_lie, make,
						unmake),
		cmocka_unit_test_setup_teardown(a_monitor_is_not_silent_while_nobody_listens,
						make, unmake),
		cmocka_unit_test_setup_teardown(states_come_with_the_answer_to_a_sync, make,
						unmake),
	};

	while (strcmp(argv[0], "morph-edit") == 0)
		if (strcmp(argv[1], "optimize") == 0)
			return tell_arguments(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
