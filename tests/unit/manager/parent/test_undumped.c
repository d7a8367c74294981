/* Neither a role that has dropped its rights nor a job leaves a core file, whoever takes it.
 * The test is its own morph-edit.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/confine.h"
#include "lib/err.h"
#include "manager/parent/job.h"
#include "manager/parent/role.h"

/* 0: it is as it should be. */
static int drop_as(const struct job_user *user)
{
	struct rlimit core;
	struct err err;

	if (role_drop(user, &err) < 0)
		return 2;
	if (prctl(PR_GET_DUMPABLE) != 0)
		return 3;
	return getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0 ? 0 : 4;
}

static void assert_undumped(bool change)
{
	const struct job_user user = { change, change ? 65534 : geteuid(),
				       change ? 65534 : getegid() };
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(drop_as(&user));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void it_cannot_be_dumped_as_the_same_user(void **state)
{
	(void)state;
	assert_int_equal(prctl(PR_GET_DUMPABLE), 1);
	assert_undumped(false);
}

static void it_cannot_be_dumped_as_another_user(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_undumped(true);
}

/* --- jobs --- */

enum { IN_FD = 3 };

/* As morph-edit: before it looks at its input it confines itself. */
static int play(void)
{
	char what[16] = "";
	struct err err;

	if (read(IN_FD, what, sizeof(what) - 1) < 0 ||
	    (strcmp(what, "confined") == 0 && confine_job(0, 0, &err) < 0))
		return 1;
	for (;;)
		;
}

static struct job_user nobody;

static struct job *start(const char *what)
{
	struct job_spec spec = { .kind = JOB_SYMBOLS, .morph_edit = "/proc/self/exe",
				 .user = nobody, .memory_bytes = (uint64_t)256 << 20,
				 .file_bytes = 1 << 20, .cpu_s = 20, .wall_s = 60, .nin = 1 };
	struct err err = { 0 };

	spec.in[0] = memfd_create("test", MFD_CLOEXEC);
	assert_true(spec.in[0] >= 0);
	assert_int_equal(write(spec.in[0], what, strlen(what)), strlen(what));
	assert_int_equal(lseek(spec.in[0], 0, SEEK_SET), 0);
	struct job *j = job_start(&spec, &err);
	if (!j)
		fail_msg("%s", err.text);
	close(spec.in[0]);
	return j;
}

/* The hard limit of the size of core files; -1: the process has gone. */
static long core_bytes(pid_t pid)
{
	char path[64], line[256];
	long soft, hard = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Max core file size unlimited %ld", &hard) == 1 ||
		    sscanf(line, "Max core file size %ld %ld", &soft, &hard) == 2)
			break;
	(void)fclose(f);
	return hard;
}

/* Files of a process that can be dumped are its user's, of another one root's. */
static bool is_dumpable(pid_t pid)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	assert_int_equal(stat(path, &st), 0);
	return st.st_uid != 0;
}

/* What a job holds, registers of other people's programs among it, is in no core file, not even
 * in one that goes to a program (core_pattern "|..."), from which the size 0 does not keep it:
 * before it looks at its input the size 1 does, afterwards it cannot be dumped. */
static void a_job_leaves_no_core_file(void **state)
{
	struct job *j = start("looks");
	pid_t pid = job_process(j);

	(void)state;
	if (core_bytes(getpid()) != 0) {	/* else it has no more than we have */
		for (int i = 0; i < 1000 && core_bytes(pid) != 1; i++)
			(void)usleep(5000);
		assert_int_equal(core_bytes(pid), 1);
	}
	job_free(j);
	j = start("confined");
	pid = job_process(j);
	for (int i = 0; i < 1000 && core_bytes(pid) != 0; i++)
		(void)usleep(5000);
	assert_int_equal(core_bytes(pid), 0);	/* it is confining itself */
	if (nobody.change)
		for (int i = 0; i < 1000 && is_dumpable(pid); i++)
			(void)usleep(5000);
	assert_true(!nobody.change || !is_dumpable(pid));
	job_free(j);
}

int main(int argc, char **argv)
{
	if (argc > 0 && strcmp(argv[0], "morph-edit") == 0)
		return play();
	const bool root = geteuid() == 0;
	nobody = (struct job_user){ root, root ? 65534 : geteuid(), root ? 65534 : getegid() };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_cannot_be_dumped_as_the_same_user),
		cmocka_unit_test(it_cannot_be_dumped_as_another_user),
		cmocka_unit_test(a_job_leaves_no_core_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
