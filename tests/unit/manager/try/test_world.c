/* test_world.c - what a command sees of the files while it is tried, and what of it stays */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/try/world.h"

enum { CANNOT = 99 };

static char dir[64], written[80];

static bool writes(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0600);
	bool done = fd >= 0 && write(fd, "try", 3) == 3;

	if (fd >= 0)
		close(fd);
	return done;
}

/* In the child: how many of these do not hold; each is told. */
static int look_around(void)
{
	const struct world w = { .kind = WORLD_WHOLE, .user = geteuid() != 0, .folder = dir };
	char lacks[512], text[16] = "";
	struct err err = { 0 };

	if (world_enter(&w, lacks, sizeof(lacks), &err) < 0) {
		print_message("%s\n", err.text);
		return CANNOT;
	}
	const struct {
		bool holds;
		const char *what;
	} all[] = {
		{ !strstr(lacks, "/proc") && !strstr(lacks, "/dev") && !strstr(lacks, "/sys"),
		  "the kernel's folders are as they are" },
		{ writes("/proc/self/comm", 0), "the process's own files can be written to" },
		{ writes("/dev/null", 0), "devices too" },
		{ writes(written, O_CREAT | O_EXCL), "files are written" },
		{ readlink("/proc/self", text, sizeof(text) - 1) > 0 && atoi(text) == getpid(),
		  "it is the kernel's /proc" },
	};
	int bad = 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!all[i].holds) {
			print_message("not so: %s (lacks: %s)\n", all[i].what, lacks);
			bad++;
		}
	return bad;
}

static void the_kernels_folders_are_there_and_files_are_nobodys(void **state)
{
	int status;
	char world[80];

	(void)state;
	strcpy(dir, "/var/tmp/morph-world.XXXXXX");
	assert_non_null(mkdtemp(dir));
	(void)snprintf(world, sizeof(world), "%s/world", dir);
	(void)snprintf(written, sizeof(written), "%s.written", dir);
	assert_int_equal(mkdir(world, 0700), 0);
	(void)fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		int bad = look_around();

		(void)fflush(NULL);
		_exit(bad);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(access(written, F_OK), -1);
	assert_int_equal(rmdir(world), 0);
	assert_int_equal(rmdir(dir), 0);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == CANNOT)	/* nobody may have namespaces here */
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernels_folders_are_there_and_files_are_nobodys),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
