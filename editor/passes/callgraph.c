/* callgraph.c - makes the graph that proclayout.h orders from moved functions and their calls
 *
 * A direct call is made as often as its block runs.  An indirect call has known targets only as
 * far as the profile saw them: the executions of its block are shared out among those targets
 * in proportion to how often each was seen.
 */
#include "editor/passes/callgraph.h"

#include "editor/passes/blockgraph.h"

struct work {
	const struct prog *prog;
	struct arena *a;
	uint32_t *proc_of;	/* [nfn] NO_FN: it does not move */
	/* [nproc] -> [nblock] bytes of hot text in front of the block */
	uint64_t **off;
	VEC(struct proc_edge) edge;
};

static bool is_hot(const struct block *b)
{
	return !b->cold && !b->warm;
}

static uint64_t place_blocks(const struct fn *fn, uint64_t *off)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[fn->order[i]];

		off[fn->order[i]] = at;
		if (is_hot(b))
			at += blockgraph_block_size(fn, b);
	}
	return at;
}

static void add_call(struct work *w, uint32_t caller, uint32_t callee, uint32_t block,
		     double weight)
{
	uint32_t from = w->proc_of[caller], to = w->proc_of[callee];

	if (from == NO_FN || to == NO_FN || weight <= 0)
		return;
	struct proc_edge e = { from, to, weight, w->off[from][block] };
	vec_push(w->a, &w->edge, e);
}

/* Calls seen at one instruction stand together. */
static void add_indirect(struct work *w, uint32_t f)
{
	const struct fn *fn = &w->prog->fn[f];

	for (uint32_t i = 0, next; i < fn->nseen_call; i = next) {
		uint32_t insn = fn->seen_call[i].insn;
		uint32_t block = fn_find_block(fn, prog_insn_addr(w->prog, &fn->insn[insn]));
		double sum = 0;

		for (next = i; next < fn->nseen_call && fn->seen_call[next].insn == insn;
		     next++)
			sum += fn->seen_call[next].count;
		if (fn->insn[insn].kind != INSN_ICALL && fn->insn[insn].kind != INSN_IJMP)
			continue;
		for (uint32_t k = i; k < next && sum > 0; k++) {
			uint32_t to = prog_find_fn(w->prog, fn->seen_call[k].target);

			if (to != NO_FN && w->prog->fn[to].entry == fn->seen_call[k].target)
				add_call(w, f, to, block,
					 fn->block[block].count * fn->seen_call[k].count / sum);
		}
	}
}

void callgraph_make(const struct prog *prog, struct arena *a, struct proc_graph *out)
{
	struct work w = { .prog = prog, .a = a };
	uint64_t *size = arena_array(a, prog->norder, sizeof(*size));
	double *samples = arena_array(a, prog->norder, sizeof(*samples));

	w.proc_of = arena_array(a, prog->nfn, sizeof(*w.proc_of));
	w.off = arena_array(a, prog->norder, sizeof(*w.off));
	for (uint32_t f = 0; f < prog->nfn; f++)
		w.proc_of[f] = NO_FN;
	for (uint32_t i = 0; i < prog->norder; i++) {
		const struct fn *fn = &prog->fn[prog->order[i]];

		w.proc_of[prog->order[i]] = i;
		w.off[i] = arena_array(a, fn->nblock, sizeof(**w.off));
		size[i] = place_blocks(fn, w.off[i]);
		samples[i] = fn->entry_count;
	}
	for (uint32_t c = 0; c < prog->ncall; c++) {
		const struct call_site *call = &prog->call[c];

		add_call(&w, call->caller, call->callee, call->block,
			 prog->fn[call->caller].block[call->block].count);
	}
	for (uint32_t i = 0; i < prog->norder; i++)
		add_indirect(&w, prog->order[i]);
	*out = (struct proc_graph){ prog->norder, w.edge.n, size, samples, w.edge.v };
}
