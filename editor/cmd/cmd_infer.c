/* cmd_infer.c - what the Editor makes of a profile, without making a generation of it */
#include <string.h>

#include "editor/cmd/cmd.h"
#include "editor/infer/completeprofile.h"
#include "editor/infer/infer.h"
#include "editor/optimize.h"
#include "editor/infer/confidence.h"
#include "lib/confinedjob.h"
#include "lib/err.h"

enum { OUT_COUNTS, OUT_STATS };

/* Of what is executed, the share by what it rests on. */
static void write_stats(const struct prog *prog, struct arena *a, struct wr *out)
{
	static const char *const name[NCONFIDENCE_OF] = { "work", "blocks", "branches" };
	struct confidence_shares e;

	confidence_sum(prog, &e);
	for (int kind = 0; kind < NCONFIDENCE_OF; kind++) {
		for (int c = 0; c < NCONFIDENCE; c++) {
			const char *line = arena_printf(a, "%s_%s %.4f\n", name[kind],
							confidence_name[c], e.share[kind][c]);

			wr_raw(out, line, strlen(line));
		}
	}
}

static int work(struct confinedjob *job, void *arg, struct err *err)
{
	struct profile profile, counted, counts;
	struct prog *prog = arena_alloc(job->arena, sizeof(*prog));

	(void)arg;
	if (profile_read(job->in[1].bytes, job->arena, &profile, err) < 0)
		return confinedjob_wrap(job, 1, err);
	if (job->nin > 2) {
		if (profile_read(job->in[2].bytes, job->arena, &counted, err) < 0)
			return confinedjob_wrap(job, 2, err);
		profile.counted = &counted;
	}
	if (edit_analyze(job->in[0].bytes, &profile, false, job->arena, prog, err) < 0 ||
	    infer_counts(prog, err) < 0)
		return confinedjob_wrap(job, 0, err);
	completeprofile_make(prog, profile.module, &counts);
	profile_write(&counts, &job->out[OUT_COUNTS].bytes);
	write_stats(prog, job->arena, &job->out[OUT_STATS].bytes);
	return 0;
}

int cmd_infer(int argc, char **argv)
{
	static const struct option options[] = {
		{ "profile", required_argument, NULL, 'p' },
		{ "counted", required_argument, NULL, 'c' },
		{ "stats", required_argument, NULL, 's' },
		{ 0 }
	};
	struct confinedjob job = { .nin = 2, .nout = 2, .work = work };
	int c;

	job.out[OUT_COUNTS].mode_from = job.out[OUT_STATS].mode_from = -1;
	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == 'o')
			job.out[OUT_COUNTS].arg = optarg;
		else if (c == 's')
			job.out[OUT_STATS].arg = optarg;
		else if (c == 'p')
			job.in[1].arg = optarg;
		else if (c == 'c')
			job.in[2].arg = optarg, job.nin = 3;
		else
			return cmd_usage("infer");
	}
	if (argc - optind != 1 || !job.out[OUT_COUNTS].arg || !job.in[1].arg)
		return cmd_usage("infer");
	job.in[0].arg = argv[optind];
	return confinedjob_run(&job);
}
