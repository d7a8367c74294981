/* cmd_inherit.c - a profile of one version of a program, for another version
 *
 * Of the old version its signature is enough, which `analyze --signature` has written.
 */
#include <stdio.h>

#include "editor/cmd/cmd.h"
#include "editor/inherit/carry.h"
#include "lib/arena.h"
#include "lib/confinedjob.h"
#include "lib/err.h"
#include "lib/profile.h"
#include "lib/table.h"
#include "postmorph/analyze.h"
#include "postmorph/ir/ir.h"

enum { IN_SIGNATURE = CMD_IN_PROFILE + 1 };

struct ctx {
	bool json;
};

static double pct(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static void print(const char *file, const struct carried *c, bool json)
{
	static const struct table_column col[] = {
		{ "file", TABLE_TEXT }, { "functions", TABLE_UINT }, { "matched", TABLE_UINT },
		{ "weight", TABLE_REAL }, { "matched_pct", TABLE_REAL },
		{ "blocks_pct", TABLE_REAL },
	}, by[] = { { "recognised_by", TABLE_TEXT }, { "weight_pct", TABLE_REAL } };
	struct table *all[2] = { table_new("inherited", 6, col), table_new("matches", 2, by) };

	table_row(all[0], file, (uint64_t)c->functions, (uint64_t)c->matched, c->weight,
		  pct(c->matched_weight, c->weight), pct(c->matched_blocks, c->blocks));
	for (int i = 0; i < MATCH_NHOW; i++)
		table_row(all[1], match_how_name[i], pct(c->how[i], c->weight));
	table_print_all(all, 2, stdout, json);
	for (int i = 0; i < 2; i++)
		table_free(all[i]);
}

static int work(struct confinedjob *job, void *arg, struct err *err)
{
	const struct ctx *ctx = arg;
	struct prog prog = { 0 };
	struct signature old, now;
	struct profile from, to;
	struct match match;
	struct carried told;

	if (profile_read(job->in[CMD_IN_PROFILE].bytes, job->arena, &from, err) < 0)
		return confinedjob_wrap(job, CMD_IN_PROFILE, err);
	if (signature_read(job->in[IN_SIGNATURE].bytes, job->arena, &old, err) < 0)
		return confinedjob_wrap(job, IN_SIGNATURE, err);
	if (!digest_equal(&from.original, &old.original)) {
		err_set(err, ERR_REFUSED, "profile and signature are of different files");
		return confinedjob_wrap(job, CMD_IN_PROFILE, err);
	}
	if (prog_analyze(job->in[CMD_IN_PROGRAM].bytes, job->arena, &prog, err) < 0)
		return confinedjob_wrap(job, CMD_IN_PROGRAM, err);
	signature_of(&prog, &now);
	match_signatures(&old, &now, job->arena, &match);
	carry_profile(&match, &from, job->arena, &to, &told);
	profile_write(&to, &job->out[0].bytes);
	print(job->in[CMD_IN_PROGRAM].arg, &told, ctx->json);
	return 0;
}

int cmd_inherit(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "profile", required_argument, NULL, 'p' },
		{ "signature", required_argument, NULL, 's' },
		{ 0 }
	};
	struct ctx ctx = { 0 };
	struct confinedjob job = { .nin = 3, .nout = 1, .out = { { .mode_from = -1 } },
			   .work = work, .ctx = &ctx };
	int c;

	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == 'j')
			ctx.json = true;
		else if (c == 'p')
			job.in[CMD_IN_PROFILE].arg = optarg;
		else if (c == 's')
			job.in[IN_SIGNATURE].arg = optarg;
		else if (c == 'o')
			job.out[0].arg = optarg;
		else
			return CMD_USAGE;
	}
	if (argc - optind != 1 || !job.in[CMD_IN_PROFILE].arg || !job.in[IN_SIGNATURE].arg ||
	    !job.out[0].arg)
		return CMD_USAGE;
	job.in[CMD_IN_PROGRAM].arg = argv[optind];
	return confinedjob_run(&job);
}
