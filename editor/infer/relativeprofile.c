/* relativeprofile.c - brings exact counts of some functions to the level of the estimates */
#include "editor/infer/relativeprofile.h"

#include "editor/infer/exact.h"

/* Share of a block's executions that may go on nobody knows where. */
static const double gap = 0.05;
/* Executions out of a block that are as good as certain, beside what samples tell of others. */
static const double seen_often = 1000;

static struct relprofile *relprofile_of(struct arena *a, struct fn *fn)
{
	struct relprofile *s = arena_alloc(a, sizeof(*s));

	exact_counts(a, fn);
	*s = (struct relprofile){ .entry = fn->entry_count,
				  .edge = fn->seen_edge,
				  .nedge = fn->nseen_edge,
				  .call = fn->seen_call,
				  .ncall = fn->nseen_call,
				  .block = arena_array(a, fn->nblock, sizeof(*s->block)),
				  .table = arena_array(a, fn->ntable, sizeof(*s->table)) };
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];

		s->block[i] = (struct relprofile_block){ b->count, b->fall_count,
							 b->taken_count, false };
	}
	for (uint32_t t = 0; t < fn->ntable; t++)
		s->table[t] = fn->table[t].count;
	return s;
}

static void forget(struct fn *fn)
{
	fn->samples = fn->entry_count = 0;
	fn->moved = false;
	fn->seen_edge = NULL;
	fn->seen_call = NULL;
	fn->nseen_edge = fn->nseen_call = 0;
	for (uint32_t i = 0; i < fn->nblock; i++) {
		struct block *b = &fn->block[i];

		b->samples = b->count = b->fall_count = b->taken_count = 0;
		b->confidence = CONFIDENCE_LOW;
	}
	for (uint32_t t = 0; t < fn->ntable; t++)
		fn->table[t].count = NULL;
}

void relprofile_take(struct prog *prog)
{
	for (uint32_t f = 0; f < prog->nfn; f++) {
		struct fn *fn = &prog->fn[f];

		if (fn->moved && fn->kept)
			fn->relprofile = relprofile_of(prog->arena, fn);
		forget(fn);
	}
}

/* --- counts with gaps --- */

/* Control may go on from it by other ways than edges of its function. */
static bool may_leave(const struct fn *fn, const struct block *b)
{
	const struct jump_table *t = b->table != NO_TABLE ? &fn->table[b->table] : NULL;

	for (uint32_t i = 0; t && i < t->nentry; i++)
		if (t->succ[i] == NO_BLOCK)
			return true;
	return b->noreturn || b->fall_out || b->taken_out ||
	       (b->fall == NO_BLOCK && b->taken == NO_BLOCK && !t);
}

/* What the edges out of each block were executed; in the arena. */
static double *sum_out(struct arena *a, const struct fn *fn)
{
	double *out = arena_array(a, fn->nblock, sizeof(*out));

	for (uint32_t i = 0; i < fn->relprofile->nedge; i++)
		out[fn->relprofile->edge[i].from] += fn->relprofile->edge[i].count;
	return out;
}

static bool has_gaps(const struct fn *fn, const double *out)
{
	for (uint32_t i = 0; i < fn->nblock; i++)
		if (!may_leave(fn, &fn->block[i]) &&
		    out[i] < (1 - gap) * fn->relprofile->block[i].count)
			return true;
	return false;
}

/* The edges of blocks without a gap become edges seen often, those of others stay what samples
 * told: the fit makes one flow of both. */
static void show_as_seen(struct arena *a, struct fn *fn, const double *out)
{
	const struct relprofile *s = fn->relprofile;
	VEC(struct seen_edge) edge = { 0 };

	for (uint32_t i = 0, c = 0, k = 0; i < fn->nblock; i++) {
		double count = s->block[i].count;
		bool known = count > 0 && !may_leave(fn, &fn->block[i]) &&
			     out[i] >= (1 - gap) * count;

		for (; c < s->nedge && s->edge[c].from == i; c++) {
			struct seen_edge e = s->edge[c];

			e.count *= seen_often / out[i];
			if (known)
				vec_push(a, &edge, e);
		}
		for (; k < fn->nseen_edge && fn->seen_edge[k].from == i; k++)
			if (!known)
				vec_push(a, &edge, fn->seen_edge[k]);
	}
	fn->seen_edge = edge.v;
	fn->nseen_edge = edge.n;
	fn->relprofile = NULL;
}

void relprofile_show(struct prog *prog)
{
	for (uint32_t f = 0; f < prog->nfn; f++) {
		struct fn *fn = &prog->fn[f];
		const struct relprofile *s = fn->relprofile;
		const double *out = s ? sum_out(prog->arena, fn) : NULL;

		if (s && has_gaps(fn, out))
			show_as_seen(prog->arena, fn, out);
		if (!fn->relprofile)
			continue;
		for (uint32_t i = 0; i < fn->nblock; i++)
			s->block[i].known |= fn->block[i].samples > 0;
		for (uint32_t i = 0; i < fn->nseen_edge; i++) {
			s->block[fn->seen_edge[i].from].known = true;
			s->block[fn->seen_edge[i].to].known = true;
		}
		fn->seen_edge = s->edge;
		fn->nseen_edge = s->nedge;
		fn->seen_call = s->call;
		fn->nseen_call = s->ncall;
	}
}

static double relprofile_work(const struct fn *fn)
{
	double work = 0;

	for (uint32_t i = 0; i < fn->nblock; i++)
		work += fn->relprofile->block[i].count * block_length(fn, &fn->block[i]);
	return work;
}

/* Of a table that nobody was counted to jump through the estimates stay, as those of its
 * users may. */
static void apply_table(struct jump_table *t, const double *counted, double level)
{
	double all = 0;

	for (uint32_t i = 0; i < t->nentry; i++)
		all += counted[i];
	for (uint32_t i = 0; i < t->nentry && all > 0; i++)
		t->count[i] = level * counted[i];
}

static void apply(struct fn *fn, double level)
{
	const struct relprofile *s = fn->relprofile;

	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct relprofile_block *x = &s->block[i];
		struct block *b = &fn->block[i];

		b->confidence = CONFIDENCE_HIGH;
		b->guessed = false;
		if (x->count <= 0 && x->known)
			continue;
		b->count = level * x->count;
		b->fall_count = level * x->fall;
		b->taken_count = level * x->taken;
	}
	for (uint32_t t = 0; t < fn->ntable; t++)
		apply_table(&fn->table[t], s->table[t], level);
	fn->entry_count = level * s->entry;
}

void relprofile_apply(struct prog *prog)
{
	for (uint32_t f = 0; f < prog->nfn; f++) {
		struct fn *fn = &prog->fn[f];
		double estimated = fn->moved && fn->relprofile ? fn_work(fn) : 0;

		if (estimated > 0)
			apply(fn, estimated / relprofile_work(fn));
		else
			fn->relprofile = NULL;
	}
}
