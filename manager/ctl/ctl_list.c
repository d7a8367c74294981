/* ctl_list.c - morphctl list: the modules that matter, or all
 *
 * On a machine that was watched for a while most modules have next to no samples.  People see
 * those that have a thousandth of all of them, and whatever was laid out; --all, --wide and
 * --json have the rest.
 *
 * Tested by tests/e2e/overview.sh.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/say.h"
#include "lib/table.h"
#include "manager/ctl/ctl.h"

static const double least_share = 0.001;	/* chosen */

/* How many rows were left out. */
static int leave_out(struct table **t)
{
	int samples = table_column_of(*t, "samples");
	int generation = table_column_of(*t, "generation");
	int ncol = table_ncol(*t), n = 0;
	double all = 0;

	if (samples < 0 || generation < 0)
		return 0;
	for (int row = 0; row < table_nrow(*t); row++)
		all += strtod(table_cell(*t, row, samples), NULL);
	struct table *out = table_new(table_title(*t), ncol, table_columns(*t));
	const char **cell = calloc((size_t)ncol, sizeof(*cell));
	for (int row = 0; cell && row < table_nrow(*t); row++) {
		for (int i = 0; i < ncol; i++)
			cell[i] = table_cell(*t, row, i);
		if (strtod(cell[samples], NULL) < least_share * all &&
		    strcmp(cell[generation], "0") == 0)
			n++;
		else
			table_row_text(out, cell);
	}
	free(cell);
	table_free(*t);
	*t = out;
	return n;
}

int ctl_list(const struct ctl *ctl, int argc, char **argv)
{
	static const char *const request = "list";
	bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
	struct ctl_tables t;
	int left_out = 0;

	int code = ctl_fetch(ctl, 1, &request, &t);
	for (int i = 0; i < t.n && !all && !ctl->json && !ctl->wide; i++)
		if (strcmp(table_title(t.at[i]), "modules") == 0)
			left_out += leave_out(&t.at[i]);
	code = ctl_print(ctl, &t, code);
	if (left_out)
		say_line(stderr, "%d more, with less than a thousandth of the samples each: "
			 "morphctl list --all", left_out);
	return code;
}
