/* cmd_infer.c - what the Editor makes of a profile, without making a generation of it */
#include "editor/cmd.h"
#include "editor/editor.h"
#include "editor/job.h"
#include "lib/err.h"

static int work(struct job *job, void *arg, struct err *err)
{
	struct profile profile, counts;
	struct prog *prog = arena_alloc(job->arena, sizeof(*prog));

	(void)arg;
	if (profile_read(job->in[1].bytes, job->arena, &profile, err) < 0)
		return job_wrap(job, 1, err);
	if (edit_analyze(job->in[0].bytes, &profile, false, job->arena, prog, err) < 0 ||
	    infer_counts(prog, err) < 0)
		return job_wrap(job, 0, err);
	counts_profile(prog, profile.module, &counts);
	profile_write(&counts, &job->out[0].bytes);
	return 0;
}

int cmd_infer(int argc, char **argv)
{
	static const struct option options[] = {
		{ "profile", required_argument, NULL, 'p' },
		{ 0 }
	};
	struct job job = { .nin = 2, .nout = 1, .work = work };
	int c;

	job.out[0].mode_from = -1;
	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == 'o')
			job.out[0].arg = optarg;
		else if (c == 'p')
			job.in[1].arg = optarg;
		else
			return cmd_usage("infer");
	}
	if (argc - optind != 1 || !job.out[0].arg || !job.in[1].arg)
		return cmd_usage("infer");
	job.in[0].arg = argv[optind];
	return job_run(&job);
}
