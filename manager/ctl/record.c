/* record.c - morphctl record and profile: one command sampled and worked off without a daemon */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/ctl/ctl.h"
#include "manager/profile_log.h"
#include "monitor/record.h"
#include "policy/policy.h"

enum { DEFAULT_RATE_HZ = 251, MAX_RATE_HZ = 10000 };

static int clock_of(const char *name)
{
	for (int i = 0; policy_clock_name[i]; i++)
		if (strcmp(policy_clock_name[i], name) == 0)
			return i;	/* the Monitor numbers them in the same way */
	return -1;
}

static int fail(const struct err *err)
{
	(void)fprintf(stderr, "morphctl: %s\n", err->text);
	return err_exit_code(err);
}

int ctl_record(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "clock", required_argument, NULL, 'c' },
		{ "rate", required_argument, NULL, 'r' },
		{ 0 }
	};
	const char *log = NULL;
	int c, clock = MONITOR_CLOCK_AUTO, status = 0;
	long rate = DEFAULT_RATE_HZ;
	struct err err = { 0 };
	char *end;

	(void)ctl;
	while ((c = getopt_long(argc, argv, "+o:", options, NULL)) != -1) {
		if (c == 'o') {
			log = optarg;
		} else if (c == 'c') {
			clock = clock_of(optarg);
		} else if (c == 'r') {
			rate = strtol(optarg, &end, 10);
			if (*end)
				rate = 0;
		} else {
			return ctl_usage(argv[0]);
		}
	}
	if (!log || optind >= argc || clock < 0 || rate < 1 || rate > MAX_RATE_HZ)
		return ctl_usage(argv[0]);
	if (record_command(log, argv + optind, (unsigned)rate, (enum monitor_clock)clock, &status,
			   &err) < 0)
		return fail(&err);
	if (status)
		(void)fprintf(stderr, "morphctl: the command ended with code %d\n", status);
	return status;
}

/* Beside morphctl where it was built, else where it is installed; NULL when in neither place. */
static const char *find_editor(void)
{
	static const char *const place[] = { "morph-edit", "../libexec/morph/morph-edit" };
	static char path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;

	for (int i = 0; slash && i < 2; i++) {
		strcpy(slash + 1, place[i]);
		if (access(path, X_OK) == 0)
			return path;
	}
	return NULL;
}

int ctl_profile(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "morph-edit", required_argument, NULL, 'e' },
		{ 0 }
	};
	const char *dir = NULL, *editor = find_editor();
	struct err err = { 0 };
	int c;

	(void)ctl;
	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == 'o')
			dir = optarg;
		else if (c == 'e')
			editor = optarg;
		else
			return ctl_usage(argv[0]);
	}
	if (!dir || argc - optind != 1)
		return ctl_usage(argv[0]);
	if (!editor) {
		(void)fputs("morphctl: morph-edit is not beside morphctl; --morph-edit names it\n",
			    stderr);
		return 1;
	}
	if (profile_log_write(argv[optind], dir, editor, stdout, &err) < 0)
		return fail(&err);
	return 0;
}
