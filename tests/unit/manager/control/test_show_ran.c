/* test_show_ran.c - report by program, and of a part of all time; what of the machine's CPU
 * time can be laid out */
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
#include "manager/samples/attribute.h"
#include "manager/store/store_ran.h"
#include "manager/work/work.h"
#include "policy/policy.h"
#include "tests/unit/daemon.h"

static const uint64_t hour = UINT64_C(3600000000000), day = 24 * UINT64_C(3600000000000);

#define OWN "/home/asker/tool"

/* Who asks: not root, and nobody whom the daemon trusts. */
static uid_t asker(void)
{
	return geteuid() ? geteuid() : DAEMON_NOBODY;
}

static int64_t add_module(struct daemon *d, const char *path, uint32_t owner,
			  uint32_t generation, const char *refusal)
{
	struct store_module m = { .owner = owner, .generation = generation };
	struct err err;

	(void)snprintf(m.path, sizeof(m.path), "%s", path);
	(void)snprintf(m.refusal, sizeof(m.refusal), "%s", refusal);
	memset(m.original.b, (int)strlen(path), sizeof(m.original.b));
	m.present = m.original;
	if (store_module_put(d->m.work.store, &m, &err) < 0)
		fail_msg("%s", err.text);
	return m.id;
}

static void ran(struct daemon *d, uint64_t at_ns, const char *program, int64_t module,
		uint64_t samples)
{
	struct attribution a = { 0 };
	struct err err;

	attribution_ran(&a, program, &(struct attribute_ran){ (uint32_t)(at_ns / hour), NULL,
							      module, samples });
	if (store_ran_add(d->m.work.store, &a, &err) < 0)
		fail_msg("%s", err.text);
	attribution_free(&a);
}

static uint64_t today;

static void begin(struct daemon *d)
{
	daemon_open(d, "idle:\n  check_s: 3600\n");
	int64_t libc = add_module(d, "/usr/lib/libc.so.6", 0, 3, "");
	int64_t own = add_module(d, OWN, asker(), 0, "");

	today = store_now_ns() / day * day;
	ran(d, today - 2 * day, OWN, own, 10);
	ran(d, today - 2 * day, OWN, libc, 20);
	ran(d, today - day, OWN, libc, 5);
	ran(d, today - day, "/usr/bin/perl", libc, 40);
	ran(d, today - day, "/usr/bin/perl", -COUNTER_KERNEL, 15);
	ran(d, today - day, "/usr/bin/perl", -COUNTER_ANON, 6);
	ran(d, today - day, "", -COUNTER_NOPROCESS, 4);
}

static char *report(struct daemon *d, uid_t uid, const char *by, const char *more,
		    const char *last)
{
	const char *argv[] = { "report", by, more, last };
	int code, argc = 2 + (more != NULL) + (last != NULL);

	daemon_now_ms += 60000;
	return daemon_ask(d, uid, argc, argv, &code);
}

static void says(char *text, const char *expected)
{
	if (!strstr(text, expected))
		fail_msg("no '%s' in: %s", expected, text);
	free(text);
}

static void says_not(char *text, const char *unexpected)
{
	if (strstr(text, unexpected))
		fail_msg("'%s' is in: %s", unexpected, text);
	free(text);
}

static char *bound(const char *option, uint64_t ns)
{
	static char text[2][64];
	static unsigned k;
	char *at = text[k++ % 2];

	(void)snprintf(at, sizeof(text[0]), "%s=%llu", option, (unsigned long long)ns);
	return at;
}

static void programs_have_what_ran_in_them(void **state)
{
	struct daemon d;

	(void)state;
	begin(&d);
	d.m.work.policy->see_others = 1;
	says(report(&d, asker(), "--by=program", NULL, NULL),
	     "table programs\n"
	     "/usr/bin/perl\t61.000000\t61.000000\t61.000000\t\n"
	     OWN "\t35.000000\t35.000000\t96.000000\t\n"
	     "[other programs]\t4.000000\t4.000000\t100.000000\t\n");
	says(report(&d, asker(), "--by=program", "--limit=1", NULL),
	     "[all others]\t39.000000\t39.000000\t100.000000\t\n");
	says(report(&d, asker(), "libc.so.6", "--by=program", NULL),
	     "table programs\n"
	     "/usr/bin/perl\t40.000000\t61.538462\t61.538462\t\n"
	     OWN "\t25.000000\t38.461538\t100.000000\t\n");
	daemon_close(&d);
}

static void a_user_sees_his_programs_as_if_they_were_alone(void **state)
{
	struct daemon d;

	(void)state;
	begin(&d);
	says(report(&d, asker(), "--by=program", NULL, NULL),
	     "table programs\n" OWN "\t35.000000\t100.000000\t100.000000\t\n");
	says_not(report(&d, asker(), "--by=program", NULL, NULL), "perl");
	says_not(report(&d, asker(), "--by=program", NULL, NULL), "other programs");
	says(report(&d, asker(), "libc.so.6", "--by=program", NULL), "that is yours");
	says(report(&d, asker(), OWN, "--by=program", NULL), OWN "\t10.000000\t");
	says_not(report(&d, asker(), "--by=module", bound("--since", today - 3 * day), NULL),
		 "libc");
	says(report(&d, asker(), "--by=machine", bound("--since", today - 3 * day), NULL),
	     "programs and libraries\t10.000000\t100.000000\t");
	daemon_close(&d);
}

static void what_did_not_run_has_no_row(void **state)
{
	struct daemon d;

	(void)state;
	begin(&d);
	d.m.work.policy->see_others = 1;
	/* of the days before anything ran */
	says_not(report(&d, asker(), "--by=machine", bound("--since", today - 9 * day),
			bound("--until", today - 7 * day)), "programs and libraries");
	daemon_close(&d);
}

static void a_part_of_all_time_has_its_samples(void **state)
{
	char period[96];
	struct daemon d;

	(void)state;
	begin(&d);
	d.m.work.policy->see_others = 1;
	says(report(&d, asker(), "--by=module", bound("--since", today - day), NULL),
	     "table modules\n"
	     "/usr/lib/libc.so.6\t45.000000\t64.285714\t64.285714\t3\t\n"
	     "[kernel]\t15.000000\t21.428571\t85.714286\t0\t\n"
	     "[code made at run time]\t6.000000\t8.571429\t94.285714\t0\t\n"
	     "[unknown processes]\t4.000000\t5.714286\t100.000000\t0\t\n");
	(void)snprintf(period, sizeof(period), "table period\n%llu\t%llu\t\n",
		       (unsigned long long)(today - 2 * day),
		       (unsigned long long)(today - day));
	says(report(&d, asker(), "--by=machine", bound("--until", today - day), NULL), period);
	says(report(&d, asker(), "--by=machine", bound("--until", today - day), NULL),
	     "programs and libraries\t30.000000\t100.000000\t");
	says(report(&d, asker(), "--by=program", bound("--since", today - day),
		    bound("--until", today - day + hour)), "/usr/bin/perl\t61.000000\t");
	says(report(&d, asker(), "--by=program", bound("--since", today - day + hour), NULL),
	     "no samples of that time");
	daemon_close(&d);
}

static void what_is_not_kept_is_refused_with_what_is(void **state)
{
	struct daemon d;

	(void)state;
	begin(&d);
	d.m.work.policy->see_others = 1;
	says(report(&d, asker(), "--by=module", bound("--since", today - day + 1), NULL),
	     "--since: samples of that time are kept by the hour: ");
	says(report(&d, asker(), "--by=module", bound("--until", today - 20 * day + hour),
		    NULL), "--until: samples of that time are kept by 1 day, of UTC: ");
	says(report(&d, asker(), "--by=program", bound("--since", 90 * day + day), NULL),
	     "kept by 30 days, of UTC: 1970-0");
	says(report(&d, asker(), "--by=procedure", bound("--since", today), NULL), "one sum");
	says(report(&d, asker(), "--by=user", bound("--since", today), NULL), "one sum");
	says(report(&d, asker(), "libc.so.6", bound("--since", today), NULL), "one sum");
	says_not(report(&d, asker(), bound("--since", today - day), NULL, NULL),
		 "table procedures");
	says(report(&d, asker(), bound("--since", today - day), NULL, NULL), "table modules");
	says(report(&d, asker(), "--by=module", bound("--since", today - day),
		    bound("--until", today - day)), "not behind --since");
	says(report(&d, asker(), "--by=module", "--until=0", NULL), "no time before 1970");
	says(report(&d, asker(), "--by=module", "--since=", NULL), "unknown option");
	says(report(&d, asker(), "--by=module", "--since=-1", NULL), "unknown option");
	says(report(&d, asker(), "--by=module", "--until=1x", NULL), "unknown option");
	daemon_close(&d);
}

static void cpu_time_is_told_by_what_can_be_laid_out(void **state)
{
	static const char *const status[] = { "status" };
	struct daemon d;
	int code;

	(void)state;
	begin(&d);
	int64_t ld = add_module(&d, "/usr/lib/ld-linux-x86-64.so.2", 0, 0, "it is the loader");
	int64_t set_id = add_module(&d, "/usr/bin/sudo", 0, 0, "set-user-id");
	ran(&d, today, "/usr/bin/perl", ld, 50);
	ran(&d, today, "/usr/bin/perl", -COUNTER_UNKNOWN, 20);
	ran(&d, today, "/usr/bin/perl", -COUNTER_VDSO, 3);
	ran(&d, today, "/usr/bin/sudo", set_id, 27);
	ran(&d, today - 40 * day, "/usr/bin/perl", -COUNTER_KERNEL, 1000);	/* long ago */
	says(daemon_ask(&d, 0, 1, status, &code),
	     "table cpu_time\n"
	     "generations\t65\t32.500000\tin programs and libraries that are laid out\t\n"
	     "originals\t10\t5.000000\tin programs and libraries that may yet be\t\n"
	     "refused\t27\t13.500000\tin programs and libraries that are refused\t\n"
	     "loader\t50\t25.000000\tin the dynamic loader\t\n"
	     "kernel\t15\t7.500000\tin the kernel\t\n"
	     "run_time\t6\t3.000000\tin code made at run time\t\n"
	     "other_files\t20\t10.000000\t");
	says_not(daemon_ask(&d, asker(), 1, status, &code), "cpu_time");
	daemon_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_have_what_ran_in_them),
		cmocka_unit_test(a_user_sees_his_programs_as_if_they_were_alone),
		cmocka_unit_test(what_did_not_run_has_no_row),
		cmocka_unit_test(a_part_of_all_time_has_its_samples),
		cmocka_unit_test(what_is_not_kept_is_refused_with_what_is),
		cmocka_unit_test(cpu_time_is_told_by_what_can_be_laid_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
