/* pausing.c - waiting while a process runs on, until somebody wants that to end
 *
 * A signal that has come is not taken off: later waits end at once, too.
 *
 * Tested by tests/unit/live/test_pausing.c and tests/e2e/live.sh.
 */
#include "live/pausing.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/err.h"
#include "live/clock.h"
#include "live/threads.h"

static int open_signals(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);		/* none can fail for these */
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	int fd = sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? -1 : signalfd(-1, &set, SFD_CLOEXEC);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);	/* else it comes to its end by itself */
	return fd;
}

int pausing_open(struct pausing *p, pid_t pid, struct err *err)
{
	p->signals = open_signals();
	p->process = p->signals < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	if (p->process >= 0)
		return 0;
	err_set(err, ERR_REFUSED, "%s", p->signals < 0 || errno != ESRCH ? strerror(errno) :
		"it is not there any more");
	if (p->signals >= 0)
		close(p->signals);
	return -1;
}

void pausing_close(struct pausing *p)
{
	close(p->process);
	close(p->signals);
}

bool pausing_told(const struct pausing *p)
{
	struct pollfd f = { p->signals, POLLIN, 0 };

	return poll(&f, 1, 0) > 0;
}

int pausing_wait(const struct pausing *p, uint64_t ms, struct err *err)
{
	struct pollfd f[2] = { { p->process, POLLIN, 0 }, { p->signals, POLLIN, 0 } };
	uint64_t end_ns = live_clock_ns() + ms * 1000000, now_ns;

	while ((now_ns = live_clock_ns()) < end_ns)
		if (poll(f, 2, (int)((end_ns - now_ns + 999999) / 1000000)) > 0)
			return err_set(err, ERR_SYS, f[0].revents ? "it has ended" :
				       "told to end");
	return 0;
}
