/* test_pausing.c - waiting for the end of a process, for a signal, or for so long */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"
#include "live/pausing.h"

static pid_t child;
static struct pausing p;

static int setup(void **state)
{
	struct err err;

	(void)state;
	child = fork();
	if (child == 0)
		for (;;)
			(void)pause();
	return child > 0 ? pausing_open(&p, child, &err) : -1;
}

static int teardown(void **state)
{
	(void)state;
	pausing_close(&p);
	(void)kill(child, SIGKILL);
	return waitpid(child, NULL, 0) == child ? 0 : -1;
}

static void the_time_passes(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(pausing_wait(&p, 20, &err), 0);
	assert_false(pausing_told(&p));
}

static void the_end_of_the_process_ends_it(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(pausing_wait(&p, 60000, &err), -1);
	assert_non_null(strstr(err.text, "has ended"));
	assert_false(pausing_told(&p));
}

static void a_signal_ends_it(void **state)
{
	struct err err = { 0 };
	sigset_t set;
	int signal;

	(void)state;
	assert_int_equal(raise(SIGTERM), 0);
	assert_int_equal(pausing_wait(&p, 60000, &err), -1);
	assert_non_null(strstr(err.text, "told to end"));
	assert_true(pausing_told(&p));
	assert_int_equal(sigemptyset(&set) | sigaddset(&set, SIGTERM), 0);
	assert_int_equal(sigwait(&set, &signal), 0);
}

static void what_is_not_there_is_refused(void **state)
{
	struct pausing none;
	struct err err = { 0 };
	pid_t gone = fork();

	(void)state;
	if (gone == 0)
		_exit(0);
	assert_int_equal(waitpid(gone, NULL, 0), gone);
	assert_int_equal(pausing_open(&none, gone, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_string_equal(err.text, "it is not there any more");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(the_time_passes),
		T(the_end_of_the_process_ends_it),
		T(a_signal_ends_it),
#undef T
		cmocka_unit_test(what_is_not_there_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
