/* completeprofile.c - writes the counts of an annotated program as a complete profile
 *
 * Estimates have no unit: what one sample stands for depends on the clock.  They are written in
 * thousandths, so that the three decimals of a profile say enough; true executions are written
 * as they are.
 */
#include "editor/infer/completeprofile.h"

#define ESTIMATE_UNIT 1000.0

struct lines {
	struct arena *arena;
	double unit;
	VEC(struct profile_block) block;
	VEC(struct profile_edge) edge;
};

static void add_edge(struct lines *l, const struct fn *fn, uint32_t from, uint32_t to,
		     double count)
{
	struct profile_edge e;

	if (to == NO_BLOCK || count <= 0)
		return;
	e = (struct profile_edge){ fn->block[from].addr, fn->block[to].addr, count * l->unit };
	vec_push(l->arena, &l->edge, e);
}

static void add_fn(struct lines *l, const struct fn *fn)
{
	double *runs = arena_array(l->arena, fn->ntable, sizeof(*runs));

	fn_table_runs(fn, runs);
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];
		double share = fn_table_share(fn, runs, i);
		struct profile_block line = { b->addr, b->count * l->unit };

		if (b->count > 0)
			vec_push(l->arena, &l->block, line);
		if (b->fall == b->taken) {
			add_edge(l, fn, i, b->fall, b->fall_count + b->taken_count);
		} else {
			add_edge(l, fn, i, b->fall, b->fall_count);
			add_edge(l, fn, i, b->taken, b->taken_count);
		}
		for (uint32_t k = 0; share > 0 && k < fn->table[b->table].nentry; k++)
			add_edge(l, fn, i, fn->table[b->table].succ[k],
				 share * fn->table[b->table].count[k]);
	}
}

void completeprofile_make(const struct prog *prog, const char *module, struct profile *out)
{
	bool exact = prog->exact;
	struct lines l = { .arena = prog->arena, .unit = exact ? 1 : ESTIMATE_UNIT };

	for (uint32_t i = 0; i < prog->nfn; i++) {
		if (prog->fn[i].moved)
			add_fn(&l, &prog->fn[i]);
	}
	*out = (struct profile){ .module = module, .original = prog->digest, .clock = "exact",
		.block = l.block.v, .nblock = l.block.n, .edge = l.edge.v, .nedge = l.edge.n };
	profile_sort(out);
}
