/* test_annotation.c - what jobs say of a function in a generation, as tables */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/table.h"
#include "manager/work/annotation.h"

/* Four blocks of an instruction each: of the third one there is no image, and the jump that is
 * the second one has gone, as its target comes next. */
static const char says[] =
	"function\t0x1000\t20\t10\tsamples\n"
	"block\t0x1000\t5\t1\t10\t2\thigh\t1\t1\n"
	"block\t0x1005\t2\t1\t7\t2\thigh\t1\t1\n"
	"block\t0x1007\t3\t1\t3\t2\thigh\t1\t1\n"
	"block\t0x100a\t1\t1\t0\t0\tlow\t1\t1\n"
	"insn\t0x1000\t10\t2\t1\t1\t0x1000\tload\n"
	"insn\t0x1005\t7\t2\t1\t1\t0x1000\tload\n"
	"insn\t0x1007\t3\t2\t1\t1\t0x1007\t\n"
	"insn\t0x100a\t0\t0\t1\t1\t0x100a\t\n";
static const char is_placed[] =
	"generation 3\n"
	"block\t0x9005\t0\t0x1005\n"
	"insn\t0x9005\t-\tnop\n"
	"block\t0x9006\t5\t0x1000\n"
	"insn\t0x9006\t0x1000\tmov\n";

static struct annotation a;

static struct bytes bytes_of(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

static int setup(void **state)
{
	(void)state;
	annotation_begin(&a, arena_new());
	annotation_take(&a, bytes_of(says));
	return table_nrow(a.blocks) == 4 && a.line.n == 4 ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	table_free(a.fn);
	table_free(a.causes);
	table_free(a.blocks);
	arena_free(a.arena);
	return 0;
}

static void check_row(const struct table *t, int row, const char *addr, const char *original)
{
	assert_string_equal(table_cell(t, row, 0), addr);
	assert_string_equal(table_cell(t, row, table_ncol(t) - 1), original);
}

static void blocks_without_an_image_follow_if_they_run(void **state)
{
	uint32_t n;

	(void)state;
	assert_int_equal(annotation_take_placed(&a, bytes_of(is_placed), &n), 3);
	assert_int_equal(n, 4);
	assert_int_equal(table_nrow(a.blocks), 3);
	check_row(a.blocks, 0, "0x9005", "0x1005");
	check_row(a.blocks, 1, "0x9006", "0x1000");
	check_row(a.blocks, 2, "0x1007", "0x1007");
	assert_string_equal(table_cell(a.blocks, 2, 3), "3");
}

static void instructions_likewise(void **state)
{
	uint32_t n;

	(void)state;
	assert_int_equal(annotation_take_placed(&a, bytes_of(is_placed), &n), 3);
	struct table *t = annotation_insns(&a);
	assert_int_equal(table_nrow(t), 4);
	check_row(t, 0, "0x9005", "");		/* it was added */
	check_row(t, 1, "0x9006", "0x1000");
	assert_string_equal(table_cell(t, 1, 6), "0x9006");	/* its own culprit */
	check_row(t, 2, "0x1005", "0x1005");
	assert_string_equal(table_cell(t, 2, 6), "0x9006");
	check_row(t, 3, "0x1007", "0x1007");
	table_free(t);
}

static void what_was_left_where_it_was_is_as_it_was(void **state)
{
	uint32_t n;

	(void)state;
	assert_int_equal(annotation_take_placed(&a, bytes_of("generation 3\n"), &n), 3);
	assert_int_equal(n, 0);
	assert_int_equal(table_nrow(a.blocks), 4);
	struct table *t = annotation_insns(&a);
	assert_int_equal(table_nrow(t), 4);
	assert_string_equal(table_cell(t, 3, 0), "0x100a");
	table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(blocks_without_an_image_follow_if_they_run),
		T(instructions_likewise),
		T(what_was_left_where_it_was_is_as_it_was),
#undef T
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
