/* infer.c - computes how often each block and edge of the moved functions runs
 *
 * A complete profile needs no inference (exact.c).  With samples, infer_fit.c searches the
 * likeliest counts of the whole program, given samples, seen edges and calls.  Before that,
 * mustrun.h finds the blocks without samples that must have run because others have samples.
 * For both, the ways out of a block become jumps of a graph:
 *
 *    fall, taken, each block of a proven table               jumps to those blocks
 *    return, tail call, fall or branch out of the function   a normal exit
 *    ud2 and the like, a call that does not come back        an abnormal exit
 *    an indirect jump without proven table                   a normal exit; it may come back in
 *                                                            at any block whose address is
 *                                                            taken
 *
 * Functions of which nothing was seen get the counts to be expected from the calls in others
 * (infer_callees.c).  Some functions may have exact counts besides (relativeprofile.h).
 *
 * Calls do not end blocks.  Padding takes no part.  Landing pads are entered by exceptions.
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/infer_*.txt).
 */
#include "editor/infer/infer.h"

#include "editor/graph/mustrun.h"
#include "editor/infer/branchguess.h"
#include "editor/infer/exact.h"
#include "editor/infer/infer_callees.h"
#include "editor/infer/infer_fit.h"
#include "editor/infer/relativeprofile.h"
#include "editor/infer/unsampled.h"
#include "lib/err.h"

/* Executions, in samples for an instruction, of what must run but has no samples; chosen. */
static const double hardly_ever = 1e-3;

struct graph {
	struct mustrun m;
	VEC(struct mustrun_jump) jump;
};

static void add_jump(struct arena *a, struct graph *g, uint32_t from, uint32_t to)
{
	struct mustrun_jump j = { .from = from, .to = to };

	vec_push(a, &g->jump, j);
}

static void add_block(struct arena *a, struct graph *g, const struct fn *fn, uint32_t id)
{
	const struct block *b = &fn->block[id];
	const struct insn *last = b->ninsn ? &fn->insn[b->insn + b->ninsn - 1] : NULL;
	const struct jump_table *t = b->table != NO_TABLE ? &fn->table[b->table] : NULL;
	uint32_t before = g->jump.n;

	if (b->padding)
		return;
	if (b->noreturn || (last && last->kind == INSN_TRAP)) {
		add_jump(a, g, id, MUSTRUN_EXIT);
		g->jump.v[g->jump.n - 1].abnormal = true;
		return;
	}
	if (b->fall != NO_BLOCK)
		add_jump(a, g, id, b->fall);
	if (b->taken != NO_BLOCK)
		add_jump(a, g, id, b->taken);
	for (uint32_t i = 0; t && i < t->nentry; i++)
		add_jump(a, g, id, t->succ[i] == NO_BLOCK ? MUSTRUN_EXIT : t->succ[i]);
	if (b->fall_out || b->taken_out || g->jump.n == before)
		add_jump(a, g, id, MUSTRUN_EXIT);
}

static void read_graph(struct arena *a, struct fn *fn, const struct graph *g)
{
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct mustrun_node *n = &g->m.node[i];
		struct block *b = &fn->block[i];
		uint32_t length = block_length(fn, b);

		b->leads_to_noreturn = n->leads_to_abnormal;
		b->confidence = CONFIDENCE_LOW;
		b->fall_count = b->taken_count = 0;
		b->count = n->runs ? hardly_ever : 0;
		if (n->runs && b->samples > 0)
			b->count = b->samples / (length ? length : 1);
	}
	for (uint32_t t = 0; t < fn->ntable; t++)
		fn->table[t].count = arena_array(a, fn->table[t].nentry, sizeof(double));
	for (uint32_t j = 0; j < g->m.njump; j++) {
		const struct mustrun_jump *jump = &g->m.jump[j];
		struct block *b = &fn->block[jump->from];

		if (!jump->runs)
			continue;
		if (b->fall == jump->to)
			b->fall_count = hardly_ever;
		else if (b->taken == jump->to)
			b->taken_count = hardly_ever;
	}
	fn->entry_count = fn->block[0].count;
}

/* `sampled`: there are samples somewhere; then it is found in every function which blocks lead
 * to a noreturn. */
static void find_needed(struct arena *job, struct arena *a, struct fn *fn, bool sampled)
{
	struct graph g = { .m.nnode = fn->nblock };

	g.m.node = arena_array(a, fn->nblock, sizeof(*g.m.node));
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];
		bool computed = b->pinned && fn->unproven > 0;

		g.m.node[i] = (struct mustrun_node){ .runs = b->samples > 0 && !b->padding,
			.entered = b->landing || computed, .thrown = b->landing && !computed };
		add_block(a, &g, fn, i);
	}
	g.m.jump = g.jump.v;
	g.m.njump = g.jump.n;
	if (sampled)
		mustrun_find(&g.m);
	read_graph(job, fn, &g);
}

int infer_counts(struct prog *prog, struct err *err)
{
	struct arena *scratch = arena_new();
	double weight[BRANCHGUESS_WEIGHTS];
	bool sampled = false;
	int rc = -1;

	for (uint32_t i = 0; i < prog->nfn; i++)
		sampled |= prog->fn[i].moved && prog->fn[i].samples > 0;
	for (uint32_t i = 0; i < prog->nfn; i++) {
		const struct fn *fn = &prog->fn[i];

		/* 30 bits of an entry's index are kept with its jump. */
		for (uint32_t t = 0; fn->moved && t < fn->ntable; t++) {
			if (fn->table[t].nentry >= 1u << 30) {
				err_set(err, ERR_INPUT, "jump table at %#llx is too large",
					(unsigned long long)fn->table[t].addr);
				goto out;
			}
		}
		if (fn->moved && prog->exact)
			exact_counts(prog->arena, &prog->fn[i]);
		else if (fn->moved)
			find_needed(prog->arena, scratch, &prog->fn[i], sampled);
		arena_reset(scratch);
	}
	if (!prog->exact && infer_fit(prog, scratch, weight)) {
		relprofile_apply(prog);
		infer_callees(prog, weight, scratch);
	}
	for (uint32_t i = 0; i < prog->nfn && !prog->exact; i++) {
		if (prog->fn[i].moved && !prog->fn[i].relprofile)
			unsampled_judge(&prog->fn[i], scratch);
		arena_reset(scratch);
	}
	rc = 0;
out:
	arena_free(scratch);
	return rc;
}
