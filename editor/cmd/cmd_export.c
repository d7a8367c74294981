/* cmd_export.c - what is made of a profile, in the forms of other tools: executions for
 * llvm-bolt (editor/exchange/boltprofile.h), graphs of calls (editor/exchange/calldot.h) and of
 * a function's flow (editor/exchange/flowdot.h) */
#include <inttypes.h>
#include <string.h>

#include "editor/cmd/cmd.h"
#include "editor/exchange/bfdfile.h"
#include "editor/exchange/boltprofile.h"
#include "editor/exchange/callcounts.h"
#include "editor/exchange/calldot.h"
#include "editor/exchange/flowdot.h"
#include "editor/exchange/symbols.h"
#include "editor/infer/infer.h"
#include "editor/measure/placement.h"
#include "editor/optimize.h"
#include "lib/blockmap.h"
#include "lib/confinedjob.h"
#include "lib/err.h"

struct ctx {
	const struct form *form;
	uint64_t function;	/* its entry, for forms of one */
	const struct profile *profile;
};

struct form {
	const char *name;
	int (*write)(struct confinedjob *job, struct prog *prog, struct wr *out,
		     struct err *err);
};

static int write_fdata(struct confinedjob *job, struct prog *prog, struct wr *out,
		       struct err *err)
{
	struct boltnames names;

	if (boltnames_read(&job->in[CMD_IN_PROGRAM].bytes, job->arena, &names, err) < 0)
		return -1;
	boltprofile_fdata(prog, &names, out);
	return 0;
}

static int write_preagg(struct confinedjob *job, struct prog *prog, struct wr *out,
			struct err *err)
{
	(void)job;
	(void)err;
	boltprofile_preagg(prog, out);
	return 0;
}

static int write_yaml(struct confinedjob *job, struct prog *prog, struct wr *out,
		      struct err *err)
{
	const struct ctx *ctx = job->ctx;
	struct boltnames names;

	if (boltnames_read(&job->in[CMD_IN_PROGRAM].bytes, job->arena, &names, err) < 0)
		return -1;
	boltprofile_yaml(prog, &names, ctx->profile->module, out);
	return 0;
}

/* `call AT FUNCTION COUNT`, ascending by AT within a function. */
static int write_calls(struct confinedjob *job, struct prog *prog, struct wr *out,
		       struct err *err)
{
	struct callcounts calls;

	(void)err;
	callcounts_find(prog, &calls);
	for (uint32_t i = 0; i < calls.n; i++)
		if (calls.at[i].count > 0)
			wr_text(out, arena_printf(job->arena,
						  "call 0x%" PRIx64 " 0x%" PRIx64 " %.3f\n",
						  calls.at[i].at,
						  prog->fn[calls.at[i].callee].entry,
						  calls.at[i].count));
	return 0;
}

static int write_dot(struct confinedjob *job, struct prog *prog, struct wr *out,
		     struct err *err)
{
	struct bfd *abfd = bfdfile_open(&job->in[CMD_IN_PROGRAM].bytes, "program", err);
	struct symbols symbols;

	if (!abfd)
		return -1;
	symbols_read(abfd, NULL, job->arena, &symbols);
	bfdfile_close(abfd);
	calldot_write(prog, &symbols, out);
	return 0;
}

static int write_flow(struct confinedjob *job, struct prog *prog, struct wr *out,
		      struct err *err)
{
	const struct ctx *ctx = job->ctx;

	return flowdot_text(prog, ctx->function, NULL, out, err);
}

static int write_flow_dot(struct confinedjob *job, struct prog *prog, struct wr *out,
			  struct err *err)
{
	const struct ctx *ctx = job->ctx;

	return flowdot_dot(prog, ctx->function, NULL, out, err);
}

/* As it would be laid out by the profile. */
static int write_placed(struct confinedjob *job, struct prog *prog, bool dot, struct wr *out,
			struct err *err)
{
	const struct ctx *ctx = job->ctx;
	uint32_t f = prog_find_fn(prog, ctx->function);
	struct placement p = { 0 };
	struct blockmap map = { 0 };
	int rc = cmd_place(job, prog, ctx->profile, &p, &map, err);

	blockmap_free(&map);
	if (rc < 0)
		return -1;
	vaddr *at = NULL;
	if (f != NO_FN && p.block[f]) {
		at = arena_array(job->arena, prog->fn[f].nblock, sizeof(*at));
		for (uint32_t i = 0; i < prog->fn[f].nblock; i++)
			at[i] = p.block[f][i].known ? p.block[f][i].addr : 0;
	}
	return (dot ? flowdot_dot : flowdot_text)(prog, ctx->function, at, out, err);
}

static int write_flow_placed(struct confinedjob *job, struct prog *prog, struct wr *out,
			     struct err *err)
{
	return write_placed(job, prog, false, out, err);
}

static int write_flow_dot_placed(struct confinedjob *job, struct prog *prog, struct wr *out,
				 struct err *err)
{
	return write_placed(job, prog, true, out, err);
}

static const struct form forms[] = {
	{ "fdata", write_fdata },
	{ "preagg", write_preagg },
	{ "yaml", write_yaml },
	{ "dot", write_dot },
	{ "calls", write_calls },
	{ "flow", write_flow },
	{ "flowdot", write_flow_dot },
	{ "flow-placed", write_flow_placed },
	{ "flowdot-placed", write_flow_dot_placed },
	{ NULL, NULL }
};

static int work(struct confinedjob *job, void *arg, struct err *err)
{
	struct ctx *ctx = arg;
	struct prog *prog = arena_alloc(job->arena, sizeof(*prog));

	if (cmd_read_profile(job, &ctx->profile, err) < 0)
		return -1;
	if (edit_analyze(job->in[CMD_IN_PROGRAM].bytes, ctx->profile, false, job->arena, prog,
			 err) < 0 ||
	    infer_counts(prog, err) < 0 ||
	    ctx->form->write(job, prog, &job->out[0].bytes, err) < 0)
		return confinedjob_wrap(job, CMD_IN_PROGRAM, err);
	return 0;
}

int cmd_export(int argc, char **argv)
{
	static const struct option options[] = {
		CMD_OPTION_PROFILE,
		CMD_OPTION_COUNTED,
		{ "format", required_argument, NULL, 'f' },
		{ "function", required_argument, NULL, 'F' },
		{ 0 }
	};
	struct confinedjob job = { .nout = 1, .work = work, .out = { { .mode_from = -1 } } };
	const struct form *form = NULL;
	struct ctx ctx = { 0 };
	int c;

	while ((c = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (c == 'o') {
			job.out[0].arg = optarg;
		} else if (c == 'f') {
			for (form = forms; form->name && strcmp(form->name, optarg) != 0; )
				form++;
		} else if (c == 'F') {
			if (cmd_number("--function", optarg, UINT64_MAX, &ctx.function) < 0)
				return 2;
		} else if (!cmd_take_profile(&job, c)) {
			return CMD_USAGE;
		}
	}
	if (argc - optind != 1 || !job.out[0].arg || !job.in[CMD_IN_PROFILE].arg || !form ||
	    !form->name || cmd_set_inputs(&job, argv[optind]) < 0)
		return CMD_USAGE;
	ctx.form = form;
	job.ctx = &ctx;
	return confinedjob_run(&job);
}
