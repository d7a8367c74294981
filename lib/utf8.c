/* utf8.c - text of others, made fit for terminals, logs and JSON; see utf8.h
 *
 * Tested by tests/unit/lib/test_utf8.c.
 */
#include "lib/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"

enum { ESCAPE_MAX = sizeof("\\U0010ffff") };

unsigned utf8_next(const char *s, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	uint8_t first = (uint8_t)s[0];
	unsigned more = first < 0x80 ? 0 : first < 0xc0 ? 4 : first < 0xe0 ? 1 :
			first < 0xf0 ? 2 : first < 0xf8 ? 3 : 4;

	if (more > 3 || !first)
		return 0;
	uint32_t v = more ? first & (0x3fu >> more) : first;
	for (unsigned i = 1; i <= more; i++) {
		if (((uint8_t)s[i] & 0xc0) != 0x80)	/* the NUL is none either */
			return 0;
		v = v << 6 | ((uint8_t)s[i] & 0x3f);
	}
	if (v < least[more] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
		return 0;
	*c = v;
	return more + 1;
}

bool utf8_valid(const char *s)
{
	uint32_t c;

	for (unsigned n; *s; s += n) {
		n = utf8_next(s, &c);
		if (!n)
			return false;
	}
	return true;
}

bool utf8_is_shown(uint32_t c)
{
	static const struct { uint32_t first, last; } hidden[] = {
		{ 0x00, 0x1f },		/* C0 */
		{ 0x7f, 0x9f },		/* DEL and C1 */
		{ 0xad, 0xad },		/* soft hyphen */
		{ 0x34f, 0x34f },	/* grapheme joiner */
		{ 0x61c, 0x61c },	/* Arabic letter mark */
		{ 0x115f, 0x1160 },	/* fillers */
		{ 0x17b4, 0x17b5 },	/* vowels that are not shown */
		{ 0x180b, 0x180f },	/* Mongolian variants */
		{ 0x200b, 0x200f },	/* no width; marks of direction */
		{ 0x2028, 0x202e },	/* ends of lines and paragraphs; directions */
		{ 0x2060, 0x206f },	/* invisible operators; isolated directions */
		{ 0x3164, 0x3164 },	/* a filler */
		{ 0xe000, 0xf8ff },	/* private use: nobody knows what a font has there */
		{ 0xfe00, 0xfe0f },	/* variants */
		{ 0xfeff, 0xfeff },	/* byte order */
		{ 0xffa0, 0xffa0 },	/* a filler */
		{ 0xfff0, 0xfffc },	/* annotations between lines */
		{ 0x1d173, 0x1d17a },	/* musical format */
		{ 0xe0000, 0x10ffff },	/* tags, variants, private use */
	};

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (c >= hidden[i].first && c <= hidden[i].last)
			return false;
	return (c & 0xfffe) != 0xfffe && (c < 0xfdd0 || c > 0xfdef);	/* noncharacters */
}

bool utf8_all_shown(const char *s)
{
	uint32_t c;

	for (unsigned n; *s; s += n) {
		n = utf8_next(s, &c);
		if (!n || !utf8_is_shown(c))
			return false;
	}
	return true;
}

/* What stands for the character at *s, which moves on behind it. */
static size_t next_shown(const char **s, char out[ESCAPE_MAX])
{
	uint32_t c = 0;
	unsigned n = utf8_next(*s, &c);

	if (!n || c < 0x20 || c == 0x7f)
		(void)snprintf(out, ESCAPE_MAX, "\\x%02x", (uint8_t)**s);
	else if (c == '\\')
		(void)snprintf(out, ESCAPE_MAX, "\\\\");
	else if (utf8_is_shown(c))
		(void)snprintf(out, ESCAPE_MAX, "%.*s", (int)n, *s);
	else
		(void)snprintf(out, ESCAPE_MAX, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
	*s += n ? n : 1;
	return strlen(out);
}

void utf8_escape(const char *s, char *out, size_t n)
{
	char one[ESCAPE_MAX];

	while (*s) {
		size_t k = next_shown(&s, one);

		if (k >= n)
			break;
		memcpy(out, one, k);
		out += k;
		n -= k;
	}
	*out = '\0';
}

char *utf8_escaped(const char *s)
{
	size_t n = UTF8_GROWTH * strlen(s) + 1;
	char *out = memory_new(n, 1);

	utf8_escape(s, out, n);
	return out;
}

/* The character that the escape at `s` stands for, and its bytes; 0: there is none. */
static size_t escape_at(const char *s, uint32_t *c)
{
	size_t digits = s[1] == 'x' ? 2 : s[1] == 'u' ? 4 : s[1] == 'U' ? 8 : 0;
	char hex[9] = "";

	*c = '\\';
	if (s[0] != '\\' || (!digits && s[1] != '\\'))
		return 0;
	if (!digits)
		return 2;
	strncpy(hex, s + 2, digits);
	if (strlen(hex) != digits || strspn(hex, "0123456789abcdef") != digits)
		return 0;
	*c = (uint32_t)strtoul(hex, NULL, 16);
	return *c ? digits + 2 : 0;
}

static size_t put_character(char *out, uint32_t c)
{
	static const uint8_t lead[] = { 0, 0xc0, 0xe0, 0xf0 };
	unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	*out++ = (char)(lead[more] | (c >> (6 * more)));
	for (unsigned i = more; i-- > 0; )
		*out++ = (char)(0x80 | (c >> (6 * i) & 0x3f));
	return more + 1;
}

void utf8_unescape(char *s)
{
	char *out = s;
	uint32_t c;

	while (*s) {
		size_t n = escape_at(s, &c);

		if (!n || c > 0x10ffff)
			*out++ = *s++;
		else if (s[1] == 'x')
			*out++ = (char)c;
		else
			out += put_character(out, c);
		s += n && c <= 0x10ffff ? n : 0;
	}
	*out = '\0';
}

size_t utf8_length(const char *escaped)
{
	size_t n = 0;

	for (; *escaped; escaped++)
		n += ((uint8_t)*escaped & 0xc0) != 0x80;
	return n;
}
