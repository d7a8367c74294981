/* cmd_infer.c - the executions of blocks and edges that the Editor infers from a profile,
 * written as an exact profile instead of a generation */
#include <string.h>

#include "editor/cmd/cmd.h"
#include "editor/infer/completeprofile.h"
#include "editor/infer/infer.h"
#include "editor/optimize.h"
#include "editor/infer/confidence.h"
#include "lib/confinedjob.h"
#include "lib/err.h"

enum { OUT_COUNTS, OUT_STATS };

/* Shares of executed work, blocks and branches by confidence (infer/confidence.h). */
static void write_stats(const struct prog *prog, struct arena *a, struct wr *out)
{
	static const char *const name[NCONFIDENCE_OF] = { "work", "blocks", "branches" };
	struct confidence_shares e;

	confidence_sum(prog, &e);
	for (int kind = 0; kind < NCONFIDENCE_OF; kind++) {
		for (int c = 0; c < NCONFIDENCE; c++)
			wr_text(out, arena_printf(a, "%s_%s %.4f\n", name[kind],
						  confidence_name[c], e.share[kind][c]));
	}
}

static int work(struct confinedjob *job, void *arg, struct err *err)
{
	const struct profile *profile;
	struct profile counts;
	struct prog *prog = arena_alloc(job->arena, sizeof(*prog));

	(void)arg;
	if (cmd_read_profile(job, &profile, err) < 0)
		return -1;
	if (edit_analyze(job->in[0].bytes, profile, false, job->arena, prog, err) < 0 ||
	    infer_counts(prog, err) < 0)
		return confinedjob_wrap(job, 0, err);
	completeprofile_make(prog, profile->module, &counts);
	profile_write(&counts, &job->out[OUT_COUNTS].bytes);
	write_stats(prog, job->arena, &job->out[OUT_STATS].bytes);
	return 0;
}

int cmd_infer(int argc, char **argv)
{
	static const struct option options[] = {
		CMD_OPTION_PROFILE,
		CMD_OPTION_COUNTED,
		{ "stats", required_argument, NULL, 's' },
		{ 0 }
	};
	struct confinedjob job = { .nout = 2, .work = work };
	int c;

	job.out[OUT_COUNTS].mode_from = job.out[OUT_STATS].mode_from = -1;
	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == 'o')
			job.out[OUT_COUNTS].arg = optarg;
		else if (c == 's')
			job.out[OUT_STATS].arg = optarg;
		else if (!cmd_take_profile(&job, c))
			return CMD_USAGE;
	}
	if (argc - optind != 1 || !job.out[OUT_COUNTS].arg || !job.in[CMD_IN_PROFILE].arg ||
	    cmd_set_inputs(&job, argv[optind]) < 0)
		return CMD_USAGE;
	return confinedjob_run(&job);
}
