/* infer.c - how often each block and edge of the moved functions runs
 *
 * Makes the graph for blockflow.h of each function, and reads the counts back.  What control
 * can do at the end of a block becomes jumps of the flow graph:
 *
 *    fall, taken, each distinct block of a proven table      jumps to those blocks
 *    return, tail call, fall or branch out of the function   a normal exit
 *    ud2 and the like, a call that does not come back        an abnormal exit
 *    an indirect jump without proven table                   a normal exit; it may come back in
 *                                                            at any block whose address is
 *                                                            taken
 *
 * A profile that is exact and has edges needs no inference (exact.c).  From exact blocks alone
 * edges follow by flow (blockflow.h).  Samples need more: starting from the counts that flow
 * gives, the likeliest counts of the whole program are searched, given samples, seen edges and
 * calls (infer_fit.c).  Functions of which nothing was seen get the counts that calls from
 * others let expect (infer_callees.c).  Some functions may have been counted besides
 * (relativeprofile.h).
 *
 * Calls do not end blocks.  Padding takes no part.  Landing pads are entered by exceptions.
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/infer_*.txt).
 */
#include "editor/infer/infer.h"

#include "editor/graph/blockflow.h"
#include "editor/infer/branchguess.h"
#include "editor/infer/exact.h"
#include "editor/infer/infer_callees.h"
#include "editor/infer/infer_fit.h"
#include "editor/infer/relativeprofile.h"
#include "editor/infer/unsampled.h"
#include "lib/err.h"

enum jump_kind { FALL, TAKEN, TABLE, EXIT };

struct graph {
	struct blockflow flow;
	VEC(struct blockflow_jump) jump;
	VEC(uint32_t) where;	/* for each jump: kind, and the table entry above it */
};

static void add_jump(struct arena *a, struct graph *g, uint32_t from, uint32_t to,
		     enum jump_kind kind, uint32_t entry)
{
	struct blockflow_jump j = { .from = from, .to = to };

	vec_push(a, &g->jump, j);
	vec_push(a, &g->where, entry << 2 | (uint32_t)kind);
}

/* One jump for each distinct block, at its first entry; entries that lead out are one exit.
 * seen[] is scratch, [nblock], all zero before and after. */
static void add_table(struct arena *a, struct graph *g, uint32_t from,
		      const struct jump_table *t, uint8_t *seen)
{
	bool leaves = false;

	for (uint32_t i = 0; i < t->nentry; i++) {
		if (t->succ[i] == NO_BLOCK) {
			leaves = true;
		} else if (!seen[t->succ[i]]) {
			seen[t->succ[i]] = 1;
			add_jump(a, g, from, t->succ[i], TABLE, i);
		}
	}
	for (uint32_t i = 0; i < t->nentry; i++) {
		if (t->succ[i] != NO_BLOCK)
			seen[t->succ[i]] = 0;
	}
	if (leaves)
		add_jump(a, g, from, BLOCKFLOW_EXIT, EXIT, 0);
}

static void add_block(struct arena *a, struct graph *g, const struct fn *fn, uint32_t id,
		      uint8_t *seen)
{
	const struct block *b = &fn->block[id];
	const struct insn *last = b->ninsn ? &fn->insn[b->insn + b->ninsn - 1] : NULL;
	uint32_t before = g->jump.n;

	if (b->padding)
		return;
	if (b->noreturn || (last && last->kind == INSN_TRAP)) {
		add_jump(a, g, id, BLOCKFLOW_EXIT, EXIT, 0);
		g->jump.v[g->jump.n - 1].abnormal = true;
		return;
	}
	if (b->fall != NO_BLOCK)
		add_jump(a, g, id, b->fall, FALL, 0);
	if (b->taken != NO_BLOCK)
		add_jump(a, g, id, b->taken, TAKEN, 0);
	if (b->table != NO_TABLE)
		add_table(a, g, id, &fn->table[b->table], seen);
	if (b->fall_out || b->taken_out || g->jump.n == before)
		add_jump(a, g, id, BLOCKFLOW_EXIT, EXIT, 0);
}

static void read_counts(struct arena *a, struct fn *fn, const struct graph *g, bool exact)
{
	for (uint32_t t = 0; t < fn->ntable; t++)
		fn->table[t].count = arena_array(a, fn->table[t].nentry, sizeof(double));
	for (uint32_t i = 0; i < fn->nblock; i++) {
		fn->block[i].count = g->flow.node ? g->flow.node[i].count : 0;
		fn->block[i].leads_to_noreturn =
			g->flow.node && g->flow.node[i].leads_to_abnormal;
		fn->block[i].fall_count = fn->block[i].taken_count = 0;
		/* Of exact blocks one thing is not known: which way those went that have
		 * several. */
		fn->block[i].confidence = exact ? CONFIDENCE_HIGH : CONFIDENCE_LOW;
	}
	fn->entry_count = g->flow.entry_count;
	for (uint32_t j = 0; j < g->flow.njump; j++) {
		struct block *b = &fn->block[g->flow.jump[j].from];
		double count = g->flow.jump[j].count;

		if (exact && j > 0 && g->flow.jump[j - 1].from == g->flow.jump[j].from)
			b->confidence = CONFIDENCE_MEDIUM;
		switch ((enum jump_kind)(g->where.v[j] & 3)) {
		case FALL:
			b->fall_count = count;
			break;
		case TAKEN:
			b->taken_count = count;
			break;
		case TABLE:
			fn->table[b->table].count[g->where.v[j] >> 2] += count;
			break;
		case EXIT:
			if (b->fall_out && !b->taken_out)
				b->fall_count = count;
			else if (b->taken_out && b->taken == NO_BLOCK)
				b->taken_count = count;
			break;
		}
	}
}

/* `sampled`: there are samples somewhere; then it is found in every function which blocks lead
 * to a noreturn. */
static void infer_fn(struct arena *job, struct arena *a, struct fn *fn, bool exact,
		     bool sampled)
{
	struct graph g = { 0 };

	if (sampled) {
		uint8_t *seen = arena_alloc(a, fn->nblock);

		g.flow.nnode = fn->nblock;
		g.flow.node = arena_array(a, fn->nblock, sizeof(*g.flow.node));
		for (uint32_t i = 0; i < fn->nblock; i++) {
			const struct block *b = &fn->block[i];

			g.flow.node[i] = (struct blockflow_node){ .samples = b->samples,
				.insns = block_length(fn, b), .absent = b->padding,
				.entered = b->landing || (b->pinned && fn->unproven > 0),
				.thrown = b->landing && !(b->pinned && fn->unproven > 0) };
			add_block(a, &g, fn, i, seen);
		}
		g.flow.jump = g.jump.v;
		g.flow.njump = g.jump.n;
		blockflow_infer(&g.flow);
	}
	read_counts(job, fn, &g, exact);
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
		if (fn->moved && prog->exact_edges)
			exact_counts(prog->arena, &prog->fn[i]);
		else if (fn->moved)
			infer_fn(prog->arena, scratch, &prog->fn[i], prog->exact_blocks,
				 sampled);
		arena_reset(scratch);
	}
	if (!prog->exact_blocks && infer_fit(prog, scratch, weight)) {
		relprofile_apply(prog);
		infer_callees(prog, weight, scratch);
	}
	for (uint32_t i = 0; i < prog->nfn && !prog->exact_blocks; i++) {
		if (prog->fn[i].moved && !prog->fn[i].relprofile)
			unsampled_judge(&prog->fn[i], scratch);
		arena_reset(scratch);
	}
	rc = 0;
out:
	arena_free(scratch);
	return rc;
}
