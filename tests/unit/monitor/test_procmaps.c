/* test_procmaps.c - the text of /proc/PID/maps as mapping events */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"
#include "monitor/procmaps.h"

struct seen {
	struct spool_event ev[64];
	char path[64][SPOOL_PATH_MAX + 1];
	unsigned n;
	uint32_t pid;		/* keep only this one's; 0: all */
};

static void keep(void *ctx, const struct spool_event *ev)
{
	struct seen *s = ctx;

	if ((s->pid && ev->pid != s->pid) || s->n == 64)
		return;
	s->ev[s->n] = *ev;
	s->path[s->n][0] = '\0';
	if (ev->kind == SPOOL_MMAP)
		strcpy(s->path[s->n], ev->mmap.path);
	s->n++;
}

static uint32_t parse(const char *text, struct seen *s)
{
	memset(s, 0, sizeof(*s));
	return procmaps_parse((struct bytes){ (const uint8_t *)text, strlen(text) }, 42, "perl",
			      7000, keep, s);
}

static struct seen seen;

static void executable_mappings_follow_an_exec(void **state)
{
	static const char text[] = "55b74fa42000-55b74fa71000 r--p 00000000 fe:00 247101       "
				   "              /usr/bin/bash\n"
				   "55b74fa71000-55b74fb32000 r-xp 0002f000 fe:00 247101       "
				   "              /usr/bin/bash\n"
				   "55b74fb78000-55b74fb81000 rw-p 00000000 00:00 0            "
				   "              [heap]\n"
				   "7f20e3dcb000-7f20e3f21000 r-xp 00026000 103:05 332835      "
				   "              /usr/lib/x y/libc.so.6 (deleted)\n"
				   "7f20e3f96000-7f20e3fa7000 rwxp 00000000 00:00 0 \n"
				   "7f20e3fcd000-7f20e3fcf000 r-xp 00000000 00:00 0            "
				   "              [vdso]\n";

	(void)state;
	assert_int_equal(parse(text, &seen), 0);
	assert_int_equal(seen.n, 5);
	assert_int_equal(seen.ev[0].kind, SPOOL_EXEC);
	assert_string_equal(seen.ev[0].exec.comm, "perl");
	assert_int_equal(seen.ev[0].time_ns, 7000);
	assert_int_equal(seen.ev[0].pid, 42);
	const struct spool_event *m = &seen.ev[1];
	assert_int_equal(m->kind, SPOOL_MMAP);
	assert_int_equal(m->pid, 42);
	assert_int_equal(m->mmap.addr, 0x55b74fa71000);
	assert_int_equal(m->mmap.len, 0x55b74fb32000 - 0x55b74fa71000);
	assert_int_equal(m->mmap.pgoff, 0x2f000);
	assert_int_equal(m->mmap.dev_major, 254);
	assert_int_equal(m->mmap.dev_minor, 0);
	assert_int_equal(m->mmap.inode, 247101);
	assert_int_equal(m->mmap.inode_generation, 0);
	assert_string_equal(seen.path[1], "/usr/bin/bash");
	assert_int_equal(seen.ev[2].mmap.dev_major, 0x103);
	assert_string_equal(seen.path[2], "/usr/lib/x y/libc.so.6 (deleted)");
	assert_int_equal(seen.ev[3].mmap.inode, 0);
	assert_string_equal(seen.path[3], "//anon");
	assert_string_equal(seen.path[4], "[vdso]");
}

static void strange_lines_are_skipped_and_counted(void **state)
{
	static const char *const strange[] = {
		"\n", "x\n", "1000-2000\n", "1000-2000 r-xp\n", "2000-1000 r-xp 0 0:0 0 /a\n",
		"10000000000000000-2 r-xp 0 0:0 0 /a\n", "1000-2000 r-xp 0 100000000:0 1 /a\n",
		"1000-2000 r-xp g 0:0 1 /a\n", "1000-2000 r-x", "-1000 r-xp 0 0:0 1 /a\n",
		"1000-2000 r-xp 0 0:0", "AAAA-BBBB r-xp 0 0:0 1 /a\n",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		assert_int_equal(parse(strange[i], &seen), 1);
		assert_int_equal(seen.n, 1);
	}
	assert_int_equal(parse("", &seen), 0);
	assert_int_equal(seen.n, 1);
}

static void paths_may_hold_newlines_and_are_cut(void **state)
{
	char text[6000] = "1000-2000 r-xp 00000000 08:01 5 ";
	size_t n = strlen(text);

	(void)state;
	memset(text + n, 'a', 5000);
	text[n + 5000] = '\n';
	assert_int_equal(parse(text, &seen), 0);
	assert_int_equal(strlen(seen.path[1]), SPOOL_PATH_MAX);
	assert_int_equal(parse("1000-2000 r-xp 0 8:1 5 /a\\012b\\01\n", &seen), 0);
	assert_string_equal(seen.path[1], "/a\nb\\01");
}

static void we_find_ourselves_among_the_running(void **state)
{
	struct err err;
	struct stat st;
	char self[4096];
	bool found = false;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	assert_true(n > 0);
	self[n] = '\0';
	assert_int_equal(stat(self, &st), 0);
	memset(&seen, 0, sizeof(seen));
	seen.pid = (uint32_t)getpid();
	struct procmaps *p = procmaps_open(&err);
	assert_non_null(p);
	assert_int_equal(procmaps_emit(p, 5, keep, &seen, &err), 0);
	procmaps_free(p);
	procmaps_free(NULL);
	assert_int_equal(seen.ev[0].kind, SPOOL_EXEC);
	for (unsigned i = 1; i < seen.n; i++)
		found |= strcmp(seen.path[i], self) == 0 && seen.ev[i].mmap.inode == st.st_ino;
	assert_true(found);
}

/* Reading its maps fails then: that is the end of them. */
static void a_process_that_has_ended_meanwhile_gives_nothing(void **state)
{
	struct err err;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		for (;;)
			(void)pause();
	assert_true(child > 0);
	memset(&seen, 0, sizeof(seen));
	seen.pid = (uint32_t)child;
	struct procmaps *p = procmaps_open(&err);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_non_null(p);
	(void)alarm(60);		/* and does not go on for ever */
	assert_int_equal(procmaps_emit(p, 5, keep, &seen, &err), 0);
	(void)alarm(0);
	procmaps_free(p);
	assert_int_equal(seen.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(executable_mappings_follow_an_exec),
		cmocka_unit_test(strange_lines_are_skipped_and_counted),
		cmocka_unit_test(paths_may_hold_newlines_and_are_cut),
		cmocka_unit_test(we_find_ourselves_among_the_running),
		cmocka_unit_test(a_process_that_has_ended_meanwhile_gives_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
