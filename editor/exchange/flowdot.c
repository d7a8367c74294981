/* flowdot.c - the flow graph of a function, as text and for Graphviz
 *
 * Tested by tests/e2e/cfg.sh.
 */
#include "editor/exchange/flowdot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"

struct writer {
	const struct prog *prog;
	const struct fn *fn;
	const vaddr *at;	/* [fn->nblock], or NULL */
	struct wr *out;
	double *runs;		/* [fn->ntable] */
	uint32_t *order;	/* [fn->nblock] ids by address: fragments may lie in front */
	double most;		/* executions of its hottest block */
};

static void put(struct writer *w, const char *text)
{
	wr_text(w->out, text);
}

static bool is_placed(const struct writer *w, uint32_t id)
{
	return w->at && w->at[id];
}

/* What is left out of a generation, because it cannot run there, stays in front. */
static int by_address(const void *a, const void *b, void *ctx)
{
	const struct writer *w = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	bool placed = is_placed(w, i), other = is_placed(w, k);
	vaddr x = placed ? w->at[i] : w->fn->block[i].addr;
	vaddr y = other ? w->at[k] : w->fn->block[k].addr;

	if (placed != other)
		return placed ? 1 : -1;
	return x < y ? -1 : x > y;
}

static int begin(struct writer *w, const struct prog *prog, vaddr entry,
		 const vaddr *at, struct wr *out, struct err *err)
{
	uint32_t f = prog_find_fn(prog, entry);

	if (f == NO_FN || prog->fn[f].entry != entry)
		return err_set(err, ERR_INPUT, "no function begins at 0x%" PRIx64, entry);
	*w = (struct writer){ .prog = prog, .fn = &prog->fn[f], .at = at,
			      .out = out };
	if (!w->fn->kept || !w->fn->nblock)
		return err_set(err, ERR_REFUSED, "the function at 0x%" PRIx64
			       " is not divided into blocks: %s", entry,
			       skip_text[w->fn->skip]);
	w->runs = arena_array(prog->arena, w->fn->ntable, sizeof(*w->runs));
	fn_table_runs(w->fn, w->runs);
	w->order = arena_array(prog->arena, w->fn->nblock, sizeof(*w->order));
	for (uint32_t i = 0; i < w->fn->nblock; i++) {
		w->order[i] = i;
		if (w->fn->block[i].count > w->most)
			w->most = w->fn->block[i].count;
	}
	qsort_r(w->order, w->fn->nblock, sizeof(*w->order), by_address, w);
	return 0;
}

/* Calls f for each edge of the block, the entries of a table that lead to one block as one. */
static void each_edge(struct writer *w, uint32_t id,
		      void (*f)(struct writer *w, uint32_t from, uint32_t to, const char *kind,
				double count))
{
	const struct block *b = &w->fn->block[id];
	double share = fn_table_share(w->fn, w->runs, id);

	if (b->fall != NO_BLOCK && b->fall == b->taken) {
		f(w, id, b->fall, "either", b->fall_count + b->taken_count);
	} else {
		if (b->fall != NO_BLOCK)
			f(w, id, b->fall, "fall", b->fall_count);
		if (b->taken != NO_BLOCK)
			f(w, id, b->taken, "taken", b->taken_count);
	}
	for (uint32_t k = 0; b->table != NO_TABLE && k < w->fn->table[b->table].nentry; k++) {
		const struct jump_table *t = &w->fn->table[b->table];
		bool told = t->succ[k] == NO_BLOCK;

		for (uint32_t i = 0; i < k && !told; i++)
			told = t->succ[i] == t->succ[k];
		/* the count of equal ones stands at the first */
		if (!told)
			f(w, id, t->succ[k], "case", t->count ? share * t->count[k] : 0);
	}
}

static void text_edge(struct writer *w, uint32_t from, uint32_t to, const char *kind,
		      double count)
{
	double of = w->fn->block[from].count;

	put(w, arena_printf(w->prog->arena, "\t-> 0x%" PRIx64 " %s %.3f",
			    w->fn->block[to].addr, kind, count));
	put(w, of > 0 ? arena_printf(w->prog->arena, " (%.1f %%)\n", 100 * count / of) : "\n");
}

/* Where its image is, behind `before`; "": it has none. */
static const char *place(const struct writer *w, uint32_t id, const char *before)
{
	return is_placed(w, id) ? arena_printf(w->prog->arena, "%s0x%" PRIx64, before,
					       w->at[id])
				: "";
}

int flowdot_text(const struct prog *prog, vaddr entry, const vaddr *at, struct wr *out,
		 struct err *err)
{
	struct writer w;

	if (begin(&w, prog, entry, at, out, err) < 0)
		return -1;
	for (uint32_t i = 0; i < w.fn->nblock; i++) {
		const struct block *b = &w.fn->block[w.order[i]];

		if (b->padding)
			continue;
		put(&w, arena_printf(prog->arena,
				     "0x%" PRIx64 " %u bytes, %u instructions, "
				     "%.3f executions, confidence %s%s\n", b->addr,
				     b->size, b->ninsn, b->count,
				     confidence_name[b->confidence],
				     place(&w, w.order[i], ", placed at ")));
		each_edge(&w, w.order[i], text_edge);
	}
	return 0;
}

static void edge_line(struct writer *w, uint32_t from, uint32_t to, const char *kind,
		      double count)
{
	put(w, arena_printf(w->prog->arena,
			    "edge\t0x%" PRIx64 "\t0x%" PRIx64 "\t%s\t%.3f\n",
			    w->fn->block[from].addr, w->fn->block[to].addr, kind, count));
}

int flowdot_edges(const struct prog *prog, vaddr entry, struct wr *out, struct err *err)
{
	struct writer w;

	if (begin(&w, prog, entry, NULL, out, err) < 0)
		return -1;
	for (uint32_t i = 0; i < w.fn->nblock; i++)
		if (!w.fn->block[w.order[i]].padding)
			each_edge(&w, w.order[i], edge_line);
	return 0;
}

static void dot_edge(struct writer *w, uint32_t from, uint32_t to, const char *kind,
		     double count)
{
	double share = w->most > 0 ? count / w->most : 0;

	put(w, arena_printf(w->prog->arena,
			    "\tb%u -> b%u [label=\"%.6g\", penwidth=%.2f, style=%s];\n", from,
			    to, count, 0.5 + 4 * share,
			    strcmp(kind, "fall") == 0 ? "bold" : "solid"));
}

int flowdot_dot(const struct prog *prog, vaddr entry, const vaddr *at, struct wr *out,
		struct err *err)
{
	struct writer w;

	if (begin(&w, prog, entry, at, out, err) < 0)
		return -1;
	put(&w, "digraph flow {\n\tnode [shape=box, style=filled, fontname=\"monospace\"];\n");
	for (uint32_t i = 0; i < w.fn->nblock; i++) {
		uint32_t id = w.order[i];
		const struct block *b = &w.fn->block[id];

		if (b->padding)
			continue;
		put(&w, arena_printf(prog->arena,
				     "\tb%u [label=\"0x%" PRIx64 "%s\\n%u instructions"
				     "\\n%.6g\\n%s\", fillcolor=\"0.05 %.3f 1.0\"];\n", id,
				     b->addr, place(&w, id, "\\nplaced at "), b->ninsn,
				     b->count, confidence_name[b->confidence],
				     w.most > 0 ? b->count / w.most : 0));
	}
	for (uint32_t i = 0; i < w.fn->nblock; i++)
		if (!w.fn->block[i].padding)
			each_edge(&w, i, dot_edge);
	put(&w, "}\n");
	return 0;
}
