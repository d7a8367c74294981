/* test_search.c - binary search finds what looking at every item finds */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/search.h"

enum { N = 40, HIGHEST = 25 };

static uint32_t look_at_all(const uint32_t *v, uint32_t lo, uint32_t hi, uint32_t x)
{
	while (lo < hi && v[lo] < x)
		lo++;
	return lo;
}

/* All parts of an array with equal items, and all items to look for, those absent too. */
static void the_first_is_found_in_every_part(void **state)
{
	uint32_t v[N];

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		v[i] = 1 + i / 4 + i / 3;		/* up to 22; some twice */
	for (uint32_t lo = 0; lo <= N; lo++)
		for (uint32_t hi = lo; hi <= N; hi++)
			for (uint32_t x = 0; x < HIGHEST; x++)
				assert_int_equal(search_first(i, lo, hi, v[i] < x),
						 look_at_all(v, lo, hi, x));
}

static void the_limits_are_evaluated_once(void **state)
{
	uint32_t v[] = { 1, 2, 3 }, lo = 0, hi = 3;

	(void)state;
	assert_int_equal(search_first(i, lo++, hi--, v[i] < 3), 2);
	assert_int_equal(lo, 1);
	assert_int_equal(hi, 2);
}

static void large_indices_do_not_overflow(void **state)
{
	uint64_t hi = UINT64_MAX;

	(void)state;
	assert_true(search_first(i, 0, hi, i < UINT64_MAX - 5) == UINT64_MAX - 5);
	assert_true(search_first(i, 0, UINT32_MAX, i < 0xfffffff0) == 0xfffffff0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_is_found_in_every_part),
		cmocka_unit_test(the_limits_are_evaluated_once),
		cmocka_unit_test(large_indices_do_not_overflow),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
