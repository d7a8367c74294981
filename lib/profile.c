/* profile.c - reading and writing of block profiles
 *
 * The reader takes one line after the other and knows four kinds of header line, each at most
 * once, before the first block line.  Numbers are parsed here, not by strtod(): no locale, no
 * exponents, no "nan".
 */
#include "lib/profile.h"

#include <stdbool.h>
#include <stdio.h>

#include "lib/arena.h"
#include "lib/err.h"

struct parser {
	const uint8_t *p, *end;		/* what is left of the text */
	const char *line;		/* current line, without its newline */
	size_t n;
	uint32_t lineno;
};

/* False at the end of the text.  A last line without newline is one all the same. */
static bool next_line(struct parser *ps)
{
	if (ps->p == ps->end)
		return false;
	const uint8_t *nl = memchr(ps->p, '\n', (size_t)(ps->end - ps->p));
	const uint8_t *stop = nl ? nl : ps->end;
	ps->line = (const char *)ps->p;
	ps->n = (size_t)(stop - ps->p);
	ps->p = nl ? nl + 1 : ps->end;
	ps->lineno++;
	return true;
}

/* Cuts `word` and one blank off the line's front if they are there. */
static bool take(struct parser *ps, const char *word)
{
	size_t n = strlen(word);

	if (ps->n <= n || memcmp(ps->line, word, n) != 0 || ps->line[n] != ' ')
		return false;
	ps->line += n + 1;
	ps->n -= n + 1;
	return true;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Digits, perhaps a point and more digits; at most 15 before the point. */
static bool parse_decimal(const char *s, size_t n, double *out)
{
	double v = 0, scale = 1;
	size_t i = 0;

	while (i < n && s[i] >= '0' && s[i] <= '9')
		v = 10 * v + (s[i++] - '0');
	if (i == 0 || i > 15)
		return false;
	if (i < n && s[i] == '.') {
		size_t point = i++;

		for (; i < n && i <= point + 9 && s[i] >= '0' && s[i] <= '9'; i++) {
			v = 10 * v + (s[i] - '0');
			scale *= 10;
		}
		if (i == point + 1)
			return false;
	}
	*out = v / scale;
	return i == n;
}

/* "0x4f2a0 153.000" */
static bool parse_block(const char *s, size_t n, struct profile_block *out)
{
	uint64_t addr = 0;
	size_t i = 2;

	if (n < 3 || s[0] != '0' || s[1] != 'x')
		return false;
	for (; i < n && i < 18 && hex_value(s[i]) >= 0; i++)
		addr = addr << 4 | (unsigned)hex_value(s[i]);
	if (i == 2 || i >= n || s[i] != ' ')
		return false;
	out->addr = addr;
	return parse_decimal(s + i + 1, n - i - 1, &out->samples);
}

/* NULL when an escape is malformed or the path is empty or has control bytes. */
static const char *parse_path(const char *s, size_t n, struct arena *a)
{
	char *path = arena_alloc(a, n + 1);
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x20 || c == 0x7f)
			return NULL;
		if (c == '%') {
			if (n - i < 3 || hex_value(s[i + 1]) < 0 || hex_value(s[i + 2]) < 0)
				return NULL;
			c = (unsigned char)(hex_value(s[i + 1]) << 4 | hex_value(s[i + 2]));
			i += 2;
			if (c == 0)
				return NULL;
		}
		path[len++] = (char)c;
	}
	return len ? path : NULL;
}

static bool parse_digest(const char *s, size_t n, struct digest *out)
{
	char hex[65];

	if (n != 64)
		return false;
	memcpy(hex, s, 64);
	hex[64] = '\0';
	return digest_from_hex(hex, out) == 0;
}

static const char *parse_word(const char *s, size_t n, struct arena *a)
{
	if (n == 0 || n > 32)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (!(s[i] >= 'a' && s[i] <= 'z') && !(s[i] >= '0' && s[i] <= '9') &&
		    s[i] != '-')
			return NULL;
	}
	char *word = arena_alloc(a, n + 1);
	memcpy(word, s, n);
	return word;
}

enum { HAVE_MODULE = 1, HAVE_DIGEST = 2, HAVE_CLOCK = 4, HAVE_OUTSIDE = 8 };

/* 1: a header line, 0: none, -1: a malformed or repeated one. */
static int parse_header(struct parser *ps, struct arena *a, struct profile *p, unsigned *have)
{
	unsigned bit;
	bool ok;

	if (take(ps, "module")) {
		bit = HAVE_MODULE;
		ok = (p->module = parse_path(ps->line, ps->n, a)) != NULL;
	} else if (take(ps, "sha256")) {
		bit = HAVE_DIGEST;
		ok = parse_digest(ps->line, ps->n, &p->original);
	} else if (take(ps, "clock")) {
		bit = HAVE_CLOCK;
		ok = (p->clock = parse_word(ps->line, ps->n, a)) != NULL;
	} else if (take(ps, "outside")) {
		bit = HAVE_OUTSIDE;
		ok = parse_decimal(ps->line, ps->n, &p->outside);
	} else {
		return 0;
	}
	if (!ok || (*have & bit))
		return -1;
	*have |= bit;
	return 1;
}

int profile_read(struct bytes text, struct arena *a, struct profile *out, struct err *err)
{
	struct parser ps = { text.p, text.p ? text.p + text.n : NULL, NULL, 0, 0 };
	VEC(struct profile_block) blocks = { 0 };
	struct profile p = { 0 };
	unsigned have = 0;

	if (!next_line(&ps) || !take(&ps, "morph-profile"))
		return err_set(err, ERR_INPUT, "not a profile");
	if (ps.n != 1 || ps.line[0] != '1')
		return err_set(err, ERR_INPUT, "profile of version '%.*s', this program reads 1",
			       ps.n > 20 ? 20 : (int)ps.n, ps.line);
	while (next_line(&ps)) {
		struct profile_block b;
		int header = blocks.n ? 0 : parse_header(&ps, a, &p, &have);

		if (header > 0)
			continue;
		if (header < 0 || !take(&ps, "block") || !parse_block(ps.line, ps.n, &b))
			return err_set(err, ERR_INPUT, "profile line %u is malformed or unknown",
				       ps.lineno);
		if (blocks.n && b.addr <= blocks.v[blocks.n - 1].addr)
			return err_set(err, ERR_INPUT, "profile line %u is out of order", ps.lineno);
		if (blocks.n == UINT32_MAX / 4)
			return err_set(err, ERR_INPUT, "profile has too many blocks");
		vec_push(a, &blocks, b);
		p.samples += b.samples;
	}
	if ((have | HAVE_OUTSIDE) != (HAVE_MODULE | HAVE_DIGEST | HAVE_CLOCK | HAVE_OUTSIDE))
		return err_set(err, ERR_INPUT, "profile lacks its module, sha256 or clock line");
	p.block = blocks.v;
	p.nblock = blocks.n;
	*out = p;
	return 0;
}

static void write_text(struct wr *out, const char *s)
{
	wr_raw(out, s, strlen(s));
}

static void write_path(struct wr *out, const char *path)
{
	for (const char *s = path; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < 0x20 || c == 0x7f || c == '%') {
			char hex[4];

			(void)snprintf(hex, sizeof(hex), "%%%02x", c);	/* always 3 bytes */
			write_text(out, hex);
		} else {
			wr_u8(out, c);
		}
	}
}

void profile_write(const struct profile *p, struct wr *out)
{
	char line[96], hex[65];

	write_text(out, "morph-profile 1\nmodule ");
	write_path(out, p->module);
	digest_hex(&p->original, hex);
	(void)snprintf(line, sizeof(line), "\nsha256 %s\nclock ", hex);	/* fits */
	write_text(out, line);
	write_text(out, p->clock);
	(void)snprintf(line, sizeof(line), "\noutside %.3f\n", p->outside);
	write_text(out, line);
	for (uint32_t i = 0; i < p->nblock; i++) {
		(void)snprintf(line, sizeof(line), "block 0x%llx %.3f\n",
			       (unsigned long long)p->block[i].addr, p->block[i].samples);
		write_text(out, line);
	}
}
