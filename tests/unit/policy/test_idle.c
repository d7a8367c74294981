/* Is the machine idle?  Judged on states that are made up, and read from trees of /proc and
 * /sys that are made up as well. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/err.h"
#include "lib/wr.h"
#include "policy/idle.h"
#include "policy/logind.h"
#include "policy/sense.h"

/* --- judging --- */

static const struct idle_state quiet = {
	.load1 = 1.0, .ncpu = 2, .busy_pct = 25, .pressure_pct = { 10, 20, 5 }, .users_idle = 1,
	.users_since_s = 600, .mains = 1, .heat_pct = 90,
};

static void judge(const char *yaml, const struct idle_state *now, int which, bool ok,
		  const char *value)
{
	struct err err = { 0 };
	struct policy *p =
		policy_parse((struct bytes){ (const uint8_t *)yaml, strlen(yaml) }, "t", &err);
	struct idle_condition c[IDLE_NCONDITION];

	if (!p)
		fail_msg("%s", err.text);
	bool idle = idle_judge(p, now, c);
	assert_string_equal(c[which].value, value);
	for (int i = 0; i < IDLE_NCONDITION; i++)
		if (c[i].ok != (ok || i != which))
			fail_msg("%s is %s (%s)", c[i].name, c[i].ok ? "ok" : "not",
				 c[i].value);
	assert_int_equal(idle, ok);
	assert_int_equal(idle_goes_on(c), ok || which == 0 || which == 2);
	policy_free(p);
}

enum { LOAD, BUSY, CPU, IO, MEMORY, USERS, BATTERY, HEAT, WINDOW };

static void every_condition_must_hold(void **state)
{
	struct idle_state s = quiet;

	(void)state;
	judge("", &s, LOAD, true, "50 %");
	judge("", &s, BUSY, true, "25 %");
	s.load1 = 1.04;
	judge("", &s, LOAD, false, "52 %");
	judge("idle: {load_max_pct: 52}", &s, LOAD, true, "52 %");
	s = quiet;
	s.busy_pct = 25.6;
	judge("", &s, BUSY, false, "26 %");
	judge("idle: {busy_max_pct: 26}", &s, BUSY, true, "26 %");
	for (int i = 0; i < NPRESSURE; i++) {
		char value[16];

		s = quiet;
		s.pressure_pct[i] += 0.01;
		(void)snprintf(value, sizeof(value), "%.2f %%", s.pressure_pct[i]);
		judge("", &s, CPU + i, false, value);
	}
	judge("idle: {psi_memory_max_pct: 6}", &s, MEMORY, true, "5.01 %");
	s = quiet;
	s.users_idle = 0;
	judge("", &s, USERS, false, "somebody is active, for 10 min");
	judge("idle: {users_away: false}", &s, USERS, true, "somebody is active, for 10 min");
	s = quiet;
	judge("", &s, USERS, true, "nobody is active, for 10 min");
	s.mains = 0;
	judge("", &s, BATTERY, false, "battery");
	judge("idle: {on_battery: true}", &s, BATTERY, true, "battery");
	s = quiet;
	s.heat_pct = 91;
	judge("", &s, HEAT, false, "91 %");
	judge("idle: {heat_max_pct: 91}", &s, HEAT, true, "91 %");
	s = quiet;
	s.throttled = true;
	judge("", &s, HEAT, false, "throttled in the last minute");
	judge("idle: {heat_max_pct: 100}", &s, HEAT, true, "90 %");
}

static void windows_may_pass_midnight(void **state)
{
	static const struct {
		const char *yaml;
		unsigned minute;
		bool ok;
		const char *value;
	} t[] = {
		{ "idle: {window: 22:00-06:00}", 0, true, "00:00" },
		{ "idle: {window: 22:00-06:00}", 6 * 60, false, "06:00" },
		{ "idle: {window: 22:00-06:00}", 5 * 60 + 59, true, "05:59" },
		{ "idle: {window: 22:00-06:00}", 22 * 60, true, "22:00" },
		{ "idle: {window: 22:00-06:00}", 22 * 60 - 1, false, "21:59" },
		{ "idle: {window: 06:00-22:00}", 22 * 60 - 1, true, "21:59" },
		{ "idle: {window: 06:00-22:00}", 22 * 60, false, "22:00" },
		{ "", 22 * 60, true, "22:00" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct idle_state s = quiet;

		s.minute = t[i].minute;
		judge(t[i].yaml, &s, WINDOW, t[i].ok, t[i].value);
	}
}

static void what_cannot_be_told_does_not_stand_in_the_way(void **state)
{
	const struct idle_state unknown = { .load1 = -1, .ncpu = 1, .busy_pct = -1,
		.pressure_pct = { -1, -1, -1 }, .users_idle = -1, .mains = -1, .heat_pct = -1 };

	(void)state;
	for (int i = 0; i < WINDOW; i++)
		judge("idle: {load_max_pct: 0, busy_max_pct: 0, psi_cpu_max_pct: 0, "
		      "psi_io_max_pct: 0,"
		      " psi_memory_max_pct: 0}",
		      &unknown, i, true, "not available");
}

/* --- reading --- */

struct tree {
	char root[64];
	struct sense *sense;
};

__attribute__((format(printf, 3, 4)))
static void put(const struct tree *t, const char *path, const char *fmt, ...)
{
	char full[256], text[1024];
	va_list ap;

	(void)snprintf(full, sizeof(full), "%s%s", t->root, path);
	for (char *c = strchr(full + strlen(t->root) + 1, '/'); c; c = strchr(c + 1, '/')) {
		*c = '\0';
		assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
		*c = '/';
	}
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, (size_t)n), n);
	close(fd);
}

static int make(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	if (!t)
		return -1;
	strcpy(t->root, "/tmp/morph-idle.XXXXXX");
	if (!mkdtemp(t->root))
		return -1;
	t->sense = sense_new(t->root);
	*state = t;
	return t->sense ? 0 : -1;
}

static int unmake(void **state)
{
	struct tree *t = *state;
	char command[128];

	sense_free(t->sense);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", t->root);
	int rc = system(command);
	free(t);
	return rc;
}

static struct idle_state look(const struct tree *t, pid_t own, uint64_t now_ms)
{
	struct idle_state s;

	sense_look(t->sense, own, now_ms, &s);
	return s;
}

static void an_empty_tree_tells_nothing(void **state)
{
	struct idle_state s = look(*state, 0, 1000);

	s = look(*state, 0, 2000);
	assert_true(s.load1 < 0 && s.busy_pct < 0 && s.heat_pct < 0);
	assert_true(s.pressure_pct[0] < 0 && s.pressure_pct[1] < 0 && s.pressure_pct[2] < 0);
	assert_int_equal(s.ncpu, 1);
	assert_int_equal(s.users_idle, -1);
	assert_int_equal(s.mains, -1);
	assert_false(s.throttled);
	sense_look(NULL, 0, 3000, &s);
	assert_true(s.load1 < 0 && s.busy_pct < 0);
}

static void load_counts_for_the_cpus_there_are(void **state)
{
	put(*state, "/proc/loadavg", "2.50 1.00 0.50 3/400 1234\n");
	put(*state, "/proc/stat", "cpu  1 0 0 9 0 0 0 0 0 0\ncpu0 1 0 0 3 0 0 0 0 0 0\n"
	    "cpu2 0 0 0 3 0 0 0 0 0 0\ncpu3 0 0 0 3 0 0 0 0 0 0\nintr 1 2 3\n");
	struct idle_state s = look(*state, 0, 1000);

	assert_float_equal(s.load1, 2.5, 1e-9);
	assert_int_equal(s.ncpu, 3);
	put(*state, "/proc/loadavg", "nonsense\n");
	assert_true(look(*state, 0, 2000).load1 < 0);
}

static void busy(const struct tree *t, unsigned user, unsigned idle)
{
	put(t, "/proc/stat", "cpu  %u 10 5 %u 100 2 3 0 0 0\ncpu0 0 0 0 0 0\n", user, idle);
}

static void cpu_time_of_others_is_told_from_our_own(void **state)
{
	const struct tree *t = *state;

	busy(t, 1000, 5000);
	assert_true(look(t, 0, 10000).busy_pct < 0);	/* one look is none */
	busy(t, 1030, 5070);
	assert_float_equal(look(t, 0, 10500).busy_pct, 30, 1e-9);
	/* Somebody looks again at once, or soon: half a second still counts. */
	busy(t, 1030, 5080);
	assert_float_equal(look(t, 0, 10550).busy_pct, 30, 1e-9);
	busy(t, 1080, 5070);
	assert_float_equal(look(t, 0, 10700).busy_pct, 100.0 * 80 / 150, 1e-9);
	busy(t, 1080, 5120);
	assert_float_equal(look(t, 0, 11000).busy_pct, 50, 1e-9);
	/* Of 100 ticks 60 are used, 45 of them by our own job, which is new. */
	put(t, "/proc/77/stat",
	    "77 (odd ) name) R 1 1 1 0 -1 4194304 9 8 7 6 40 5 0 0 20 0 1\n");
	busy(t, 1140, 5160);
	assert_float_equal(look(t, 77, 11500).busy_pct, 15, 1e-9);
	put(t, "/proc/77/stat",
	    "77 (odd ) name) R 1 1 1 0 -1 4194304 9 8 7 6 60 15 0 0 20 0 1\n");
	busy(t, 1170, 5230);
	assert_float_equal(look(t, 77, 12000).busy_pct, 0, 1e-9);
	/* Another one of ours, whose time does not begin where that of the last one ended. */
	put(t, "/proc/78/stat", "78 (x) R 1 1 1 0 -1 4194304 9 8 7 6 30 0 0 0 20 0 1\n");
	busy(t, 1220, 5280);
	assert_float_equal(look(t, 78, 12500).busy_pct, 20, 1e-9);
	put(t, "/proc/stat", "nothing\n");
	assert_true(look(t, 0, 13000).busy_pct < 0);
}

static void stalls_are_over_the_time_between_looks(void **state)
{
	const struct tree *t = *state;

	put(t, "/proc/pressure/io", "some avg10=12.34 avg60=0.05 avg300=0.14 total=4000000\n"
	    "full avg10=0.00 avg60=0.00 avg300=0.00 total=9\n");
	put(t, "/proc/pressure/memory", "full avg10=99.00 avg60=0 avg300=0 total=1\n");
	struct idle_state s = look(t, 0, 10000);
	/* there is no other yet */
	assert_float_equal(s.pressure_pct[PRESSURE_IO], 12.34, 1e-9);
	assert_true(s.pressure_pct[PRESSURE_CPU] < 0 && s.pressure_pct[PRESSURE_MEMORY] < 0);
	put(t, "/proc/pressure/io", "some avg10=12.34 avg60=0.05 avg300=0.14 total=4400000\n");
	assert_float_equal(look(t, 0, 11000).pressure_pct[PRESSURE_IO], 40, 1e-9);
	put(t, "/proc/pressure/io", "some avg10=12.34 avg60=0.05 avg300=0.14 total=inf\n");
	assert_true(look(t, 0, 12000).pressure_pct[PRESSURE_IO] < 0);
}

static int mains_after(const struct tree *t)
{
	static uint64_t now_ms = 100000;

	return look(t, 0, now_ms += 1000).mains;
}

static void batteries_and_mains(void **state)
{
	const struct tree *t = *state;

	put(t, "/sys/class/power_supply/hid-mouse/type", "Battery\n");
	put(t, "/sys/class/power_supply/hid-mouse/scope", "Device\n");
	put(t, "/sys/class/power_supply/hid-mouse/status", "Discharging\n");
	assert_int_equal(mains_after(t), -1);	/* the mouse's */
	put(t, "/sys/class/power_supply/AC/type", "Mains\n");
	put(t, "/sys/class/power_supply/AC/online", "1\n");
	assert_int_equal(mains_after(t), 1);
	put(t, "/sys/class/power_supply/BAT0/type", "Battery\n");
	put(t, "/sys/class/power_supply/BAT0/status", "Charging\n");
	assert_int_equal(mains_after(t), 1);
	put(t, "/sys/class/power_supply/AC/online", "0\n");
	assert_int_equal(mains_after(t), 0);
	put(t, "/sys/class/power_supply/usb0/type", "USB\n");
	put(t, "/sys/class/power_supply/usb0/online", "1\n");
	assert_int_equal(mains_after(t), 1);
	put(t, "/sys/class/power_supply/usb0/online", "0\n");
	put(t, "/sys/class/power_supply/BAT0/status", "Discharging\n");
	assert_int_equal(mains_after(t), 0);
}

static void heat_is_that_of_the_hottest_zone(void **state)
{
	const struct tree *t = *state;

	/* without limit: says nothing */
	put(t, "/sys/class/thermal/thermal_zone0/temp", "60000\n");
	assert_true(look(t, 0, 1000).heat_pct < 0);
	put(t, "/sys/class/thermal/thermal_zone1/temp", "45000\n");
	put(t, "/sys/class/thermal/thermal_zone1/trip_point_0_type", "active\n");
	put(t, "/sys/class/thermal/thermal_zone1/trip_point_0_temp", "40000\n");
	put(t, "/sys/class/thermal/thermal_zone1/trip_point_1_type", "critical\n");
	put(t, "/sys/class/thermal/thermal_zone1/trip_point_1_temp", "100000\n");
	put(t, "/sys/class/thermal/thermal_zone1/trip_point_2_type", "passive\n");
	put(t, "/sys/class/thermal/thermal_zone1/trip_point_2_temp", "90000\n");
	assert_float_equal(look(t, 0, 2000).heat_pct, 50, 1e-9);
	put(t, "/sys/class/thermal/thermal_zone2/temp", "-274000\n");
	put(t, "/sys/class/thermal/thermal_zone2/trip_point_0_type", "hot\n");
	put(t, "/sys/class/thermal/thermal_zone2/trip_point_0_temp", "-274000\n");
	assert_float_equal(look(t, 0, 3000).heat_pct, 50, 1e-9);
	put(t, "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "7\n");
	assert_true(look(t, 0, 4000).throttled);	/* it was 0 */
	assert_true(look(t, 0, 63000).throttled);
	assert_false(look(t, 0, 64000).throttled);
	put(t, "/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "1\n");
	assert_true(look(t, 0, 65000).throttled);
}

/* --- logind --- */

/* A bus that answers one client. */
struct bus {
	int listener;
	/* what Get is answered with: bodies as hexadecimal; "": an error */
	const char *hint, *since;
	bool silent, other_order, endless;
};

static void unhex(struct wr *w, const char *hex)
{
	unsigned byte;

	for (; *hex && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		wr_u8(w, (uint8_t)byte);
}

static void reply(const struct bus *bus, int fd, unsigned type, uint32_t to, const char *body)
{
	struct wr w = { 0 }, b = { 0 };

	unhex(&b, body);
	unhex(&w, bus->other_order ? "42" : "6c");
	wr_u8(&w, (uint8_t)type);
	unhex(&w, "0001");
	wr_u32(&w, bus->endless ? UINT32_MAX : (uint32_t)b.n);
	wr_u32(&w, 900 + to);
	wr_u32(&w, 45);			/* bytes of the fields */
	unhex(&w, "0601730004000000" "3a312e3700" "000000");	/* ":1.7" */
	unhex(&w, "05017500");
	wr_u32(&w, to);
	unhex(&w, "0801670001760000" "07017300" "04000000" "3a312e3100" "000000");
	wr_raw(&w, b.p, b.n);
	(void)!write(fd, w.p, w.n);
	wr_free(&w);
	wr_free(&b);
}

/* Reads one call; its serial, and whether it holds `text`. */
static uint32_t call_of(int fd, const char *text, bool *holds)
{
	uint8_t m[4096];
	uint32_t body, serial, fields;

	if (recv(fd, m, 16, MSG_WAITALL) != 16)
		return 0;
	memcpy(&body, m + 4, 4);
	memcpy(&serial, m + 8, 4);
	memcpy(&fields, m + 12, 4);
	size_t rest = ((fields + 7) & ~7u) + body;
	/* A call that starts no logind where there is none. */
	if (m[0] != 'l' || m[1] != 1 || m[2] != 2 || m[3] != 1 || rest > sizeof(m) ||
	    recv(fd, m, rest, MSG_WAITALL) != (ssize_t)rest)
		return 0;
	*holds = memmem(m, rest, text, strlen(text)) != NULL;
	return serial;
}

static void *serve(void *ctx)
{
	struct bus *b = ctx;
	char line[64] = "", want[64] = "AUTH EXTERNAL ", uid[16];
	size_t end = strlen(want);
	bool holds = false;

	int fd = accept(b->listener, NULL, NULL);
	if (fd < 0)
		return NULL;
	for (size_t n = 0; n < sizeof(line) - 1 && (n < 2 || line[n - 1] != '\n'); n++)
		if (read(fd, line + n, 1) != 1)
			break;
	(void)snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());
	for (const char *c = uid; *c; c++)
		end += (size_t)snprintf(want + end, sizeof(want) - end, "%02x",
					(unsigned char)*c);
	if (line[0] == '\0' && strncmp(line + 1, want, strlen(want)) == 0 && !b->silent) {
		(void)!write(fd, "OK 0123456789abcdef0123456789abcdef\r\n", 37);
		if (recv(fd, line, 7, MSG_WAITALL) == 7 && memcmp(line, "BEGIN\r\n", 7) == 0) {
			uint32_t hello = call_of(fd, "Hello", &holds);
			uint32_t get = call_of(fd, "\x08\0\0\0IdleHint", &holds);

			reply(b, fd, 2, hello, "");
			reply(b, fd, b->hint[0] ? 2 : 3, get, b->hint);
			get = call_of(fd, "IdleSinceHint", &holds);
			if (holds)
				reply(b, fd, b->since[0] ? 2 : 3, get, b->since);
		}
	}
	(void)!read(fd, line, 1);	/* until the client has gone */
	close(fd);
	return NULL;
}

static struct logind_hint ask(const struct tree *t, struct bus *b)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	pthread_t thread;

	put(t, "/run/dbus/x", "%s", "");
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/run/dbus/system_bus_socket",
		       t->root);
	(void)unlink(a.sun_path);
	b->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(b->listener, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(b->listener, 1), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, b), 0);
	struct logind_hint h = logind_ask(a.sun_path, b->silent ? 50 : 5000);
	close(b->listener);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return h;
}

static void logind_tells_whether_users_are_idle(void **state)
{
	struct bus b = { .hint = "0162000001000000",
			 .since = "0174000000000000"
				  "0102030405060000" };
	struct logind_hint h = ask(*state, &b);

	assert_int_equal(h.idle, 1);
	assert_int_equal(h.since_us, 0x060504030201);
	b.hint = "0162000000000000";
	b.since = "";			/* an error */
	h = ask(*state, &b);
	assert_int_equal(h.idle, 0);
	assert_int_equal(h.since_us, 0);
}

static void who_is_no_logind_tells_nothing(void **state)
{
	static const char *const wrong[] = { "", "0173000001000000", "016200", "0162000001",
					     "02626200" };
	char path[128];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct bus b = { .hint = wrong[i], .since = "" };

		assert_int_equal(ask(*state, &b).idle, -1);
	}
	struct bus odd[] = { { .silent = true, .hint = "", .since = "" },
			     { .other_order = true, .hint = "0162000001000000", .since = "" },
			     { .endless = true, .hint = "0162000001000000", .since = "" } };
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		assert_int_equal(ask(*state, &odd[i]).idle, -1);
	assert_int_equal(logind_ask("/nonexistent/socket", 50).idle, -1);
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(logind_ask(path, 50).idle, -1);
}

static void this_machine_has_a_verdict(void **state)
{
	struct policy *p = policy_default();
	struct sense *sense = sense_new("");
	struct idle_condition c[IDLE_NCONDITION];
	bool all = true;

	(void)state;
	bool idle = policy_idle(p, sense, 0, 1000, c);
	for (int i = 0; i < IDLE_NCONDITION; i++) {
		assert_true(c[i].value[0] != '\0');
		all = all && c[i].ok;
	}
	assert_int_equal(idle, all);
	assert_string_not_equal(c[LOAD].value, "not available");
	sense_free(sense);
	policy_free(p);
}

int main(void)
{
#define IN_TREE(f) cmocka_unit_test_setup_teardown(f, make, unmake)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_condition_must_hold),
		cmocka_unit_test(windows_may_pass_midnight),
		cmocka_unit_test(what_cannot_be_told_does_not_stand_in_the_way),
		IN_TREE(an_empty_tree_tells_nothing),
		IN_TREE(load_counts_for_the_cpus_there_are),
		IN_TREE(cpu_time_of_others_is_told_from_our_own),
		IN_TREE(stalls_are_over_the_time_between_looks),
		IN_TREE(batteries_and_mains),
		IN_TREE(heat_is_that_of_the_hottest_zone),
		IN_TREE(logind_tells_whether_users_are_idle),
		IN_TREE(who_is_no_logind_tells_nothing),
		cmocka_unit_test(this_machine_has_a_verdict),
	};

	/* clients of the bus leave when they have heard enough */
	(void)signal(SIGPIPE, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
