/* relativeprofile.c - brings exact counts of some functions to the level of the estimates */
#include "editor/infer/relativeprofile.h"

#include "editor/infer/exact.h"

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

void relprofile_show(struct prog *prog)
{
	for (uint32_t f = 0; f < prog->nfn; f++) {
		struct fn *fn = &prog->fn[f];
		const struct relprofile *s = fn->relprofile;

		if (!s)
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
