/* test_attach.c - a profile onto a program: samples, edges and calls, exact ones and others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "editor/infer/attach.h"
#include "editor/infer/infer.h"
#include "editor/optimize.h"
#include "tests/unit/irtext.h"
#include "lib/err.h"
#include "tests/unit/asm.h"

/* Text begins at 0x1000: f's blocks are at 0x1000, 0x1008, 0x1014; its fragment's at 0x1015;
 * g at 0x101c; h, which stays, at 0x101d. */
static const char text[] =
	"fn f\n"
	"  b0 size 8 insns 2 -> b1 b3\n"
	"  b1 size 12 insns 4 call g -> b2 b0\n"
	"  b2 size 1 insns 1 -> ret\n"
	"  .cold\n"
	"  b3 size 7 insns 2 -> b2\n"
	"fn g\n"
	"  b0 size 1 -> ret\n"
	"fn h still\n"
	"  b0 size 4 -> ret\n";

static struct prog *make(struct arena *a)
{
	struct irtext *t = arena_alloc(a, sizeof(*t));
	struct err err;

	assert_int_equal(irtext_parse((struct bytes){ (const uint8_t *)text, sizeof(text) - 1 },
				      a, t, &err),
			 0);
	for (uint32_t f = 0; f < t->prog.nfn; f++) {
		t->prog.fn[f].kept = f < 2;
		t->prog.fn[f].skip = f < 2 ? SKIP_NONE : SKIP_NONE + 1;
		t->prog.fn[f].moved = false;
		if (f == 2)
			t->prog.fn[f].nblock = 0;
	}
	return &t->prog;
}

static struct profile_block block[] = { { 0x1000, 10 }, { 0x1008, 6 }, { 0x101d, 3 } };
static struct profile_edge edge[] = { { 0x1000, 0x1008, 7 }, { 0x1000, 0x1015, 2 },
				      { 0x1008, 0x1000, 5 }, { 0x1015, 0x1014, 2 },
				      { 0x1015, 0x101c, 1 }, { 0x101d, 0x101f, 9 } };
static struct profile_call call[] = { { 0x100b, 0x101c, 4 }, { 0x101d, 0x1000, 1 } };

static const struct profile whole = { .module = "/x",
				      .clock = "tick", .block = block, .nblock = 3,
				      .edge = edge, .nedge = 6, .call = call,
				      .ncall = 2 };

static void edges_and_calls_come_to_their_functions(void **state)
{
	struct arena *a = arena_new();
	struct prog *prog = make(a);
	const struct fn *f = &prog->fn[0];
	struct err err;

	(void)state;
	/* the call is wherever the made-up code has an instruction of b1 */
	call[0].insn = prog->base + f->insn[f->block[1].insn + 1].off;
	assert_int_equal(profile_attach(prog, &whole, &err), 0);
	assert_false(prog->exact);
	assert_true(f->samples == 16 && f->moved && f->block[0].samples == 10);
	assert_true(prog->fn[2].samples == 3 && !prog->fn[2].moved);
	assert_int_equal(f->nseen_edge, 4);
	assert_true(f->seen_edge[0].from == 0 && f->seen_edge[0].to == 1);
	assert_true(f->seen_edge[1].to == 3 && f->seen_edge[1].count == 2);
	assert_true(f->seen_edge[3].from == 3 && f->seen_edge[3].to == 2);
	assert_int_equal(f->nseen_call, 1);
	assert_int_equal(f->seen_call[0].insn, f->block[1].insn + 1);
	assert_true(f->seen_call[0].target == 0x101c && f->seen_call[0].count == 4);
	assert_int_equal(prog->fn[1].nseen_edge + prog->fn[2].nseen_edge, 0);
	assert_int_equal(prog->fn[2].nseen_call, 0);
	arena_free(a);
}

static void exact_executions_become_samples_by_length(void **state)
{
	struct arena *a = arena_new();
	struct prog *prog = make(a);
	struct profile p = whole;
	struct err err;

	(void)state;
	p.clock = "exact";
	p.ncall = 0;
	assert_int_equal(profile_attach(prog, &p, &err), 0);
	assert_true(prog->exact);
	assert_true(prog->fn[0].block[0].samples == 20 && prog->fn[0].block[1].samples == 24);
	assert_int_equal(infer_counts(prog, &err), 0);
	assert_true(prog->fn[0].block[0].count == 10 && prog->fn[0].block[1].count == 6);
	assert_true(prog->fn[0].block[0].fall_count == 7 &&
		    prog->fn[0].block[0].taken_count == 2);
	assert_true(prog->fn[0].entry_count == 5);
	arena_free(a);
}

/* It only says less, whereas other blocks are those of another analysis. */
static void a_call_at_no_instruction_is_left_out(void **state)
{
	struct arena *a = arena_new();
	struct prog *prog = make(a);
	struct profile_call two[] = { { 0, 0x101c, 4 }, { 0, 0x101c, 2 } };
	struct profile p = whole;
	struct err err;

	(void)state;
	two[0].insn = prog->base + prog->fn[0].insn[0].off + 1;
	two[1].insn = prog->base + prog->fn[0].insn[prog->fn[0].block[1].insn + 1].off;
	p.call = two;
	assert_int_equal(profile_attach(prog, &p, &err), 0);
	assert_int_equal(prog->calls_left_out, 1);
	assert_int_equal(prog->fn[0].nseen_call, 1);
	assert_true(prog->fn[0].seen_call[0].count == 2);
	assert_true(prog->fn[0].samples == 16 && prog->fn[0].nseen_edge == 4);
	arena_free(a);
}

static void what_is_no_block_is_an_error(void **state)
{
	struct arena *a = arena_new();
	struct err err;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct prog *prog = make(a);
		struct profile_block b = { 0x1001, 1 };
		struct profile_edge e = { i == 1 ? 0x1001 : 0x1000, i == 2 ? 0x1001 : 0x1008,
					  1 };
		struct profile p = { .module = "/x",
				     .clock = "tick", .block = &b, .nblock = i == 0, .edge = &e,
				     .nedge = i > 0 };

		assert_int_equal(profile_attach(prog, &p, &err), -1);
		assert_int_equal(err.kind, ERR_INPUT);
	}
	arena_free(a);
}

/* A sample in one function; another, which that does not call, is only known by an edge or
 * as a target. */
static void what_edges_and_calls_tell_of_is_looked_at(void **state)
{
	struct arena *a = arena_new();
	struct bytes original = asm_build("stubs", "-shared", a);
	struct prog all;
	struct err err;

	(void)state;
	if (prog_analyze(original, a, &all, &err) < 0)
		fail_msg("%s", err.text);
	const struct fn *other = asm_fn(&all, "decides");
	struct profile_block sampled = { asm_fn(&all, "twice")->entry, 5 };
	struct profile_edge taken = { other->entry, other->entry + other->block[0].size, 2 };
	struct profile_call called = { sampled.addr, other->entry, 1 };
	for (int i = 0; i < 3; i++) {
		const struct profile profile = { .module = "/x",
						 .clock = "tick",
						 .original = digest_of(original),
						 .block = &sampled, .nblock = 1, .edge = &taken,
						 .nedge = i == 1, .call = &called,
						 .ncall = i == 2 };
		struct prog prog;

		if (edit_analyze(original, &profile, false, a, &prog, &err) < 0)
			fail_msg("%s", err.text);
		const struct fn *fn = asm_fn(&prog, "decides");
		assert_true(asm_fn(&prog, "twice")->moved);
		assert_int_equal(fn->moved, i > 0);
		assert_int_equal(fn->nseen_edge, i == 1);
	}
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_and_calls_come_to_their_functions),
		cmocka_unit_test(exact_executions_become_samples_by_length),
		cmocka_unit_test(a_call_at_no_instruction_is_left_out),
		cmocka_unit_test(what_is_no_block_is_an_error),
		cmocka_unit_test(what_edges_and_calls_tell_of_is_looked_at),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
