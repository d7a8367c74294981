/* profile.c - reading and writing of block profiles
 *
 * The reader goes line by line and knows four kinds of header line, each at most
 * once, before the first line with a count.  Numbers are parsed here, not by strtod(): no
 * locale, no exponents, no "nan".
 */
#include "lib/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

enum { DIGITS = 15 };			/* in front of the point: a double holds them exactly */
static const double COUNT_MAX = 999999999999999;

/* Digits, perhaps a point and more digits. */
static bool parse_decimal(const char *s, size_t n, double *out)
{
	double v = 0, scale = 1;
	size_t i = 0;

	while (i < n && s[i] >= '0' && s[i] <= '9')
		v = 10 * v + (s[i++] - '0');
	if (i == 0 || i > DIGITS)
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

/* Cuts "0x4f2a0 " off the line's front. */
static bool take_address(struct parser *ps, vaddr *out)
{
	const char *s = ps->line;
	uint64_t addr = 0;
	size_t i = 2;

	if (ps->n < 3 || s[0] != '0' || s[1] != 'x')
		return false;
	for (; i < ps->n && i < 18 && hex_value(s[i]) >= 0; i++)
		addr = addr << 4 | (unsigned)hex_value(s[i]);
	if (i == 2 || i >= ps->n || s[i] != ' ')
		return false;
	ps->line += i + 1;
	ps->n -= i + 1;
	*out = addr;
	return true;
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

/* A line with a count; kinds stand in this order. */
enum line_kind { LINE_BLOCK, LINE_EDGE, LINE_CALL, NLINE_KIND };
static const char *const line_name[NLINE_KIND] = { "block", "edge", "call" };

struct line {
	enum line_kind kind;
	vaddr a, b;		/* LINE_BLOCK: b is 0 */
	double count;
};

static bool parse_line(struct parser *ps, struct line *out)
{
	*out = (struct line){ LINE_BLOCK, 0, 0, 0 };
	while (!take(ps, line_name[out->kind])) {
		if (++out->kind == NLINE_KIND)
			return false;
	}
	return take_address(ps, &out->a) &&
	       (out->kind == LINE_BLOCK || take_address(ps, &out->b)) &&
	       parse_decimal(ps->line, ps->n, &out->count);
}

static bool line_is_behind(const struct line *x, const struct line *y)
{
	if (x->kind != y->kind)
		return x->kind > y->kind;
	return x->a != y->a ? x->a > y->a : x->b > y->b;
}

struct lists {
	VEC(struct profile_block) block;
	VEC(struct profile_edge) edge;
	VEC(struct profile_call) call;
};

static void add_line(struct arena *a, struct lists *l, const struct line *line)
{
	switch (line->kind) {
	case LINE_BLOCK:
		vec_push(a, &l->block, ((struct profile_block){ line->a, line->count }));
		break;
	case LINE_EDGE:
		vec_push(a, &l->edge, ((struct profile_edge){ line->a, line->b, line->count }));
		break;
	case LINE_CALL:
		vec_push(a, &l->call, ((struct profile_call){ line->a, line->b, line->count }));
		break;
	case NLINE_KIND:
		break;
	}
}

static int read_lines(struct parser *ps, struct arena *a, struct profile *p, struct err *err)
{
	struct lists l = { 0 };
	struct line line, last = { 0 };
	unsigned have = 0;
	uint32_t n = 0;

	while (next_line(ps)) {
		int header = n ? 0 : parse_header(ps, a, p, &have);

		if (header > 0)
			continue;
		if (header < 0 || !parse_line(ps, &line))
			return err_set(err, ERR_INPUT,
				       "profile line %u is malformed or unknown", ps->lineno);
		if (n > 0 && !line_is_behind(&line, &last))
			return err_set(err, ERR_INPUT, "profile line %u is out of order",
				       ps->lineno);
		if (++n == UINT32_MAX / 4)
			return err_set(err, ERR_INPUT, "profile has too many lines");
		add_line(a, &l, &line);
		p->samples += line.kind == LINE_BLOCK ? line.count : 0;
		last = line;
	}
	if ((have | HAVE_OUTSIDE) != (HAVE_MODULE | HAVE_DIGEST | HAVE_CLOCK | HAVE_OUTSIDE))
		return err_set(err, ERR_INPUT,
			       "profile lacks its module, sha256 or clock line");
	p->block = l.block.v;
	p->nblock = l.block.n;
	p->edge = l.edge.v;
	p->nedge = l.edge.n;
	p->call = l.call.v;
	p->ncall = l.call.n;
	return 0;
}

bool profile_is_exact(const struct profile *p)
{
	return strcmp(p->clock, "exact") == 0;
}

bool profile_has_executions(const struct profile *p)
{
	return profile_is_exact(p) || strcmp(p->clock, "branches") == 0;
}

int profile_read(struct bytes text, struct arena *a, struct profile *out, struct err *err)
{
	struct parser ps = { text.p, text.p ? text.p + text.n : NULL, NULL, 0, 0 };
	struct profile p = { 0 };

	if (!next_line(&ps) || !take(&ps, "morph-profile"))
		return err_set(err, ERR_INPUT, "not a profile");
	if (ps.n != 1 || ps.line[0] != '2')
		return err_set(err, ERR_INPUT,
			       "profile of version '%.*s', this program reads 2",
			       ps.n > 20 ? 20 : (int)ps.n, ps.line);
	if (read_lines(&ps, a, &p, err) < 0)
		return -1;
	*out = p;
	return 0;
}

static void write_path(struct wr *out, const char *path)
{
	for (const char *s = path; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < 0x20 || c == 0x7f || c == '%') {
			char hex[4];

			(void)snprintf(hex, sizeof(hex), "%%%02x", c);	/* always 3 bytes */
			wr_text(out, hex);
		} else {
			wr_u8(out, c);
		}
	}
}

/* What is more than can be read again says no more than that it is much. */
static double bounded(double count)
{
	return count < COUNT_MAX ? count : COUNT_MAX;
}

static void write_line(struct wr *out, const struct line *line)
{
	char text[96], second[24] = "";

	if (line->kind != LINE_BLOCK)
		(void)snprintf(second, sizeof(second), " 0x%llx", (unsigned long long)line->b);
	(void)snprintf(text, sizeof(text), "%s 0x%llx%s %.3f\n", line_name[line->kind],
		       (unsigned long long)line->a, second, bounded(line->count)); /* fits */
	wr_text(out, text);
}

int profile_is_in(int fd)
{
	static const char word[] = "morph-profile ";
	char start[sizeof(word) - 1] = "";
	ssize_t n = pread(fd, start, sizeof(start), 0);

	return n < 0 ? -1 : memcmp(start, word, sizeof(start)) == 0;
}

void profile_write(const struct profile *p, struct wr *out)
{
	char line[96], hex[65];

	wr_text(out, "morph-profile 2\nmodule ");
	write_path(out, p->module);
	digest_hex(&p->original, hex);
	(void)snprintf(line, sizeof(line), "\nsha256 %s\nclock ", hex);	/* fits */
	wr_text(out, line);
	wr_text(out, p->clock);
	(void)snprintf(line, sizeof(line), "\noutside %.3f\n", bounded(p->outside));
	wr_text(out, line);
	for (uint32_t i = 0; i < p->nblock; i++)
		write_line(out, &(struct line){ LINE_BLOCK, p->block[i].addr, 0,
						p->block[i].samples });
	for (uint32_t i = 0; i < p->nedge; i++)
		write_line(out, &(struct line){ LINE_EDGE, p->edge[i].from, p->edge[i].to,
						p->edge[i].count });
	for (uint32_t i = 0; i < p->ncall; i++)
		write_line(out, &(struct line){ LINE_CALL, p->call[i].insn, p->call[i].target,
						p->call[i].count });
}

/* --- order --- */

static int by_block(const void *x, const void *y)
{
	const struct profile_block *a = x, *b = y;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

static int by_edge(const void *x, const void *y)
{
	const struct profile_edge *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static int by_call(const void *x, const void *y)
{
	const struct profile_call *a = x, *b = y;

	if (a->insn != b->insn)
		return a->insn < b->insn ? -1 : 1;
	return (a->target > b->target) - (a->target < b->target);
}

/* n of v[] are left. */
#define SORT_AND_ADD(v, n, order, count)					\
	do {									\
		uint32_t kept_ = 0;						\
										\
		if (n)								\
			qsort(v, n, sizeof(*(v)), order);			\
		for (uint32_t i_ = 0; i_ < (n); i_++)				\
			if (kept_ && order(&(v)[kept_ - 1], &(v)[i_]) == 0)	\
				(v)[kept_ - 1].count += (v)[i_].count;		\
			else							\
				(v)[kept_++] = (v)[i_];				\
		(n) = kept_;							\
	} while (0)

void profile_sort(struct profile *p)
{
	SORT_AND_ADD(p->block, p->nblock, by_block, samples);
	SORT_AND_ADD(p->edge, p->nedge, by_edge, count);
	SORT_AND_ADD(p->call, p->ncall, by_call, count);
}
