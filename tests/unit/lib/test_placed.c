/* test_placed.c - lines that tell where blocks lie in a generation, and those that are none */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "lib/placed.h"

static void lines_are_taken_apart(void **state)
{
	char text[] = "generation 12\nblock\t0x7000\t17\t0x100\n"
		      "insn\t0x7000\t0x100\tmov  %rax,%rbx\n"
		      "insn\t0x7003\t-\tjmp    0x1\twith a tab\n";
	struct placed_line p;
	char *rest = text;

	(void)state;
	assert_int_equal(placed_generation(&rest), 12);
	assert_true(placed_next(&rest, &p));
	assert_false(p.insn);
	assert_int_equal(p.addr, 0x7000);
	assert_int_equal(p.size, 17);
	assert_int_equal(p.original, 0x100);
	assert_true(placed_next(&rest, &p));
	assert_true(p.insn);
	assert_int_equal(p.original, 0x100);
	assert_string_equal(p.text, "mov  %rax,%rbx");
	assert_true(placed_next(&rest, &p));
	assert_int_equal(p.addr, 0x7003);
	assert_int_equal(p.original, 0);
	assert_string_equal(p.text, "jmp    0x1\twith a tab");
	assert_false(placed_next(&rest, &p));
}

static void what_is_no_line_is_passed_over(void **state)
{
	char text[] = "\nblock\t0x7000\t17\nblock\t7000\t17\t0x100\nblock\t0x7000\t-1\t0x100\n"
		      "block\t0x7000\t4294967296\t0x100\nblock\t0x\t17\t0x100\n"
		      "insn\t0x10000000000000000\t-\tx\ninsn\t0x1\t--\tx\ninsn\t0x1 \t-\tx\n"
		      "else\t0x1\t-\tx\ninsn\t0x2\t-\t\ninsn\t0x3\t-\tcut off";
	struct placed_line p;
	char *rest = text;

	(void)state;
	assert_true(placed_next(&rest, &p));
	assert_int_equal(p.addr, 2);
	assert_string_equal(p.text, "");
	assert_false(placed_next(&rest, &p));
}

static void a_number_that_is_none_is_0(void **state)
{
	static const char *const line[] = { "", "generation", "generation x\n", "generation 5",
					    "generation -1\n", "generation 4294967296\n",
					    "generation 5\tx\n", "degeneration 5\n" };
	char copy[64];

	(void)state;
	for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
		char *rest = strcpy(copy, line[i]);

		assert_int_equal(placed_generation(&rest), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_taken_apart),
		cmocka_unit_test(what_is_no_line_is_passed_over),
		cmocka_unit_test(a_number_that_is_none_is_0),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
