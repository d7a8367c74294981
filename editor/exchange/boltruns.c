/* boltruns.c - counts of an annotated program as llvm-bolt's pre-aggregated profile
 *
 * A processor that records branches sees runs of code between them.  Counts of edges do not
 * tell which runs there were, but any runs with these counts say the same.  Block by block in
 * the order of addresses, a queue holds the runs under way; what enters a block and did not
 * fall into it begins a run at its end, and a branch, a call or a return ends the oldest.
 *
 * Tested by tests/e2e/bolt.sh.
 */
#include <inttypes.h>
#include <string.h>

#include "editor/exchange/boltprofile.h"
#include "lib/search.h"

struct run {
	vaddr start;
	uint64_t count;
	bool returned;		/* begins behind a call */
};

struct writer {
	const struct prog *prog;
	struct wr *out;
	VEC(struct run) run;
	uint32_t oldest;
	uint64_t under_way;
};

static void put_branch(struct writer *w, vaddr from, vaddr to, uint64_t count)
{
	if (count)
		wr_text(w->out, arena_printf(w->prog->arena,
					     "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n", from,
					     to, count));
}

static void begin(struct writer *w, vaddr start, uint64_t count, bool returned)
{
	struct run r = { start, count, returned };

	if (!count)
		return;
	vec_push(w->prog->arena, &w->run, r);
	w->under_way += count;
}

/* Ends the oldest runs, as many as `count`, at an instruction. */
static void end(struct writer *w, vaddr at, uint64_t count)
{
	while (count && w->oldest < w->run.n) {
		struct run *r = &w->run.v[w->oldest];
		uint64_t n = r->count < count ? r->count : count;

		wr_text(w->out, arena_printf(w->prog->arena,
					     "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
					     r->returned ? 'f' : 'F', r->start, at, n));
		r->count -= n;
		count -= n;
		w->under_way -= n;
		w->oldest += r->count == 0;
	}
}

/* Runs that no branch ends are not told of. */
static void drop_all(struct writer *w)
{
	w->run.n = w->oldest = 0;
	w->under_way = 0;
}

static void end_all(struct writer *w, vaddr at)
{
	end(w, at, w->under_way);
	drop_all(w);
}

static uint64_t count_of(const struct writer *w, double count)
{
	return boltprofile_count(w->prog, count);
}

/* Where an indirect call or jump, fn->insn[i], entered functions, if that was counted. */
static void put_counted(struct writer *w, const struct fn *fn, uint32_t i)
{
	uint32_t k = search_first(j, 0, fn->nseen_call, fn->seen_call[j].insn < i);
	vaddr at = prog_insn_addr(w->prog, &fn->insn[i]);

	for (; w->prog->exact && k < fn->nseen_call && fn->seen_call[k].insn == i; k++)
		put_branch(w, at, fn->seen_call[k].target,
			   boltprofile_count(w->prog, fn->seen_call[k].count));
}

/* The calls in a block end all runs, and others begin behind those that come back. */
static void pass_calls(struct writer *w, const struct fn *fn, const struct block *b)
{
	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++) {
		const struct insn *insn = &fn->insn[i];
		vaddr at = prog_insn_addr(w->prog, insn);
		uint64_t count = w->under_way;

		if (insn->kind != INSN_CALL && insn->kind != INSN_ICALL)
			continue;
		if (insn->kind == INSN_CALL)
			put_branch(w, at, insn_target(insn, prog_insn_bytes(w->prog, insn), at),
				   count);
		else
			put_counted(w, fn, i);
		end_all(w, at);
		if (i + 1 < b->insn + b->ninsn || b->fall != NO_BLOCK)
			begin(w, at + insn->len, count, true);
	}
}

/* Table entries, by their shares. */
static void pass_table(struct writer *w, const struct fn *fn, uint32_t id, vaddr at,
		       const double *runs)
{
	const struct block *b = &fn->block[id];
	double share = fn_table_share(fn, runs, id);

	for (uint32_t k = 0; share > 0 && k < fn->table[b->table].nentry; k++) {
		const struct jump_table *t = &fn->table[b->table];

		if (t->succ[k] != NO_BLOCK)
			put_branch(w, at, fn->block[t->succ[k]].addr,
				   count_of(w, share * t->count[k]));
	}
}

static void pass_block(struct writer *w, const struct fn *fn, uint32_t id, const double *runs)
{
	const struct block *b = &fn->block[id];
	uint64_t count = count_of(w, b->count);

	if (!count || !b->ninsn) {
		drop_all(w);
		return;
	}
	if (count > w->under_way)
		begin(w, b->addr, count - w->under_way, false);
	pass_calls(w, fn, b);
	const struct insn *last = &fn->insn[b->insn + b->ninsn - 1];
	vaddr at = prog_insn_addr(w->prog, last);
	vaddr target = b->taken != NO_BLOCK ? fn->block[b->taken].addr : b->taken_out;

	if (last->kind == INSN_JMP) {
		put_branch(w, at, target, w->under_way);
		end_all(w, at);
	} else if (last->kind == INSN_TRAP) {
		drop_all(w);
	} else if (insn_ends_flow(last)) {
		pass_table(w, fn, id, at, runs);
		if (last->kind == INSN_IJMP)
			put_counted(w, fn, b->insn + b->ninsn - 1);
		end_all(w, at);
	} else if (insn_is_branch(last) && last->kind != INSN_CALL) {
		uint64_t taken = count_of(w, b->taken_count);

		put_branch(w, at, target, taken < w->under_way ? taken : w->under_way);
		end(w, at, taken);
	}
}

void boltprofile_preagg(const struct prog *prog, struct wr *out)
{
	struct writer w = { .prog = prog, .out = out };

	for (uint32_t f = 0; f < prog->nfn; f++) {
		const struct fn *fn = &prog->fn[f];
		double *runs = arena_array(prog->arena, fn->ntable, sizeof(*runs));
		uint32_t range = UINT32_MAX;

		if (!fn->moved)
			continue;
		fn_table_runs(fn, runs);
		for (uint32_t i = 0; i < fn->nblock; i++) {
			if (fn->block[i].range != range)
				drop_all(&w);
			range = fn->block[i].range;
			pass_block(&w, fn, i, runs);
		}
		drop_all(&w);
	}
}
