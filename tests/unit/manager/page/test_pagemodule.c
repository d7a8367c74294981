/* test_pagemodule.c - what a job says for a page of a module: what is taken, and what is
 * refused of a job that was taken over */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "lib/err.h"
#include "manager/page/pagemodule.h"

static struct arena *arena;
static struct pagemodule m;
static struct err err;

static int read_text(const char *text)
{
	arena_free(arena);
	arena = arena_new();
	return pagemodule_read(arena_dup(arena, text, strlen(text) + 1), arena, &m, &err);
}

#define FUNCTION "function\t0x100\t9.000\t2.000\tat-least\n"
#define BLOCK "block\t0x100\t4\t2\t3.000\t2.000\tlow\t1.500\t1.000\n"
#define INSN "insn\t0x100\t3.000\t2.000\t1.500\t1.000\t-\t\n"

static void all_of_it_is_taken(void **state)
{
	(void)state;
	assert_int_equal(read_text("area\ttext\t0x100\t4096\n"
				   "heat\tbefore\t0x100\t2.000\n"
				   "heat\tbefore\t0x140\t1.000\n"
				   "heat\tafter\t0x5000\t3.000\n"
				   FUNCTION
				   "cause\tissue\t10.000\t20.000\n"
				   /* a fragment in front of the entry comes behind it */
				   BLOCK INSN
				   "insn\t0x102\t0.000\t2.000\t0.000\t1.000\t0x100\tmemory\n"
				   "block\t0x80\t2\t1\t0.000\t1.000\thigh\t0.000\t1.000\n"
				   "insn\t0x80\t0.000\t1.000\t0.000\t1.000\t-\t\n"
				   "text\t0x102\tret\n"
				   "text\t0x80\tnop\n"
				   "edge\t0x100\t0x80\ttaken\t1.000\n"
				   "image\t0x80\t0x5000\n"), 0);
	assert_int_equal(m.area.n, 1);
	assert_int_equal(pagemodule_area(&m, "text")->size, 4096);
	assert_int_equal(m.heat[PAGE_BEFORE].n, 2);
	assert_int_equal(m.heat[PAGE_AFTER].v[0].line, 0x5000);
	const struct pagemodule_fn *fn = pagemodule_fn_at(&m, 0x100);
	assert_non_null(fn);
	assert_false(fn->counted);
	assert_int_equal(fn->cause.n, 1);
	assert_int_equal(fn->block.n, 2);
	assert_int_equal(fn->block.v[0].addr, 0x80);
	assert_int_equal(fn->block.v[0].image, 0x5000);
	assert_int_equal(fn->block.v[0].confidence, PAGE_HIGH);
	assert_string_equal(pagemodule_insn_at(fn, 0x80)->text, "nop");
	assert_string_equal(pagemodule_insn_at(fn, 0x102)->text, "ret");
	assert_int_equal(pagemodule_insn_at(fn, 0x102)->culprit, 0x100);
	assert_string_equal(pagemodule_insn_at(fn, 0x102)->why, "memory");
	assert_int_equal(fn->edge.n, 1);
	assert_null(pagemodule_insn_at(fn, 0x101));
	assert_null(pagemodule_block_at(fn, 0x101));
	assert_null(pagemodule_area(&m, "hot"));
}

static void what_is_malformed_is_refused(void **state)
{
	static const char *const text[] = {
		"area\ttext\t0x100\n", "nothing\n", "\n", "area\ttext\t0x100\t4096",
		BLOCK, INSN, "edge\t0x1\t0x2\tfall\t1\n",		/* of no function */
		"heat\tbefore\t0x101\t1.000\n", "heat\tbefore\t0x0\t1.000\n",
		"heat\tbefore\t0x140\t1.000\nheat\tbefore\t0x140\t1.000\n",
		"heat\tbefore\t0x140\tinf\n", "heat\tbefore\t0x140\tnan\n",
		"heat\tbefore\t0x140\t-1\n", "heat\tbefore\t0x140\t1e300\n",
		"heat\tbefore\t0x140\t 1\n", "heat\tbefore\t140\t1\n",
		FUNCTION "block\t0x100\t4\t2\t3\t2\tquite\t1.5\t1\n",
		FUNCTION "block\t0x100\t5000000000\t2\t3\t2\tlow\t1.5\t1\n",
		FUNCTION BLOCK INSN "text\t0x100\tret\n" BLOCK,
		"area\ta\t0x1\t1\narea\ta\t0x1\t1\narea\ta\t0x1\t1\narea\ta\t0x1\t1\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(read_text(text[i]), -1);
		assert_string_equal(err.text, "what its reader draws is malformed");
	}
	assert_int_equal(read_text(""), 0);
}

/* A block that says that it has more instructions than there are has those that there are. */
static void a_lie_about_instructions_reaches_nothing(void **state)
{
	(void)state;
	assert_int_equal(read_text(FUNCTION
				   "block\t0x100\t4\t4000000000\t3.000\t2.000\tlow\t1.5\t1\n"
				   INSN), 0);
	assert_non_null(pagemodule_insn_at(&m.fn.v[0], 0x100));
	assert_null(pagemodule_insn_at(&m.fn.v[0], 0x104));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_is_taken),
		cmocka_unit_test(what_is_malformed_is_refused),
		cmocka_unit_test(a_lie_about_instructions_reaches_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	int bad = cmocka_run_group_tests(tests, NULL, NULL);
	arena_free(arena);
	return bad;
}
