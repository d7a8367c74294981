/* test_intern.c - equal keys have equal numbers, others have others, however many there are */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "manager/report/intern.h"

enum { MANY = 20000 };

static void keys_keep_their_numbers(void **state)
{
	struct arena *a = arena_new();
	struct intern t = intern_new(a);

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < MANY; i++) {
			uint64_t key = (uint64_t)i * 0x100000001;

			assert_int_equal(intern_key(&t, &key, sizeof(key)), i);
		}
	assert_int_equal(t.key.n, MANY);
	arena_free(a);
}

static void a_key_is_its_bytes_and_their_number(void **state)
{
	struct arena *a = arena_new();
	struct intern t = intern_new(a);

	(void)state;
	assert_int_equal(intern_text(&t, ""), 0);
	assert_int_equal(intern_text(&t, "a"), 1);
	assert_int_equal(intern_key(&t, "a", 2), 2);
	assert_int_equal(intern_text(&t, "ab"), 3);
	assert_int_equal(intern_text(&t, ""), 0);
	assert_int_equal(intern_text(&t, "a"), 1);
	assert_int_equal(intern_key(&t, NULL, 0), 0);
	assert_string_equal(intern_text_of(&t, 3), "ab");
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_keep_their_numbers),
		cmocka_unit_test(a_key_is_its_bytes_and_their_number),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
