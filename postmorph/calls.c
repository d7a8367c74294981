/* calls.c - direct calls, and jumps to other functions' entries */
#include "postmorph/analyze.h"

/* Calls and tail jumps of one function, in the order of its blocks. */
static void collect(const struct text *t, uint32_t f, struct call_site *out, uint32_t *n)
{
	const struct prog *prog = t->prog;
	const struct fn *fn = &prog->fn[f];

	for (uint32_t k = 0; k < fn->nblock; k++) {
		const struct block *b = &fn->block[k];

		for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++) {
			const struct insn *insn = &fn->insn[i];

			if (!insn_is_branch(insn))
				continue;
			vaddr target = insn_target(insn, prog_insn_bytes(prog, insn),
						   prog_insn_addr(prog, insn));
			uint32_t to = prog_find_fn(prog, target);
			if (to == NO_FN || prog->fn[to].entry != target ||
			    (to == f && insn->kind != INSN_CALL))
				continue;
			if (out)
				out[*n] = (struct call_site){
					.caller = f, .callee = to, .block = k,
					.off = (uint32_t)(prog_insn_addr(prog, insn) -
							  fn->range[b->range].addr),
				};
			(*n)++;
		}
	}
}

void calls_find(struct text *t, struct arena *a)
{
	struct prog *prog = t->prog;
	uint32_t ncall = 0;

	for (uint32_t i = 0; i < prog->nfn; i++)
		collect(t, i, NULL, &ncall);
	prog->call = arena_array(a, ncall, sizeof(*prog->call));
	prog->ncall = 0;
	for (uint32_t i = 0; i < prog->nfn; i++)
		collect(t, i, prog->call, &prog->ncall);
}
