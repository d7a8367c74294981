/* A morph-edit that is broken on purpose, started by the daemon's own machinery, tries to get
 * at everything that a hostile file could make a real one try.  The test is its own morph-edit.
 *
 * Each try is made twice: outside, where it must succeed, so that it is a real one; and as a
 * job, where it must fail in the way the table says.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/confine.h"
#include "lib/err.h"
#include "lib/landlock.h"
#include "manager/parent/job.h"

/* --- the broken morph-edit --- */

enum { IN_FD = 3, PROGRAM_FD = 63 };	/* as job.c gives them */

static char place[256];		/* a folder that everybody may write, with the files below */
static pid_t victim;		/* another process of the same user */

static const char *in_place(const char *name)
{
	static char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", place, name);
	return path;
}

static int told(long rc)
{
	return rc < 0 ? errno : 0;
}

/* Opening as the loader does, which is the one way that is open at all. */
static int opened(const char *path)
{
	return told(open(path, O_RDONLY | O_CLOEXEC));
}

static int read_a_file(void) { return opened(in_place("readable")); }
static int read_the_accounts(void) { return opened("/etc/passwd"); }
static int read_the_program_again(void) { return opened("/proc/self/status"); }
static int list_a_folder(void) { return opened(place); }
static int list_libraries(void) { return opened("/usr/lib"); }
static int read_a_library(void) { return opened("/lib64/ld-linux-x86-64.so.2"); }
static int write_a_file(void) { return told(open(in_place("writable"), O_WRONLY)); }
static int read_and_write(void) { return told(open(in_place("writable"), O_RDWR | O_CLOEXEC)); }
static int make_a_file(void) { return told(open(in_place("new"), O_WRONLY | O_CREAT, 0600)); }
static int truncate_a_file(void) { return told(truncate(in_place("writable"), 0)); }
static int remove_a_file(void) { return told(unlink(in_place("removable"))); }
static int make_a_folder(void) { return told(mkdir(in_place("folder"), 0700)); }
static int make_a_link(void) { return told(symlink("/etc/passwd", in_place("link"))); }
static int make_a_memory_file(void) { return told(memfd_create("x", 0)); }
static int change_its_input(void) { return told(pwrite(IN_FD, "x", 1, 0)); }
static int change_its_inputs_length(void) { return told(ftruncate(IN_FD, 1)); }
static int read_its_input_again(void)
{
	char c;

	return told(pread(IN_FD, &c, 1, 0));
}

static int copy_a_descriptor(void) { return told(dup2(IN_FD, 20)); }
static int control_a_descriptor(void) { return told(fcntl(1, F_SETFL, O_APPEND)); }

static int map_its_input_shared(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, IN_FD, 0) == MAP_FAILED ?
	       errno : 0;
}

static int change_a_files_mode(void)
{
	return told(chmod(in_place("removable"), 0777));
}

static int control_a_device(void)
{
	int n;

	return told(ioctl(IN_FD, FIONREAD, &n));
}

static int start_a_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return told(pid);
}

static void *nothing(void *arg)
{
	return arg;
}

static int start_a_thread(void)
{
	pthread_t t;

	return pthread_create(&t, NULL, nothing, NULL);
}

static char *const no_arg[] = { NULL };

/* These come back only when they fail: what runs then says so by its exit code, and nothing. */
static int run_a_program(void) { return told(execve("/bin/true", no_arg, no_arg)); }

static int run_by_descriptor(void)
{
	int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);

	return told(syscall(SYS_execveat, fd < 0 ? 0 : fd, "", no_arg, no_arg, AT_EMPTY_PATH));
}

/* The very call that started this program, with a path that makes it mean another one. */
static int run_as_it_was_run(void)
{
	return told(syscall(SYS_execveat, PROGRAM_FD, "/bin/true", no_arg, no_arg,
			    AT_EMPTY_PATH));
}

static int run_code_in_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	       MAP_FAILED ? errno : 0;
}

static int run_code_that_it_writes(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return told(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int run_code_of_its_input(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, IN_FD, 0) == MAP_FAILED ?
	       errno : 0;
}

static int run_code_of_its_output(void)
{
	if (write(1, "\xc3", 1) != 1)
		return errno;
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, 1, 0) == MAP_FAILED ?
	       errno : 0;
}

static int connect_to_a_daemon(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0)
		return errno;
	strcpy(a.sun_path, in_place("socket"));
	return told(connect(fd, (struct sockaddr *)&a, sizeof(a)));
}

static int connect_to_the_network(void)
{
	return told(socket(AF_INET, SOCK_DGRAM, 0));
}

static int talk_to_the_kernel(void)
{
	return told(socket(AF_NETLINK, SOCK_RAW, 0));
}

static int make_a_pair(void)
{
	int fd[2];

	return told(socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
}

static int signal_another(void) { return told(kill(victim, SIGCONT)); }
static int watch_another(void) { return told(syscall(SYS_pidfd_open, victim, 0)); }
static int be_traced(void) { return told(ptrace(PTRACE_TRACEME, 0, NULL, NULL)); }

static int read_memory_of_a_process(void)
{
	char a = 1, b;
	struct iovec from = { &a, 1 }, to = { &b, 1 };

	return told(process_vm_readv(getpid(), &to, 1, &from, 1, 0));
}

static int limit_another(void)
{
	struct rlimit r;

	return told(prlimit(victim, RLIMIT_NPROC, NULL, &r));
}

static int get_a_namespace(void) { return told(unshare(CLONE_FILES)); }
static int handle_signals(void) { return told(signal(SIGXCPU, SIG_IGN) == SIG_ERR ? -1 : 0); }
static int be_dumpable(void) { return told(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)); }

static int take_turns_with_the_kernel(void)
{
	char params[256] = { 0 };

	return told(syscall(SYS_io_uring_setup, 1, params));
}

/* What fails outside as well, because of who it is. */
static int be_root(void) { return told(setuid(0)); }
static int mount_something(void) { return told(syscall(SYS_mount, "x", "/", "tmpfs", 0, "")); }
static int leave_its_root(void) { return told(chroot("/")); }
static int trace_another(void) { return told(ptrace(PTRACE_SEIZE, victim, NULL, NULL)); }
static int sample_another(void)
{
	char attr[128] = { 0 };

	return told(syscall(SYS_perf_event_open, attr, victim, -1, -1, 0));
}

static int have_more(void)
{
	struct rlimit r = { RLIM_INFINITY, RLIM_INFINITY };

	return told(setrlimit(RLIMIT_FSIZE, &r));
}

static const struct try {
	const char *name;
	int (*make)(void);
	int error;		/* as a job */
	bool not_outside;	/* fails there as well */
} try[] = {
#define TRY(name, error)    { #name, name, error, false }
#define DENIED(name, error) { #name, name, error, true }
	TRY(read_a_file, EACCES), TRY(read_the_accounts, EACCES),
	TRY(read_the_program_again, EACCES), TRY(list_a_folder, EACCES),
	TRY(list_libraries, EACCES), TRY(read_a_library, 0), TRY(read_its_input_again, 0),
	TRY(write_a_file, EPERM), TRY(read_and_write, EPERM), TRY(make_a_file, EPERM),
	TRY(truncate_a_file, EPERM), TRY(change_a_files_mode, EPERM), TRY(remove_a_file, EPERM),
	TRY(make_a_folder, EPERM), TRY(make_a_link, EPERM), TRY(make_a_memory_file, EPERM),
	TRY(change_its_input, EPERM), TRY(change_its_inputs_length, EPERM),
	TRY(map_its_input_shared, EPERM), TRY(copy_a_descriptor, EPERM),
	TRY(control_a_descriptor, EPERM), TRY(control_a_device, EPERM),
	TRY(start_a_process, EPERM), TRY(start_a_thread, EPERM), TRY(run_a_program, EPERM),
	TRY(run_by_descriptor, EPERM), TRY(run_as_it_was_run, EACCES),
	TRY(run_code_in_memory, EPERM), TRY(run_code_that_it_writes, EPERM),
	TRY(run_code_of_its_input, EPERM), TRY(run_code_of_its_output, EPERM),
	TRY(connect_to_a_daemon, EPERM), TRY(connect_to_the_network, EPERM),
	TRY(talk_to_the_kernel, EPERM), TRY(make_a_pair, EPERM),
	TRY(signal_another, EPERM), TRY(watch_another, EPERM), TRY(be_traced, EPERM),
	TRY(read_memory_of_a_process, EPERM), TRY(limit_another, EPERM),
	TRY(get_a_namespace, EPERM), TRY(handle_signals, EPERM), TRY(be_dumpable, EPERM),
	DENIED(take_turns_with_the_kernel, EPERM), DENIED(be_root, EPERM),
	DENIED(mount_something, EPERM), DENIED(leave_its_root, EPERM),
	DENIED(trace_another, EPERM), DENIED(sample_another, EPERM),
	DENIED(have_more, EPERM),
#undef TRY
#undef DENIED
};
enum { NTRY = sizeof(try) / sizeof(try[0]) };

static int exhaust_memory(void)
{
	unsigned mib = 0;
	char *p;

	while ((p = malloc(1 << 20))) {
		memset(p, 1, 1 << 20);		/* so that it is really there */
		mib++;
	}
	return dprintf(1, "%u", mib) > 0 ? 0 : 1;
}

static int fill_the_output(void)
{
	static char much[1 << 16];

	while (write(1, much, sizeof(much)) > 0)
		;
	return 0;
}

/* Its input: what to do, the place, the victim. */
static int play(void)
{
	char text[512] = "", name[64];

	const char *what = name;
	struct err err = { 0 };

	if (read(IN_FD, text, sizeof(text) - 1) < 0 ||
	    sscanf(text, "%63s %255s %d", name, place, &victim) != 3)
		return 1;
	/* as a sound one, before it is taken over by its input */
	if (name[0] == '+') {
		if (confine_job(0, 0, &err) < 0)
			return 1;
		what++;
	}
	for (int i = 0; i < NTRY; i++)
		if (strcmp(what, try[i].name) == 0) {
			int error = try[i].make();

			return pwrite(1, &error, sizeof(error), 0) == sizeof(error) ? 0 : 1;
		}
	if (strcmp(what, "exhaust_memory") == 0)
		return exhaust_memory();
	if (strcmp(what, "fill_the_output") == 0)
		return fill_the_output();
	if (strcmp(what, "lengthen_the_output") == 0)
		return ftruncate(1, (off_t)1 << 40) == 0 ? 0 : 1;
	for (int word = 0; strcmp(what, "sleep") == 0; )
		(void)syscall(SYS_futex, &word, 0, word, NULL, NULL, 0);
	while (strcmp(what, "spin") == 0)
		;
	return 2;
}

/* --- outside --- */

static struct job_user nobody;

static void become_nobody(void)
{
	if (nobody.change && (setgroups(0, NULL) < 0 ||
			      setresgid(nobody.gid, nobody.gid, nobody.gid) < 0 ||
			      setresuid(nobody.uid, nobody.uid, nobody.uid) < 0))
		_exit(99);
}

static int input(const char *what)
{
	char text[512];
	int fd = memfd_create("test", MFD_CLOEXEC), n;

	n = snprintf(text, sizeof(text), "%s %s %d", what, place, (int)victim);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, (size_t)n), n);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void make_file(const char *name)
{
	int fd = open(in_place(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0666), 0);
	if (nobody.change)
		assert_int_equal(fchown(fd, nobody.uid, nobody.gid), 0);
	close(fd);
}

/* As it was before any try. */
static void tidy(void)
{
	(void)rmdir(in_place("folder"));	/* each may be there or not */
	(void)unlink(in_place("link"));
	(void)unlink(in_place("new"));
	make_file("readable");
	make_file("writable");
	make_file("removable");
}

static int make_place(void **state)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	(void)state;
	nobody = (struct job_user){ geteuid() == 0, geteuid() == 0 ? 65534 : geteuid(),
				    geteuid() == 0 ? 65534 : getegid() };
	strcpy(place, "/tmp/morph-cage.XXXXXX");
	if (!mkdtemp(place) || chmod(place, 0777) < 0)
		return -1;
	strcpy(a.sun_path, in_place("socket"));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 100) < 0 ||
	    chmod(a.sun_path, 0777) < 0)
		return -1;
	victim = fork();
	if (victim == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		become_nobody();
		for (;;)
			(void)pause();
	}
	tidy();
	return victim > 0 ? 0 : -1;
}

static int remove_place(void **state)
{
	static const char *const name[] = { "folder", "link", "new", "readable", "writable",
					    "removable", "socket" };

	(void)state;
	(void)kill(victim, SIGKILL);
	(void)waitpid(victim, NULL, 0);
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		(void)remove(in_place(name[i]));
	return rmdir(place);
}

/* The outcome of a try without any cage; 0 also when another program ran. */
static int outside(const char *what)
{
	int in = input(what), out = memfd_create("out", 0), status, error = 0;
	pid_t pid = fork();

	assert_true(out >= 0 && pid >= 0);
	if (pid == 0) {
		/* not dumpable: by descriptor */
		int self = open("/proc/self/exe", O_RDONLY);
		char name[] = "morph-edit", *arg[] = { name, NULL };

		become_nobody();
		if (dup2(self, PROGRAM_FD) < 0 || dup2(out, 1) < 0 || dup2(in, IN_FD) < 0)
			_exit(98);
		(void)fexecve(PROGRAM_FD, arg, no_arg);
		_exit(97);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	(void)pread(out, &error, sizeof(error), 0);	/* nothing, when another program ran */
	close(in);
	close(out);
	return error;
}

static struct job *start(const char *what, unsigned cpu_s, unsigned wall_s)
{
	struct job_spec spec = { .kind = JOB_SYMBOLS, .morph_edit = "/proc/self/exe",
				 .user = nobody, .memory_bytes = (uint64_t)256 << 20,
				 .file_bytes = 1 << 20, .cpu_s = cpu_s, .wall_s = wall_s,
				 .nin = 1 };
	struct err err = { 0 };

	spec.in[0] = input(what);
	struct job *j = job_start(&spec, &err);
	if (!j)
		fail_msg("%s", err.text);
	close(spec.in[0]);
	return j;
}

static struct job_result end(struct job *j)
{
	struct job_result r;
	struct pollfd p[2];

	while (!job_step(j, &r)) {
		int timeout = job_poll(j, p);

		(void)poll(p, 2, timeout);
	}
	job_free(j);
	return r;
}

static int caged(const char *what)
{
	struct job_result r = end(start(what, 20, 60));
	int error = 0;

	if (r.exit_code)
		fail_msg("%s: %s", what, r.reason);
	/* nothing: another program ran */
	(void)pread(r.out[0], &error, sizeof(error), 0);
	job_result_close(&r);
	return error;
}

/* --- the tests --- */

static void every_try_is_a_real_one(void **state)
{
	(void)state;
	for (int i = 0; i < NTRY; i++) {
		int error = outside(try[i].name);

		if (error && !try[i].not_outside)
			fail_msg("%s: %s", try[i].name, strerror(error));
		tidy();
	}
}

static void none_is_possible_in_a_job(void **state)
{
	int bad = 0;

	(void)state;
	for (int i = 0; i < NTRY; i++) {
		int error = caged(try[i].name), expected = try[i].error;

		/* Without Landlock the files that everybody may read stay readable. */
		if (!landlock_version() && expected == EACCES)
			continue;
		if (error != expected) {
			print_error("%s: %s\n", try[i].name, error ? strerror(error) : "done");
			bad++;
		}
	}
	assert_int_equal(bad, 0);
	assert_int_equal(access(in_place("new"), F_OK), -1);
	assert_int_equal(access(in_place("removable"), F_OK), 0);
}

/* What is left to one that has confined itself, as each does before it looks at its input:
 * to write.  The first cage says no to changes of its input, the second ends it for
 * everything else. */
static void nothing_is_left_when_the_input_is_looked_at(void **state)
{
#ifdef MORPH_SANITIZED
	(void)state;
	skip();
#else
	int bad = 0;

	(void)state;
	for (int i = 0; i < NTRY; i++) {
		char what[64];
		int error = 0;

		(void)snprintf(what, sizeof(what), "+%s", try[i].name);
		struct job_result r = end(start(what, 20, 60));
		bool ended = r.exit_code == 1 && strstr(r.reason, "signal 31");
		bool own = try[i].make == change_its_input ||
			   try[i].make == change_its_inputs_length;

		if (r.exit_code == 0)
			(void)pread(r.out[0], &error, sizeof(error), 0);
		if (own ? error != EPERM : !ended) {
			print_error("%s: %s\n", what, r.exit_code ? r.reason : strerror(error));
			bad++;
		}
		job_result_close(&r);
	}
	assert_int_equal(bad, 0);
#endif
}

static pid_t job_pid(void)
{
	char path[64], text[64] = "", *end_of;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)gettid());
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	(void)fclose(f);
	long first = strtol(text, &end_of, 10), second = strtol(end_of, NULL, 10);
	return (pid_t)(first == victim ? second : first);
}

/* What the kernel says of a field of the job's status. */
static void assert_status(pid_t pid, const char *field, const char *value)
{
	char path[64], text[256];
	bool seen = false;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(text, sizeof(text), f))
		if (strncmp(text, field, strlen(field)) == 0) {
			text[strcspn(text, "\n")] = '\0';
			assert_string_equal(text + strlen(field), value);
			seen = true;
		}
	(void)fclose(f);
	assert_true(seen);
}

static void a_job_is_nobody_in_particular(void **state)
{
	struct job *j = start("spin", 20, 60);
	char ids[64], path[64], name[32] = "";
	pid_t pid = job_pid();

	(void)state;
	(void)snprintf(ids, sizeof(ids), "\t%d\t%d\t%d\t%d", (int)nobody.uid, (int)nobody.uid,
		       (int)nobody.uid, (int)nobody.uid);
	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	/* named by descriptor */
	for (int i = 0; i < 1000 && strcmp(name, "63") != 0; i++) {
		FILE *f = fopen(path, "re");

		assert_non_null(f);
		(void)fscanf(f, "%31s", name);
		(void)fclose(f);
		(void)usleep(5000);
	}
	assert_status(pid, "Uid:", ids);
	assert_status(pid, "NoNewPrivs:", "\t1");
	assert_status(pid, "Seccomp:", "\t2");
	if (nobody.change) {
		assert_status(pid, "CapEff:", "\t0000000000000000");
		assert_status(pid, "Groups:", "\t ");
	}
	job_free(j);
	assert_int_equal(kill(pid, 0), -1);
}

static void memory_is_bounded(void **state)
{
	struct job_result r = end(start("exhaust_memory", 20, 60));
	char text[16] = "";

	(void)state;
	assert_int_equal(r.exit_code, 0);
	assert_true(pread(r.out[0], text, sizeof(text) - 1, 0) > 0);
	assert_in_range(atoi(text), 1, 255);
	job_result_close(&r);
}

/* In a process namespace of its own the signal of the file size limit is not delivered. */
static void outputs_are_bounded(void **state)
{
	struct job_result r = end(start("fill_the_output", 20, 60));
	struct stat st;

	(void)state;
	if (r.exit_code == 0) {
		assert_int_equal(fstat(r.out[0], &st), 0);
		assert_int_equal(st.st_size, 1 << 20);
	} else {
		assert_non_null(strstr(r.reason, "File size limit"));
	}
	job_result_close(&r);
	r = end(start("lengthen_the_output", 20, 60));
	assert_int_not_equal(r.exit_code, 0);
}

static void time_is_bounded(void **state)
{
	struct job *j = start("spin", 1, 60);

	(void)state;
	/* On a busy machine a job's priority may not give it that second within a minute. */
	(void)setpriority(PRIO_PROCESS, (id_t)job_process(j), 0);
	struct job_result r = end(j);
	assert_int_equal(r.exit_code, 1);
	assert_true(r.cpu_ms < 5000);
	/* the limit of CPU time ended it */
	assert_null(strstr(r.reason, "took too long"));
	r = end(start("sleep", 20, 1));
	assert_int_equal(r.exit_code, 1);
	assert_non_null(strstr(r.reason, "took too long"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_try_is_a_real_one),
		cmocka_unit_test(none_is_possible_in_a_job),
		cmocka_unit_test(nothing_is_left_when_the_input_is_looked_at),
		cmocka_unit_test(a_job_is_nobody_in_particular),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(outputs_are_bounded),
		cmocka_unit_test(time_is_bounded),
	};

	(void)argc;
	if (strcmp(argv[0], "morph-edit") == 0)
		return play();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_place, remove_place);
}
