/* cmd_picture.c - what a page shows of a module (editor/annotate/picture.h) */
#include "binary/mapsection.h"
#include "editor/annotate/picture.h"
#include "editor/cmd/cmd.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "lib/confinedjob.h"
#include "lib/err.h"

enum { IN_FILE, IN_SAMPLES, IN_OTHER };

struct ctx {
	struct annotate_input in;
	uint64_t functions;
	bool generation;		/* the third input is that, and not counts */
};

/* The layout that the samples give. */
static int lay_out(struct confinedjob *job, struct picture *p, struct blockmap *map,
		   struct err *err)
{
	return cmd_place(job, p->program.prog, p->program.profile, &p->after, map, err);
}

/* The layout of a generation that there is. */
static int take_generation(struct confinedjob *job, struct picture *p, struct blockmap *map,
			   struct err *err)
{
	struct bytes file = job->in[IN_OTHER].bytes;
	struct image img = { 0 };

	if (image_parse(file, job->arena, &img, err) < 0 || mapsection_read(&img, map, err) < 0)
		return -1;
	if (!digest_equal(&map->original, &p->program.prog->digest))
		return err_set(err, ERR_INPUT, "the generation is of another original");
	return placement_of_map(p->program.prog, file, map, &p->after, err);
}

static int work(struct confinedjob *job, void *arg, struct err *err)
{
	struct ctx *ctx = arg;
	struct blockmap map = { 0 };
	struct picture p = { .map = &map };
	struct err why;

	ctx->in.file = job->in[IN_FILE].bytes;
	ctx->in.samples = job->in[IN_SAMPLES].bytes;
	if (job->nin > IN_OTHER && !ctx->generation)
		ctx->in.counts = job->in[IN_OTHER].bytes;
	if (annotated_read(&ctx->in, job->arena, &p.program, err) < 0)
		return confinedjob_wrap(job, IN_FILE, err);
	if ((ctx->generation ? take_generation : lay_out)(job, &p, &map, &why) < 0)
		p.note = why.text;
	picture_text(&p, &job->out[0].bytes);
	int rc = picture_functions(&p, ctx->functions, &job->out[0].bytes, err);
	blockmap_free(&map);
	return rc < 0 ? confinedjob_wrap(job, IN_FILE, err) : 0;
}

int cmd_picture(int argc, char **argv)
{
	static const struct option options[] = {
		{ "functions", required_argument, NULL, 'n' },
		{ "counts", required_argument, NULL, 'c' },
		{ "generation", required_argument, NULL, 'g' },
		{ 0 }
	};
	struct ctx ctx = { .functions = UINT64_MAX };
	struct confinedjob job = { .nin = 2, .nout = 1, .work = work, .ctx = &ctx,
				   .out = { { .mode_from = -1 } } };
	int c;

	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == 'o') {
			job.out[0].arg = optarg;
		} else if (c == 'n') {
			if (cmd_number("--functions", optarg, UINT32_MAX, &ctx.functions) < 0)
				return 2;
		} else if ((c == 'c' || c == 'g') && job.nin == 2) {
			job.in[IN_OTHER].arg = optarg;
			job.nin = 3;
			ctx.generation = c == 'g';
		} else {
			return CMD_USAGE;
		}
	}
	if (argc - optind != 2 || !job.out[0].arg)
		return CMD_USAGE;
	job.in[IN_FILE].arg = argv[optind];
	job.in[IN_SAMPLES].arg = argv[optind + 1];
	return confinedjob_run(&job);
}
