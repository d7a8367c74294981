/* test_passes.c - runs every tests/ir/<name>.txt and checks the lines behind its `run` line
 *
 *   run infer,align,fluff      infer_counts(), then passes; first line of the rest
 *   in g                       what follows is about function g; the first function before that
 *   want order b0 b2 b1        emit order
 *   want cold b1 b3            exactly these blocks are cold; `want cold` alone: none
 *   want warm b2               likewise; and `guessed`, `stays` (it has no copy)
 *   want count b1 >= 5         also = (within 1 %) and <=
 *   want edge b0 b2 = 10       sum over parallel edges
 *   want probability b0 b2 <= 0.1   of going on to b2 behind b0
 *   want confidence b1 high
 *   want entry = 1
 *   want layout f g h          functions in hot-text order, all of them
 *   want score up              Ext-TSP score is above that of the original order; or `same`
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "editor/infer/infer.h"
#include "tests/unit/irtext.h"
#include "editor/passes/ir_print.h"
#include "editor/passes/layoutscore.h"
#include "editor/passes/pass.h"
#include "lib/err.h"

#define IR_DIR "tests/ir"

enum { MAX_WORDS = 64 };

struct run {
	const char *file;
	struct irtext t;
	uint32_t fn;
	bool failed;
};

static void fail_line(struct run *r, const char *line, const char *why)
{
	print_message("# %s: '%s': %s\n", r->file, line, why);
	r->failed = true;
}

static uint32_t find_fn(const struct prog *prog, const char *name)
{
	for (uint32_t f = 0; f < prog->nfn; f++) {
		if (strcmp(prog->fn[f].name, name) == 0)
			return f;
	}
	fail_msg("no function is called %s", name);
	return 0;
}

static uint32_t block_id(const struct run *r, const char *word)
{
	uint32_t id = (uint32_t)strtoul(word + 1, NULL, 10);

	if (word[0] != 'b' || id >= r->t.prog.fn[r->fn].nblock)
		fail_msg("%s: no block %s", r->file, word);
	return id;
}

static bool compares(double got, const char *op, double want)
{
	if (strcmp(op, ">=") == 0)
		return got >= want;
	if (strcmp(op, "<=") == 0)
		return got <= want;
	return strcmp(op, "=") == 0 && fabs(got - want) <= 0.01 * want + 0.005;
}

static double edge_count(const struct fn *fn, uint32_t from, uint32_t to)
{
	const struct block *b = &fn->block[from];
	double count = 0;

	count += b->fall == to ? b->fall_count : 0;
	count += b->taken == to ? b->taken_count : 0;
	if (b->table != NO_TABLE) {
		const struct jump_table *t = &fn->table[b->table];

		for (uint32_t i = 0; i < t->nentry; i++)
			count += t->succ[i] == to ? t->count[i] : 0;
	}
	return count;
}

static void want_number(struct run *r, const char *line, double got, char **word)
{
	char why[64];

	(void)snprintf(why, sizeof(why), "it is %.4f", got);
	if (!word[0] || !word[1] || !compares(got, word[0], strtod(word[1], NULL)))
		fail_line(r, line, why);
}

static void want_order(struct run *r, const char *line, char **word, uint32_t n)
{
	const struct fn *fn = &r->t.prog.fn[r->fn];
	char why[512] = "it is";

	for (uint32_t i = 0; i < fn->nblock; i++) {
		size_t len = strlen(why);

		(void)snprintf(why + len, sizeof(why) - len, " b%u", fn->order[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (i >= fn->nblock || block_id(r, word[i]) != fn->order[i]) {
			fail_line(r, line, why);
			return;
		}
	}
}

static bool has_property(const struct block *b, const char *name)
{
	return name[0] == 'c' ? b->cold : name[0] == 'w' ? b->warm :
	       name[0] == 's' ? b->stays : name[0] == 'i' ? b->in_line :
	       name[0] == 'j' ? b->jump_in_line : b->guessed;
}

static void want_property(struct run *r, const char *line, char **word, uint32_t n)
{
	const struct fn *fn = &r->t.prog.fn[r->fn];

	for (uint32_t b = 0; b < fn->nblock; b++) {
		bool want = false;
		char why[64];

		for (uint32_t i = 1; i < n; i++)
			want |= block_id(r, word[i]) == b;
		(void)snprintf(why, sizeof(why), "b%u is %s%s", b, want ? "not " : "", word[0]);
		if (has_property(&fn->block[b], word[0]) != want)
			fail_line(r, line, why);
	}
}

static void want_confidence(struct run *r, const char *line, const struct block *b,
			    const char *word)
{
	if (strcmp(confidence_name[b->confidence], word) != 0)
		fail_line(r, line, confidence_name[b->confidence]);
}

static void want_layout(struct run *r, const char *line, char **word, uint32_t n)
{
	const struct prog *prog = &r->t.prog;

	if (n != prog->norder)
		fail_line(r, line, "another number of functions moves");
	for (uint32_t i = 0; i < n; i++) {
		if (i >= prog->norder || find_fn(prog, word[i]) != prog->order[i]) {
			fail_line(r, line, "another function stands there");
			return;
		}
	}
}

static void want_score(struct run *r, const char *line, const char *what)
{
	double weight, before = layoutscore_sum(&r->t.prog, true, &weight);
	double after = layoutscore_sum(&r->t.prog, false, &weight);
	char why[96];

	(void)snprintf(why, sizeof(why), "%.4f before, %.4f after, of %.4f", before, after,
		       weight);
	if (strcmp(what, "up") == 0 ? after <= before : fabs(after - before) > 1e-9)
		fail_line(r, line, why);
}

static void want(struct run *r, const char *line, char **word, uint32_t n)
{
	const struct fn *fn = &r->t.prog.fn[r->fn];

	if (n >= 1 && strcmp(word[0], "order") == 0)
		want_order(r, line, word + 1, n - 1);
	else if (n >= 1 && (strcmp(word[0], "cold") == 0 || strcmp(word[0], "warm") == 0 ||
			     strcmp(word[0], "guessed") == 0 || strcmp(word[0], "stays") == 0 ||
			     strcmp(word[0], "in-line") == 0 ||
			     strcmp(word[0], "jump-in-line") == 0))
		want_property(r, line, word, n);
	else if (n == 4 && strcmp(word[0], "count") == 0)
		want_number(r, line, fn->block[block_id(r, word[1])].count, word + 2);
	else if (n == 3 && strcmp(word[0], "confidence") == 0)
		want_confidence(r, line, &fn->block[block_id(r, word[1])], word[2]);
	else if (n == 5 && strcmp(word[0], "edge") == 0)
		want_number(r, line, edge_count(fn, block_id(r, word[1]), block_id(r, word[2])),
			    word + 3);
	else if (n == 5 && strcmp(word[0], "probability") == 0)
		want_number(r, line,
			    edge_count(fn, block_id(r, word[1]), block_id(r, word[2])) /
				    fn->block[block_id(r, word[1])].count,
			    word + 3);
	else if (n == 3 && strcmp(word[0], "entry") == 0)
		want_number(r, line, fn->entry_count, word + 1);
	else if (n >= 1 && strcmp(word[0], "layout") == 0)
		want_layout(r, line, word + 1, n - 1);
	else if (n == 2 && strcmp(word[0], "score") == 0)
		want_score(r, line, word[1]);
	else
		fail_line(r, line, "not understood");
}

static void run_passes(struct run *r, char *list)
{
	struct edit_options options = { .passes = list, .seed = 1, .processor = "unknown" };
	char *at = strchr(list, '@');	/* for the family of processors behind it */
	struct err err;

	assert_int_equal(ir_check(&r->t.prog, &err), 0);
	if (at) {
		options.processor = at + 1;
		*at = '\0';
	}
	if (strncmp(list, "infer", 5) == 0) {
		assert_int_equal(infer_counts(&r->t.prog, &err), 0);
		options.passes = list[5] == ',' ? list + 6 : "";
	}
	if (passes_run(&r->t.prog, &options, &err) < 0)
		fail_line(r, list, err.text);
}

static void check_line(struct run *r, char *line)
{
	char *copy = strdup(line), *word[MAX_WORDS + 1] = { NULL };
	uint32_t n = 0;

	for (char *s = strtok(copy, " \t"); s && *s != '#' && n < MAX_WORDS;
	     s = strtok(NULL, " \t"))
		word[n++] = s;
	if (n == 2 && strcmp(word[0], "run") == 0)
		run_passes(r, word[1]);
	else if (n == 2 && strcmp(word[0], "in") == 0)
		r->fn = find_fn(&r->t.prog, word[1]);
	else if (n >= 1 && strcmp(word[0], "want") == 0)
		want(r, line, word + 1, n - 1);
	else if (n >= 1)
		fail_line(r, line, "not understood");
	free(copy);
}

static struct bytes read_file(const char *name, struct arena *a)
{
	char path[512];
	uint8_t *p = arena_alloc(a, 1 << 16);

	(void)snprintf(path, sizeof(path), "%s/%s", IR_DIR, name);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	size_t n = fread(p, 1, 1 << 16, f);
	(void)fclose(f);
	return (struct bytes){ p, n };
}

static void known_answer(void **state)
{
	struct run r = { .file = *state };
	struct arena *a = arena_new();
	struct err err;

	if (irtext_parse(read_file(r.file, a), a, &r.t, &err) < 0)
		fail_msg("%s: %s", r.file, err.text);
	char *rest = arena_printf(a, "%s", r.t.rest);
	assert_true(*rest != '\0');
	for (char *line = rest, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		check_line(&r, line);
	}
	assert_false(r.failed);
	arena_free(a);
}

static char *print_to_text(const struct prog *prog)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	ir_print(prog, f);
	(void)fclose(f);
	return text;
}

/* What is printed parses again to what prints the same. */
static void printed_form_parses_again(void **state)
{
	struct arena *a = arena_new();
	struct edit_options options = { .passes = "align", .seed = 1 };
	struct irtext t, again;
	struct err err;

	assert_int_equal(irtext_parse(read_file(*state, a), a, &t, &err), 0);
	assert_int_equal(infer_counts(&t.prog, &err), 0);
	assert_int_equal(passes_run(&t.prog, &options, &err), 0);
	char *one = print_to_text(&t.prog);
	if (irtext_parse((struct bytes){ (const uint8_t *)one, strlen(one) }, a, &again, &err) <
	    0)
		fail_msg("%s\n%s", err.text, one);
	assert_int_equal(ir_check(&again.prog, &err), 0);
	char *two = print_to_text(&again.prog);
	assert_string_equal(one, two);
	free(one);
	free(two);
	arena_free(a);
}

static void shuffled_layouts_are_valid_and_differ(void **state)
{
	uint32_t first[64], differ = 0;

	for (uint64_t seed = 0; seed < 50; seed++) {
		struct arena *a = arena_new();
		struct edit_options options = { .shuffle = true, .seed = seed };
		struct irtext t;
		struct err err;

		assert_int_equal(irtext_parse(read_file(*state, a), a, &t, &err), 0);
		assert_int_equal(passes_run(&t.prog, &options, &err), 0);
		const struct fn *fn = &t.prog.fn[0];
		if (seed == 0)
			memcpy(first, fn->order, fn->nblock * sizeof(*first));
		differ += memcmp(first, fn->order, fn->nblock * sizeof(*first)) != 0;
		arena_free(a);
	}
	assert_true(differ > 30);
}

static void unknown_pass_is_named_with_the_known_ones(void **state)
{
	struct prog prog = { 0 };
	struct edit_options options = { .passes = "align,fluf" };
	struct err err;

	(void)state;
	assert_int_equal(passes_run(&prog, &options, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.text, "'fluf'"));
	assert_non_null(strstr(err.text, "fluff, leave, align, layout, calls, lines, shuffle"));
	options.passes = "-align,fluff";
	assert_int_equal(passes_run(&prog, &options, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.text, "not all of these have a minus"));
	options.passes = "-algin";
	assert_int_equal(passes_run(&prog, &options, &err), -1);
	assert_non_null(strstr(err.text, "'algin'"));
	options.passes = NULL;
	options.print_after = "x";
	assert_int_equal(passes_run(&prog, &options, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
}

static int text_file(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');

	return dot && strcmp(dot, ".txt") == 0;
}

int main(void)
{
	struct dirent **list;
	int n = scandir(IR_DIR, &list, text_file, alphasort), ntest = 0;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (n <= 0) {
		print_message("no files in " IR_DIR "\n");
		return 1;
	}
	struct CMUnitTest *tests = calloc((size_t)n + 3, sizeof(*tests));
	for (int i = 0; i < n; i++)
		tests[ntest++] = (struct CMUnitTest){ .name = list[i]->d_name,
			.test_func = known_answer, .initial_state = list[i]->d_name };
	static char sample[] = "switch.txt";
	tests[ntest++] =
		(struct CMUnitTest)cmocka_unit_test_prestate(printed_form_parses_again, sample);
	tests[ntest++] = (struct CMUnitTest)cmocka_unit_test_prestate(
		shuffled_layouts_are_valid_and_differ, sample);
	tests[ntest++] =
		(struct CMUnitTest)cmocka_unit_test(unknown_pass_is_named_with_the_known_ones);
	int rc = _cmocka_run_group_tests("passes", tests, (size_t)ntest, NULL, NULL);
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
	free(tests);
	return rc;
}
