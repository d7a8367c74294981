/* test_liverun.c - what morph-live is started with, what is heard of it, how it ends
 *
 * The shell plays morph-live.
 */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/err.h"
#include "manager/parent/liverun.h"

static struct liverun run;

static void start_with(const char *const *arg, const int *fd, int nfd, bool stops)
{
	struct err err = { 0 };

	if (liverun_start(&run, "/bin/sh", arg, fd, nfd, stops, &err) < 0)
		fail_msg("%s", err.text);
}

static void start(const char *script)
{
	const char *const arg[] = { "-c", script, NULL };

	start_with(arg, NULL, 0, false);
}

/* Its exit code. */
static int end(void)
{
	struct pollfd p[2];
	int code;

	while ((code = liverun_step(&run)) < 0) {
		liverun_poll(&run, p);
		(void)poll(p, 2, 10000);
	}
	return code;
}

static int unmake(void **state)
{
	(void)state;
	liverun_free(&run);
	return run.pid || run.said;
}

static int file_with(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Also where those are wanted that the caller has: 4 and 3 become 3 and 4. */
static void it_has_the_descriptors_that_are_given_and_no_more(void **state)
{
	enum { ELSEWHERE = 60 };
	static const char *const arg[] = { "-c",
		"cat <&3; cat <&4; "
		"for n in 5 6 7 60; do [ -e /proc/$$/fd/$n ] && echo $n; done; "
		"echo \"$1 $LC_ALL $HOME\"", "zero", "one", NULL };
	const int two[2] = { file_with("first "), file_with("second ") };
	const int turned[2] = { two[1], two[0] };

	(void)state;
	assert_int_equal(dup2(two[0], ELSEWHERE), ELSEWHERE);	/* not even close-on-exec */
	assert_int_equal(setenv("HOME", "/home/of-others", 1), 0);
	start_with(arg, two, 2, false);
	assert_int_equal(end(), 0);
	assert_string_equal(run.said, "first second one C \n");
	assert_int_equal(run.nsaid, strlen(run.said));
	assert_int_equal(lseek(two[0], 0, SEEK_SET), 0);
	assert_int_equal(lseek(two[1], 0, SEEK_SET), 0);
	start_with(arg, turned, 2, false);
	assert_int_equal(end(), 0);
	assert_string_equal(run.said, "second first one C \n");
	close(ELSEWHERE);
	close(two[0]);
	close(two[1]);
}

static void arguments_have_an_end(void **state)
{
	static const char *const arg[] = { "-c", "echo $#", "0", "1", "2", "3", "4", "5", "6",
					   "7", "8", "9", NULL };

	(void)state;
	start_with(arg, NULL, 0, false);
	assert_int_equal(end(), 0);
	assert_int_equal(atoi(run.said), LIVERUN_ARGS - 3);
}

static uint64_t field(const char *name)
{
	const char *at = strstr(run.said, name);

	assert_non_null(at);
	return strtoull(at + strlen(name), NULL, 16);
}

static void it_takes_signals_as_programs_do(void **state)
{
	sigset_t some, before;

	(void)state;
	assert_int_equal(sigemptyset(&some) | sigaddset(&some, SIGUSR1), 0);
	assert_int_equal(sigprocmask(SIG_BLOCK, &some, &before), 0);
	void (*former)(int) = signal(SIGPIPE, SIG_IGN);
	start("exec cat /proc/self/status");	/* a shell blocks signals while it starts one */
	assert_int_equal(end(), 0);
	(void)signal(SIGPIPE, former);
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
	assert_int_equal(field("\nSigBlk:"), 0);
	assert_int_equal(field("\nSigIgn:") >> (SIGPIPE - 1) & 1, 0);
}

/* What ends the daemon's session does not end it; threads of others do not wait for a CPU. */
static void it_leads_a_session_and_hurries_where_others_stand_still(void **state)
{
	static const char *const arg[] = { "-c",
		"set -- $(cat /proc/$$/stat); echo \"$(($6 == $$)) ${19}\"", NULL };
	char want[32];

	(void)state;
	start_with(arg, NULL, 0, false);
	assert_int_equal(end(), 0);
	(void)snprintf(want, sizeof(want), "1 %d\n", getpriority(PRIO_PROCESS, 0));
	assert_string_equal(run.said, want);
	if (geteuid() != 0)
		skip();
	start_with(arg, NULL, 0, true);
	assert_int_equal(end(), 0);
	assert_string_equal(run.said, "1 -10\n");
}

static void what_it_says_and_its_exit_code_are_known(void **state)
{
	(void)state;
	start("echo said; echo complained >&2; exit 3");
	assert_int_equal(end(), 3);
	assert_string_equal(run.said, "said\ncomplained\n");
	start("kill -9 $$");
	assert_int_equal(end(), 1);
	assert_string_equal(run.said, "");	/* nothing of the one before */
}

static void what_cannot_be_started_says_so(void **state)
{
	static const char *const arg[] = { NULL };
	struct err err;

	(void)state;
	assert_int_equal(liverun_start(&run, "/nonexistent", arg, NULL, 0, false, &err), 0);
	assert_int_equal(end(), 1);
	assert_string_equal(run.said, "cannot be started\n");
}

static void what_does_not_fit_is_dropped(void **state)
{
	(void)state;
	start("head -c 3000000 /dev/zero | tr '\\0' x; exit 2");
	assert_int_equal(end(), 2);
	assert_int_equal(run.nsaid, LIVERUN_SAID - 1);
	assert_int_equal(strlen(run.said), LIVERUN_SAID - 1);
	assert_int_equal(strspn(run.said, "x"), LIVERUN_SAID - 1);
}

static void it_can_be_told_to_end(void **state)
{
	struct pollfd p[2];

	(void)state;
	start("trap 'exit 7' TERM; echo begun; while :; do sleep 0.05; done");
	while (run.nsaid == 0) {
		assert_int_equal(liverun_step(&run), -1);
		liverun_poll(&run, p);
		(void)poll(p, 2, 50);
	}
	liverun_hurry(&run);
	assert_int_equal(end(), 7);
	liverun_hurry(&run);			/* nothing runs */
}

static void it_can_be_left_to_itself(void **state)
{
	int status = 0;

	(void)state;
	start("exit 5");
	int pipe_of = run.pipe, process = run.pidfd;
	pid_t pid = run.pid, left = liverun_leave(&run);
	assert_int_equal(left, pid);
	assert_int_equal(fcntl(pipe_of, F_GETFD), -1);
	assert_int_equal(fcntl(process, F_GETFD), -1);
	assert_int_equal(liverun_leave(&run), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_teardown(name, unmake)
		T(it_has_the_descriptors_that_are_given_and_no_more),
		T(arguments_have_an_end),
		T(it_takes_signals_as_programs_do),
		T(it_leads_a_session_and_hurries_where_others_stand_still),
		T(what_it_says_and_its_exit_code_are_known),
		T(what_cannot_be_started_says_so),
		T(what_does_not_fit_is_dropped),
		T(it_can_be_told_to_end),
		T(it_can_be_left_to_itself),
#undef T
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
