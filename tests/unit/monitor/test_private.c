/* Of which processes the state may be told, where only /proc says it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitor/private.h"

/* A process of another user, or of ours, that waits. */
static pid_t start(bool dumpable)
{
	int ready[2];
	char c;

	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (geteuid() == 0 && (setresgid(65534, 65534, 65534) < 0 ||
				       setresuid(65534, 65534, 65534) < 0))
			_exit(1);
		(void)prctl(PR_SET_DUMPABLE, dumpable);
		(void)write(ready[1], "r", 1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void what_can_be_dumped_can_be_told(void **state)
{
	struct private *p = private_new();
	pid_t open = start(true), closed = start(false);

	(void)state;
	assert_false(private_is(p, (uint32_t)open));
	assert_int_equal(private_found(p), 0);
	assert_true(private_is(p, (uint32_t)closed));
	assert_true(private_is(p, (uint32_t)closed));
	assert_int_equal(private_found(p), 2);
	end(closed);
	end(open);
	private_free(p);
}

static void what_has_ended_is_not_told(void **state)
{
	struct private *p = private_new();
	pid_t pid = start(true);

	(void)state;
	end(pid);
	assert_true(private_is(p, (uint32_t)pid));
	private_free(p);
}

static void roots_are_not_told(void **state)
{
	struct private *p = private_new();

	(void)state;
	assert_true(private_is(p, 1));		/* init */
	if (geteuid() == 0)
		assert_true(private_is(p, (uint32_t)getpid()));
	private_free(p);
}

static void answers_are_kept_until_they_are_forgotten(void **state)
{
	struct private *p = private_new();
	pid_t pid = start(true);

	(void)state;
	assert_false(private_is(p, (uint32_t)pid));
	end(pid);
	assert_false(private_is(p, (uint32_t)pid));
	private_forget(p);
	assert_true(private_is(p, (uint32_t)pid));
	private_free(p);
}

static void without_asking_nothing_is_private(void **state)
{
	(void)state;
	assert_false(private_is(NULL, 1));
	assert_int_equal(private_found(NULL), 0);
	private_forget(NULL);
	private_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_can_be_dumped_can_be_told),
		cmocka_unit_test(what_has_ended_is_not_told),
		cmocka_unit_test(roots_are_not_told),
		cmocka_unit_test(answers_are_kept_until_they_are_forgotten),
		cmocka_unit_test(without_asking_nothing_is_private),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
