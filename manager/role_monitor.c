/* role_monitor.c - the monitor's process around monitor_run()
 *
 * Tested by tests/unit/manager/parent/test_role_monitor.c.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/confine.h"
#include "lib/err.h"
#include "manager/parent/role.h"
#include "monitor/monitor.h"

/* Chosen: some 1,100 samples with memory and 9,000 without. */
enum { STATES_MAX_BYTES = 4 << 20 };
static_assert((int)STATES_MAX_BYTES <= (int)SPOOL_FILE_MAX / 2, "they are not refused");

enum { SPOOL_PATH = 4096 };

static int spool_path(const struct role_options *o, char out[SPOOL_PATH], struct err *err)
{
	if (snprintf(out, SPOOL_PATH, "%s/spool", o->store) >= SPOOL_PATH)
		return err_set(err, ERR_USAGE, "'%s': too long", o->store);
	return 0;
}

static int drop(void *ctx, struct err *err)
{
	const struct role_options *o = ctx;
	struct job_user user;
	char dir[SPOOL_PATH];

	if (role_user(o->user, &user, err) < 0 || role_drop(&user, err) < 0 ||
	    spool_path(o, dir, err) < 0 || confine_role(CONFINE_MONITOR, dir, NULL, err) < 0)
		return -1;
	role_log("pid %d, as user %d: may read the kernel's rings and write '%s/spool'",
		 (int)getpid(), (int)geteuid(), o->store);
	return 0;
}

static int open_spool(const struct role_options *o, struct err *err)
{
	char dir[SPOOL_PATH];

	if (spool_path(o, dir, err) < 0)
		return -1;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", dir, strerror(errno));
	return fd;
}

int role_monitor(const struct role_options *o)
{
	struct perf_options wanted = { .clock = (enum monitor_clock)o->clock,
				       .rate_hz = o->rate_hz, .pid = PERF_PID_ALL,
				       .state = o->switched ? PERF_STATE_SWITCHED
							    : PERF_STATE_NEVER,
				       .stack_bytes = o->stack_bytes / 8 * 8,
				       .crashes = true,
				       .kernel_pcs = true,
				       .memory = o->switched && o->memory,
				       .branches_hz = o->branches_hz,
				       .guard = true };
	uint32_t own = (uint32_t)getppid();	/* and with it all roles and jobs */
	struct role_options copy = *o;
	struct err err = { 0 };

	role_detach(o);
	int spool = open_spool(o, &err);
	if (spool < 0 || fcntl(ROLE_FD_PARENT, F_SETFD, FD_CLOEXEC) < 0) {
		role_error("%s", spool < 0 ? err.text : "started without its parent");
		return 1;
	}
	struct perf_set *set = perf_open(&wanted, &err);
	struct monitor_options options = {
		.command_fd = ROLE_FD_PARENT, .spool_dirfd = spool,
		.spool_max_bytes = (uint64_t)o->spool_max_mib << 20, .drain_s = o->drain_s,
		.paused = o->paused, .switched = o->switched, .registers = o->registers,
		.states_max_bytes = STATES_MAX_BYTES, .own_pid = &own, .nown_pid = 1,
		.confine = drop,
		.confine_ctx = &copy,
	};
	if (set && (!perf_tells_crashes(set) || (o->switched && !perf_guards(set))))
		role_warn("%s", perf_lacks(set)->note);
	struct monitor_counts counts = { 0 };
	struct err untold;
	if (!set)		/* else the parent sees that we end */
		(void)monitor_tell_failure(ROLE_FD_PARENT, err.text, &untold);
	int rc = set ? monitor_run(set, &options, &counts, &err) : -1;
	if (rc < 0)
		role_log_err(&err);
	else if (counts.cpu_came)
		role_log("a CPU came online: beginning anew with all of them");
	perf_close(set);
	close(spool);
	return rc < 0 ? 1 : 0;
}
