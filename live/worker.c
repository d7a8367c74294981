/* worker.c - is a thread of a process one of the kernel's?
 *
 * Tested by tests/unit/live/test_worker.c, and on the kernel by tests/e2e/liveworkers.sh.
 */
#include "live/worker.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/procstat.h"

/* Since which release of the kernel the bit has been such a flag. */
static const struct {
	uint32_t flag;
	unsigned major, minor;
} flags[] = {
	{ 0x10, 5, 12 },	/* PF_IO_WORKER */
	{ 0x4000, 6, 4 },	/* PF_USER_WORKER */
};
enum { NFLAGS = sizeof(flags) / sizeof(flags[0]) };

static bool is_flagged(uint32_t has)
{
	for (int i = 0; i < NFLAGS; i++)
		if (has & flags[i].flag)
			return true;
	return false;
}

static bool is_known(uint32_t has, const char *release)
{
	unsigned major, minor;

	if (sscanf(release, "%u.%u", &major, &minor) != 2)
		return false;
	for (int i = 0; i < NFLAGS; i++)
		if (has & flags[i].flag &&
		    (major > flags[i].major ||
		     (major == flags[i].major && minor >= flags[i].minor)))
			return true;
	return false;
}

/* The last word of the line is where it goes on in the program. */
enum worker worker_told(const char *stat, const char *call, const char *release)
{
	const char *last = strrchr(call, ' ');
	struct procstat s;

	if (!procstat_parse(stat, &s) || !is_flagged(s.flags))
		return WORKER_NOT;
	if (last && strcmp(last, " 0x0\n") == 0)
		return WORKER_IS;
	if (strncmp(call, "running", 7) != 0)
		return *call ? WORKER_NOT : WORKER_PERHAPS;
	return is_known(s.flags, release) ? WORKER_IS : WORKER_PERHAPS;
}
