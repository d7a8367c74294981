/* confine.c - seccomp filters, resource limits and Landlock rules of every confined process
 *
 * Each of the three kinds of process (job, program, role of the daemon) has a list of the
 * system calls that it may make; some lists give conditions on arguments as well.  A list has
 * only what its process needs: any other call kills the process or fails with EPERM, as
 * confine.h says.  Limits and Landlock come first, because the filter forbids the calls that
 * set them up.
 *
 * Tested by tests/unit/manager/parent/test_cage.c and tests/e2e/trust.sh.
 */
#include "lib/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/landlock.h"

static int limit(int resource, uint64_t value, const char *name, struct err *err)
{
	struct rlimit r = { value, value };

	if (setrlimit(resource, &r) < 0)
		return err_set(err, ERR_SYS, "setrlimit %s: %s", name, strerror(errno));
	return 0;
}

/* The signal that says so comes a second before the one that kills. */
static int limit_cpu(unsigned cpu_s, struct err *err)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_CPU, &r) == 0) {
		r.rlim_cur = cpu_s;
		if (r.rlim_max > cpu_s)
			r.rlim_max = cpu_s + 1ull;
		if (setrlimit(RLIMIT_CPU, &r) == 0)
			return 0;
	}
	return err_set(err, ERR_SYS, "setrlimit CPU time: %s", strerror(errno));
}

/* --- filters of system calls --- */

enum { MAX_TESTS = 3, MAX_CALLS = 64 };	/* room for the lists below */

/* A system call that is allowed when its tested arguments are as said.  The kernel looks at the
 * lower half of those that are an int, so tests of these must as well. */
struct call {
	int number;
	int ntest;
	struct scmp_arg_cmp test[MAX_TESTS];
};

#define INT_IS(arg, value) SCMP_CMP64(arg, SCMP_CMP_MASKED_EQ, UINT32_MAX, (uint32_t)(value))
#define HAS_NOT(arg, bits)	SCMP_CMP64(arg, SCMP_CMP_MASKED_EQ, (bits), 0)

static int add_calls(scmp_filter_ctx ctx, const struct call *call, size_t n)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, call[i].number,
					    (unsigned)call[i].ntest, call[i].test);
	return rc;
}

/* Only the calls of both lists from now on. */
static int filter(uint32_t otherwise, const int *plain, size_t nplain, const struct call *call,
		  size_t ncall, struct err *err)
{
#ifdef MORPH_SANITIZED
	(void)otherwise, (void)plain, (void)nplain, (void)call, (void)ncall, (void)err;
	(void)add_calls;
	return 0;
#else
	scmp_filter_ctx ctx = seccomp_init(otherwise);
	int rc = ctx ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < nplain; i++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, plain[i], 0);
	if (rc == 0)
		rc = add_calls(ctx, call, ncall);
	if (rc == 0)
		rc = seccomp_load(ctx);
	if (ctx)
		seccomp_release(ctx);
	return rc == 0 ? 0 : err_set(err, ERR_SYS, "seccomp: %s", strerror(-rc));
#endif
}

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* --- a job that has read its input --- */

int confine_job(uint64_t memory_bytes, unsigned cpu_s, struct err *err)
{
	static const int allowed[] = {
		SCMP_SYS(write), SCMP_SYS(pwrite64), SCMP_SYS(lseek), SCMP_SYS(ftruncate),
		SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk),
		SCMP_SYS(sysinfo),	/* qsort() asks how much memory there is */
		SCMP_SYS(futex), SCMP_SYS(getrandom), SCMP_SYS(clock_gettime),
		SCMP_SYS(rt_sigreturn), SCMP_SYS(exit), SCMP_SYS(exit_group),
	};
	const struct call call[] = {
		{ SCMP_SYS(mmap), 2, { HAS_NOT(2, PROT_EXEC), HAS_NOT(3, MAP_SHARED) } },
	};

#ifdef MORPH_SANITIZED
	memory_bytes = 0;
#endif
	if (limit(RLIMIT_CORE, 0, "core", err) < 0 ||
	    (memory_bytes && limit(RLIMIT_AS, memory_bytes, "address space", err) < 0) ||
	    (cpu_s && limit_cpu(cpu_s, err) < 0))
		return -1;
	/* a core file that a program takes, core_pattern "|...", has no limit of size */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_set(err, ERR_SYS, "prctl: %s", strerror(errno));
	return filter(SCMP_ACT_KILL_PROCESS, allowed, COUNT(allowed), call, COUNT(call), err);
}

/* --- a program that is started --- */

/* What comes before the program's own confinement: the loader, reading the input,
 * confine_job(). */
static int filter_program(int program, int first_out, int nfd, struct err *err)
{
	static const int plain[] = {
		SCMP_SYS(read),
		SCMP_SYS(pread64),
		SCMP_SYS(lseek),
		SCMP_SYS(close),
		SCMP_SYS(fstat),
		SCMP_SYS(newfstatat),
		SCMP_SYS(munmap),
		SCMP_SYS(mremap),
		SCMP_SYS(madvise),
		SCMP_SYS(brk),
		SCMP_SYS(sysinfo),
		SCMP_SYS(futex),
		SCMP_SYS(getrandom),
		SCMP_SYS(clock_gettime),
		SCMP_SYS(arch_prctl),
		SCMP_SYS(set_tid_address),
		SCMP_SYS(set_robust_list),
		SCMP_SYS(rseq),
		SCMP_SYS(rt_sigreturn),
		SCMP_SYS(exit),
		SCMP_SYS(exit_group),
		SCMP_SYS(seccomp),	/* takes rights away, never gives any */
	};
	static const int writes[] = { SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(pwrite64),
				      SCMP_SYS(ftruncate) };
	struct call call[MAX_CALLS] = {
		{ SCMP_SYS(execveat), 2, { INT_IS(0, program), INT_IS(4, AT_EMPTY_PATH) } },
		{ SCMP_SYS(openat), 1, { INT_IS(2, O_RDONLY | O_CLOEXEC) } },
		{ SCMP_SYS(mmap), 2, { HAS_NOT(2, PROT_EXEC), HAS_NOT(3, MAP_SHARED) } },
		/* The loader has one file open at a time, so it always is the first free
		 * one. */
		{ SCMP_SYS(mmap),
		  3,
		  { INT_IS(2, PROT_READ | PROT_EXEC), HAS_NOT(3, MAP_ANONYMOUS | MAP_SHARED),
		    INT_IS(4, nfd) } },
		{ SCMP_SYS(mprotect), 1, { HAS_NOT(2, PROT_EXEC) } },
		{ SCMP_SYS(fcntl), 1, { INT_IS(1, F_GETFD) } },
		{ SCMP_SYS(prlimit64), 1, { INT_IS(0, 0) } },	/* its own, which only sink */
		{ SCMP_SYS(prctl), 1, { INT_IS(0, PR_SET_NO_NEW_PRIVS) } },
		{ SCMP_SYS(prctl), 2, { INT_IS(0, PR_SET_DUMPABLE), INT_IS(1, 0) } },
		{ SCMP_SYS(getpriority), 2, { INT_IS(0, PRIO_PROCESS), INT_IS(1, 0) } },
	};
	size_t n = 0;

	while (call[n].ntest)
		n++;
	for (int fd = 1; fd < nfd; fd = fd == 2 ? first_out : fd + 1)
		for (size_t i = 0; i < COUNT(writes) && n < MAX_CALLS; i++)
			call[n++] = (struct call){ writes[i], 1, { INT_IS(0, fd) } };
	return filter(SCMP_ACT_ERRNO(EPERM), plain, COUNT(plain), call, n, err);
}

int confine_program(int program, int first_out, int nfd, struct err *err)
{
	const struct landlock_rule rule[] = {
		{ program, "program", LANDLOCK_READ | LANDLOCK_RUN },
		{ -1, "/lib64/ld-linux-x86-64.so.2", LANDLOCK_READ | LANDLOCK_RUN },
		{ -1, "/etc/ld.so.cache", LANDLOCK_READ },
		{ -1, "/lib", LANDLOCK_READ },
		{ -1, "/lib64", LANDLOCK_READ },
		{ -1, "/usr/lib", LANDLOCK_READ },
		{ -1, "/usr/lib64", LANDLOCK_READ },
		{ -1, "/usr/local/lib", LANDLOCK_READ },
	};
	int rc = landlock_confine(rule, (int)COUNT(rule), err);

	return rc < 0 || filter_program(program, first_out, nfd, err) < 0 ? -1 : rc;
}

/* --- the parts of the daemon --- */

/* What both do.  Paths are Landlock's matter; all that is here works on what that leaves. */
static const int role_calls[] = {
	SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(readv), SCMP_SYS(write), SCMP_SYS(pwrite64),
	SCMP_SYS(writev), SCMP_SYS(lseek), SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(close),
	SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(statx),
	SCMP_SYS(statfs), SCMP_SYS(fstatfs), SCMP_SYS(access), SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getdents64),
	SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(rename), SCMP_SYS(renameat),
	SCMP_SYS(renameat2), SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(fchmod),
	SCMP_SYS(ftruncate), SCMP_SYS(fallocate), SCMP_SYS(fsync), SCMP_SYS(fdatasync),
	SCMP_SYS(flock), SCMP_SYS(dup), SCMP_SYS(dup2), SCMP_SYS(dup3),
	SCMP_SYS(pipe2), SCMP_SYS(memfd_create), SCMP_SYS(eventfd2), SCMP_SYS(getcwd),
	SCMP_SYS(umask), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(recvmsg), SCMP_SYS(sendmsg),
	SCMP_SYS(recvfrom), SCMP_SYS(sendto), SCMP_SYS(shutdown), SCMP_SYS(getsockopt),
	SCMP_SYS(setsockopt), SCMP_SYS(getsockname), SCMP_SYS(getpeername),
	SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(msync),
	SCMP_SYS(futex), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(getcpu),
	SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep), SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(times),
	SCMP_SYS(getrusage), SCMP_SYS(sysinfo), SCMP_SYS(uname), SCMP_SYS(getrandom),
	SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getppid), SCMP_SYS(getuid),
	SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(getgroups),
	SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigaltstack), SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group),
};

/* Names are asked for with datagrams, and of the kernel which addresses there are; name
 * services and TLS map libraries when they are first needed. */
static const struct call share_calls[] = {
	{ SCMP_SYS(socket), 1, { INT_IS(0, AF_UNIX) } },
	{ SCMP_SYS(socket), 1, { INT_IS(0, AF_INET) } },
	{ SCMP_SYS(socket), 1, { INT_IS(0, AF_INET6) } },
	{ SCMP_SYS(socket), 2, { INT_IS(0, AF_NETLINK), INT_IS(2, NETLINK_ROUTE) } },
	{ SCMP_SYS(connect), 0, { { 0 } } },
	{ SCMP_SYS(bind), 0, { { 0 } } },
	{ SCMP_SYS(sendmmsg), 0, { { 0 } } },
	{ SCMP_SYS(ioctl), 1, { INT_IS(1, FIONREAD) } },
	{ SCMP_SYS(mmap), 2, { INT_IS(2, PROT_READ | PROT_EXEC),
			       HAS_NOT(3, MAP_ANONYMOUS | MAP_SHARED) } },
};

static const struct call monitor_calls[] = {
	{ SCMP_SYS(ioctl), 1, { INT_IS(1, PERF_EVENT_IOC_ENABLE) } },
	{ SCMP_SYS(ioctl), 1, { INT_IS(1, PERF_EVENT_IOC_DISABLE) } },
};

static const struct call manager_calls[] = {
	{ SCMP_SYS(ioctl), 1, { INT_IS(1, FS_IOC_GETVERSION) } },
	{ SCMP_SYS(socket), 1, { INT_IS(0, AF_UNIX) } },
	{ SCMP_SYS(connect), 0, { { 0 } } },
	{ SCMP_SYS(accept4), 0, { { 0 } } },
	{ SCMP_SYS(inotify_init1), 0, { { 0 } } },
	{ SCMP_SYS(inotify_add_watch), 0, { { 0 } } },
	{ SCMP_SYS(inotify_rm_watch), 0, { { 0 } } },
};

static const struct {
	const struct call *call;
	size_t n;
} calls_of[] = {
	[CONFINE_MONITOR] = { monitor_calls, COUNT(monitor_calls) },
	[CONFINE_MANAGER] = { manager_calls, COUNT(manager_calls) },
	[CONFINE_SHARE] = { share_calls, COUNT(share_calls) },
};

static int filter_role(enum confine_role role, struct err *err)
{
	const struct call all[] = {
		{ SCMP_SYS(mmap), 1, { HAS_NOT(2, PROT_EXEC) } },
		{ SCMP_SYS(mprotect), 1, { HAS_NOT(2, PROT_EXEC) } },
		{ SCMP_SYS(prlimit64), 1, { INT_IS(0, 0) } },
		{ SCMP_SYS(tgkill), 1, { INT_IS(0, getpid()) } },	/* abort() */
		/* The others name who gets a signal, any one, by what happens at a file. */
		{ SCMP_SYS(fcntl), 1, { INT_IS(1, F_DUPFD) } },
		{ SCMP_SYS(fcntl), 1, { INT_IS(1, F_DUPFD_CLOEXEC) } },
		{ SCMP_SYS(fcntl), 1, { INT_IS(1, F_GETFD) } },
		{ SCMP_SYS(fcntl), 1, { INT_IS(1, F_SETFD) } },
		{ SCMP_SYS(fcntl), 1, { INT_IS(1, F_GETFL) } },
		{ SCMP_SYS(fcntl), 2, { INT_IS(1, F_SETFL), HAS_NOT(2, O_ASYNC) } },
		{ SCMP_SYS(fcntl), 1, { INT_IS(1, F_GETLK) } },
		{ SCMP_SYS(fcntl), 1, { INT_IS(1, F_SETLK) } },
		{ SCMP_SYS(fcntl), 1, { INT_IS(1, F_SETLKW) } },
		{ SCMP_SYS(fcntl), 1, { INT_IS(1, F_SETLEASE) } },
		{ SCMP_SYS(fcntl), 1, { INT_IS(1, F_ADD_SEALS) } },
		{ SCMP_SYS(fcntl), 1, { INT_IS(1, F_GET_SEALS) } },
	};
	struct call call[COUNT(all) + COUNT(share_calls)];	/* which are the most */

	memcpy(call, all, sizeof(all));
	memcpy(call + COUNT(all), calls_of[role].call, sizeof(*call) * calls_of[role].n);
	return filter(SCMP_ACT_ERRNO(EPERM), role_calls, COUNT(role_calls), call,
		      COUNT(all) + calls_of[role].n, err);
}

static int confine_files_of_share(struct err *err)
{
	const struct landlock_rule rule[] = {
		{ -1, NULL, LANDLOCK_CONNECT },
		{ -1, "/dev/null", LANDLOCK_READ | LANDLOCK_WRITE },
		{ -1, "/dev/urandom", LANDLOCK_READ },
		{ -1, "/etc", LANDLOCK_READ | LANDLOCK_LIST },
		{ -1, "/run/systemd/resolve", LANDLOCK_READ },
		{ -1, "/lib", LANDLOCK_READ },
		{ -1, "/lib64", LANDLOCK_READ },
		{ -1, "/usr/lib", LANDLOCK_READ },
		{ -1, "/usr/lib64", LANDLOCK_READ },
		{ -1, "/usr/share/ca-certificates", LANDLOCK_READ },
		{ -1, "/usr/local/share/ca-certificates", LANDLOCK_READ },
		{ -1, "/usr/share/zoneinfo", LANDLOCK_READ },
	};

	return landlock_confine(rule, (int)COUNT(rule), err);
}

int confine_role(enum confine_role role, const char *folder, const char *host, struct err *err)
{
	const struct landlock_rule rule[] = {
		{ -1, folder, LANDLOCK_READ | LANDLOCK_LIST | LANDLOCK_WRITE },
		{ -1, "/dev/null", LANDLOCK_READ | LANDLOCK_WRITE },
		{ -1, "/proc", LANDLOCK_READ | LANDLOCK_LIST },
		{ -1, "/sys", LANDLOCK_READ | LANDLOCK_LIST },
		{ -1, "/etc", LANDLOCK_READ },		/* who users are, the time zone */
		{ -1, "/var/lib/dpkg/info", LANDLOCK_READ | LANDLOCK_LIST },
		{ -1, "/usr/share/zoneinfo", LANDLOCK_READ },
		{ -1, host, LANDLOCK_READ | LANDLOCK_LIST },
	};
	int n = role == CONFINE_MONITOR ? 3 : (int)COUNT(rule) - (host ? 0 : 1);
	int rc = role == CONFINE_SHARE ? confine_files_of_share(err)
				       : landlock_confine(rule, n, err);

	return rc < 0 || filter_role(role, err) < 0 ? -1 : rc;
}
