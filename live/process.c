/* process.c - may a process be touched at all?
 *
 * Refused is what is traced already, what must not be looked into (set-id programs and what
 * says so of itself; of root's that cannot be seen), locked memory, shadow stacks, and memory
 * that several processes share.  What filters its system calls is asked when it is stopped
 * (filter.h).
 *
 * Tested by tests/unit/live/test_process.c, tests/e2e/live.sh and tests/e2e/livekept.sh.
 */
#include "live/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/err.h"
#include "live/maps.h"
#include "live/threads.h"

enum { KCMP_SAME_MEMORY = 1 };		/* KCMP_VM */
enum { SECCOMP_STRICT = 1, SECCOMP_FILTERS = 2 };	/* modes in its state */

/* What stands behind the name at the beginning of a line. */
static const char *field(const char *status, const char *name)
{
	for (const char *p = status; (p = strstr(p, name)); p++)
		if (p == status || p[-1] == '\n')
			return p + strlen(name);
	return NULL;
}

static unsigned long number(const char *status, const char *name)
{
	const char *p = field(status, name);

	return p ? strtoul(p, NULL, 10) : 0;
}

static int refuse(struct err *err, const char *why)
{
	return err_set(err, ERR_REFUSED, "%s", why);
}

int live_status_check(const char *status, bool back, struct err *err)
{
	const char *state = field(status, "State:"), *uid = field(status, "Uid:"),
		   *gid = field(status, "Gid:"),
		   *features = field(status, "x86_Thread_features:");
	const char *line = features ? strchr(features, '\n') : NULL;
	const char *shadow = features ? strstr(features, "shstk") : NULL;
	unsigned id[3];

	if (!state || !uid || !gid)
		return err_set(err, ERR_INPUT, "the state of the process cannot be read");
	state += strspn(state, "\t ");
	if (*state == 'Z' || *state == 'X')
		return refuse(err, "it, or its main thread, has ended");
	if (*state == 'T')
		return refuse(err, "it is stopped");
	if (number(status, "TracerPid:") || *state == 't')
		return refuse(err, "another tracer is there");
	if (number(status, "Seccomp:") == SECCOMP_STRICT)
		return refuse(err, "it may read and write only (seccomp)");
	if (!back && number(status, "VmLck:"))
		return refuse(err, "it locks memory");
	if (shadow && (!line || shadow < line))
		return refuse(err, "it has shadow stacks");
	for (const char *const *p = (const char *[]){ uid, gid, NULL }; !back && *p; p++)
		if (sscanf(*p, "%u %u %u", &id[0], &id[1], &id[2]) != 3 || id[0] != id[1] ||
		    id[0] != id[2])
			return refuse(err, "it changed its user (set-id)");
	return 0;
}

static ssize_t read_proc(pid_t pid, const char *name, char *to, size_t size)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);
	if (fd >= 0)
		close(fd);
	to[n < 0 ? 0 : n] = '\0';
	return n;
}

/* AT_SECURE: it was begun with rights that who began it has not. */
static bool is_secure(pid_t pid)
{
	enum { SECURE = 23 };
	uint64_t aux[128];
	ssize_t n = read_proc(pid, "auxv", (char *)aux, sizeof(aux));

	for (ssize_t i = 0; (i + 2) * 8 <= n; i += 2)
		if (aux[i] == SECURE)
			return aux[i + 1] != 0;
	return false;
}

/* Files of a process that cannot be dumped are root's. */
static bool is_dumpable(pid_t pid, const char *status)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return stat(path, &st) == 0 && st.st_uid == number(status, "Uid:");
}

int live_process_check(pid_t pid, bool back, struct err *err)
{
	char status[8192], exe[64], link[64];

	(void)snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	if (read_proc(pid, "status", status, sizeof(status)) < 0)
		return err_set(err, ERR_SYS, "there is no process %d", (int)pid);
	if (live_status_check(status, back, err) < 0)
		return -1;
	if (pid == getpid() || readlink(exe, link, sizeof(link)) < 0)
		return refuse(err, "it runs no program that can be replaced");
	if (back)
		return 0;
	if (!is_dumpable(pid, status))
		return refuse(err, "it must not be looked into (not dumpable)");
	if (is_secure(pid))
		return refuse(err, "it runs a set-id program");
	return 0;
}

bool live_process_filters(pid_t pid)
{
	char status[8192];

	return read_proc(pid, "status", status, sizeof(status)) < 0 ||
	       number(status, "Seccomp:") == SECCOMP_FILTERS;
}

int live_process_alone(pid_t pid, struct err *err)
{
	DIR *d = opendir("/proc");
	pid_t other = 0;

	if (!d)
		return err_set(err, ERR_SYS, "'/proc': %s", strerror(errno));
	for (struct dirent *e; other == 0 && (e = readdir(d));) {
		pid_t p = (pid_t)atol(e->d_name);

		if (p > 0 && p != pid && syscall(SYS_kcmp, pid, p, KCMP_SAME_MEMORY, 0, 0) == 0)
			other = p;
	}
	closedir(d);
	/* it fails for oneself only where the kernel has no such call */
	if (syscall(SYS_kcmp, pid, pid, KCMP_SAME_MEMORY, 0, 0) != 0)
		return err_set(err, ERR_REFUSED, "cannot be seen whether others share its "
			       "memory: %s", strerror(errno));
	if (!other)
		return LIVE_DONE;
	err_set(err, ERR_REFUSED, "process %d runs in the same memory", (int)other);
	return LIVE_NOT_NOW;
}

/* KB of the mapping at `start` that are the process's own, and that are locked; -1: there is
 * none. */
static int read_pages(pid_t pid, uint64_t start, unsigned long *own_kb,
		      unsigned long *locked_kb, struct err *err)
{
	char path[64], line[512], head[32];
	bool here = false, seen = false;

	*own_kb = *locked_kb = 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	(void)snprintf(head, sizeof(head), "%08" PRIx64 "-", start);
	FILE *f = fopen(path, "re");
	if (!f)
		return err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	while ((here || !seen) && fgets(line, sizeof(line), f)) {
		/* a mapping begins with its address, all else with a name */
		if (strncmp(line, head, strlen(head)) == 0)
			here = seen = true;
		else if (strchr("0123456789abcdef", line[0]))
			here = false;
		else if (here && sscanf(line, "Anonymous: %lu", own_kb) != 1)
			(void)sscanf(line, "Locked: %lu", locked_kb);
	}
	(void)fclose(f);
	if (!seen)
		return err_set(err, ERR_SYS, "process %d has ended", (int)pid);
	return 0;
}

int live_process_clean(pid_t pid, uint64_t start, struct err *err)
{
	unsigned long own_kb, locked_kb;

	if (read_pages(pid, start, &own_kb, &locked_kb, err) < 0)
		return -1;
	if (own_kb || locked_kb)
		return refuse(err, "pages of its text are its own or locked "
			      "(a breakpoint, a probe)");
	return 0;
}

bool live_process_locked(pid_t pid, uint64_t start)
{
	unsigned long own_kb, locked_kb;
	struct err ignored;

	return read_pages(pid, start, &own_kb, &locked_kb, &ignored) == 0 && locked_kb;
}

/* Behind the end of the file a page has zeros. */
static int compare(int mem, const struct live_map *m, int fd, struct err *err)
{
	enum { CHUNK = 1 << 16 };
	static uint8_t has[CHUNK], want[CHUNK];

	for (uint64_t at = 0, size = m->end - m->start; at < size; at += CHUNK) {
		size_t n = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
		ssize_t got = pread(fd, want, n, (off_t)(m->offset + at));

		if (got < 0 || pread(mem, has, n, (off_t)(m->start + at)) != (ssize_t)n)
			return err_set(err, ERR_SYS, "its text cannot be read");
		memset(want + got, 0, n - (size_t)got);
		if (memcmp(has, want, n) != 0)
			return refuse(err, "somebody wrote into text that it got (a breakpoint "
				      "is there still)");
	}
	return 0;
}

int live_process_unwritten(pid_t pid, const struct live_map *m, int fd, struct err *err)
{
	char path[64];
	unsigned long own_kb, locked_kb;

	if (read_pages(pid, m->start, &own_kb, &locked_kb, err) < 0)
		return -1;
	if (!own_kb)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	int mem = open(path, O_RDONLY | O_CLOEXEC);
	if (mem < 0)
		return err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	int rc = compare(mem, m, fd, err);
	close(mem);
	return rc;
}

uint64_t live_process_stack(pid_t pid)
{
	static const uint64_t more = 16 << 20, most = (uint64_t)1 << 30;
	struct rlimit r;

	if (prlimit(pid, RLIMIT_STACK, NULL, &r) < 0 || r.rlim_cur > most)
		return most;
	return r.rlim_cur + more;
}
