/* test_procstat.c - fields of /proc/PID/stat, whatever the process is called */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/procstat.h"

static void each_field_is_its_own(void **state)
{
	struct procstat s;

	(void)state;
	assert_true(procstat_parse("7 (a) b (c) S 3 4 5 6 7 8 9 10 11 12 13 200 15 16 17 18 19 "
				   "20 5000 22 23\n", &s));
	assert_int_equal(s.state, 'S');
	assert_int_equal(s.flags, 8);
	assert_int_equal(s.cpu_ticks, 213);
	assert_int_equal(s.start, 5000);
}

static void anything_else_is_nothing(void **state)
{
	static const char *const bad[] = {
		"", "7 (a", "7 (a)", "7 (a) S 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
		"7 (a) S 3 4 5 6 7 8 9 10 11 12 x 14 15 16 17 18 19 20 21",
	};
	struct procstat s;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(procstat_parse(bad[i], &s));
	assert_false(procstat_read(0, &s));
	assert_false(procstat_read(0x3fffffff, &s));
}

/* A child with a name that looks like fields. */
static void a_process_is_read(void **state)
{
	struct procstat s = { 0 }, zombie = { 0 };
	struct timespec boot;
	int ready[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_NAME, ") R 1 2 3 (");
		(void)!write(ready[1], "", 1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_true(procstat_read(pid, &s));
	assert_int_equal(s.owner, geteuid());
	assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &boot), 0);
	uint64_t now = (uint64_t)boot.tv_sec * (uint64_t)sysconf(_SC_CLK_TCK);
	assert_in_range(s.start, now > 3000 ? now - 3000 : 0, now + 200);
	assert_true(s.cpu_ticks < 100);
	assert_int_equal(kill(pid, SIGKILL), 0);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(procstat_read(pid, &zombie));
	assert_int_equal(zombie.state, 'Z');
	assert_int_equal(zombie.start, s.start);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ready[0]);
	close(ready[1]);
}

/* Half of ten seconds; more threads, more. */
static void how_busy_is_by_its_life(void **state)
{
	const double hz = (double)sysconf(_SC_CLK_TCK);
	struct timespec boot;

	(void)state;
	assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &boot), 0);
	double now = hz * ((double)boot.tv_sec + 1e-9 * (double)boot.tv_nsec);
	struct procstat s = { .start = (uint64_t)(now - 10 * hz),
			      .cpu_ticks = (uint64_t)(5 * hz) };
	double busy = procstat_busy(&s);
	assert_true(busy > 0.3 && busy < 0.51);
	s.cpu_ticks *= 8;
	assert_true(procstat_busy(&s) > 2.4 && procstat_busy(&s) < 4.1);
	s.start = (uint64_t)(now + 1000 * hz);		/* that cannot be */
	assert_true(procstat_busy(&s) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_is_its_own),
		cmocka_unit_test(anything_else_is_nothing),
		cmocka_unit_test(a_process_is_read),
		cmocka_unit_test(how_busy_is_by_its_life),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
