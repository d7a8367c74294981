/* test_emit_plan.c - where the plan of new text puts NOPs, and which way a block's branch
 * goes */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "editor/emit/emit.h"
#include "tests/unit/irtext.h"
#include "lib/err.h"

/* b1 is a loop entered 10 times; b3 a loop, too, but left each second time; b5 a join. */
static const char text[] =
	"fn f\n"
	"  b0 size 24 insns 5 count 10 -> b1:10\n"
	"  b1 size 30 insns 5 count 1000 confidence medium -> b2:10 b1:990\n"
	"  b2 size 13 insns 3 count 10 -> b3:10\n"
	"  b3 size 13 insns 3 count 20 confidence high -> b4:10 b3:10\n"
	"  b4 size 15 insns 3 count 10 -> b5:1 b6:9\n"
	"  b5 size 21 insns 3 count 1 -> b6:1\n"
	"  b6 size 21 insns 3 count 10 -> ret\n"
	"run none\n";

static void parse(const char *ir, struct arena *a, struct irtext *t)
{
	struct err err;

	if (irtext_parse((struct bytes){ (const uint8_t *)ir, strlen(ir) }, a, t, &err) < 0)
		fail_msg("%s", err.text);
}

static void only_loops_that_go_round_are_aligned(void **state)
{
	struct arena *a = arena_new();
	struct irtext t;
	struct emit_plan plan;
	struct err err;

	(void)state;
	parse(text, a, &t);
	assert_int_equal(emit_plan_fill(&plan, &t.prog, NULL, &err), 0);
	for (uint32_t b = 1; b < 7; b++) {
		const struct emit_place *p = &plan.place[plan.place_of[0][b]];

		assert_int_equal(plan.item[p->item].align, b == 1 ? 16 : 1);
	}
	/* The NOPs in front of b1, at 24, are run by b0, which leads there. */
	assert_true(plan.place[plan.place_of[0][0]].fills);
	assert_int_equal(plan.item[plan.place[plan.place_of[0][1]].item].addr, 32);
	emit_plan_free(&plan);
	arena_free(a);
}

static void blocks_without_counts_are_not_aligned(void **state)
{
	struct arena *a = arena_new();
	struct irtext t;
	struct emit_plan plan;
	struct err err;

	(void)state;
	parse(text, a, &t);
	for (uint32_t b = 0; b < 7; b++) {
		struct block *block = &t.prog.fn[0].block[b];

		block->count = block->fall_count = block->taken_count = 0;
	}
	assert_int_equal(emit_plan_fill(&plan, &t.prog, NULL, &err), 0);
	for (uint32_t b = 1; b < 7; b++)
		assert_int_equal(plan.item[plan.place[plan.place_of[0][b]].item].align, 1);
	emit_plan_free(&plan);
	arena_free(a);
}

static void loops_that_are_hardly_known_are_not_aligned(void **state)
{
	struct arena *a = arena_new();
	struct irtext t;
	struct emit_plan plan;
	struct err err;

	(void)state;
	parse(text, a, &t);
	t.prog.fn[0].block[1].confidence = CONFIDENCE_LOW;
	assert_int_equal(emit_plan_fill(&plan, &t.prog, NULL, &err), 0);
	assert_int_equal(plan.item[plan.place[plan.place_of[0][1]].item].align, 1);
	emit_plan_free(&plan);
	arena_free(a);
}

/* Neither way out of b0 stands behind it: the conditional branch goes to b1, the likelier
 * one. */
static void the_likelier_way_needs_no_second_jump(void **state)
{
	static const char ways[] =
		"fn f\n"
		"  b0 size 20 insns 5 count 10 -> b1:8 b2:2\n"
		"  b1 size 20 insns 5 count 8 -> ret\n"
		"  b2 size 20 insns 5 count 2 -> ret\n"
		"  b3 size 20 insns 5 -> ret\n"
		"  order b0 b3 b1 b2\n"
		"run none\n";
	struct arena *a = arena_new();
	struct irtext t;
	struct err err;

	(void)state;
	parse(ways, a, &t);
	for (int swapped = 0; swapped < 2; swapped++) {
		struct emit_plan plan;
		struct block *b = &t.prog.fn[0].block[0];
		double fall = b->fall_count;

		if (emit_plan_fill(&plan, &t.prog, NULL, &err) < 0)
			fail_msg("%s", err.text);
		const struct emit_place *p = &plan.place[plan.place_of[0][0]];
		assert_true(p->jumps);
		assert_int_equal(p->inverted, !swapped);
		assert_int_equal(p->branch.place, plan.place_of[0][swapped ? 2 : 1]);
		assert_int_equal(p->jump.place, plan.place_of[0][swapped ? 1 : 2]);
		emit_plan_free(&plan);
		b->fall_count = b->taken_count;
		b->taken_count = fall;
	}
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_loops_that_go_round_are_aligned),
		cmocka_unit_test(the_likelier_way_needs_no_second_jump),
		cmocka_unit_test(blocks_without_counts_are_not_aligned),
		cmocka_unit_test(loops_that_are_hardly_known_are_not_aligned),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
