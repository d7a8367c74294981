/* test_meter.c - what is counted of a process, by whom */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/try/meter.h"
#include "policy/workcost.h"

static void a_number_is_all_that_is_printed(void **state)
{
	static const char *const bad[] = { "", "\n", "x", "12 13", "12x", "nan", "inf", "1,5" };
	double v = 0;

	(void)state;
	assert_true(meter_number(" 12.5\n", &v));
	assert_true(v == 12.5);
	assert_true(meter_number("-3", &v));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(meter_number(bad[i], &v));
}

static void a_counter_that_is_none_says_why(void **state)
{
	static const struct {
		const char *command, *why;
	} bad[] = {
		{ "echo many", "prints no number" },
		{ "true", "prints no number" },
		{ "printf '1\\0002'", "prints no number" },
		{ "seq 1000", "prints no number" },
		{ "echo 1; exit 4", "ended with code 4" },
		{ "kill -9 $$", "died of signal 9" },
	};
	struct err err;
	double v = 0;

	(void)state;
	assert_int_equal(meter_run_count("echo 7", &v, &err), 0);
	assert_true(v == 7);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(meter_run_count(bad[i].command, &v, &err), -1);
		assert_int_equal(err.kind, ERR_USAGE);
		assert_non_null(strstr(err.text, bad[i].why));
	}
}

/* Reads 64 bytes at a time for as long as it lives. */
static pid_t start_reader(void)
{
	pid_t pid = fork();
	char text[64];

	if (pid)
		return pid;
	int zero = open("/dev/zero", O_RDONLY);
	while (read(zero, text, sizeof(text)) == sizeof(text))
		;
	_exit(1);
}

static void a_process_is_read_until_it_ends(void **state)
{
	struct procwork a, b;
	struct err err;
	struct meter m;
	pid_t pid = start_reader();

	(void)state;
	assert_int_equal(meter_open(&m, pid, "echo 5", &err), 0);
	assert_int_equal(meter_wait(&m, 0.05, &err), 0);
	assert_int_equal(meter_read(&m, &a, &err), 0);
	assert_int_equal(meter_wait(&m, 0.1, &err), 0);
	assert_int_equal(meter_read(&m, &b, &err), 0);
	assert_true(a.work[PROCWORK_COUNT] == 5 && b.work[PROCWORK_COUNT] == 5);
	assert_true(workcost(&a, &b, PROCWORK_CALLS) > 0);
	double bytes = b.work[PROCWORK_BYTES] - a.work[PROCWORK_BYTES],
	       calls = b.work[PROCWORK_CALLS] - a.work[PROCWORK_CALLS];
	/* the two are read one after the other, while it goes on */
	assert_true(bytes > 40 * calls && bytes < 90 * calls);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(meter_wait(&m, 5, &err), -1);
	assert_non_null(strstr(err.text, "has ended"));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(meter_ended(&m));
	assert_int_equal(meter_read(&m, &b, &err), -1);
	meter_close(&m);
	assert_int_equal(meter_open(&m, pid, NULL, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_all_that_is_printed),
		cmocka_unit_test(a_counter_that_is_none_says_why),
		cmocka_unit_test(a_process_is_read_until_it_ends),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
