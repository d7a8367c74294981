/* pass_calls.c - marks calls of other modules that will read their slot without a linkage stub
 *
 * needs: cold, warm.  Changes: block->direct.  Keeps: orders, cold, warm.
 *
 * `call stub`, where the stub is `jmp *slot(%rip)`, becomes `call *slot(%rip)`.  That saves a
 * taken branch and a line of the linkage table, for one byte more.  It does not matter what the
 * slot holds (bound at load or at the first call, to this module or one that interposes): the
 * stub would have gone there.  The byte is spent in hot text only.
 *
 * The pass works on libraries only.  They are mapped side by side, but a program is more than 4
 * GiB away from all of them, and processors keep little room for indirect branches that go so
 * far: a stub is one branch that all calls of a function share, a call through a slot is one
 * more.  Near ones are cheaper by 0.7 ns however many there are, far ones not with 10 and
 * dearer by 1 to 2.5 ns from 100 on (bench/farcalls.sh); bash, which has 444 in hot code, lost
 * 5 % by them.
 *
 * The block map has a line more for each such call.  Blocks that end in a computed jump remain
 * one line: the Verifier looks at where the jump gets its target from.
 *
 * Tested by tests/unit/editor/passes/test_pass_calls.c.
 */
#include "editor/passes/pass.h"

bool pass_calls_may(const struct fn *fn, const struct block *b)
{
	return b->table != NO_TABLE || fn->insn[b->insn + b->ninsn - 1].kind != INSN_IJMP;
}

int pass_calls(struct prog *prog, const struct edit_options *options, struct err *err)
{
	(void)options;
	(void)err;
	if (prog->img.executable)
		return 0;
	for (uint32_t i = 0; i < prog->norder; i++) {
		struct fn *fn = &prog->fn[prog->order[i]];

		for (uint32_t k = 0; k < fn->nblock; k++) {
			struct block *b = &fn->block[k];

			b->direct = !b->cold && !b->warm && pass_calls_may(fn, b);
		}
	}
	return 0;
}
