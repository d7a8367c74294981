/* test_branchset.c - what a branch set holds, held against counts that are kept by hand */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "manager/samples/branchset.h"

enum { FILES = 3, PLACES = 40 };

static void equal_ones_are_added_up_and_come_sorted(void **state)
{
	static uint32_t want[FILES][PLACES][PLACES][2];
	struct branchset s = { 0 };
	uint32_t n, distinct = 0, got = 0;

	(void)state;
	srand(1);
	for (unsigned i = 0; i < 100000; i++) {
		unsigned f = (unsigned)rand() % FILES, a = (unsigned)rand() % PLACES,
			 b = (unsigned)rand() % PLACES, run = (unsigned)rand() % 2;

		distinct += !want[f][a][b][run]++;
		assert_int_equal(branchset_add(&s, 2 * f, a, b, run), 0);
	}
	assert_int_equal(s.n, distinct);
	branchset_sort(&s);
	for (uint32_t f = 0; f < FILES; f++) {
		const struct branchset_item *item = branchset_of(&s, 2 * f, &n);

		for (uint32_t i = 0; i < n; i++, got++) {
			assert_int_equal(item[i].file, 2 * f);
			assert_int_equal(item[i].count,
					 want[f][item[i].from][item[i].to][item[i].run]);
			assert_true(i == 0 || item[i - 1].from < item[i].from ||
				    item[i - 1].to <= item[i].to);
		}
		(void)branchset_of(&s, 2 * f + 1, &n);
		assert_int_equal(n, 0);
	}
	assert_int_equal(got, distinct);
	branchset_clear(&s);
	assert_int_equal(branchset_add(&s, 0, 1, 2, false), 0);
	branchset_clear(&s);
}

static void it_is_bounded(void **state)
{
	struct branchset s = { 0 };

	(void)state;
	for (uint32_t i = 0; i < BRANCHSET_MAX; i++)
		assert_int_equal(branchset_add(&s, 0, i, 7, false), 0);
	assert_int_equal(branchset_add(&s, 0, BRANCHSET_MAX, 7, false), -1);
	assert_int_equal(branchset_add(&s, 0, 5, 7, false), 0);
	assert_int_equal(s.item[5].count, 2);
	s.item[5].count = UINT32_MAX >> 1;
	assert_int_equal(branchset_add(&s, 0, 5, 7, false), 0);
	assert_int_equal(s.item[5].count, UINT32_MAX >> 1);
	branchset_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_ones_are_added_up_and_come_sorted),
		cmocka_unit_test(it_is_bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
