/* cmd_debugfile.c - the debug file of a generation (editor/debug/debugfile.h) */
#include "editor/cmd/cmd.h"
#include "editor/debug/debugfile.h"
#include "lib/confinedjob.h"
#include "lib/err.h"

enum { IN_ORIGINAL, IN_GENERATION, IN_DEBUG };

static int work(struct confinedjob *job, void *ctx, struct err *err)
{
	struct bytes debug = { 0 };
	int from = IN_ORIGINAL;

	(void)ctx;
	if (job->nin > IN_DEBUG) {
		debug = job->in[IN_DEBUG].bytes;
		from = IN_DEBUG;
		if (debug.n == 0) {
			err_set(err, ERR_REFUSED, "an empty file");
			return confinedjob_wrap(job, from, err);
		}
	}
	if (debugfile_make(job->in[IN_ORIGINAL].bytes, job->in[IN_GENERATION].bytes, debug,
			   job->arena, &job->out[0].bytes, err) < 0)
		return confinedjob_wrap(job, from, err);
	return 0;
}

int cmd_debugfile(int argc, char **argv)
{
	static const struct option options[] = {
		{ "debug", required_argument, NULL, 'd' },
		{ "output", required_argument, NULL, 'o' },
		{ 0 }
	};
	struct confinedjob job = { .nin = 2, .nout = 1, .work = work,
				   .out = { { .mode_from = -1 } } };
	int c;

	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == 'd') {
			job.in[IN_DEBUG].arg = optarg;
			job.nin = 3;
		} else if (c == 'o') {
			job.out[0].arg = optarg;
		} else {
			return CMD_USAGE;
		}
	}
	if (argc - optind != 2 || !job.out[0].arg)
		return CMD_USAGE;
	job.in[IN_ORIGINAL].arg = argv[optind];
	job.in[IN_GENERATION].arg = argv[optind + 1];
	return confinedjob_run(&job);
}
