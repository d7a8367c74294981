/* test_answer.c - what is written to an answer is what its reader finds; it stays bounded */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lib/err.h"
#include "lib/table.h"
#include "manager/work/answer.h"

static void a_request_is_read_only_when_whole(void **state)
{
	const char *arg[] = { "report", "/usr/bin/perl", "" }, *got[ANSWER_MAX_ARGS];
	struct wr w = { 0 };
	struct err err;
	uint64_t used;
	int n;

	(void)state;
	assert_int_equal(request_write(&w, 3, arg, &err), 0);
	for (size_t k = 0; k < w.n; k++)
		assert_int_equal(request_read((struct bytes){ w.p, k }, ANSWER_MAX_REQUEST, &n,
					      got, &used, &err), 0);
	wr_u8(&w, 'x');			/* of something behind it */
	assert_int_equal(request_read(wr_bytes(&w), ANSWER_MAX_REQUEST, &n, got, &used, &err),
			 1);
	assert_int_equal(used, w.n - 1);
	assert_int_equal(n, 3);
	for (int i = 0; i < 3; i++)
		assert_string_equal(got[i], arg[i]);
	wr_free(&w);
}

static void a_request_with_a_profile_is_for_some(void **state)
{
	enum { LONG = 2 * ANSWER_MAX_REQUEST };
	static char text[LONG + 1];
	const char *arg[] = { "keep", "/bin/a", text }, *got[ANSWER_MAX_ARGS];
	struct wr w = { 0 };
	struct err err;
	uint64_t used;
	int n;

	(void)state;
	memset(text, 'x', LONG);
	assert_int_equal(request_write(&w, 3, arg, &err), 0);
	assert_int_equal(request_read(wr_bytes(&w), ANSWER_MAX_REQUEST, &n, got, &used, &err),
			 -1);
	assert_int_equal(request_read(wr_bytes(&w), ANSWER_MAX_PROFILE, &n, got, &used, &err),
			 1);
	assert_string_equal(got[2], text);
	wr_free(&w);
}

static void a_lying_request_is_refused(void **state)
{
	const char *arg[] = { "list" }, *got[ANSWER_MAX_ARGS];
	struct wr w = { 0 };
	struct err err;
	uint64_t used;
	int n;

	(void)state;
	assert_int_equal(request_write(&w, 1, arg, &err), 0);
	static const struct { int at; uint8_t value; } lie[] = {
		{ 3, 1 },		/* length 16 MiB */
		{ 4, 9 },		/* version */
		{ 5, 2 },		/* more arguments than there are */
		{ 5, 0 }, { 5, 200 },
		{ 10, 'x' },		/* no end of the text */
	};
	for (size_t i = 0; i < sizeof(lie) / sizeof(lie[0]); i++) {
		uint8_t old = w.p[lie[i].at];

		w.p[lie[i].at] = lie[i].value;
		assert_int_equal(request_read(wr_bytes(&w), ANSWER_MAX_REQUEST, &n, got, &used,
					      &err), -1);
		w.p[lie[i].at] = old;
	}
	wr_free(&w);
}

static void a_table_travels_with_its_types(void **state)
{
	static const struct table_column col[] = { { "path", TABLE_TEXT }, { "n", TABLE_HEX } };
	struct table *t = table_new("modules", 2, col), *back = NULL;
	struct answer_frame f;
	struct answer a = { 0 };
	struct err err;
	uint64_t used;

	(void)state;
	table_row(t, "/bin/x", (uint64_t)255);
	answer_line(&a, "%d of %d", 1, 2);
	answer_table(&a, t);
	answer_end(&a, 3);
	struct bytes b = wr_bytes(&a.out);
	assert_int_equal(answer_read(b, &f, &used, &err), 1);
	assert_int_equal(f.kind, ANSWER_LINE);
	assert_string_equal(answer_read_text(&f), "1 of 2");
	b = bytes_at(b, used, b.n - used);
	assert_int_equal(answer_read(b, &f, &used, &err), 1);
	back = answer_read_table(&f, &err);
	assert_non_null(back);
	assert_string_equal(table_title(back), "modules");
	assert_int_equal(table_columns(back)[1].type, TABLE_HEX);
	b = bytes_at(b, used, b.n - used);
	assert_int_equal(answer_read(b, &f, &used, &err), 1);
	assert_int_equal(answer_read_row(&f, back, &err), 0);
	assert_string_equal(table_cell(back, 0, 0), "/bin/x");
	assert_string_equal(table_cell(back, 0, 1), "255");
	b = bytes_at(b, used, b.n - used);
	assert_int_equal(answer_read(b, &f, &used, &err), 1);
	assert_int_equal(answer_read_end(&f), 3);
	table_free(t);
	table_free(back);
	answer_close(&a);
}

static void what_nobody_takes_closes_the_answer(void **state)
{
	char text[1024];
	struct answer a = { 0 };

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	while (!a.closed && a.out.n <= ANSWER_MAX_PENDING)
		answer_line(&a, "%s", text);
	assert_true(a.closed);
	assert_int_equal(a.out.n, 0);
	answer_line(&a, "more");
	answer_end(&a, 0);
	assert_int_equal(a.out.n, 0);

	/* What was sent does not count. */
	a = (struct answer){ 0 };
	while (a.out.n <= ANSWER_MAX_PENDING + sizeof(text)) {
		answer_line(&a, "%s", text);
		a.sent = a.out.n;
	}
	assert_false(a.closed);
	answer_close(&a);
	answer_line(NULL, "nobody listens");
}

/* Too many rows for one answer are no reason to say nothing. */
static void of_a_large_table_the_last_rows_are_left_out(void **state)
{
	enum { ROWS = 5000, TEXT = 1024 };
	static const struct table_column col[] = { { "text", TABLE_TEXT } };
	static char text[TEXT];
	struct table *t = table_new("large", 1, col);
	struct answer a = { 0 };
	struct answer_frame f;
	uint64_t used;
	unsigned rows = 0, told = 0, left, all;
	bool ended = false;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < ROWS; i++)
		table_row(t, text);
	answer_table(&a, t);
	answer_table(&a, t);			/* nothing of it fits, which is told */
	answer_end(&a, 0);
	assert_false(a.closed);
	for (uint64_t at = 0; answer_read(bytes_at(wr_bytes(&a.out), at, a.out.n - at), &f,
					  &used, NULL) == 1; at += used) {
		rows += f.kind == ANSWER_ROW;
		ended = f.kind == ANSWER_END;
		if (f.kind == ANSWER_LINE) {
			assert_int_equal(sscanf(answer_read_text(&f), "large: %u of %u rows",
						&left, &all), 2);
			assert_int_equal(all, ROWS);
			told += left;
		}
	}
	assert_true(ended);
	assert_true(rows > 3900);
	assert_int_equal(rows + told, 2 * ROWS);
	table_free(t);
	wr_free(&a.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_read_only_when_whole),
		cmocka_unit_test(a_request_with_a_profile_is_for_some),
		cmocka_unit_test(a_lying_request_is_refused),
		cmocka_unit_test(a_table_travels_with_its_types),
		cmocka_unit_test(what_nobody_takes_closes_the_answer),
		cmocka_unit_test(of_a_large_table_the_last_rows_are_left_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
