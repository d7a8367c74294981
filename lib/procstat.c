/* procstat.c - what /proc/PID/stat tells of a process or a thread
 *
 * Tested by tests/unit/lib/test_procstat.c.
 */
#include "lib/procstat.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The name is the second field, in parentheses; state, flags, times and start are 3, 9, 14, 15
 * and 22. */
bool procstat_parse(const char *text, struct procstat *out)
{
	const char *at = strrchr(text, ')');
	uint64_t user, system;

	*out = (struct procstat){ 0 };
	if (!at || sscanf(at + 1, " %c %*s %*s %*s %*s %*s %" SCNu32 " %*s %*s %*s %*s %" SCNu64
			  " %" SCNu64 " %*s %*s %*s %*s %*s %*s %" SCNu64, &out->state,
			  &out->flags, &user, &system, &out->start) != 5)
		return false;
	out->cpu_ticks = user + system;
	return true;
}

double procstat_busy(const struct procstat *s)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_BOOTTIME, &t);	/* cannot fail for this clock */
	double hz = (double)sysconf(_SC_CLK_TCK);
	double now = hz * ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec);
	return (double)s->cpu_ticks / (now > (double)s->start ? now - (double)s->start : 1);
}

bool procstat_read(pid_t pid, struct procstat *out)
{
	char path[64], text[1024];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	int fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	bool ok = n > 0 && fstat(fd, &st) == 0;

	if (fd >= 0)
		close(fd);
	if (!ok)
		return false;
	text[n] = '\0';
	if (!procstat_parse(text, out))
		return false;
	out->owner = st.st_uid;
	return true;
}
