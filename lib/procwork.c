/* procwork.c - reads CPU time and work of a process
 *
 * Tested by tests/unit/lib/test_procwork.c and tests/unit/manager/try/test_meter.c.
 */
#include "lib/procwork.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const procwork_unit[PROCWORK_KINDS] = {
	[PROCWORK_COUNT] = "unit of --count",
	[PROCWORK_BYTES] = "byte read or written",
	[PROCWORK_CALLS] = "read or write",
	[PROCWORK_WAKES] = "wake-up",
};

bool procwork_cpu(pid_t pid, double *out_s)
{
	struct timespec t;
	clockid_t clock;

	if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
		return false;
	*out_s = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
	return true;
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

bool procwork_read(pid_t pid, struct procwork *out)
{
	struct procwork r = { 0 };
	char path[64];

	if (!procwork_cpu(pid, &r.cpu_s))
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
	r.work[PROCWORK_BYTES] = sum_lines(path, "rchar", "wchar");
	r.work[PROCWORK_CALLS] = sum_lines(path, "syscr", "syscw");
	r.work[PROCWORK_WAKES] = count_wakes(pid);
	*out = r;
	return true;
}
