/* instrument.c - chooses the edges that an instrumented generation counts, and makes it
 *
 * COUNTERS   The functions that are instrumented are all that can be moved, or those that
 *            uncertain.h chooses by a profile.  They stand in new text in their original order.
 *            In the graph of each (countgraph.h) the edges outside a maximum spanning tree
 *            (spanningtree.h) get counters; the counts of the others follow from these.
 *            Counters are numbered function by function, edge by edge.  counted.c finds the
 *            same numbers from the original and the heat in the file of counts.
 *
 * HEAT       With a profile the file of counts holds, for each function that can be moved,
 *            whether it is instrumented, and if so how often its blocks and branches run.
 *
 * TARGETS    Indirect calls and jumps record their targets, except those through slots that the
 *            loader fills, and jumps through a jump table that no other jump uses: the edges
 *            from such a table are counted.
 *
 * POINTERS   Pointers to functions keep the original address, so recorded targets are original
 *            addresses.  Computed jumps inside a function must not go on in the original text,
 *            where nothing counts: they are redirected where all labels are known; elsewhere
 *            the counter runtime finds the image of the target.
 *
 * PRIVATE    Private counters have one form of edge counter, which the Verifier knows, where
 *            flags are dead by flagscan.h.  Not instrumented are functions in which an edge
 *            would have to be counted where flags live, or which computed jumps may leave for
 *            the original text.
 *
 * Tested by tests/programs/instrument.sh: what programs count is what callgrind counts; and by
 * tests/programs/counting.sh: so is what they count privately.
 */
#include "editor/instrument/instrument.h"

#include <assert.h>
#include <stdlib.h>

#include "editor/instrument/countgraph.h"
#include "editor/instrument/flaglive.h"
#include "editor/instrument/flagscan.h"
#include "editor/passes/redirect.h"
#include "editor/emit/counterruntime.h"
#include "editor/emit/generation.h"
#include "editor/infer/attach.h"
#include "editor/infer/infer.h"
#include "editor/instrument/uncertain.h"
#include "lib/countsfile.h"
#include "lib/err.h"
#include "postmorph/analyze.h"
#include "postmorph/ir/plt.h"

/* Slots of the hash table of targets, 32 bytes each: 128 KiB to 32 MiB; chosen, not measured.
 * Targets that found no slot are counted. */
enum { MIN_SLOTS = 4096, MAX_SLOTS = 1 << 20, SLOTS_PER_SITE = 16 };
enum { RSP = 7 };			/* in DWARF's numbers */

bool instrument_has_counter(const struct countgraph *g, uint32_t edge)
{
	const struct countedge *e = &g->edge[edge];

	return g->flow.edge[edge].counted && !(e->kind == COUNTEDGE_TABLE && e->shared);
}

/* The functions get the numbers of their counters and sites. */
struct numbering {
	struct instrument *in;
	struct plt plt;
	struct arena *a;
	VEC(struct instrument_site) site;
	struct edgecounters *counters;		/* NULL: only the numbers are wanted */
	VEC(struct edgecounter) counter;	/* of the function at hand */
};

static bool records_target(const struct numbering *n, const struct block *b,
			   const struct insn *insn, const uint32_t *user)
{
	if (insn->kind != INSN_ICALL && insn->kind != INSN_IJMP)
		return false;
	if (insn->kind == INSN_IJMP && b->table != NO_TABLE)
		return user[b->table] == NO_BLOCK;
	const struct prog *prog = n->in->prog;
	return !insn->field || !plt_name(&n->plt, insn_target(insn, prog_insn_bytes(prog, insn),
							      prog_insn_addr(prog, insn)));
}

/* A computed jump that may stay inside its function, where some labels keep their original
 * address. */
static bool may_stay(const struct fn *fn, uint32_t insn)
{
	for (uint32_t i = 0; i < fn->njump; i++)
		if (fn->jump[i].insn == insn)
			return fn->unproven > 0 && (!fn->threaded || fn->labels_stay) &&
			       ijump_is_unproven(fn->jump[i].kind);
	return false;
}

void instrument_graph(const struct instrument *in, uint32_t f, struct arena *a,
		      struct countgraph *out)
{
	struct countgraph_by by = { .scan = in->scan, .heat = instrument_heat(in, f),
				    .flags = in->flags ? flaglive_before(in->flags, f) : NULL };

	countgraph_make(in->prog, &in->prog->fn[f], &by, a, out);
}

/* Private counters can count in the function. */
static bool is_fit(const struct instrument *in, uint32_t f, const struct countgraph *g)
{
	const struct fn *fn = &in->prog->fn[f];

	for (uint32_t i = 0; i < fn->njump; i++)
		if (may_stay(fn, fn->jump[i].insn))
			return false;
	for (uint32_t i = 0; i < g->flow.nedge; i++)
		if (instrument_has_counter(g, i) && g->edge[i].saved)
			return false;
	return true;
}

static struct edgecounter counter_on(const struct countedge *e, uint32_t number)
{
	static const uint8_t at[] = {
		[COUNTEDGE_PIECE] = EDGECOUNTER_BEFORE, [COUNTEDGE_FALL] = EDGECOUNTER_FALL,
		[COUNTEDGE_TAKEN] = EDGECOUNTER_TAKEN, [COUNTEDGE_TABLE] = EDGECOUNTER_ENTRY,
	};
	bool placed = e->kind == COUNTEDGE_PIECE || e->kind == COUNTEDGE_TABLE;

	return (struct edgecounter){ .block = e->block, .at = at[e->kind], .saved = e->saved,
				     .where = placed ? e->where : 0, .number = number };
}

static int by_place(const void *x, const void *y)
{
	const struct edgecounter *a = x, *b = y;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->where < b->where ? -1 : a->where > b->where;
}

/* Where each block's counters begin. */
static uint32_t *find_firsts(const struct edgecounter_fn *c, uint32_t nblock, struct arena *a)
{
	uint32_t *first = arena_array(a, (size_t)nblock + 1, sizeof(*first));

	for (uint32_t i = 0; i < c->n; i++)
		first[c->v[i].block + 1]++;
	for (uint32_t k = 0; k < nblock; k++)
		first[k + 1] += first[k];
	return first;
}

/* Those of function `f`, whose first numbers are `counter` and `site`. */
static void add_counters(struct numbering *n, uint32_t f, const struct countgraph *g,
			 uint32_t counter, uint32_t site)
{
	const struct fn *fn = &n->in->prog->fn[f];
	struct edgecounter_fn *out = &n->counters->fn[f];

	n->counter.n = 0;
	for (uint32_t i = 0; i < g->flow.nedge; i++) {
		if (!instrument_has_counter(g, i))
			continue;
		vec_push(n->a, &n->counter, counter_on(&g->edge[i], counter++));
		n->counters->nentry += g->edge[i].kind == COUNTEDGE_TABLE;
	}
	for (; site < n->site.n; site++) {
		const struct instrument_site *s = &n->site.v[site];

		vec_push(n->a, &n->counter, ((struct edgecounter){
			.block = s->block, .at = EDGECOUNTER_TARGET, .saved = true,
			.where = s->insn, .number = site, .jumps = s->jumps }));
		out->jumps |= s->jumps;
	}
	qsort(n->counter.v, n->counter.n, sizeof(*n->counter.v), by_place);
	out->v = arena_dup(n->a, n->counter.v, n->counter.n * sizeof(*n->counter.v));
	out->n = n->counter.n;
	out->first = find_firsts(out, fn->nblock, n->a);
	out->table_user = arena_dup(n->a, g->table_user, fn->ntable * sizeof(*g->table_user));
}

static void number_fn(struct numbering *n, uint32_t f, struct arena *scratch)
{
	struct instrument *in = n->in;
	struct fn *fn = &in->prog->fn[f];
	uint32_t counter = in->ncounter, site = n->site.n;
	struct countgraph g;

	instrument_graph(in, f, scratch, &g);
	if (!in->flags && !is_fit(in, f, &g)) {
		fn->moved = fn->threaded = false;	/* its labels stay, too */
		return;
	}
	for (uint32_t i = 0; i < g.flow.nedge; i++)
		in->ncounter += instrument_has_counter(&g, i);
	for (uint32_t k = 0; k < fn->nblock && in->flags; k++) {
		const struct block *b = &fn->block[k];

		for (uint32_t i = 0; i < b->ninsn && !b->padding; i++)
			if (records_target(n, b, &fn->insn[b->insn + i], g.table_user))
				vec_push(n->a, &n->site,
					 ((struct instrument_site){
						f, k, i, may_stay(fn, b->insn + i) }));
	}
	if (n->counters)
		add_counters(n, f, &g, counter, site);
}

/* Appends the heat: the frequencies that are inferred from the profile, for functions that are
 * chosen. */
static int make_heat(struct prog *prog, const struct instrument_choice *by, struct wr *heat,
		     double *open, struct err *err)
{
	for (uint32_t i = 0; i < prog->nfn; i++)
		prog->fn[i].moved = prog->fn[i].skip == SKIP_NONE;
	if (profile_attach(prog, by->profile, err) < 0)
		return -1;
	if (by->uncertain > 0 && prog->exact)
		return err_set(err, ERR_INPUT, "nothing is uncertain: the profile is complete");
	if (infer_counts(prog, err) < 0)
		return -1;
	*open = prog->exact ? 0 : uncertain_open(prog);
	const bool *chosen = by->uncertain > 0 ?
		uncertain_select(prog, by->uncertain, prog->arena) : NULL;
	for (uint32_t i = 0; i < prog->nfn; i++) {
		const struct fn *fn = &prog->fn[i];

		if (fn->skip != SKIP_NONE)
			continue;
		wr_u8(heat, !chosen || chosen[i]);
		for (uint32_t k = 0; k < fn->nblock && (!chosen || chosen[i]); k++) {
			wr_u8(heat, countgraph_heat(fn->block[k].count));
			wr_u8(heat, countgraph_heat(fn->block[k].taken_count));
		}
	}
	return 0;
}

/* Marks the functions that are instrumented, and notes where the heat of each begins. */
static int take_heat(struct instrument *in, struct bytes heat, struct err *err)
{
	struct prog *prog = in->prog;
	struct rd r = rd_of(heat);

	in->heat = heat;
	in->heat_at = arena_array(prog->arena, prog->nfn, sizeof(*in->heat_at));
	for (uint32_t i = 0; i < prog->nfn; i++) {
		struct fn *fn = &prog->fn[i];

		fn->moved = fn->skip == SKIP_NONE && (!heat.n || rd_u8(&r));
		in->heat_at[i] = (uint32_t)(heat.n - rd_left(&r));
		if (fn->moved && heat.n)
			(void)rd_skip(&r, COUNTGRAPH_HEAT * (uint64_t)fn->nblock);
	}
	if (heat.n && (r.bad || rd_left(&r)))
		return err_set(err, ERR_INPUT,
			       "these counts were made by another version of this "
			       "program");
	return 0;
}

const uint8_t *instrument_heat(const struct instrument *in, uint32_t f)
{
	return in->heat.n ? in->heat.p + in->heat_at[f] : NULL;
}

static void list_moved(struct prog *prog)
{
	prog->norder = 0;
	for (uint32_t i = 0; i < prog->nfn; i++)
		if (prog->fn[i].moved)
			prog->order[prog->norder++] = i;
}

int instrument_prepare(struct bytes original, const struct instrument_choice *by,
		       struct arena *a, struct instrument *out, struct err *err)
{
	struct prog *prog = arena_alloc(a, sizeof(*prog));
	struct numbering n = { .in = out, .a = a, .counters = by->counters };
	struct bytes heat = by->heat;

	if (prog_analyze(original, a, prog, err) < 0 ||
	    plt_read(&prog->img, a, &n.plt, err) < 0)
		return -1;
	*out = (struct instrument){ .prog = prog, .open = 1 };
	if (by->profile) {
		struct wr made = { 0 };
		int rc = make_heat(prog, by, &made, &out->open, err);

		heat = (struct bytes){ arena_dup(a, made.p, made.n), made.n };
		wr_free(&made);
		if (rc < 0)
			return -1;
	}
	if (take_heat(out, heat, err) < 0)
		return -1;
	prog->order = arena_array(a, prog->nfn, sizeof(*prog->order));
	list_moved(prog);
	if (prog->norder == 0)
		return err_set(err, ERR_REFUSED,
			       by->uncertain > 0 ? "no function of which the profile tells "
						   "anything uncertain can be moved"
						 : "no function of it can be moved");
	redirect_select(prog);
	for (uint32_t i = 0; i < prog->nfn; i++)
		prog->fn[i].redirected = false;
	if (by->is_private)
		out->scan = flagscan_new(prog, a);
	else
		out->flags = flaglive_new(prog, a);
	out->ncounter = COUNTSFILE_FIRST;
	if (by->counters)
		by->counters->fn = arena_array(a, prog->nfn, sizeof(*by->counters->fn));
	struct arena *scratch = arena_new();
	for (uint32_t i = 0; i < prog->norder; i++) {
		number_fn(&n, prog->order[i], scratch);
		arena_reset(scratch);
	}
	arena_free(scratch);
	list_moved(prog);
	if (prog->norder == 0)
		return err_set(err, ERR_REFUSED, "no function of it can have private counters");
	out->site = n.site.v;
	out->nsite = n.site.n;
	return 0;
}

struct build {
	struct instrument in;
	struct edgecounters counters;
};

/* Appends to prog->cfi all states once more with the stack lower, for edge counters that save
 * flags, and then the states of the counter runtime.  A CFA that is an expression is left as it
 * is: if it uses the stack pointer, it is wrong for the few instructions of such an edge
 * counter, as it would be after a push that the compiler did not record. */
static void add_states(struct build *b)
{
	struct cfi *cfi = &b->in.prog->cfi;
	uint32_t n = cfi->nstate, nrow;
	const struct counterruntime_row *row = counterruntime_rows(&nrow);
	struct cfi_state *all = arena_grow(b->in.prog->arena, cfi->state, n,
					   2 * (size_t)n + nrow, sizeof(*all));

	for (uint32_t i = 0; i < n; i++) {
		all[n + i] = all[i];
		if (!all[i].cfa_is_expr && all[i].cfa_reg == RSP)
			all[n + i].cfa_off += EDGECOUNTER_ROOM;
	}
	for (uint32_t i = 0; i < nrow; i++) {
		struct cfi_state *s = &all[2 * n + i];

		*s = (struct cfi_state){ .cfa_reg = RSP, .cfa_off = 8 + (int64_t)row[i].depth };
		s->reg[CFI_RA] = (struct cfi_rule){ .kind = CFI_OFFSET, .off = -8 };
	}
	b->counters.state_shift = n;
	cfi->state = all;
	cfi->nstate = 2 * n + nrow;
}

static uint32_t slots_for(uint32_t nsite)
{
	uint32_t n = MIN_SLOTS;

	while (n < MAX_SLOTS && n / SLOTS_PER_SITE < nsite)
		n *= 2;
	return n;
}

static void write_counts(const struct build *b, const struct instrument_options *o,
			 const struct counterruntime *r, struct bytes map, struct wr *out)
{
	struct countsfile f = {
		.original = b->in.prog->digest, .base = r->base, .ncounter = b->in.ncounter,
		.nslot = (uint32_t)r->nslot, .nsite = b->in.nsite, .offset = r->offset,
		.size = r->size, .map = map, .heat = b->in.heat, .path = o->original };

	memcpy(f.head, r->head, sizeof(f.head));
	countsfile_write(&f, out);
}

int edit_instrument(struct bytes original, const struct instrument_options *o,
		    struct arena *a, struct wr *generation, struct wr *counts,
		    struct instrument_stats *out, struct err *err)
{
	struct build b = { 0 };
	struct edit_stats stats = { 0 };
	struct wr map = { 0 };
	vaddr hi;

	struct instrument_choice by = { .profile = o->profile, .uncertain = o->uncertain,
					.is_private = o->is_private,
					.counters = &b.counters };

	if (instrument_prepare(original, &by, a, &b.in, err) < 0)
		return -1;
	struct prog *prog = b.in.prog;
	prog->text_at = o->text_at;
	add_states(&b);

	struct counterruntime r = { .nslot = o->is_private ? 0 : slots_for(b.in.nsite),
		.path = o->is_private ? "" : o->counts,
		.slots = countsfile_slots_at(b.in.ncounter), .locked = o->threads,
		.offset = countsfile_offset(o->original) };
	image_span(&prog->img, &r.base, &hi);
	r.span = INT32_MAX;
	r.size = countsfile_size(b.in.ncounter, (uint32_t)r.nslot);
	b.counters.size = r.size;
	b.counters.locked = o->threads;
	b.counters.runtime = &r;
	if (emit_instrumented(prog, &b.counters, generation, &map, &stats, err) < 0)
		return -1;
	write_counts(&b, o, &r, wr_bytes(&map), counts);
	wr_free(&map);
	*out = (struct instrument_stats){ .functions = prog->norder, .open = b.in.open,
					  .counters = b.in.ncounter - COUNTSFILE_FIRST };
	return 0;
}
