/* test_show_saved.c - what was saved, as root and as somebody who owns a program is told it */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/err.h"
#include "manager/store/store_saved.h"
#include "manager/work/work.h"
#include "tests/unit/daemon.h"

static const char policy[] = "modules:\n  include: [\"@/*\"]\nidle:\n  check_s: 3600\n";
static const uint64_t hour = UINT64_C(3600000000000);
static const uint64_t noon = UINT64_C(1795694400) * 1000000000;

static int64_t add_module(struct daemon *d, const char *path, uint32_t owner)
{
	struct store_module m = { .owner = owner, .generation = 1 };
	struct err err;

	(void)snprintf(m.path, sizeof(m.path), "%s", path);
	memset(m.original.b, (int)strlen(path), sizeof(m.original.b));
	m.present = m.original;
	if (store_module_put(d->m.work.store, &m, &err) < 0)
		fail_msg("%s", err.text);
	return m.id;
}

static void use(struct daemon *d, int64_t module, uint32_t kind, uint64_t time_ns, double s)
{
	const struct store_used u = { 1, false, kind, s / 4, s * 3 / 4, 0 };
	struct err err;

	assert_int_equal(store_used_add(d->m.work.store, module, time_ns, &u, &err), 0);
}

/* Half the time, between two fifths and five eighths of it. */
static void is_twice_as_fast(struct daemon *d, int64_t module)
{
	const struct store_measured m = { module, 1, 0, STORE_BY_RUNS, 0,
					  { log(0.5), log(0.4), log(0.625) } };
	struct err err;

	assert_int_equal(store_measured_put(d->m.work.store, &m, &err), 0);
}

static void begin(struct daemon *d)
{
	struct err err;

	daemon_open(d, policy);
	int64_t fast = add_module(d, "/usr/bin/fast", 0), his = add_module(d, "/home/his", 7);
	use(d, fast, STORE_KIND_OBSERVED, noon, 100);
	use(d, fast, STORE_KIND_OBSERVED, noon + 2 * hour, 20);
	use(d, fast, STORE_KIND_OTHER, noon, 8);
	is_twice_as_fast(d, fast);
	use(d, his, STORE_KIND_OBSERVED, noon + hour, 40);
	for (int i = 0; i < STORE_NOWN; i++)
		assert_int_equal(store_own_add(d->m.work.store, (enum store_own)i, noon - hour,
					       i == STORE_OWN_SAMPLES ? 1000000 : 1, &err), 0);
}

static char *ask(struct daemon *d, uid_t uid, const char *since)
{
	const char *argv[] = { "saved", since };
	int code;

	daemon_now_ms += 60000;
	char *text = daemon_ask(d, uid, since ? 2 : 1, argv, &code);
	assert_int_equal(code, 0);
	return text;
}

static void says(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("no '%s' in: %s", what, text);
}

static void who_sees_all_is_told_what_is_left_of_it(void **state)
{
	struct daemon d;

	(void)state;
	if (geteuid())
		skip();
	begin(&d);
	char *text = ask(&d, 0, NULL);
	says(text, "table in_all\n"
	     "saved\t120.000000\t72.000000\t180.000000\t1795690800000000000\t\n"
	     /* nine seconds, and a million times 2.7 us */
	     "cost\t11.700000\t11.700000\t11.700000\t1795690800000000000\t\n"
	     "left\t108.300000\t60.300000\t168.300000\t1795690800000000000\t\n");
	says(text, "table saved\n/usr/bin/fast\t1\t120.000000\t2.000000\t120.000000\t"
	     "72.000000\t180.000000\truns\t\n");
	says(text, "/usr/bin/fast\t1\t8.000000\tother_programs\t");
	says(text, "table unmeasured\n/home/his\t1\t40.000000\topen\t"
	     "not observed often enough so far\t\n");
	says(text, "interrupts\t2.700000\t1\tby 1000000 samples, in idle time as well, "
	     "of 2.7 us at most each\t\n");
	free(text);
	daemon_close(&d);
}

static void what_was_before_is_left_out(void **state)
{
	struct daemon d;
	char since[32];

	(void)state;
	if (geteuid())
		skip();
	begin(&d);
	(void)snprintf(since, sizeof(since), "--since=%llu",
		       (unsigned long long)(noon + 2 * hour + 1));
	char *text = ask(&d, 0, since);
	says(text, "saved\t20.000000\t12.000000\t30.000000\t1795701600000000000\t\n");
	says(text, "cost\t0.000000\t");
	assert_null(strstr(text, "unmeasured"));
	assert_null(strstr(text, "/home/his"));
	free(text);
	(void)snprintf(since, sizeof(since), "--since=%llu",
		       (unsigned long long)(noon + 9 * hour));
	text = ask(&d, 0, since);
	says(text, "no generation has run since then");
	free(text);
	daemon_close(&d);
}

static void a_user_is_told_of_his_own_and_of_no_costs(void **state)
{
	struct daemon d;

	(void)state;
	if (geteuid())
		skip();
	begin(&d);
	char *text = ask(&d, 7, NULL);
	says(text, "what generations have saved is not measured yet");
	says(text, "saved\t0.000000\t0.000000\t0.000000\t1795698000000000000\t\n");
	says(text, "/home/his\t1\t40.000000\topen\t");
	assert_null(strstr(text, "fast"));
	assert_null(strstr(text, "cost"));
	assert_null(strstr(text, "left\t"));
	free(text);
	daemon_close(&d);
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const bad[] = { "--since=", "--since=x", "--since=1x", "yesterday",
					   "--since=99999999999999999999", "--sinc=1" };
	struct daemon d;
	int code;

	(void)state;
	if (geteuid())
		skip();
	begin(&d);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *argv[] = { "saved", bad[i] };

		free(daemon_ask(&d, 0, 2, argv, &code));
		assert_int_equal(code, 2);
	}
	daemon_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_sees_all_is_told_what_is_left_of_it),
		cmocka_unit_test(what_was_before_is_left_out),
		cmocka_unit_test(a_user_is_told_of_his_own_and_of_no_costs),
		cmocka_unit_test(what_is_no_time_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
