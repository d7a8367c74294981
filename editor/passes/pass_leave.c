/* pass_leave.c - marks cold blocks that get no copy: branches to them lead to the originals
 *
 * needs: counts, cold.  Changes: block->stays, fn->leaves.  Keeps the rest.
 *
 * A fluff block that does run runs just as well where it always stood.  But original code knows
 * nothing of images: control that goes there remains there until the function returns (or
 * begins again), and its calls enter moved functions over their entry jumps.  So a cold block
 * has no copy only when little can be lost that way: from it neither a block that runs many
 * times for each entry of the function (a loop) can be reached, nor a cycle that runs for long
 * without any block of it running often (an interpreter's loop, each turn of which goes another
 * way).  So error exits get no copy, and most ways that end in a return.
 *
 * No block is marked in a function that forms pointers and whose original could otherwise not
 * run: pointers may lead to images only while it cannot (redirect.c), and each call through
 * such a pointer would cost a jump.
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/leave_*.txt).
 */
#include "editor/passes/pass.h"

#include "editor/graph/cycles.h"

/* Executions of a block for each entry from which on it is a loop's. */
static const double loop_share = 4;
/* Instructions of a cycle for each entry from which on it runs long. */
static const double cycle_share = 200;

/* Ways backwards.  Node nblock is all that an unproven jump may lead to. */
struct ways {
	struct arena *a;
	uint32_t *to;		/* [nblock + 1] index + 1 of the first edge */
	VEC(struct cycles_edge) edge;
};

static void add_way(struct ways *w, uint32_t from, uint32_t to)
{
	/* the entry jump leads from there to the image */
	if (to == NO_BLOCK || to == 0)
		return;
	struct cycles_edge e = { from, w->to[to] };

	vec_push(w->a, &w->edge, e);
	w->to[to] = w->edge.n;
}

static void add_ways(struct ways *w, const struct fn *fn, uint32_t id)
{
	const struct block *b = &fn->block[id];

	if (!b->noreturn)
		add_way(w, id, b->fall);
	add_way(w, id, b->taken);
	if (b->table != NO_TABLE) {
		const struct jump_table *t = &fn->table[b->table];

		for (uint32_t i = 0; i < t->nentry; i++)
			add_way(w, id, t->succ[i]);
	} else if (fn->insn[b->insn + b->ninsn - 1].kind == INSN_IJMP) {
		add_way(w, id, fn->nblock);
	}
	if (b->pinned)
		add_way(w, fn->nblock, id);
}

/* Adds to queue[n] the blocks that run again and again, or are of a cycle that runs long. */
static uint32_t find_loops(const struct ways *w, const struct fn *fn, bool *costly,
			   uint32_t *queue)
{
	uint32_t *cycle = arena_array(w->a, fn->nblock + 1, sizeof(*cycle)), n = 0;
	double *work = arena_array(w->a, fn->nblock + 1, sizeof(*work)),
	       entries = fn->block[0].count;

	cycles_find(fn->nblock + 1, w->to, w->edge.v, cycle);
	for (uint32_t i = 0; i < fn->nblock; i++)
		work[cycle[i]] += fn->block[i].count * block_length(fn, &fn->block[i]);
	for (uint32_t i = 0; i < fn->nblock; i++) {
		double count = fn->block[i].count;

		costly[i] = count > 0 && (count >= loop_share * entries ||
					  work[cycle[i]] >= cycle_share * entries);
		if (costly[i])
			queue[n++] = i;
	}
	return n;
}

/* [nblock] a block of a loop can be reached from there. */
static bool *find_costly(struct arena *a, const struct fn *fn)
{
	struct ways w = { .a = a, .to = arena_array(a, fn->nblock + 1, sizeof(*w.to)) };
	bool *costly = arena_array(a, fn->nblock + 1, sizeof(*costly));
	uint32_t *queue = arena_array(a, fn->nblock + 1, sizeof(*queue));

	for (uint32_t i = 0; i < fn->nblock; i++)
		add_ways(&w, fn, i);
	uint32_t n = find_loops(&w, fn, costly, queue);
	for (uint32_t head = 0; head < n; head++)
		for (uint32_t e = w.to[queue[head]]; e; e = w.edge.v[e - 1].next) {
			uint32_t from = w.edge.v[e - 1].to;

			if (!costly[from])
				queue[n++] = from;
			costly[from] = true;
		}
	return costly;
}

static void leave_blocks(struct fn *fn, const bool *costly)
{
	for (uint32_t i = 0; i < fn->nblock; i++) {
		struct block *b = &fn->block[i];

		if (!costly[i] && b->cold && block_may_stay(fn, b))
			b->stays = fn->leaves = true;
	}
}

int pass_leave(struct prog *prog, const struct edit_options *options, struct err *err)
{
	struct arena *a = arena_new();
	bool *forms = arena_array(prog->arena, prog->nfn, sizeof(*forms));

	(void)err;
	for (uint32_t i = 0; i < prog->nref && !options->keep_pointers; i++)
		if (prog->ref[i].kind == REFERENCE_LEA)
			forms[prog->ref[i].user] = prog->fn[prog->ref[i].user].sealed;
	for (uint32_t i = 0; i < prog->norder; i++) {
		struct fn *fn = &prog->fn[prog->order[i]];

		if (!forms[prog->order[i]])
			leave_blocks(fn, find_costly(a, fn));
		arena_reset(a);
	}
	arena_free(a);
	return 0;
}
