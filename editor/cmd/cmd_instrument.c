/* cmd_instrument.c - the commands of exact profiles: `instrument` writes an instrumented
 * generation and its file of counts, `counts` turns that file into a profile after the program
 * has run */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "editor/cmd/cmd.h"
#include "editor/instrument/instrument.h"
#include "lib/confinedjob.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "lib/say.h"

enum { OUT_GENERATION, OUT_COUNTS, OUT_STATS };	/* of instrument */
enum { IN_ORIGINAL, IN_COUNTS };	/* of counts */

static int work_instrument(struct confinedjob *job, void *arg, struct err *err)
{
	struct instrument_options *o = arg;
	struct instrument_stats s;

	if (cmd_refuse_setid(job, 0, err) < 0 || cmd_read_profile(job, &o->profile, err) < 0)
		return -1;
	if (edit_instrument(job->in[0].bytes, o, job->arena, &job->out[OUT_GENERATION].bytes,
			    &job->out[OUT_COUNTS].bytes, &s, err) < 0)
		return confinedjob_wrap(job, 0, err);
	const char *text = arena_printf(job->arena, "functions %u\ncounters %u\nopen %.6f\n",
					s.functions, s.counters, s.open);
	wr_text(&job->out[OUT_STATS].bytes, text);
	return 0;
}

/* An absolute path, because the program may run anywhere; NULL with a message when there is
 * none. */
static char *absolute(const char *path, const char *suffix)
{
	char *cwd = *path == '/' ? strdup("") : getcwd(NULL, 0), *all = NULL;

	if (!cwd || asprintf(&all, "%s%s%s%s", cwd, *cwd ? "/" : "", path, suffix) < 0 ||
	    strlen(all) >= PATH_MAX) {
		say_line(stderr, "morph-edit: '%s': path: %s", path, strerror(errno));
		free(all);
		all = NULL;
	}
	free(cwd);
	return all;
}

static int take_share(const char *given, bool has_profile, double *out)
{
	uint64_t percent;

	if (!has_profile) {
		(void)fputs("morph-edit: --uncertain needs --profile\n", stderr);
		return -1;
	}
	if (cmd_number("--uncertain", given, 100, &percent) < 0)
		return -1;
	if (percent == 0) {
		(void)fputs("morph-edit: --uncertain: 0 percent would count nothing\n", stderr);
		return -1;
	}
	*out = (double)percent / 100;
	return 0;
}

int cmd_instrument(int argc, char **argv)
{
	static const struct option options[] = {
		{ "counts", required_argument, NULL, 'C' },
		{ "threads", no_argument, NULL, 't' },
		{ "private", no_argument, NULL, 'r' },
		{ "text-at", required_argument, NULL, 'a' },
		CMD_OPTION_PROFILE,
		{ "uncertain", required_argument, NULL, 'u' },
		{ "stats", required_argument, NULL, 's' },
		{ 0 }
	};
	struct instrument_options o = { 0 };
	struct confinedjob job = { .nout = 3, .work = work_instrument, .ctx = &o };
	const char *counts = NULL, *given = NULL, *at = NULL;
	int c, code = 1;

	job.out[OUT_COUNTS].mode_from = job.out[OUT_STATS].mode_from = -1;
	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == 'o')
			job.out[OUT_GENERATION].arg = optarg;
		else if (c == 'C')
			counts = optarg;
		else if (c == 't')
			o.threads = true;
		else if (c == 'r')
			o.is_private = true;
		else if (c == 'a')
			at = optarg;
		else if (c == 's')
			job.out[OUT_STATS].arg = optarg;
		else if (c == 'u')
			given = optarg;
		else if (!cmd_take_profile(&job, c))
			return CMD_USAGE;
	}
	if (argc - optind != 1 || !job.out[OUT_GENERATION].arg ||
	    cmd_set_inputs(&job, argv[optind]) < 0)
		return CMD_USAGE;
	if (at && cmd_number("--text-at", at, UINT64_MAX, &o.text_at) < 0)
		return CMD_USAGE;
	if (given && take_share(given, job.nin > CMD_IN_PROFILE, &o.uncertain) < 0)
		return CMD_USAGE;
	char *original = realpath(argv[optind], NULL);
	char *path = counts && strncmp(counts, "fd:", 3) == 0 ? strdup(counts) :
		     counts ? absolute(counts, "") :
			      absolute(job.out[OUT_GENERATION].arg, ".counts");
	o.original = original ? original : "/?";
	o.counts = job.out[OUT_COUNTS].arg = path;
	if (path)
		code = confinedjob_run(&job);
	free(original);
	free(path);
	return code;
}

static int work_counts(struct confinedjob *job, void *arg, struct err *err)
{
	(void)arg;
	if (edit_counts(job->in[IN_ORIGINAL].bytes, job->in[IN_COUNTS].bytes, job->arena,
			&job->out[0].bytes, err) < 0)
		return confinedjob_wrap(job, IN_COUNTS, err);
	return 0;
}

int cmd_counts(int argc, char **argv)
{
	static const struct option options[] = { { 0 } };
	struct confinedjob job = { .nin = 2, .nout = 1, .work = work_counts };
	int c;

	job.out[0].mode_from = -1;
	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c != 'o')
			return CMD_USAGE;
		job.out[0].arg = optarg;
	}
	if (argc - optind != 2 || !job.out[0].arg)
		return CMD_USAGE;
	job.in[IN_ORIGINAL].arg = argv[optind];
	job.in[IN_COUNTS].arg = argv[optind + 1];
	return confinedjob_run(&job);
}
