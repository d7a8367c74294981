/* test_procedure.c - what jobs say of a program is looked at line by line */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "manager/work/procedure.h"

static void lines_end_with_the_text(void **state)
{
	static const char *const text[] = { "first\n\nlonger than seven\nlast",
					    "first\n\nlonger than seven\nlast\n" };
	static const char *const want[] = { "first", "", "longer ", "last" };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct bytes b = { (const uint8_t *)text[k], strlen(text[k]) };
		char line[8];

		for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
			assert_true(procedures_next_line(&b, line, sizeof(line)));
			assert_string_equal(line, want[i]);
		}
		assert_int_equal(b.n, 0);
		assert_false(procedures_next_line(&b, line, sizeof(line)));
		assert_int_equal(b.n, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_end_with_the_text),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
