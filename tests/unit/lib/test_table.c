/* test_table.c - tables for people and for programs, of any bytes
 *
 * JSON is read by a strict parser of its own here: nothing but what RFC 8259 permits, in valid
 * UTF-8, without lone surrogates.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/table.h"
#include "lib/utf8.h"

/* --- a strict reader of JSON; each returns what is behind it, NULL when it is not one --- */

static const char *blanks(const char *s)
{
	return s + strspn(s, " \n\r\t");
}

static const char *hex4(const char *s, unsigned *out)
{
	char digits[5] = "";

	if (strspn(s, "0123456789abcdefABCDEF") < 4)
		return NULL;
	memcpy(digits, s, 4);
	*out = (unsigned)strtoul(digits, NULL, 16);
	return s + 4;
}

static const char *escape(const char *s)		/* behind the \ */
{
	unsigned c, low;

	if (*s != 'u')
		return *s && strchr("\"\\/bfnrt", *s) ? s + 1 : NULL;
	s = hex4(s + 1, &c);
	if (!s || (c >= 0xdc00 && c < 0xe000))
		return NULL;
	if (c < 0xd800 || c > 0xdfff)
		return s;
	if (s[0] != '\\' || s[1] != 'u')
		return NULL;
	s = hex4(s + 2, &low);
	return s && low >= 0xdc00 && low < 0xe000 ? s : NULL;
}

static const char *string(const char *s)
{
	if (*s++ != '"')
		return NULL;
	while (s && *s != '"') {
		uint32_t c;
		unsigned n = utf8_next(s, &c);

		if (!n || c < 0x20)
			return NULL;
		s = c == '\\' ? escape(s + 1) : s + n;
	}
	return s ? s + 1 : NULL;
}

static const char *number(const char *s)
{
	size_t n;

	s += *s == '-';
	n = strspn(s, "0123456789");
	if (!n || (n > 1 && *s == '0'))
		return NULL;
	s += n;
	if (*s == '.') {
		n = strspn(++s, "0123456789");
		s = n ? s + n : NULL;
	}
	return s && strchr("eE", *s) && *s ? NULL : s;	/* tables write none */
}

static const char *value(const char *s);

static const char *list(const char *s, char end)
{
	s = blanks(s + 1);
	if (*s == end)
		return s + 1;
	for (;;) {
		if (end == '}') {
			s = string(s);
			s = s ? blanks(s) : NULL;
			s = s && *s == ':' ? blanks(s + 1) : NULL;
		}
		s = s ? value(s) : NULL;
		s = s ? blanks(s) : NULL;
		if (!s || *s == end)
			return s ? s + 1 : NULL;
		if (*s != ',')
			return NULL;
		s = blanks(s + 1);
	}
}

static const char *value(const char *s)
{
	if (*s == '{' || *s == '[')
		return list(s, *s == '{' ? '}' : ']');
	if (*s == '"')
		return string(s);
	if (strncmp(s, "true", 4) == 0 || strncmp(s, "null", 4) == 0)
		return s + 4;
	return strncmp(s, "false", 5) == 0 ? s + 5 : number(s);
}

static bool is_json(const char *text)
{
	const char *end = value(blanks(text));

	return end && !*blanks(end);
}

static void the_reader_of_json_is_strict(void **state)
{
	static const char *const good[] = { "{}", "{\"a\": [1, -2.5, true, \"\\u202e\"]}",
					    "\"\\ud83d\\ude42\"", "[]", "\"ä\"" };
	static const char *const bad[] = { "{", "{\"a\" 1}", "\"\x9b\"", "\"\n\"", "inf", "+1",
					   "012", "\"\\udc9b\"", "\"\\ud83d\"", "{} {}",
					   "\"\\x9b\"", "1.", "nan", "0x1" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(is_json(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(is_json(bad[i]));
}

/* --- tables --- */

static char *printed(struct table *const *t, int n, bool json)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	table_print_all(t, n, f, json);
	assert_int_equal(fclose(f), 0);
	return text;
}

/* Characters that a terminal or a reader takes for more than a character. */
static bool has_harmful(const char *text)
{
	uint32_t c;

	for (unsigned n; *text; text += n) {
		n = utf8_next(text, &c);
		if (!n || (c != '\n' && !utf8_is_shown(c)))
			return true;
	}
	return false;
}

static const struct table_column two[] = { { "path", TABLE_TEXT }, { "n", TABLE_UINT } };

static void a_text_that_is_no_utf8_has_its_bytes_besides(void **state)
{
	struct table *t = table_new("t", 2, two);

	(void)state;
	table_row(t, "a\x9b", (uint64_t)1);
	table_row(t, "a\\x9b", (uint64_t)2);
	table_row(t, "a\xc2\x9b", (uint64_t)3);
	char *text = printed(&t, 1, true);
	assert_true(is_json(text));
	assert_string_equal(text,
			    "{\"t\": [\n"
			    "  {\"path\": \"a\\\\x9b\", \"path_hex\": \"619b\", \"n\": 1},\n"
			    "  {\"path\": \"a\\\\x9b\", \"n\": 2},\n"
			    "  {\"path\": \"a\\u009b\", \"n\": 3}\n]}\n");
	free(text);
	text = printed(&t, 1, false);
	assert_string_equal(text, "path     n\na\\x9b    1\na\\\\x9b   2\na\\u009b  3\n");
	free(text);
	table_free(t);
}

static void columns_are_of_characters(void **state)
{
	struct table *t = table_new("t", 2, two);

	(void)state;
	table_row(t, "größe", (uint64_t)1);
	table_row(t, "grosse", (uint64_t)22);
	char *text = printed(&t, 1, false);
	assert_string_equal(text, "path     n\ngröße    1\ngrosse  22\n");
	free(text);
	table_free(t);
}

/* Every byte and pairs of bytes, in cells, titles and names of columns. */
static void whatever_the_bytes_all_stays_well_formed(void **state)
{
	(void)state;
	for (unsigned i = 1; i < 256; i++)
		for (unsigned k = 0; k < 256; k += 5) {
			char name[8] = { 'a', (char)i, (char)k, 0 };
			struct table_column col[] = { { name, TABLE_TEXT },
						      { "n", TABLE_REAL } };
			struct table *t[2] = { table_new(name, 2, col),
					       table_new("u", 2, two) };
			const char *cell[] = { name, name + 1 };

			table_row_text(t[0], cell);
			table_row_text(t[1], cell);
			for (int json = 0; json < 2; json++) {
				char *text = printed(t, 2, json);

				assert_false(has_harmful(text));
				assert_true(!json || is_json(text));
				free(text);
			}
			table_free(t[0]);
			table_free(t[1]);
		}
}

/* Figures come as text from others, too. */
static void only_what_json_takes_for_a_number_is_one(void **state)
{
	static const char *const text[] = { "inf", "nan", "-nan", "0x10", "+1", " 1", "1 ", "",
					    "-", "1e", "1e5x", "007", ".5", "5.", "1,5", "-1",
					    "99999999999999999999", "1e999" };
	static const struct table_column col[] = { { "u", TABLE_UINT }, { "r", TABLE_REAL },
						   { "b", TABLE_BYTES }, { "t", TABLE_TIME },
						   { "h", TABLE_HEX }, { "y", TABLE_BOOL },
						   { "i", TABLE_INT } };

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		const char *cell[7];
		struct table *t = table_new("t", 7, col);

		for (int k = 0; k < 7; k++)
			cell[k] = text[i];
		table_row_text(t, cell);
		char *out = printed(&t, 1, true);
		assert_true(is_json(out));
		free(out);
		table_free(t);
	}
}

static void numbers_are_numbers(void **state)
{
	static const struct table_column col[] = { { "u", TABLE_UINT }, { "r", TABLE_REAL },
						   { "b", TABLE_BYTES }, { "h", TABLE_HEX },
						   { "y", TABLE_BOOL }, { "i", TABLE_INT } };
	struct table *t = table_new("t", 6, col);

	(void)state;
	table_row(t, (uint64_t)7, 2.5, (uint64_t)2048, (uint64_t)255, 1, (int64_t)-3);
	char *text = printed(&t, 1, true);
	assert_string_equal(text, "{\"t\": [\n  {\"u\": 7, \"r\": 2.500000, \"b\": 2048, "
				  "\"h\": \"0xff\", \"y\": true, \"i\": -3}\n]}\n");
	free(text);
	text = printed(&t, 1, false);
	assert_string_equal(text, "u      r        b     h    y   i\n"
				  "7  2.500  2.0 KiB  0xff  yes  -3\n");
	free(text);
	table_free(t);
}

static void numbers_that_are_not_there_are_null(void **state)
{
	static const struct table_column col[] = { { "r", TABLE_REAL }, { "u", TABLE_UINT },
						   { "t", TABLE_TEXT } };
	const char *const none[] = { "", "", "" };
	const struct table_look look = { .json = true, .version = 3 };
	struct table *t = table_new("t", 3, col);
	char *text = NULL;
	size_t n = 0;

	(void)state;
	table_row(t, NAN, (uint64_t)1, "x");
	table_row_text(t, none);
	FILE *f = open_memstream(&text, &n);
	table_show_all(&t, 1, f, &look);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, "{\"version\": 3,\n\"t\": [\n"
				  "  {\"r\": null, \"u\": 1, \"t\": \"x\"},\n"
				  "  {\"r\": null, \"u\": null, \"t\": \"\"}\n]}\n");
	free(text);
	text = printed(&t, 1, false);
	assert_string_equal(text, "r  u  t\n   1  x\n\n");
	free(text);
	table_free(t);
}

/* Of the figures of a layout one is an average below 1, another one has nine digits. */
static void each_figure_has_its_decimals(void **state)
{
	static const struct table_column col[] = { { "figure", TABLE_TEXT },
						   { "is", TABLE_FIGURE } };
	struct table *t = table_new("t", 2, col);

	(void)state;
	table_row(t, "many", 316876689.25);
	table_row(t, "score", 0.6464);
	table_row(t, "less", -0.25);
	table_row(t, "pages", 13.0);
	table_row(t, "some", 150.25);
	char *text = printed(&t, 1, false);
	assert_string_equal(text, "figure         is\n"
				  "many    316876689\n"
				  "score       0.646\n"
				  "less       -0.250\n"
				  "pages          13\n"
				  "some        150.2\n");
	free(text);
	text = printed(&t, 1, true);
	assert_non_null(strstr(text, "{\"figure\": \"score\", \"is\": 0.646400}"));
	free(text);
	table_free(t);
}

/* Samples are counts that may have faded, and mostly have not. */
static void a_column_of_whole_numbers_has_no_decimals(void **state)
{
	static const struct table_column col[] = { { "samples", TABLE_REAL },
						   { "faded", TABLE_REAL } };
	struct table *t = table_new("t", 2, col);

	(void)state;
	table_row(t, 43.0, 43.0);
	table_row(t, NAN, 0.5);
	table_row(t, 7.0, 7.0);
	char *text = printed(&t, 1, false);
	assert_string_equal(text, "samples   faded\n"
				  "     43  43.000\n"
				  "          0.500\n"
				  "      7   7.000\n");
	free(text);
	table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reader_of_json_is_strict),
		cmocka_unit_test(a_text_that_is_no_utf8_has_its_bytes_besides),
		cmocka_unit_test(columns_are_of_characters),
		cmocka_unit_test(whatever_the_bytes_all_stays_well_formed),
		cmocka_unit_test(only_what_json_takes_for_a_number_is_one),
		cmocka_unit_test(numbers_are_numbers),
		cmocka_unit_test(numbers_that_are_not_there_are_null),
		cmocka_unit_test(each_figure_has_its_decimals),
		cmocka_unit_test(a_column_of_whole_numbers_has_no_decimals),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
