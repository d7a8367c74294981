/* cmd_optimize.c - the command that writes a generation, with its block map, its figures and a
 * report of its layout where they are wanted */
#include <stdio.h>
#include <stdlib.h>

#include "editor/cmd/cmd.h"
#include "editor/optimize.h"
#include "lib/confinedjob.h"
#include "editor/measure/layoutreport.h"
#include "lib/err.h"
#include "lib/profile.h"

enum { OUT_GENERATION, OUT_MAP, OUT_STATS, OUT_REPORT, NOUT };

struct ctx {
	struct edit_options options;
	bool report, report_on_stdout;
};

static void write_stats(const struct edit_stats *s, struct arena *a, struct wr *out)
{
	const char *text = arena_printf(
		a,
		"functions %u\nfunctions_moved %u\nfunctions_redirected %u\nfunctions_threaded "
		"%u\nhot_bytes %llu\nfluff_bytes %llu\n"
		"original_bytes %llu\nexttsp_before %.6f\nexttsp_after %.6f\nsamples %.3f\n"
		"file_bytes_before %llu\nfile_bytes_after %llu\njump_tables %u\n"
		"jump_tables_new %u\ncalls_left_out %u\nlayout %c\n",
		s->functions, s->functions_moved, s->functions_redirected,
		s->functions_threaded, (unsigned long long)s->hot_bytes,
		(unsigned long long)s->fluff_bytes, (unsigned long long)s->original_bytes,
		s->exttsp_before, s->exttsp_after, s->samples,
		(unsigned long long)s->file_bytes_before,
		(unsigned long long)s->file_bytes_after, s->jump_tables, s->jump_tables_new,
		s->calls_left_out, s->layout);

	wr_text(out, text);
}

static int write_report(struct confinedjob *job, const struct profile *profile, bool on_stdout,
			struct err *err)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = on_stdout ? stdout : open_memstream(&text, &n);

	if (!f)
		return err_set(err, ERR_SYS, "out of memory");
	int rc = report_print(job->in[0].bytes, profile,
			      wr_bytes(&job->out[OUT_GENERATION].bytes), "generation", false,
			      job->arena, f, err);
	if (!on_stdout) {
		(void)fclose(f);	/* memory: nothing to lose */
		wr_raw(&job->out[OUT_REPORT].bytes, text, n);
		free(text);
	}
	return rc;
}

static int work(struct confinedjob *job, void *arg, struct err *err)
{
	const struct ctx *ctx = arg;
	const struct profile *profile;
	struct edit_stats stats = { 0 };

	if (cmd_refuse_setid(job, 0, err) < 0 || cmd_read_profile(job, &profile, err) < 0)
		return -1;
	if (edit_optimize(job->in[0].bytes, profile, &ctx->options, job->arena,
			  &job->out[OUT_GENERATION].bytes, &job->out[OUT_MAP].bytes, &stats,
			  err) < 0)
		return confinedjob_wrap(job, 0, err);
	write_stats(&stats, job->arena, &job->out[OUT_STATS].bytes);
	if (ctx->report)
		return write_report(job, profile, ctx->report_on_stdout, err);
	return 0;
}

static const struct option options[] = {
	CMD_OPTION_PROFILE,
	CMD_OPTION_COUNTED,
	{ "map", required_argument, NULL, 'm' },
	{ "stats", required_argument, NULL, 's' },
	{ "generation", required_argument, NULL, 'g' },
	{ "passes", required_argument, NULL, 'P' },
	{ "print-after", required_argument, NULL, 'A' },
	{ "keep-pointers", no_argument, NULL, 'k' },
	{ "all", no_argument, NULL, 'a' },
	{ "shuffle", required_argument, NULL, 'S' },
	{ "processor", required_argument, NULL, 'C' },
	{ "text-at", required_argument, NULL, 't' },
	{ "report", optional_argument, NULL, 'r' },
	{ 0 }
};

static int parse_options(int argc, char **argv, struct ctx *ctx, struct confinedjob *job)
{
	uint64_t n;
	int c;

	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1)
		switch (c) {
		case 'o':
			job->out[OUT_GENERATION].arg = optarg;
			break;
		case 'm':
			job->out[OUT_MAP].arg = optarg;
			break;
		case 's':
			job->out[OUT_STATS].arg = optarg;
			break;
		case 'g':
			if (cmd_number("--generation", optarg, UINT32_MAX, &n) < 0)
				return -1;
			ctx->options.generation = (uint32_t)n;
			break;
		case 'P':
			ctx->options.passes = optarg;
			break;
		case 'A':
			ctx->options.print_after = optarg;
			break;
		case 'k':
			ctx->options.keep_pointers = true;
			break;
		case 'a':
			ctx->options.all = true;
			break;
		case 'S':
			if (cmd_number("--shuffle", optarg, UINT64_MAX, &ctx->options.seed) < 0)
				return -1;
			ctx->options.shuffle = true;
			break;
		case 'C':
			ctx->options.processor = optarg;
			break;
		case 't':
			if (cmd_number("--text-at", optarg, UINT64_MAX,
				       &ctx->options.text_at) < 0)
				return -1;
			break;
		case 'r':
			ctx->report = true;
			ctx->report_on_stdout = optarg == NULL;
			job->out[OUT_REPORT].arg = optarg;
			break;
		default:
			if (!cmd_take_profile(job, c))
				return -1;
		}
	return 0;
}

int cmd_optimize(int argc, char **argv)
{
	struct ctx ctx = { .options.generation = 1 };
	struct confinedjob job = { .nout = NOUT, .work = work, .ctx = &ctx };

	for (int i = 0; i < job.nout; i++)
		job.out[i].mode_from = i == OUT_GENERATION ? 0 : -1;
	if (parse_options(argc, argv, &ctx, &job) < 0 || argc - optind != 1 ||
	    !job.out[OUT_GENERATION].arg)
		return CMD_USAGE;
	bool has_profile = job.in[CMD_IN_PROFILE].arg != NULL;
	if (!has_profile && !ctx.options.all) {
		(void)fputs("morph-edit: optimize needs --profile, or --all\n", stderr);
		return CMD_USAGE;
	}
	if (ctx.report && !has_profile) {
		(void)fputs("morph-edit: --report needs --profile\n", stderr);
		return CMD_USAGE;
	}
	if (cmd_set_inputs(&job, argv[optind]) < 0)
		return CMD_USAGE;
	return confinedjob_run(&job);
}
