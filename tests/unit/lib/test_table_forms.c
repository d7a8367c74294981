/* test_table_forms.c - one table in its two forms: for people with units, for programs as
 * JSON */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/table.h"

static const struct table_column column[] = {
	{ "name", TABLE_TEXT }, { "n", TABLE_UINT }, { "change", TABLE_INT },
	{ "ratio", TABLE_REAL }, { "at", TABLE_HEX }, { "size", TABLE_BYTES },
	{ "when", TABLE_TIME }, { "on", TABLE_BOOL },
};
enum { NCOLUMN = 8 };

static struct table *one_row(const char *name)
{
	struct table *t = table_new("modules", NCOLUMN, column);

	table_row(t, name, (uint64_t)7, (int64_t)-3, 1.25, (uint64_t)0x1f, (uint64_t)1536,
		  (uint64_t)1000000000 * 86400, 1);
	return t;
}

/* What is printed; free() it. */
static char *printed(struct table *const *t, int n, bool json)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	table_print_all(t, n, f, json);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void expect(struct table *t, bool json, const char *want)
{
	char *text = printed(&t, 1, json);

	assert_string_equal(text, want);
	free(text);
	table_free(t);
}

static void people_see_units_in_aligned_columns(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	expect(one_row("perl"), false,
	       "name  n  change  ratio    at     size                 when   on\n"
	       "perl  7      -3  1.250  0x1f  1.5 KiB  1970-01-02 00:00:00  yes\n");
}

static void programs_see_plain_values(void **state)
{
	(void)state;
	expect(one_row("perl"), true,
	       "{\"modules\": [\n  {\"name\": \"perl\", \"n\": 7, \"change\": -3, "
	       "\"ratio\": 1.250000, \"at\": \"0x1f\", \"size\": 1536, "
	       "\"when\": 86400000000000, \"on\": true}\n]}\n");
}

static void a_time_that_never_was_is_none(void **state)
{
	static const struct table_column col[] = { { "last", TABLE_TIME } };
	struct table *t = table_new("t", 1, col);

	(void)state;
	table_row(t, (uint64_t)0);
	assert_string_equal(table_cell(t, 0, 0), "");
	expect(t, true, "{\"t\": [\n  {\"last\": null}\n]}\n");
	t = table_new("t", 1, col);
	table_row(t, (uint64_t)0);
	expect(t, false, "last\n   -\n");
}

/* As a table is sent from one process to another. */
static void a_table_of_raw_cells_prints_as_the_one_it_was_made_of(void **state)
{
	struct table *t = one_row("perl"), *again = table_new(table_title(t), NCOLUMN, column);
	const char *cell[NCOLUMN];

	(void)state;
	for (int i = 0; i < NCOLUMN; i++)
		cell[i] = table_cell(t, 0, i);
	table_row_text(again, cell);
	for (int json = 0; json < 2; json++) {
		char *first = printed(&t, 1, json), *second = printed(&again, 1, json);

		assert_string_equal(first, second);
		free(first);
		free(second);
	}
	table_free(t);
	table_free(again);
}

/* An empty one: it is not known. */
static void a_cell_that_is_no_number_is_shown_as_text(void **state)
{
	struct table *t = table_new("t", 1, &(struct table_column){ "n", TABLE_UINT });

	(void)state;
	table_row_text(t, (const char *const[]){ "12x" });
	table_row_text(t, (const char *const[]){ "" });
	expect(t, true, "{\"t\": [\n  {\"n\": \"12x\"},\n  {\"n\": null}\n]}\n");
}

static void several_tables_have_headings_or_keys(void **state)
{
	struct table *t[] = {
		table_new("first", 1, &(struct table_column){ "a", TABLE_UINT }),
		table_new("second", 1, &(struct table_column){ "b", TABLE_TEXT }),
	};

	(void)state;
	for (uint64_t i = 0; i < 40; i++)	/* more than there is room for at first */
		table_row(t[0], i);
	assert_int_equal(table_nrow(t[0]), 40);
	assert_string_equal(table_cell(t[0], 39, 0), "39");
	char *text = printed(t, 2, false), *json = printed(t, 2, true);
	assert_memory_equal(text, "first\n a\n 0\n", 12);
	assert_non_null(strstr(text, "\n39\n\nsecond\nb\n"));
	assert_non_null(strstr(json, "{\"a\": 39}\n],\n\"second\": []}\n"));
	free(text);
	free(json);
	table_free(t[0]);
	table_free(t[1]);
	table_free(NULL);
}

static void sizes_have_the_largest_unit_that_fits(void **state)
{
	static const struct {
		unsigned long long bytes;
		const char *text;
	} row[] = {
		{ 0, "0 B" }, { 1023, "1023 B" }, { 1024, "1.0 KiB" },
		{ 5ull << 20, "5.0 MiB" },
		{ 3ull << 29, "1.5 GiB" }, { 4096ull << 40, "4096.0 TiB" },
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		table_human_bytes(row[i].bytes, text, sizeof(text));
		assert_string_equal(text, row[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(people_see_units_in_aligned_columns),
		cmocka_unit_test(programs_see_plain_values),
		cmocka_unit_test(a_time_that_never_was_is_none),
		cmocka_unit_test(a_table_of_raw_cells_prints_as_the_one_it_was_made_of),
		cmocka_unit_test(a_cell_that_is_no_number_is_shown_as_text),
		cmocka_unit_test(several_tables_have_headings_or_keys),
		cmocka_unit_test(sizes_have_the_largest_unit_that_fits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
