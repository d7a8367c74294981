/* cmd_annotate.c - where the cycles of a function go (editor/annotate/annotate.h) */
#include "editor/annotate/annotate.h"
#include "editor/cmd/cmd.h"
#include "lib/confinedjob.h"
#include "lib/err.h"

enum { IN_FILE, IN_SAMPLES, IN_COUNTS };

struct asked {
	struct annotate_input in;
	bool counted;			/* the third is beside the samples */
};

static int work(struct confinedjob *job, void *ctx, struct err *err)
{
	struct asked *asked = ctx;
	struct annotate_input *in = &asked->in;

	in->file = job->in[IN_FILE].bytes;
	in->samples = job->in[IN_SAMPLES].bytes;
	if (job->nin > IN_COUNTS)
		*(asked->counted ? &in->counted : &in->counts) = job->in[IN_COUNTS].bytes;
	if (annotate_write(in, job->arena, &job->out[0].bytes, err) < 0)
		return confinedjob_wrap(job, IN_FILE, err);
	return 0;
}

int cmd_annotate(int argc, char **argv)
{
	static const struct option options[] = {
		{ "function", required_argument, NULL, 'f' },
		{ "counts", required_argument, NULL, 'c' },
		{ "counted", required_argument, NULL, 'b' },
		{ "cycles", required_argument, NULL, 'y' },
		{ 0 }
	};
	struct asked asked = { 0 };
	struct confinedjob job = { .nin = 2, .nout = 1, .work = work, .ctx = &asked,
				   .out = { { .mode_from = -1 } } };
	bool named = false;
	uint64_t n;
	int c;

	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == 'o') {
			job.out[0].arg = optarg;
		} else if (c == 'f') {
			if (cmd_number("--function", optarg, UINT64_MAX,
				       &asked.in.function) < 0)
				return 2;
			named = true;
		} else if ((c == 'c' || c == 'b') && job.nin == IN_COUNTS) {
			asked.counted = c == 'b';
			job.in[IN_COUNTS].arg = optarg;
			job.nin = 3;
		} else if (c == 'y') {
			if (cmd_number("--cycles", optarg, UINT64_C(1) << 60, &n) < 0)
				return 2;
			asked.in.cycles_per_sample = (double)n / 1000;
		} else {
			return CMD_USAGE;
		}
	}
	if (argc - optind != 2 || !job.out[0].arg || !named)
		return CMD_USAGE;
	job.in[IN_FILE].arg = argv[optind];
	job.in[IN_SAMPLES].arg = argv[optind + 1];
	return confinedjob_run(&job);
}
