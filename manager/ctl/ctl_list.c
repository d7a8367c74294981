/* ctl_list.c - morphctl list: the columns that people ask for most, or all of them
 *
 * Programs get all (--json), so do people who ask for them (--wide).
 *
 * Tested by tests/e2e/terminal.sh.
 */
#include <string.h>

#include "lib/table.h"
#include "manager/ctl/ctl.h"

static const char *const usual[] = { "path", "samples", "generation", "state", "speed" };
enum { NUSUAL = sizeof(usual) / sizeof(usual[0]) };

/* The table with these columns alone, in its place; as it is if one is missing. */
static void choose(struct table **t)
{
	const struct table_column *col = table_columns(*t);
	struct table_column chosen[NUSUAL];
	const char *cell[NUSUAL];
	int from[NUSUAL], n = 0;

	for (int i = 0; i < table_ncol(*t) && n < NUSUAL; i++)
		if (strcmp(col[i].name, usual[n]) == 0) {
			from[n] = i;
			chosen[n++] = col[i];
		}
	if (n < NUSUAL)
		return;
	struct table *out = table_new(table_title(*t), NUSUAL, chosen);
	for (int row = 0; row < table_nrow(*t); row++) {
		for (int i = 0; i < NUSUAL; i++)
			cell[i] = table_cell(*t, row, from[i]);
		table_row_text(out, cell);
	}
	table_free(*t);
	*t = out;
}

int ctl_list(const struct ctl *ctl, int argc, char **argv)
{
	const char *request[] = { "list" };
	bool wide = argc == 2 && strcmp(argv[1], "--wide") == 0;
	struct ctl_tables t;

	if (argc > 1 + wide)
		return ctl_ask_alone(ctl, argc - wide, argv + wide);
	int code = ctl_fetch(ctl, 1, request, &t);
	for (int i = 0; i < t.n && !wide && !ctl->json; i++)
		choose(&t.at[i]);
	return ctl_print(ctl, &t, code);
}
