/* test_bracket.c - a narrowed search finds what a search through everything finds */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/bracket.h"

static uint64_t number(const void *ctx, uint32_t i)
{
	return ((const uint64_t *)ctx)[i];
}

/* How many of the numbers are <= x, between lo and hi. */
static uint32_t count(const uint64_t *v, uint64_t x, uint32_t lo, uint32_t hi)
{
	while (lo < hi && v[lo] <= x)
		lo++;
	return lo;
}

static void check_all(const uint64_t *v, uint32_t n, uint64_t x)
{
	uint32_t room[16], lo = 0, hi = n;
	struct bracket b;

	bracket_make(&b, room, n, number, v);
	bracket_narrow(&b, x, &lo, &hi);
	assert_true(lo <= hi && hi <= n);
	assert_int_equal(count(v, x, lo, hi), count(v, x, 0, n));
	assert_true(hi == n || v[hi] > x);
}

static void every_search_finds_the_same(void **state)
{
	static const uint64_t sets[][8] = {
		{ 0, 1, 2, 3, 4, 5, 6, 7 },
		{ 5, 5, 5, 5, 5, 5, 5, 5 },
		{ 3, 4, 100, 101, 102, 250, 251, 255 },
		{ 0, 0, 0, 0, 0, 0, 0, 255 },
		{ 7, 250, 250, 250, 250, 250, 250, 250 },
	};

	(void)state;
	for (uint32_t s = 0; s < sizeof(sets) / sizeof(sets[0]); s++)
		for (uint32_t n = 0; n <= 8; n++)
			for (uint64_t x = 0; x < 300; x++)
				check_all(sets[s], n, x);
}

static void numbers_may_span_everything(void **state)
{
	static const uint64_t v[] = { 0, 9, (uint64_t)1 << 40, UINT64_MAX };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		check_all(v, 4, v[i]);
		check_all(v, 4, v[i] - 1);
		check_all(v, 4, v[i] + 1);
	}
}

static void few_numbers_are_left(void **state)
{
	uint64_t v[1000];
	uint32_t room[1002], lo = 0, hi = 1000;
	struct bracket b;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		v[i] = 7000 + 10 * i + i % 7;
	bracket_make(&b, room, 1000, number, v);
	bracket_narrow(&b, 12000, &lo, &hi);
	assert_in_range(hi - lo, 0, 3);
}

static void a_zeroed_one_narrows_nothing(void **state)
{
	struct bracket b = { 0 };
	uint32_t lo = 3, hi = 8;

	(void)state;
	bracket_narrow(&b, 5, &lo, &hi);
	assert_int_equal(lo, 3);
	assert_int_equal(hi, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_search_finds_the_same),
		cmocka_unit_test(numbers_may_span_everything),
		cmocka_unit_test(few_numbers_are_left),
		cmocka_unit_test(a_zeroed_one_narrows_nothing),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
