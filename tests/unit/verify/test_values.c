/* test_values.c - what instructions make of registers that differ between the two runs
 *
 * Values are put into registers and effects applied by hand.  Table 0 has a new one, table 1
 * has not.  values.c, spill.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "verify/values.h"

enum { RAX, RCX, RDX, RBX, AT = 0x1000, DEPTH = 0x20 };

static struct arena *arena;
static struct verify v;
static struct err err;
static struct vtables vt;
static struct regs regs;

static int setup(void **state)
{
	struct vtable table[] = { { .addr = 0x2000, .kind = BLOCKMAP_TABLE_REL32, .nentry = 4,
				    .claimed = true },
				  { .addr = 0x3000, .kind = BLOCKMAP_TABLE_REL32,
				    .nentry = 4 } };

	(void)state;
	arena = arena_new();
	v = (struct verify){ .a = arena, .err = &err };
	vt = (struct vtables){ .v = &v, .a = arena, .depth = DEPTH };
	for (int i = 0; i < 2; i++)
		vec_push(arena, &vt.all, table[i]);
	regs = (struct regs){ .seen = true };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static int apply(struct effect e)
{
	return vregs_apply(&vt, &e, (struct line){ 0 }, AT, &regs);
}

static uint16_t bit(int reg) { return (uint16_t)(1 << reg); }

static void set(int reg, struct value x) { regs.r[reg] = x; }

/* Bit i is i slots above the stack pointer; the highest one is all above. */
static void what_was_pushed_is_known_by_its_distance(void **state)
{
	static const struct {
		int32_t n;
		uint64_t before, after;
	} moves[] = {
		{ 1, 1, 2 }, { 63, 1, 1ull << 63 }, { 64, 1, 1ull << 63 },
		{ 65, 1, 1ull << 63 }, { 62, 6, 1ull << 63 }, { -1, 2, 1 }, { -1, 1, 0 },
		{ -1, 1ull << 63, 3ull << 62 }, { -63, 1ull << 63, UINT64_MAX },
		{ -64, 1ull << 63, UINT64_MAX }, { -64, 1ull << 62, 0 }, { 0, 5, 5 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		const struct effect e = { .stack = moves[i].n };

		regs.pushed = moves[i].before;
		assert_int_equal(apply(e), 0);
		assert_int_equal(regs.pushed, moves[i].after);
	}
	regs.pushed = 1;
	assert_int_equal(apply((struct effect){ .moves_stack = true }), 0);
	assert_true(regs.pushed == UINT64_MAX);
}

static void an_entry_and_its_own_base_are_a_target(void **state)
{
	const struct effect load = { .op = FX_LOAD, .a = RCX, .b = RAX, .kills = bit(RCX) };
	const struct effect add = { .op = FX_ADD, .a = RCX, .b = RAX, .clobbers = bit(RCX) };

	(void)state;
	set(RAX, (struct value){ .kind = BASE });
	assert_int_equal(apply(load), 0);
	assert_int_equal(regs.r[RCX].kind, LOADED);
	assert_int_equal(apply(add), 0);
	assert_int_equal(regs.r[RCX].kind, TARGET);
}

static void an_entry_and_another_base_are_refused(void **state)
{
	const struct effect load = { .op = FX_LOAD, .a = RCX, .b = RAX, .kills = bit(RCX) };
	const struct effect add = { .op = FX_ADD, .a = RCX, .b = RDX, .clobbers = bit(RCX) };

	(void)state;
	set(RAX, (struct value){ .kind = BASE });
	set(RDX, (struct value){ .kind = BASE, .table = 1 });
	assert_int_equal(apply(load), 0);
	assert_int_equal(apply(add), -1);
	assert_non_null(strstr(err.text, "replaced jump table"));
}

/* The load has overwritten the base; another instruction forms it anew. */
static int add_anew(struct line formed, struct line anew)
{
	const struct effect load = { .op = FX_LOAD, .a = RAX, .b = RAX, .kills = bit(RAX) };
	const struct effect add = { .op = FX_ADD, .a = RAX, .b = RDX, .clobbers = bit(RAX) };

	regs = (struct regs){ .seen = true };
	set(RAX, (struct value){ .kind = BASE, .line = formed });
	assert_int_equal(apply(load), 0);
	assert_int_equal(regs.r[RAX].kind, LOADED);
	set(RDX, (struct value){ .kind = BASE, .line = anew });
	return apply(add);
}

static void a_base_formed_anew_is_the_same_in_one_line_only(void **state)
{
	const struct line here = { .image = 3, .table = 1 };

	(void)state;
	assert_int_equal(add_anew(here, here), 0);
	assert_int_equal(regs.r[RAX].kind, TARGET);
	assert_int_equal(add_anew(here, (struct line){ .image = 4, .table = 1 }), -1);
	assert_int_equal(add_anew(here, (struct line){ .image = 3, .table = 2 }), -1);
	assert_int_equal(add_anew(here, (struct line){ .image = 0 }), -1);
}

static void a_base_is_not_read_by_anything_else(void **state)
{
	(void)state;
	set(RAX, (struct value){ .kind = BASE });
	set(RDX, (struct value){ .kind = BASE, .table = 1 });	/* equal in both runs */
	assert_int_equal(apply((struct effect){ .reads = bit(RDX) }), 0);
	assert_int_equal(apply((struct effect){ .reads = bit(RAX) }), -1);
}

static void only_the_bits_that_are_the_same_are_read(void **state)
{
	(void)state;
	set(RAX, (struct value){ .kind = UPPER, .bits = 8 });
	assert_int_equal(apply((struct effect){ .low_reads = bit(RAX) }), 0);
	assert_int_equal(apply((struct effect){ .word_reads = bit(RAX) }), -1);
}

static void a_pushed_base_is_popped_dirty(void **state)
{
	(void)state;
	set(RAX, (struct value){ .kind = BASE });
	assert_int_equal(apply((struct effect){ .op = FX_PUSH, .a = RAX, .stack = 1 }), 0);
	assert_int_equal(apply((struct effect){ .op = FX_POP, .a = RCX, .kills = bit(RCX),
						.stack = -1 }), 0);
	assert_int_equal(regs.r[RCX].kind, DIRTY);
}

static struct effect spill(int reg)
{
	return (struct effect){ .op = FX_SPILL, .a = (uint8_t)reg, .frame = true, .at = 8,
				.span = 4 };
}

static struct effect reload(int reg, uint8_t span)
{
	return (struct effect){ .op = FX_RELOAD, .a = (uint8_t)reg, .kills = bit(reg),
				.frame = true, .frame_read = true, .at = 8, .span = span };
}

static void a_spilled_byte_comes_back_as_one(void **state)
{
	(void)state;
	set(RAX, (struct value){ .kind = UPPER, .bits = 8 });
	assert_int_equal(apply(spill(RAX)), 0);
	assert_true(vt.spilled);
	assert_int_equal(apply(reload(RCX, 4)), 0);
	assert_int_equal(regs.r[RCX].kind, UPPER);
	assert_int_equal(regs.r[RCX].bits, 8);
	vt.depth += 8;				/* another place: 8 bytes lower */
	assert_int_equal(apply(reload(RCX, 4)), 0);
	assert_int_equal(regs.r[RCX].kind, SAME);
}

static void nothing_else_reads_more_of_a_spilled_byte(void **state)
{
	struct effect e = { .frame = true, .frame_read = true, .at = 8, .span = 1 };

	(void)state;
	set(RAX, (struct value){ .kind = UPPER, .bits = 8 });
	assert_int_equal(apply(spill(RAX)), 0);
	assert_int_equal(apply(e), 0);
	e.span = 4;
	assert_int_equal(apply(e), -1);
}

static void a_base_is_not_spilled(void **state)
{
	(void)state;
	set(RAX, (struct value){ .kind = BASE });
	assert_int_equal(apply(spill(RAX)), -1);
}

static void nothing_is_spilled_where_the_frame_is_not_known(void **state)
{
	(void)state;
	vt.depth = 0;
	set(RAX, (struct value){ .kind = UPPER, .bits = 8 });
	assert_int_equal(apply(spill(RAX)), -1);
}

static void what_two_ways_disagree_about_is_dirty(void **state)
{
	struct regs other = { .seen = true };

	(void)state;
	set(RAX, (struct value){ .kind = BASE });
	set(RBX, (struct value){ .kind = UPPER, .bits = 16 });
	other.r[RBX] = (struct value){ .kind = UPPER, .bits = 8 };
	assert_true(vregs_join(&vt, &regs, &other));
	assert_int_equal(regs.r[RAX].kind, DIRTY);
	assert_int_equal(regs.r[RBX].bits, 8);
	assert_false(vregs_join(&vt, &regs, &other));
}

/* A call seems to overwrite %rax and %rdx, and perhaps does not. */
static void set_kept(bool word)
{
	const struct effect load = { .op = word ? FX_WORD : FX_LOAD, .a = RCX, .b = RAX,
				     .kills = bit(RCX) };
	const struct effect extend = { .op = FX_EXTEND, .a = RCX, .b = RCX,
				       .kills = bit(RCX) };

	set(RAX, (struct value){ .kind = BASE });
	vregs_return(&vt, bit(RAX) | bit(RDX), &regs);
	assert_int_equal(regs.r[RAX].kind, KEPT);
	assert_int_equal(apply((struct effect){ .reads = bit(RAX) }), 0);	/* a result */
	assert_int_equal(apply((struct effect){ .op = FX_COPY, .a = RBX, .b = RAX,
						.kills = bit(RBX) }), 0);
	assert_int_equal(apply(load), 0);
	if (word)
		assert_int_equal(apply(extend), 0);
}

static void what_a_call_may_have_kept_is_no_dispatch(void **state)
{
	const struct effect add = { .op = FX_ADD, .a = RCX, .b = RBX, .clobbers = bit(RCX) };
	const struct effect sum = { .op = FX_SUM, .a = RDX, .b = RCX, .c = RAX,
				    .kills = bit(RDX) };
	struct regs other = { .seen = true };

	(void)state;
	for (int word = 0; word < 2; word++) {
		regs = (struct regs){ .seen = true };
		set_kept(word);
		assert_false(vvalue_is_sum(regs.r[RBX]) || vvalue_is_sum(regs.r[RCX]));
		assert_int_equal(apply(sum), 0);
		assert_true(vvalue_is_sum(regs.r[RDX]));
		assert_int_equal(apply(add), 0);
		assert_true(vvalue_is_sum(regs.r[RCX]));
		vregs_return(&vt, bit(RCX), &regs);
		assert_true(vvalue_is_sum(regs.r[RCX]));
		vregs_join(&vt, &regs, &other);		/* or it was overwritten */
		assert_true(vvalue_is_sum(regs.r[RCX]));
	}
	set(RAX, (struct value){ .kind = BASE, .table = 1 });	/* equal in both runs */
	vregs_return(&vt, bit(RAX), &regs);
	assert_int_equal(regs.r[RAX].kind, SAME);
	set(RAX, (struct value){ .kind = TARGET });
	vregs_return(&vt, bit(RAX), &regs);
	assert_int_equal(regs.r[RAX].kind, SAME);
}

static void nor_is_an_entry_that_it_may_have_kept(void **state)
{
	const struct effect add = { .op = FX_ADD, .a = RDX, .b = RAX, .clobbers = bit(RDX) };

	(void)state;
	set(RAX, (struct value){ .kind = BASE });
	set(RDX, (struct value){ .kind = LOADED, .through = RAX });
	vregs_return(&vt, bit(RAX) | bit(RDX), &regs);
	assert_int_equal(apply(add), 0);
	assert_true(vvalue_is_sum(regs.r[RDX]));
}

static void a_sum_with_what_is_offset_by_a_register_is_none(void **state)
{
	const struct effect load = { .op = FX_WORD_SUM, .a = RCX, .b = RAX, .c = RBX,
				     .kills = bit(RCX) };

	(void)state;
	set_kept(false);
	set(RBX, (struct value){ .kind = SCALED });
	assert_int_equal(apply(load), 0);
	assert_int_equal(regs.r[RCX].kind, KEPT);
	assert_false(vvalue_is_sum(regs.r[RCX]));
}

static void the_kernel_sees_no_base_and_tells_no_flags(void **state)
{
	enum { RSI = 6, RDI = 7, R11 = 11, FLAG = 1 };
	const struct effect call = { .kernel = true, .clobbers = bit(RCX) | bit(R11) };

	(void)state;
	regs.flags = FLAG;
	set(RDI, (struct value){ .kind = BASE, .table = 1, .fresh = true });
	set(RSI, (struct value){ .kind = BASE });	/* left by a jump */
	assert_int_equal(apply(call), 0);
	assert_int_equal(regs.r[R11].kind, DIRTY);
	set(RSI, (struct value){ .kind = BASE, .fresh = true });
	assert_int_equal(apply(call), -1);
	regs = (struct regs){ .seen = true };
	assert_int_equal(apply(call), 0);
	assert_int_equal(regs.r[R11].kind, SAME);
}

/* A mask that leaves more than what is the same leaves the flags unlike. */
static void flags_tell_of_the_bits_that_are_left(void **state)
{
	enum { FLAG = 1 };
	struct effect mask = { .op = FX_LOW_BITS, .a = RAX, .b = RAX, .clobbers = bit(RAX),
			       .flags_written = FLAG, .value = 0xff };

	(void)state;
	set(RAX, (struct value){ .kind = UPPER, .bits = 8 });
	assert_int_equal(apply(mask), 0);
	assert_int_equal(regs.flags, 0);
	set(RAX, (struct value){ .kind = UPPER, .bits = 8 });
	mask.value = 0x1ff;
	assert_int_equal(apply(mask), 0);
	assert_int_equal(regs.flags, FLAG);
	assert_int_equal(apply((struct effect){ .flags_read = FLAG }), -1);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_pushed_is_known_by_its_distance, setup,
						teardown),
		EACH(an_entry_and_its_own_base_are_a_target),
		EACH(an_entry_and_another_base_are_refused),
		EACH(a_base_formed_anew_is_the_same_in_one_line_only),
		EACH(a_base_is_not_read_by_anything_else),
		EACH(only_the_bits_that_are_the_same_are_read),
		EACH(a_pushed_base_is_popped_dirty),
		EACH(a_spilled_byte_comes_back_as_one),
		EACH(nothing_else_reads_more_of_a_spilled_byte),
		EACH(a_base_is_not_spilled),
		EACH(nothing_is_spilled_where_the_frame_is_not_known),
		EACH(what_two_ways_disagree_about_is_dirty),
		EACH(what_a_call_may_have_kept_is_no_dispatch),
		EACH(nor_is_an_entry_that_it_may_have_kept),
		EACH(a_sum_with_what_is_offset_by_a_register_is_none),
		EACH(the_kernel_sees_no_base_and_tells_no_flags),
		EACH(flags_tell_of_the_bits_that_are_left),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
