/* html.c - the markup of a page: see html.h
 *
 * Tested by tests/unit/manager/page/test_html.c.
 */
#include "manager/page/html.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/utf8.h"

/* --- text --- */

static const char *reference(uint32_t c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return NULL;
	}
}

void html_text(struct wr *w, const char *text)
{
	char one[16];
	uint32_t c;

	for (unsigned n; *text; text += n ? n : 1) {
		n = utf8_next(text, &c);
		if (n && reference(c)) {
			wr_text(w, reference(c));
		} else if (n && (c == '\\' || utf8_is_shown(c))) {
			wr_raw(w, text, n);
		} else {
			char raw[5] = { 0 };

			memcpy(raw, text, n ? n : 1);
			utf8_escape(raw, one, sizeof(one));
			wr_text(w, one);
		}
	}
}

/* --- formats --- */

enum { SPEC_MAX = 16, NUMBER_MAX = 512 };

/* Its length; a conversion ends with its letter. */
static size_t conversion(const char *fmt)
{
	return 1 + strcspn(fmt + 1, "%sduxfgc") + 1;
}

static void put_number(struct wr *w, const char *spec, va_list *ap)
{
	char text[NUMBER_MAX];
	size_t n = strlen(spec);
	int longs = (strchr(spec, 'l') != NULL) + (strstr(spec, "ll") != NULL);

#define PRINT(TYPE) (void)snprintf(text, sizeof(text), spec, va_arg(*ap, TYPE))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (spec[n - 1] == 'f' || spec[n - 1] == 'g')
		PRINT(double);
	else if (longs == 2)
		PRINT(unsigned long long);
	else if (longs == 1 || strchr(spec, 'z'))
		PRINT(unsigned long);
	else
		PRINT(unsigned);
#pragma GCC diagnostic pop
#undef PRINT
	html_text(w, text);
}

void html_put(struct wr *w, const char *fmt, ...)
{
	char spec[SPEC_MAX];
	va_list ap;

	va_start(ap, fmt);
	while (*fmt) {
		size_t n = strcspn(fmt, "%");

		wr_raw(w, fmt, n);
		fmt += n;
		if (!*fmt)
			break;
		n = conversion(fmt);
		assert(n < SPEC_MAX);
		memcpy(spec, fmt, n);
		spec[n] = '\0';
		fmt += n;
		if (strcmp(spec, "%%") == 0)
			wr_u8(w, '%');
		else if (spec[n - 1] == 's')
			html_text(w, va_arg(ap, const char *));
		else
			put_number(w, spec, &ap);
	}
	va_end(ap);
}
