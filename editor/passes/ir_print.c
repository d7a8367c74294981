/* ir_print.c - writes the annotated program as text, in the form that tests/unit/irtext.h
 * describes
 *
 * Tested by tests/unit/editor/passes/test_passes.c, which parses it again.
 */
#include "editor/passes/ir_print.h"

static void print_name(const struct fn *fn, FILE *f)
{
	if (!fn->name) {
		(void)fprintf(f, "fn_%llx", (unsigned long long)fn->entry);
		return;
	}
	for (const char *s = fn->name; *s; s++)
		(void)fputc(*s > ' ' && *s < 0x7f && *s != '#' ? *s : '_', f);
}

static void print_target(uint32_t id, double count, FILE *f)
{
	(void)fprintf(f, " b%u", id);
	if (count > 0)
		(void)fprintf(f, ":%.3f", count);
}

static void print_table(const struct jump_table *t, FILE *f)
{
	(void)fprintf(f, " table");
	for (uint32_t i = 0; i < t->nentry; i++) {
		if (t->succ[i] == NO_BLOCK)
			(void)fprintf(f, " out");
		else
			print_target(t->succ[i], t->count ? t->count[i] : 0, f);
	}
}

/* Prints `->` and the targets; nothing when control just runs on to the next block. */
static void print_targets(const struct fn *fn, uint32_t id, FILE *f)
{
	const struct block *b = &fn->block[id];
	const struct insn *last = &fn->insn[b->insn + b->ninsn - 1];

	switch (last->kind) {
	case INSN_RET:
		(void)fprintf(f, " -> ret");
		return;
	case INSN_TRAP:
		(void)fprintf(f, " -> trap");
		return;
	case INSN_IJMP:
		(void)fprintf(f, " ->");
		if (b->table != NO_TABLE)
			print_table(&fn->table[b->table], f);
		else
			(void)fprintf(f, " ijmp");
		return;
	default:
		break;
	}
	if (b->fall == NO_BLOCK && b->taken == NO_BLOCK && !b->taken_out)
		return;
	(void)fprintf(f, " ->");
	if (b->fall != NO_BLOCK)
		print_target(b->fall, b->fall_count, f);
	else if (b->taken == id + 1)
		(void)fprintf(f, " jmp");
	if (b->taken != NO_BLOCK)
		print_target(b->taken, b->taken_count, f);
	else if (b->taken_out)
		(void)fprintf(f, " out");
}

/* The first call of the block; calls ascend by caller and block. */
static void print_call(const struct prog *prog, uint32_t fn, uint32_t block, FILE *f)
{
	uint32_t lo = 0, hi = prog->ncall;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct call_site *c = &prog->call[mid];

		if (c->caller < fn || (c->caller == fn && c->block < block))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == prog->ncall || prog->call[lo].caller != fn || prog->call[lo].block != block)
		return;
	(void)fprintf(f, " call ");
	print_name(&prog->fn[prog->call[lo].callee], f);
}

static bool has_icall(const struct fn *fn, const struct block *b)
{
	for (uint32_t i = 0; i + 1 < b->ninsn; i++) {
		if (fn->insn[b->insn + i].kind == INSN_ICALL)
			return true;
	}
	return false;
}

/* Those of functions of the program, by an indirect call or by a block's last instruction. */
static void print_seen_calls(const struct prog *prog, const struct fn *fn, FILE *f)
{
	for (uint32_t i = 0; i < fn->nseen_call; i++) {
		const struct seen_call *c = &fn->seen_call[i];
		const struct insn *insn = &fn->insn[c->insn];
		uint32_t block = fn_find_block(fn, prog_insn_addr(prog, insn));
		const struct block *b = &fn->block[block];
		uint32_t callee = prog_find_fn(prog, c->target);

		if (callee == NO_FN || prog->fn[callee].entry != c->target ||
		    (insn->kind != INSN_ICALL && c->insn != b->insn + b->ninsn - 1))
			continue;
		(void)fprintf(f, "  seen call b%u ", block);
		print_name(&prog->fn[callee], f);
		(void)fprintf(f, " %.3f\n", c->count);
	}
}

static void print_block(const struct prog *prog, uint32_t fn_id, uint32_t id, FILE *f)
{
	const struct fn *fn = &prog->fn[fn_id];
	const struct block *b = &fn->block[id];

	if (id > 0 && b->range != b[-1].range)
		(void)fprintf(f, "  .cold\n");
	(void)fprintf(f, "  b%u size %u insns %u", id, b->size, b->ninsn);
	if (b->samples > 0)
		(void)fprintf(f, " samples %.3f", b->samples);
	if (b->count > 0)
		(void)fprintf(f, " count %.3f confidence %s", b->count,
			      confidence_name[b->confidence]);
	(void)fprintf(f, "%s%s%s%s%s%s%s%s%s", b->guessed ? " guessed" : "",
		      b->pinned ? " pinned" : "", b->landing ? " landing" : "",
		      b->padding ? " padding" : "", b->noreturn ? " noreturn" : "",
		      b->cold	? " cold"
		      : b->warm ? " warm"
				: "",
		      b->stays ? " stays" : "", b->in_line ? " in-line" : "",
		      b->jump_in_line ? " jump-in-line" : "");
	if (has_icall(fn, b))
		(void)fprintf(f, " icall");
	print_call(prog, fn_id, id, f);
	print_targets(fn, id, f);
	(void)fputc('\n', f);
}

void ir_print(const struct prog *prog, FILE *f)
{
	if (prog->exact)
		(void)fprintf(f, "exact\n");
	for (uint32_t i = 0; i < prog->norder; i++) {
		const struct fn *fn = &prog->fn[prog->order[i]];

		(void)fprintf(f, "fn ");
		print_name(fn, f);
		if (fn->unproven)
			(void)fprintf(f, " unproven %u", fn->unproven);
		(void)fputc('\n', f);
		for (uint32_t b = 0; b < fn->nblock; b++)
			print_block(prog, prog->order[i], b, f);
		for (uint32_t e = 0; e < fn->nseen_edge; e++)
			(void)fprintf(f, "  seen b%u b%u %.3f\n", fn->seen_edge[e].from,
				      fn->seen_edge[e].to, fn->seen_edge[e].count);
		print_seen_calls(prog, fn, f);
		(void)fprintf(f, "  order");
		for (uint32_t b = 0; b < fn->nblock; b++)
			(void)fprintf(f, " b%u", fn->order[b]);
		(void)fputc('\n', f);
	}
}
