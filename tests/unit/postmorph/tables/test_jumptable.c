/* test_jumptable.c - what the jump table analysis proves, and above all what it does not */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "editor/optimize.h"
#include "lib/blockmap.h"
#include "tests/unit/asm.h"
#include "verify/verify.h"

static const struct expected {
	const char *fn;
	uint32_t ntable, bound, nentry;	/* of the first table */
	uint32_t jumps;			/* blocks that end in a proven table */
	uint32_t unproven;
} pic[] = {
	{ "pic", 1, 4, 4, 1, 0 },
	{ "pic_notrack", 1, 4, 4, 1, 0 },
	{ "sum_in_the_base", 1, 4, 4, 1, 0 },
	{ "hoisted_across_calls", 1, 4, 4, 1, 0 },
	{ "two_share_a_base", 1, 4, 4, 2, 0 },
	{ "one_behind_the_other", 2, 4, 4, 2, 0 },
	{ "compare_on_a_copy", 1, 4, 4, 1, 0 },
	{ "compare_on_a_byte", 1, 4, 4, 1, 0 },
	{ "compare_then_extend", 1, 4, 4, 1, 0 },
	{ "not_above", 1, 4, 4, 1, 0 },
	{ "mask", 1, 4, 4, 1, 0 },
	{ "shift", 1, 4, 4, 1, 0 },
	{ "compare_in_memory", 1, 4, 4, 1, 0 },
	{ "compare_with_a_bounded_register", 1, 4, 4, 1, 0 },
	{ "longer_than_its_bound", 1, 2, 4, 1, 0 },
	{ "entry_at_the_end", 1, 4, 4, 1, 0 },
	{ "target_before_the_loop", 1, 4, 4, 1, 0 },
	{ "base_is_copied", 1, 4, 4, 1, 0 },
	{ "base_formed_again", 1, 4, 4, 1, 0 },
	{ "base_formed_over_itself", 1, 4, 4, 1, 0 },
	{ "base_left_in_a_copy", 1, 4, 4, 1, 0 },
	{ "base_formed_elsewhere", 0, 0, 0, 0, 0 },	/* no table: may be a tail call */
	{ "target_pushed_and_freed", 1, 4, 4, 1, 0 },
	{ "parts_of_the_target", 1, 4, 4, 1, 0 },
	{ "repeated_compare", 1, 4, 4, 1, 0 },
	{ "scaled_index", 1, 4, 4, 1, 0 },
	{ "scaled_in_the_index", 1, 4, 4, 1, 0 },
	{ "extended_later", 1, 4, 4, 1, 0 },
	{ "pushed_between", 1, 4, 4, 1, 0 },
	{ "ends_in_front", 1, 2, 2, 1, 0 },
	{ "begins_behind", 1, 4, 4, 1, 0 },
	{ "scaled_by_two", 0, 0, 0, 0, 0 },
	{ "base_is_the_index", 0, 0, 0, 0, 0 },
	{ "base_is_the_index_of_a_word", 0, 0, 0, 0, 0 },
	{ "never_extended", 0, 0, 0, 0, 0 },
	{ "word_over_a_call", 0, 0, 0, 0, 1 },
	{ "entry_over_a_call", 0, 0, 0, 0, 1 },
	{ "no_bound", 1, 4, 4, 1, 0 },
	{ "bound_of_a_byte", 1, 4, 4, 1, 0 },
	{ "mask_beyond_the_table", 1, 4, 4, 1, 0 },
	{ "shift_beyond_the_table", 1, 4, 4, 1, 0 },
	{ "byte_behind_an_entry", 1, 4, 4, 1, 0 },
	{ "address_of_an_entry", 1, 4, 4, 1, 0 },
	{ "byte_arithmetic", 1, 4, 4, 1, 0 },
	{ "byte_of_a_sum", 1, 4, 4, 1, 0 },
	{ "all_of_a_sum", 0, 0, 0, 0, 1 },
	{ "byte_kept_in_the_frame", 1, 4, 4, 1, 0 },
	{ "byte_back_from_the_frame", 1, 4, 4, 1, 0 },
	{ "register_back_from_the_frame", 0, 0, 0, 0, 1 },
	{ "register_in_the_frame_compared", 0, 0, 0, 0, 1 },
	{ "register_back_from_deeper", 0, 0, 0, 0, 1 },
	{ "register_popped_from_the_frame", 0, 0, 0, 0, 1 },
	{ "register_back_from_before", 0, 0, 0, 0, 1 },
	{ "target_kept_in_the_frame", 0, 0, 0, 0, 1 },
	{ "whole_register_arithmetic", 0, 0, 0, 0, 1 },
	{ "ends_in_a_call", 1, 4, 4, 1, 0 },
	{ "base_kept_over_a_call", 1, 4, 4, 1, 0 },
	{ "compare_beyond_the_table", 0, 0, 0, 0, 1 },
	{ "something_else_behind", 1, 4, 4, 1, 0 },
	{ "two_without_a_gap", 2, 2, 2, 2, 0 },
	{ "mask_into_the_next", 2, 7, 7, 2, 0 },
	{ "into_anothers", 1, 12, 12, 1, 0 },
	{ "anothers", 1, 2, 2, 1, 0 },
	{ "entry_in_a_fragment", 1, 4, 4, 1, 0 },
	{ "entry_in_a_fragments_middle", 0, 0, 0, 0, 1 },
	{ "index_below_zero", 0, 0, 0, 0, 1 },
	{ "in_doubt", 0, 0, 0, 0, 1 },
	{ "signed_compare", 0, 0, 0, 0, 1 },
	{ "upper_half_unchecked", 0, 0, 0, 0, 1 },
	{ "sign_extended_byte", 0, 0, 0, 0, 1 },
	{ "other_flags", 0, 0, 0, 0, 1 },
	{ "pointer_changed_between", 0, 0, 0, 0, 1 },
	{ "call_between", 0, 0, 0, 0, 1 },
	{ "base_of_another", 0, 0, 0, 0, 0 },	/* no table at all: may be a tail call */
	{ "changed_after_the_compare", 0, 0, 0, 0, 1 },
	{ "changed_in_part", 0, 0, 0, 0, 1 },
	{ "compare_behind_the_copy_of_another", 0, 0, 0, 0, 1 },
	{ "copy_from_last_time_round", 0, 0, 0, 0, 1 },
	{ "one_way_unbounded", 0, 0, 0, 0, 1 },
	{ "index_lost_in_a_call", 0, 0, 0, 0, 1 },
	{ "index_moved_by_a_scan", 0, 0, 0, 0, 1 },
	{ "index_moved_by_a_comparison", 0, 0, 0, 0, 1 },
	{ "store_between", 0, 0, 0, 0, 1 },
	{ "bit_set_between", 0, 0, 0, 0, 1 },
	{ "apart_between", 1, 4, 4, 1, 0 },
	{ "compare_before_a_shift", 1, 4, 4, 1, 0 },
	{ "mask_of_a_short", 1, 4, 4, 1, 0 },
	{ "byte_of_a_mask_compared", 1, 4, 4, 1, 0 },
	{ "mask_or_nothing", 1, 4, 4, 1, 0 },
	{ "byte_of_more_compared", 0, 0, 0, 0, 1 },
	{ "bound_beyond_the_table", 0, 0, 0, 0, 1 },
	{ "address_stored", 1, 4, 4, 1, 0 },
	{ "address_stored_odd_base", 1, 4, 4, 1, 0 },
	{ "address_left_over", 1, 4, 4, 1, 0 },
	{ "address_stored_scaled", 1, 4, 4, 1, 0 },
	{ "address_stored_two_loads", 1, 4, 4, 2, 0 },
	{ "address_stored_displaced", 0, 0, 0, 0, 1 },
	{ "address_stored_of_two", 0, 0, 0, 0, 0 }, /* no table at all: may be a tail call */
	{ "address_stored_one_way", 0, 0, 0, 0, 0 },	/* likewise */
	{ "address_stored_over_a_call", 0, 0, 0, 0, 1 },
	{ "address_used_beyond_the_bound", 1, 2, 4, 1, 0 },
	{ "entry_and_address_stored", 0, 0, 0, 0, 1 },
	{ "target_and_address_stored", 0, 0, 0, 0, 1 },
	{ "entry_stored", 0, 0, 0, 0, 1 },
	{ "target_used_as_a_number", 0, 0, 0, 0, 1 },
	{ "address_compared_elsewhere", 1, 4, 4, 1, 0 },
	{ "address_used_after_a_call", 1, 4, 4, 1, 0 },
	{ "byte_of_the_address_extended", 1, 4, 4, 1, 0 },
	{ "half_of_the_address_extended", 1, 4, 4, 1, 0 },
	{ "live_at_an_unknown_jump", 1, 4, 4, 1, 1 },
	{ "live_when_leaving", 1, 4, 5, 1, 0 },
	{ "leaves_for_a_trap", 1, 4, 4, 1, 0 },
	{ "leaves_and_comes_back", 1, 4, 4, 1, 0 },
	{ "leaves_and_uses", 1, 4, 4, 1, 0 },
	{ "leaves_and_returns_it", 1, 4, 4, 1, 0 },
	{ "leaves_for_a_call", 1, 4, 4, 1, 0 },
	{ "calls_at_its_end", 1, 4, 4, 1, 0 },
	{ "writable_table", 0, 0, 0, 0, 0 },	/* no candidate: may be a tail call */
	{ "into_the_middle", 0, 0, 0, 0, 1 },
	{ "entry_in_the_linkage_table", 0, 0, 0, 0, 1 },
	{ "odd_prefix", 0, 0, 0, 0, 0 },	/* no candidate: may be a tail call */
	{ "carry_at_a_case", 0, 0, 0, 0, 1 },
	{ "carry_kept_at_a_case", 0, 0, 0, 0, 1 },
	{ "carry_set_at_a_case", 1, 4, 4, 1, 0 },
	{ "carry_kept_by_the_kernel", 0, 0, 0, 0, 1 },
	{ "goes_on_in_another", 0, 0, 0, 0, 1 },
	{ "goes_on_beside_data", 0, 0, 0, 0, 1 },
};

static const struct expected absolute[] = {
	{ "_start", 1, 3, 3, 1, 0 },
	{ "loaded", 1, 3, 3, 1, 0 },
	{ "unbounded", 1, 3, 3, 1, 0 },
	{ "in_doubt", 0, 0, 0, 0, 1 },
	{ "compare_tells", 1, 4, 4, 1, 0 },
	{ "compare_too_far", 0, 0, 0, 0, 1 },
	{ "two_in_a_row", 2, 2, 2, 2, 0 },
	{ "two_that_overlap", 2, 4, 4, 2, 0 },
};

/* The table's address stays in the registers, and the loads of its entries are changed. */
static bool stays(const char *fn)
{
	static const char *const name[] = {
		"address_stored", "address_compared_elsewhere", "address_used_after_a_call",
		"byte_of_the_address_extended", "half_of_the_address_extended",
		"address_stored_odd_base", "address_left_over", "address_stored_scaled",
		"address_stored_two_loads", "live_at_an_unknown_jump", "live_when_leaving",
		"leaves_and_uses", "leaves_and_returns_it", "address_used_beyond_the_bound",
	};

	for (uint32_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (strcmp(fn, name[i]) == 0)
			return true;
	return false;
}

static void check(const struct prog *prog, const struct expected *e)
{
	const struct fn *fn = asm_fn(prog, e->fn);
	const struct jump_table *t = fn->table;
	uint32_t jumps = 0;

	for (uint32_t i = 0; i < fn->nblock; i++)
		jumps += fn->block[i].table != NO_TABLE;
	if (fn->ntable != e->ntable || jumps != e->jumps || fn->unproven != e->unproven)
		fail_msg("%s: %u tables, %u jumps, %u unproven", e->fn, fn->ntable, jumps,
			 fn->unproven);
	if (e->ntable && (t->kind == BLOCKMAP_TABLE_BESIDE32) != stays(e->fn))
		fail_msg("%s: a table of kind %u", e->fn, t->kind);
	if (e->ntable && (t->bound != e->bound || t->nentry != e->nentry))
		fail_msg("%s: bound %u, %u entries", e->fn, t->bound, t->nentry);
}

struct inputs {
	struct arena *arena;
	struct prog pic, absolute;
};

static int setup(void **state)
{
	struct arena *a = arena_new();
	struct inputs *in = arena_alloc(a, sizeof(*in));

	in->arena = a;
	asm_analyze("jumptable", "-shared -s", a, &in->pic);
	asm_analyze("absolute", "-static -no-pie", a, &in->absolute);
	*state = in;
	return 0;
}

static int teardown(void **state)
{
	arena_free(((struct inputs *)*state)->arena);
	return 0;
}

static void relative_tables(void **state)
{
	const struct inputs *in = *state;

	for (uint32_t i = 0; i < sizeof(pic) / sizeof(pic[0]); i++)
		check(&in->pic, &pic[i]);
}

static void absolute_tables(void **state)
{
	const struct inputs *in = *state;

	for (uint32_t i = 0; i < sizeof(absolute) / sizeof(absolute[0]); i++)
		check(&in->absolute, &absolute[i]);
	assert_int_equal(asm_fn(&in->absolute, "_start")->table[0].kind, BLOCKMAP_TABLE_ABS64);
	assert_int_equal(asm_fn(&in->pic, "pic")->table[0].kind, BLOCKMAP_TABLE_REL32);
}

static void entries_lead_to_blocks(void **state)
{
	const struct inputs *in = *state;
	const struct fn *fn = asm_fn(&in->pic, "pic");
	const struct jump_table *t = &fn->table[0];

	for (uint32_t i = 0; i < t->nentry; i++) {
		assert_true(t->succ[i] < fn->nblock);
		assert_int_equal(fn->block[t->succ[i]].addr, t->target[i]);
		assert_true(i == 0 || t->target[i] > t->target[i - 1]);
	}
}

static void an_entry_at_the_functions_end_is_no_block(void **state)
{
	const struct inputs *in = *state;
	const struct fn *fn = asm_fn(&in->pic, "entry_at_the_end");
	const struct jump_table *t = &fn->table[0];

	assert_int_equal(t->succ[1], NO_BLOCK);
	assert_int_equal(t->target[1], fn->entry + fn->range[0].size);
	assert_int_not_equal(t->succ[2], NO_BLOCK);
}

static void all_instructions_that_form_the_address_are_named(void **state)
{
	const struct inputs *in = *state;
	const struct fn *fn = asm_fn(&in->pic, "two_share_a_base");
	vaddr target;
	struct insn insn;

	assert_int_equal(fn->table[0].nuser, 1);
	const struct insn *lea = &fn->insn[fn->table[0].user[0]];
	const uint8_t *code = prog_insn_bytes(&in->pic, lea);
	assert_true(insn_decode((struct bytes){ code, lea->len }, prog_insn_addr(&in->pic, lea),
				&insn, &target));
	assert_int_equal(target, fn->table[0].addr);
}

static void entries_of_unproven_tables_are_pinned(void **state)
{
	const struct inputs *in = *state;
	const struct fn *fn = asm_fn(&in->pic, "in_doubt"), *proven = asm_fn(&in->pic, "pic");
	uint32_t pinned = 0;

	for (uint32_t i = 0; i < fn->nblock; i++)
		pinned += fn->block[i].pinned;
	assert_int_equal(pinned, 4 + 1);	/* and the entry, which has a symbol */
	for (uint32_t i = 1; i < proven->nblock; i++)
		assert_false(proven->block[i].pinned);
}

static void every_jump_says_why_it_is_not_proven(void **state)
{
	static const struct {
		const char *fn;
		enum ijump_kind kind;
	} want[] = {
		{ "pic", JUMP_TABLE },
		{ "in_doubt", JUMP_NO_BOUND },
		{ "bound_beyond_the_table", JUMP_TOO_SHORT },
		{ "entry_stored", JUMP_ADDRESS_USED },
		{ "base_of_another", JUMP_TAIL },
	};
	const struct inputs *in = *state;

	for (uint32_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct fn *fn = asm_fn(&in->pic, want[i].fn);

		assert_int_equal(fn->njump, 1);
		assert_int_equal(fn->insn[fn->jump[0].insn].kind, INSN_IJMP);
		if (fn->jump[0].kind != want[i].kind)
			fail_msg("%s: %s", want[i].fn, jump_name[fn->jump[0].kind]);
	}
}

static void what_looks_like_a_table_keeps_entry_jumps_out(void **state)
{
	const struct inputs *in = *state;

	assert_int_equal(asm_fn(&in->pic, "looks_like_a_table")->skip, SKIP_ENTRY_TARGET);
	assert_int_equal(asm_fn(&in->pic, "looks_like_one_with_fillers")->skip,
			 SKIP_ENTRY_TARGET);
}

/* Every table that is proven here is moved, and the Verifier finds out by itself that it may
 * be. */
static uint32_t movable_tables(const struct prog *prog)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < prog->nfn; i++)
		n += prog->fn[i].skip == SKIP_NONE ? prog->fn[i].ntable : 0;
	return n;
}

static void move_and_verify(const char *name, const char *flags, uint32_t ntable)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct arena *a = arena_new();
		struct edit_options options = { .all = true, .shuffle = true, .seed = seed,
						.generation = 1 };
		struct bytes original = asm_build(name, flags, a);
		struct wr made = { 0 }, map = { 0 };
		struct edit_stats stats;
		struct verify_stats proof;
		struct err err;

		if (edit_optimize(original, NULL, &options, a, &made, &map, &stats, &err) < 0 ||
		    verify_generation(original, (struct bytes){ made.p, made.n }, a, &proof,
				      &err) < 0)
			fail_msg("%s, seed %u: %s", name, (unsigned)seed, err.text);
		assert_int_equal(proof.tables, ntable);
		wr_free(&made);
		wr_free(&map);
		arena_free(a);
	}
}

static void moved_tables_verify(void **state)
{
	const struct inputs *in = *state;

	assert_true(movable_tables(&in->pic) > 25);
	move_and_verify("jumptable", "-shared -s", movable_tables(&in->pic));
	move_and_verify("absolute", "-static -no-pie", movable_tables(&in->absolute));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(relative_tables),
		cmocka_unit_test(absolute_tables),
		cmocka_unit_test(entries_lead_to_blocks),
		cmocka_unit_test(an_entry_at_the_functions_end_is_no_block),
		cmocka_unit_test(all_instructions_that_form_the_address_are_named),
		cmocka_unit_test(entries_of_unproven_tables_are_pinned),
		cmocka_unit_test(every_jump_says_why_it_is_not_proven),
		cmocka_unit_test(what_looks_like_a_table_keeps_entry_jumps_out),
		cmocka_unit_test(moved_tables_verify),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
