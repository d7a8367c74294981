/* test_html.c - what is put into markup stays text, whoever chose it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/utf8.h"
#include "manager/page/html.h"

static void becomes(struct wr *w, const char *expected)
{
	wr_u8(w, 0);
	assert_string_equal((const char *)w->p, expected);
	wr_free(w);
}

static void text_becomes(const char *text, const char *expected)
{
	struct wr w = { 0 };

	html_text(&w, text);
	becomes(&w, expected);
}

static void markup_is_text(void **state)
{
	(void)state;
	text_becomes("</script><img src=x onerror='a'>",
		     "&lt;/script&gt;&lt;img src=x onerror=&#39;a&#39;&gt;");
	text_becomes("\" onload=\"x", "&quot; onload=&quot;x");
	text_becomes("&lt;", "&amp;lt;");
	text_becomes("<!--]]>", "&lt;!--]]&gt;");
}

static void what_changes_other_text_is_an_escape(void **state)
{
	(void)state;
	text_becomes("a\033[31m\x7f\n\tb", "a\\x1b[31m\\x7f\\x0a\\x09b");
	text_becomes("c1 \xc2\x9b \xc2\x85", "c1 \\u009b \\u0085");
	text_becomes("bidi \xe2\x80\xae \xe2\x81\xa6", "bidi \\u202e \\u2066");
	text_becomes("raw \x9b cut \xe2\x80", "raw \\x9b cut \\xe2\\x80");
	text_becomes("none \xef\xbf\xbe tag \xf3\xa0\x81\x81", "none \\ufffe tag \\U000e0041");
}

static void the_rest_stays_as_it_is(void **state)
{
	(void)state;
	text_becomes("größe 日本語 🙂 a\\b", "größe 日本語 🙂 a\\b");
	text_becomes("", "");
}

/* Whatever the bytes are, none of them is markup afterwards, and all are shown. */
static void any_bytes_are_text(void **state)
{
	(void)state;
	srand(1);
	for (int i = 0; i < 100000; i++) {
		char text[9] = { 0 };
		struct wr w = { 0 };
		uint32_t c;

		for (size_t k = 0; k < sizeof(text) - 1; k++)
			text[k] = (char)(1 + rand() % 255);
		html_text(&w, text);
		wr_u8(&w, 0);
		assert_null(strpbrk((const char *)w.p, "<>\"'"));
		for (const char *s = (const char *)w.p; *s; ) {
			unsigned n = utf8_next(s, &c);

			assert_int_not_equal(n, 0);
			assert_true(c == '\\' || utf8_is_shown(c));
			s += n;
		}
		wr_free(&w);
	}
}

static void a_format_is_markup_and_its_values_are_text(void **state)
{
	struct wr w = { 0 };

	(void)state;
	html_put(&w, "<a href=\"#%s\">%s</a> %d %u 0x%llx %.3f %.4g %zu %% %lu", "\"<", "<b>",
		 -5, 7u, 0xabcull, 1.5, 1e-9, (size_t)3, 4ul);
	becomes(&w, "<a href=\"#&quot;&lt;\">&lt;b&gt;</a> -5 7 0xabc 1.500 1e-09 3 % 4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markup_is_text),
		cmocka_unit_test(what_changes_other_text_is_an_escape),
		cmocka_unit_test(the_rest_stays_as_it_is),
		cmocka_unit_test(any_bytes_are_text),
		cmocka_unit_test(a_format_is_markup_and_its_values_are_text),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
