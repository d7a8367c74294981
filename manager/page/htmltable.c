/* htmltable.c - a table of a command, on a page
 *
 * Tested by tests/e2e/page.sh.
 */
#include "manager/page/htmltable.h"

#include <stdlib.h>
#include <string.h>

#include "lib/table_parts.h"
#include "manager/page/html.h"

static bool is_number(const struct table_column *c)
{
	return c->type != TABLE_TEXT && c->type != TABLE_BOOL;
}

static void put_head(struct wr *w, const struct table *t)
{
	const struct table_column *col = table_columns(t);

	html_put(w, "<thead><tr>");
	for (int c = 0; c < table_ncol(t); c++)
		html_put(w, is_number(&col[c]) ? "<th class=\"n\" scope=\"col\">%s</th>"
					       : "<th scope=\"col\">%s</th>", col[c].name);
	html_put(w, "</tr></thead>\n");
}

static void put_cell(struct wr *w, const struct table *t, int row, int c, const char *id)
{
	const struct table_column *col = &table_columns(t)[c];
	const char *raw = table_cell(t, row, c);
	char *shown = table_text_cell(raw, col->type, table_decimals(t, c));

	if (is_number(col) && (col->type == TABLE_HEX || strcmp(raw, shown) == 0))
		html_put(w, "<td class=\"n\">%s</td>", shown);
	else if (is_number(col))
		html_put(w, "<td class=\"n\" data-v=\"%s\">%s</td>", raw, shown);
	else if (id)
		html_put(w, "<td><a href=\"#%s\">%s</a></td>", id, shown);
	else
		html_put(w, "<td>%s</td>", shown);
	free(shown);
}

void htmltable_put(struct wr *w, const struct table *t, const struct htmltable_links *links)
{
	const struct table_column *col = table_columns(t);
	char id[64];

	html_put(w, "<table class=\"rows\" data-title=\"%s\">\n", table_title(t));
	put_head(w, t);
	html_put(w, "<tbody>\n");
	for (int r = 0; r < table_nrow(t); r++) {
		bool leads = links && links->of_row(links->ctx, t, r, id, sizeof(id));

		html_put(w, "<tr>");
		for (int c = 0; c < table_ncol(t); c++)
			put_cell(w, t, r, c,
				 leads && strcmp(col[c].name, links->column) == 0 ? id : NULL);
		html_put(w, "</tr>\n");
	}
	html_put(w, "</tbody></table>\n");
}
