/* page_heat.c - a module's text on a page, before and after it has been laid out anew
 *
 * A row is a page of 4096 bytes, a cell in it a line of 64; so the borders of both are to be
 * seen.  What stands between pages of which nothing runs is left out.  Few lines make most of
 * the executions: the ones that make half of them, those that make 90 % together with them, the
 * others that run, and the rest, which is fluff, have a colour each.
 *
 * Tested by tests/e2e/page.sh and tests/unit/manager/page/test_page_heat.c.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/table.h"
#include "manager/page/html.h"
#include "manager/page/page_parts.h"

enum shade { SHADE_HALF, SHADE_HOT, SHADE_WARM, NSHADE };
static const char *const shade_class[NSHADE] = { "h0", "h1", "h2" };
static const char *const when_name[NPAGE_WHEN] = { "before", "after" };

/* In units of the picture; how many lines it has at most. */
enum { CELL_W = 9, CELL_H = 8, LABEL_W = 96, HEAD_H = 20, ROW_CELLS = PAGE_PAGE / PAGE_LINE,
       LINES_MAX = 1 << 16 };

/* The count that a line of each shade has at least. */
struct shades {
	double least[NSHADE];
};

static int by_count(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

static struct shades shades_of(const struct pagemodule_heat *heat, uint32_t n)
{
	static const double part[NSHADE] = { 0.5, 0.9, 1 };
	double *count = memory_new((size_t)n + 1, sizeof(*count)), total = 0, sum = 0;
	struct shades s = { { 0 } };
	int k = 0;

	for (uint32_t i = 0; i < n; i++)
		total += count[i] = heat[i].count;
	if (n)
		qsort(count, n, sizeof(*count), by_count);
	for (uint32_t i = 0; i < n && k < SHADE_WARM; i++) {
		sum += count[i];
		while (k < SHADE_WARM && sum >= part[k] * total)
			s.least[k++] = count[i];
	}
	free(count);
	return s;
}

static enum shade shade_of(const struct shades *s, double count)
{
	return count >= s->least[SHADE_HALF] ? SHADE_HALF :
	       count >= s->least[SHADE_HOT] ? SHADE_HOT : SHADE_WARM;
}

/* --- figures --- */

struct table *page_heat_table(const struct pagemodule *m)
{
	static const struct table_column col[] = {
		{ "layout", TABLE_TEXT }, { "lines_of_half", TABLE_UINT },
		{ "lines_hot", TABLE_UINT }, { "lines_warm", TABLE_UINT },
		{ "pages_hot", TABLE_UINT }, { "pages", TABLE_UINT },
	};
	struct table *t = table_new("lines", 6, col);

	for (int w = 0; w < (m->note ? 1 : NPAGE_WHEN); w++) {
		const struct pagemodule_heat *heat = m->heat[w].v;
		struct shades s = shades_of(heat, m->heat[w].n);
		uint64_t n[NSHADE] = { 0 }, hot = 0, pages = 0;
		vaddr page = 0, hot_page = 0;

		for (uint32_t i = 0; i < m->heat[w].n; i++) {
			vaddr at = heat[i].line / PAGE_PAGE + 1;
			enum shade k = shade_of(&s, heat[i].count);

			n[k]++;
			pages += at != page;
			page = at;
			if (k != SHADE_WARM) {
				hot += at != hot_page;
				hot_page = at;
			}
		}
		table_row(t, when_name[w], n[SHADE_HALF], n[SHADE_HALF] + n[SHADE_HOT],
			  n[SHADE_WARM], hot, pages);
	}
	return t;
}

/* --- the picture --- */

struct drawing {
	struct wr *w;
	const struct pagemodule_heat *heat;
	uint32_t n;			/* of heat */
	struct shades shades;
	unsigned y;
	struct wr rows, labels, cell[NSHADE];
};

static bool is_in(const struct pagemodule_area *a, vaddr line)
{
	return line < a->addr + a->size && line + PAGE_LINE > a->addr;
}

/* The part of a page that is in the area. */
static void put_row(struct drawing *d, const struct pagemodule_area *a, vaddr page)
{
	vaddr from = a->addr > page ? a->addr : page, end = a->addr + a->size;

	if (end > page + PAGE_PAGE)
		end = page + PAGE_PAGE;
	double x = (double)(from - page) * CELL_W / PAGE_LINE;
	double width = (double)(end - from) * CELL_W / PAGE_LINE;
	html_put(&d->rows, "M%.1f %uh%.1fv%dh-%.1fz", LABEL_W + x, d->y, width, CELL_H - 1,
		 width);
	html_put(&d->labels, "<text x=\"%d\" y=\"%u\">0x%llx</text>", LABEL_W - 6,
		 d->y + CELL_H - 1, (unsigned long long)page);
}

/* The lines heat[i..k) of one page. */
static void put_cells(struct drawing *d, uint32_t i, uint32_t k)
{
	for (; i < k; i++) {
		const struct pagemodule_heat *h = &d->heat[i];
		unsigned x = (unsigned)(h->line % PAGE_PAGE / PAGE_LINE);

		html_put(&d->cell[shade_of(&d->shades, h->count)], "M%u %uh%dv%dh-%dz",
			 LABEL_W + x * CELL_W, d->y, CELL_W - 1, CELL_H - 1, CELL_W - 1);
	}
}

static void put_gap(struct drawing *d, uint64_t pages)
{
	if (!pages)
		return;
	html_put(&d->labels, "<text class=\"gap\" x=\"%d\" y=\"%u\">%llu %s</text>",
		 LABEL_W + 4, d->y + CELL_H, (unsigned long long)pages,
		 pages == 1 ? "page of which nothing was seen to run"
			    : "pages of which nothing was seen to run");
	d->y += CELL_H + 3;
}

/* Draws pages of the area that have lines; the others between them are told. */
static void put_area(struct drawing *d, const struct pagemodule_area *a)
{
	static const struct { const char *area, *text; } heads[] = {
		{ "text", "text of the original" }, { "hot", "new text: hot" },
		{ "fluff", "new text: fluff" },
	};
	vaddr next = a->addr / PAGE_PAGE, last = (a->addr + a->size - 1) / PAGE_PAGE;
	uint32_t i = 0, k;

	for (k = 0; k < 2 && strcmp(heads[k].area, a->name) != 0; k++)
		;
	html_put(&d->labels, "<text class=\"head\" x=\"%d\" y=\"%u\">%s, %llu bytes</text>",
		 LABEL_W, d->y + HEAD_H - 6, heads[k].text, (unsigned long long)a->size);
	d->y += HEAD_H;
	for (; i < d->n && i < LINES_MAX; i = k) {
		vaddr page = d->heat[i].line / PAGE_PAGE;

		k = i + 1;
		if (!is_in(a, d->heat[i].line))
			continue;
		while (k < d->n && d->heat[k].line / PAGE_PAGE == page &&
		       is_in(a, d->heat[k].line))
			k++;
		put_gap(d, page > next ? page - next : 0);
		put_row(d, a, page * PAGE_PAGE);
		put_cells(d, i, k);
		d->y += CELL_H;
		next = page + 1;
	}
	put_gap(d, last >= next ? last - next + 1 : 0);
}

static void put_drawing(struct drawing *d, const char *title)
{
	unsigned width = LABEL_W + ROW_CELLS * CELL_W;

	html_put(d->w, "<svg class=\"heat\" role=\"img\" width=\"%u\" height=\"%u\" "
		 "viewBox=\"0 0 %u %u\" xmlns=\"http://www.w3.org/2000/svg\">\n"
		 "<title>%s</title>\n", width, d->y + 4, width, d->y + 4, title);
	html_put(d->w, "<path class=\"fluff\" d=\"");
	wr_raw(d->w, d->rows.p, d->rows.n);
	html_put(d->w, "\"/>\n");
	for (int s = 0; s < NSHADE; s++) {
		html_put(d->w, "<path class=\"%s\" d=\"", shade_class[s]);
		wr_raw(d->w, d->cell[s].p, d->cell[s].n);
		html_put(d->w, "\"/>\n");
	}
	wr_raw(d->w, d->labels.p, d->labels.n);
	html_put(d->w, "</svg>\n");
}

void page_heat(struct wr *w, const struct pagemodule *m)
{
	for (int k = 0; k < (m->note ? 1 : NPAGE_WHEN); k++) {
		struct drawing d = { .w = w, .heat = m->heat[k].v, .n = m->heat[k].n, .y = 4 };

		d.shades = shades_of(d.heat, d.n);
		for (uint32_t i = 0; i < m->area.n; i++)
			if (k == PAGE_AFTER || strcmp(m->area.v[i].name, "text") == 0)
				put_area(&d, &m->area.v[i]);
		html_put(w, "<figure><figcaption>%s</figcaption>\n", when_name[k]);
		put_drawing(&d, when_name[k]);
		html_put(w, "</figure>\n");
		if (d.n > LINES_MAX)
			html_put(w, "<p class=\"note\">Only the first %d lines are drawn.</p>",
				 LINES_MAX);
		wr_free(&d.rows);
		wr_free(&d.labels);
		for (int s = 0; s < NSHADE; s++)
			wr_free(&d.cell[s]);
	}
}
