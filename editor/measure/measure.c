/* measure.c - computes the figures of a layout under a profile
 *
 * An edge whose target begins where the image of its source ends falls through; every other
 * edge takes a branch.  The instructions that a block executes are decoded from its image:
 * among them NOPs, and a jmp at the end, which after a conditional branch runs for one of the
 * two edges only.
 *
 * Direct calls are those that the image has, so a call that was made direct counts as one.  A
 * call of the original entry of a function that was moved costs the jump there.  So does every
 * call through a pointer, unless the pointers to the function lead to the image.
 *
 * Tested by tests/unit/editor/measure/test_measure.c.
 */
#include "editor/measure/linefigures.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "editor/graph/exttsp.h"
#include "lib/table.h"

enum { HALF = 32, LINE = 64, PAGE = 4096 };

static const uint64_t reach_bytes[NREACH] = { 4 << 10, 64 << 10, 1 << 20, UINT64_MAX };

struct entry {			/* where a function can be entered in a layout */
	vaddr addr;
	uint32_t fn;
	bool jumps;		/* it is the original entry, and leads to the image by a jump */
};

struct extent {
	vaddr start, end;
};

struct work {
	const struct prog *prog;
	const struct placement *pl;
	struct arena *a;
	struct measure *m;
	struct entry *entry;	/* [nentry] ascending by addr */
	uint32_t nentry;
	double *arrived;	/* [nfn] direct calls */
	bool *pointed;		/* [nfn] instructions form the address of its image */
	VEC(struct extent) hot;
	double weight;		/* of all edges */
};

struct image_end {		/* what the image of one block executes */
	uint32_t insns, nops;	/* without the jmp and what is behind the conditional branch */
	uint32_t nops_behind;
	/* targets of a conditional branch, and of a jmp behind it; 0: none */
	vaddr branch, jmp;
	uint32_t across;	/* jumps, calls and returns across lines, but for the jmp */
	bool jmp_across;
};

static bool is_conditional(uint8_t kind)
{
	return kind == INSN_JCC || kind == INSN_LOOP || kind == INSN_XBEGIN;
}

static int entry_cmp(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->fn < b->fn ? -1 : a->fn > b->fn;
}

static void find_entries(struct work *w)
{
	w->entry = arena_array(w->a, 2 * (size_t)w->prog->nfn, sizeof(*w->entry));
	for (uint32_t f = 0; f < w->prog->nfn; f++) {
		const struct fn *fn = &w->prog->fn[f];
		const struct placed *at = w->pl->block[f];

		w->entry[w->nentry++] = (struct entry){ fn->entry, f, w->pl->jumped[f] };
		if (at && at[0].known && at[0].addr != fn->entry)
			w->entry[w->nentry++] = (struct entry){ at[0].addr, f, false };
	}
	qsort(w->entry, w->nentry, sizeof(*w->entry), entry_cmp);
}

static const struct entry *entry_at(const struct work *w, vaddr addr)
{
	uint32_t lo = 0, hi = w->nentry;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (w->entry[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < w->nentry && w->entry[lo].addr == addr ? &w->entry[lo] : NULL;
}

static void count_call(struct work *w, double count, vaddr from, vaddr to)
{
	const struct entry *e = entry_at(w, to);
	uint64_t distance = to > from ? to - from : from - to;
	int reach = REACH_PAGE;

	if (!e) {
		w->m->calls_out += count;
		return;
	}
	while (distance > reach_bytes[reach])
		reach++;
	w->m->calls[reach] += count;
	w->arrived[e->fn] += count;
	if (e->jumps)
		w->m->entry_jumps += count;
}

static void note_pointer(struct work *w, vaddr to)
{
	const struct entry *e = entry_at(w, to);

	if (e && !e->jumps)
		w->pointed[e->fn] = true;
}

/* The jump at `at`, with the instruction `before` it that it may be fused with, crosses or
 * ends a line. */
static bool is_across(const struct work *w, vaddr before, vaddr at, const struct insn *insn)
{
	bool fused = insn->kind == INSN_JCC && at > before &&
		     insn_fuses(bytes_at(image_rest(&w->pl->img, before), 0, at - before));

	return (fused ? before : at) / HALF != (at + insn->len) / HALF;
}

static struct image_end read_image(struct work *w, const struct placed *p, double count)
{
	struct image_end end = { 0 };
	struct insn insn;
	vaddr target, before = p->addr;

	for (vaddr at = p->addr; at < p->addr + p->size; before = at, at += insn.len) {
		struct bytes code = image_rest(&w->pl->img, at);

		if (!code.p || !insn_decode(code, at, &insn, &target))
			break;
		bool across = insn.kind != INSN_PLAIN && insn.kind != INSN_NOP &&
			      is_across(w, before, at, &insn);

		end.jmp = 0;
		if (insn.kind == INSN_NOP) {
			*(end.branch ? &end.nops_behind : &end.nops) += 1;
			continue;
		}
		if (insn.kind == INSN_JMP) {
			end.jmp = target;
			end.jmp_across = across;
			continue;
		}
		end.insns++;
		end.across += across;
		if (insn_is_lea(&insn, code.p))
			note_pointer(w, target);
		end.branch = is_conditional(insn.kind) ? target : 0;
		if (insn.kind == INSN_CALL)
			count_call(w, count, at, target);
	}
	return end;
}

/* Indirect jumps are never fall-throughs, and taken in every layout. */
static void count_table(struct work *w, const struct placed *at, const struct placed *from,
			const struct jump_table *t, double share)
{
	for (uint32_t i = 0; i < t->nentry; i++) {
		if (t->succ[i] == NO_BLOCK || !at[t->succ[i]].known)
			continue;
		w->weight += share * t->count[i];
		w->m->exttsp += exttsp_score_edge(share * t->count[i], EXTTSP_INDIRECT,
						  from->addr + from->size, at[t->succ[i]].addr);
	}
}

/* A branch out of the function; to the entry of another one it is a call that ends this one. */
static void count_exit(struct work *w, const struct placed *p, const struct image_end *end,
		       double count)
{
	const struct entry *e = end->jmp ? entry_at(w, end->jmp) : NULL;

	if (!e && end->branch)
		e = entry_at(w, end->branch);
	if (p->size)
		w->m->tail_jumps += count;
	if (!e)
		return;
	w->arrived[e->fn] += count;
	if (e->jumps)
		w->m->entry_jumps += count;
}

/* Counts one edge; true when it falls through. */
static bool count_edge(struct work *w, const struct placed *from, const struct placed *to,
		       double count, bool conditional)
{
	vaddr end = from->addr + from->size;

	w->weight += count;
	w->m->exttsp += exttsp_score_edge(count, conditional ? EXTTSP_CONDITIONAL : EXTTSP_ONLY,
					  end, to->addr);
	return end == to->addr;
}

/* A branch to a jmp alone could as well go where that goes. */
static void count_taken(struct work *w, uint32_t f, uint32_t to, double count)
{
	const struct fn *fn = &w->prog->fn[f];
	const struct block *b = &fn->block[to];

	w->m->taken += count;
	if (b->ninsn == 1 && fn->insn[b->insn].kind == INSN_JMP && w->pl->block[f][to].size > 0)
		w->m->to_jumps += count;
}

static void count_block(struct work *w, uint32_t f, uint32_t id, const double *runs)
{
	const struct fn *fn = &w->prog->fn[f];
	const struct block *b = &fn->block[id];
	const struct placed *at = w->pl->block[f], *p = &at[id];
	struct image_end end = read_image(w, p, b->count);
	bool conditional = b->ninsn && is_conditional(fn->insn[b->insn + b->ninsn - 1].kind);
	const uint32_t to[2] = { b->fall, b->taken };
	const double count[2] = { b->fall_count, b->taken_count };
	double share = fn_table_share(fn, runs, id), fell = 0,
	       jumped = end.jmp && !end.branch ? b->count : 0;

	for (int i = 0; i < 2; i++) {
		if (to[i] == NO_BLOCK || (i == 0 && b->noreturn) || !at[to[i]].known)
			continue;
		if (count_edge(w, p, &at[to[i]], count[i], conditional))
			fell += count[i];
		else
			count_taken(w, f, to[i], count[i]);
		if (end.branch && end.jmp && end.jmp == at[to[i]].addr)
			jumped += count[i];
	}
	if (share > 0)
		count_table(w, at, p, &fn->table[b->table], share);
	if (b->taken_out)
		count_exit(w, p, &end, b->taken_count);
	w->m->executions += b->count;
	w->m->told[b->confidence] += b->count;
	w->m->fluff += p->addr >= w->pl->fluff && p->addr < w->pl->fluff_end ? b->count : 0;
	w->m->falls += fell;
	w->m->jumps += jumped;
	w->m->across += b->count * end.across + (end.jmp_across ? jumped : 0);
	w->m->nops += b->count * end.nops + fell * end.nops_behind;
	w->m->instructions +=
		b->count * (end.insns + end.nops) + jumped + fell * end.nops_behind;
	if (p->size) {
		struct extent e = { p->addr, p->addr + p->size };

		vec_push(w->a, &w->hot, e);
	}
}

/* A function is entered through its address as often as no direct call explains. */
static void count_pointers(struct work *w)
{
	for (uint32_t f = 0; f < w->prog->nfn; f++) {
		const struct fn *fn = &w->prog->fn[f];
		double rest = fn->entry_count - w->arrived[f];

		if (w->pl->jumped[f] && !w->pl->pointed[f] && !w->pointed[f] &&
		    fn->nblock && fn->block[0].pinned &&
		    rest > 0)
			w->m->entry_jumps += rest;
	}
}

static int extent_cmp(const void *x, const void *y)
{
	const struct extent *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* Units of `unit` bytes that any extent touches. */
static uint64_t count_units(const struct work *w, uint64_t unit)
{
	uint64_t n = 0, next = 0;	/* first unit not counted yet */

	for (uint32_t i = 0; i < w->hot.n; i++) {
		uint64_t first = w->hot.v[i].start / unit,
			 end = (w->hot.v[i].end - 1) / unit + 1;

		first = first < next ? next : first;
		if (end <= first)
			continue;
		n += end - first;
		next = end;
	}
	return n;
}

void measure_run(const struct prog *prog, const struct placement *placement, uint32_t n,
		 struct measure *out, double *left_out)
{
	double all = 0, known = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct arena *a = arena_new();
		struct work w = { .prog = prog, .pl = &placement[i], .a = a, .m = &out[i] };

		out[i] = (struct measure){ 0 };
		w.arrived = arena_array(a, prog->nfn, sizeof(*w.arrived));
		w.pointed = arena_array(a, prog->nfn, sizeof(*w.pointed));
		find_entries(&w);
		all = 0;
		for (uint32_t f = 0; f < prog->nfn; f++) {
			double *runs = arena_array(a, prog->fn[f].ntable, sizeof(*runs));

			fn_table_runs(&prog->fn[f], runs);
			for (uint32_t id = 0; id < prog->fn[f].nblock; id++) {
				double count = prog->fn[f].block[id].count;

				all += count;
				if (count > 0 && placement_all_know(placement, n, f, id))
					count_block(&w, f, id, runs);
			}
		}
		count_pointers(&w);
		linefigures_count(prog, placement, n, i, &out[i].lines);
		out[i].instructions += out[i].entry_jumps;
		known = out[i].executions;
		out[i].exttsp = w.weight > 0 ? out[i].exttsp / w.weight : 0;
		if (w.hot.n)
			qsort(w.hot.v, w.hot.n, sizeof(*w.hot.v), extent_cmp);
		out[i].hot_bytes = count_units(&w, 1);
		out[i].hot_lines = count_units(&w, LINE);
		out[i].hot_pages = count_units(&w, PAGE);
		out[i].hot_text = placement[i].hot_text;
		arena_free(a);
	}
	for (uint32_t i = 1; i < n; i++)
		if (placement[i].hot_text && !out[0].hot_text)
			out[0].hot_text = placement[i].hot_text_before;
	*left_out = all > 0 ? 1 - known / all : 0;
}

static const struct figure {
	const char *name;
	size_t off;
	bool whole;		/* uint64_t; else double */
} figures[] = {
	{ "blocks executed", offsetof(struct measure, executions), false },
	{ "with high confidence", offsetof(struct measure, told[CONFIDENCE_HIGH]), false },
	{ "with medium confidence", offsetof(struct measure, told[CONFIDENCE_MEDIUM]), false },
	{ "with low confidence", offsetof(struct measure, told[CONFIDENCE_LOW]), false },
	{ "in fluff text", offsetof(struct measure, fluff), false },
	{ "instructions executed", offsetof(struct measure, instructions), false },
	{ "NOPs among them", offsetof(struct measure, nops), false },
	{ "fall-throughs", offsetof(struct measure, falls), false },
	{ "taken branches", offsetof(struct measure, taken), false },
	{ "to a jmp alone", offsetof(struct measure, to_jumps), false },
	{ "jumps across 32-byte lines", offsetof(struct measure, across), false },
	{ "blocks across 64-byte lines", offsetof(struct measure, lines.blocks), false },
	{ "indirect jumps among them", offsetof(struct measure, lines.dispatches), false },
	{ "indirect jumps that end alike", offsetof(struct measure, lines.alike), false },
	{ "fused pairs across 64-byte lines", offsetof(struct measure, lines.pairs), false },
	{ "lines that short loops need", offsetof(struct measure, lines.loops_need), false },
	{ "lines that short loops use", offsetof(struct measure, lines.loops_use), false },
	{ "jmps among them", offsetof(struct measure, jumps), false },
	{ "jumps to other functions", offsetof(struct measure, tail_jumps), false },
	{ "entry jumps", offsetof(struct measure, entry_jumps), false },
	{ "Ext-TSP score of an edge", offsetof(struct measure, exttsp), false },
	{ "calls up to 4 KiB away", offsetof(struct measure, calls[REACH_PAGE]), false },
	{ "calls up to 64 KiB away", offsetof(struct measure, calls[REACH_NEAR]), false },
	{ "calls up to 1 MiB away", offsetof(struct measure, calls[REACH_FAR]), false },
	{ "calls farther away", offsetof(struct measure, calls[REACH_BEYOND]), false },
	{ "calls out of what is known", offsetof(struct measure, calls_out), false },
	{ "hot text bytes", offsetof(struct measure, hot_text), true },
	{ "hot bytes", offsetof(struct measure, hot_bytes), true },
	{ "hot 64-byte lines", offsetof(struct measure, hot_lines), true },
	{ "hot 4-KiB pages", offsetof(struct measure, hot_pages), true },
};

enum { MAX_LAYOUTS = 3 };

static double figure_value(const struct measure *m, const struct figure *f)
{
	const char *at = (const char *)m + f->off;
	uint64_t whole;
	double real;

	if (f->whole) {
		memcpy(&whole, at, sizeof(whole));
		return (double)whole;
	}
	memcpy(&real, at, sizeof(real));
	return real;
}

static void add_row(struct table *t, const char *name, const double *value, uint32_t n)
{
	char text[MAX_LAYOUTS][32];
	const char *cell[MAX_LAYOUTS + 1] = { name };

	for (uint32_t i = 0; i < n; i++) {
		(void)snprintf(text[i], sizeof(text[i]), "%.6f", value[i]);
		cell[i + 1] = text[i];
	}
	table_row_text(t, cell);
}

struct table *measure_table(const struct measure *m, const char *const *name, uint32_t n,
			    double left_out)
{
	struct table_column col[MAX_LAYOUTS + 1] = { { "figure", TABLE_TEXT } };
	double value[MAX_LAYOUTS];

	assert(n <= MAX_LAYOUTS);
	for (uint32_t i = 0; i < n; i++)
		col[i + 1] = (struct table_column){ name[i], TABLE_FIGURE };
	struct table *t = table_new("layout", (int)n + 1, col);
	for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]); f++) {
		for (uint32_t i = 0; i < n; i++)
			value[i] = figure_value(&m[i], &figures[f]);
		add_row(t, figures[f].name, value, n);
	}
	for (uint32_t i = 0; i < n; i++)
		value[i] = left_out;
	add_row(t, "share of blocks left out", value, n);
	return t;
}
