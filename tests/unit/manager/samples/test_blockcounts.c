/* test_blockcounts.c - counts of blocks sorted and added are what plain counters say */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "manager/samples/blockcounts.h"

enum { BLOCKS = 500, MOST = 2000 };

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Numbers that differ in all of their digits; still ascending. */
static uint32_t number(uint32_t i, uint32_t scale)
{
	return i * scale;
}

static void check(const struct blockcount *c, uint32_t n, const uint32_t want[BLOCKS],
		  uint32_t scale)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < BLOCKS; i++)
		if (want[i]) {
			assert_true(k < n);
			assert_int_equal(c[k].block, number(i, scale));
			assert_int_equal(c[k++].samples, want[i]);
		}
	assert_int_equal(k, n);
}

static void any_order_is_sorted_and_added(void **state)
{
	static const uint32_t scales[] = { 1, 2049, 8589934 };	/* of 1, 2 and 3 digits */
	uint64_t x = 11;

	(void)state;
	for (int round = 0; round < 60; round++) {
		uint32_t scale = scales[round % 3], n = (uint32_t)(next_random(&x) % MOST),
			 nto = 0;
		struct blockcount c[MOST], *to = NULL;
		uint32_t want[BLOCKS] = { 0 };

		for (int part = 0; part < 3; part++) {
			for (uint32_t i = 0; i < n; i++) {
				uint32_t block = round % 2
							 ? (uint32_t)(next_random(&x) % BLOCKS)
							 : i * BLOCKS / MOST;

				c[i] = (struct blockcount){ number(block, scale),
								 1 + i % 5 };
				want[block] += 1 + i % 5;
			}
			blockcounts_add(&to, &nto, c, blockcounts_sort(c, n));
			check(to, nto, want, scale);
		}
		free(to);
	}
}

static void none_and_too_many(void **state)
{
	struct blockcount two[] = { { 7, UINT32_MAX }, { 7, 3 } }, more = { 7, 9 },
			       *to = NULL;
	uint32_t n = 0;

	(void)state;
	assert_int_equal(blockcounts_sort(NULL, 0), 0);
	blockcounts_add(&to, &n, NULL, 0);
	assert_null(to);
	assert_int_equal(blockcounts_sort(two, 2), 1);
	assert_true(two[0].samples == UINT32_MAX);
	blockcounts_add(&to, &n, two, 1);
	blockcounts_add(&to, &n, &more, 1);
	assert_int_equal(n, 1);
	assert_true(to[0].block == 7 && to[0].samples == UINT32_MAX);
	free(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_is_sorted_and_added),
		cmocka_unit_test(none_and_too_many),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
