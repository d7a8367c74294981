/* cmd_interpret.c - the edges and calls that follow from samples with registers and a piece of
 * the stack, or from branch stacks (editor/interpret/), written as a profile of the original
 * with clock `state` or `branches` */
#include <stdio.h>

#include "binary/mapsection.h"
#include "editor/cmd/cmd.h"
#include "editor/interpret/branchstacks.h"
#include "editor/interpret/interpret.h"
#include "lib/branchcounts.h"
#include "lib/confinedjob.h"
#include "lib/err.h"
#include "lib/profile.h"
#include "postmorph/analyze.h"

enum { IN_MAPPED, IN_STATES, IN_ORIGINAL };
enum { OUT_EDGES, OUT_STATS };

struct ctx {
	struct interpret_options options;
	bool has_original;
	bool executions;
};

static const char *const stop_name[NSTOP] = {
	"enough", "steps", "outside", "branch", "jump", "return", "code",
};
static const char *const unknown_name[NUNKNOWN] = { "known", "heap", "data", "stack", "code" };

static void put(struct arena *a, struct wr *out, const char *name, uint64_t n)
{
	const char *line = arena_printf(a, "%s %llu\n", name, (unsigned long long)n);

	wr_text(out, line);
}

static void write_stats(const struct interpret_stats *s, const struct sightings_stats *e,
			struct arena *a, struct wr *out)
{
	put(a, out, "samples", s->samples);
	put(a, out, "samples_outside", s->outside);
	put(a, out, "samples_with_branch", s->with_branch);
	put(a, out, "instructions", s->steps);
	put(a, out, "branches_seen", s->branches);
	put(a, out, "calls_seen", s->calls);
	put(a, out, "callers_seen", s->callers);
	put(a, out, "unwind_tables_read", s->unwinds);
	put(a, out, "branches_passed", s->joined);
	put(a, out, "functions_left", s->left);
	put(a, out, "calls_passed", s->called);
	put(a, out, "edges", e->edges);
	put(a, out, "calls", e->calls);
	put(a, out, "in_no_block", e->uncut);
	put(a, out, "to_other_modules", e->outside);
	put(a, out, "to_other_functions", e->others);
	put(a, out, "no_edge", e->no_edge);
	put(a, out, "ambiguous", e->ambiguous);
	put(a, out, "runs", e->runs);
	put(a, out, "taken", e->taken);
	put(a, out, "returns", e->returns);
	put(a, out, "jumps_of_the_generation", e->own);
	put(a, out, "no_branch_there", e->no_branch);
	put(a, out, "not_its_target", e->no_target);
	put(a, out, "no_run", e->no_run);
	for (int i = 0; i < NSTOP; i++)
		put(a, out, arena_printf(a, "stopped_%s", stop_name[i]), s->stop[i]);
	for (int i = 0; i < NSTOP; i++)
		for (int k = 0; k < NUNKNOWN; k++)
			if (s->first[i][k])
				put(a, out,
				    arena_printf(a, "without_branch_%s_%s", stop_name[i],
						 unknown_name[k]),
				    s->first[i][k]);
}

/* The block map of a generation, which must be one of the original. */
static int read_map(struct confinedjob *job, const struct image *mapped, struct blockmap *out,
		    struct err *err)
{
	struct blockmap map;

	if (mapsection_read(mapped, &map, err) < 0)
		return confinedjob_wrap(job, IN_MAPPED, err);
	struct digest digest = digest_of(job->in[IN_ORIGINAL].bytes);
	if (!digest_equal(&digest, &map.original)) {
		blockmap_free(&map);
		return err_set(err, ERR_INPUT, "'%s' is a generation of another original",
			       job->in[IN_MAPPED].arg);
	}
	*out = map;
	return 0;
}

static int follow_all(struct confinedjob *job, struct interpreter *in, struct err *err)
{
	struct statesample_reader r;
	struct statesample s;
	int rc;

	if (statesample_open(job->in[IN_STATES].bytes, &r, err) < 0)
		return confinedjob_wrap(job, IN_STATES, err);
	while ((rc = statesample_read(&r, &s, err)) > 0)
		interpreter_follow(in, &s);
	return rc < 0 ? confinedjob_wrap(job, IN_STATES, err) : 0;
}

/* Branch stacks are sightings already. */
static int read_branches(struct confinedjob *job, struct sightings_source *source,
			 struct err *err)
{
	VEC(struct sighting) seen = { 0 };
	struct branchcounts_reader r;
	struct branchcount b;
	int rc;

	if (branchcounts_open(job->in[IN_STATES].bytes, &r, err) < 0)
		return confinedjob_wrap(job, IN_STATES, err);
	while ((rc = branchcounts_read(&r, &b, err)) > 0) {
		struct sighting s = { b.from, b.to, b.run ? SIGHTING_RUN : SIGHTING_TAKEN,
				      b.count < UINT32_MAX ? (uint32_t)b.count : UINT32_MAX };

		vec_push(job->arena, &seen, s);
	}
	source->sighting = seen.v;
	source->nsighting = seen.n;
	return rc < 0 ? confinedjob_wrap(job, IN_STATES, err) : 0;
}

static int place_all(struct confinedjob *job, const struct sightings_source *source,
		     const struct interpret_stats *stats, struct err *err)
{
	int original = job->nin > IN_ORIGINAL ? IN_ORIGINAL : IN_MAPPED;
	struct prog *prog = arena_alloc(job->arena, sizeof(*prog));
	struct profile p = { .module = job->in[original].arg,
			     .clock = stats ? "state" : "branches" };
	struct sightings_stats placed;
	uint32_t n;
	vaddr *wanted = sightings_wanted(source, job->arena, &n);

	if (prog_analyze_at(job->in[original].bytes, wanted, n, job->arena, prog, err) < 0)
		return confinedjob_wrap(job, original, err);
	(stats ? sightings_place : branchstacks_place)(source, prog, &p, &placed);
	p.original = prog->digest;
	p.outside = (double)(placed.no_branch + placed.no_target + placed.no_run);
	profile_write(&p, &job->out[OUT_EDGES].bytes);
	write_stats(stats ? stats : &(struct interpret_stats){ 0 }, &placed, job->arena,
		    &job->out[OUT_STATS].bytes);
	return 0;
}

static int work(struct confinedjob *job, void *arg, struct err *err)
{
	const struct ctx *ctx = arg;
	struct sightings_source source = { 0 };
	struct image mapped = { 0 };
	struct blockmap map = { 0 };

	for (int i = 0; i < job->nin; i++)
		if (i != IN_STATES && cmd_refuse_setid(job, i, err) < 0)
			return -1;
	if (image_parse(job->in[IN_MAPPED].bytes, job->arena, &mapped, err) < 0)
		return confinedjob_wrap(job, IN_MAPPED, err);
	if (ctx->has_original && read_map(job, &mapped, &map, err) < 0)
		return -1;
	source.mapped = &mapped;
	source.map = ctx->has_original ? &map : NULL;
	source.executions = ctx->executions;
	struct interpreter *in = NULL;
	int rc = -1;
	if (branchcounts_is(job->in[IN_STATES].bytes)) {
		rc = read_branches(job, &source, err);
		if (rc == 0)
			rc = place_all(job, &source, NULL, err);
	} else if ((in = interpreter_new(&mapped, job->arena, &ctx->options, err)) &&
		   follow_all(job, in, err) == 0) {
		source.sighting = interpreter_sightings(in, &source.nsighting);
		rc = place_all(job, &source, interpreter_stats(in), err);
	}
	blockmap_free(&map);
	return rc;
}

int cmd_interpret(int argc, char **argv)
{
	static const struct option options[] = {
		{ "original", required_argument, NULL, 'O' },
		{ "stats", required_argument, NULL, 's' },
		{ "branches", required_argument, NULL, 'b' },
		{ "executions", no_argument, NULL, 'x' },
		{ 0 }
	};
	struct ctx ctx = { .options = INTERPRET_DEFAULTS };
	struct confinedjob job = { .nin = 2, .nout = 2, .work = work, .ctx = &ctx,
			   .out = { { .mode_from = -1 }, { .mode_from = -1 } } };
	uint64_t n;
	int c;

	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1)
		switch (c) {
		case 'o':
			job.out[OUT_EDGES].arg = optarg;
			break;
		case 'O':
			job.in[IN_ORIGINAL].arg = optarg;
			job.nin = 3;
			ctx.has_original = true;
			break;
		case 's':
			job.out[OUT_STATS].arg = optarg;
			break;
		case 'x':
			ctx.executions = true;
			break;
		case 'b':
			if (cmd_number("--branches", optarg, INTERPRET_MAX_BRANCHES, &n) < 0)
				return CMD_USAGE;
			ctx.options.branches = (uint32_t)n;
			break;
		default:
			return CMD_USAGE;
		}
	if (argc - optind != 2 || !job.out[OUT_EDGES].arg || ctx.options.branches == 0)
		return CMD_USAGE;
	job.in[IN_MAPPED].arg = argv[optind];
	job.in[IN_STATES].arg = argv[optind + 1];
	return confinedjob_run(&job);
}
