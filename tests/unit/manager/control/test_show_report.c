/* test_show_report.c - report by kind of code and by user: to who sees all, and to a user */
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
#include "manager/control/show.h"
#include "manager/samples/attribute.h"
#include "manager/samples/userset.h"
#include "manager/work/work.h"
#include "policy/policy.h"
#include "tests/unit/daemon.h"

enum { NAMELESS = 64099, SAMPLES = 60 };

/* Who asks: not root, and nobody whom the daemon trusts. */
static uid_t asker(void)
{
	return geteuid() ? geteuid() : DAEMON_NOBODY;
}

static void begin(struct daemon *d)
{
	struct store_fading fading = { 1, 3600, 600, 0 };
	struct blockcount count[] = { { 3, SAMPLES } };
	struct store_module m = { .path = "/home/bob/tool", .owner = NAMELESS };
	struct attribute_module one = { .samples = SAMPLES, .ncount = 1, .count = count };
	struct attribution a = { .nmodule = 1, .module = &one };
	struct err err;

	daemon_open(d, "idle:\n  check_s: 3600\n");
	assert_int_equal(store_module_put(d->m.work.store, &m, &err), 0);
	one.module = (uint64_t)m.id;
	a.counter[COUNTER_KERNEL] = 30;
	a.counter[COUNTER_ANON] = 8;
	a.counter[COUNTER_NOWHERE] = 2;
	attribution_made(&a, "/usr/bin/node", "LazyCompile:*run", NAMELESS, 3);
	attribution_made(&a, "/usr/bin/node", "LazyCompile:*run", asker(), 1);
	attribution_made(&a, "/usr/bin/node", "", NAMELESS, 1);
	attribution_made(&a, "/home/bob/tool", "bob's own", asker(), 1);
	attribution_made(&a, "", "", MADESET_NOBODY, 2);
	topnames_add(&a.kernel, "vfs_read", 20);
	topnames_add(&a.kernel, "of_module [mod]", 4);
	usersums_add(&a.user, USERSET_SYSTEM, 50);
	usersums_add(&a.user, NAMELESS, 25);
	usersums_add(&a.user, asker(), 15);
	usersums_add(&a.user, USERSET_UNKNOWN, 10);
	if (store_add_attribution(d->m.work.store, "one", &a, (struct bytes){ 0 }, &fading,
				  &err) < 0)
		fail_msg("%s", err.text);
	a.nmodule = 0;			/* which is on the stack */
	a.module = NULL;
	attribution_free(&a);
}

static char *report(struct daemon *d, uid_t uid, const char *by, const char *more)
{
	const char *argv[] = { "report", by, more };
	int code;

	daemon_now_ms += 60000;
	return daemon_ask(d, uid, more ? 3 : 2, argv, &code);
}

static void says(char *text, const char *expected)
{
	if (!strstr(text, expected))
		fail_msg("no '%s' in: %s", expected, text);
	free(text);
}

static void who_sees_all_sees_every_user(void **state)
{
	struct daemon d;

	(void)state;
	begin(&d);
	d.m.work.policy->see_others = 1;
	says(report(&d, asker(), "--by=user", NULL),
	     "[root and system accounts]\t50.000000\t50.000000\t50.000000\t\n"
	     "64099\t25.000000\t25.000000\t75.000000\t\n");
	says(report(&d, asker(), "--by=user", NULL),
	     "[unknown users]\t10.000000\t10.000000\t100.000000\t\n");
	says(report(&d, asker(), "--by=user", "--limit=1"),
	     "[all others]\t50.000000\t50.000000\t100.000000\t\n");
	says(report(&d, asker(), "--by=user", "--sort=name"), "64099\t25.000000\t25.000000\t");
	daemon_close(&d);
}

static void a_user_sees_himself_as_if_he_were_alone(void **state)
{
	struct daemon d;

	(void)state;
	begin(&d);
	char *text = report(&d, asker(), "--by=user", NULL);
	assert_null(strstr(text, "[root"));
	assert_null(strstr(text, "64099"));
	assert_null(strstr(text, "[unknown"));
	says(text, "\t15.000000\t100.000000\t100.000000\t");
	text = report(&d, asker(), "--by=machine", NULL);
	assert_null(strstr(text, "[kernel]"));
	says(text, "programs and libraries\t0.000000\t");
	daemon_close(&d);
}

static void the_machine_is_told_by_kind_of_code(void **state)
{
	struct daemon d;

	(void)state;
	begin(&d);
	d.m.work.policy->see_others = 1;
	says(report(&d, asker(), "--by=machine", NULL),
	     "programs and libraries\t60.000000\t60.000000\t60.000000\t\n"
	     "[kernel]\t30.000000\t30.000000\t90.000000\t\n"
	     "[code made at run time]\t8.000000\t8.000000\t98.000000\t\n"
	     "[no known mapping]\t2.000000\t2.000000\t100.000000\t\n");
	char *text = report(&d, asker(), "--by=module", NULL);
	assert_null(strstr(text, "table procedures"));
	says(text, "table modules");
	text = report(&d, asker(), "--by=procedure", NULL);
	assert_null(strstr(text, "table modules"));
	says(text, "table procedures");
	daemon_close(&d);
}

static void the_kernel_s_procedures_are_told_to_who_sees_all(void **state)
{
	struct daemon d;

	(void)state;
	begin(&d);
	char *text = report(&d, asker(), "--by=procedure", NULL);
	assert_null(strstr(text, "vfs_read"));
	free(text);
	text = report(&d, asker(), "[kernel]", NULL);
	assert_null(strstr(text, "vfs_read"));
	says(text, "no samples of such a module");
	d.m.work.policy->see_others = 1;
	says(report(&d, asker(), "--by=procedure", NULL),
	     "[kernel]\tvfs_read\t20.000000\t20.000000\t20.000000\t\t\t\n"
	     "[kernel]\tof_module [mod]\t4.000000\t4.000000\t24.000000\t\t\t\n");
	says(report(&d, asker(), "[kernel]", NULL),
	     "[all others]\t\t6.000000\t20.000000\t100.000000\t");
	/* what is cut off and what has no name are one row */
	says(report(&d, asker(), "--by=procedure", "--limit=1"),
	     "[all others]\t\t80.000000\t80.000000\t100.000000\t");
	daemon_close(&d);
}

static void what_cannot_be_told_apart_is_refused(void **state)
{
	struct daemon d;

	(void)state;
	begin(&d);
	says(report(&d, asker(), "--by=line", NULL),
	     "--by: 'line' is none of machine, program, module, procedure, user");
	says(report(&d, asker(), "--by=user", "/home/bob/tool"), "--by is for all modules");
	daemon_close(&d);
}

/* Of a program, by name; each program's row is their sum. */
static void code_made_at_run_time_is_told_by_name(void **state)
{
	struct daemon d;

	(void)state;
	begin(&d);
	d.m.work.policy->see_others = 1;
	says(report(&d, asker(), "--by=module", NULL),
	     "[made at run time by /usr/bin/node]\t5.000000\t5.000000\t");
	says(report(&d, asker(), "--by=module", NULL),
	     "[code made at run time]\t2.000000\t2.000000\t");
	says(report(&d, asker(), "--by=procedure", NULL),
	     "[made at run time by /usr/bin/node]\tLazyCompile:*run\t4.000000\t4.000000\t");
	says(report(&d, asker(), "[made at run time by /usr/bin/node]", NULL),
	     "[made at run time by /usr/bin/node]\tLazyCompile:*run\t4.000000\t80.000000\t"
	     "80.000000\t\t\t\n"
	     "[made at run time by /usr/bin/node]\t[code made at run time]\t1.000000\t"
	     "20.000000\t100.000000\t\t\t\n");
	says(report(&d, asker(), "[made at run time by /usr/bin/node]", "--limit=1"),
	     "[all others]\t\t1.000000\t20.000000\t100.000000\t");
	says(report(&d, asker(), "[made at run time by /usr/bin/perl]", NULL),
	     "no samples of such a module");
	daemon_close(&d);
}

/* Of his own program, what his own processes made; the owner of another one sees nothing. */
static void a_user_sees_what_he_made_with_his_program(void **state)
{
	struct store_module his = { .path = "/home/asker/tool", .owner = asker() };
	struct store_fading fading = { 1, 3600, 600, 0 };
	struct attribution a = { 0 };
	struct daemon d;
	struct err err;

	(void)state;
	begin(&d);
	assert_int_equal(store_module_put(d.m.work.store, &his, &err), 0);
	attribution_made(&a, his.path, "mine", asker(), 3);
	attribution_made(&a, his.path, "not mine", NAMELESS, 7);
	attribution_made(&a, his.path, "whose?", MADESET_NOBODY, 5);
	assert_int_equal(store_add_attribution(d.m.work.store, "two", &a, (struct bytes){ 0 },
					       &fading, &err), 0);
	attribution_free(&a);
	char *text = report(&d, asker(), "--by=procedure", NULL);
	assert_null(strstr(text, "not mine"));
	assert_null(strstr(text, "whose?"));
	assert_null(strstr(text, "node"));
	assert_null(strstr(text, "bob"));
	assert_null(strstr(text, "[all others]"));	/* there is nothing else */
	says(text, "[made at run time by /home/asker/tool]\tmine\t3.000000\t100.000000\t");
	says(report(&d, asker(), "--by=module", NULL),
	     "[made at run time by /home/asker/tool]\t3.000000\t100.000000\t");
	says(report(&d, asker(), "--by=machine", NULL),
	     "[code made at run time]\t3.000000\t100.000000\t");
	says(report(&d, asker(), "[made at run time by /home/bob/tool]", NULL),
	     "no samples of such a module that is yours");
	says(report(&d, asker(), "[code made at run time]", NULL),
	     "no samples of such a module that is yours");
	daemon_close(&d);
}

static void one_module_and_a_known_order_are_asked_for(void **state)
{
	const char *two[] = { "report", "gzip", "sort" };
	const char *order[] = { "report", "--sort=size" };
	struct show_report r;
	struct err err;

	(void)state;
	assert_int_equal(show_report_options(3, two, &r, &err), -1);
	says(strdup(err.text), "unexpected argument 'sort'");
	assert_int_equal(show_report_options(2, order, &r, &err), -1);
	says(strdup(err.text), "--sort: 'size' is none of count, name");
	assert_int_equal(show_report_options(2, two, &r, &err), 0);
	assert_string_equal(r.module, "gzip");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_module_and_a_known_order_are_asked_for),
		cmocka_unit_test(who_sees_all_sees_every_user),
		cmocka_unit_test(a_user_sees_himself_as_if_he_were_alone),
		cmocka_unit_test(the_machine_is_told_by_kind_of_code),
		cmocka_unit_test(code_made_at_run_time_is_told_by_name),
		cmocka_unit_test(a_user_sees_what_he_made_with_his_program),
		cmocka_unit_test(the_kernel_s_procedures_are_told_to_who_sees_all),
		cmocka_unit_test(what_cannot_be_told_apart_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
