/* boltlines.c - the lines of llvm-bolt's profiles, taken apart
 *
 * Tested by tests/unit/editor/exchange/test_boltread.c and tests/fuzz/fuzz_boltread.c.
 */
#include "editor/exchange/boltlines.h"

#include <string.h>

#include "lib/err.h"

enum { WORDS = 8 };

/* Places that newer pre-aggregated profiles have in a trace where there is none. */
#define NO_FALL UINT64_MAX
#define FIRST_SPECIAL (UINT64_MAX - 2)

struct parser {
	const struct boltnames *names;
	const char *build_id;
	struct arena *arena;
	struct boltlines *out;
	bool samples, fdata, aggregated;	/* what lines there were */
};

/* --- words --- */

/* Cuts the line into words; a backslash makes the next byte part of a word.  More than WORDS
 * count as WORDS + 1. */
static int split(char *line, char **word)
{
	int n = 0;

	while (*line) {
		char *to = line;

		if (*line == ' ') {
			line++;
			continue;
		}
		if (n == WORDS)
			return WORDS + 1;
		word[n++] = to;
		while (*line && *line != ' ') {
			if (*line == '\\' && line[1])
				line++;
			*to++ = *line++;
		}
		line += *line == ' ';
		*to = '\0';
	}
	return n;
}

static bool number(const char *s, unsigned base, uint64_t *out)
{
	uint64_t v = 0;

	for (const char *p = s; *p; p++) {
		unsigned d = *p >= '0' && *p <= '9' ? (unsigned)(*p - '0') :
			     *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10 :
			     *p >= 'A' && *p <= 'F' ? (unsigned)(*p - 'A') + 10 : 16;

		if (d >= base || v > (UINT64_MAX - d) / base)
			return false;
		v = v * base + d;
	}
	*out = v;
	return *s != '\0';
}

static void push(struct parser *ps, struct boltline line)
{
	if (line.count)
		vec_push(ps->arena, &ps->out->line, line);
}

/* --- fdata --- */

enum where { HERE, ELSEWHERE, UNKNOWN, MALFORMED };

/* "1 NAME OFFSET", "2" with a file's name in front of the number of a local one, "0 FILE
 * OFFSET" for other files. */
static enum where fdata_place(const struct parser *ps, char *const *word, vaddr *out)
{
	uint64_t off;
	vaddr base;

	if (!number(word[2], 16, &off) || strlen(word[0]) != 1 || !strchr("0123", word[0][0]))
		return MALFORMED;
	if (word[0][0] == '0')
		return ELSEWHERE;
	if (word[0][0] == '3')
		return UNKNOWN;
	if (!boltnames_find(ps->names, word[1], &base))
		return UNKNOWN;
	*out = base + off;
	return HERE;
}

static bool take_edge(struct parser *ps, char *const *word)
{
	struct boltline line = { .kind = BOLTLINE_EDGE };
	enum where from = fdata_place(ps, word, &line.from);
	enum where to = fdata_place(ps, word + 3, &line.to);
	uint64_t mispredicted;

	if (from == MALFORMED || to == MALFORMED || !number(word[6], 10, &mispredicted) ||
	    !number(word[7], 10, &line.count))
		return false;
	ps->fdata = true;
	line.from_elsewhere = from == ELSEWHERE;
	if (to == HERE && (from == HERE || from == ELSEWHERE))
		push(ps, line);
	else if (from == UNKNOWN || to == UNKNOWN)
		ps->out->unknown++;
	else
		ps->out->elsewhere++;
	return true;
}

static bool take_fdata_sample(struct parser *ps, char *const *word)
{
	struct boltline line = { .kind = BOLTLINE_SAMPLE };
	enum where at = fdata_place(ps, word, &line.from);

	if (at == MALFORMED || !number(word[3], 10, &line.count))
		return false;
	ps->fdata = true;
	if (at == HERE)
		push(ps, line);
	else if (at == UNKNOWN)
		ps->out->unknown++;
	else
		ps->out->elsewhere++;
	return true;
}

/* --- pre-aggregated --- */

/* "ADDRESS", "BUILD-ID:ADDRESS", "X:ADDRESS" for other files. */
static enum where location(const struct parser *ps, char *word, vaddr *out)
{
	char *colon = strchr(word, ':');
	const char *digits = colon ? colon + 1 : word;

	if (strcmp(digits, "-1") == 0)
		*out = NO_FALL;
	else if (!number(digits, 16, out))
		return MALFORMED;
	if (!colon)
		return HERE;
	*colon = '\0';
	return strcmp(word, ps->build_id) == 0 && *word ? HERE : ELSEWHERE;
}

static bool take_two(struct parser *ps, enum boltline_kind kind, char *const *word,
		     const char *count)
{
	struct boltline line = { .kind = kind };
	enum where from = location(ps, word[0], &line.from);
	enum where to = location(ps, word[1], &line.to);

	if (from == MALFORMED || to == MALFORMED || !number(count, 10, &line.count))
		return false;
	if (from == HERE && to == HERE)
		push(ps, line);
	else
		ps->out->elsewhere++;
	return true;
}

/* A branch and the run behind it, either of which may be missing. */
static bool take_trace(struct parser *ps, char *const *word)
{
	struct boltline branch = { .kind = BOLTLINE_BRANCH }, run = { .kind = BOLTLINE_RUN };
	enum where from = location(ps, word[1], &branch.from);
	enum where to = location(ps, word[2], &branch.to);
	enum where end = location(ps, word[3], &run.to);

	if (from == MALFORMED || to == MALFORMED || end == MALFORMED ||
	    !number(word[4], 10, &branch.count))
		return false;
	run.from = branch.to;
	run.count = branch.count;
	if (to != HERE) {
		ps->out->elsewhere++;
		return true;
	}
	if (from == HERE && branch.from < FIRST_SPECIAL)
		push(ps, branch);
	if (end == HERE && run.to != NO_FALL)
		push(ps, run);
	return true;
}

static bool take_address_sample(struct parser *ps, char *const *word)
{
	struct boltline line = { .kind = BOLTLINE_SAMPLE };
	enum where at = location(ps, word[1], &line.from);

	if (at == MALFORMED || !number(word[2], 10, &line.count))
		return false;
	if (at == HERE)
		push(ps, line);
	else
		ps->out->elsewhere++;
	return true;
}

static bool take_aggregated(struct parser *ps, char *const *word, int n)
{
	uint64_t unused;

	ps->aggregated = true;
	switch (word[0][0]) {
	case 'E':
		return n == 2;
	case 'B':
		return n == 5 && number(word[4], 10, &unused) &&
		       take_two(ps, BOLTLINE_BRANCH, word + 1, word[3]);
	case 'F':
	case 'f':
	case 'r':
		return n == 4 && take_two(ps, BOLTLINE_RUN, word + 1, word[3]);
	case 'S':
		return n == 3 && take_address_sample(ps, word);
	case 'T':
	case 'R':
		return (n == 5 || (n == 6 && number(word[5], 10, &unused))) &&
		       take_trace(ps, word);
	default:
		return false;
	}
}

/* --- all --- */

static bool take_line(struct parser *ps, char *line, uint32_t number_of_line)
{
	char *word[WORDS];
	int n = split(line, word);

	if (n == 0)
		return true;
	if (number_of_line == 1 && strcmp(word[0], "no_lbr") == 0) {
		ps->samples = ps->fdata = true;
		return true;
	}
	if (n > WORDS)
		return false;
	if (strlen(word[0]) == 1 && strchr("BFfrTRSE", word[0][0]))
		return !ps->fdata && take_aggregated(ps, word, n);
	if (ps->aggregated)
		return false;
	if (ps->samples)
		return n == 4 && take_fdata_sample(ps, word);
	if (n == 5 && strlen(word[0]) == 1 && strchr("345", word[0][0]))
		return true;		/* a load, and of which address: not of use here */
	return n == 8 && take_edge(ps, word);
}

int boltlines_read(struct bytes text, const struct boltnames *names, const char *build_id,
		   struct arena *a, struct boltlines *out, struct err *err)
{
	static const char bolted[] = "boltedcollection";
	struct parser ps = { .names = names, .build_id = build_id, .arena = a, .out = out };
	uint32_t n = 1;

	if (text.n >= sizeof(bolted) - 1 && memcmp(text.p, bolted, sizeof(bolted) - 1) == 0)
		return err_set(err, ERR_REFUSED, "collected of a program that llvm-bolt has "
			       "rewritten: its places are not those of the original");
	for (const uint8_t *p = text.p, *end = p + text.n, *nl; p < end; p = nl + 1, n++) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl)
			nl = end;
		char *line = arena_alloc(a, (size_t)(nl - p) + 1);
		memcpy(line, p, (size_t)(nl - p));
		if (memchr(line, 0, (size_t)(nl - p)) || !take_line(&ps, line, n) ||
		    out->line.n >= UINT32_MAX / 64)
			return err_set(err, ERR_INPUT, "line %u is neither of fdata nor of a "
				       "pre-aggregated profile", n);
		if (nl == end)
			break;
	}
	if (!ps.fdata && !ps.aggregated)
		return err_set(err, ERR_INPUT,
			       "neither fdata nor a pre-aggregated profile: it is empty");
	return 0;
}
