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

static long stack_bytes(const char *text)
{
	long n = number(text, SPOOL_STACK_MAX);

	return n % 8 ? -1 : n;
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

struct recording {
	struct record_options o;
	int clock;
	/* -1: what was given is none */
	long rate, stack, whole, branches, pid;
};

static void take_option(struct recording *r, int c)
{
	switch (c) {
	case 'o':
		r->o.log_path = optarg;
		break;
	case 'c':
		r->clock = clock_of(optarg);
		break;
	case 'r':
		r->rate = number(optarg, INT_MAX);
		break;
	case 's':
		r->o.registers = true;
		r->stack = optarg ? stack_bytes(optarg) : 0;
		break;
	case 'S':
		r->o.stacks = r->o.registers = true;
		r->whole = optarg ? stack_bytes(optarg) : DEFAULT_STACK_BYTES;
		r->whole = r->whole ? r->whole : -1;
		break;
	case 'm':
		r->o.memory = true;
		break;
	case 'b':
		r->branches = optarg ? number(optarg, PERF_BRANCHES_RATE_MAX)
				     : DEFAULT_BRANCHES_HZ;
		break;
	default:
		r->pid = number(optarg, INT_MAX);
		break;
	}
}

/* Says what is wrong about the value that was taken last; false: nothing is. */
static bool is_wrong(const struct ctl *ctl, const struct recording *r)
{
	static const char bytes[] = "no multiple of 8 bytes, or more than 32768";
	const char *option = r->clock < 0      ? "--clock"
			     : r->rate < 0     ? "--rate"
			     : r->stack < 0    ? "--registers"
			     : r->whole < 0    ? "--stacks"
			     : r->branches < 0 ? "--branches"
			     : r->pid < 0      ? "--pid" : NULL;

	_Static_assert(SPOOL_STACK_MAX == 32768, "the words above");
	if (option)
		(void)ctl_wrong(ctl, option, optarg,
				r->clock < 0 ? "none of auto, tick, cpu-clock, cycles"
				: r->stack < 0 || r->whole < 0 ? bytes
							       : "no number, or too large");
	return option != NULL;
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
	struct recording r = { .o.kernel_names = true, .clock = MONITOR_CLOCK_AUTO,
			       .rate = DEFAULT_RATE_HZ };
	struct record_result result;
	struct err err = { 0 };
	int c;

	while ((c = getopt_long(argc, argv, "+o:", options, NULL)) != -1) {
		if (c == '?')
			return ctl_usage(ctl);
		take_option(&r, c);
		if (is_wrong(ctl, &r))
			return 2;
	}
	if (!r.o.log_path || optind >= argc || (r.o.memory && !r.o.registers))
		return ctl_usage(ctl);
	r.o.clock = (enum monitor_clock)r.clock;
	r.o.rate_hz = (unsigned)r.rate;
	r.o.stack_bytes = (unsigned)(r.whole > r.stack ? r.whole : r.stack);
	r.o.branches_hz = (unsigned)r.branches;
	r.o.pid = (pid_t)r.pid;
	r.o.argv = argv + optind;
	if (record_command(&r.o, &result, &err) < 0)
		return fail(&err);
	tell_losses(&result);
	if (isatty(STDERR_FILENO))
		say_line(stderr, "morphctl: %" PRIu64 " sample%s in '%s'; `morphctl profile "
			 "%s -o DIR` makes profiles of them", result.samples,
			 result.samples == 1 ? "" : "s", r.o.log_path, r.o.log_path);
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
