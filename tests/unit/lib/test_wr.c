/* test_wr.c - what is written is little-endian, and numbers come back by rd.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/wr.h"

static void integers_are_little_endian(void **state)
{
	static const uint8_t want[] = { 1, 3, 2, 7, 6, 5, 4, 15, 14, 13, 12, 11, 10, 9, 8 };
	struct wr w = { 0 };

	(void)state;
	wr_u8(&w, 1);
	wr_u16(&w, 0x0203);
	wr_u32(&w, 0x04050607);
	wr_u64(&w, 0x08090a0b0c0d0e0f);
	assert_int_equal(w.n, sizeof(want));
	assert_memory_equal(w.p, want, sizeof(want));
	wr_put_u32(&w, 3, 0xaabbccdd);
	assert_int_equal(w.p[3], 0xdd);
	assert_int_equal(w.p[6], 0xaa);
	assert_int_equal(w.p[7], 15);
	wr_free(&w);
}

/* The examples of the DWARF standard. */
static void numbers_of_any_length_are_as_dwarf_has_them(void **state)
{
	static const uint8_t want[] = { 2, 127, 0x80, 1, 0x81, 1, 0xb9, 0x64,
					2, 0x7e, 0xff, 0, 0x81, 0x7f, 0x80, 1, 0xff, 0x7e };
	struct wr w = { 0 };

	(void)state;
	wr_uleb(&w, 2);
	wr_uleb(&w, 127);
	wr_uleb(&w, 128);
	wr_uleb(&w, 129);
	wr_uleb(&w, 12857);
	wr_sleb(&w, 2);
	wr_sleb(&w, -2);
	wr_sleb(&w, 127);
	wr_sleb(&w, -127);
	wr_sleb(&w, 128);
	wr_sleb(&w, -129);
	assert_int_equal(w.n, sizeof(want));
	assert_memory_equal(w.p, want, sizeof(want));
	wr_free(&w);
}

static void a_buffer_grows_and_keeps_its_bytes(void **state)
{
	struct wr w = { 0 }, to = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 10000; i++)
		wr_u32(&w, i);
	memset(w.p + w.n, 0xff, w.cap - w.n);	/* what comes next is zeroed all the same */
	wr_str(&w, "ab");
	wr_align(&w, 16);
	assert_int_equal(w.n % 16, 0);
	uint8_t *zero = wr_reserve(&w, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(zero[i], 0);
	wr_u8(&to, 1);
	wr_move(&to, &w);
	assert_null(w.p);
	assert_int_equal(w.n, 0);
	struct rd r = rd_of(wr_bytes(&to));
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(rd_u32(&r), i);
	assert_string_equal(rd_str(&r), "ab");
	wr_free(&to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_little_endian),
		cmocka_unit_test(numbers_of_any_length_are_as_dwarf_has_them),
		cmocka_unit_test(a_buffer_grows_and_keeps_its_bytes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
