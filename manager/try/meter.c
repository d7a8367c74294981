/* meter.c - reads CPU time and work of a process
 *
 * Tested by tests/unit/manager/try/test_meter.c and tests/e2e/trypid.sh.
 */
#include "manager/try/meter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/try/interrupt.h"

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
	return 0;
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

int meter_read(const struct meter *m, struct procwork *out, struct err *err)
{
	struct procwork r;
	double cpu_s;

	if (meter_ended(m) || !procwork_read(m->pid, &r))
		return has_ended(m, err);
	/* what it counts is as of some time while it runs */
	if (m->count && meter_run_count(m->count, &r.work[PROCWORK_COUNT], err) < 0)
		return -1;
	if (m->count && (meter_ended(m) || !procwork_cpu(m->pid, &cpu_s)))
		return has_ended(m, err);
	if (m->count)
		r.cpu_s = (r.cpu_s + cpu_s) / 2;
	*out = r;
	return 0;
}
