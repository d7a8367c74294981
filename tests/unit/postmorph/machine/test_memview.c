/* test_memview.c - why a stored value is not known stays known, and there is an end of room */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "postmorph/machine/memview.h"

enum { AT = 0x10000 };

/* Across a word's end. */
static void a_stored_value_is_unknown_for_the_reason_it_was(void **state)
{
	static const struct image none;
	const struct memview_file file = { .img = &none };
	struct memview m = { .file = &file };

	(void)state;
	for (uint8_t why = UNKNOWN_DATA; why < NUNKNOWN; why++) {
		struct value x = { .v = 0x0011223344556677, .known = 0x7f, .why = why };

		assert_true(memview_write(&m, AT + 4, 8, x));
		struct value y = memview_read(&m, AT + 4, 8);
		assert_int_equal(y.v, x.v);
		assert_int_equal(y.known, x.known);
		assert_int_equal(y.why, why);
		assert_int_equal(memview_read(&m, AT + 4, 7).why, UNKNOWN_NOTHING);
	}
}

static void there_is_room_for_so_many_words(void **state)
{
	static const struct image none;
	const struct memview_file file = { .img = &none };
	struct memview m = { .file = &file };
	struct value x = { .known = VALUE_KNOWN };

	(void)state;
	for (uint64_t i = 0; i < MEMVIEW_CELLS; i++)
		assert_true(memview_write(&m, AT + 8 * i, 8, x));
	assert_true(memview_write(&m, AT, 8, x));
	assert_false(memview_write(&m, AT + 8 * MEMVIEW_CELLS, 1, x));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stored_value_is_unknown_for_the_reason_it_was),
		cmocka_unit_test(there_is_room_for_so_many_words),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
