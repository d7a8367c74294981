/* test_linefigures.c - figures of lines, worked out by hand */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "editor/measure/linefigures.h"
#include "lib/err.h"
#include "tests/unit/irtext.h"

static void assert_near(double got, double want)
{
	if (fabs(got - want) > 1e-6 * (1 + fabs(want)))
		fail_msg("%.9f is not %.9f", got, want);
}

static struct measure_lines figures_of(struct prog *prog)
{
	struct placement pl;
	struct measure_lines m = { 0 };

	placement_original(prog, &pl);
	linefigures_count(prog, &pl, 1, 0, &m);
	return m;
}

static struct prog *read_text(const char *text, struct arena *a)
{
	struct irtext *t = arena_alloc(a, sizeof(*t));
	struct err err;

	if (irtext_parse((struct bytes){ (const uint8_t *)text, strlen(text) }, a, t, &err) < 0)
		fail_msg("%s", err.text);
	return &t->prog;
}

/* b0 is bytes 0-49, b1 50-69 across a line's end, b2 70-169 too long for a line, b3 170-191 up
 * to a line's end, b4 192-195 from a line's start on. */
static void blocks_that_would_fit_are_counted(void **state)
{
	static const char text[] = "fn f\n"
				   "  b0 size 50 insns 9 count 100 -> b1:60 b4:40\n"
				   "  b1 size 20 insns 4 count 60 -> b2:60 b3:0\n"
				   "  b2 size 100 insns 9 count 60 -> b3:60 b4:0\n"
				   "  b3 size 22 insns 4 count 60 -> b4:60\n"
				   "  b4 size 4 insns 2 count 100 -> ret\n"
				   "run none\n";
	struct arena *a = arena_new();
	struct prog *prog = read_text(text, a);

	(void)state;
	assert_near(figures_of(prog).blocks, 60);
	assert_near(figures_of(prog).dispatches, 0);
	assert_near(figures_of(prog).pairs, 0);
	prog->fn[0].block[1].count = 7;
	assert_near(figures_of(prog).blocks, 7);
	arena_free(a);
}

/* As above, but b1 ends in an indirect jump. */
static void dispatches_are_counted_apart(void **state)
{
	static const char text[] = "fn f\n"
				   "  b0 size 50 insns 9 count 100 -> b1:100 b3:0\n"
				   "  b1 size 20 insns 4 count 100 -> table b2:90 b3:10\n"
				   "  b2 size 10 insns 2 count 90 -> ret\n"
				   "  b3 size 10 insns 2 count 10 -> ret\n"
				   "run none\n";
	struct arena *a = arena_new();
	struct prog *prog = read_text(text, a);

	(void)state;
	assert_near(figures_of(prog).blocks, 100);
	assert_near(figures_of(prog).dispatches, 100);
	arena_free(a);
}

/* Three indirect jumps, executed 100, 60 and 40 times, end at bytes 20, 36 and 50 or 52: the
 * average one has 200 - 15200 / 200 = 124 others beside it. */
static void indirect_jumps_that_end_alike_are_counted(void **state)
{
	static const char text[] = "fn f\n"
				   "  b0 size 20 insns 4 count 100 -> table b1:60 b2:40\n"
				   "  b1 size 16 insns 4 count 60 -> table b2:50 b3:10\n"
				   "  b2 size %u insns 4 count 40 -> table b3:30 b0:10\n"
				   "  b3 size 10 insns 2 count 40 -> ret\n"
				   "fn g\n"
				   "  b0 size 16 insns 4 count 500 -> table b1:250 b2:250\n"
				   "  b1 size 10 insns 2 count 250 -> ret\n"
				   "  b2 size 10 insns 2 count 250 -> ret\n"
				   "run none\n";
	struct arena *a = arena_new();

	(void)state;
	assert_near(figures_of(read_text(arena_printf(a, text, 14u), a)).alike,
		    2 * 100 * 60 / 124.0);
	assert_near(figures_of(read_text(arena_printf(a, text, 16u), a)).alike,
		    2 * (100 * 60 + 100 * 40 + 60 * 40) / 124.0);
	arena_free(a);
}

/* Squares of counts are not added up as they are taken off: 0 is 0, and not -0. */
static void none_alike_is_none(void **state)
{
	static const char text[] = "fn f\n"
				   "  b0 size 20 insns 4 count 0.1 -> table b1:60 b2:40\n"
				   "  b1 size 15 insns 4 count 0.1 -> table b2:50 b3:10\n"
				   "  b2 size 14 insns 4 count 0.4 -> table b3:30 b0:10\n"
				   "  b3 size 10 insns 2 count 40 -> ret\n"
				   "run none\n";
	struct arena *a = arena_new();
	double alike = figures_of(read_text(text, a)).alike;

	(void)state;
	assert_false(signbit(alike));
	assert_near(alike, 0);
	arena_free(a);
}

/* In b1, behind `size` bytes: 4 bytes, a comparison of 4, and its branch of 6. */
static void fused_pairs_are_counted(void **state)
{
	static const uint8_t cmp[] = { 0x48, 0x83, 0xf8, 0x00 };

	(void)state;
	for (unsigned size = 40; size < 72; size++) {
		struct arena *a = arena_new();
		char text[256];

		(void)snprintf(text, sizeof(text),
			       "fn f\n  b0 size %u insns 9 count 50 -> b1\n"
			       "  b1 size 14 insns 3 count 50 -> b2:30 b3:20\n"
			       "  b2 size 9 insns 2 count 30 -> ret\n"
			       "  b3 size 9 insns 2 count 20 -> ret\nrun none\n", size);
		struct prog *prog = read_text(text, a);
		const struct insn *insn = &prog->fn[0].insn[prog->fn[0].block[1].insn + 1];
		uint8_t *code = arena_array(a, prog->img.file.n, 1);

		assert_int_equal(insn->len, sizeof(cmp));
		memcpy(code, prog->img.file.p, prog->img.file.n);
		memcpy(code + insn->off, cmp, sizeof(cmp));
		bool across = size + 4 < 64 && size + 14 > 64;

		assert_near(figures_of(prog).pairs, 0);
		prog->img.file.p = code;
		assert_near(figures_of(prog).pairs, across ? 50 : 0);
		arena_free(a);
	}
}

/* b1 to b3 are a loop: 40 + 20 bytes, from 40 on in lines 0 and 1; b2 hardly runs. */
static void lines_of_short_loops_are_counted(void **state)
{
	static const char text[] = "fn f\n"
				   "  b0 size 40 insns 9 count 10 -> b1\n"
				   "  b1 size 40 insns 9 count 1000 -> b2:10 b3:990\n"
				   "  b2 size 20 insns 4 count 10 -> b3\n"
				   "  b3 size 20 insns 4 count 1000 -> b4:10 b1:990\n"
				   "  b4 size 9 insns 2 count 10 -> ret\n"
				   "run none\n";
	struct arena *a = arena_new();
	struct prog *prog = read_text(text, a);
	struct measure_lines m = figures_of(prog);

	(void)state;
	assert_near(m.loops_need, 990);
	assert_near(m.loops_use, 2 * 990);
	prog->fn[0].block[1].size = 300;	/* too long for a short loop */
	m = figures_of(prog);
	assert_near(m.loops_need, 0);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_that_would_fit_are_counted),
		cmocka_unit_test(dispatches_are_counted_apart),
		cmocka_unit_test(indirect_jumps_that_end_alike_are_counted),
		cmocka_unit_test(none_alike_is_none),
		cmocka_unit_test(fused_pairs_are_counted),
		cmocka_unit_test(lines_of_short_loops_are_counted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
