/* boltread.c - profiles of llvm-bolt's tools as block profiles
 *
 * Pre-aggregated branches and runs are what branch stacks are, and go the same way
 * (editor/interpret/branchstacks.h).  A line of fdata is an edge: taken or fallen into, within
 * a function; a call; or an entry.  A block ran as often as it was entered, or left, whichever
 * is more: calls of a function from elsewhere are not always told of.
 *
 * Tested by tests/unit/editor/exchange/test_boltread.c, tests/e2e/bolt.sh and
 * tests/fuzz/fuzz_boltread.c.
 */
#include "editor/exchange/boltread.h"

#include <stdio.h>
#include <string.h>

#include "binary/buildid.h"
#include "editor/exchange/boltlines.h"
#include "editor/interpret/branchstacks.h"
#include "lib/err.h"
#include "postmorph/analyze.h"

struct reader {
	struct arena *arena;
	struct prog *prog;
	struct boltread_counts *counts;
	VEC(struct profile_block) in, out, samples;
	VEC(struct profile_edge) edge;
	VEC(struct profile_call) call;
};

/* --- sums --- */

static void sum_blocks(struct profile_block *v, uint32_t *n)
{
	struct profile p = { .block = v, .nblock = *n };

	profile_sort(&p);
	*n = p.nblock;
}

static void take_sums(struct reader *r, struct profile *p)
{
	VEC(struct profile_block) block = { 0 };

	sum_blocks(r->in.v, &r->in.n);
	sum_blocks(r->out.v, &r->out.n);
	uint32_t nin = r->in.n, nout = r->out.n;
	for (uint32_t i = 0, k = 0; i < nin || k < nout; ) {
		struct profile_block b = k == nout || (i < nin && r->in.v[i].addr <=
						       r->out.v[k].addr)
						 ? r->in.v[i] : r->out.v[k];

		if (k < nout && r->out.v[k].addr == b.addr && r->out.v[k].samples > b.samples)
			b.samples = r->out.v[k].samples;
		i += i < nin && r->in.v[i].addr == b.addr;
		k += k < nout && r->out.v[k].addr == b.addr;
		vec_push(r->arena, &block, b);
	}
	p->block = block.v;
	p->nblock = block.n;
	p->edge = r->edge.v;
	p->nedge = r->edge.n;
	p->call = r->call.v;
	p->ncall = r->call.n;
	profile_sort(p);
}

/* --- lines of fdata --- */

struct at {
	const struct fn *fn;
	uint32_t block;
};

static bool find(const struct prog *prog, vaddr addr, struct at *out)
{
	uint32_t f = prog_find_fn(prog, addr);

	if (f == NO_FN || !prog->fn[f].nblock)
		return false;
	out->fn = &prog->fn[f];
	out->block = fn_find_block(out->fn, addr);
	return out->block != NO_BLOCK;
}

static const struct insn *insn_at(const struct prog *prog, const struct at *at, vaddr addr)
{
	const struct block *b = &at->fn->block[at->block];

	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++)
		if (prog_insn_addr(prog, &at->fn->insn[i]) == addr)
			return &at->fn->insn[i];
	return NULL;
}

static bool leads_to(const struct fn *fn, uint32_t from, uint32_t to)
{
	const struct block *b = &fn->block[from];

	if (b->fall == to || b->taken == to)
		return true;
	for (uint32_t k = 0; b->table != NO_TABLE && k < fn->table[b->table].nentry; k++)
		if (fn->table[b->table].succ[k] == to)
			return true;
	return false;
}

static void count_block(struct reader *r, bool entered, vaddr addr, uint64_t count)
{
	struct profile_block b = { addr, (double)count };

	if (entered)
		vec_push(r->arena, &r->in, b);
	else
		vec_push(r->arena, &r->out, b);
}

static bool is_call(const struct insn *insn)
{
	return insn->kind == INSN_CALL || insn->kind == INSN_ICALL;
}

/* Does an instruction lead to that function's entry, or may it? */
static bool may_call(const struct prog *prog, const struct insn *insn, const struct at *to,
		     vaddr addr)
{
	vaddr at = prog_insn_addr(prog, insn);

	if (addr != to->fn->entry)
		return false;
	if (insn_is_branch(insn))
		return insn_target(insn, prog_insn_bytes(prog, insn), at) == addr;
	return insn->kind == INSN_ICALL || insn->kind == INSN_IJMP;
}

/* False: the code has no such edge. */
static bool take_edge(struct reader *r, const struct boltline *l)
{
	struct at from, to;

	if (!find(r->prog, l->to, &to))
		return false;
	const struct block *b = &to.fn->block[to.block];
	if (l->from_elsewhere) {
		if (b->addr == l->to)
			count_block(r, true, b->addr, l->count);
		return b->addr == l->to;
	}
	const struct insn *insn = find(r->prog, l->from, &from)
					  ? insn_at(r->prog, &from, l->from) : NULL;
	if (!insn)
		return false;
	const struct block *a = &from.fn->block[from.block];
	bool last = insn == &from.fn->insn[a->insn + a->ninsn - 1];
	if (insn->kind == INSN_RET)
		return insn_at(r->prog, &to, l->to) != NULL;	/* no edge, no call */
	if (last && from.fn == to.fn && b->addr == l->to &&
	    leads_to(from.fn, from.block, to.block)) {
		vec_push(r->arena, &r->edge,
			 ((struct profile_edge){ a->addr, b->addr, (double)l->count }));
	} else if (may_call(r->prog, insn, &to, l->to)) {
		vec_push(r->arena, &r->call,
			 ((struct profile_call){ l->from, l->to, (double)l->count }));
	} else {
		return false;
	}
	count_block(r, true, b->addr, l->count);
	if (last && !is_call(insn))
		count_block(r, false, a->addr, l->count);
	return true;
}

static bool take_sample(struct reader *r, const struct boltline *l)
{
	struct at at;

	if (!find(r->prog, l->from, &at))
		return false;
	vec_push(r->arena, &r->samples,
		 ((struct profile_block){ at.fn->block[at.block].addr, (double)l->count }));
	return true;
}

/* --- all --- */

/* Sightings have 32 bits: counts that are larger are all made smaller alike. */
static struct sighting *sightings_of(const struct boltlines *lines, struct arena *a,
				     uint32_t *n)
{
	struct sighting *s = arena_array(a, lines->line.n, sizeof(*s));
	uint64_t most = 0;

	*n = 0;
	for (uint32_t i = 0; i < lines->line.n; i++)
		if (lines->line.v[i].count > most)
			most = lines->line.v[i].count;
	uint64_t divisor = most / UINT32_MAX + 1;
	for (uint32_t i = 0; i < lines->line.n; i++) {
		const struct boltline *l = &lines->line.v[i];
		uint64_t count = l->count / divisor + (l->count % divisor != 0);

		if (l->kind == BOLTLINE_BRANCH || l->kind == BOLTLINE_RUN)
			s[(*n)++] = (struct sighting){
				l->from, l->to, l->kind == BOLTLINE_RUN ? SIGHTING_RUN
									: SIGHTING_TAKEN,
				(uint32_t)(count < UINT32_MAX ? count : UINT32_MAX),
			};
	}
	return s;
}

static void place_aggregated(struct reader *r, const struct sightings_source *source,
			     struct profile *out)
{
	struct sightings_stats stats;

	branchstacks_place(source, r->prog, out, &stats);
	/* these are counts, not lines */
	r->counts->impossible += stats.no_branch + stats.no_target + stats.no_run;
	r->counts->taken += source->nsighting;
}

static int analyze(struct reader *r, struct bytes file, const struct boltlines *lines,
		   struct err *err)
{
	vaddr *wanted = arena_array(r->arena, 2 * (size_t)lines->line.n + 1, sizeof(*wanted));
	uint32_t n = 0;

	for (uint32_t i = 0; i < lines->line.n; i++) {
		wanted[n++] = lines->line.v[i].from;
		wanted[n++] = lines->line.v[i].to;
	}
	r->prog = arena_alloc(r->arena, sizeof(*r->prog));
	return prog_analyze_at(file, wanted, n, r->arena, r->prog, err);
}

static void take_lines(struct reader *r, const struct boltlines *lines,
		       const struct sightings_source *source, struct profile *out)
{
	for (uint32_t i = 0; i < lines->line.n; i++) {
		const struct boltline *l = &lines->line.v[i];
		bool good = l->kind == BOLTLINE_EDGE ? take_edge(r, l)
						     : l->kind == BOLTLINE_SAMPLE &&
							       take_sample(r, l);

		r->counts->taken += good;
		if (l->kind == BOLTLINE_EDGE || l->kind == BOLTLINE_SAMPLE)
			r->counts->impossible += !good;
	}
	if (source->nsighting)
		place_aggregated(r, source, out);
	else
		take_sums(r, out);
	/* executions say more */
	if (!out->nblock && r->samples.n) {
		out->clock = "other";
		out->block = r->samples.v;
		out->nblock = r->samples.n;
		profile_sort(out);
	}
}

int boltread(struct bytes file, struct bytes text, struct arena *a, struct profile *out,
	     struct boltread_counts *counts, struct err *err)
{
	struct reader r = { .arena = a, .counts = counts };
	struct boltlines lines = { 0 };
	struct boltnames names;
	struct image img = { 0 };
	char hex[2 * 64 + 1] = "";

	*counts = (struct boltread_counts){ 0 };
	*out = (struct profile){ .clock = "branches" };
	if (image_parse(file, a, &img, err) < 0 || boltnames_read(&file, a, &names, err) < 0)
		return err_wrap(err, "the program");
	struct bytes id = buildid_find(&img).id;
	for (uint64_t i = 0; i < id.n && i < 64; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", id.p[i]);	/* fits */
	if (boltlines_read(text, &names, hex, a, &lines, err) < 0)
		return -1;
	if (analyze(&r, file, &lines, err) < 0)
		return err_wrap(err, "the program");
	struct sightings_source source = { .mapped = &img, .executions = true };
	source.sighting = sightings_of(&lines, a, &source.nsighting);
	take_lines(&r, &lines, &source, out);
	counts->elsewhere = lines.elsewhere;
	counts->unknown = lines.unknown;
	out->original = r.prog->digest;
	if (!out->nblock && !out->nedge && !out->ncall)
		return err_set(err, ERR_REFUSED, "nothing of it is of this file: %llu lines of "
			       "other files, %llu of unknown names, %llu of what its code does "
			       "not have", (unsigned long long)counts->elsewhere,
			       (unsigned long long)counts->unknown,
			       (unsigned long long)counts->impossible);
	return 0;
}
