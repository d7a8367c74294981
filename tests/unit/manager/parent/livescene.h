/* livescene.h - generations of running processes as the parent keeps them, with a morph-live
 * that is a script */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/err.h"
#include "lib/procstat.h"
#include "manager/parent/livework.h"

struct fixture {
	char dir[64], program[80];
	struct livework *l;
	pid_t pid;			/* a process that sleeps */
	int generation;			/* a memory file */
	struct livebook_entry e;
};

/* morph-live says what the file COMMAND in the folder has, and ends with what COMMAND.code has,
 * as an error if that is not 0; its arguments are added to the file `calls`. */
static void write_program(struct fixture *f)
{
	FILE *p = fopen(f->program, "w");

	assert_non_null(p);
	(void)fprintf(p, "#!/bin/sh\ncd %s || exit 1\necho \"$@\" >>calls\n"
			 "code=$(cat \"$1.code\" 2>/dev/null || echo 0)\n"
			 "[ $code = 0 ] || exec >&2\n"
			 "cat \"$1\" 2>&1\n"
			 "[ \"$1\" = count ] && printf counters >&5\n"
			 "exit $code\n", f->dir);
	assert_int_equal(fclose(p), 0);
	assert_int_equal(chmod(f->program, 0755), 0);
}

static void says(const struct fixture *f, const char *command, const char *text, int code)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", f->dir, command);
	FILE *p = fopen(path, "w");
	assert_non_null(p);
	(void)fputs(text, p);
	assert_int_equal(fclose(p), 0);
	(void)snprintf(path, sizeof(path), "%s/%s.code", f->dir, command);
	p = fopen(path, "w");
	assert_non_null(p);
	(void)fprintf(p, "%d\n", code);
	assert_int_equal(fclose(p), 0);
}

static bool called(const struct fixture *f, const char *what)
{
	char path[128], text[4096] = "";

	(void)snprintf(path, sizeof(path), "%s/calls", f->dir);
	FILE *p = fopen(path, "r");
	size_t n = p ? fread(text, 1, sizeof(text) - 1, p) : 0;
	if (p)
		(void)fclose(p);
	text[n] = '\0';
	return strstr(text, what) != NULL;
}

static void is_proven(const struct fixture *f, const struct livebook_entry *e, bool counts)
{
	const struct livework_proof proof = { e->original, e->generation, counts };

	livework_proven(f->l, &proof, f->generation);
}

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct err err;

	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/morph-livework.XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	(void)snprintf(f->program, sizeof(f->program), "%s/morph-live", f->dir);
	write_program(f);
	f->l = livework_new(f->dir, f->program, &err);
	f->pid = fork();
	if (f->pid == 0) {
		(void)pause();
		_exit(0);
	}
	f->generation = memfd_create("g", MFD_CLOEXEC);
	if (write(f->generation, "generation", 10) != 10)
		return -1;
	f->e.pid = f->pid;
	strcpy(f->e.path, "/usr/bin/perl");
	struct procstat process;
	assert_true(procstat_read(f->pid, &process));
	f->e.start = process.start;
	f->e.owner = process.owner;
	assert_int_equal(digest_fd(f->generation, &f->e.generation, &err), 0);
	f->e.original.b[0] = 7;
	is_proven(f, &f->e, false);
	says(f, "room", "fits\n", 0);
	says(f, "count", "counted 2003 ms, CPU time 1990 ms, pause 7 us\n", 0);
	says(f, "on", "done, pause 9 us, tries 1\n", 0);
	says(f, "off", "done, pause 9 us, tries 1\n", 0);
	says(f, "list", "", 0);
	*state = f;
	return f->l ? 0 : -1;
}

static int unmake(void **state)
{
	struct fixture *f = *state;
	char command[96];

	livework_free(f->l);
	close(f->generation);
	(void)kill(f->pid, SIGKILL);
	(void)waitpid(f->pid, NULL, 0);
	(void)snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	int rc = system(command);
	free(f);
	return rc;
}

static struct livework_result end(struct fixture *f)
{
	struct livework_result r;
	struct pollfd p[2];

	while (!livework_step(f->l, &r)) {
		assert_true(livework_busy(f->l));
		livework_poll(f->l, p);
		(void)poll(p, 2, 1000);
	}
	assert_false(livework_busy(f->l));
	return r;
}

static uint32_t entries(const struct fixture *f, struct livebook_entry **out)
{
	struct livebook b;
	struct err err;
	uint32_t n;

	assert_int_equal(livebook_open(&b, f->dir, &err), 0);
	assert_int_equal(livebook_all(&b, out, &n, &err), 0);
	livebook_close(&b);
	return n;
}

static uint32_t count(const struct fixture *f)
{
	struct livebook_entry *e;
	uint32_t n = entries(f, &e);

	free(e);
	return n;
}

static struct livework_result map(struct fixture *f)
{
	struct err err = { 0 };

	if (livework_on(f->l, &f->e, f->generation, &err) < 0)
		fail_msg("%s", err.text);
	return end(f);
}

