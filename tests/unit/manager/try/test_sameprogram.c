/* test_sameprogram.c - a process that executes something is noticed, whatever that is */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager/try/sameprogram.h"

static const char *self;

/* A fork of ours that becomes PROGRAM, or ourselves anew, when it is told; *go tells it. */
static pid_t child(const char *program, int *go)
{
	int end[2];
	char c;

	assert_int_equal(pipe(end), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(end[1]);
		if (read(end[0], &c, 1) == 1)
			execl(program, program, program == self ? "pause" : "100", NULL);
		_exit(1);
	}
	close(end[0]);
	*go = end[1];
	return pid;
}

static void becomes(const char *program, const char *what)
{
	struct sameprogram p;
	const char *how = NULL;
	int go;
	pid_t pid = child(program, &go);

	sameprogram_note(&p, pid);
	assert_true(p.ino && p.n);
	assert_null(sameprogram_else(&p, pid));
	assert_int_equal(write(go, "x", 1), 1);
	for (int i = 0; i < 1000 && !how; i++) {
		(void)usleep(10000);
		how = sameprogram_else(&p, pid);
	}
	assert_non_null(how);
	assert_string_equal(how, what);
	close(go);
	assert_int_equal(kill(pid, SIGKILL), 0);
	/* a zombie has neither: what it ran is not known any more */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_null(sameprogram_else(&p, pid));
}

static void another_program_is_noticed(void **state)
{
	(void)state;
	becomes("/bin/sleep", "runs another program now");
}

static void the_same_one_executed_anew_is_noticed(void **state)
{
	(void)state;
	becomes(self, "has executed its program anew");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_program_is_noticed),
		cmocka_unit_test(the_same_one_executed_anew_is_noticed),
	};

	if (argc > 1 && strcmp(argv[1], "pause") == 0)
		for (;;)
			(void)pause();
	self = argv[0];
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
