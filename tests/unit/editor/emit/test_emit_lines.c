/* test_emit_lines.c - which blocks are moved off the ends of lines, and by what */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "editor/emit/emit.h"
#include "lib/cpu.h"
#include "lib/err.h"
#include "tests/unit/irtext.h"

static void parse(const char *ir, struct arena *a, struct irtext *t)
{
	struct err err;

	if (irtext_parse((struct bytes){ (const uint8_t *)ir, strlen(ir) }, a, t, &err) < 0)
		fail_msg("%s", err.text);
	t->prog.line_costs = cpu_costs_named("zen4");
}

/* Gives an instruction other bytes. */
static void put_code(struct irtext *t, struct arena *a, const struct insn *insn,
		     const uint8_t *bytes)
{
	uint8_t *code = arena_array(a, t->prog.img.file.n, 1);

	memcpy(code, t->prog.img.file.p, t->prog.img.file.n);
	memcpy(code + insn->off, bytes, insn->len);
	t->prog.img.file.p = code;
}

struct where {			/* the image of a block */
	uint64_t addr, size;
	uint8_t front;
	bool fallen_into;
};

static struct where where_is(const struct prog *prog, uint32_t block)
{
	struct emit_plan plan;
	struct err err;

	if (emit_plan_fill(&plan, prog, NULL, &err) < 0)
		fail_msg("%s", err.text);
	uint32_t i = plan.place_of[0][block];
	struct where w = { plan.item[plan.place[i].item].addr, emit_place_code(&plan, i),
			   plan.place[i].front, i > 0 && plan.place[i - 1].fills };

	emit_plan_free(&plan);
	return w;
}

static bool is_across(struct where w)
{
	return w.addr / 64 != (w.addr + w.size - 1) / 64;
}

/* An interpreter: b1 dispatches to b2 and b3, which go back to it. */
static const char interpreter[] =
	"fn f\n"
	"  b0 size %u insns 9 count 10 -> b1:10\n"
	"  b1 size 29 insns 6 count 10000 -> table b2:5000 b3:4990 b4:10\n"
	"  b2 size 40 insns 8 count 5000 -> b1:5000\n"
	"  b3 size 40 insns 8 count 4990 -> b1:4990\n"
	"  b4 size 10 insns 2 count 10 -> ret\n"
	"run none\n";

static void a_dispatch_is_in_one_line(void **state)
{
	uint32_t across = 0;

	(void)state;
	for (unsigned size = 20; size < 100; size++) {
		struct arena *a = arena_new();
		struct irtext t;

		parse(arena_printf(a, interpreter, size), a, &t);
		across += is_across(where_is(&t.prog, 1));
		t.prog.fn[0].block[1].in_line = true;
		if (is_across(where_is(&t.prog, 1)))
			fail_msg("behind %u bytes it is across a line", size);
		t.prog.line_costs = NULL;
		t.prog.fn[0].block[1].in_line = false;
		arena_free(a);
	}
	assert_true(across > 20);	/* unless it is marked */
}

/* Four handlers of 32 bytes, one behind the other: their dispatches end at one offset of 16
 * bytes, and at four where the processor has costs for that. */
static void dispatches_end_at_different_offsets(void **state)
{
	static const char text[] =
		"fn f\n"
		"  b0 size 32 insns 9 count 10 -> table b1:4 b2:2 b3:2 b4:2\n"
		"  b1 size 32 insns 6 count 1000 -> table b1:400 b2:300 b3:200 b4:100\n"
		"  b2 size 32 insns 6 count 900 -> table b1:300 b2:300 b3:200 b4:100\n"
		"  b3 size 32 insns 6 count 800 -> table b1:200 b2:300 b3:200 b4:100\n"
		"  b4 size 32 insns 6 count 700 -> table b1:100 b2:300 b3:200 b4:90 b5:10\n"
		"  b5 size 32 insns 6 count 10 -> ret\n"
		"run none\n";
	struct arena *a = arena_new();
	struct irtext t;
	uint32_t seen[2] = { 0 };

	(void)state;
	parse(text, a, &t);
	for (uint32_t b = 1; b <= 4; b++)
		t.prog.fn[0].block[b].in_line = true;
	for (uint32_t k = 0; k < 2; k++) {
		t.prog.line_costs = cpu_costs_named(k ? "zen4" : "zen3");
		for (uint32_t b = 1; b <= 4; b++) {
			struct where w = where_is(&t.prog, b);

			seen[k] |= 1u << (w.addr + w.size) % 16;
		}
	}
	assert_int_equal(__builtin_popcount(seen[0]), 1);
	assert_int_equal(__builtin_popcount(seen[1]), 4);
	arena_free(a);
}

/* b1 runs no more often than what falls into it, and hardly; b2 runs often, behind a ret. */
static void padding_that_runs_must_pay(void **state)
{
	static const char text[] =
		"fn f\n"
		"  b0 size 50 insns 9 count 1000 -> b1:1000\n"
		"  b1 size 20 insns 4 count 1000 -> ret\n"
		"  b2 size 44 insns 9 count 9 pinned -> ret\n"
		"  b3 size 20 insns 9 count 90000 pinned -> ret\n"
		"run none\n";
	struct arena *a = arena_new();
	struct cpu_costs costs = { .name = "made", .line = 1, .nop = 2 };
	struct irtext t;

	(void)state;
	parse(text, a, &t);
	t.prog.line_costs = &costs;
	t.prog.fn[0].redirected = true;		/* b0 stays where it is */
	t.prog.fn[0].align = 64;
	for (uint32_t b = 0; b < 4; b++)
		t.prog.fn[0].block[b].in_line = true;
	assert_int_equal(where_is(&t.prog, 1).addr, where_is(&t.prog, 0).addr + 50);
	assert_true(where_is(&t.prog, 1).fallen_into);
	assert_false(is_across(where_is(&t.prog, 3)));
	costs.nop = 0.01;
	assert_false(is_across(where_is(&t.prog, 1)));
	arena_free(a);
}


/* b1 ends in a branch and a jmp, and control goes by both. */
static void the_jmp_behind_a_branch_is_in_its_line(void **state)
{
	static const char text[] =
		"fn f\n"
		"  b0 size %u insns 9 count 1000 -> b1:1000\n"
		"  b1 size 34 insns 6 count 1000 -> b2:600 b3:400\n"
		"  b2 size 20 insns 4 count 600 -> ret\n"
		"  b3 size 20 insns 4 count 400 -> ret\n"
		"  b4 size 4 insns 2 count 9 pinned -> ret\n"
		"  order b0 b1 b4 b3 b2\n"
		"run none\n";
	const struct cpu_costs costs = { .name = "made", .line = 100, .nop = 0.01 };
	unsigned outside[2] = { 0 };

	(void)state;
	for (unsigned size = 20; size < 84; size++)
		for (int marked = 0; marked < 2; marked++) {
			struct arena *a = arena_new();
			struct emit_plan plan;
			struct irtext t;
			struct err err;

			parse(arena_printf(a, text, size), a, &t);
			t.prog.line_costs = &costs;
			t.prog.fn[0].redirected = true;
			t.prog.fn[0].align = 64;
			t.prog.fn[0].block[1].in_line = marked;
			assert_int_equal(emit_plan_fill(&plan, &t.prog, NULL, &err), 0);
			const struct emit_place *p = &plan.place[plan.place_of[0][1]];
			const struct relax_item *item = &plan.item[p->item];

			assert_true(p->branched && p->jumps && p->nitem == 2);
			outside[marked] += item[0].addr / 64 !=
					   (item[1].addr + relax_size(&item[1]) - 1) / 64;
			emit_plan_free(&plan);
			arena_free(a);
		}
	assert_true(outside[0] > 20);
	assert_int_equal(outside[1], 0);
}

/* g begins a function's part and is all of a loop. */
static void a_short_loop_is_in_one_line(void **state)
{
	static const char text[] =
		"fn f\n"
		"  b0 size %u insns 9 count 10 -> ret\n"
		"fn g\n"
		"  b0 size 50 insns 9 count 9000 -> b1:10 b0:8990\n"
		"  b1 size 10 insns 2 count 10 -> ret\n"
		"run none\n";
	const struct cpu_costs costs = { .name = "made", .loop = 1, .nop = 0.1 };

	(void)state;
	for (unsigned size = 20; size < 84; size++) {
		struct arena *a = arena_new();
		struct emit_plan plan;
		struct irtext t;
		struct err err;

		parse(arena_printf(a, text, size), a, &t);
		t.prog.line_costs = &costs;
		t.prog.fn[0].redirected = true;
		t.prog.fn[0].align = 64;
		t.prog.fn[1].block[0].in_line = true;
		assert_int_equal(emit_plan_fill(&plan, &t.prog, NULL, &err), 0);
		const struct relax_item *item =
			&plan.item[plan.place[plan.place_of[1][0]].item];

		if (item->addr / 64 != (item->addr + relax_size(item) - 1) / 64)
			fail_msg("behind %u bytes it is across a line", size);
		emit_plan_free(&plan);
		arena_free(a);
	}
}

/* Behind 52 bytes: 4, a comparison of 4 at 56, and a branch of 2 or 6 up to 66.  The row begins
 * anywhere in a line if that costs least, so the first block takes two lines. */
static void a_comparison_is_in_a_line_with_its_branch(void **state)
{
	static const char text[] =
		"fn f\n"
		"  b0 size 116 insns 20 count 1000 -> b1:1000\n"
		"  b1 size 80 insns 18 count 1000 -> b2:10 b3:990\n"
		"  b2 size 90 insns 15 count 10 -> ret\n"
		"  b3 size 200 insns 30 count 990 -> ret\n"
		"run none\n";
	static const uint8_t cmp[] = { 0x48, 0x83, 0xf8, 0x00 };
	struct cpu_costs costs = { .name = "made", .pair = 5, .nop = 0.1, .prefix = 1 };

	(void)state;
	for (int fused = 0; fused < 2; fused++) {
		struct arena *a = arena_new();
		struct irtext t;

		parse(text, a, &t);
		struct fn *fn = &t.prog.fn[0];
		const struct insn *last = &fn->insn[fn->block[1].insn + 16];
		uint8_t code[16] = { 0 };

		assert_true(last->len >= sizeof(cmp));
		for (unsigned i = 0; i < last->len; i++)	/* prefixes fill it */
			code[i] = 0x66;
		memcpy(code + last->len - sizeof(cmp), cmp, sizeof(cmp));
		if (fused)
			put_code(&t, a, last, code);
		t.prog.line_costs = &costs;
		fn->block[0].in_line = fn->block[1].in_line = true;
		struct where w = where_is(&t.prog, 1);
		uint64_t end = w.addr + w.size, start = end - 6 - last->len;

		if (fused)
			assert_int_equal(start / 64, (end - 1) / 64);
		else
			assert_int_equal(w.addr, 116);
		arena_free(a);
	}
}

/* b1 would lie across a line; b0's instructions can move it, where they can get prefixes. */
static void prefixes_are_put_where_they_mean_nothing(void **state)
{
	static const char text[] =
		"fn f\n"
		"  b0 size 62 insns 15 count 1000 -> b1:1000\n"
		"  b1 size 20 insns 4 count 1000 -> ret\n"
		"run none\n";
	static const struct {
		uint8_t code[4];
		bool grows;
	} row[] = {
		{ { 0x48, 0x8d, 0x40, 0x01 }, true },	/* lea 1(%rax), %rax */
		{ { 0x64, 0x48, 0x8b, 0x00 }, false },	/* mov %fs:(%rax), %rax: may fault */
		{ { 0xf3, 0x48, 0xab, 0x90 }, false },	/* rep stos */
	};
	struct cpu_costs costs = { .name = "made", .line = 1, .nop = 0.5, .prefix = 0.01 };

	(void)state;
	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct arena *a = arena_new();
		struct irtext t;

		parse(text, a, &t);
		struct fn *fn = &t.prog.fn[0];

		for (uint32_t k = 0; k < fn->block[0].ninsn; k++)
			if (fn->insn[k].len == 4)
				put_code(&t, a, &fn->insn[k], row[i].code);
		t.prog.line_costs = &costs;
		fn->redirected = true;		/* it begins at a multiple of 16 */
		fn->align = 16;
		fn->block[0].in_line = fn->block[1].in_line = true;
		struct where first = where_is(&t.prog, 0), second = where_is(&t.prog, 1);

		assert_false(is_across(second));
		assert_int_equal(first.front, row[i].grows ? 64 - 62 : 0);
		arena_free(a);
	}
}

/* f's b1 hardly runs, so padding that takes room is not worth it; but the next function begins
 * at the same place with it and without (with a byte in front), unless f is longer. */
static void what_aligns_the_next_function_is_free(void **state)
{
	(void)state;
	for (unsigned size = 15; size <= 16; size++) {
		struct arena *a = arena_new();
		struct cpu_costs costs = { .name = "made", .line = 1 };
		struct irtext t;
		char text[256];

		(void)snprintf(text, sizeof(text),
			       "fn f\n"
			       "  b0 size 50 insns 9 count 1000 -> ret\n"
			       "  b1 size %u insns 4 count 3 pinned -> ret\n"
			       "fn g\n"
			       "  b0 size 20 insns 4 count 1000 -> ret\n"
			       "run none\n", size);
		parse(text, a, &t);
		t.prog.line_costs = &costs;
		t.prog.fn[0].redirected = t.prog.fn[1].redirected = true;
		t.prog.fn[0].align = t.prog.fn[1].align = 16;
		t.prog.fn[0].block[0].in_line = true;
		assert_int_equal(is_across(where_is(&t.prog, 1)), size > 15);
		arena_free(a);
	}
}

/* Most blocks of a long row lie across lines; there is no room for all. */
static void the_text_hardly_grows(void **state)
{
	enum { BLOCKS = 400, SIZE = 40 };
	struct arena *a = arena_new();
	char *text = arena_printf(a, "fn f\n");
	struct irtext t;
	struct emit_plan plan;
	struct err err;

	(void)state;
	for (int i = 0; i < BLOCKS; i++)
		text = arena_printf(a, "%s  b%d size %d insns 9 count 1000 pinned -> ret\n",
				    text, i, SIZE);
	parse(arena_printf(a, "%srun none\n", text), a, &t);
	for (uint32_t b = 0; b < BLOCKS; b++)
		t.prog.fn[0].block[b].in_line = true;
	assert_int_equal(emit_plan_fill(&plan, &t.prog, NULL, &err), 0);
	assert_true(plan.hot_size > BLOCKS * SIZE);
	assert_true(plan.hot_size <= BLOCKS * SIZE * 1.015);
	emit_plan_free(&plan);
	arena_free(a);
}

/* So many rows that the price is found on some of them: the growth is that for all. */
static void samples_tell_for_all_rows(void **state)
{
	enum { FUNCTIONS = 20, BLOCKS = 600, SIZE = 40, LINE = 64 };
	struct arena *a = arena_new();
	size_t room = (size_t)FUNCTIONS * BLOCKS * LINE, n = 0;
	char *text = arena_array(a, room, 1);
	struct irtext t;
	struct emit_plan plan;
	struct err err;

	(void)state;
	for (int f = 0; f < FUNCTIONS; f++) {
		n += (size_t)snprintf(text + n, room - n, "fn f%d\n", f);
		for (int b = 0; b < BLOCKS; b++)
			n += (size_t)snprintf(text + n, room - n, "  b%d size %d insns 9 "
					      "count %d pinned -> ret\n", b, SIZE,
					      1000 + (b * 37 + f) % 1000);
	}
	(void)snprintf(text + n, room - n, "run none\n");
	parse(text, a, &t);
	for (uint32_t f = 0; f < FUNCTIONS; f++)
		for (uint32_t b = 0; b < BLOCKS; b++)
			t.prog.fn[f].block[b].in_line = true;
	assert_int_equal(emit_plan_fill(&plan, &t.prog, NULL, &err), 0);
	double grown = (double)plan.hot_size / (FUNCTIONS * BLOCKS * SIZE) - 1;

	if (grown < 0.02 || grown > 0.026)
		fail_msg("the text grows by %.4f", grown);
	emit_plan_free(&plan);
	arena_free(a);
}

/* Of a plan: branches that are long though the short form would reach from where they are. */
static unsigned needlessly_long(const struct emit_plan *plan)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < plan->nitem; i++) {
		const struct relax_item *from = &plan->item[i];

		if (from->target >= plan->nitem || !from->is_long)
			continue;
		int64_t far = (int64_t)plan->item[from->target].addr -
			      (int64_t)(from->addr + relax_size(from));
		n += far >= -120 && far <= 120;
	}
	return n;
}

/* At the first prices tried there is so much padding that b3's branch does not reach b1. */
static void prices_that_are_given_up_leave_no_branch_long(void **state)
{
	(void)state;
	for (unsigned size = 20; size < 100; size++) {
		struct arena *a = arena_new();
		struct irtext t;
		struct emit_plan plan;
		struct err err;

		parse(arena_printf(a, interpreter, size), a, &t);
		for (uint32_t b = 0; b < t.prog.fn[0].nblock; b++)
			t.prog.fn[0].block[b].in_line = true;
		assert_int_equal(emit_plan_fill(&plan, &t.prog, NULL, &err), 0);
		if (needlessly_long(&plan))
			fail_msg("behind %u bytes a branch is long", size);
		emit_plan_free(&plan);
		arena_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dispatch_is_in_one_line),
		cmocka_unit_test(dispatches_end_at_different_offsets),
		cmocka_unit_test(padding_that_runs_must_pay),
		cmocka_unit_test(the_jmp_behind_a_branch_is_in_its_line),
		cmocka_unit_test(a_short_loop_is_in_one_line),
		cmocka_unit_test(a_comparison_is_in_a_line_with_its_branch),
		cmocka_unit_test(prefixes_are_put_where_they_mean_nothing),
		cmocka_unit_test(what_aligns_the_next_function_is_free),
		cmocka_unit_test(the_text_hardly_grows),
		cmocka_unit_test(samples_tell_for_all_rows),
		cmocka_unit_test(prices_that_are_given_up_leave_no_branch_long),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
