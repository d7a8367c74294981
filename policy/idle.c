/* idle.c - judges each condition of idleness: is it met, and what is its value in words?
 *
 * All must be met before work begins.  Work that is under way raises the load average and makes
 * tasks wait for a CPU, so these two conditions do not stop it; the CPU time of others does.
 */
#include "policy/idle.h"

#include <stdio.h>

#include "policy/sense.h"

static bool inside(struct policy_window w, unsigned minute)
{
	if (w.from == w.to)
		return true;
	if (w.from < w.to)
		return minute >= w.from && minute < w.to;
	return minute >= w.from || minute < w.to;
}

/* A share that may be at most so large. */
static struct idle_condition at_most(const char *name, double pct, unsigned most, int digits)
{
	struct idle_condition c = { name, "not available", true, false };

	if (pct >= 0.0) {
		c.ok = pct <= most;
		/* fits */
		(void)snprintf(c.value, sizeof(c.value), "%.*f %%", digits, pct);
	}
	return c;
}

static struct idle_condition users(const struct policy *p, const struct idle_state *now)
{
	struct idle_condition c = { "idle.users_away", "not available", true, false };

	if (now->users_idle < 0)
		return c;
	c.ok = now->users_idle || !p->idle_users_away;
	(void)snprintf(c.value, sizeof(c.value), "%s, for %llu min",	/* fits */
		       now->users_idle ? "nobody is active" : "somebody is active",
		       (unsigned long long)now->users_since_s / 60);
	return c;
}

static struct idle_condition battery(const struct policy *p, const struct idle_state *now)
{
	struct idle_condition c = { "idle.on_battery", "not available", true, false };

	if (now->mains < 0)
		return c;
	c.ok = now->mains || p->idle_on_battery;
	/* fits */
	(void)snprintf(c.value, sizeof(c.value), "%s", now->mains ? "mains" : "battery");
	return c;
}

static struct idle_condition heat(const struct policy *p, const struct idle_state *now)
{
	struct idle_condition c =
		at_most("idle.heat_max_pct", now->heat_pct, p->idle_heat_max_pct, 0);

	if (now->throttled && p->idle_heat_max_pct < 100) {
		c.ok = false;
		/* fits */
		(void)snprintf(c.value, sizeof(c.value), "throttled in the last minute");
	}
	return c;
}

static struct idle_condition window(const struct policy *p, const struct idle_state *now)
{
	struct idle_condition c = { "idle.window", "", inside(p->idle_window, now->minute),
				    false };

	(void)snprintf(c.value, sizeof(c.value), "%02u:%02u",	/* fits */
		       now->minute / 60, now->minute % 60);
	return c;
}

bool idle_judge(const struct policy *p, const struct idle_state *now,
		struct idle_condition out[IDLE_NCONDITION])
{
	double load_pct = now->load1 < 0 ? -1 : 100.0 * now->load1 / now->ncpu;
	const double *pressure = now->pressure_pct;
	const struct idle_condition c[IDLE_NCONDITION] = {
		[IDLE_LOAD] = at_most("idle.load_max_pct", load_pct,
				      p->idle_load_max_pct, 0),
		[IDLE_BUSY] = at_most("idle.busy_max_pct", now->busy_pct,
				      p->idle_busy_max_pct, 0),
		[IDLE_PSI_CPU] = at_most("idle.psi_cpu_max_pct", pressure[PRESSURE_CPU],
					 p->idle_psi_cpu_max_pct, 2),
		[IDLE_PSI_IO] = at_most("idle.psi_io_max_pct", pressure[PRESSURE_IO],
					p->idle_psi_io_max_pct, 2),
		[IDLE_PSI_MEMORY] = at_most("idle.psi_memory_max_pct",
					    pressure[PRESSURE_MEMORY],
					    p->idle_psi_memory_max_pct, 2),
		[IDLE_USERS] = users(p, now),
		[IDLE_BATTERY] = battery(p, now),
		[IDLE_HEAT] = heat(p, now),
		[IDLE_WINDOW] = window(p, now),
	};
	bool idle = true;

	for (int i = 0; i < IDLE_NCONDITION; i++) {
		out[i] = c[i];
		out[i].by_work = i == IDLE_LOAD || i == IDLE_PSI_CPU;
		idle = idle && c[i].ok;
	}
	return idle;
}

bool idle_goes_on(const struct idle_condition c[IDLE_NCONDITION])
{
	for (int i = 0; i < IDLE_NCONDITION; i++)
		if (!c[i].ok && !c[i].by_work)
			return false;
	return true;
}

bool policy_idle(const struct policy *p, struct sense *m, pid_t own, uint64_t now_ms,
		 struct idle_condition out[IDLE_NCONDITION])
{
	struct idle_state now;

	sense_look(m, own, now_ms, &now);
	return idle_judge(p, &now, out);
}
