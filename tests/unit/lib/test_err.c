/* test_err.c - sentences about failures: context in front, never longer than there is room
 * for */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/err.h"

static void context_comes_in_front_and_the_kind_stays(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(err_set(&err, ERR_REFUSED, "%d hard links", 2), -1);
	assert_int_equal(err_wrap(&err, "'%s'", "/usr/bin/x"), -1);
	assert_int_equal(err_wrap(&err, "install"), -1);
	assert_string_equal(err.text, "install: '/usr/bin/x': 2 hard links");
	assert_int_equal(err.kind, ERR_REFUSED);
}

static void who_does_not_ask_for_the_sentence_gets_the_failure(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, ERR_SYS, "open"), -1);
	assert_int_equal(err_wrap(NULL, "x"), -1);
}

static void the_kind_decides_the_exit_code(void **state)
{
	(void)state;
	assert_int_equal(err_exit_code(&(struct err){ .kind = ERR_SYS }), 1);
	assert_int_equal(err_exit_code(&(struct err){ .kind = ERR_INPUT }), 1);
	assert_int_equal(err_exit_code(&(struct err){ .kind = ERR_USAGE }), 2);
	assert_int_equal(err_exit_code(&(struct err){ .kind = ERR_REFUSED }), 3);
}

/* Whatever the lengths of text and context: the beginning stays, the end is cut. */
static void a_long_sentence_is_cut_at_its_end(void **state)
{
	enum { SIZE = sizeof(((struct err *)0)->text) };
	char want[2 * SIZE + 8], text[SIZE + 8], context[SIZE + 8];

	(void)state;
	for (size_t n = SIZE - 8; n < SIZE + 8; n++) {
		struct err err;

		memset(text, 't', sizeof(text));
		text[n] = '\0';
		err_set(&err, ERR_SYS, "%s", text);
		size_t kept = n < SIZE ? n : SIZE - 1;
		assert_int_equal(strlen(err.text), kept);
		assert_memory_equal(err.text, text, kept);
	}
	for (size_t n = SIZE - 16; n < SIZE + 8; n++) {
		struct err err;
		const char *end;

		memset(context, 'c', sizeof(context));
		context[n] = '\0';
		memset(text, 't', 100);
		text[100] = '\0';
		err_set(&err, ERR_SYS, "%s", text);
		err_wrap(&err, "%s", context);
		strcat(strcat(strcpy(want, context), ": "), text);
		end = memchr(err.text, '\0', SIZE);
		assert_true(end && end - err.text >= SIZE - 4);
		assert_memory_equal(err.text, want, (size_t)(end - err.text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(context_comes_in_front_and_the_kind_stays),
		cmocka_unit_test(who_does_not_ask_for_the_sentence_gets_the_failure),
		cmocka_unit_test(the_kind_decides_the_exit_code),
		cmocka_unit_test(a_long_sentence_is_cut_at_its_end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
