/* test_look.c - which files matter, by what was watched in /proc, and by what was recorded */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/try/folder.h"
#include "manager/try/loaderpath.h"
#include "manager/try/look.h"
#include "manager/try/procwatch.h"
#include "monitor/spool.h"

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
	char *dir = folder_make("morph-try", &err), *file = folder_path(dir, "seen");
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
	char *dir = folder_make("morph-try", &err), *file = folder_path(dir, "seen");
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

enum { FILES = 5, GONE = 3, AT = 0x10000000, PAGE = 0x1000 };

static void put(struct spool_writer *w, struct spool_event ev)
{
	struct err err;

	ev.pid = ev.tid = 77;
	if (spool_write(w, &ev, &err) < 0)
		fail_msg("%s", err.text);
}

/* Each file gets one sample more than the one before; of one nobody knows what it was. */
static void what_was_recorded_is_added_up(void **state)
{
	struct spool_event kernel = { .kind = SPOOL_SAMPLE, .sample = { .kernel = true } };
	struct err err;
	struct look l;
	struct stat st;

	(void)state;
	char *dir = folder_make("morph-try", &err), *log = folder_path(dir, "log"), name[16];
	int fd = open(log, O_RDWR | O_CREAT | O_EXCL, 0600);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 4000000, &err);
	assert_non_null(w);
	for (unsigned i = 0; i < FILES; i++) {
		(void)snprintf(name, sizeof(name), "f%u", i);
		char *path = folder_path(dir, name);
		int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

		assert_int_equal(fstat(file, &st), 0);
		close(file);
		put(w, (struct spool_event){
			.kind = SPOOL_MMAP,
			.mmap = { AT + i * PAGE, PAGE, 0, major(st.st_dev), minor(st.st_dev),
				  st.st_ino, 0, path } });
		if (i == GONE)
			assert_int_equal(unlink(path), 0);
		for (unsigned k = 0; k <= i; k++)
			put(w, (struct spool_event){ .kind = SPOOL_SAMPLE,
						     .sample = { .pc = AT + i * PAGE + k } });
		free(path);
	}
	put(w, kernel);
	put(w, (struct spool_event){ .kind = SPOOL_SAMPLE, .sample = { .pc = PAGE } });
	assert_int_equal(spool_flush(w, true, &err), 0);
	spool_writer_free(w);
	close(fd);
	assert_int_equal(look_read(log, &l, &err), 0);
	assert_int_equal(l.samples, 1 + 2 + 3 + 4 + 5 + 2);
	assert_int_equal(l.kernel, 1);
	assert_int_equal(l.nfile, FILES - 1);
	for (unsigned i = 0, file = FILES; i < l.nfile; i++) {
		file -= file - 1 == GONE ? 2 : 1;	/* the most first */
		(void)snprintf(name, sizeof(name), "/f%u", file);
		assert_string_equal(strrchr(l.file[i].path, '/'), name);
		assert_int_equal(l.file[i].samples, file + 1);
	}
	look_free(&l);
	assert_int_equal(look_read(dir, &l, &err), -1);
	assert_int_equal(folder_remove(dir, &err), 0);
	assert_int_equal(look_read(log, &l, &err), -1);
	free(log);
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
		cmocka_unit_test(what_was_recorded_is_added_up),
		cmocka_unit_test(libraries_are_known_by_name),
	};

	(void)mallopt(M_PERTURB, 0xa5);		/* what nobody has set is not 0 */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
