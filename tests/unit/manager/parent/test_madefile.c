/* test_madefile.c - what a process has written of its code is read as its own user reads it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "manager/parent/madefile.h"

enum { SOMEBODY = 64001, OTHER = 64002, READER = 64003, MOST = 1 << 20 };

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

static bool be(uid_t uid)
{
	return setgroups(0, NULL) == 0 && setresgid(uid, uid, uid) == 0 &&
	       setresuid(uid, uid, uid) == 0;
}

/* As most: its files in /proc are root's. */
static bool be_plain(uid_t uid)
{
	return !uid || (be(uid) && prctl(PR_SET_DUMPABLE, 0) == 0);
}

/* A process for which `prepare` has been called; pid 0: that cannot be had here. */
static struct scene begin_as(uid_t uid, bool (*prepare)(uid_t uid))
{
	struct scene s = { 0 };
	int way[2], ready[2];
	char c;

	assert_int_equal(pipe(way), 0);
	assert_int_equal(pipe(ready), 0);
	s.pid = fork();
	if (s.pid == 0) {
		close(way[1]);
		if (!prepare(uid) || write(ready[1], "", 1) != 1)
			_exit(1);
		close(ready[1]);
		while (read(way[0], &c, 1) > 0)
			;
		_exit(0);
	}
	assert_true(s.pid > 0);
	close(way[0]);
	close(ready[1]);
	s.end = way[1];
	if (read(ready[0], &c, 1) != 1) {
		close(s.end);
		assert_int_equal(waitpid(s.pid, NULL, 0), s.pid);
		s.pid = 0;
	}
	close(ready[0]);
	(void)snprintf(s.map, sizeof(s.map), "/tmp/perf-%d.map", (int)s.pid);
	return s;
}

static struct scene begin(uid_t uid)
{
	struct scene s = begin_as(uid, be_plain);

	assert_true(s.pid > 0);
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
	if (s->pid) {			/* it could begin, and has not ended */
		close(s->end);
		(void)kill(s->pid, SIGKILL);	/* others may hold its pipe, too */
		assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
	}
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

static struct madefile_request request(const struct scene *s)
{
	return (struct madefile_request){ s->pid, now_ns(), MOST, "",
					  { geteuid() == 0, READER, READER } };
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
	struct madefile_request r = request(s);

	r.dump = dump;
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
	struct madefile_request r = request(&s);
	char owner[MADEFILE_OWNER];
	struct err err;

	(void)state;
	r.at_ns -= UINT64_C(3600000000000);
	assert_int_equal(ask_for(&s, &r, owner, &err), -1);
	assert_non_null(strstr(err.text, "another one by now"));
	close(s.end);
	assert_int_equal(waitpid(s.pid, NULL, 0), s.pid);
	r.at_ns = now_ns();
	assert_int_equal(ask_for(&s, &r, owner, &err), -1);
	assert_non_null(strstr(err.text, "not there"));
	s.pid = 0;
	end(&s);
}

static unsigned left(const struct madefile *m)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MADEFILE_USERS; i++)
		n += m->user[i].left != 0;
	return n;
}

static void some_time_later(struct madefile *m, uint64_t seconds)
{
	for (unsigned i = 0; i < MADEFILE_USERS; i++)
		m->user[i].at_ms -= 1000 * seconds;
}

/* One descriptor more each time: where one is missing, nothing has begun. */
static void what_cannot_begin_has_no_child(void **state)
{
	struct scene s = begin(geteuid());
	const struct madefile_request r = request(&s);
	char owner[MADEFILE_OWNER];
	struct err err = { 0 };
	struct rlimit kept, few;
	unsigned failed = 0;
	int fd, rc = -1;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &kept), 0);
	few = kept;
	few.rlim_cur = (rlim_t)dup(0);
	assert_int_equal(close((int)few.rlim_cur), 0);
	for (; rc < 0 && failed < 20; few.rlim_cur++) {
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		rc = madefile_start(&s.made, &r, &err);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &kept), 0);
		failed += rc < 0;
		assert_true(rc < 0 ? s.made.child <= 0 : s.made.child > 0);
		some_time_later(&s.made, 1000);
		(void)poll(NULL, 0, 100);	/* one that was killed has ended */
	}
	assert_int_equal(rc, 0);
	assert_true(failed >= 2);
	while (!madefile_step(&s.made, &fd, owner, &err))
		(void)poll(NULL, 0, 1);
	assert_true(fd >= 0);
	close(fd);
	end(&s);
}

/* It is stopped, as by a file system that does not answer.  Nor is the next of his waited for
 * soon: of 100 seconds one. */
static void who_does_not_end_is_not_waited_for(void **state)
{
	struct scene s = begin(0), other = { 0 };
	const struct madefile_request r = request(&s);
	char owner[MADEFILE_OWNER];
	struct err err = { 0 };
	time_t from = time(NULL);
	struct pollfd p;
	pid_t child = 0;
	int fd = -1;

	(void)state;
	/* before it has a chance to end by itself */
	for (int i = 0; fd < 0 && i < 100; i++) {
		assert_int_equal(madefile_start(&s.made, &r, &err), 0);
		assert_int_equal(kill(s.made.child, SIGSTOP), 0);
		(void)usleep(20000);
		child = s.made.child;
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
	/* killed; it may have been waited for already */
	(void)waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT);
	is_refused(&s, "", "taken too long lately");
	assert_int_equal(left(&s.made), 0);
	some_time_later(&s.made, 250);
	is_refused(&s, "", "taken too long lately");
	if (geteuid() == 0) {
		other = begin(OTHER);
		other.made = s.made;
		is_copied(&other, "", OTHER);
		end(&other);
	}
	some_time_later(&s.made, 100);
	is_copied(&s, "", getuid());
	end(&s);
}

/* Many that answer at once are no burden. */
static void who_answers_is_always_asked(void **state)
{
	struct scene s = begin(0);

	(void)state;
	for (int i = 0; i < 20; i++)
		is_copied(&s, "", getuid());
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

/* --- folders of its own --- */

/* Nothing of it is seen by others. */
static bool own_mounts(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool in_own_tmp(uid_t uid)
{
	return own_mounts() && mount("none", "/tmp", "tmpfs", 0, "mode=1777") == 0 &&
	       be_plain(uid);
}

static void write_in(const struct scene *s, pid_t number, const char *what)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)s->pid,
		       (int)number);
	write_text(path, what);
	assert_int_equal(chown(path, SOMEBODY, SOMEBODY), 0);
}

/* In a container another one has the number that it has outside. */
static void a_process_calls_itself_what_it_sees(void **state)
{
	(void)state;
	int here = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);

	if (geteuid() != 0 || here < 0 || unshare(CLONE_NEWPID) < 0)
		skip();
	struct scene s = begin_as(SOMEBODY, in_own_tmp);
	assert_int_equal(setns(here, CLONE_NEWPID), 0);
	close(here);
	if (!s.pid)
		skip();
	write_in(&s, s.pid, "7f0000001000 40 another one's\n");
	is_refused(&s, "", "there is none");
	write_in(&s, 1, text);
	is_copied(&s, "", SOMEBODY);
	end(&s);
}

/* --- a file system that does not answer --- */

static void answer(int fd, const struct fuse_in_header *in, const void *data, size_t n)
{
	struct fuse_out_header h = { .len = (uint32_t)(sizeof(h) + n),
				     .error = n ? 0 : -ENOSYS, .unique = in->unique };
	struct iovec v[] = { { &h, sizeof(h) }, { (void *)(uintptr_t)data, n } };

	(void)writev(fd, v, 2);		/* or nobody wants it any more */
}

/* A folder, and who asks for something in it is not answered. */
static void serve(int fd)
{
	static char request[1 << 17];
	const struct fuse_in_header *in = (const struct fuse_in_header *)request;
	const struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION, .minor = 31,
					    .max_write = 4096, .max_background = 4 };
	const struct fuse_attr_out attr = { .attr = { .ino = 1, .nlink = 1,
						      .mode = S_IFDIR | 0777 } };
	const struct fuse_statfs_out fs = { .st = { .bsize = 4096, .namelen = 255 } };

	while (read(fd, request, sizeof(request)) > 0)
		switch (in->opcode) {
		case FUSE_INIT: answer(fd, in, &init, sizeof(init)); break;
		case FUSE_GETATTR: answer(fd, in, &attr, sizeof(attr)); break;
		case FUSE_STATFS: answer(fd, in, &fs, sizeof(fs)); break;
		case FUSE_LOOKUP: case FUSE_INTERRUPT: break;
		default: answer(fd, in, NULL, 0);
		}
	_exit(0);
}

static bool mount_silent(const char *where, uid_t uid, const char *more)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	pid_t process = getpid();
	char how[128];

	(void)snprintf(how, sizeof(how), "fd=%d,rootmode=40777,user_id=%u,group_id=%u%s",
		       fd, (unsigned)uid, (unsigned)uid, more);
	if (fd < 0 || mount("silent", where, "fuse", 0, how) < 0)
		return false;
	if (fork() == 0) {
		if (be(uid) && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == process)
			serve(fd);
		_exit(1);
	}
	close(fd);
	return true;
}

static bool in_silent_tmp(uid_t uid)
{
	return own_mounts() && mount_silent("/tmp", uid, "") && be_plain(uid);
}

static bool write_once(int pid, const char *what, const char *ids)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, ids, strlen(ids)) == (ssize_t)strlen(ids);
	if (fd >= 0)
		close(fd);
	return good;
}

/* Root of a namespace of users, in which there is one more: what any user may have. */
static bool be_root_of_own(uid_t uid)
{
	int way[2], status;
	pid_t process = getpid();
	char ids[64], c;

	(void)snprintf(ids, sizeof(ids), "0 %d 1\n1 %d 1\n", SOMEBODY, OTHER);
	if (pipe(way) < 0)
		return false;
	pid_t helper = fork();
	if (helper == 0) {
		close(way[1]);
		_exit(read(way[0], &c, 1) != 1 || !write_once(process, "uid_map", ids) ||
		      !write_once(process, "gid_map", ids));
	}
	bool good = be(uid) && prctl(PR_SET_DUMPABLE, 1) == 0 &&
		    unshare(CLONE_NEWUSER) == 0 && write(way[1], "", 1) == 1;
	close(way[0]);
	close(way[1]);
	return waitpid(helper, &status, 0) == helper && status == 0 && good;
}

/* What any user may do who may have such a namespace. */
static bool in_silent_layer(uid_t uid)
{
	return be_root_of_own(uid) && own_mounts() &&
	       mount("none", "/tmp", "tmpfs", 0, NULL) == 0 && mkdir("/tmp/a", 0777) == 0 &&
	       mkdir("/tmp/b", 0777) == 0 && mount_silent("/tmp/a", 0, "") &&
	       mount("none", "/tmp", "overlay", 0, "lowerdir=/tmp/a:/tmp/b") == 0;
}

static bool be_another_of_own(uid_t uid)
{
	return be_root_of_own(uid) && be(1);
}

/* The kernel shows it to that user's processes alone, and the child is none. */
static void a_file_system_of_his_own_holds_up_nobody(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	struct scene s = begin_as(SOMEBODY, in_silent_tmp);
	if (!s.pid)
		skip();
	is_refused(&s, "", "it cannot be read");
	end(&s);
}

static bool may_touch(uid_t uid, pid_t child)
{
	int status;
	pid_t one = fork();

	if (one == 0)
		_exit(!be(uid) || kill(child, 0) == 0 || errno != EPERM ||
		      ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0 || errno != EPERM);
	assert_int_equal(waitpid(one, &status, 0), one);
	return status != 0;
}

/* Below another one: not even root can end a child that waits there for good. */
static void who_waits_for_good_is_in_nobody_s_way(void **state)
{
	char path[] = "/var/tmp/morph-lock-XXXXXX", owner[MADEFILE_OWNER];
	struct err err = { 0 };
	struct pollfd p;

	(void)state;
	if (geteuid() != 0)
		skip();
	struct scene s = begin_as(SOMEBODY, in_silent_layer), other = begin(OTHER);
	struct scene he_too = begin_as(SOMEBODY, be_another_of_own);
	const struct madefile_request r = request(&s);
	int fd, lock = mkstemp(path);
	if (!s.pid || !he_too.pid) {
		end(&other);
		end(&he_too);
		end(&s);
		close(lock);
		(void)unlink(path);
		skip();
	}
	assert_int_equal(flock(lock, LOCK_EX), 0);
	assert_int_equal(madefile_start(&s.made, &r, &err), 0);
	pid_t child = s.made.child;
	for (time_t from = time(NULL); !madefile_step(&s.made, &fd, owner, &err); ) {
		if (time(NULL) - from == 2)
			assert_false(may_touch(SOMEBODY, child));
		(void)poll(&p, 0, 300);
	}
	if (!strstr(err.text, "took too long"))
		fail_msg("%s", err.text);
	close(lock);			/* as the daemon does when it ends */
	lock = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(kill(child, 0), 0);
	assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
	close(lock);
	assert_int_equal(unlink(path), 0);
	some_time_later(&s.made, 1000);
	is_refused(&s, "", "the one before has not ended");
	he_too.made = s.made;
	is_refused(&he_too, "", "the one before has not ended");
	other.made = s.made;
	is_copied(&other, "", OTHER);
	end(&he_too);
	end(&other);
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
		cmocka_unit_test(what_cannot_begin_has_no_child),
		cmocka_unit_test(who_does_not_end_is_not_waited_for),
		cmocka_unit_test(who_answers_is_always_asked),
		cmocka_unit_test(a_user_s_file_is_read_as_he_would),
		cmocka_unit_test(a_process_calls_itself_what_it_sees),
		cmocka_unit_test(a_file_system_of_his_own_holds_up_nobody),
		cmocka_unit_test(who_waits_for_good_is_in_nobody_s_way),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
