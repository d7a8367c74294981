/* test_procwork.c - what the kernel tells of a process's work: of this one */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/procwork.h"

static void what_is_done_is_counted(void **state)
{
	const struct timespec moment = { 0, 1000000 };
	struct procwork a, b;
	char text[100];

	(void)state;
	int zero = open("/dev/zero", O_RDONLY);
	assert_true(procwork_read(getpid(), &a));
	for (int i = 0; i < 1000; i++)
		assert_int_equal(read(zero, text, sizeof(text)), sizeof(text));
	for (int i = 0; i < 20; i++)
		(void)nanosleep(&moment, NULL);
	assert_true(procwork_read(getpid(), &b));
	close(zero);
	assert_true(b.cpu_s > a.cpu_s && b.cpu_s < a.cpu_s + 10);
	double calls = b.work[PROCWORK_CALLS] - a.work[PROCWORK_CALLS];
	double bytes = b.work[PROCWORK_BYTES] - a.work[PROCWORK_BYTES];
	assert_true(calls >= 1000 && calls < 1100);	/* and those of reading itself */
	assert_true(bytes >= 100000 && bytes < 200000);
	assert_true(b.work[PROCWORK_WAKES] >= a.work[PROCWORK_WAKES] + 20);
	assert_true(b.work[PROCWORK_COUNT] == 0);
}

static void who_is_gone_does_nothing(void **state)
{
	struct procwork r;
	double cpu_s;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(procwork_read(pid, &r));
	assert_false(procwork_cpu(pid, &cpu_s));
	assert_false(procwork_cpu(0, &cpu_s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_done_is_counted),
		cmocka_unit_test(who_is_gone_does_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
