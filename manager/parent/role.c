/* role.c - a role: started, confined, ended, and the log; see role.h
 *
 * Tested by tests/unit/manager/parent/test_role_parent.c and tests/e2e/trust.sh.
 */
#include "manager/parent/role.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/options.h"

uint64_t role_now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);	/* cannot fail for this clock */
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

enum { PARK_FD = 40 };

/* Another program of ours: what it may, it gives up itself.  What it would write to our log
 * could be a server's.  Never returns. */
static void become_share(const struct role_options *o, int program, char *const env[])
{
	static const char *const arg[] = { "morphd: share", "exchange", NULL };
	struct job_user user;
	struct err err;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= 2; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			_exit(1);
	if (role_user(o->share_user, &user, &err) < 0 || role_drop(&user, &err) < 0)
		_exit(1);
	fexecve(program, (char *const *)(uintptr_t)arg, env);
	_exit(1);
}

/* Never returns. */
static void become(const struct role_options *o, enum msg_role role, int sock, int listen_fd)
{
	struct options_line line;
	char path[] = "PATH=/usr/bin:/bin", stream[64], *env[] = { path, stream, NULL };
	const char *journal = getenv("JOURNAL_STREAM");	/* for log.c */
	sigset_t none;

	(void)snprintf(stream, sizeof(stream), "JOURNAL_STREAM=%s", journal ? journal : "");
	sock = fcntl(sock, F_DUPFD_CLOEXEC, PARK_FD);
	if (listen_fd >= 0)
		listen_fd = fcntl(listen_fd, F_DUPFD_CLOEXEC, PARK_FD);
	const char *name = role == MSG_ROLE_SHARE ? o->morph_share : "/proc/self/exe";
	int program = open(name, O_PATH | O_CLOEXEC);
	if (program >= 0)
		program = fcntl(program, F_DUPFD_CLOEXEC, PARK_FD);
	if (sock < 0 || program < 0 || dup2(sock, ROLE_FD_PARENT) < 0 ||
	    (listen_fd >= 0 && dup2(listen_fd, ROLE_FD_LISTEN) < 0))
		_exit(1);
	unsigned first = listen_fd >= 0 ? 5 : 4;
	/* Linux before 5.11 cannot: then what is above closes itself, if it is ours. */
	if (close_range(first, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		(void)close_range(first, PARK_FD - 1, 0);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);	/* neither can fail on valid pointers */
	if (role == MSG_ROLE_SHARE)
		become_share(o, program, env);
	struct role_options its = *o;
	its.role = role;
	options_make(&its, role == MSG_ROLE_MANAGER ? "morphd: manager" : "morphd: monitor",
		     &line);
	/* execve only reads them */
	fexecve(program, (char *const *)(uintptr_t)line.arg, env);
	_exit(1);
}

int role_start(struct role_child *c, const struct role_options *o, int listen_fd,
	       struct err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(err, ERR_SYS, "socketpair: %s", strerror(errno));
	pid_t pid = fork();
	if (pid == 0)
		become(o, c->role, pair[1], listen_fd);
	int e = errno;
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return err_set(err, ERR_SYS, "fork: %s", strerror(e));
	}
	c->pid = pid;
	c->sock = pair[0];
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	c->starts++;
	if (c->pidfd < 0 || fcntl(c->sock, F_SETFL, O_NONBLOCK) < 0) {
		err_set(err, ERR_SYS, "pidfd_open: %s", strerror(errno));
		(void)role_reap(c);	/* it has done nothing yet */
		return -1;
	}
	return 0;
}

int role_reap(struct role_child *c)
{
	int status = 0;

	if (!c->pid)
		return 0;
	(void)kill(c->pid, SIGKILL);	/* it may have ended by itself */
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(c->sock);
	if (c->pidfd >= 0)
		close(c->pidfd);
	c->pid = 0;
	c->sock = c->pidfd = -1;
	return status;
}

int role_user(const char *name, struct job_user *out, struct err *err)
{
	struct passwd *pw = getpwnam(name);

	if (!pw)
		return err_set(err, ERR_USAGE,
			       "user '%s' does not exist; make it with "
			       "'useradd --system %s' or name another one with --user",
			       name, name);
	*out = (struct job_user){ geteuid() == 0, pw->pw_uid, pw->pw_gid };
	if (!out->change && pw->pw_uid != geteuid())
		return err_set(err, ERR_USAGE,
			       "needs root to run its parts as user '%s' (root is "
			       "also needed to sample all processes and to replace programs)",
			       name);
	return 0;
}

int role_drop(const struct job_user *user, struct err *err)
{
	struct rlimit none = { 0, 0 };
	pid_t parent = getppid();

	if (setrlimit(RLIMIT_CORE, &none) < 0)
		return err_set(err, ERR_SYS, "setrlimit: %s", strerror(errno));
	if (user->change && (setgroups(0, NULL) < 0 ||
			     setresgid(user->gid, user->gid, user->gid) < 0 ||
			     setresuid(user->uid, user->uid, user->uid) < 0))
		return err_set(err, ERR_SYS, "change of user: %s", strerror(errno));
	/* A change of user forgets the death signal, so it comes after. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return err_set(err, ERR_SYS, "prctl: %s", strerror(errno));
	if (getppid() != parent)
		return err_set(err, ERR_SYS, "the parent has ended");
	return 0;
}
