/* meter.c - reads CPU time and work of a process
 *
 * Tested by tests/unit/manager/try/test_meter.c and tests/e2e/trypid.sh.
 */
#include "manager/try/meter.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/try/interrupt.h"

const char *const meter_unit[METER_KINDS] = {
	[METER_COUNT] = "unit of --count",
	[METER_BYTES] = "byte read or written",
	[METER_CALLS] = "read or write",
	[METER_WAKES] = "wake-up",
};

/* Fewer units between two readings are too coarse; a wake-up is not work in itself: its cost
 * must change so much less.  Chosen. */
static const double least_units = 8, wakes_handicap = 2;

static int has_ended(const struct meter *m, struct err *err)
{
	return err_set(err, ERR_SYS, "process %d has ended", (int)m->pid);
}

int meter_open(struct meter *m, pid_t pid, const char *count, struct err *err)
{
	*m = (struct meter){ .pid = pid, .count = count,
			     .pidfd = (int)syscall(SYS_pidfd_open, pid, 0) };
	if (m->pidfd < 0)
		return err_set(err, ERR_SYS, "process %d: %s", (int)pid,
			       errno == EINVAL ? "that is a thread" : strerror(errno));
	int e = clock_getcpuclockid(pid, &m->cpu);
	if (e == 0)
		return 0;
	meter_close(m);
	return err_set(err, ERR_SYS, "process %d: %s", (int)pid, strerror(e));
}

void meter_close(struct meter *m)
{
	if (m->pidfd >= 0)
		close(m->pidfd);
	m->pidfd = -1;
}

bool meter_ended(const struct meter *m)
{
	struct pollfd p = { m->pidfd, POLLIN, 0 };

	return poll(&p, 1, 0) > 0;
}

int meter_wait(const struct meter *m, double seconds, struct err *err)
{
	struct pollfd p = { m->pidfd, POLLIN, 0 };
	int rc = interrupt_poll(&p, 1, (int)(1000 * seconds));

	if (rc < 0)
		return err_set(err, ERR_SYS, "interrupted");
	return rc == 0 ? 0 : has_ended(m, err);
}

static int read_cpu(const struct meter *m, double *out, struct err *err)
{
	struct timespec t;

	if (meter_ended(m) || clock_gettime(m->cpu, &t) < 0)
		return has_ended(m, err);
	*out = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
	return 0;
}

/* Adds up the values of lines "NAME: NUMBER" of those names. */
static double sum_lines(const char *path, const char *name1, const char *name2)
{
	const char *const name[] = { name1, name2 };
	FILE *f = fopen(path, "re");
	char line[256];
	double sum = 0;

	while (f && fgets(line, sizeof(line), f))
		for (int i = 0; i < 2; i++) {
			size_t n = strlen(name[i]);

			if (strncmp(line, name[i], n) == 0 && line[n] == ':')
				sum += strtod(line + n + 1, NULL);
		}
	if (f)
		(void)fclose(f);
	return sum;
}

static double count_wakes(pid_t pid)
{
	static const char name[] = "voluntary_ctxt_switches";
	char path[64];
	double sum = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		long tid = atol(e->d_name);

		(void)snprintf(path, sizeof(path), "/proc/%d/task/%ld/status", (int)pid, tid);
		if (tid > 0)
			sum += sum_lines(path, name, name) / 2;
	}
	if (d)
		closedir(d);
	return sum;
}

int meter_read(const struct meter *m, struct meter_reading *out, struct err *err)
{
	struct meter_reading r = { 0 };
	double cpu_s;
	char path[64];

	if (read_cpu(m, &r.cpu_s, err) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "/proc/%d/io", (int)m->pid);
	r.work[METER_BYTES] = sum_lines(path, "rchar", "wchar");
	r.work[METER_CALLS] = sum_lines(path, "syscr", "syscw");
	r.work[METER_WAKES] = count_wakes(m->pid);
	/* what it counts is as of some time while it runs */
	if (m->count && (meter_run_count(m->count, &r.work[METER_COUNT], err) < 0 ||
			 read_cpu(m, &cpu_s, err) < 0))
		return -1;
	if (m->count)
		r.cpu_s = (r.cpu_s + cpu_s) / 2;
	*out = r;
	return 0;
}

double meter_cost(const struct meter_reading *from, const struct meter_reading *to,
		  enum meter_kind kind)
{
	double work = to->work[kind] - from->work[kind], cpu_s = to->cpu_s - from->cpu_s;

	return work > 0 && cpu_s > 0 ? cpu_s / work : 0;
}

/* The standard deviation of the logarithms of its costs; infinite where it is of no use. */
static double spread(const struct meter_reading *r, uint32_t n, enum meter_kind kind)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i + 1 < n; i++) {
		double cost = meter_cost(&r[i], &r[i + 1], kind);

		if (cost <= 0 || r[i + 1].work[kind] - r[i].work[kind] < least_units)
			return INFINITY;
		sum += log(cost);
		squares += log(cost) * log(cost);
	}
	double mean = sum / (n - 1), variance = squares / (n - 1) - mean * mean;
	return variance > 0 ? sqrt(variance) : 0;
}

int meter_choose(const struct meter_reading *r, uint32_t n)
{
	double best = INFINITY;
	int kind = -1;

	for (int k = METER_BYTES; n > 1 && k < METER_KINDS; k++) {
		double s = spread(r, n, k) * (k == METER_WAKES ? wakes_handicap : 1);

		if (s < best) {
			best = s;
			kind = k;
		}
	}
	return kind;
}
