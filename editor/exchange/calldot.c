/* calldot.c - functions and their calls as a graph for Graphviz
 *
 * Tested by tests/e2e/export.sh.
 */
#include "editor/exchange/calldot.h"

#include <stdlib.h>
#include <string.h>

#include "editor/exchange/callcounts.h"
#include "editor/exchange/symbols.h"
#include "lib/utf8.h"

struct node {
	uint32_t fn;
	double work;
};

struct writer {
	const struct prog *prog;
	const struct symbols *symbols;
	struct wr *out;
	struct node *node;	/* [nnode] most first */
	uint32_t nnode;
	double total;
	bool *there;		/* [nfn] has a node */
};

static void put(struct writer *w, const char *text)
{
	wr_text(w->out, text);
}

/* In a quoted string of Graphviz; HTML entities would be read there. */
static void put_name(struct writer *w, const char *name)
{
	char *shown = utf8_escaped(name);

	for (const char *s = shown; *s; s++) {
		if (*s == '"' || *s == '\\')
			wr_u8(w->out, '\\');
		if (*s == '&')
			put(w, "&amp;");
		else
			wr_u8(w->out, (uint8_t)*s);
	}
	free(shown);
}

static int by_work(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	if (x->work != y->work)
		return x->work < y->work ? 1 : -1;
	return x->fn < y->fn ? -1 : x->fn > y->fn;
}

static void choose_nodes(struct writer *w)
{
	const struct prog *prog = w->prog;

	w->node = arena_array(prog->arena, prog->nfn, sizeof(*w->node));
	w->there = arena_array(prog->arena, prog->nfn, sizeof(*w->there));
	for (uint32_t f = 0; f < prog->nfn; f++) {
		double work = prog->fn[f].samples;

		w->total += work;
		if (work > 0)
			w->node[w->nnode++] = (struct node){ f, work };
	}
	if (w->nnode)
		qsort(w->node, w->nnode, sizeof(*w->node), by_work);
	for (uint32_t i = 0; i < w->nnode && i < CALLDOT_MOST; i++)
		w->there[w->node[i].fn] = true;
}

static void put_node(struct writer *w, const struct node *n)
{
	const struct fn *fn = &w->prog->fn[n->fn];
	const char *name = symbols_at(w->symbols, fn->entry);
	double share = n->work / w->total;

	put(w, arena_printf(w->prog->arena, "\tn%u [label=\"", n->fn));
	put_name(w, name ? name : fn->name ? fn->name :
		    arena_printf(w->prog->arena, "fn_%llx", (unsigned long long)fn->entry));
	put(w, arena_printf(w->prog->arena, "\\n%.2f %%\", fontsize=%.0f, "
			    "fillcolor=\"0.05 %.3f 1.0\"];\n", 100 * share,
			    10 + 20 * share, share));
}

static void put_edge(struct writer *w, uint32_t caller, uint32_t callee, double count)
{
	if (w->there[caller] && w->there[callee] && count > 0)
		put(w, arena_printf(w->prog->arena, "\tn%u -> n%u [label=\"%.6g\"];\n", caller,
				    callee, count));
}

/* Calls ascend by their callers; those of one pair become one edge. */
static void put_edges(struct writer *w)
{
	const struct prog *prog = w->prog;
	double *sum = arena_array(prog->arena, prog->nfn, sizeof(*sum));
	struct callcounts calls;

	callcounts_find(prog, &calls);
	for (uint32_t i = 0, last; i < calls.n; i = last) {
		uint32_t caller = calls.at[i].caller;

		for (last = i; last < calls.n && calls.at[last].caller == caller; last++)
			sum[calls.at[last].callee] += calls.at[last].count;
		for (uint32_t k = i; k < last; k++) {
			put_edge(w, caller, calls.at[k].callee, sum[calls.at[k].callee]);
			sum[calls.at[k].callee] = 0;
		}
	}
}

void calldot_write(const struct prog *prog, const struct symbols *symbols, struct wr *out)
{
	struct writer w = { .prog = prog, .symbols = symbols, .out = out };

	choose_nodes(&w);
	put(&w, "digraph calls {\n"
		"\tnode [shape=box, style=filled, fontname=\"sans-serif\"];\n");
	if (w.nnode > CALLDOT_MOST)
		put(&w, arena_printf(prog->arena, "\tlabel=\"%u functions with less are left "
				     "out\";\n", w.nnode - CALLDOT_MOST));
	for (uint32_t i = 0; i < w.nnode && i < CALLDOT_MOST; i++)
		put_node(&w, &w.node[i]);
	put_edges(&w);
	put(&w, "}\n");
}
