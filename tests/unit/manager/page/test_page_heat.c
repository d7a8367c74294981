/* test_page_heat.c - which lines of a module are hot, and how many pages they take */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#include "lib/table.h"
#include "manager/page/page_parts.h"

static void heats(struct arena *a, struct pagemodule *m, enum pagemodule_when w, vaddr line,
		  double count)
{
	struct pagemodule_heat h = { line, count };

	vec_push(a, &m->heat[w], h);
}

static void row_is(const struct table *t, int row, const char *expected)
{
	char text[128] = "";

	for (int c = 0; c < table_ncol(t); c++) {
		strcat(text, table_cell(t, row, c));
		strcat(text, " ");
	}
	assert_string_equal(text, expected);
}

static void lines_have_the_shade_of_what_they_make(void **state)
{
	struct pagemodule m = { .path = "x" };
	struct arena *a = arena_new();

	(void)state;
	/* 50 of 100 are half; 50, 30 and 10 are 90 %; the page of the last two is not hot */
	heats(a, &m, PAGE_BEFORE, 0x1000, 30);
	heats(a, &m, PAGE_BEFORE, 0x1040, 50);
	heats(a, &m, PAGE_BEFORE, 0x5fc0, 10);
	heats(a, &m, PAGE_BEFORE, 0x9000, 6);
	heats(a, &m, PAGE_BEFORE, 0x9fc0, 4);
	heats(a, &m, PAGE_AFTER, 0x20000, 100);
	struct table *t = page_heat_table(&m);
	assert_int_equal(table_nrow(t), 2);
	row_is(t, 0, "before 1 3 2 2 3 ");
	row_is(t, 1, "after 1 1 0 1 1 ");
	table_free(t);
	m.note = "it was refused";
	t = page_heat_table(&m);
	assert_int_equal(table_nrow(t), 1);
	table_free(t);
	arena_free(a);
}

static void of_nothing_there_is_nothing(void **state)
{
	struct pagemodule m = { .path = "x" };
	struct table *t = page_heat_table(&m);

	(void)state;
	row_is(t, 0, "before 0 0 0 0 0 ");
	table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_have_the_shade_of_what_they_make),
		cmocka_unit_test(of_nothing_there_is_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
