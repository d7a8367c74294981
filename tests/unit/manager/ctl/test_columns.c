/* test_columns.c - which columns and rows of the daemon's tables people see */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/table.h"
#include "manager/ctl/columns.h"

enum { MOST = 12 };

/* A table of those columns with a row in which each has its own name. */
static struct table *table_of(const char *title, int n, const char *const *name)
{
	struct table_column col[MOST];

	for (int i = 0; i < n; i++)
		col[i] = (struct table_column){ name[i], TABLE_TEXT };
	struct table *t = table_new(title, n, col);
	table_row_text(t, name);
	return t;
}

/* Chosen of it: these, with their cells. */
static void chooses(struct table *t, int n, const char *const *name)
{
	columns_choose(&t);
	assert_int_equal(table_ncol(t), n);
	assert_int_equal(table_nrow(t), 1);
	for (int i = 0; i < n; i++) {
		assert_string_equal(table_columns(t)[i].name, name[i]);
		assert_string_equal(table_cell(t, 0, i), name[i]);
	}
	table_free(t);
}

static void each_table_has_its_own(void **state)
{
	static const char *const modules[] = { "id", "path", "owner", "samples", "generation",
					       "state", "speed", "age" };
	static const char *const module[] = { "path", "samples", "generation", "state",
					      "speed" };
	static const char *const made[] = { "path", "generation", "original", "installed",
					    "samples", "functions", "functions_moved", "x" };
	static const char *const few[] = { "path", "generation", "installed", "samples",
					   "functions", "functions_moved" };

	(void)state;
	chooses(table_of("modules", 8, modules), 5, module);
	chooses(table_of("reoptimized", 8, made), 6, few);
	/* another table of that title, and another title */
	chooses(table_of("modules", 6, modules), 6, modules);
	chooses(table_of("reoptimized", 8, modules), 8, modules);
	chooses(table_of("policy", 8, modules), 8, modules);
}

static void what_counts_nothing_is_left_out(void **state)
{
	static const struct table_column col[] = { { "kind", TABLE_TEXT },
						   { "count", TABLE_TEXT },
						   { "meaning", TABLE_TEXT } };
	static const char *const row[][3] = { { "known", "10", "a" }, { "lost", "0", "b" },
					      { "none", "100", "0" } };
	static const char *const title[] = { "samples", "others" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct table *t = table_new(title[i], 3, col);

		for (int k = 0; k < 3; k++)
			table_row_text(t, row[k]);
		columns_choose(&t);
		assert_string_equal(table_title(t), title[i]);
		assert_int_equal(table_nrow(t), i == 0 ? 2 : 3);
		assert_string_equal(table_cell(t, 0, 0), "known");
		assert_string_equal(table_cell(t, table_nrow(t) - 1, 0), "none");
		assert_string_equal(table_cell(t, table_nrow(t) - 1, 2), "0");
		table_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_table_has_its_own),
		cmocka_unit_test(what_counts_nothing_is_left_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
