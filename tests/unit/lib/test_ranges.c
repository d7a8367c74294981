/* test_ranges.c - a search finds what looking at every range finds */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/ranges.h"

enum { MOST = 300 };

struct range {
	uint32_t start, size;
};

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static uint32_t plain(const struct range *v, uint32_t n, uint64_t x)
{
	for (uint32_t i = 0; i < n; i++)
		if (x >= v[i].start && x - v[i].start < v[i].size)
			return i;
	return RANGES_NONE;
}

static void make(struct ranges *r, const struct range *v, uint32_t n)
{
	ranges_init(r, n, n ? (uint64_t)v[n - 1].start + v[n - 1].size : 0);
	for (uint32_t i = 0; i < n; i++)
		ranges_add(r, v[i].start, v[i].size);
	ranges_finish(r);
}

static void check(const struct range *v, uint32_t n, const uint64_t *x, uint32_t nx)
{
	struct ranges r;

	make(&r, v, n);
	for (uint32_t i = 0; i < nx; i++)
		assert_int_equal(ranges_find(&r, x[i]), plain(v, n, x[i]));
	for (uint32_t i = 0; i < n; i++)
		for (int d = -1; d <= 1; d++) {
			uint64_t first = (uint64_t)v[i].start + (uint64_t)d,
				 end = first + v[i].size;

			assert_int_equal(ranges_find(&r, first), plain(v, n, first));
			assert_int_equal(ranges_find(&r, end), plain(v, n, end));
		}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t last = (uint64_t)v[i].start + v[i].size - 1;

		assert_int_equal(ranges_start(&r, v[i].start), v[i].start);
		assert_int_equal(ranges_start(&r, v[i].start + v[i].size / 2), v[i].start);
		assert_int_equal(ranges_start(&r, last), v[i].start);
	}
	assert_true(ranges_bytes(&r) <= 6 * (size_t)n + (1 << 21));
	ranges_free(&r);
	ranges_free(&r);		/* leaves an empty one */
}

static void few_and_none(void **state)
{
	static const uint64_t x[] = { 0, 1, 2, 63, 64, 65, 1000, UINT32_MAX, UINT64_C(1) << 32,
				      UINT64_MAX };
	static const struct range one[] = { { 0, 1 } }, late[] = { { UINT32_MAX, 1 } },
				  all[] = { { 0, UINT32_MAX }, { UINT32_MAX, 1 } },
				  far[] = { { 0, 1 }, { 64, 1 }, { UINT32_MAX - 1, 2 } };
	struct ranges zeroed = { 0 };

	(void)state;
	assert_int_equal(ranges_find(&zeroed, 0), RANGES_NONE);
	check(NULL, 0, x, 10);
	check(one, 1, x, 10);
	check(late, 1, x, 10);
	check(all, 2, x, 10);
	check(far, 3, x, 10);
}

/* Sizes and gaps of about 2^bits, and none. */
static void random_ones(void **state)
{
	uint64_t seed = 7, x[200];
	struct range v[MOST];

	(void)state;
	for (int round = 0; round < 600; round++) {
		unsigned size_bits = round % 23, gap_bits = round / 23 % 23;
		uint64_t at =
			next_random(&seed) % 3 ? next_random(&seed) >> (64 - gap_bits - 1) : 0;
		uint32_t n = 0;

		while (n < MOST) {
			uint64_t size = 1 + (next_random(&seed) >> (63 - size_bits));

			if (at + size > UINT64_C(1) << 32)
				break;
			v[n++] = (struct range){ (uint32_t)at, (uint32_t)size };
			at += size;
			if (next_random(&seed) % 4 == 0)
				at += next_random(&seed) >> (63 - gap_bits);
		}
		for (int i = 0; i < 200; i++)
			x[i] = next_random(&seed) % (at + at / 8 + 2);
		check(v, n, x, 200);
	}
}

/* As many as a large program has, most of them side by side. */
static void many_ranges_take_little_memory(void **state)
{
	enum { N = 1000000 };
	struct ranges r;

	(void)state;
	ranges_init(&r, N, N * UINT64_C(20));
	for (uint32_t i = 0; i < N; i++)
		ranges_add(&r, i * 20, i % 10 == 9 ? 15 : 20);
	ranges_finish(&r);
	for (uint32_t i = 0; i < N; i += 7) {
		assert_int_equal(ranges_find(&r, i * 20), i);
		assert_int_equal(ranges_find(&r, i * 20 + 14), i);
		assert_int_equal(ranges_find(&r, i * 20 + 15), i % 10 == 9 ? RANGES_NONE : i);
	}
	assert_true(ranges_bytes(&r) < 5 * N);
	ranges_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_and_none),
		cmocka_unit_test(random_ones),
		cmocka_unit_test(many_ranges_take_little_memory),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
