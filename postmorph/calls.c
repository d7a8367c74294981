/* calls.c - direct calls, and jumps to other functions' entries */
#include "postmorph/calls.h"

void calls_each(const struct prog *prog, uint32_t f, call_visit *visit, void *ctx)
{
	const struct fn *fn = &prog->fn[f];

	for (uint32_t k = 0; k < fn->nblock; k++) {
		const struct block *b = &fn->block[k];

		for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++) {
			const struct insn *insn = &fn->insn[i];

			if (!insn_is_branch(insn) ||
			    (insn->kind != INSN_CALL && b->taken != NO_BLOCK))
				continue;
			vaddr target = insn_target(insn, prog_insn_bytes(prog, insn),
						   prog_insn_addr(prog, insn));
			uint32_t to = prog_find_fn(prog, target);
			if (to == NO_FN || prog->fn[to].entry != target ||
			    (to == f && insn->kind != INSN_CALL))
				continue;
			visit(ctx, &(struct call_site){
				.caller = f, .callee = to, .block = k,
				.off = (uint32_t)(prog_insn_addr(prog, insn) -
						  fn->range[b->range].addr),
			});
		}
	}
}

struct calls {
	struct arena *arena;
	VEC(struct call_site) found;
};

static void add(void *ctx, const struct call_site *call)
{
	struct calls *c = ctx;

	vec_push(c->arena, &c->found, *call);
}

void calls_find(struct text *t)
{
	struct prog *prog = t->prog;
	struct calls c = { .arena = t->pass };

	for (uint32_t i = 0; i < prog->nfn; i++)
		calls_each(prog, i, add, &c);
	prog->ncall = c.found.n;
	prog->call = arena_dup(prog->arena, c.found.v, c.found.n * sizeof(*c.found.v));
	arena_reset(t->pass);
}
