/* test_samplelines.c - places as lines, by address and by offset in the file */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "editor/exchange/samplelines.h"
#include "lib/arena.h"
#include "lib/err.h"

static struct arena *arena;
static struct samplelines got;

static int read_lines(const char *text)
{
	static Elf64_Phdr ph[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 0x1000 },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = 0x1000,
		  .p_vaddr = 0x401000, .p_filesz = 0x200 },
	};
	const struct image img = { .ph = ph, .nph = 2 };
	struct err err = { 0 };

	return samplelines_read((struct bytes){ (const uint8_t *)text, strlen(text) }, &img,
				arena, &got, &err);
}

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static void a_line_is_a_place_with_or_without_a_count(void **state)
{
	(void)state;
	assert_int_equal(read_lines("0x401010\n0x401020 17\n+0x1030 2\n"), 0);
	assert_int_equal(got.n, 3);
	assert_int_equal(got.at[0].addr, 0x401010);
	assert_true(got.at[0].count == 1);
	assert_int_equal(got.at[1].addr, 0x401020);
	assert_true(got.at[1].count == 17);
	assert_int_equal(got.at[2].addr, 0x401030);
	assert_true(got.at[2].count == 2);
}

static void an_offset_outside_of_code_is_no_address(void **state)
{
	(void)state;
	assert_int_equal(read_lines("+0x10\n+0xfff\n+0x1000\n+0x11ff\n+0x1200\n"), 0);
	assert_int_equal(got.n, 5);
	assert_int_equal(got.at[0].addr, 0);
	assert_int_equal(got.at[1].addr, 0);
	assert_int_equal(got.at[2].addr, 0x401000);
	assert_int_equal(got.at[3].addr, 0x4011ff);
	assert_int_equal(got.at[4].addr, 0);
}

static void what_is_no_line_is_refused(void **state)
{
	static const char *const bad[] = { "x\n", "\n", "+\n", "0x10", "0x10 x\n", "0x10 \n" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (read_lines(bad[i]) == 0)
			fail_msg("'%s'", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_a_place_with_or_without_a_count),
		cmocka_unit_test(an_offset_outside_of_code_is_no_address),
		cmocka_unit_test(what_is_no_line_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("samplelines", tests, setup, teardown);
}
