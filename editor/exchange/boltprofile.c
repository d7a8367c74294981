/* boltprofile.c - counts of an annotated program as llvm-bolt's fdata
 *
 * Tested by tests/e2e/bolt.sh.
 */
#include "editor/exchange/boltprofile.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "editor/exchange/callcounts.h"

#define ESTIMATE_UNIT 1000.0	/* as editor/infer/completeprofile.c has it */

struct writer {
	const struct prog *prog;
	const struct boltnames *names;
	struct wr *out;
	uint64_t *called;	/* [nfn] what calls account for */
};

uint64_t boltprofile_count(const struct prog *prog, double count)
{
	double v = round(prog->exact ? count : count * ESTIMATE_UNIT);

	if (count <= 0)
		return 0;
	return v < 1 ? 1 : v > 1e15 ? (uint64_t)1e15 : (uint64_t)v;
}

static void put(struct writer *w, const char *text)
{
	wr_text(w->out, text);
}

/* A place by its piece of code and the offset in it. */
static const char *place(struct writer *w, const struct fn *fn, vaddr addr)
{
	const struct fn_range *r = fn->range;

	for (uint32_t i = 0; i < fn->nrange; i++)
		if (addr - fn->range[i].addr < fn->range[i].size)
			r = &fn->range[i];
	return arena_printf(w->prog->arena, "1 %s %" PRIx64, boltnames_at(w->names, r->addr),
			    addr - r->addr);
}

static void tell(struct writer *w, const char *from, const char *to, uint64_t count)
{
	if (count)
		put(w, arena_printf(w->prog->arena, "%s %s 0 %" PRIu64 "\n", from, to, count));
}

static vaddr last_insn(const struct prog *prog, const struct fn *fn, const struct block *b)
{
	return prog_insn_addr(prog, &fn->insn[b->insn + b->ninsn - 1]);
}

static void tell_edge(struct writer *w, const struct fn *fn, const struct block *from,
		      uint32_t to, double count)
{
	if (to != NO_BLOCK)
		tell(w, place(w, fn, last_insn(w->prog, fn, from)),
		     place(w, fn, fn->block[to].addr), boltprofile_count(w->prog, count));
}

static void tell_edges(struct writer *w, const struct fn *fn)
{
	double *runs = arena_array(w->prog->arena, fn->ntable, sizeof(*runs));

	fn_table_runs(fn, runs);
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];
		double share = fn_table_share(fn, runs, i);

		if (!b->ninsn)
			continue;
		if (b->fall == b->taken) {
			tell_edge(w, fn, b, b->fall, b->fall_count + b->taken_count);
		} else {
			tell_edge(w, fn, b, b->fall, b->fall_count);
			tell_edge(w, fn, b, b->taken, b->taken_count);
		}
		for (uint32_t k = 0; share > 0 && k < fn->table[b->table].nentry; k++)
			tell_edge(w, fn, b, fn->table[b->table].succ[k],
				  share * fn->table[b->table].count[k]);
	}
}

static void tell_calls(struct writer *w)
{
	const struct prog *prog = w->prog;
	struct callcounts calls;

	callcounts_find(prog, &calls);
	for (uint32_t i = 0; i < calls.n; i++) {
		const struct callcount *c = &calls.at[i];
		const struct fn *from = &prog->fn[c->caller], *to = &prog->fn[c->callee];
		uint64_t count = boltprofile_count(prog, c->count);

		if (!from->moved)
			continue;
		tell(w, place(w, from, c->at), place(w, to, to->entry), count);
		w->called[c->callee] += count;
	}
}

void boltprofile_fdata(const struct prog *prog, const struct boltnames *names, struct wr *out)
{
	struct writer w = { prog, names, out,
			    arena_array(prog->arena, prog->nfn + (size_t)1,
					sizeof(*w.called)) };

	for (uint32_t f = 0; f < prog->nfn; f++)
		if (prog->fn[f].moved)
			tell_edges(&w, &prog->fn[f]);
	tell_calls(&w);
	for (uint32_t f = 0; f < prog->nfn; f++) {
		const struct fn *fn = &prog->fn[f];
		uint64_t entries = boltprofile_count(prog, fn->entry_count);

		if (fn->moved && entries > w.called[f])
			tell(&w, "0 [unknown] 0", place(&w, fn, fn->entry),
			     entries - w.called[f]);
	}
}
