/* test_utf8.c - text of others is shown so that it does no harm, and no two texts alike */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/say.h"
#include "lib/utf8.h"

static void shown_as(const char *text, const char *expected)
{
	char *escaped = utf8_escaped(text);

	assert_string_equal(escaped, expected);
	utf8_unescape(escaped);
	assert_string_equal(escaped, text);
	free(escaped);
}

static void what_everybody_writes_stays_as_it_is(void **state)
{
	static const char *const text[] = { "", "/usr/bin/perl", "größe", "日本語", "🙂",
					    ("a b\xc2\xa0" "c") };

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		assert_true(utf8_valid(text[i]));
		assert_true(utf8_all_shown(text[i]));
		shown_as(text[i], text[i]);
	}
}

static void controls_are_escaped(void **state)
{
	(void)state;
	shown_as("a\x1b[31mb", "a\\x1b[31mb");
	shown_as("a\nb\tc\x7f", "a\\x0ab\\x09c\\x7f");
	shown_as("a\xc2\x9b" "31m", "a\\u009b31m");
	shown_as("a\x9b" "31m", "a\\x9b31m");
	shown_as("a\\x9b", "a\\\\x9b");
}

/* Every character of the kinds that can turn the text around them or end its line. */
static void directions_and_ends_of_lines_are_escaped(void **state)
{
	static const struct { const char *text, *shown; } kind[] = {
		{ "\xe2\x80\x8e", "\\u200e" }, { "\xe2\x80\x8f", "\\u200f" },
		{ "\xe2\x80\xa8", "\\u2028" }, { "\xe2\x80\xa9", "\\u2029" },
		{ "\xe2\x80\xaa", "\\u202a" }, { "\xe2\x80\xab", "\\u202b" },
		{ "\xe2\x80\xac", "\\u202c" }, { "\xe2\x80\xad", "\\u202d" },
		{ "\xe2\x80\xae", "\\u202e" }, { "\xe2\x81\xa6", "\\u2066" },
		{ "\xe2\x81\xa7", "\\u2067" }, { "\xe2\x81\xa8", "\\u2068" },
		{ "\xe2\x81\xa9", "\\u2069" }, { "\xd8\x9c", "\\u061c" },
		{ "\xe2\x80\x8b", "\\u200b" }, { "\xef\xbb\xbf", "\\ufeff" },
		{ "\xf3\xa0\x81\x81", "\\U000e0041" }, { "\xf4\x8f\xbf\xbf", "\\U0010ffff" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		assert_true(utf8_valid(kind[i].text));
		assert_false(utf8_all_shown(kind[i].text));
		shown_as(kind[i].text, kind[i].shown);
	}
}

static void what_is_no_utf8_is_shown_by_its_bytes(void **state)
{
	static const struct { const char *text, *shown; } kind[] = {
		{ "\xff", "\\xff" },
		{ "\xc3", "\\xc3" },			/* cut short */
		{ "\xe2\x82", "\\xe2\\x82" },
		{ "\xc3" "A", "\\xc3A" },
		{ "\xc0\x9b", "\\xc0\\x9b" },		/* longer than it need be */
		{ "\xc1\xbf", "\\xc1\\xbf" },
		{ "\xe0\x9f\xbf", "\\xe0\\x9f\\xbf" },
		{ "\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },	/* surrogates */
		{ "\xed\xbf\xbf", "\\xed\\xbf\\xbf" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },	/* beyond the last */
		{ "\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		assert_false(utf8_valid(kind[i].text));
		assert_false(utf8_all_shown(kind[i].text));
		shown_as(kind[i].text, kind[i].shown);
	}
}

static void put_utf8(uint32_t c, char out[5])
{
	memset(out, 0, 5);
	if (c < 0x80) {
		out[0] = (char)c;
	} else if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
	} else {
		out[0] = (char)(0xf0 | c >> 18);
		out[1] = (char)(0x80 | (c >> 12 & 0x3f));
		out[2] = (char)(0x80 | (c >> 6 & 0x3f));
		out[3] = (char)(0x80 | (c & 0x3f));
	}
}

static void every_character_is_read_as_what_it_is(void **state)
{
	char text[5];
	uint32_t c;

	(void)state;
	for (uint32_t i = 1; i < 0x110000; i++) {
		put_utf8(i, text);
		bool surrogate = i >= 0xd800 && i < 0xe000;

		assert_int_equal(utf8_next(text, &c), surrogate ? 0 : strlen(text));
		if (!surrogate)
			assert_int_equal(c, i);
	}
}

/* Back from what is shown to the bytes: so no two texts are shown alike. */
static size_t unescape(const char *s, char *out)
{
	size_t n = 0;

	while (*s) {
		if (*s != '\\') {
			out[n++] = *s++;
		} else if (s[1] == '\\') {
			out[n++] = '\\';
			s += 2;
		} else {
			size_t digits = s[1] == 'x' ? 2 : s[1] == 'u' ? 4 : 8;
			char hex[9] = "";

			memcpy(hex, s + 2, digits);
			uint32_t c = (uint32_t)strtoul(hex, NULL, 16);
			if (digits == 2) {
				out[n++] = (char)c;
			} else {
				put_utf8(c, out + n);
				n += strlen(out + n);
			}
			s += 2 + digits;
		}
	}
	out[n] = '\0';
	return n;
}

static void what_is_shown_tells_every_byte(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 100000; round++) {
		static const char *const piece[] = { "\xc2\x9b", "\xe2\x80\xae", "\\", "\\x9b",
						     "\xed\xa0\x80", "ä", "\x1b", "\\u202e" };
		char text[64] = "", back[UTF8_GROWTH * sizeof(text)];

		for (int i = 0; i < 6; i++) {
			seed = seed * 1103515245 + 12345;
			uint32_t r = seed >> 16;
			char one[2] = { (char)(1 + r % 255), 0 };

			strcat(text, r & 0x1000 ? piece[r % 8] : one);
		}
		char *shown = utf8_escaped(text);
		assert_true(utf8_valid(shown));
		unescape(shown, back);
		assert_string_equal(back, text);
		utf8_unescape(shown);
		assert_string_equal(shown, text);
		free(shown);
	}
}

static void what_is_no_escape_stays(void **state)
{
	static const char *const text[] = { "\\", "\\x", "\\x1", "\\xgg", "\\u12", "\\n",
					    "\\x00", "\\U00110000", "\\U0010fff", "a\\" };
	char copy[32];

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		strcpy(copy, text[i]);
		utf8_unescape(copy);
		assert_string_equal(copy, text[i]);
	}
}

static void no_escape_is_cut_in_two(void **state)
{
	char out[16];

	(void)state;
	utf8_escape("abc\xc2\x9b" "d", out, 9);		/* the escape needs 6, and the NUL */
	assert_string_equal(out, "abc");
	utf8_escape("abc\xc2\x9b" "d", out, 10);
	assert_string_equal(out, "abc\\u009b");
	utf8_escape("abcä", out, 5);
	assert_string_equal(out, "abc");
	utf8_escape("abc", out, 1);
	assert_string_equal(out, "");
}

static void a_line_is_one_line_whatever_it_names(void **state)
{
	char *text = NULL;
	size_t n = 0;

	(void)state;
	FILE *f = open_memstream(&text, &n);
	say_line(f, "'%s': no such %s", "a\nb\xc2\x85\x9b", "file");
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, "'a\\x0ab\\u0085\\x9b': no such file\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_everybody_writes_stays_as_it_is),
		cmocka_unit_test(controls_are_escaped),
		cmocka_unit_test(directions_and_ends_of_lines_are_escaped),
		cmocka_unit_test(what_is_no_utf8_is_shown_by_its_bytes),
		cmocka_unit_test(every_character_is_read_as_what_it_is),
		cmocka_unit_test(what_is_shown_tells_every_byte),
		cmocka_unit_test(what_is_no_escape_stays),
		cmocka_unit_test(no_escape_is_cut_in_two),
		cmocka_unit_test(a_line_is_one_line_whatever_it_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
