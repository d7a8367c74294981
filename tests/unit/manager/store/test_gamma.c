/* test_gamma.c - numbers of any width come out as bits and back */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "manager/store/gamma.h"

enum { NUMBERS = 1000, BITS = 127 * NUMBERS };

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* The definition, a bit at a time. */
static uint32_t plain_put(uint8_t *bit, uint64_t v)
{
	unsigned high = 63;
	uint32_t n = 0;

	while (!(v >> high & 1))
		high--;
	for (unsigned i = 0; i < high; i++)
		bit[n++] = 0;
	for (unsigned i = high + 1; i-- > 0; )
		bit[n++] = v >> i & 1;
	return n;
}

static void all_widths(void **state)
{
	static uint8_t bit[BITS];
	static uint64_t v[NUMBERS];
	uint64_t x = 4;

	(void)state;
	for (uint32_t count = 1; count <= NUMBERS; count += count < 70 ? 1 : 310) {
		struct wr w = { 0 };
		struct gamma_out o = { .w = &w };
		uint32_t n = 0;

		for (uint32_t i = 0; i < count; i++) {
			v[i] = next_random(&x) >> next_random(&x) % 64 | 1;
			v[i] <<= v[i] < 8 ? next_random(&x) % 61 : 0;
			uint32_t bits = plain_put(bit + n, v[i]);
			assert_int_equal(gamma_bits(v[i]), bits);
			n += bits;
			gamma_put(&o, v[i]);
		}
		gamma_end(&o);
		assert_int_equal(w.n, (n + 7) / 8);
		for (uint32_t i = 0; i < 8 * w.n; i++)
			assert_int_equal(w.p[i / 8] >> (7 - i % 8) & 1, i < n ? bit[i] : 0);

		struct gamma_in in = gamma_of(wr_bytes(&w));
		for (uint32_t i = 0; i < count; i++)
			assert_true(gamma_get(&in) == v[i]);
		assert_true(gamma_at_end(&in));
		assert_true(gamma_get(&in) == 0);
		/* Cut off anywhere in the last number it is malformed. */
		in = gamma_of((struct bytes){ w.p, w.n - 1 });
		uint64_t last = 1;
		for (uint32_t i = 0; i < count && last; i++)
			last = gamma_get(&in);
		assert_true(last == 0);
		wr_free(&w);
	}
}

static void nothing_but_zeros_is_malformed(void **state)
{
	static const uint8_t zeros[40];
	struct gamma_in in = gamma_of((struct bytes){ zeros, sizeof(zeros) });

	(void)state;
	assert_true(gamma_get(&in) == 0);
	in = gamma_of((struct bytes){ zeros, 0 });
	assert_true(gamma_get(&in) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_widths),
		cmocka_unit_test(nothing_but_zeros_is_malformed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
