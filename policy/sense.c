/* sense.c - reads the state of the machine from /proc, /sys and logind; see sense.h
 *
 * Shares come from the growth of counters between two looks.  Looks are remembered for two
 * seconds, so that a caller who looks often still gets an average over half a second; counters
 * grow in clock ticks of 10 ms, which are too coarse for less.  Values that take longer to get
 * (temperatures, power supplies, logind) are read twice a second at most.  The times were
 * chosen.
 *
 * Tested by tests/unit/policy/test_idle.c.
 */
#include "policy/sense.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "policy/idle.h"
#include "policy/logind.h"

enum {
	NLOOK = 8, LEAST_MS = 100,	/* looks remembered; least time between two of them */
	SPAN_MS = 500,			/* shares are over this time at least */
	SLOW_MS = 500,			/* least time between two readings of slow values */
	BUS_MS = 200,			/* longest time to wait for logind; else it is */
	BUS_AGAIN_MS = 60000,		/* not asked again for this time */
	THROTTLED_MS = 60000,		/* a throttled CPU counts for this time */
};

struct look {
	uint64_t time_ms;
	bool cpu;			/* the next three are known */
	double busy, all, own;		/* clock ticks */
	pid_t own_pid;
	double stalled_us[NPRESSURE];	/* -1: not known */
};

struct sense {
	char root[PATH_MAX / 2];
	struct look look[NLOOK];	/* look[nlook - 1] is the newest */
	unsigned nlook;
	double busy_pct, pressure_pct[NPRESSURE];	/* as last found out */
	uint64_t slow_ms, bus_after_ms;		/* 0: not asked yet */
	int mains, users_idle;
	double heat_pct;
	uint64_t users_since_us;
	uint64_t throttles, throttled_ms;	/* counted; seen last, 0: never */
	bool throttles_known;
};

struct sense *sense_new(const char *root)
{
	struct sense *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	(void)snprintf(m->root, sizeof(m->root), "%s", root);	/* cut: nothing is there */
	m->busy_pct = m->heat_pct = -1;
	m->mains = m->users_idle = -1;
	for (int i = 0; i < NPRESSURE; i++)
		m->pressure_pct[i] = -1;
	return m;
}

void sense_free(struct sense *m)
{
	free(m);
}

/* The file's text, cut at n - 1 bytes; "" when there is none. */
__attribute__((format(printf, 4, 5)))
static const char *text_of(const struct sense *m, char *buf, size_t n, const char *fmt, ...)
{
	char path[PATH_MAX], rest[PATH_MAX / 2];
	size_t got = 0;
	ssize_t k = 1;
	va_list ap;

	buf[0] = '\0';
	va_start(ap, fmt);
	(void)vsnprintf(rest, sizeof(rest), fmt, ap);	/* names of /proc and /sys fit */
	va_end(ap);
	(void)snprintf(path, sizeof(path), "%s%s", m->root, rest);	/* two halves fit */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return buf;
	while (got < n - 1 && k > 0) {
		k = read(fd, buf + got, n - 1 - got);
		got += k > 0 ? (size_t)k : 0;
	}
	close(fd);
	buf[got] = '\0';
	return buf;
}

/* --- counters --- */

/* The line that begins with `key`; NULL when there is none. */
static const char *line_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	while (text && strncmp(text, key, n) != 0) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text;
}

/* The number after `name` in the line; -1 without one. */
static double number_after(const char *line, const char *name)
{
	const char *end = line ? strchr(line, '\n') : NULL,
		   *at = line ? strstr(line, name) : NULL;
	char *stop;

	if (!at || (end && at > end))
		return -1;
	at += strlen(name);
	if (*at < '0' || *at > '9')
		return -1;
	double v = strtod(at, &stop);
	return *stop == ' ' || *stop == '\n' || *stop == '\0' ? v : -1;
}

static void read_cpu(const struct sense *m, struct look *l, unsigned *ncpu)
{
	/* user, nice, system, idle, iowait, irq, softirq, steal */
	double t[8] = { 0 };
	static char text[65536];	/* what is of use comes before the interrupts */
	unsigned n = 0;

	const char *line = line_of(text_of(m, text, sizeof(text), "/proc/stat"), "cpu ");
	l->cpu = line && sscanf(line, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &t[0], &t[1],
				&t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) >= 4;
	for (int i = 0; i < 8; i++)
		l->all += t[i];
	l->busy = l->all - t[3] - t[4];
	for (const char *at = line; at && strncmp(at, "cpu", 3) == 0; n++) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	*ncpu = n > 1 ? n - 1 : 1;
}

static void read_own(const struct sense *m, pid_t own, struct look *l)
{
	unsigned long long user, system;
	char text[1024];

	const char *at =
		own ? strrchr(text_of(m, text, sizeof(text), "/proc/%d/stat", (int)own), ')')
		    : NULL;
	/* Behind the name: state, then ten numbers, then user and system time. */
	if (!at || sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
			  &system) != 2)
		return;
	l->own = (double)(user + system);
	l->own_pid = own;
}

static void read_pressure(struct sense *m, struct look *l)
{
	static const char *const name[NPRESSURE] = { "cpu", "io", "memory" };
	char text[512];

	for (int i = 0; i < NPRESSURE; i++) {
		const char *line = line_of(
			text_of(m, text, sizeof(text), "/proc/pressure/%s", name[i]), "some ");

		l->stalled_us[i] = number_after(line, " total=");
		if (l->stalled_us[i] < 0)
			m->pressure_pct[i] = -1;
		else if (m->pressure_pct[i] < 0)	/* until there are two looks */
			m->pressure_pct[i] = number_after(line, " avg10=");
	}
}

static double clamp(double pct)
{
	return pct < 0 ? 0 : pct > 100 ? 100 : pct;
}

static void compare(struct sense *m, const struct look *from, const struct look *to)
{
	double ms = (double)(to->time_ms - from->time_ms), all = to->all - from->all;

	if (!to->cpu)
		m->busy_pct = -1;
	else if (from->cpu && all > 0)
		m->busy_pct = clamp(100 *
				    (to->busy - from->busy - to->own +
				     (from->own_pid == to->own_pid ? from->own : 0)) /
				    all);
	for (int i = 0; i < NPRESSURE; i++)
		if (from->stalled_us[i] >= 0 && to->stalled_us[i] >= 0)
			m->pressure_pct[i] =
				clamp((to->stalled_us[i] - from->stalled_us[i]) / (10 * ms));
}

/* What one look back tells: the newest that is far enough back. */
static void remember(struct sense *m, const struct look *now)
{
	unsigned i = m->nlook;

	if (i && now->time_ms - m->look[i - 1].time_ms < LEAST_MS)
		return;
	while (i && now->time_ms - m->look[i - 1].time_ms < SPAN_MS)
		i--;
	if (i)
		compare(m, &m->look[i - 1], now);
	if (m->nlook == NLOOK)
		memmove(m->look, m->look + 1, sizeof(m->look[0]) * --m->nlook);
	m->look[m->nlook++] = *now;
}

/* --- what takes longer --- */

/* Calls f for each entry of the folder that begins with `prefix`. */
static void each_entry(struct sense *m, const char *folder, const char *prefix,
		       void (*f)(struct sense *m, const char *name, void *ctx), void *ctx)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s%s", m->root, folder);	/* fits */
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d)); )
		if (e->d_name[0] != '.' && strncmp(e->d_name, prefix, strlen(prefix)) == 0)
			f(m, e->d_name, ctx);
	if (d)
		(void)closedir(d);	/* only read */
}

struct power {
	bool mains, online, battery, discharging;
};

static void look_at_supply(struct sense *m, const char *name, void *ctx)
{
	struct power *p = ctx;
	char type[32], text[32];

	(void)text_of(m, text, sizeof(text), "/sys/class/power_supply/%.255s/scope", name);
	if (strncmp(text, "Device", 6) == 0)
		return;			/* of a mouse, not of the machine */
	(void)text_of(m, type, sizeof(type), "/sys/class/power_supply/%.255s/type", name);
	if (strncmp(type, "Battery", 7) == 0) {
		p->battery = true;
		(void)text_of(m, text, sizeof(text), "/sys/class/power_supply/%.255s/status",
			      name);
		p->discharging |= strncmp(text, "Discharging", 11) == 0;
	} else if (strncmp(type, "Mains", 5) == 0 || strncmp(type, "USB", 3) == 0) {
		p->mains = true;
		(void)text_of(m, text, sizeof(text), "/sys/class/power_supply/%.255s/online",
			      name);
		p->online |= text[0] > '0' && text[0] <= '9';
	}
}

static void read_power(struct sense *m)
{
	struct power p = { 0 };

	each_entry(m, "/sys/class/power_supply", "", look_at_supply, &p);
	m->mains = !p.mains && !p.battery ? -1 : p.online || !p.battery ? 1 :
		   !p.discharging && !p.mains;
}

/* The temperature at which the kernel begins to slow the zone down, or worse; 0: none. */
static double limit_of(struct sense *m, const char *zone)
{
	double limit = 0;
	char text[32];

	for (int i = 0; i < 16; i++) {
		(void)text_of(m, text, sizeof(text),
			      "/sys/class/thermal/%.255s/trip_point_%d_type", zone, i);
		if (!text[0])
			break;
		if (strncmp(text, "passive", 7) != 0 && strncmp(text, "hot", 3) != 0 &&
		    strncmp(text, "critical", 8) != 0)
			continue;
		double t = strtod(text_of(m, text, sizeof(text), "/sys/class/thermal/%.255s/"
					  "trip_point_%d_temp", zone, i), NULL);
		if (t > 0 && (limit <= 0 || t < limit))
			limit = t;
	}
	return limit;
}

static void look_at_zone(struct sense *m, const char *zone, void *ctx)
{
	char text[32];
	double limit = limit_of(m, zone);
	double t = strtod(
		text_of(m, text, sizeof(text), "/sys/class/thermal/%.255s/temp", zone), NULL);

	(void)ctx;
	if (limit > 0 && t > 0 && 100 * t / limit > m->heat_pct)
		m->heat_pct = 100 * t / limit;
}

static void count_throttles(struct sense *m, const char *cpu, void *ctx)
{
	static const char *const name[] = { "core", "package" };
	uint64_t *sum = ctx;
	char text[32];

	for (int i = 0; i < 2; i++)
		*sum += strtoull(text_of(m, text, sizeof(text),
					 "/sys/devices/system/cpu/%.255s/"
					 "thermal_throttle/%s_throttle_count",
					 cpu, name[i]),
				 NULL, 10);
}

static void read_heat(struct sense *m, uint64_t now_ms)
{
	uint64_t sum = 0;

	m->heat_pct = -1;
	each_entry(m, "/sys/class/thermal", "thermal_zone", look_at_zone, NULL);
	each_entry(m, "/sys/devices/system/cpu", "cpu", count_throttles, &sum);
	if (m->throttles_known && sum > m->throttles)
		m->throttled_ms = now_ms;
	m->throttles = sum;
	m->throttles_known = true;
}

static void read_users(struct sense *m, uint64_t now_ms)
{
	char path[PATH_MAX];
	struct timespec begun, end;

	if (now_ms < m->bus_after_ms)
		return;
	/* fits */
	(void)snprintf(path, sizeof(path), "%s/run/dbus/system_bus_socket", m->root);
	(void)clock_gettime(CLOCK_MONOTONIC, &begun);	/* cannot fail for this clock */
	struct logind_hint h = logind_ask(path, BUS_MS);
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	m->users_idle = h.idle;
	m->users_since_us = h.since_us;
	if (h.idle < 0 &&
	    (end.tv_sec - begun.tv_sec) * 1000 + (end.tv_nsec - begun.tv_nsec) / 1000000 >=
		    BUS_MS)
		m->bus_after_ms = now_ms + BUS_AGAIN_MS;
}

static void read_slow(struct sense *m, uint64_t now_ms)
{
	if (m->slow_ms && now_ms - m->slow_ms < SLOW_MS)
		return;
	m->slow_ms = now_ms;
	read_power(m);
	read_heat(m, now_ms);
	read_users(m, now_ms);
}

/* --- a look --- */

void sense_look(struct sense *m, pid_t own, uint64_t now_ms, struct idle_state *out)
{
	struct look now = { .time_ms = now_ms };
	time_t t = time(NULL);
	struct tm tm = { 0 };
	char text[128], *end;

	*out = (struct idle_state){ .load1 = -1,
				    .ncpu = 1, .busy_pct = -1, .users_idle = -1,
				    .pressure_pct = { -1, -1, -1 }, .mains = -1,
				    .heat_pct = -1 };
	if (localtime_r(&t, &tm))
		out->minute = 60u * (unsigned)tm.tm_hour + (unsigned)tm.tm_min;
	if (!m)
		return;
	out->load1 = strtod(text_of(m, text, sizeof(text), "/proc/loadavg"), &end);
	if (end == text || out->load1 < 0)
		out->load1 = -1;
	read_cpu(m, &now, &out->ncpu);
	read_own(m, own, &now);
	read_pressure(m, &now);
	remember(m, &now);
	read_slow(m, now_ms);
	out->busy_pct = m->busy_pct;
	memcpy(out->pressure_pct, m->pressure_pct, sizeof(out->pressure_pct));
	out->mains = m->mains;
	out->heat_pct = m->heat_pct;
	out->throttled = m->throttled_ms && now_ms - m->throttled_ms < THROTTLED_MS;
	out->users_idle = m->users_idle;
	uint64_t since_s = m->users_since_us / 1000000;
	out->users_since_s = since_s && (uint64_t)t > since_s ? (uint64_t)t - since_s : 0;
}
