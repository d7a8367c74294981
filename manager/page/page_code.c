/* page_code.c - the annotated code of a function on a page
 *
 * A row for each block, and for each of its instructions; blocks that were not seen to run are
 * told in one row, as are those of a very large function that run least.  Figures are those of
 * `morphctl annotate --log`.
 *
 * Tested by tests/e2e/page.sh.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/memory.h"
#include "lib/table.h"
#include "manager/page/html.h"
#include "manager/page/page_parts.h"

enum { COLUMNS = 9, LEVELS = 4, INSNS_MAX = 1000 };

struct writer {
	struct wr *w;
	uint32_t module;
	const struct pagemodule_fn *fn;
	double least;			/* executions of a block that is told */
	uint32_t left_out;		/* blocks since the last one that was told */
	uint64_t left_bytes;
};

static int by_executions(const void *a, const void *b)
{
	const struct pagemodule_block *const *x = a, *const *y = b;

	if ((*x)->executions != (*y)->executions)
		return (*x)->executions < (*y)->executions ? 1 : -1;
	return (*x)->addr < (*y)->addr ? -1 : (*x)->addr > (*y)->addr;
}

/* So that no more than INSNS_MAX instructions are told. */
static double least_told(const struct pagemodule_fn *fn)
{
	const struct pagemodule_block **b = memory_new((size_t)fn->block.n + 1, sizeof(*b));
	double least = PAGE_LEAST;
	uint64_t n = 0;

	for (uint32_t i = 0; i < fn->block.n; i++)
		b[i] = &fn->block.v[i];
	qsort(b, fn->block.n, sizeof(*b), by_executions);
	for (uint32_t i = 0; i < fn->block.n && b[i]->executions >= least; i++) {
		n += b[i]->ninsn;
		if (n > INSNS_MAX)
			least = b[i]->executions * (1 + 1e-9) + 1e-9;
	}
	free(b);
	return least;
}

static bool is_told(const struct writer *x, const struct pagemodule_block *b)
{
	return b->executions >= x->least || (b->samples > 0 && x->least <= PAGE_LEAST);
}

/* How much of the function's samples that is, as a class. */
static unsigned level(const struct pagemodule_fn *fn, double samples)
{
	static const double least[LEVELS] = { 0.01, 0.04, 0.1, 0.2 };
	unsigned n = 0;

	while (n < LEVELS && fn->samples > 0 && samples >= least[n] * fn->samples)
		n++;
	return n;
}

/* As it is read, and where that is not all of it as --json gives it. */
static void put_figure(struct wr *w, double v)
{
	char shown[32], all[40];

	(void)snprintf(shown, sizeof(shown), "%.4g", v);	/* both fit */
	(void)snprintf(all, sizeof(all), "%.3f", v);
	if (strtod(shown, NULL) == strtod(all, NULL))
		html_put(w, "<td>%s</td>", shown);
	else
		html_put(w, "<td data-v=\"%s\">%s</td>", all, shown);
}

static void put_figures(struct writer *x, double samples, double executions, double cycles,
			double best)
{
	if (samples > 0)
		html_put(x->w, "<td class=\"s%u\">%.6g</td>", level(x->fn, samples), samples);
	else
		html_put(x->w, "<td></td>");
	put_figure(x->w, executions);
	put_figure(x->w, cycles);
	put_figure(x->w, best);
}

static void put_left_out(struct writer *x)
{
	if (x->left_out)
		html_put(x->w, "<tr class=\"gap\"><td colspan=\"%d\">%u %s, %llu bytes, %s"
			 "</td></tr>\n", COLUMNS, x->left_out,
			 x->left_out == 1 ? "block" : "blocks",
			 (unsigned long long)x->left_bytes,
			 x->least <= PAGE_LEAST ? "not seen to run" : "seldom or never run");
	x->left_out = 0;
	x->left_bytes = 0;
}

static void put_culprit(struct writer *x, const struct pagemodule_insn *i)
{
	unsigned long long addr = i->culprit;

	if (!addr)
		html_put(x->w, "<td></td>");
	else if (i->culprit == i->addr)
		html_put(x->w, "<td data-culprit=\"0x%llx\">itself</td>", addr);
	else
		html_put(x->w, "<td data-culprit=\"0x%llx\"><a href=\"#" PAGE_ID_INSN "\">"
			 "0x%llx</a></td>", addr, x->module, addr, addr);
}

static void put_insn(struct writer *x, const struct pagemodule_insn *i)
{
	unsigned long long addr = i->addr;

	html_put(x->w, "<tr id=\"" PAGE_ID_INSN "\"><td>0x%llx</td>", x->module, addr, addr);
	put_figures(x, i->samples, i->executions, i->cycles, i->best);
	html_put(x->w, "<td class=\"code\">%s</td>", i->text);
	put_culprit(x, i);
	html_put(x->w, "<td>%s</td><td>%s</td></tr>\n", i->why, i->source);
}

static void put_block(struct writer *x, const struct pagemodule_block *b)
{
	const char *confidence = pagemodule_confidence_name[b->confidence];
	unsigned long long addr = b->addr;

	put_left_out(x);
	html_put(x->w, "<tr class=\"block\" data-block=\"0x%llx\" data-confidence=\"%s\">"
		 "<th scope=\"row\">0x%llx</th>", addr, confidence, addr);
	put_figures(x, b->samples, b->executions, b->cycles, b->best);
	html_put(x->w, "<td colspan=\"4\">block of %u bytes, %u instructions; confidence "
		 "%s</td></tr>\n", b->size, b->ninsn, confidence);
	for (uint32_t i = b->insn; i < x->fn->insn.n && i - b->insn < b->ninsn; i++)
		put_insn(x, &x->fn->insn.v[i]);
}

void page_code(struct wr *w, uint32_t module, const struct pagemodule_fn *fn)
{
	static const char *const head[COLUMNS] = {
		"address", "samples", "executions", "cycles", "best_cycles", "instruction",
		"culprit", "why", "source",
	};
	struct writer x = { .w = w, .module = module, .fn = fn, .least = least_told(fn) };

	html_put(w, "<table class=\"annotated\"><thead><tr>");
	for (int i = 0; i < COLUMNS; i++)
		html_put(w, "<th scope=\"col\">%s</th>", head[i]);
	html_put(w, "</tr></thead><tbody>\n");
	for (uint32_t i = 0; i < fn->block.n; i++) {
		const struct pagemodule_block *b = &fn->block.v[i];

		if (is_told(&x, b)) {
			put_block(&x, b);
		} else {
			x.left_out++;
			x.left_bytes += b->size;
		}
	}
	put_left_out(&x);
	html_put(w, "</tbody></table>\n");
}

struct table *page_code_causes(const struct pagemodule_fn *fn)
{
	static const struct table_column col[] = {
		{ "cause", TABLE_TEXT }, { "at_least_pct", TABLE_REAL },
		{ "at_most_pct", TABLE_REAL },
	};
	struct table *t = table_new("causes", 3, col);

	for (uint32_t i = 0; i < fn->cause.n; i++)
		table_row(t, fn->cause.v[i].name, fn->cause.v[i].low, fn->cause.v[i].high);
	return t;
}
