/* test_table_fit.c - tables fit the terminal that they are printed on, and lose nothing but the
 * middle of paths */
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
#include "lib/utf8.h"

static const char *paint(const char *title, const char *column, const char *raw)
{
	(void)title;
	return strcmp(column, "state") == 0 && strcmp(raw, "good") == 0 ? TABLE_GREEN : NULL;
}

/* What is printed; free() it, the table is freed. */
static char *shown(struct table *t, const struct table_look *look)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	table_show_all(&t, 1, f, look);
	assert_int_equal(fclose(f), 0);
	table_free(t);
	return text;
}

static void expect(struct table *t, const struct table_look *look, const char *want)
{
	char *text = shown(t, look);

	assert_string_equal(text, want);
	free(text);
}

static struct table *modules(void)
{
	static const struct table_column col[] = {
		{ "path", TABLE_TEXT }, { "n", TABLE_UINT }, { "state", TABLE_TEXT },
	};
	struct table *t = table_new("modules", 3, col);

	table_row(t, "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6", (uint64_t)17, "good");
	table_row(t, "/usr/bin/gs", (uint64_t)5, "refused: it reads its own file");
	return t;
}

static void a_table_that_fits_is_as_it_is(void **state)
{
	static const char want[] =
		"path                                            n  state\n"
		"/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6  17  good\n"
		"/usr/bin/gs                                     5  refused: it reads its own "
		"file\n";

	(void)state;
	expect(modules(), &(struct table_look){ .width = 0 }, want);
	expect(modules(), &(struct table_look){ .width = 81 }, want);
}

static void paths_lose_their_middle_and_text_goes_on(void **state)
{
	(void)state;
	expect(modules(), &(struct table_look){ .width = 44, .ellipsis = "…" },
	       "path                  n  state\n"
	       "/usr/l…te3.so.0.8.6  17  good\n"
	       "/usr/bin/gs           5  refused: it reads\n"
	       "                         its own file\n");
	expect(modules(), &(struct table_look){ .width = 60 },
	       "path                          n  state\n"
	       "/usr/lib...sqlite3.so.0.8.6  17  good\n"
	       "/usr/bin/gs                   5  refused: it reads its own\n"
	       "                                 file\n");
}

static void what_cannot_fit_is_printed_in_lines(void **state)
{
	(void)state;
	expect(modules(), &(struct table_look){ .width = 26 },
	       "path   /usr/lib/x86_64-lin\n"
	       "       ux-gnu/libsqlite3.s\n"
	       "       o.0.8.6\n"
	       "n      17\n"
	       "state  good\n"
	       "\n"
	       "path   /usr/bin/gs\n"
	       "n      5\n"
	       "state  refused: it reads\n"
	       "       its own file\n");
}

static const char *const *spare(const char *title)
{
	static const char *const name[] = { "size", "none", "share", NULL };

	return strcmp(title, "procedures") == 0 ? name : NULL;
}

static struct table *procedures(const char *title)
{
	static const struct table_column col[] = {
		{ "name", TABLE_TEXT }, { "share", TABLE_UINT }, { "size", TABLE_UINT },
		{ "n", TABLE_UINT },
	};
	struct table *t = table_new(title, 4, col);

	table_row(t, "a_name_of_some_thirty_characters", (uint64_t)1, (uint64_t)22,
		  (uint64_t)333);
	return t;
}

static void columns_go_that_can_be_spared(void **state)
{
	static const char all[] =
		"name                              share  size    n\n"
		"a_name_of_some_thirty_characters      1    22  333\n";
	struct table_look look = { .width = 50, .spare = spare };

	(void)state;
	expect(procedures("procedures"), &look, all);
	look.width = 42;	/* the name is cut before */
	expect(procedures("procedures"), &look,
	       "name                      share  size    n\n"
	       "a_name_of_some_thirty_ch      1    22  333\n"
	       "aracters\n");
	look.width = 41;
	expect(procedures("procedures"), &look,
	       "name                           share    n\n"
	       "a_name_of_some_thirty_charact      1  333\n"
	       "ers\n"
	       "(no room for size)\n");
	look.width = 30;
	expect(procedures("procedures"), &look,
	       "name                         n\n"
	       "a_name_of_some_thirty_cha  333\n"
	       "racters\n"
	       "(no room for share, size)\n");
	look.width = 16;	/* then it has all of them */
	char *text = shown(procedures("procedures"), &look);
	assert_non_null(strstr(text, "\nsize   22\n"));
	assert_null(strstr(text, "no room"));
	free(text);
	look.width = 41;
	text = shown(procedures("others"), &look);
	assert_non_null(strstr(text, "size"));
	assert_null(strstr(text, "no room"));
	free(text);
	look.spare = NULL;
	text = shown(procedures("procedures"), &look);
	assert_null(strstr(text, "no room"));
	free(text);
}

/* The longest line, in characters. */
static size_t widest(const char *text)
{
	size_t most = 0;

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		char *line = strndup(at, strcspn(at, "\n"));

		most = utf8_length(line) > most ? utf8_length(line) : most;
		free(line);
	}
	return most;
}

/* Of text all words are there, one after the other, whatever the width. */
static bool has_words(const char *text, const char *const *word)
{
	for (; *word; word++) {
		text = strstr(text, *word);
		if (!text)
			return false;
	}
	return true;
}

static void no_width_is_exceeded_and_no_word_lost(void **state)
{
	static const char *const word[] = { "so.0.8.6", "refused:", "reads", "own", "file",
					    NULL };
	(void)state;
	for (unsigned width = 18; width < 90; width++) {
		char *text = shown(modules(), &(struct table_look){ .width = width });

		if (widest(text) > width)
			fail_msg("%zu columns of %u:\n%s", widest(text), width, text);
		if (width > 48 && !has_words(text, word))
			fail_msg("words are missing at %u:\n%s", width, text);
		free(text);
	}
}

static void characters_of_several_bytes_are_not_cut(void **state)
{
	static const struct table_column col[] = { { "name", TABLE_TEXT } };
	const char *name = "/äöüäöü/äöü"
			   "äöüäöüäöü";

	(void)state;
	for (unsigned width = 17; width < 28; width++) {
		struct table *t = table_new("t", 1, col);

		table_row(t, name);
		char *text = shown(t, &(struct table_look){ .width = width });
		assert_true(utf8_valid(text));
		assert_true(widest(text) <= width);
		free(text);
	}
}

static void colour_is_only_there_if_asked_for(void **state)
{
	(void)state;
	char *plain = shown(modules(), &(struct table_look){ .paint = paint });
	char *painted = shown(modules(), &(struct table_look){ .paint = paint,
							       .colour = true });

	assert_null(strchr(plain, '\033'));
	assert_non_null(strstr(painted, "\033[32mgood\033[0m\n"));
	assert_non_null(strstr(painted, "\033[1mpath\033[0m"));
	assert_null(strstr(painted, "mrefused"));
	free(plain);
	free(painted);
}

static void times_have_two_units(void **state)
{
	static const struct { unsigned long long s; const char *want; } time[] = {
		{ 0, "0 s" }, { 59, "59 s" }, { 60, "1 min" }, { 125, "2 min 5 s" },
		{ 3600, "1 h" }, { 7523, "2 h 5 min" }, { 86400 + 59, "1 d" },
		{ 90000, "1 d 1 h" },
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof(time) / sizeof(time[0]); i++) {
		table_human_time(time[i].s, text, sizeof(text));
		assert_string_equal(text, time[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_that_fits_is_as_it_is),
		cmocka_unit_test(paths_lose_their_middle_and_text_goes_on),
		cmocka_unit_test(what_cannot_fit_is_printed_in_lines),
		cmocka_unit_test(columns_go_that_can_be_spared),
		cmocka_unit_test(no_width_is_exceeded_and_no_word_lost),
		cmocka_unit_test(characters_of_several_bytes_are_not_cut),
		cmocka_unit_test(colour_is_only_there_if_asked_for),
		cmocka_unit_test(times_have_two_units),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
