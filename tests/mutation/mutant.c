/* mutant.c - changes one place of a C file, as a slip of the programmer could
 *
 *   mutant count FILE           how many places there are
 *   mutant show FILE N          where the Nth place is, and what would be changed
 *   mutant apply FILE N         the file with the Nth place changed, on standard output
 *
 * A place is found by its tokens alone, so some mutants do not compile and others change
 * nothing; mutation.sh, which calls this, leaves out both.  Kinds of change:
 *
 *   compare    < and <=, > and >=, == and != for each other
 *   logic      && and || for each other; a ! that goes
 *   arithmetic + and -, & and |, << and >>, * and / for each other, with their assignments
 *   constant   a decimal number is one more; true and false for each other
 *   statement  a call or an assignment, break or continue that goes
 *   check      `if (CONDITION)` that never holds
 *   result     return -1 and return 0 for each other
 *
 * Comments, strings, preprocessor lines and what is outside of functions stay as they are.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum token_kind { TOKEN_WORD, TOKEN_NUMBER, TOKEN_LITERAL, TOKEN_MARK };

struct token {
	enum token_kind kind;
	uint32_t at, len, line;
	uint32_t depth; /* of braces; 0: outside of functions */
	uint32_t open;			/* parentheses around it */
};

struct place {
	const char *kind;
	uint32_t at, len, line; /* what goes */
	const char *text; /* what comes in its place; NULL: a check that fails */
};

struct source {
	char *s;
	uint32_t n;
	struct token *token;
	uint32_t ntoken;
	struct place *place;
	uint32_t nplace;
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "mutant: %s: %s\n", what, why);
	exit(2);
}

static void *grow(void *p, uint32_t n, size_t size)
{
	if (n & (n - 1)) /* room is doubled at powers of two */
		return p;
	p = realloc(p, (n ? 2 * (size_t)n : 1) * size);
	if (!p)
		fail("memory", "none left");
	return p;
}

static void read_source(struct source *f, const char *path)
{
	FILE *in = fopen(path, "r");

	if (!in)
		fail(path, "cannot be read");
	f->s = malloc((1 << 20) + 1);
	f->n = (uint32_t)fread(f->s, 1, 1 << 20, in);
	f->s[f->n] = '\0';
	fclose(in);
}

/* --- tokens --- */

static uint32_t end_of_quoted(const char *s, uint32_t i)
{
	char quote = s[i++];

	while (s[i] && s[i] != quote)
		i += s[i] == '\\' && s[i + 1] ? 2 : 1;
	return s[i] ? i + 1 : i;
}

/* Behind a preprocessor line with what continues it. */
static uint32_t end_of_directive(const char *s, uint32_t i)
{
	while (s[i] && (s[i] != '\n' || s[i - 1] == '\\'))
		i++;
	return i;
}

static uint32_t length_of_mark(const char *s)
{
	static const char *const mark[] = {
		"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==",
		"!=",  "&&",  "||",  "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%=",
	};

	for (size_t i = 0; i < sizeof(mark) / sizeof(mark[0]); i++)
		if (strncmp(s, mark[i], strlen(mark[i])) == 0)
			return (uint32_t)strlen(mark[i]);
	return 1;
}

static uint32_t skip_blank(const struct source *f, uint32_t i, uint32_t *line)
{
	for (;;) {
		uint32_t start = i;

		if (isspace((unsigned char)f->s[i])) {
			i++;
		} else if (f->s[i] == '/' && f->s[i + 1] == '*') {
			const char *end = strstr(f->s + i + 2, "*/");
			i = end ? (uint32_t)(end - f->s) + 2 : f->n;
		} else if (f->s[i] == '#') {
			i = end_of_directive(f->s, i + 1);
		} else {
			return i;
		}
		for (; start < i; start++)
			*line += f->s[start] == '\n';
	}
}

static void tokenize(struct source *f)
{
	uint32_t line = 1, depth = 0, open = 0;

	for (uint32_t i = skip_blank(f, 0, &line); f->s[i]; i = skip_blank(f, i, &line)) {
		unsigned char c = (unsigned char)f->s[i];
		struct token t = { .at = i, .line = line };

		if (isalpha(c) || c == '_') {
			t.kind = TOKEN_WORD;
			while (isalnum((unsigned char)f->s[i]) || f->s[i] == '_')
				i++;
		} else if (isdigit(c)) {
			t.kind = TOKEN_NUMBER;
			while (isalnum((unsigned char)f->s[i]) || f->s[i] == '.')
				i++;
		} else if (c == '"' || c == '\'') {
			t.kind = TOKEN_LITERAL;
			i = end_of_quoted(f->s, i);
		} else {
			t.kind = TOKEN_MARK;
			i += length_of_mark(f->s + i);
			depth -= c == '}' && depth;
			open -= c == ')' && open;
		}
		t.len = i - t.at;
		t.depth = depth;
		t.open = open;
		depth += c == '{';
		open += c == '(';
		f->token = grow(f->token, f->ntoken, sizeof(*f->token));
		f->token[f->ntoken++] = t;
	}
}

static bool is(const struct source *f, uint32_t i, const char *text)
{
	const struct token *t = &f->token[i];

	return i < f->ntoken && t->kind != TOKEN_LITERAL && t->len == strlen(text) &&
	       memcmp(f->s + t->at, text, t->len) == 0;
}

static bool is_one_of(const struct source *f, uint32_t i, const char *const *text)
{
	for (; *text; text++)
		if (is(f, i, *text))
			return true;
	return false;
}

/* The token behind the parenthesis that closes the one at i. */
static uint32_t behind_parentheses(const struct source *f, uint32_t i)
{
	int open = 0;

	for (; i < f->ntoken; i++) {
		open += is(f, i, "(");
		open -= is(f, i, ")");
		if (open == 0)
			return i + 1;
	}
	return f->ntoken;
}

/* --- places --- */

static void add(struct source *f, const char *kind, uint32_t first, uint32_t last,
		const char *text)
{
	const struct token *a = &f->token[first], *b = &f->token[last];
	struct place p = { kind, a->at, b->at + b->len - a->at, a->line, text };

	f->place = grow(f->place, f->nplace, sizeof(*f->place));
	f->place[f->nplace++] = p;
}

static const struct swap {
	const char *kind, *from, *to;
} swaps[] = {
	{ "compare", "<", "<=" },
	{ "compare", "<=", "<" },
	{ "compare", ">", ">=" },
	{ "compare", ">=", ">" },
	{ "compare", "==", "!=" },
	{ "compare", "!=", "==" },
	{ "logic", "&&", "||" },
	{ "logic", "||", "&&" },
	{ "logic", "!", "" },
	{ "arithmetic", "<<", ">>" },
	{ "arithmetic", ">>", "<<" },
	{ "arithmetic", "+=", "-=" },
	{ "arithmetic", "-=", "+=" },
	{ "arithmetic", "|=", "=" },
	{ "arithmetic", "&=", "=" },
	{ "constant", "true", "false" },
	{ "constant", "false", "true" },
};

/* Signs and dereferences are written without a space behind them, operators with one. */
static const struct swap spaced[] = {
	{ "arithmetic", "+", "-" }, { "arithmetic", "-", "+" }, { "arithmetic", "&", "|" },
	{ "arithmetic", "|", "&" }, { "arithmetic", "*", "/" }, { "arithmetic", "/", "*" },
};

static void find_operator(struct source *f, uint32_t i)
{
	const struct token *t = &f->token[i];

	for (size_t k = 0; k < sizeof(swaps) / sizeof(swaps[0]); k++)
		if (is(f, i, swaps[k].from))
			add(f, swaps[k].kind, i, i, swaps[k].to);
	if (!isspace((unsigned char)f->s[t->at + t->len]))
		return;
	for (size_t k = 0; k < sizeof(spaced) / sizeof(spaced[0]); k++)
		if (is(f, i, spaced[k].from))
			add(f, spaced[k].kind, i, i, spaced[k].to);
}

/* `< 1` is what `<= 0` is, and a result that is changed is a kind of its own. */
static bool is_told_otherwise(const struct source *f, uint32_t i)
{
	static const char *const order[] = { "<", "<=", ">", ">=", NULL };

	return (is(f, i, "0") && is_one_of(f, i - 1, order)) || is(f, i - 1, "return") ||
	       (is(f, i - 1, "-") && is(f, i - 2, "return"));
}

static void find_number(struct source *f, uint32_t i)
{
	const struct token *t = &f->token[i];
	char *end, *text;
	long n = strtol(f->s + t->at, &end, 10);

	if (t->kind != TOKEN_NUMBER || end != f->s + t->at + t->len || is_told_otherwise(f, i))
		return;
	if (asprintf(&text, "%ld", n + 1) < 0)
		fail("memory", "none left");
	add(f, "constant", i, i, text);
}

/* Not within parentheses, as the parts of a for(), nor within an initializer. */
static bool begins_statement(const struct source *f, uint32_t i)
{
	static const char *const before[] = { ";", "{", "}", "else", NULL };
	static const char *const head[] = { "if", "for", "while", "switch", NULL };

	if (f->token[i].open ||
	    (is(f, i - 1, "{") && !is(f, i - 2, ")") && !is(f, i - 2, "else")))
		return false;
	if (is_one_of(f, i - 1, before))
		return true;
	if (!is(f, i - 1, ")"))
		return false;
	for (uint32_t k = i - 1, open = 0; k > 0; k--) {
		open += is(f, k, ")");
		open -= is(f, k, "(");
		if (open == 0)
			return is_one_of(f, k - 1, head);
	}
	return false;
}

/* Declarations are a word behind a word, or behind a star behind a word. */
static bool is_declaration(const struct source *f, uint32_t i)
{
	uint32_t k = i + 1;

	while (is(f, k, "*"))
		k++;
	return k < f->ntoken && f->token[k].kind == TOKEN_WORD;
}

static void find_statement(struct source *f, uint32_t i)
{
	static const char *const goes[] = { "break", "continue", NULL };
	static const char *const stays[] = {
		"return", "goto",    "if",    "for",	"while",  "switch",
		"case",	  "default", "else",  "do",	"struct", "enum",
		"static", "const",   "union", "extern", NULL,
	};
	uint32_t end = i;

	if (f->token[i].kind != TOKEN_WORD && !is(f, i, "*") && !is(f, i, "("))
		return;
	if (!begins_statement(f, i) || is_one_of(f, i, stays) || is(f, i + 1, ":"))
		return;
	if (!is_one_of(f, i, goes) && f->token[i].kind == TOKEN_WORD && is_declaration(f, i))
		return;
	while (end < f->ntoken && !is(f, end, ";") && !is(f, end, "{"))
		end++;
	if (is(f, end, ";"))
		add(f, "statement", i, end, ";");
}

static void find_check(struct source *f, uint32_t i)
{
	uint32_t behind;

	if (!is(f, i, "if") || !is(f, i + 1, "("))
		return;
	behind = behind_parentheses(f, i + 1);
	if (behind >= f->ntoken)
		return;
	add(f, "check", i + 1, behind - 1, NULL);
}

static void find_result(struct source *f, uint32_t i)
{
	if (!is(f, i, "return"))
		return;
	if (is(f, i + 1, "-") && is(f, i + 2, "1") && is(f, i + 3, ";"))
		add(f, "result", i, i + 3, "return 0;");
	if (is(f, i + 1, "0") && is(f, i + 2, ";"))
		add(f, "result", i, i + 2, "return -1;");
}

static void find_places(struct source *f)
{
	for (uint32_t i = 1; i < f->ntoken; i++) {
		if (f->token[i].depth == 0)
			continue;
		find_operator(f, i);
		find_number(f, i);
		find_statement(f, i);
		find_check(f, i);
		find_result(f, i);
	}
}

/* --- what is asked --- */

static void print_line(const char *s, uint32_t n)
{
	bool blank = false;

	for (uint32_t i = 0; i < n; i++) {
		if (isspace((unsigned char)s[i])) {
			blank = true;
			continue;
		}
		if (blank)
			putchar(' ');
		blank = false;
		putchar(s[i]);
	}
}

static void show(const struct source *f, const struct place *p)
{
	uint32_t start = p->at, end = p->at;

	while (start > 0 && f->s[start - 1] != '\n')
		start--;
	while (f->s[end] && f->s[end] != '\n')
		end++;
	while (isspace((unsigned char)f->s[start]))
		start++;
	printf("%u\t%s\t", p->line, p->kind);
	print_line(f->s + p->at, p->len);
	printf("\t%s\t", p->text ? (*p->text ? p->text : "(nothing)") : "(0)");
	print_line(f->s + start, end - start);
	putchar('\n');
}

static void apply(const struct source *f, const struct place *p)
{
	fwrite(f->s, 1, p->at, stdout);
	if (p->text) {
		fputs(p->text, stdout);
		for (uint32_t i = 0; i < p->len; i++) /* lines keep their numbers */
			if (f->s[p->at + i] == '\n')
				putchar('\n');
	} else {
		fputs("(0 && ", stdout);
		fwrite(f->s + p->at, 1, p->len, stdout);
		putchar(')');
	}
	fputs(f->s + p->at + p->len, stdout);
}

int main(int argc, char **argv)
{
	struct source f = { 0 };

	if (argc < 3 || (argc < 4 && strcmp(argv[1], "count") != 0))
		fail("usage", "mutant count FILE | show FILE N | apply FILE N");
	read_source(&f, argv[2]);
	tokenize(&f);
	find_places(&f);
	if (strcmp(argv[1], "count") == 0) {
		printf("%u\n", f.nplace);
		return 0;
	}
	unsigned long n = strtoul(argv[3], NULL, 10);
	if (n >= f.nplace)
		fail(argv[3], "there is no such place");
	if (strcmp(argv[1], "apply") == 0)
		apply(&f, &f.place[n]);
	else
		show(&f, &f.place[n]);
	return 0;
}
