/* test_madefile.c - what a process has written of its code is read as its own user reads it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "manager/parent/madefile.h"

enum { SOMEBODY = 64001, OTHER = 64002, MOST = 1 << 20 };

static const char text[] = "7f0000001000 40 LazyCompile:*run\n";

/* A process that waits, and its map. */
struct scene {
	struct madefile made;
	pid_t pid;
	int end;			/* closed, it ends */
	char map[64], folder[64], dump[128];
};

static void write_text(const char *path, const char *what)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, what, strlen(what)), strlen(what));
	close(fd);
}

static void wait_in(int end, uid_t uid)
{
	char c;

	if (uid && (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
		    setresuid(uid, uid, uid) < 0))
		_exit(1);
	if (uid)
		(void)prctl(PR_SET_DUMPABLE, 0);	/* its files in /proc are root's */
	while (read(end, &c, 1) > 0)
		;
	_exit(0);
}

static struct scene begin(uid_t uid)
{
	struct scene s = { 0 };
	int way[2];

	assert_int_equal(pipe(way), 0);
	s.pid = fork();
	if (s.pid == 0) {
		close(way[1]);
		wait_in(way[0], uid);
	}
	assert_true(s.pid > 0);
	close(way[0]);
	s.end = way[1];
	for (;;) {			/* until it is who it should be */
		char status[64], line[256];
		unsigned now = 0;
		FILE *f;

		(void)snprintf(status, sizeof(status), "/proc/%d/status", (int)s.pid);
		f = fopen(status, "r");
		assert_non_null(f);
		while (fgets(line, sizeof(line), f) && sscanf(line, "Uid: %u", &now) != 1)
			;
		fclose(f);
		if (now == (uid ? uid : getuid()))
			break;
		(void)usleep(1000);
	}
	(void)snprintf(s.map, sizeof(s.map), "/tmp/perf-%d.map", (int)s.pid);
	(void)snprintf(s.folder, sizeof(s.folder), "/var/tmp/morph-made-XXXXXX");
	assert_non_null(mkdtemp(s.folder));
	assert_int_equal(chmod(s.folder, 0755), 0);
	(void)snprintf(s.dump, sizeof(s.dump), "%s/jit-%d.dump", s.folder, (int)s.pid);
	(void)unlink(s.map);
	write_text(s.map, text);
	if (uid)
		assert_int_equal(chown(s.map, uid, uid), 0);
	return s;
}

static void end(struct scene *s)
{
	madefile_end(&s->made);
	close(s->end);
	(void)waitpid(s->pid, NULL, 0);
	(void)unlink(s->map);
	(void)rmdir(s->map);
	(void)unlink(s->dump);
	(void)rmdir(s->folder);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The copy, or -1. */
static int ask_for(struct scene *s, const struct madefile_request *r,
		   char owner[MADEFILE_OWNER], struct err *err)
{
	struct pollfd p;
	int fd = -1;

	*err = (struct err){ 0 };
	if (madefile_start(&s->made, r, err) < 0)
		return -1;
	while (!madefile_step(&s->made, &fd, owner, err)) {
		int timeout = madefile_poll(&s->made, &p);

		(void)poll(&p, 1, timeout);
	}
	return fd;
}

static int ask(struct scene *s, const char *dump, char owner[MADEFILE_OWNER], struct err *err)
{
	const struct madefile_request r = { s->pid, now_ns(), MOST, dump };

	return ask_for(s, &r, owner, err);
}

static void is_copied(struct scene *s, const char *dump, unsigned whose)
{
	char owner[MADEFILE_OWNER], got[sizeof(text) + 8] = "", want[16];
	struct err err;
	int fd = ask(s, dump, owner, &err);

	if (fd < 0)
		fail_msg("%s", err.text);
	(void)snprintf(want, sizeof(want), "%u", whose);
	assert_string_equal(owner, want);
	assert_true(io_is_sealed(fd));
	assert_int_equal(read(fd, got, sizeof(got)), sizeof(text) - 1);
	assert_string_equal(got, text);
	close(fd);
}

static void is_refused(struct scene *s, const char *dump, const char *why)
{
	char owner[MADEFILE_OWNER];
	struct err err;
	int fd = ask(s, dump, owner, &err);

	assert_int_equal(fd, -1);
	if (!strstr(err.text, why))
		fail_msg("no '%s' in '%s'", why, err.text);
}

static void what_a_process_writes_is_copied(void **state)
{
	struct scene s = begin(0);

	(void)state;
	is_copied(&s, "", getuid());
	write_text(s.dump, text);
	is_copied(&s, s.dump, getuid());
	assert_int_equal(unlink(s.map), 0);
	is_refused(&s, "", "there is none");
	end(&s);
}

static void only_a_jitdump_has_a_name_of_its_own(void **state)
{
	struct scene s = begin(0);
	char longer[160];

	(void)state;
	is_refused(&s, "/etc/passwd", "not the name of a jitdump");
	is_refused(&s, "jit-1.dump", "not the name of a jitdump");
	(void)snprintf(longer, sizeof(longer), "%s.more", s.dump);
	is_refused(&s, longer, "not the name of a jitdump");
	/* nobody gets above what he says */
	(void)snprintf(longer, sizeof(longer), "/proc/self/root%s", s.dump);
	write_text(s.dump, text);
	is_refused(&s, longer, "not a regular file");
	end(&s);
}

static void what_is_no_file_of_one_name_is_refused(void **state)
{
	struct scene s = begin(0);
	char kept[160];

	(void)state;
	(void)snprintf(kept, sizeof(kept), "%s.kept", s.map);
	assert_int_equal(link(s.map, kept), 0);
	is_refused(&s, "", "several names");
	assert_int_equal(unlink(s.map), 0);
	assert_int_equal(symlink(kept, s.map), 0);
	is_refused(&s, "", "not a regular file");
	assert_int_equal(unlink(s.map), 0);
	assert_int_equal(mkfifo(s.map, 0666), 0);
	is_refused(&s, "", "not a regular file");
	assert_int_equal(unlink(s.map), 0);
	assert_int_equal(mkdir(s.map, 0755), 0);
	is_refused(&s, "", "not a regular file");
	assert_int_equal(rmdir(s.map), 0);
	assert_int_equal(unlink(kept), 0);
	end(&s);
}

static void what_is_large_or_old_is_refused(void **state)
{
	const struct timeval before[] = { { 1000, 0 }, { 1000, 0 } };
	struct scene s = begin(0);

	(void)state;
	assert_int_equal(truncate(s.map, MOST), 0);
	char owner[MADEFILE_OWNER];
	struct err err;
	int fd = ask(&s, "", owner, &err);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(truncate(s.map, MOST + 1), 0);
	is_refused(&s, "", "too large");
	write_text(s.map, text);
	assert_int_equal(utimes(s.map, before), 0);
	is_refused(&s, "", "before the process began");
	end(&s);
}

static void another_process_of_that_number_is_seen(void **state)
{
	struct scene s = begin(0);
	struct madefile_request r = { s.pid, now_ns() - UINT64_C(3600000000000), MOST, "" };
	char owner[MADEFILE_OWNER];
	struct err err;

	(void)state;
	assert_int_equal(ask_for(&s, &r, owner, &err), -1);
	assert_non_null(strstr(err.text, "another one by now"));
	close(s.end);
	assert_int_equal(waitpid(s.pid, NULL, 0), s.pid);
	r.at_ns = now_ns();
	assert_int_equal(ask_for(&s, &r, owner, &err), -1);
	assert_non_null(strstr(err.text, "not there"));
	s.end = -1;
	end(&s);
}

/* It is stopped, as by a file system that does not answer. */
static void who_does_not_end_is_not_waited_for(void **state)
{
	struct scene s = begin(0);
	const struct madefile_request r = { s.pid, now_ns(), MOST, "" };
	char owner[MADEFILE_OWNER];
	struct err err = { 0 };
	time_t from = time(NULL);
	struct pollfd p;
	int fd = -1;

	(void)state;
	/* before it has a chance to end by itself */
	for (int i = 0; fd < 0 && i < 100; i++) {
		assert_int_equal(madefile_start(&s.made, &r, &err), 0);
		assert_int_equal(kill(s.made.child, SIGSTOP), 0);
		(void)usleep(20000);
		if (!madefile_step(&s.made, &fd, owner, &err))
			break;
		close(fd);
		fd = -1;
	}
	while (!madefile_step(&s.made, &fd, owner, &err))
		(void)poll(&p, 1, madefile_poll(&s.made, &p));
	assert_int_equal(fd, -1);
	assert_non_null(strstr(err.text, "took too long"));
	assert_in_range(time(NULL) - from, 3, 60);
	assert_true(s.made.left > 0);
	(void)usleep(50000);
	is_copied(&s, "", getuid());
	assert_int_equal(s.made.left, 0);
	s.made.left = s.pid;			/* one that goes on whatever is done */
	is_refused(&s, "", "the one before has not ended");
	end(&s);
}

static void a_user_s_file_is_read_as_he_would(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	struct scene s = begin(SOMEBODY);
	is_copied(&s, "", SOMEBODY);
	assert_int_equal(chmod(s.map, 0), 0);		/* which root could read */
	is_refused(&s, "", "cannot be read");
	assert_int_equal(chmod(s.map, 0644), 0);
	assert_int_equal(chown(s.map, OTHER, OTHER), 0);
	is_refused(&s, "", "another user's");
	assert_int_equal(chown(s.map, 0, 0), 0);	/* as its files in /proc are */
	is_refused(&s, "", "another user's");
	write_text(s.dump, text);
	assert_int_equal(chown(s.dump, SOMEBODY, SOMEBODY), 0);
	is_copied(&s, s.dump, SOMEBODY);
	assert_int_equal(chmod(s.folder, 0700), 0);	/* a folder that is not for him */
	is_refused(&s, s.dump, "cannot be read");
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_process_writes_is_copied),
		cmocka_unit_test(only_a_jitdump_has_a_name_of_its_own),
		cmocka_unit_test(what_is_no_file_of_one_name_is_refused),
		cmocka_unit_test(what_is_large_or_old_is_refused),
		cmocka_unit_test(another_process_of_that_number_is_seen),
		cmocka_unit_test(who_does_not_end_is_not_waited_for),
		cmocka_unit_test(a_user_s_file_is_read_as_he_would),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
