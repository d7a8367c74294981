/* test_tools.c - several programs at a time */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager/try/tools.h"

static struct tool shell(const char *text)
{
	return (struct tool){ .argv = { "/bin/sh", "-c", text }, .pidfd = -1, .said = -1 };
}

static void each_is_run_and_what_failed_is_told(void **state)
{
	struct tool tool[4] = { shell("exit 0"), shell("echo sh: oh no >&2; exit 3"),
				{ .pidfd = -1, .said = -1 }, shell("exit 0") };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(tools_run(tool, 4, &err), 0);
	assert_int_equal(tool[0].err.kind, ERR_NONE);
	assert_int_equal(tool[1].err.kind, ERR_REFUSED);
	assert_string_equal(tool[1].err.text, "oh no");
	assert_int_equal(tool[2].err.kind, ERR_NONE);
	assert_int_equal(tool[3].err.kind, ERR_NONE);
}

/* The last one is not among them: somebody else waits for its end. */
static void others_of_the_same_array_are_left_alone(void **state)
{
	struct tool tool[2] = { shell("sleep 0.2"), shell("") };
	struct err err = { 0 };
	int status;

	(void)state;
	pid_t pid = fork();
	if (pid == 0)
		_exit(7);
	assert_true(pid > 0);
	tool[1].pid = pid;
	tool[1].pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	assert_true(tool[1].pidfd >= 0);
	assert_int_equal(tools_run(tool, 1, &err), 0);
	assert_int_equal(tool[0].pid, 0);
	assert_int_equal(tool[0].err.kind, ERR_NONE);
	assert_int_equal(tool[1].pid, pid);
	close(tool[1].pidfd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_run_and_what_failed_is_told),
		cmocka_unit_test(others_of_the_same_array_are_left_alone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
