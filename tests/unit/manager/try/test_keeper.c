/* test_keeper.c - what is left of a run when it is freed */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager/try/keeper.h"

static int descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void nothing_stays_open_and_nobody_alive(void **state)
{
	struct keeper k = { .go = descriptor(), .ready = descriptor(), .out = descriptor(),
			    .error = descriptor() };

	(void)state;
	k.pid = fork();
	if (k.pid == 0)
		for (;;)
			(void)pause();
	assert_true(k.pid > 0);
	k.pidfd = (int)syscall(SYS_pidfd_open, k.pid, 0);
	assert_true(k.pidfd >= 0);
	const struct keeper was = k;
	const int fd[] = { was.pidfd, was.go, was.ready, was.out, was.error };
	keeper_free(&k);
	assert_int_equal(kill(was.pid, 0), -1);
	for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++)
		assert_int_equal(fcntl(fd[i], F_GETFD), -1);
	assert_int_equal(k.pid, 0);
	keeper_free(&k);		/* twice does nothing more */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_stays_open_and_nobody_alive),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
