/* everywhere.c - a generation out of all processes that have it
 *
 * What a process forks has the same text as it, and nobody remembers its number: so all
 * processes are looked at, again and again, until none has the file in the place of its
 * original.  In each round everyone is asked, and not for long, so that one that cannot give it
 * back does not keep the others waiting.
 *
 * Tested by tests/e2e/live.sh.
 */
#include "live/everywhere.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/err.h"
#include "lib/procstat.h"
#include "live/clock.h"
#include "live/maps.h"
#include "live/splice.h"
#include "live/threads.h"

/* Chosen: for how long one is asked at first, at least and at most; when all are asked again;
 * and how many rounds there are behind the end of the time, if everyone gives it back. */
static const uint64_t first_ns = 200000000, least_ns = 50000000, most_ns = 1000000000;
enum { AGAIN_NS = 50000000, LATE = 100 };

static void later(void)
{
	struct timespec wait = { 0, AGAIN_NS };

	(void)nanosleep(&wait, NULL);		/* or less */
}

static bool has(pid_t pid, int generation)
{
	struct live_maps maps = { 0 };
	bool found = false;
	struct err gone;

	if (live_maps_read(pid, &maps, &gone) < 0)
		return false;
	for (uint32_t i = 0; i < maps.n && !found; i++)
		found = live_is_spliced_by(pid, &maps, &maps.map[i], generation);
	live_maps_free(&maps);
	return found;
}

static bool has_ended(pid_t pid)
{
	struct procstat p;

	return !procstat_read(pid, &p) || p.state == 'Z' || p.state == 'X';
}

/* Asks one that has it, or may. */
static void ask(pid_t pid, int generation, const struct live_limits *limits,
		struct live_everywhere *out, struct err *err)
{
	struct live_outcome one;
	struct err why;
	int rc = live_off_file(pid, generation, limits, &one, &why);

	if (one.pause_ns > out->pause_ns)
		out->pause_ns = one.pause_ns;
	if (rc == 0) {
		out->out += !one.was_so;
	} else if (!has_ended(pid)) {
		out->left++;
		out->one_left = pid;
		*err = why;
	}
}

/* How many had it; -1: that cannot be known. */
static int ask_all(int generation, const struct live_limits *limits,
		   struct live_everywhere *out, struct err *err)
{
	DIR *d = opendir("/proc");
	int n = 0;

	if (!d)
		return err_set(err, ERR_SYS, "'/proc': %s", strerror(errno));
	out->left = 0;
	for (struct dirent *e; (e = readdir(d));) {
		pid_t pid = (pid_t)atol(e->d_name);

		if (pid <= 0 || !has(pid, generation))
			continue;
		n++;
		ask(pid, generation, limits, out, err);
	}
	(void)closedir(d);			/* only read */
	return n;
}

/* The time that is left, for as many as have it still. */
static uint64_t patience(uint64_t end_ns, unsigned left)
{
	uint64_t now_ns = live_clock_ns();
	uint64_t each_ns = now_ns < end_ns ? (end_ns - now_ns) / (left ? left : 1) : 0;

	return each_ns < least_ns ? least_ns : each_ns > most_ns ? most_ns : each_ns;
}

int live_off_everywhere(pid_t first, int generation, const struct live_limits *limits,
			uint64_t within_ns, struct live_everywhere *out, struct err *err)
{
	uint64_t end_ns = live_clock_ns() + within_ns;
	struct live_limits once = *limits;
	int n;

	*out = (struct live_everywhere){ 0 };
	if (once.patience_ns > first_ns)
		once.patience_ns = first_ns;
	if (first)
		ask(first, generation, &once, out, err);
	for (int late = 0; (n = ask_all(generation, &once, out, err)) > 0;) {
		bool over = live_clock_ns() > end_ns;

		if (over && out->left)
			return -1;
		if (over && ++late > LATE)
			return err_set(err, ERR_SYS, "they fork faster than it is taken out");
		if (out->left)
			later();
		once.patience_ns = patience(end_ns, out->left);
	}
	return n;
}
