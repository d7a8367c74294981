/* test_options.c - what a role is told arrives */
#include <getopt.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "manager/parent/options.h"
#include "manager/parent/role.h"

static int parse(const char *const *arg, struct role_options *o)
{
	int n = 0;

	while (arg[n])
		n++;
	optind = 0;		/* getopt begins anew */
	return options_parse(n, (char **)(uintptr_t)arg, o);
}

static void same(const struct role_options *a, const struct role_options *b)
{
	assert_int_equal(a->role, b->role);
	assert_string_equal(a->policy, b->policy);
	assert_string_equal(a->store, b->store);
	assert_string_equal(a->socket, b->socket);
	assert_string_equal(a->user, b->user);
	assert_string_equal(a->job_user, b->job_user);
	assert_string_equal(a->morph_edit, b->morph_edit);
	assert_string_equal(a->morph_verify, b->morph_verify);
	assert_string_equal(a->morph_live, b->morph_live);
	assert_string_equal(a->morph_share, b->morph_share);
	assert_string_equal(a->share_user, b->share_user);
	assert_string_equal(a->host, b->host);
	assert_string_equal(a->folders, b->folders);
	assert_int_equal(a->foreground, b->foreground);
	assert_int_equal(a->no_monitor, b->no_monitor);
	assert_int_equal(a->clock, b->clock);
	assert_int_equal(a->rate_hz, b->rate_hz);
	assert_int_equal(a->drain_s, b->drain_s);
	assert_int_equal(a->spool_max_mib, b->spool_max_mib);
	assert_int_equal(a->stack_bytes, b->stack_bytes);
	assert_int_equal(a->paused, b->paused);
	assert_int_equal(a->switched, b->switched);
	assert_int_equal(a->registers, b->registers);
	assert_int_equal(a->memory, b->memory);
}

static void arrives(const struct role_options *told)
{
	struct role_options got = { 0 };
	struct options_line line;

	options_make(told, "morphd: x", &line);
	assert_string_equal(line.arg[0], "morphd: x");
	assert_int_equal(parse(line.arg, &got), 0);
	same(told, &got);
}

static void what_a_role_is_told_arrives(void **state)
{
	struct role_options o = {
		.role = MSG_ROLE_MONITOR,
		.policy = "/a",
		.store = "--store", .socket = "c d", .user = "e", .job_user = "f",
		.morph_edit = "g", .morph_verify = "h", .morph_live = "k",
		.morph_share = "l", .share_user = "m",
		.host = "", .folders = "/i:/j",
		.foreground = true,
		.no_monitor = true,
		.clock = 1, .rate_hz = UINT32_MAX, .drain_s = 3, .spool_max_mib = 4,
		.stack_bytes = 5, .paused = true, .switched = true, .registers = true,
		.memory = true,
	};

	(void)state;
	arrives(&o);
	o.role = MSG_ROLE_MANAGER;
	o.foreground = o.no_monitor = o.paused = o.switched = o.registers = o.memory = false;
	o.clock = o.rate_hz = o.drain_s = o.spool_max_mib = o.stack_bytes = 0;
	arrives(&o);
}

static void wrong_usage_is_told_from_help(void **state)
{
	static const char *const help[] = { "morphd", "--help", NULL },
		*const h[] = { "morphd", "-h", NULL },
		*const unknown[] = { "morphd", "--polish", NULL },
		*const no_value[] = { "morphd", "--store", NULL },
		*const role[] = { "morphd", "--role", "actor", NULL },
		*const operand[] = { "morphd", "x", NULL };
	struct role_options o = { 0 };

	(void)state;
	opterr = 0;
	assert_int_equal(parse(help, &o), 1);
	assert_int_equal(parse(h, &o), 1);
	assert_int_equal(parse(unknown, &o), -1);
	assert_int_equal(parse(no_value, &o), -1);
	assert_int_equal(parse(role, &o), -1);
	assert_int_equal(parse(operand, &o), -1);
}

static void usage_has_every_option_as_it_is_given(void **state)
{
	char usage[OPTIONS_USAGE_MAX];

	(void)state;
	options_usage(usage);
	assert_non_null(strstr(usage, "[--help] [-h] [--"));
	assert_non_null(strstr(usage, " [--foreground]"));
	assert_non_null(strstr(usage, " [--no-monitor]"));
	assert_non_null(strstr(usage, " [--policy="));
	assert_non_null(strstr(usage, " [--job-user="));
	assert_null(strstr(usage, "=]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_role_is_told_arrives),
		cmocka_unit_test(wrong_usage_is_told_from_help),
		cmocka_unit_test(usage_has_every_option_as_it_is_given),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
