/* cmd_analyze.c - tables of what the analysis finds in a file: functions, reasons why some
 * stay, kinds of jumps and pointers; with a profile, the confidence in what is inferred from it
 *
 * With --table also the block table (lib/blocktable.h), by which the Manager turns sampled
 * addresses into blocks; with --signature also what another version can be recognised by.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "editor/cmd/cmd.h"
#include "editor/infer/attach.h"
#include "editor/infer/infer.h"
#include "editor/emit/elfout.h"
#include "editor/infer/confidence.h"
#include "editor/inherit/signature.h"
#include "lib/confinedjob.h"
#include "lib/blocktable.h"
#include "lib/err.h"
#include "lib/profile.h"
#include "lib/table.h"
#include "postmorph/analyze.h"
#include "postmorph/ir/ir.h"

enum { OUT_TABLE, OUT_SIGNATURE };

struct ctx {
	bool json, table, signature, jumps;
};

static int by_offset(const void *a, const void *b)
{
	const struct blocktable_block *x = a, *y = b;

	return (x->off > y->off) - (x->off < y->off);
}

static uint32_t instructions(const struct fn *fn, const struct block *b)
{
	uint32_t n = 0;

	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++)
		n += fn->insn[i].kind != INSN_NOP;
	return n ? n : 1;
}

static uint32_t fn_size(const struct fn *fn)
{
	uint32_t size = 0;

	for (uint32_t i = 0; i < fn->nrange; i++)
		size += fn->range[i].size;
	return size;
}

static void fill_segments(const struct image *img, struct arena *a, struct blocktable *t)
{
	t->seg = arena_array(a, img->nph, sizeof(*t->seg));
	for (uint32_t i = 0; i < img->nph; i++) {
		const Elf64_Phdr *ph = &img->ph[i];

		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X) && ph->p_filesz)
			t->seg[t->nseg++] = (struct blockmap_seg){ ph->p_vaddr, ph->p_offset,
								   ph->p_filesz };
	}
}

static void write_block_table(const struct prog *prog, struct wr *out)
{
	struct blocktable t = { .original = prog->digest, .base = prog->base,
				.text_size = prog->text_size, .nfn = prog->nfn };
	uint32_t n = 0;

	fill_segments(&prog->img, prog->arena, &t);
	t.fn = arena_array(prog->arena, prog->nfn, sizeof(*t.fn));
	for (uint32_t i = 0; i < prog->nfn; i++)
		n += prog->fn[i].nblock;
	t.block = arena_array(prog->arena, n, sizeof(*t.block));
	for (uint32_t i = 0; i < prog->nfn; i++) {
		const struct fn *fn = &prog->fn[i];

		t.fn[i] = (struct blocktable_fn){ fn->entry, fn_size(fn), (uint32_t)fn->skip };
		for (uint32_t j = 0; j < fn->nblock; j++) {
			const struct block *b = &fn->block[j];

			t.block[t.nblock++] =
				(struct blocktable_block){ (uint32_t)(b->addr - prog->base),
							   b->size, instructions(fn, b), i };
		}
	}
	qsort(t.block, t.nblock, sizeof(*t.block), by_offset);
	blocktable_write(&t, out);
}

static struct table *summary(const struct prog *prog, const char *name, const struct elfout *eo)
{
	static const struct table_column col[] = {
		{ "file", TABLE_TEXT }, { "sha256", TABLE_TEXT }, { "text_bytes", TABLE_UINT },
		{ "fde_bytes", TABLE_UINT }, { "functions", TABLE_UINT },
		{ "function_bytes", TABLE_UINT }, { "movable", TABLE_UINT },
		{ "movable_bytes", TABLE_UINT }, { "blocks", TABLE_UINT },
		{ "jump_tables", TABLE_UINT }, { "unproven_jumps", TABLE_UINT },
		{ "layout", TABLE_TEXT },
	};
	struct table *t = table_new("module", (int)(sizeof(col) / sizeof(col[0])), col);
	uint64_t all = 0, movable = 0, bytes = 0, blocks = 0, tables = 0, unproven = 0;
	char hex[65];

	for (uint32_t i = 0; i < prog->nfn; i++) {
		const struct fn *fn = &prog->fn[i];

		all += fn_size(fn);
		if (fn->skip == SKIP_NONE) {
			movable++;
			bytes += fn_size(fn);
		}
		blocks += fn->nblock;
		tables += fn->ntable;
		unproven += fn->unproven;
	}
	digest_hex(&prog->digest, hex);
	table_row(t, name, hex, prog->text_size, prog->fde_bytes, (uint64_t)prog->nfn, all,
		  movable, bytes, blocks, tables, unproven,
		  eo->layout == 'F' ? "front" : "below");
	return t;
}

/* As all codes are: in small letters. */
static const char *code_of(int skip, char out[32])
{
	size_t n = 0;

	for (; skip_id[skip][n] && n < 31; n++)
		out[n] = (char)tolower((unsigned char)skip_id[skip][n]);
	out[n] = '\0';
	return out;
}

static struct table *reasons(const struct prog *prog)
{
	static const struct table_column col[] = {
		{ "reason", TABLE_TEXT }, { "functions", TABLE_UINT }, { "bytes", TABLE_UINT },
		{ "reason_code", TABLE_TEXT },
	};
	struct table *t = table_new("reasons", 4, col);
	uint64_t count[NSKIP] = { 0 }, bytes[NSKIP] = { 0 };
	char code[32];

	for (uint32_t i = 0; i < prog->nfn; i++) {
		count[prog->fn[i].skip]++;
		bytes[prog->fn[i].skip] += fn_size(&prog->fn[i]);
	}
	for (int i = 0; i < NSKIP; i++)
		if (count[i])
			table_row(t, skip_text[i], count[i], bytes[i], code_of(i, code));
	return t;
}

static struct table *jump_kinds(const struct prog *prog)
{
	static const struct table_column col[] = {
		{ "kind", TABLE_TEXT }, { "jumps", TABLE_UINT },
	};
	struct table *t = table_new("jump_kinds", 2, col);
	uint64_t count[NJUMP] = { 0 };

	for (uint32_t i = 0; i < prog->nfn; i++)
		for (uint32_t k = 0; k < prog->fn[i].njump; k++)
			count[prog->fn[i].jump[k].kind]++;
	for (int i = 0; i < NJUMP; i++)
		if (count[i])
			table_row(t, jump_name[i], count[i]);
	return t;
}

static struct table *pointers(const struct prog *prog)
{
	static const struct table_column col[] = {
		{ "to", TABLE_TEXT }, { "none", TABLE_UINT }, { "known", TABLE_UINT },
		{ "unknown", TABLE_UINT },
	};
	struct table *t = table_new("pointers", 4, col);
	uint64_t entry[3] = { 0 }, label[3] = { 0 };

	for (uint32_t i = 0; i < prog->nfn; i++) {
		const struct fn *fn = &prog->fn[i];

		if (fn->skip == SKIP_NONE) {
			entry[fn->pointers]++;
			label[fn->labels]++;
		}
	}
	table_row(t, "entry", entry[POINTERS_NONE], entry[POINTERS_KNOWN],
		  entry[POINTERS_UNKNOWN]);
	table_row(t, "labels", label[POINTERS_NONE], label[POINTERS_KNOWN],
		  label[POINTERS_UNKNOWN]);
	return t;
}

static struct table *jumps(const struct prog *prog)
{
	static const struct table_column col[] = {
		{ "address", TABLE_HEX }, { "function", TABLE_TEXT }, { "entry", TABLE_HEX },
		{ "kind", TABLE_TEXT },
	};
	struct table *t = table_new("jumps", 4, col);

	for (uint32_t i = 0; i < prog->nfn; i++) {
		const struct fn *fn = &prog->fn[i];

		for (uint32_t k = 0; k < fn->njump; k++)
			table_row(t, prog_insn_addr(prog, &fn->insn[fn->jump[k].insn]),
				  fn->name ? fn->name : "", fn->entry,
				  jump_name[fn->jump[k].kind]);
	}
	return t;
}

/* The shares of what is executed under the profile, by the confidence in what was inferred.
 * Where the profile does not fit the program, the table says why.  NULL: failed. */
static struct table *confidence(struct confinedjob *job, struct prog *prog,
				const struct profile *profile, struct err *err)
{
	static const struct table_column col[] = {
		{ "confidence", TABLE_TEXT }, { "work_pct", TABLE_REAL },
		{ "branches_pct", TABLE_REAL },
	}, why[] = { { "left_out", TABLE_TEXT } };
	struct confidence_shares e;

	if (profile_attach(prog, profile, err) < 0) {
		struct table *t = table_new("profile", 1, why);

		table_row(t, err->text);
		return t;
	}
	if (infer_counts(prog, err) < 0) {
		(void)confinedjob_wrap(job, 0, err);
		return NULL;
	}
	confidence_sum(prog, &e);
	struct table *t = table_new("confidence", 3, col);
	for (int c = NCONFIDENCE; c-- > 0; )
		table_row(t, confidence_name[c], 100 * e.share[CONFIDENCE_OF_WORK][c],
			  100 * e.share[CONFIDENCE_OF_BRANCHES][c]);
	return t;
}

static int work(struct confinedjob *job, void *arg, struct err *err)
{
	const struct ctx *ctx = arg;
	struct prog prog = { 0 };
	const struct profile *profile;
	struct table *told = NULL;
	struct elfout eo;

	if (cmd_refuse_setid(job, 0, err) < 0)
		return -1;
	if (prog_analyze(job->in[0].bytes, job->arena, &prog, err) < 0 ||
	    elfout_plan(&prog, &eo, err) < 0)
		return confinedjob_wrap(job, 0, err);
	if (ctx->table)
		write_block_table(&prog, &job->out[OUT_TABLE].bytes);
	if (ctx->signature) {
		struct signature s;

		signature_of(&prog, &s);
		signature_write(&s, &job->out[OUT_SIGNATURE].bytes);
	}
	if (cmd_read_profile(job, &profile, err) < 0)
		return -1;
	if (profile && !(told = confidence(job, &prog, profile, err)))
		return -1;
	struct table *all[6] = { summary(&prog, job->in[0].arg, &eo), reasons(&prog),
				 jump_kinds(&prog), pointers(&prog) };
	int n = 4;
	if (ctx->jumps)
		all[n++] = jumps(&prog);
	if (told)
		all[n++] = told;
	table_print_all(all, n, stdout, ctx->json);
	while (n)
		table_free(all[--n]);
	return 0;
}

int cmd_analyze(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "jumps", no_argument, NULL, 'J' },
		{ "signature", required_argument, NULL, 's' },
		{ "table", required_argument, NULL, 't' },
		CMD_OPTION_PROFILE,
		{ 0 }
	};
	struct ctx ctx = { 0 };
	struct confinedjob job = { .nout = 2,
			   .out = { { .mode_from = -1 }, { .mode_from = -1 } },
			   .work = work, .ctx = &ctx };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'j') {
			ctx.json = true;
		} else if (c == 'J') {
			ctx.jumps = true;
		} else if (c == 't') {
			job.out[OUT_TABLE].arg = optarg;
			ctx.table = true;
		} else if (c == 's') {
			job.out[OUT_SIGNATURE].arg = optarg;
			ctx.signature = true;
		} else if (!cmd_take_profile(&job, c)) {
			return CMD_USAGE;
		}
	}
	if (argc - optind != 1 || cmd_set_inputs(&job, argv[optind]) < 0)
		return CMD_USAGE;
	return confinedjob_run(&job);
}
