/* test_log.c - the daemon's lines: not twice in a minute, and escaped */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/err.h"
#include "manager/parent/role.h"

static FILE *caught;
static int before;

static void begin(void)
{
	caught = tmpfile();
	assert_non_null(caught);
	before = dup(STDERR_FILENO);
	assert_true(dup2(fileno(caught), STDERR_FILENO) >= 0);
}

/* What was said since; until the next call. */
static const char *end(void)
{
	static char text[4096];

	assert_true(dup2(before, STDERR_FILENO) >= 0);
	close(before);
	rewind(caught);
	size_t n = fread(text, 1, sizeof(text) - 1, caught);
	text[n] = '\0';
	(void)fclose(caught);
	return text;
}

static void a_line_is_said_once(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 5; i++) {
		role_log("one");
		role_error("two %d", i / 4);
	}
	assert_string_equal(end(), "morphd[morphd]: one\nmorphd[morphd]: two 0\n"
			    "morphd[morphd]: two 1\n");
}

static void the_oldest_is_forgotten(void **state)
{
	(void)state;
	begin();
	role_log("first of many");
	for (int i = 0; i < 40; i++)
		role_log("many %d", i);
	role_log("first of many");
	role_log("many 39");
	const char *text = end();
	const char *first = strstr(text, "first of many");
	assert_non_null(first);
	assert_non_null(strstr(first + 1, "first of many"));
	assert_null(strstr(strstr(text, "many 39") + 1, "many 39"));
}

static void events_are_said_each_time_but_refusals(void **state)
{
	const struct log_event swap = { EVENT_SWAP, "installed", "/usr/bin/perl", 2 },
			       refusal = { EVENT_REFUSAL, "refused", "/usr/bin/gs", 0 };

	(void)state;
	begin();
	for (int i = 0; i < 2; i++) {
		role_event(LEVEL_NOTICE, &swap, "%s: swapped", swap.path);
		role_event(LEVEL_NOTICE, &refusal, "%s: refused", refusal.path);
	}
	assert_string_equal(end(), "morphd[morphd]: /usr/bin/perl: swapped\n"
			    "morphd[morphd]: /usr/bin/gs: refused\n"
			    "morphd[morphd]: /usr/bin/perl: swapped\n");
}

/* Of one priority: an error is not lost among them, nor is what was done. */
static void lines_have_an_end(void **state)
{
	const struct log_event swap = { EVENT_SWAP, "installed", "/usr/bin/perl", 2 };
	static char all[1 << 20];
	unsigned said = 0;

	(void)state;
	begin();
	for (int i = 0; i < 5000; i++)
		role_warn("'/home/anna/%d': looks odd", i);
	role_error("no disk");
	role_event(LEVEL_WARNING, &swap, "%s: swapped", swap.path);
	ssize_t n = pread(fileno(caught), all, sizeof(all) - 1, 0);
	(void)end();
	assert_true(n > 0);
	for (const char *at = all; (at = strstr(at, "looks odd")); at++)
		said++;
	assert_in_range(said, 400, 2500);
	assert_non_null(strstr(all, "no disk"));
	assert_non_null(strstr(all, "swapped"));
}

static void text_of_others_is_escaped(void **state)
{
	(void)state;
	begin();
	role_warn("'%s'", "a\nb\033[31m");
	assert_string_equal(end(), "morphd[morphd]: 'a\\x0ab\\x1b[31m'\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_said_once),
		cmocka_unit_test(the_oldest_is_forgotten),
		cmocka_unit_test(events_are_said_each_time_but_refusals),
		cmocka_unit_test(text_of_others_is_escaped),
		cmocka_unit_test(lines_have_an_end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
