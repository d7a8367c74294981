/* test_usage.c - what is said to wrong commands and options, and what is taken as meant */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/usage.h"

static const char command[] =
	"PATH -o OUT [-q] [--limit=N] [--rate=HZ | --all]\n"
	"   [--registers[=BYTES]] [--table OUT]";

static void distances_are_the_fewest_steps(void **state)
{
	(void)state;
	assert_int_equal(usage_distance("status", "status"), 0);
	assert_int_equal(usage_distance("", "list"), 4);
	assert_int_equal(usage_distance("list", ""), 4);
	assert_int_equal(usage_distance("statsu", "status"), 1);	/* exchanged */
	assert_int_equal(usage_distance("lst", "list"), 1);
	assert_int_equal(usage_distance("llist", "list"), 1);
	assert_int_equal(usage_distance("lost", "list"), 1);
	assert_int_equal(usage_distance("report", "restore"), 3);
	assert_int_equal(usage_distance("a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), UINT_MAX);
}

static const char *meant(const char *word)
{
	static const char *const command_name[] = { "status", "list", "report", "reoptimize",
						    "restore", "verify", "history" };
	struct usage_meant m = { word, UINT_MAX };
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(command_name) / sizeof(command_name[0]); i++)
		if (usage_is_nearer(&m, command_name[i]))
			found = command_name[i];
	return found;
}

static void the_nearest_word_is_meant(void **state)
{
	(void)state;
	assert_string_equal(meant("statsu"), "status");
	assert_string_equal(meant("reopt"), "reoptimize");
	assert_string_equal(meant("hsitory"), "history");
	assert_string_equal(meant("lst"), "list");
	assert_null(meant("frobnicate"));
	assert_null(meant(""));
}

/* What is said on stderr; *ok: nothing is wrong. */
static const char *said(int *argc, char **argv, bool *ok)
{
	static char text[256];
	FILE *f = tmpfile();
	int old = dup(STDERR_FILENO);
	size_t n;

	assert_non_null(f);
	(void)fflush(stderr);
	assert_true(dup2(fileno(f), STDERR_FILENO) >= 0);
	*ok = usage_check("try", command, "[--json]", argc, argv);
	(void)fflush(stderr);
	assert_true(dup2(old, STDERR_FILENO) >= 0);
	close(old);
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	(void)fclose(f);
	return text;
}

static void expect(const char *a, const char *b, const char *what)
{
	char name[] = "try", *argv[] = { name, strdup(a), b ? strdup(b) : NULL, NULL };
	char *given[] = { argv[1], argv[2] };
	int argc = b ? 3 : 2;
	bool ok;
	const char *text = said(&argc, argv, &ok);

	if (ok || !strstr(text, what))
		fail_msg("'%s' for '%s', not '%s'", text, a, what);
	free(given[0]);
	free(given[1]);
}

static void wrong_options_are_named(void **state)
{
	(void)state;
	expect("--limt=3", NULL, "try: unknown option '--limt=3'; did you mean '--limit'?");
	expect("--reg", NULL, "did you mean '--registers'?");
	expect("--verbose", NULL, "unknown option '--verbose'\n");
	expect("--lim", "3", "did you mean '--limit'?");
	expect("--all=yes", NULL, "option '--all' has no value");
	expect("x", "--limit", "option '--limit' needs a value: --limit=N\n");
	expect("--al", NULL, "unknown option '--al'");
	expect("--jsno", NULL, "did you mean '--json'?");
	expect("-x", NULL, "try: unknown option '-x'\n");
	expect("-a", NULL, "unknown option '-a'");	/* of "--all" */
	expect("x", "-o", "option '-o' needs a value: -o OUT\n");
	expect("x", "--table", "option '--table' needs a value: --table=OUT\n");
}

static void what_is_right_is_left_alone(void **state)
{
	char words[][8] = { "try", "-o", "--limt", "-", "-oOUT", "-q", "--all" };
	char *argv[] = { words[0], words[1], words[2], words[3], words[4], words[5], words[6],
			 NULL };
	int argc = 7;

	(void)state;
	assert_true(usage_check("try", command, NULL, &argc, argv));
	assert_int_equal(argc, 7);		/* "--limt" is the value of -o */
	for (int i = 0; i < argc; i++)
		assert_ptr_equal(argv[i], words[i]);
}

static void values_are_joined_to_their_options(void **state)
{
	char words[][16] = { "try", "--limit", "20", "--registers", "path", "--rate=5", "--",
			     "--limt", "--limit" };
	char *argv[] = { words[0], words[1], words[2], words[3], words[4], words[5], words[6],
			 words[7], words[8], NULL };
	int argc = 9;

	(void)state;
	assert_true(usage_check("try", command, NULL, &argc, argv));
	assert_int_equal(argc, 8);
	assert_string_equal(argv[1], "--limit=20");
	assert_string_equal(argv[2], "--registers");	/* its value is optional: not taken */
	assert_string_equal(argv[3], "path");
	assert_string_equal(argv[7], "--limit");	/* behind "--" all is left as it is */
	assert_null(argv[8]);
	free(argv[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_are_the_fewest_steps),
		cmocka_unit_test(the_nearest_word_is_meant),
		cmocka_unit_test(wrong_options_are_named),
		cmocka_unit_test(what_is_right_is_left_alone),
		cmocka_unit_test(values_are_joined_to_their_options),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
