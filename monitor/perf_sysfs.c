/* perf_sysfs.c - reads numbers, lists of CPUs and ids of tracepoints from small kernel files
 *
 * Ids of tracepoints are in tracefs, which is mounted on most machines, but not in containers
 * and minimal systems.  Where it is not, root makes an instance of it that no path leads to and
 * nobody else sees: a mount that is a descriptor only and ends with it.
 */
#include "monitor/perf_sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "lib/err.h"

int sysfs_number(const char **p, uint64_t max, uint64_t *out)
{
	const char *s = *p;
	uint64_t v = 0;

	if (*s < '0' || *s > '9')
		return -1;
	for (; *s >= '0' && *s <= '9'; s++) {
		if (v > (max - (uint64_t)(*s - '0')) / 10)
			return -1;
		v = v * 10 + (uint64_t)(*s - '0');
	}
	*p = s;
	*out = v;
	return 0;
}

static int line_at(int dirfd, const char *path, char *out, size_t n)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	ssize_t k = fd < 0 ? -1 : read(fd, out, n - 1);
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	if (k < 0)
		return -1;
	out[k] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return 0;
}

int sysfs_line(const char *path, char *out, size_t n)
{
	return line_at(AT_FDCWD, path, out, n);
}

const char sysfs_online_path[] = "/sys/devices/system/cpu/online";

int sysfs_cpus(const char *text, unsigned *out, unsigned max)
{
	unsigned n = 0;

	for (const char *p = text; *p; p += *p == ',') {
		uint64_t from, to;

		if (sysfs_number(&p, SYSFS_MAX_CPU, &from) < 0)
			return -1;
		to = from;
		if (*p == '-' && (p++, sysfs_number(&p, SYSFS_MAX_CPU, &to) < 0))
			return -1;
		for (; from <= to && n < max; from++)
			out[n++] = (unsigned)from;
		if (*p && *p != ',')
			return -1;
	}
	return (int)n;
}

int sysfs_online(unsigned *out, unsigned max, struct err *err)
{
	char text[4096];

	if (sysfs_line(sysfs_online_path, text, sizeof(text)) < 0)
		return err_set(err, ERR_SYS, "'%s': %s", sysfs_online_path, strerror(errno));
	int n = sysfs_cpus(text, out, max);
	if (n < 0)
		return err_set(err, ERR_INPUT, "'%s': '%s' is no list of CPUs",
			       sysfs_online_path, text);
	return n;
}

static const char *const tracing_roots[] = {
	"/sys/kernel/tracing", "/sys/kernel/debug/tracing"
};

/* An instance of tracefs as a descriptor; -1 with errno. */
static int open_tracefs(void)
{
	unsigned closed = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
			  MOUNT_ATTR_NOEXEC;
	int fs = fsopen("tracefs", FSOPEN_CLOEXEC), root = -1;

	if (fs >= 0 && fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		root = fsmount(fs, FSMOUNT_CLOEXEC, closed);
	int saved = errno;
	if (fs >= 0)
		close(fs);
	errno = saved;
	return root;
}

static int id_at(int dirfd, const char *path, uint64_t *id)
{
	char text[32];
	const char *p = text;

	if (line_at(dirfd, path, text, sizeof(text)) < 0)
		return -1;
	errno = EINVAL;
	return sysfs_number(&p, UINT32_MAX, id);
}

/* Where tracefs is not to be seen. */
static int unseen_tracepoint(const char *name, uint64_t *id, struct err *err)
{
	char path[128];
	int root = open_tracefs();

	if (root < 0)
		return err_set(err, ERR_SYS,
			       "tracefs is not mounted at %s, and cannot be opened without "
			       "that: %s", tracing_roots[0], strerror(errno));
	(void)snprintf(path, sizeof(path), "events/%s/id", name);
	int rc = id_at(root, path, id);
	if (rc < 0)
		err_set(err, ERR_SYS, "tracefs: '%s': %s", path, strerror(errno));
	close(root);
	return rc;
}

int sysfs_tracepoint(const char *name, uint64_t *id, struct err *err)
{
	char path[128];

	for (unsigned i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s/events/%s/id", tracing_roots[i], name);
		if (id_at(AT_FDCWD, path, id) == 0)
			return 0;
		if (errno == EACCES || errno == EPERM)
			return err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	}
	(void)snprintf(path, sizeof(path), "%s/events", tracing_roots[0]);
	if (access(path, F_OK) < 0)
		return unseen_tracepoint(name, id, err);
	return err_set(err, ERR_SYS, "the kernel has no tracepoint %s", name);
}

int sysfs_check_rate(unsigned rate_hz, unsigned max, struct err *err)
{
	static const char path[] = "/proc/sys/kernel/perf_event_max_sample_rate";
	char text[32] = "";
	const char *p = text;
	uint64_t most;

	if (rate_hz < 1 || rate_hz > max)
		return err_set(err, ERR_USAGE, "sampling rate %u is outside 1..%u 1/s", rate_hz,
			       max);
	if (sysfs_line(path, text, sizeof(text)) == 0 &&
	    sysfs_number(&p, UINT32_MAX, &most) == 0 && rate_hz > most)
		return err_set(err, ERR_USAGE,
			       "sampling rate %u: the kernel holds samples down to "
			       "%u 1/s (kernel.perf_event_max_sample_rate)",
			       rate_hz, (unsigned)most);
	return 0;
}
