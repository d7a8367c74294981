/* madefile.c - what a process has written of code that it made; see madefile.h
 *
 * Who a process is is what its credentials say (/proc/PID/status), not whose its files in /proc
 * are: those of one that must not be dumped are root's, whoever runs it.  The file must be a
 * regular one that no link leads to, of that user, with one name only, and written since the
 * process began.  It is looked up below the process's root folder and through no link, with no
 * rights but that user's: a folder that he mounts there, where he may, shows us no more than
 * him.  No lease and no pipe holds up the opening (regular.h).
 *
 * For what may be read the effective user counts, and that is he; the real and the saved one
 * are the jobs'.  So he may neither signal nor trace the child, and a file system that he has
 * mounted for himself (FUSE), for which the kernel asks all three, refuses it and never holds
 * it up.  One that is for all can, or one below another (overlayfs), and then not even root
 * ends the child, which outlives the daemon.  So it has nothing open of ours: not the lock of
 * the store, no socket of the roles.
 *
 * Tested by tests/unit/manager/parent/test_madefile.c.
 */
#include "manager/parent/madefile.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/procstat.h"
#include "manager/parent/regular.h"
#include "manager/parent/role.h"

/* Chosen: for one, for those of a user at once, and of how much time one is forgotten. */
enum { WAIT_MS = 5000, WAITED_MS = 2000, FORGET_PART = 100 };
enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };
/* A clock of files is coarse, and the beginning of a process is known to some milliseconds. */
#define SLACK_NS UINT64_C(2000000000)

enum outcome { COPIED, NO_PROCESS, NO_RIGHTS, NO_FILE, NOT_REGULAR, OTHERS, LINKED, TOO_OLD,
	       TOO_LARGE, UNREADABLE, NOUTCOME };

static const char *const text[NOUTCOME] = {
	[NO_PROCESS] = "the process is not there any more",
	[NO_RIGHTS] = "its user's rights could not be taken",
	[NO_FILE] = "there is none", [NOT_REGULAR] = "not a regular file",
	[OTHERS] = "another user's", [LINKED] = "it has several names",
	[TOO_OLD] = "written before the process began", [TOO_LARGE] = "too large",
	[UNREADABLE] = "it cannot be read",
};

struct process {
	int dir;			/* of /proc */
	uid_t uid;
	gid_t gid;
	uid_t answers;			/* for what it does */
	pid_t pid;			/* as it sees itself */
	uint64_t began_ns;		/* since 1970 */
	char file[4096];		/* below its root folder */
};

static uint64_t clock_ns(clockid_t which)
{
	struct timespec t;

	(void)clock_gettime(which, &t);	/* cannot fail for these */
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- who it is --- */

static bool read_text(int dir, const char *name, char *out, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);

	if (fd >= 0)
		close(fd);
	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* All four of a kind are the same: it is in the middle of nothing. */
static bool read_ids(const char *status, const char *key, unsigned *out)
{
	const char *at = strstr(status, key);
	unsigned id[4];

	if (!at ||
	    sscanf(at + strlen(key), " %u %u %u %u", &id[0], &id[1], &id[2], &id[3]) != 4)
		return false;
	*out = id[0];
	return id[1] == id[0] && id[2] == id[0] && id[3] == id[0];
}

/* In namespaces of processes it has a number in each, from ours to its own. */
static void read_own_pid(const char *status, pid_t *out)
{
	const char *at = strstr(status, "\nNSpid:");
	char *end;

	for (at = at ? at + 7 : ""; *at == '\t'; at = end)
		*out = (pid_t)strtol(at, &end, 10);
}

/* In a namespace of users that somebody has he is as many of them as he has numbers. */
static uid_t who_answers(const struct process *p)
{
	int ns = openat(p->dir, "ns/user", O_RDONLY | O_CLOEXEC), outer;
	uid_t answers = p->uid, owner;
	struct stat ours, st;

	for (; ns >= 0 && stat("/proc/self/ns/user", &ours) == 0 && fstat(ns, &st) == 0 &&
	       st.st_ino != ours.st_ino; ns = outer) {
		if (ioctl(ns, NS_GET_OWNER_UID, &owner) == 0)
			answers = owner;
		outer = ioctl(ns, NS_GET_PARENT);	/* none: it is not below ours */
		close(ns);
	}
	if (ns >= 0)
		close(ns);
	return answers;
}

static bool read_process(struct process *p)
{
	const uint64_t tick_ns = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
	char stat[1024], status[4096];
	struct procstat s;

	if (!read_text(p->dir, "stat", stat, sizeof(stat)) || !procstat_parse(stat, &s) ||
	    !read_text(p->dir, "status", status, sizeof(status)) ||
	    !read_ids(status, "\nUid:", &p->uid) || !read_ids(status, "\nGid:", &p->gid))
		return false;
	read_own_pid(status, &p->pid);
	p->answers = who_answers(p);
	p->began_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) + s.start * tick_ns;
	return true;
}

/* Its map, or a jitdump with the name that such a one has. */
static bool name_file(const struct madefile_request *r, struct process *p)
{
	const char *base = strrchr(r->dump, '/');
	char name[32];

	if (!*r->dump) {
		(void)snprintf(p->file, sizeof(p->file), "tmp/perf-%d.map", (int)p->pid);
		return true;
	}
	(void)snprintf(name, sizeof(name), "/jit-%d.dump", (int)r->pid);	/* fits */
	return r->dump[0] == '/' && strcmp(base, name) == 0 &&
	       snprintf(p->file, sizeof(p->file), "%s", r->dump + 1) < (int)sizeof(p->file);
}

/* --- the child --- */

/* All but these two. */
static bool close_others(int a, int b)
{
	unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);

	return (low == 0 || close_range(0, low - 1, 0) == 0) &&
	       (low + 1 == high || close_range(low + 1, high - 1, 0) == 0) &&
	       close_range(high + 1, ~0u, 0) == 0;
}

/* For good.  Root's own are left without capabilities: what is his he may read anyway.  A
 * change of user sets anew whether there may be cores and who may trace, and a signal. */
static bool become(const struct process *p, const struct job_user *reader)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };
	uid_t uid = reader->change ? reader->uid : p->uid;
	gid_t gid = reader->change ? reader->gid : p->gid;

	if (geteuid() == 0 && setgroups(0, NULL) < 0)
		return false;
	return prctl(PR_SET_DUMPABLE, 0) == 0 && setresgid(gid, p->gid, gid) == 0 &&
	       setresuid(uid, p->uid, uid) == 0 && syscall(SYS_capset, &head, none) == 0 &&
	       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_DUMPABLE, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

static enum outcome judge(const struct process *p, const struct stat *st, uint64_t max_bytes)
{
	uint64_t written_ns = (uint64_t)st->st_mtim.tv_sec * 1000000000 +
			      (uint64_t)st->st_mtim.tv_nsec;

	if (st->st_uid != p->uid)
		return OTHERS;
	if (st->st_nlink != 1)
		return LINKED;
	if (written_ns + SLACK_NS < p->began_ns)
		return TOO_OLD;
	return st->st_size < 0 || (uint64_t)st->st_size > max_bytes ? TOO_LARGE : COPIED;
}

/* It may grow meanwhile, and never end. */
static enum outcome copy(int from, int to, uint64_t max_bytes)
{
	static char part[65536];
	uint64_t sum = 0;
	ssize_t n;

	while ((n = read(from, part, sizeof(part))) > 0) {
		sum += (uint64_t)n;
		if (sum > max_bytes)
			return TOO_LARGE;
		if (write(to, part, (size_t)n) != n)
			return UNREADABLE;
	}
	return n < 0 ? UNREADABLE : COPIED;
}

static enum outcome child(const struct process *p, const struct madefile_request *r, int to)
{
	int root = openat(p->dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (root < 0)
		return NO_PROCESS;
	if (!close_others(root, to) || !become(p, &r->reader))
		return NO_RIGHTS;
	int fd = regular_open(root, p->file, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS, &st);
	if (fd < 0)
		return fd == REGULAR_NOT || errno == ELOOP ? NOT_REGULAR :
		       errno == ENOENT	? NO_FILE : UNREADABLE;
	enum outcome what = judge(p, &st, r->max_bytes);
	return what == COPIED ? copy(fd, to, r->max_bytes) : what;
}

/* --- the parent --- */

/* His, as it is now, or room for him; NULL: too many have children that do not end. */
static struct madefile_user *user_of(struct madefile *m, uid_t answers)
{
	struct madefile_user *found = NULL;
	uint64_t now_ms = role_now_ms();

	for (unsigned i = 0; i < MADEFILE_USERS; i++) {
		struct madefile_user *u = &m->user[i];
		uint64_t forgotten_ms = (now_ms - u->at_ms) / FORGET_PART;

		if (u->left && waitpid(u->left, NULL, WNOHANG) != 0)
			u->left = 0;
		u->waited_ms -= forgotten_ms < u->waited_ms ? forgotten_ms : u->waited_ms;
		u->at_ms += forgotten_ms * FORGET_PART;
		if (u->answers == answers && (u->left || u->waited_ms))
			return u;
		if (!u->left && (!found || u->waited_ms < found->waited_ms))
			found = u;
	}
	if (found)
		*found = (struct madefile_user){ .answers = answers, .at_ms = now_ms };
	return found;
}

/* It is ours until it is waited for. */
static void leave(struct madefile *m, pid_t pid, uid_t answers)
{
	struct madefile_user *u = user_of(m, answers);

	(void)kill(pid, SIGKILL);
	if (u)
		u->left = pid;
}

static int launch(struct madefile *m, const struct process *p, const struct madefile_request *r,
		  struct err *err)
{
	m->copy = memfd_create("morph-made", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (m->copy < 0)
		return err_set(err, ERR_SYS, "memfd_create: %s", strerror(errno));
	pid_t child_pid = fork();
	if (child_pid == 0)
		_exit((int)child(p, r, m->copy));
	m->pidfd = child_pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, child_pid, 0);
	if (m->pidfd < 0) {
		err_set(err, ERR_SYS, "fork: %s", strerror(errno));
		close(m->copy);
		if (child_pid > 0)
			leave(m, child_pid, p->answers);
		return -1;
	}
	m->child = child_pid;
	m->owner = p->uid;
	m->answers = p->answers;
	m->wait = patience_begin(role_now_ms(), WAIT_MS);
	return 0;
}

int madefile_start(struct madefile *m, const struct madefile_request *r, struct err *err)
{
	struct process p = { .dir = -1, .pid = r->pid };
	struct madefile_user *u;
	char dir[32];

	(void)snprintf(dir, sizeof(dir), "/proc/%d", (int)r->pid);	/* fits */
	p.dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = -1;
	if (p.dir < 0 || !read_process(&p))
		err_set(err, ERR_REFUSED, "process %d: not there, or of several users",
			(int)r->pid);
	else if (p.began_ns > r->at_ns + SLACK_NS)
		err_set(err, ERR_REFUSED, "process %d: another one by now", (int)r->pid);
	else if (!name_file(r, &p))
		err_set(err, ERR_REFUSED, "'%s': not the name of a jitdump", r->dump);
	else if (!(u = user_of(m, p.answers)) || u->left)
		err_set(err, ERR_SYS, "the one before has not ended yet");
	else if (u->waited_ms >= WAITED_MS)
		err_set(err, ERR_SYS, "its user's files have taken too long lately");
	else
		rc = launch(m, &p, r, err);
	if (p.dir >= 0)
		close(p.dir);
	return rc;
}

static void forget(struct madefile *m)
{
	struct madefile_user *u = user_of(m, m->answers);

	if (u)
		u->waited_ms += WAIT_MS - m->wait.left_ms;
	close(m->pidfd);
	if (m->copy >= 0)
		close(m->copy);
	m->child = 0;
}

static int take_copy(struct madefile *m, int status, struct err *why)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : NOUTCOME;

	if (code != COPIED)
		return err_set(why, ERR_REFUSED, "what it wrote of its code: %s",
			       code < NOUTCOME ? text[code] : "its reader has ended");
	if (fcntl(m->copy, F_ADD_SEALS, SEALS) < 0 || lseek(m->copy, 0, SEEK_SET) != 0)
		return err_set(why, ERR_SYS, "seal: %s", strerror(errno));
	int fd = m->copy;
	m->copy = -1;
	return fd;
}

int madefile_step(struct madefile *m, int *fd, char owner[MADEFILE_OWNER], struct err *why)
{
	int status;

	if (!m->child)
		return 0;
	*fd = -1;
	(void)snprintf(owner, MADEFILE_OWNER, "%u", (unsigned)m->owner);	/* fits */
	bool over = patience_over(&m->wait, role_now_ms());
	if (waitpid(m->child, &status, WNOHANG) == m->child) {
		*fd = take_copy(m, status, why);
		forget(m);
		return 1;
	}
	if (!over)
		return 0;
	madefile_end(m);
	err_set(why, ERR_REFUSED, "what it wrote of its code: it took too long");
	return 1;
}

int madefile_poll(const struct madefile *m, struct pollfd *p)
{
	*p = (struct pollfd){ m->child ? m->pidfd : -1, POLLIN, 0 };
	return m->child ? patience_poll(&m->wait) : -1;
}

void madefile_end(struct madefile *m)
{
	if (!m->child)
		return;
	leave(m, m->child, m->answers);
	forget(m);
}
