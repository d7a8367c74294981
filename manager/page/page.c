/* page.c - one page of a recording, from its tables and what confined jobs say of its modules
 *
 * Tested by tests/e2e/page.sh.
 */
#include "manager/page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/table.h"
#include "lib/utf8.h"
#include "manager/page/frame.h"
#include "manager/page/gather.h"
#include "manager/page/html.h"
#include "manager/page/htmltable.h"
#include "manager/page/machinetable.h"
#include "manager/page/page_parts.h"

/* No more functions where those on the page have so many bytes. */
enum { BYTES_MAX = 7 << 19 };

struct page {
	const struct page_recording *in;
	struct arena *arena;
	struct wr *w;
	struct gathered *module;
	uint32_t nmodule;
	uint32_t left_out;		/* functions, for want of room */
};

/* --- tables --- */

/* The annotated function that a row of procedures is about. */
static bool row_of_procedure(void *ctx, const struct table *t, int row, char *id, size_t n)
{
	const struct table_column *col = table_columns(t);
	const char *path = NULL, *entry = NULL;
	const struct page *p = ctx;

	for (int c = 0; c < table_ncol(t); c++) {
		if (strcmp(col[c].name, "module") == 0)
			path = table_cell(t, row, c);
		else if (strcmp(col[c].name, "entry") == 0)
			entry = table_cell(t, row, c);
	}
	for (uint32_t i = 0; path && entry && i < p->nmodule; i++) {
		const struct pagemodule *m = &p->module[i].module;
		vaddr at = strtoull(entry, NULL, 10);
		const struct pagemodule_fn *fn = at ? pagemodule_fn_at(m, at) : NULL;

		if (strcmp(m->path, path) == 0 && fn && fn < m->fn.v + p->module[i].told)
			return snprintf(id, n, PAGE_ID_FN, i, (unsigned long long)at) > 0;
	}
	return false;
}

static void put_table(struct page *p, const struct table *t)
{
	const struct htmltable_links links = { row_of_procedure, p, "procedure" };

	html_put(p->w, "<div class=\"wide\">");
	htmltable_put(p->w, t, &links);
	html_put(p->w, "</div>\n");
}

/* One that was made for this. */
static void put_own_table(struct page *p, struct table *t)
{
	if (table_nrow(t))
		put_table(p, t);
	table_free(t);
}

static void put_tables(struct page *p)
{
	for (uint32_t i = 0; i < p->in->ntable; i++) {
		const char *title = table_title(p->in->table[i]);

		html_put(p->w, "<section id=\"t-%s\"><h2>%s</h2>\n", title, title);
		put_table(p, p->in->table[i]);
		html_put(p->w, "</section>\n");
	}
}

/* --- the machine --- */

static struct table *files(const struct page *p)
{
	static const struct table_column col[] = {
		{ "file", TABLE_TEXT }, { "build_id", TABLE_TEXT },
		{ "what_could_not_be_had", TABLE_TEXT },
	};
	struct table *t = table_new("files", 3, col);
	const struct evidence *e = p->in->evidence;

	for (uint32_t i = 0; i < e->module.n; i++)
		if (e->module.v[i].file)
			table_row(t, e->module.v[i].path, e->module.v[i].build_id,
				  e->module.v[i].note);
	return t;
}

static void put_machine(struct page *p)
{
	static const struct table_column col[] = {
		{ "recording", TABLE_TEXT }, { "first_began", TABLE_TIME },
	};
	struct table *logs = table_new("recordings", 2, col);

	for (uint32_t i = 0; i < p->in->nlog; i++)
		table_row(logs, p->in->log[i], i ? 0 : p->in->evidence->start_ns);
	html_put(p->w, "<section id=\"machine\"><h2>Machine and recording</h2>\n"
		 "<p class=\"note\">The processor and kernel are those of the machine that "
		 "made this page.</p>\n");
	put_own_table(p, machinetable_new());
	put_own_table(p, logs);
	if (p->in->evidence->damaged)
		html_put(p->w, "<p class=\"note\">%llu parts of the recording are damaged or "
			 "cut off, and left out.</p>\n",
			 (unsigned long long)p->in->evidence->damaged);
	put_own_table(p, files(p));
	html_put(p->w, "</section>\n");
}

/* --- modules --- */

static void put_function(struct page *p, uint32_t module, const struct pagemodule_fn *fn)
{
	unsigned long long entry = fn->entry;
	struct wr *w = p->w;

	html_put(w, "<section class=\"fn\" id=\"" PAGE_ID_FN "\" data-name=\"%s\" "
		 "data-entry=\"0x%llx\"><h3>%s <small class=\"note\">0x%llx, %.6g samples, "
		 "entered %.4g times; %s</small></h3>\n", module, entry, fn->name,
		 entry, fn->name, entry, fn->samples, fn->entries,
		 fn->counted ? "cycles by counts" : "cycles are at least these");
	if (fn->cause.n) {
		html_put(w, "<h4>Where its cycles go</h4>\n");
		put_own_table(p, page_code_causes(fn));
	}
	html_put(w, "<h4>Flow</h4>\n<p class=\"note\">A wider line is taken more often; a "
		 "frame of dashes or dots is less certain.</p>\n<div class=\"pictures\">\n");
	page_flow(w, fn, PAGE_BEFORE);
	if (page_flow_moved(fn))
		page_flow(w, fn, PAGE_AFTER);
	html_put(w, "</div>\n<details><summary>Edges as a table</summary>\n");
	put_own_table(p, page_flow_table(fn));
	html_put(w, "</details>\n<h4>Code</h4>\n<div class=\"wide\">\n");
	page_code(w, module, fn);
	html_put(w, "</div></section>\n");
}

static void put_module(struct page *p, uint32_t i)
{
	const struct pagemodule *m = &p->module[i].module;

	html_put(p->w, "<section id=\"m-%u\"><h2>%s</h2>\n", i, m->path);
	if (p->module[i].failed) {
		html_put(p->w, "<p class=\"note\">Nothing more is known of it: %s</p>"
			 "</section>\n", p->module[i].failed);
		return;
	}
	html_put(p->w, "<h4>Its text in lines of 64 bytes</h4>\n<p class=\"note\">A row is a "
		 "page of 4096 bytes, a cell a line. <span><svg class=\"key\">"
		 "<rect class=\"h0\" width=\"20\" height=\"20\"/></svg> lines that make half "
		 "of the executions, <svg class=\"key\"><rect class=\"h1\" width=\"20\" "
		 "height=\"20\"/></svg> 90 %% with them (hot), <svg class=\"key\"><rect "
		 "class=\"h2\" width=\"20\" height=\"20\"/></svg> others that run (warm), "
		 "<svg class=\"key\"><rect class=\"fluff\" width=\"20\" height=\"20\"/></svg> "
		 "not seen to run (fluff).</span> After: %s.</p>\n",
		 p->module[i].generated
			 ? "as it is in the generation that stands at this path"
			 : "as it would be laid out by what is told here, and nothing else");
	if (m->note)
		html_put(p->w, "<p class=\"note\">It would not be laid out anew: %s</p>\n",
			 m->note);
	put_own_table(p, page_heat_table(m));
	html_put(p->w, "<div class=\"pictures\">\n");
	page_heat(p->w, m);
	html_put(p->w, "</div></section>\n");
	for (; p->module[i].told < m->fn.n && p->w->n < BYTES_MAX; p->module[i].told++)
		put_function(p, i, &m->fn.v[p->module[i].told]);
	p->left_out += m->fn.n - p->module[i].told;
}

/* All of them; which functions are told is known afterwards. */
static void put_modules(struct page *p)
{
	for (uint32_t i = 0; i < p->nmodule; i++)
		put_module(p, i);
	if (p->left_out)
		html_put(p->w, "<p class=\"note\">%u functions are left out, so that the page "
			 "does not become too large.</p>\n", p->left_out);
}

/* --- all --- */

static void put_contents(struct page *p)
{
	html_put(p->w, "<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#machine\">Machine "
		 "and recording</a></li>\n");
	for (uint32_t i = 0; i < p->in->ntable; i++) {
		const char *title = table_title(p->in->table[i]);

		html_put(p->w, "<li><a href=\"#t-%s\">%s</a></li>\n", title, title);
	}
	for (uint32_t i = 0; i < p->nmodule; i++) {
		const struct pagemodule *m = &p->module[i].module;
		uint32_t told = p->module[i].told;

		html_put(p->w, "<li><a href=\"#m-%u\">%s</a>", i, evidence_base(m->path));
		if (told)
			html_put(p->w, "<ul>\n");
		for (uint32_t k = 0; k < told; k++)
			html_put(p->w, "<li><a href=\"#" PAGE_ID_FN "\">%s</a></li>\n", i,
				 (unsigned long long)m->fn.v[k].entry, m->fn.v[k].name);
		html_put(p->w, told ? "</ul></li>\n" : "</li>\n");
	}
	html_put(p->w, "</ul></nav>\n");
}

void page_of_recording(const struct page_recording *in, struct wr *out)
{
	struct wr modules = { 0 };
	struct page p = { .in = in, .arena = arena_new(), .w = &modules };
	const struct gather_input g = {
		.evidence = in->evidence, .source = in->source, .counts = in->counts,
		.ncounts = in->ncounts,
		.profile = in->evidence->executions ? in->log[0] : NULL,
	};
	const char *title = arena_printf(p.arena, "Morph: %s", in->title);

	p.module = gather_modules(&g, &p.nmodule);
	put_modules(&p);
	p.w = out;
	frame_begin(out, title);
	put_contents(&p);
	put_machine(&p);
	put_tables(&p);
	wr_raw(out, modules.p, modules.n);
	wr_free(&modules);
	frame_end(out, title);
	arena_free(p.arena);
}
