/* cmd_code_names.c - what code made at run time is called (editor/exchange/codenames.h) */
#include "editor/cmd/cmd.h"
#include "editor/exchange/codenames.h"
#include "lib/confinedjob.h"

enum { IN_FILE, IN_PLACES };

static int work(struct confinedjob *job, void *ctx, struct err *err)
{
	(void)ctx;
	if (codenames_resolve(job->in[IN_FILE].bytes, job->in[IN_PLACES].bytes, job->arena,
			      &job->out[0].bytes, err) < 0)
		return confinedjob_wrap(job, IN_FILE, err);
	return 0;
}

int cmd_code_names(int argc, char **argv)
{
	struct confinedjob job = { .nin = 2, .nout = 1, .work = work,
				   .out = { { .mode_from = -1 } } };
	int c;

	while ((c = getopt(argc, argv, "o:")) != -1) {
		if (c != 'o')
			return CMD_USAGE;
		job.out[0].arg = optarg;
	}
	if (argc - optind != 2 || !job.out[0].arg)
		return CMD_USAGE;
	job.in[IN_FILE].arg = argv[optind];
	job.in[IN_PLACES].arg = argv[optind + 1];
	return confinedjob_run(&job);
}
