/* idle.c - does the machine count as idle?
 *
 * Three conditions, all of which must hold: the load average, the share of time in which some
 * task waits for a CPU, the time of day.  A value that this kernel does not offer does not stand
 * in the way; `morphctl status` shows it as not available.
 */
#include "policy/idle.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double idle_parse_psi(const char *text)
{
	static const char key[] = "some avg10=";
	const char *at = text;
	char *end;

	while (at && strncmp(at, key, sizeof(key) - 1) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return -1.0;
	at += sizeof(key) - 1;
	if (*at < '0' || *at > '9')
		return -1.0;
	double v = strtod(at, &end);
	return v >= 0.0 && v <= 100.0 && *end == ' ' ? v : -1.0;
}

static double read_psi(void)
{
	char text[256];
	int fd = open("/proc/pressure/cpu", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1.0;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return -1.0;
	text[n] = '\0';
	return idle_parse_psi(text);
}

static struct idle_state state_now(void)
{
	struct idle_state s = { .load1 = -1.0, .ncpu = 1, .psi_cpu_pct = read_psi() };
	long ncpu = sysconf(_SC_NPROCESSORS_ONLN);
	time_t t = time(NULL);
	struct tm tm = { 0 };
	double load;

	if (ncpu > 0)
		s.ncpu = (unsigned)ncpu;
	if (getloadavg(&load, 1) == 1)
		s.load1 = load;
	if (localtime_r(&t, &tm))
		s.minute = 60u * (unsigned)tm.tm_hour + (unsigned)tm.tm_min;
	return s;
}

static bool inside(struct policy_window w, unsigned minute)
{
	if (w.from == w.to)
		return true;
	if (w.from < w.to)
		return minute >= w.from && minute < w.to;
	return minute >= w.from || minute < w.to;
}

bool idle_judge(const struct policy *p, const struct idle_state *now,
		struct idle_condition out[IDLE_NCONDITION])
{
	static const char missing[] = "not available";
	struct idle_condition *load = &out[0], *psi = &out[1], *window = &out[2];
	double load_pct = 100.0 * now->load1 / now->ncpu;

	*load = (struct idle_condition){ "idle.load_max_pct", "", true };
	*psi = (struct idle_condition){ "idle.psi_cpu_max_pct", "", true };
	*window = (struct idle_condition){ "idle.window", "", inside(p->idle_window, now->minute) };

	/* A value too long for its field is cut; none is. */
	if (now->load1 < 0.0) {
		(void)snprintf(load->value, sizeof(load->value), "%s", missing);
	} else {
		load->ok = load_pct <= p->idle_load_max_pct;
		(void)snprintf(load->value, sizeof(load->value), "%.0f %%", load_pct);
	}
	if (now->psi_cpu_pct < 0.0) {
		(void)snprintf(psi->value, sizeof(psi->value), "%s", missing);
	} else {
		psi->ok = now->psi_cpu_pct <= p->idle_psi_cpu_max_pct;
		(void)snprintf(psi->value, sizeof(psi->value), "%.2f %%", now->psi_cpu_pct);
	}
	(void)snprintf(window->value, sizeof(window->value), "%02u:%02u", now->minute / 60,
		       now->minute % 60);
	return load->ok && psi->ok && window->ok;
}

bool policy_idle(const struct policy *p, struct idle_condition out[IDLE_NCONDITION])
{
	struct idle_state now = state_now();

	return idle_judge(p, &now, out);
}
