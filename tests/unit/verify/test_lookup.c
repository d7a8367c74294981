/* test_lookup.c - what the parts of the Verifier look up in each other's findings */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "verify/lookup.h"

static struct bytes bytes_of(const char *text, size_t n)
{
	return (struct bytes){ (const uint8_t *)text, n };
}

static void bytes_are_the_same_if_each_is(void **state)
{
	(void)state;
	assert_true(verify_same_bytes(bytes_of("ab", 2), bytes_of("ab", 2)));
	assert_false(verify_same_bytes(bytes_of("ab", 2), bytes_of("ac", 2)));
	assert_false(verify_same_bytes(bytes_of("ab", 2), bytes_of("ab", 1)));
	assert_false(verify_same_bytes(bytes_of("a", 1), bytes_of("b", 1)));
	assert_true(verify_same_bytes(bytes_of(NULL, 0), bytes_of("b", 0)));
	assert_false(verify_same_bytes(bytes_of(NULL, 0), bytes_of("b", 1)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_the_same_if_each_is),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
