/* optimize.c - the pipeline: original and profile in, generation and block map out
 *
 * Analysis fills the annotated program, the profile is put on it, inference sets its counts,
 * passes permute and mark, emit writes.
 *
 * Tested by tests/unit/editor/emit/test_emit.c.
 */
#include "editor/optimize.h"

#include "editor/infer/attach.h"
#include "editor/infer/infer.h"
#include "editor/passes/layoutscore.h"
#include "editor/passes/pass.h"
#include "editor/passes/redirect.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "postmorph/analyze.h"

/* Functions without samples are looked at so many calls away from those with samples;
 * chosen. */
enum { CALLEES = 1 };

/* prog->order starts as address order; passes permute it. */
static void select_functions(struct prog *prog, bool all, struct edit_stats *stats)
{
	prog->order = arena_array(prog->arena, prog->nfn, sizeof(*prog->order));
	prog->norder = 0;
	for (uint32_t i = 0; i < prog->nfn; i++) {
		struct fn *fn = &prog->fn[i];

		if (all && fn->skip == SKIP_NONE)
			fn->moved = true;
		if (fn->moved)
			prog->order[prog->norder++] = i;
		stats->samples += fn->samples;
	}
	stats->functions = prog->nfn;
	stats->calls_left_out = prog->calls_left_out;
}

/* Over the moved functions; 0 when nothing is known about their edges. */
static double normalised_score(const struct prog *prog, bool original_order)
{
	double weight = 0, score = layoutscore_sum(prog, original_order, &weight);

	return weight > 0 ? score / weight : 0;
}

/* Addresses in the functions that are looked at closely: where samples and exact counts are,
 * what was seen to be called, and where edges were seen. */
static struct prog_wanted find_wanted(const struct profile *profile, struct arena *a)
{
	bool exact = profile_is_exact(profile);
	struct prog_wanted w = { .depth = exact ? 0 : CALLEES };
	const struct profile *counted = profile->counted;
	uint32_t ncounted = counted ? counted->nblock : 0;
	vaddr *addr = arena_array(
		a, profile->nblock + profile->ncall + profile->nedge + ncounted, sizeof(*addr));

	for (uint32_t i = 0; i < profile->nblock; i++)
		addr[w.n++] = profile->block[i].addr;
	for (uint32_t i = 0; i < profile->ncall && !exact; i++)
		addr[w.n++] = profile->call[i].target;
	for (uint32_t i = 0; i < profile->nedge && !exact; i++)
		addr[w.n++] = profile->edge[i].from;
	for (uint32_t i = 0; i < ncounted; i++)
		addr[w.n++] = counted->block[i].addr;
	w.addr = addr;
	return w;
}

/* Functions of which nothing was seen may be worth moving for those that call them
 * (infer_callees.c). */
static void take_callees(struct prog *prog)
{
	for (uint32_t i = 0; i < prog->nfn; i++)
		prog->fn[i].moved |= prog->fn[i].kept && prog->fn[i].skip == SKIP_NONE;
}

int edit_analyze(struct bytes original, const struct profile *profile, bool all,
		 struct arena *a, struct prog *prog, struct err *err)
{
	if (all) {
		if (prog_analyze(original, a, prog, err) < 0)
			return -1;
	} else {
		struct prog_wanted wanted = find_wanted(profile, a);

		if (prog_analyze_around(original, &wanted, a, prog, err) < 0)
			return -1;
	}
	if (profile && profile_attach(prog, profile, err) < 0)
		return -1;
	if (profile && !all && !prog->exact)
		take_callees(prog);
	return 0;
}

int edit_optimize(struct bytes original, const struct profile *profile,
		  const struct edit_options *options, struct arena *a, struct wr *generation,
		  struct wr *map, struct edit_stats *stats, struct err *err)
{
	struct prog *prog = arena_alloc(a, sizeof(*prog));
	struct edit_stats s = { 0 };

	if (edit_analyze(original, profile, options->all, a, prog, err) < 0)
		return -1;
	select_functions(prog, options->all, &s);
	if (prog->norder == 0)
		return err_set(err, ERR_REFUSED, "no function %s can be moved",
			       options->all ? "of it" : "with samples");
	if (infer_counts(prog, err) < 0 || passes_run(prog, options, err) < 0)
		return -1;
	if (prog->norder == 0)
		return err_set(err, ERR_REFUSED, "no function with samples is worth moving");
	if (!options->keep_pointers)
		redirect_select(prog);
	prog->text_at = options->text_at;
	s.exttsp_before = normalised_score(prog, true);
	s.exttsp_after = normalised_score(prog, false);
	if (emit_generation(prog, options->generation, generation, map, &s, err) < 0)
		return -1;
	*stats = s;
	return 0;
}
