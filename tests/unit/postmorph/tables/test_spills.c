/* test_spills.c - bytes kept in the frame bring back what stood beside them */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "postmorph/tables/spills.h"

static void what_was_not_kept_is_clean(void **state)
{
	struct spills s = { 0 };
	struct arena *a = arena_new();
	uint64_t may = 1;

	(void)state;
	assert_int_equal(spills_read(&s, -8, 8, &may), UINT32_MAX);
	assert_int_equal(may, 0);
	spills_note(&s, a, (struct spill){ .at = -16, .may = 2, .bytes = 4, .clean = 8 });
	assert_int_equal(spills_read(&s, -12, 4, &may), UINT32_MAX);	/* behind it */
	assert_int_equal(spills_read(&s, -20, 4, &may), UINT32_MAX);	/* in front of it */
	assert_int_equal(may, 0);
	arena_free(a);
}

static void what_is_read_has_the_clean_bits_in_front(void **state)
{
	struct spills s = { 0 };
	struct arena *a = arena_new();
	uint64_t may;

	(void)state;
	spills_note(&s, a, (struct spill){ .at = -16, .may = 2, .bytes = 4, .clean = 8 });
	assert_int_equal(spills_read(&s, -16, 4, &may), 8);
	assert_int_equal(may, 2);
	assert_int_equal(spills_read(&s, -18, 4, &may), 16 + 8);
	assert_int_equal(spills_read(&s, -15, 1, &may), 0);	/* past the clean byte */
	spills_note(&s, a, (struct spill){ .at = -15, .may = 4, .bytes = 1, .clean = 0 });
	assert_int_equal(spills_read(&s, -16, 4, &may), 8);	/* the lower of two */
	assert_int_equal(may, 6);
	assert_int_equal(spills_may(&s), 6);
	arena_free(a);
}

static void places_only_become_more(void **state)
{
	struct spills s = { 0 };
	struct arena *a = arena_new();
	const struct spill once = { .at = -16, .may = 2, .bytes = 4, .clean = 8 };
	struct spill less = once, more = once;
	uint64_t may;

	(void)state;
	spills_note(&s, a, once);
	assert_true(s.changed);
	s.changed = false;
	less.clean = 16;
	spills_note(&s, a, once);
	spills_note(&s, a, less);
	assert_false(s.changed);
	assert_int_equal(spills_read(&s, -16, 4, &may), 8);
	more.clean = 0;
	more.may = 1;
	spills_note(&s, a, more);
	assert_true(s.changed);
	assert_int_equal(spills_read(&s, -16, 4, &may), 0);
	assert_int_equal(may, 3);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_not_kept_is_clean),
		cmocka_unit_test(what_is_read_has_the_clean_bits_in_front),
		cmocka_unit_test(places_only_become_more),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
