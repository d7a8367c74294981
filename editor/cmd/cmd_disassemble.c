/* cmd_disassemble.c - the text of instructions, through libopcodes */
#define PACKAGE "morph"		/* bfd.h wants to know who we are */
#define PACKAGE_VERSION "1"
#include <bfd.h>
#include <dis-asm.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "editor/cmd/cmd.h"
#include "lib/confinedjob.h"
#include "lib/err.h"
#include "binary/image.h"

struct ctx {
	uint64_t start, size;
};

static int print_plain(void *stream, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vfprintf(stream, fmt, ap);
	va_end(ap);
	return n;
}

static int print_styled(void *stream, enum disassembler_style style, const char *fmt, ...)
{
	va_list ap;

	(void)style;
	va_start(ap, fmt);
	int n = vfprintf(stream, fmt, ap);
	va_end(ap);
	return n;
}

static int disassemble(struct confinedjob *job, void *arg, struct err *err)
{
	const struct ctx *ctx = arg;
	struct image img = { 0 };
	struct disassemble_info info;

	if (image_parse(job->in[0].bytes, job->arena, &img, err) < 0)
		return confinedjob_wrap(job, 0, err);
	struct bytes code = image_at(&img, ctx->start, ctx->size);
	if (!code.p)
		return err_set(err, ERR_INPUT, "'%s': 0x%" PRIx64 " + %" PRIu64
			       " is not in the file", job->in[0].arg, ctx->start, ctx->size);
	init_disassemble_info(&info, stdout, (fprintf_ftype)print_plain,
			      (fprintf_styled_ftype)print_styled);
	info.arch = bfd_arch_i386;
	info.mach = bfd_mach_x86_64;
	info.buffer = (bfd_byte *)(uintptr_t)code.p;	/* only read */
	info.buffer_vma = ctx->start;
	info.buffer_length = ctx->size;
	disassemble_init_for_target(&info);
	disassembler_ftype print = disassembler(bfd_arch_i386, false, bfd_mach_x86_64, NULL);
	if (!print)
		return err_set(err, ERR_SYS, "libopcodes has no x86-64");
	for (uint64_t at = ctx->start; at < ctx->start + ctx->size; ) {
		printf("%" PRIx64 "\t", at);
		int n = print(at, &info);

		printf("\n");
		if (n <= 0)
			break;
		at += (uint64_t)n;
	}
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
			return cmd_usage("disassemble");
	}
	if (argc - optind != 1 || ctx.size == 0)
		return cmd_usage("disassemble");
	struct confinedjob job = {
		.in = { { .arg = argv[optind] } }, .nin = 1, .work = disassemble, .ctx = &ctx
	};
	return confinedjob_run(&job);
}
