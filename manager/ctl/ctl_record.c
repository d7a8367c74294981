/* ctl_record.c - morphctl record and profile: one command sampled and worked off without a
 * daemon */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/say.h"
#include "manager/ctl/ctl.h"
#include "manager/ctl/profile_log.h"
#include "manager/parent/program.h"
#include "monitor/perf_branches.h"
#include "monitor/record.h"
#include "policy/policy.h"

enum { DEFAULT_RATE_HZ = 251, DEFAULT_BRANCHES_HZ = 251,
       DEFAULT_STACK_BYTES = 8192 };	/* of --stacks; as perf has it, chosen */

static int clock_of(const char *name)
{
	for (int i = 0; policy_clock_name[i]; i++)
		if (strcmp(policy_clock_name[i], name) == 0)
			return i;	/* the Monitor numbers them in the same way */
	return -1;
}

static int fail(const struct err *err)
{
	say_line(stderr, "morphctl: %s", err->text);
	return err_exit_code(err);
}

/* A whole number of at most `most`; -1: it is none. */
static long number(const char *text, long most)
{
	char *end;
	long v = strtol(text, &end, 10);

	return end == text || *end || v < 0 || v > most ? -1 : v;
}

/* Lost samples are no failure, but who draws conclusions from the log should know. */
static void tell_losses(const struct record_result *r)
{
	if (r->lost)
		say_line(stderr, "morphctl: %" PRIu64 " records lost beside %" PRIu64
			 " samples", r->lost, r->samples);
	if (r->throttled)
		say_line(stderr, "morphctl: the kernel held sampling down %" PRIu64 " times",
			 r->throttled);
	if (r->exit_status)
		say_line(stderr, "morphctl: the command ended with code %d", r->exit_status);
}

int ctl_record(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "clock", required_argument, NULL, 'c' },
		{ "rate", required_argument, NULL, 'r' },
		{ "registers", optional_argument, NULL, 's' },
		{ "stacks", optional_argument, NULL, 'S' },
		{ "memory", no_argument, NULL, 'm' },
		{ "branches", optional_argument, NULL, 'b' },
		{ "pid", required_argument, NULL, 'p' },
		{ 0 }
	};
	struct record_options o = { .clock = MONITOR_CLOCK_AUTO, .kernel_names = true };
	long rate = DEFAULT_RATE_HZ, stack = 0, whole = 0, branches = 0, pid = 0;
	struct record_result result;
	struct err err = { 0 };
	int c, clock = MONITOR_CLOCK_AUTO;

	(void)ctl;
	while ((c = getopt_long(argc, argv, "+o:", options, NULL)) != -1) {
		if (c == 'o') {
			o.log_path = optarg;
		} else if (c == 'c') {
			clock = clock_of(optarg);
		} else if (c == 'r') {
			rate = number(optarg, INT_MAX);
		} else if (c == 's') {
			o.registers = true;
			stack = optarg ? number(optarg, SPOOL_STACK_MAX) : 0;
		} else if (c == 'S') {
			o.stacks = o.registers = true;
			whole = optarg ? number(optarg, SPOOL_STACK_MAX) : DEFAULT_STACK_BYTES;
		} else if (c == 'm') {
			o.memory = true;
		} else if (c == 'b') {
			branches = optarg ? number(optarg, PERF_BRANCHES_RATE_MAX)
					  : DEFAULT_BRANCHES_HZ;
		} else if (c == 'p') {
			pid = number(optarg, INT_MAX);
		} else {
			return ctl_usage(ctl);
		}
	}
	if (!o.log_path || optind >= argc || clock < 0 || rate < 0 || stack < 0 || stack % 8 ||
	    whole < 0 || whole % 8 || (o.stacks && !whole) || (o.memory && !o.registers) ||
	    branches < 0 || pid < 0)
		return ctl_usage(ctl);
	o.clock = (enum monitor_clock)clock;
	o.rate_hz = (unsigned)rate;
	o.stack_bytes = (unsigned)(whole > stack ? whole : stack);
	o.branches_hz = (unsigned)branches;
	o.pid = (pid_t)pid;
	o.argv = argv + optind;
	if (record_command(&o, &result, &err) < 0)
		return fail(&err);
	tell_losses(&result);
	if (isatty(STDERR_FILENO))
		say_line(stderr, "morphctl: %" PRIu64 " samples in '%s'; `morphctl profile "
			 "%s -o DIR` makes profiles of them", result.samples, o.log_path,
			 o.log_path);
	return result.exit_status;
}

int ctl_profile(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "store", required_argument, NULL, 's' },
		{ 0 }
	};
	char *edit = program_of_ours("morph-edit");
	struct profile_log_places places = { .at = { edit, "/var/lib/morph" } };
	const char *dir = NULL;
	struct err err = { 0 };
	int c, code = 0;

	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == 'o')
			dir = optarg;
		else if (c == 's')
			places.at.store = optarg;
		else
			break;
	}
	if (c != -1 || !dir || argc - optind != 1)
		code = ctl_usage(ctl);
	else if (!edit)
		code = ctl_without_edit();
	else if (profile_log_write(argv[optind], dir, &places, stdout, &err) < 0)
		code = fail(&err);
	free(edit);
	return code;
}
