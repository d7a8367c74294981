/* test_arena.c - memory of an arena that is used again and again */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/arena.h"

enum { LARGE = 3 << 20, MOST_KEPT = 8 << 20 };

static bool is_zero(const uint8_t *p, size_t n)
{
	return p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

static void memory_is_zero_however_often(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	for (size_t n = 1; n < LARGE; n *= 3) {
		for (int i = 0; i < 4; i++) {
			uint8_t *p = arena_alloc(a, n);

			assert_true(n == 1 ? *p == 0 : is_zero(p, n));
			memset(p, 0xff, n);
		}
		arena_reset(a);
	}
	arena_free(a);
}

/* From the second time on all of it is in one place. */
static void what_is_needed_again_is_where_it_was(void **state)
{
	struct arena *a = arena_new();
	uint8_t *first[2], *second[2];

	(void)state;
	for (int i = 0; i < 3; i++) {
		uint8_t **at = i < 2 ? first : second;

		for (int k = 0; k < 2; k++)
			at[k] = arena_alloc(a, LARGE);
		arena_reset(a);
	}
	assert_ptr_equal(first[0], second[0]);
	assert_ptr_equal(first[1], second[1]);
	assert_in_range(first[1] - first[0], LARGE, LARGE + 16);	/* or a little apart */
	arena_free(a);
}

static void memory_of_an_empty_arena_can_be_given_back(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	arena_reset(a);
	assert_true(is_zero(arena_alloc(a, MOST_KEPT + 1), MOST_KEPT + 1));
	arena_reset(a);
	arena_reset(a);
	arena_free(a);
	arena_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zero_however_often),
		cmocka_unit_test(what_is_needed_again_is_where_it_was),
		cmocka_unit_test(memory_of_an_empty_arena_can_be_given_back),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
