/* test_ranges.c - a search finds what looking at every range finds */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/ranges.h"

enum { MOST = 300 };

struct known {
	uint32_t start, size, of;
	bool marked;
};

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static const struct known *plain(const struct known *v, uint32_t n, uint64_t x)
{
	for (uint32_t i = 0; i < n; i++)
		if (x >= v[i].start && x - v[i].start < v[i].size)
			return &v[i];
	return NULL;
}

static void check_one(const struct ranges *r, const struct known *v, uint32_t n, uint64_t x,
		      bool images)
{
	const struct known *k = plain(v, n, x);
	struct range range;

	assert_int_equal(ranges_find(r, x, &range), k != NULL);
	if (!k)
		return;
	assert_int_equal(range.index, k - v);
	assert_int_equal(range.start, k->start);
	if (images) {
		assert_int_equal(range.of, k->of);
		assert_int_equal(range.marked, k->marked);
	}
}

static void check_all(const struct known *v, uint32_t n, const uint64_t *x, uint32_t nx,
		      bool images)
{
	struct ranges r;

	ranges_init(&r, n);
	for (uint32_t i = 0; i < n; i++)
		if (images)
			ranges_add_image(&r, v[i].start, v[i].size, v[i].of, v[i].marked);
		else
			ranges_add(&r, v[i].start, v[i].size);
	ranges_finish(&r);
	for (uint32_t i = 0; i < nx; i++)
		check_one(&r, v, n, x[i], images);
	for (uint32_t i = 0; i < n; i++)
		for (int d = -1; d <= 1; d++) {
			uint64_t first = (uint64_t)v[i].start + (uint64_t)d;

			check_one(&r, v, n, first, images);
			check_one(&r, v, n, first + v[i].size / 2, images);
			check_one(&r, v, n, first + v[i].size, images);
		}
	assert_true(ranges_bytes(&r) <= 17 * (size_t)n + 64);
	ranges_free(&r);
	ranges_free(&r);		/* leaves an empty one */
}

static void check(const struct known *v, uint32_t n, const uint64_t *x, uint32_t nx)
{
	check_all(v, n, x, nx, false);
	check_all(v, n, x, nx, true);
}

static void few_and_none(void **state)
{
	static const uint64_t x[] = { 0, 1, 2, 63, 64, 65, 1000, UINT32_MAX, UINT64_C(1) << 32,
				      UINT64_MAX };
	static const struct known one[] = { { 0, 1, 7, true } },
				  late[] = { { UINT32_MAX, 1, 0, false } },
				  all[] = { { 0, UINT32_MAX, UINT32_MAX, true },
					    { UINT32_MAX, 1, 0, true } },
				  far[] = { { 0, 1, 1, false }, { 64, 1, 0, true },
					    { UINT32_MAX - 1, 2, 2, false } };
	struct ranges zeroed = { 0 };
	struct range range;

	(void)state;
	assert_false(ranges_find(&zeroed, 0, &range));
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
	struct known v[MOST];

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
			v[n++] = (struct known){
				(uint32_t)at, (uint32_t)size, (uint32_t)next_random(&seed),
				next_random(&seed) & 1
			};
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
	struct range range;

	(void)state;
	ranges_init(&r, N);
	for (uint32_t i = 0; i < N; i++)
		ranges_add(&r, i * 20, i % 10 == 9 ? 15 : 20);
	ranges_finish(&r);
	for (uint32_t i = 0; i < N; i += 7) {
		assert_true(ranges_find(&r, i * 20, &range) && range.index == i);
		assert_true(ranges_find(&r, i * 20 + 14, &range) && range.index == i);
		assert_int_equal(ranges_find(&r, i * 20 + 15, &range), i % 10 != 9);
	}
	assert_true(ranges_bytes(&r) < 2 * N);
	ranges_free(&r);
}

/* Most of them follow the one before, as in the original. */
static void images_take_little_memory(void **state)
{
	enum { N = 1000000, RUN = 4 };
	struct ranges r;
	struct range range;

	(void)state;
	ranges_init(&r, N);
	for (uint32_t i = 0; i < N; i++) {
		uint32_t of = (i / RUN * 7919 % (N / RUN) * RUN + i % RUN) * 20;

		ranges_add_image(&r, i * 20, 20, of, i % 100 == 0);
	}
	ranges_finish(&r);
	for (uint32_t i = 0; i < N; i += 7) {
		assert_true(ranges_find(&r, i * 20 + 19, &range) && range.index == i);
		assert_int_equal(range.of,
				 (i / RUN * 7919 % (N / RUN) * RUN + i % RUN) * 20);
		assert_int_equal(range.marked, i % 100 == 0);
	}
	assert_true(ranges_bytes(&r) < 3 * N);
	ranges_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_and_none),
		cmocka_unit_test(random_ones),
		cmocka_unit_test(many_ranges_take_little_memory),
		cmocka_unit_test(images_take_little_memory),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
