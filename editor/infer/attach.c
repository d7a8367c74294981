/* attach.c - puts the samples, edges and calls of a profile on the blocks of the program
 *
 * Functions that stay as they are, or are not looked at closely, may not be cut into blocks.
 * Their samples count, but nothing else that the profile says of them is used.
 *
 * A profile with blocks or edges that the program does not have was made with another analysis,
 * and is refused.  A call only says where a pointer led: a call at an address where no
 * instruction begins is left out, and counted.
 */
#include "editor/infer/attach.h"

#include <stdlib.h>

#include "editor/infer/expectation.h"
#include "editor/infer/relativeprofile.h"
#include "lib/err.h"

/* The block of fn that begins at addr; NO_BLOCK if none does. */
static uint32_t block_at(const struct fn *fn, vaddr addr)
{
	uint32_t b = fn_find_block(fn, addr);

	return b != NO_BLOCK && fn->block[b].addr == addr ? b : NO_BLOCK;
}

static int no_block(vaddr addr, struct err *err)
{
	return err_set(err, ERR_INPUT,
		       "profile: no block begins at %#llx; it was made with another "
		       "analysis",
		       (unsigned long long)addr);
}

/* A complete profile is divided by the same length again (exact.c); from executions that are
 * not complete the fit expects by this what samples it should find. */
static double samples_of_execution(const struct prog *prog, const struct fn *fn,
				   const struct block *b)
{
	uint32_t length = block_length(fn, b);

	if (!prog->exact)
		return expectation_samples(prog, fn, b);
	return length ? length : 1;
}

static int attach_blocks(struct prog *prog, const struct profile *profile, struct err *err)
{
	for (uint32_t i = 0; i < profile->nblock; i++) {
		vaddr addr = profile->block[i].addr;
		uint32_t f = prog_find_fn(prog, addr);
		uint32_t b = f == NO_FN ? NO_BLOCK : block_at(&prog->fn[f], addr);

		if (f == NO_FN || (b == NO_BLOCK && prog->fn[f].skip == SKIP_NONE))
			return no_block(addr, err);
	}
	for (uint32_t i = 0; i < profile->nblock; i++) {
		struct fn *fn = &prog->fn[prog_find_fn(prog, profile->block[i].addr)];
		uint32_t b = block_at(fn, profile->block[i].addr);
		double samples = profile->block[i].samples;

		if (b != NO_BLOCK && profile_has_executions(profile))
			samples *= samples_of_execution(prog, fn, &fn->block[b]);
		fn->samples += samples;
		if (b != NO_BLOCK)
			fn->block[b].samples += samples;
		fn->moved = fn->skip == SKIP_NONE && fn->samples > 0;
	}
	return 0;
}

/* The function that addr is in, if it was cut into blocks; else NULL. */
static struct fn *cut_fn(const struct prog *prog, vaddr addr)
{
	uint32_t f = prog_find_fn(prog, addr);

	return f != NO_FN && prog->fn[f].kept && prog->fn[f].nblock ? &prog->fn[f] : NULL;
}

static int by_edge(const void *x, const void *y)
{
	const struct seen_edge *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

/* Edges of one function stand together but for its fragments; edges to another function
 * count as calls, if at all. */
static int attach_edges(struct prog *prog, const struct profile *profile, struct err *err)
{
	for (uint32_t i = 0; i < profile->nedge; i++) {
		struct fn *fn = cut_fn(prog, profile->edge[i].from);

		if (fn)
			fn->nseen_edge++;
	}
	for (uint32_t f = 0; f < prog->nfn; f++) {
		struct fn *fn = &prog->fn[f];

		if (fn->nseen_edge)
			fn->seen_edge = arena_array(prog->arena, fn->nseen_edge,
						    sizeof(*fn->seen_edge));
		fn->nseen_edge = 0;
	}
	for (uint32_t i = 0; i < profile->nedge; i++) {
		const struct profile_edge *e = &profile->edge[i];
		struct fn *fn = cut_fn(prog, e->from);

		if (!fn)
			continue;
		uint32_t from = block_at(fn, e->from), to = block_at(fn, e->to);
		if (from == NO_BLOCK || (to == NO_BLOCK && cut_fn(prog, e->to) == fn))
			return no_block(from == NO_BLOCK ? e->from : e->to, err);
		if (to != NO_BLOCK)
			fn->seen_edge[fn->nseen_edge++] =
				(struct seen_edge){ from, to, e->count };
	}
	for (uint32_t f = 0; f < prog->nfn; f++) {
		if (prog->fn[f].nseen_edge)
			qsort(prog->fn[f].seen_edge, prog->fn[f].nseen_edge,
			      sizeof(struct seen_edge), by_edge);
	}
	return 0;
}

/* Index of the instruction at addr; UINT32_MAX if none begins there. */
static uint32_t insn_at(const struct prog *prog, const struct fn *fn, vaddr addr)
{
	uint32_t b = fn_find_block(fn, addr);

	for (uint32_t i = 0; b != NO_BLOCK && i < fn->block[b].ninsn; i++) {
		uint32_t insn = fn->block[b].insn + i;

		if (prog_insn_addr(prog, &fn->insn[insn]) == addr)
			return insn;
	}
	return UINT32_MAX;
}

static int by_call(const void *x, const void *y)
{
	const struct seen_call *a = x, *b = y;

	if (a->insn != b->insn)
		return a->insn < b->insn ? -1 : 1;
	return a->target < b->target ? -1 : a->target > b->target;
}

static void attach_calls(struct prog *prog, const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->ncall; i++) {
		struct fn *fn = cut_fn(prog, profile->call[i].insn);

		if (fn)
			fn->nseen_call++;
	}
	for (uint32_t f = 0; f < prog->nfn; f++) {
		struct fn *fn = &prog->fn[f];

		if (fn->nseen_call)
			fn->seen_call = arena_array(prog->arena, fn->nseen_call,
						    sizeof(*fn->seen_call));
		fn->nseen_call = 0;
	}
	for (uint32_t i = 0; i < profile->ncall; i++) {
		const struct profile_call *c = &profile->call[i];
		struct fn *fn = cut_fn(prog, c->insn);

		if (!fn)
			continue;
		uint32_t insn = insn_at(prog, fn, c->insn);
		if (insn == UINT32_MAX)
			prog->calls_left_out++;
		else
			fn->seen_call[fn->nseen_call++] =
				(struct seen_call){ insn, c->target, c->count };
	}
	for (uint32_t f = 0; f < prog->nfn; f++) {
		if (prog->fn[f].nseen_call)
			qsort(prog->fn[f].seen_call, prog->fn[f].nseen_call,
			      sizeof(struct seen_call), by_call);
	}
}

static int attach(struct prog *prog, const struct profile *profile, struct err *err)
{
	char want[65], got[65];

	if (!digest_equal(&profile->original, &prog->digest)) {
		digest_hex(&profile->original, want);
		digest_hex(&prog->digest, got);
		return err_set(err, ERR_INPUT, "profile is of another file: SHA-256 %.12s..., "
			       "this is %.12s...", want, got);
	}
	prog->exact = profile_is_exact(profile);
	if (attach_blocks(prog, profile, err) < 0 || attach_edges(prog, profile, err) < 0)
		return -1;
	attach_calls(prog, profile);
	return 0;
}

int profile_attach(struct prog *prog, const struct profile *profile, struct err *err)
{
	if (profile->counted) {
		if (profile_is_exact(profile) || !profile_is_exact(profile->counted) ||
		    profile->counted->nedge == 0)
			return err_set(err, ERR_INPUT,
				       "what was counted goes with samples: a complete "
				       "profile beside one that is not");
		if (attach(prog, profile->counted, err) < 0)
			return -1;
		relprofile_take(prog);
	}
	if (attach(prog, profile, err) < 0)
		return -1;
	relprofile_show(prog);
	return 0;
}
