/* cmd_disassemble.c - the text of instructions (editor/exchange/insntext.h) */
#include <stdio.h>

#include "binary/image.h"
#include "editor/cmd/cmd.h"
#include "editor/exchange/insntext.h"
#include "lib/confinedjob.h"
#include "lib/err.h"

struct ctx {
	uint64_t start, size;
};

static int disassemble(struct confinedjob *job, void *arg, struct err *err)
{
	const struct ctx *ctx = arg;
	struct image img = { 0 };

	if (image_parse(job->in[0].bytes, job->arena, &img, err) < 0)
		return confinedjob_wrap(job, 0, err);
	if (insntext_print(&img, ctx->start, ctx->size, "", stdout, err) < 0)
		return err_wrap(err, "'%s'", job->in[0].arg);
	return 0;
}

int cmd_disassemble(int argc, char **argv)
{
	static const struct option options[] = {
		{ "start", required_argument, NULL, 's' },
		{ "size", required_argument, NULL, 'n' },
		{ 0 }
	};
	struct ctx ctx = { 0 };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's' && cmd_number("--start", optarg, UINT64_MAX, &ctx.start) < 0)
			return 2;
		if (c == 'n' && cmd_number("--size", optarg, 1 << 30, &ctx.size) < 0)
			return 2;
		if (c == '?')
			return CMD_USAGE;
	}
	if (argc - optind != 1 || ctx.size == 0)
		return CMD_USAGE;
	struct confinedjob job = {
		.in = { { .arg = argv[optind] } }, .nin = 1, .work = disassemble, .ctx = &ctx
	};
	return confinedjob_run(&job);
}
