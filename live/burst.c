/* burst.c - a process counts for a while, and then runs its original again
 *
 * All of it is one run of morph-live, so that nobody else needs to be there for its end: who
 * asked for it may be killed meanwhile.  Being told to end, it takes out what it mapped first.
 * Where it is killed itself, the mappings say what is to be taken out.
 *
 * What the process forks has the same text, and counts in the same memory; so it is taken out
 * everywhere.
 *
 * Tested by tests/e2e/liveburst.sh.
 */
#include "live/burst.h"

#include <unistd.h>

#include "lib/err.h"
#include "lib/procstat.h"
#include "live/clock.h"
#include "live/everywhere.h"
#include "live/pausing.h"
#include "live/splice.h"
#include "live/threads.h"

/* Chosen: so long it is tried to take it out. */
static const uint64_t out_ns = UINT64_C(20000000000);

static void longer(struct live_burst *burst, const struct live_outcome *one)
{
	if (one->pause_ns > burst->pause_ns)
		burst->pause_ns = one->pause_ns;
}

/* Out of the process, and of those that it has forked. */
static int take_out(pid_t pid, int generation, const struct live_limits *limits,
		    struct live_burst *burst, struct err *err)
{
	struct live_everywhere out;
	int rc = live_off_everywhere(pid, generation, limits, out_ns, &out, err);

	if (out.pause_ns > burst->pause_ns)
		burst->pause_ns = out.pause_ns;
	if (rc == 0)
		return 0;
	err->kind = ERR_SYS;		/* not ERR_REFUSED: something was changed */
	return out.one_left == pid || !out.one_left ? err_wrap(err, "it goes on counting") :
	       err_wrap(err, "its fork %d goes on counting", (int)out.one_left);
}

static uint64_t cpu_ms(pid_t pid)
{
	struct procstat p;

	return procstat_read(pid, &p) ? p.cpu_ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK) : 0;
}

static int count(pid_t pid, const struct pausing *pausing, int generation, uint64_t ms,
		 const struct live_limits *limits, struct live_burst *burst, struct err *err)
{
	uint64_t begun_ns = live_clock_ns(), begun_ms = cpu_ms(pid);
	struct err sooner;

	(void)pausing_wait(pausing, ms, &sooner);	/* either way it is enough */
	uint64_t ended_ms = cpu_ms(pid);
	burst->counted_ms = (live_clock_ns() - begun_ns) / 1000000;
	burst->cpu_ms = ended_ms > begun_ms ? ended_ms - begun_ms : 0;
	return take_out(pid, generation, limits, burst, err);
}

int live_burst(pid_t pid, const struct live_plan *plan, int generation,
	       const struct live_limits *limits, uint64_t ms, int out, struct live_burst *burst,
	       struct err *err)
{
	struct live_outcome in = { 0 };
	struct pausing pausing;
	int rc = -1;

	*burst = (struct live_burst){ 0 };
	if (pausing_open(&pausing, pid, err) < 0)
		return -1;
	if (live_on(pid, plan, generation, limits, &in, err) == 0) {
		longer(burst, &in);
		rc = count(pid, &pausing, generation, ms, limits, burst, err);
		if (rc == 0 &&
		    (rc = live_read_counters(pid, plan, generation, out, err)) < 0)
			err->kind = ERR_SYS;
	}
	pausing_close(&pausing);
	return rc;
}
