/* test_look.c - which files matter, by what was watched in /proc */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/try/folder.h"
#include "manager/try/loaderpath.h"
#include "manager/try/look.h"
#include "manager/try/procwatch.h"

static const struct look_file *find(const struct look *l, const char *path)
{
	for (size_t i = 0; i < l->nfile; i++)
		if (strcmp(l->file[i].path, path) == 0)
			return &l->file[i];
	return NULL;
}

/* A child that is busy is seen with its program, which is ours, and its libraries. */
static void what_runs_is_seen(void **state)
{
	struct procwatch *w = procwatch_new();
	struct err err;
	struct look l;
	char self[4096];

	(void)state;
	char *dir = folder_make(&err), *file = folder_path(dir, "seen");
	pid_t pid = fork();
	if (pid == 0)
		for (volatile unsigned n = 0;; n++)
			;
	for (int i = 0; i < 20; i++) {
		procwatch_look(w, getpid());
		(void)usleep(10000);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(procwatch_write(w, file, &err), 0);
	assert_int_equal(look_read_watched(file, &l, &err), 0);
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	assert_true(n > 0);
	self[n] = '\0';
	assert_non_null(find(&l, self));
	bool library = false;
	for (size_t i = 0; i < l.nfile; i++)
		library = library || (loaderpath_is_library(l.file[i].path) &&
				      l.file[i].samples == 0);
	assert_true(library);
	look_free(&l);
	procwatch_free(w);
	assert_int_equal(folder_remove(dir, &err), 0);
	free(file);
	free(dir);
}

static void programs_come_first(void **state)
{
	struct err err;
	struct look l;

	(void)state;
	char *dir = folder_make(&err), *file = folder_path(dir, "seen");
	FILE *f = fopen(file, "w");
	assert_non_null(f);
	assert_true(fputs("0 /lib/b.so\n30000000 /bin/x y\nnonsense\n0 /lib/a.so\n"
			  "70000000 /bin/z\n", f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(look_read_watched(file, &l, &err), 0);
	assert_int_equal(l.nfile, 4);
	assert_int_equal(l.samples, 100);
	assert_string_equal(l.file[0].path, "/bin/z");
	assert_int_equal(l.file[0].samples, 70);
	assert_string_equal(l.file[1].path, "/bin/x y");
	assert_string_equal(l.file[2].path, "/lib/a.so");
	look_free(&l);
	assert_int_equal(folder_remove(dir, &err), 0);
	free(file);
	free(dir);
}

static void libraries_are_known_by_name(void **state)
{
	(void)state;
	assert_true(loaderpath_is_library("/lib/libc.so.6"));
	assert_true(loaderpath_is_library("/lib/plugin.so"));
	assert_false(loaderpath_is_library("/usr/bin/perl"));
	assert_false(loaderpath_is_library("/lib.so/solitaire"));
	assert_false(loaderpath_is_library("/usr/bin/x.sort"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_runs_is_seen),
		cmocka_unit_test(programs_come_first),
		cmocka_unit_test(libraries_are_known_by_name),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
