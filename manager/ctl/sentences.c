/* sentences.c - tables of sentences; see sentences.h
 *
 * Tested by tests/e2e/overview.sh.
 */
#include "manager/ctl/sentences.h"

#include <stdlib.h>
#include <string.h>

#include "lib/table.h"
#include "lib/utf8.h"
#include "manager/ctl/screen.h"

static const char title[] = "explained", column[] = "sentence";

static void print(const struct table *t, FILE *f, unsigned width)
{
	int i = table_column_of(t, column);

	for (int row = 0; i >= 0 && row < table_nrow(t); row++) {
		char *shown = utf8_escaped(table_cell(t, row, i));

		screen_wrap(f, shown, 0, 2, width);
		free(shown);
	}
}

void sentences_print(struct ctl_tables *t, FILE *f, unsigned width)
{
	int n = 0;

	for (int i = 0; i < t->n; i++) {
		if (strcmp(table_title(t->at[i]), title) != 0) {
			t->at[n++] = t->at[i];
			continue;
		}
		print(t->at[i], f, width);
		table_free(t->at[i]);
		if (t->n > 1)
			(void)fputc('\n', f);
	}
	t->n = n;
}
