/* counted.c - makes an exact profile of the original from an instrumented program's counters
 *
 * The original is analysed again as it was for instrumenting, which gives the same graphs and
 * the same numbers of counters.  Each function's counted edges get the values of their
 * counters, and flow conservation gives the counts of the others (spanningtree.h).
 *
 * Counters do not quite conserve flow when a process was killed in the middle of a block, or
 * when threads that ran at the same time lost counts (without --threads).  A count that follows
 * can then be negative, and is taken as zero.
 *
 * Tested by tests/programs/instrument.sh and, on malformed files, tests/fuzz/fuzz_counts.c.
 */
#include "editor/instrument/instrument.h"

#include <stdlib.h>

#include "editor/instrument/countgraph.h"
#include "editor/instrument/flaglive.h"
#include "lib/blockmap.h"
#include "lib/countsfile.h"
#include "lib/err.h"

struct reader {
	struct instrument in;
	struct countsfile file;
	struct blockmap map;
	/* [nrecorded] ascending by site, target; targets as addresses of the original, 0 for
	 * other modules */
	struct countsfile_slot *recorded;
	uint32_t nrecorded;
	struct arena *a;
	uint32_t counter;		/* number of the next one */
	VEC(struct profile_block) block;
	VEC(struct profile_edge) edge;
	VEC(struct profile_call) call;
};

static int by_site(const void *x, const void *y)
{
	const struct countsfile_slot *a = x, *b = y;

	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return a->target < b->target ? -1 : a->target > b->target;
}

/* The address in the original of a target; 0 when it is in another module. */
static vaddr original_of(const struct reader *r, uint64_t target)
{
	vaddr addr = r->file.base + target;
	const struct blockmap_block *b = blockmap_find_gen(&r->map, addr);

	if (target > INT32_MAX)
		return 0;
	if (b)
		return r->map.gen_base + b->gen == addr ? r->map.orig_base + b->orig : 0;
	return image_is_exec(&r->in.prog->img, addr) ? addr : 0;
}

static void read_slots(struct reader *r)
{
	struct countsfile_slot s;
	uint32_t n = 0;

	r->recorded = arena_array(r->a, r->file.nslot, sizeof(*r->recorded));
	for (uint32_t i = 0; i < r->file.nslot; i++) {
		if (!countsfile_slot(&r->file, i, &s) || s.site >= r->in.nsite)
			continue;
		s.target = original_of(r, s.target);
		r->recorded[n++] = s;
	}
	qsort(r->recorded, n, sizeof(*r->recorded), by_site);
	for (uint32_t i = 0; i < n; i++) {
		struct countsfile_slot *last =
			r->nrecorded ? &r->recorded[r->nrecorded - 1] : NULL;

		if (last && by_site(last, &r->recorded[i]) == 0)
			last->count += r->recorded[i].count;
		else
			r->recorded[r->nrecorded++] = r->recorded[i];
	}
}

/* How often the jump at the end of `block` went to `to`, by its recorded targets. */
static int64_t recorded_count(const struct reader *r, uint32_t f, uint32_t block, uint32_t to)
{
	const struct fn *fn = &r->in.prog->fn[f];
	uint64_t n = 0;

	for (uint32_t i = 0; i < r->nrecorded; i++) {
		const struct instrument_site *s = &r->in.site[r->recorded[i].site];

		if (s->fn == f && s->block == block && s->insn == fn->block[block].ninsn - 1 &&
		    r->recorded[i].target == fn->block[to].addr)
			n += r->recorded[i].count;
	}
	return (int64_t)n;
}

static void add_block(struct reader *r, vaddr addr, int64_t n)
{
	if (n > 0)
		vec_push(r->a, &r->block, ((struct profile_block){ addr, (double)n }));
}

static void add_edge(struct reader *r, vaddr from, vaddr to, int64_t n)
{
	if (n > 0)
		vec_push(r->a, &r->edge, ((struct profile_edge){ from, to, (double)n }));
}

/* Only calls of functions of this module. */
static void add_call(struct reader *r, vaddr insn, vaddr target, int64_t n)
{
	uint32_t f = prog_find_fn(r->in.prog, target);

	if (n > 0 && f != NO_FN && r->in.prog->fn[f].entry == target)
		vec_push(r->a, &r->call, ((struct profile_call){ insn, target, (double)n }));
}

static vaddr last_insn(const struct reader *r, const struct fn *fn, const struct block *b)
{
	return prog_insn_addr(r->in.prog, &fn->insn[b->insn + b->ninsn - 1]);
}

static void report_edge(struct reader *r, const struct fn *fn, const struct countedge *e,
			int64_t n)
{
	const struct block *b = &fn->block[e->block];

	switch ((enum countedge_kind)e->kind) {
	case COUNTEDGE_PIECE:
		if (e->first)
			add_block(r, b->addr, n);
		break;
	case COUNTEDGE_FALL:
	case COUNTEDGE_TAKEN:
	case COUNTEDGE_TABLE:
		if (e->where != NO_BLOCK)
			add_edge(r, b->addr, fn->block[e->where].addr, n);
		else if (e->kind == COUNTEDGE_TAKEN)
			add_call(r, last_insn(r, fn, b), b->taken_out, n);
		break;
	case COUNTEDGE_OUT:
		if (b->taken_out)
			add_call(r, last_insn(r, fn, b), b->taken_out, n);
		break;
	case COUNTEDGE_IN:
	case COUNTEDGE_CALL:
		break;
	}
}

static void read_fn(struct reader *r, uint32_t f, struct arena *scratch)
{
	const struct fn *fn = &r->in.prog->fn[f];
	struct countgraph g;

	instrument_graph(&r->in, f, scratch, &g);
	for (uint32_t i = 0; i < g.flow.nedge; i++) {
		if (!g.flow.edge[i].counted)
			continue;
		g.flow.edge[i].count = instrument_has_counter(&g, i) ?
			(int64_t)countsfile_counter(&r->file, r->counter++) :
			recorded_count(r, f, g.edge[i].block, g.edge[i].where);
	}
	spanningtree_solve(&g.flow);
	for (uint32_t i = 0; i < g.flow.nedge; i++)
		report_edge(r, fn, &g.edge[i], g.flow.edge[i].count);
}

/* A computed jump without a table may go to a block of its own function; any other recorded
 * target is that of a call. */
static void report_targets(struct reader *r)
{
	for (uint32_t i = 0; i < r->nrecorded; i++) {
		const struct countsfile_slot *s = &r->recorded[i];
		const struct instrument_site *site = &r->in.site[s->site];
		const struct fn *fn = &r->in.prog->fn[site->fn];
		const struct block *b = &fn->block[site->block];
		const struct insn *insn = &fn->insn[b->insn + site->insn];
		uint32_t to = fn_find_block(fn, s->target);

		if (insn->kind == INSN_ICALL || to == NO_BLOCK || to == 0)
			add_call(r, prog_insn_addr(r->in.prog, insn), s->target,
				 (int64_t)s->count);
		else if (b->table == NO_TABLE && fn->block[to].addr == s->target)
			add_edge(r, b->addr, s->target, (int64_t)s->count);
	}
}

/* Both edges of a branch may lead to one block: they become one. */
static void write_profile(struct reader *r, struct wr *out)
{
	struct profile p = { .module = r->file.path, .original = r->file.original,
			     .clock = "exact" };

	p.block = r->block.v;
	p.nblock = r->block.n;
	p.edge = r->edge.v;
	p.nedge = r->edge.n;
	p.call = r->call.v;
	p.ncall = r->call.n;
	profile_sort(&p);
	profile_write(&p, out);
}

static int check(const struct reader *r, struct bytes original, struct err *err)
{
	struct digest d = digest_of(original);

	if (!digest_equal(&d, &r->file.original))
		return err_set(err, ERR_INPUT,
			       "these counts are of another file ('%s' as it was)",
			       r->file.path);
	if (countsfile_counter(&r->file, 0) == 0)
		return err_set(err, ERR_INPUT,
			       "nothing was counted: the instrumented program has not "
			       "run, or could not open its file of counts");
	return 0;
}

int edit_counts(struct bytes original, struct bytes counts, struct arena *a, struct wr *profile,
		struct err *err)
{
	struct reader r = { .a = a, .counter = COUNTSFILE_FIRST };

	if (countsfile_read(counts, a, &r.file, err) < 0 || check(&r, original, err) < 0 ||
	    instrument_prepare(original,
			       &(struct instrument_choice){ .heat = r.file.heat,
							    .is_private = r.file.nslot == 0 },
			       a, &r.in, err) < 0)
		return -1;
	if (r.in.ncounter != r.file.ncounter || r.in.nsite != r.file.nsite)
		return err_set(err, ERR_INPUT,
			       "these counts were made by another version of this "
			       "program");
	if (blockmap_read(r.file.map, &r.map, err) < 0)
		return -1;
	read_slots(&r);
	struct arena *scratch = arena_new();
	for (uint32_t i = 0; i < r.in.prog->norder; i++) {
		read_fn(&r, r.in.prog->order[i], scratch);
		arena_reset(scratch);
	}
	arena_free(scratch);
	report_targets(&r);
	write_profile(&r, profile);
	blockmap_free(&r.map);
	return 0;
}
