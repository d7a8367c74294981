/* cmd_places.c - what stands at places of a program (editor/exchange/places.h) */
#include "editor/cmd/cmd.h"
#include "editor/exchange/places.h"
#include "lib/confinedjob.h"
#include "lib/err.h"

enum { IN_FILE, IN_PLACES, IN_DEBUG };

static int work(struct confinedjob *job, void *ctx, struct err *err)
{
	struct places_input in = { .file = job->in[IN_FILE].bytes,
				   .places = job->in[IN_PLACES].bytes };

	(void)ctx;
	if (job->nin > IN_DEBUG)
		in.debug = job->in[IN_DEBUG].bytes;
	if (places_resolve(&in, job->arena, &job->out[0].bytes, err) < 0)
		return confinedjob_wrap(job, IN_FILE, err);
	return 0;
}

int cmd_places(int argc, char **argv)
{
	static const struct option options[] = { { "debug", required_argument, NULL, 'd' },
						 { 0 } };
	struct confinedjob job = { .nin = 2, .nout = 1, .work = work,
				   .out = { { .mode_from = -1 } } };
	int c;

	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == 'o') {
			job.out[0].arg = optarg;
		} else if (c == 'd') {
			job.in[IN_DEBUG].arg = optarg;
			job.nin = 3;
		} else {
			return CMD_USAGE;
		}
	}
	if (argc - optind != 2 || !job.out[0].arg)
		return CMD_USAGE;
	job.in[IN_FILE].arg = argv[optind];
	job.in[IN_PLACES].arg = argv[optind + 1];
	return confinedjob_run(&job);
}
