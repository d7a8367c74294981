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
	const char *fn;			/* in tests/asm/jumptable.s or absolute.s */
	uint32_t ntable;		/* proven tables */
	uint32_t bound, nentry;		/* of the first table */
	uint32_t jumps;			/* blocks that end in a proven table */
	uint32_t unproven;		/* indirect jumps without one that may stay inside */
	uint32_t guarded;		/* whose index an image compares, not in `jumps` */
} pic[] = {
	{ .fn = "pic", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "pic_notrack", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "sum_in_the_base", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "hoisted_across_calls", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "two_share_a_base", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 2 },
	{ .fn = "one_behind_the_other", .ntable = 2, .bound = 4, .nentry = 4, .jumps = 2 },
	{ .fn = "compare_on_a_copy", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "compare_on_a_byte", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "compare_then_extend", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "not_above", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "mask", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "shift", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "compare_in_memory", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "compare_with_a_bounded_register", .guarded = 1 },
	{ .fn = "longer_than_its_bound", .ntable = 1, .bound = 2, .nentry = 4, .jumps = 1 },
	{ .fn = "entry_at_the_end", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "behind_a_filled_table", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1,
	  .guarded = 1 },
	{ .fn = "target_before_the_loop", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "base_is_copied", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "base_formed_again", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "base_formed_over_itself", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "base_left_in_a_copy", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "base_formed_elsewhere" },	/* no table: may be a tail call */
	{ .fn = "target_pushed_and_freed", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "parts_of_the_target", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "repeated_compare", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "scaled_index", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "scaled_in_the_index", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "extended_later", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "pushed_between", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "ends_in_front", .ntable = 1, .bound = 2, .nentry = 2, .jumps = 1 },
	{ .fn = "begins_behind", .guarded = 1 },
	{ .fn = "scaled_and_more" },
	{ .fn = "sum_and_more" },
	{ .fn = "scaled_by_two" },
	{ .fn = "base_is_the_index" },
	{ .fn = "base_is_the_index_of_a_word" },
	{ .fn = "never_extended" },
	{ .fn = "word_over_a_call", .unproven = 1 },
	{ .fn = "entry_over_a_call", .unproven = 1 },
	{ .fn = "no_bound", .guarded = 1 },
	{ .fn = "bound_of_a_byte", .guarded = 1 },
	{ .fn = "mask_beyond_the_table", .guarded = 1 },
	{ .fn = "shift_beyond_the_table", .guarded = 1 },
	{ .fn = "byte_behind_an_entry", .guarded = 1 },
	{ .fn = "address_of_an_entry", .guarded = 1 },
	{ .fn = "byte_arithmetic", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "byte_of_a_sum", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "all_of_a_sum", .unproven = 1 },
	{ .fn = "byte_kept_in_the_frame", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "byte_back_from_the_frame", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "register_back_from_the_frame", .unproven = 1 },
	{ .fn = "register_in_the_frame_compared", .unproven = 1 },
	{ .fn = "register_back_from_deeper", .unproven = 1 },
	{ .fn = "register_popped_from_the_frame", .unproven = 1 },
	{ .fn = "register_back_from_before", .unproven = 1 },
	{ .fn = "target_kept_in_the_frame", .unproven = 1 },
	{ .fn = "whole_register_arithmetic", .unproven = 1 },
	{ .fn = "ends_in_a_call", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "base_kept_over_a_call", .unproven = 1 },
	{ .fn = "base_spared_by_a_callee", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "passed_to_a_callee", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "left_over_at_a_call", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "calls_what_overwrites_all", .ntable = 1, .bound = 4, .nentry = 4,
	  .jumps = 1 },
	{ .fn = "base_lost_far_down", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "compare_beyond_the_table", .guarded = 1 },
	{ .fn = "something_else_behind", .guarded = 1 },
	{ .fn = "two_without_a_gap", .guarded = 2 },
	{ .fn = "shifted_byte_before_another", .ntable = 2, .bound = 4, .nentry = 4,
	  .jumps = 2 },
	{ .fn = "behind_one_with_a_filler", .ntable = 1, .bound = 3, .nentry = 3, .jumps = 1,
	  .guarded = 1 },
	{ .fn = "mask_into_the_next", .ntable = 1, .bound = 2, .nentry = 2, .jumps = 1,
	  .unproven = 1 },
	{ .fn = "into_anothers", .guarded = 1 },
	{ .fn = "anothers", .ntable = 1, .bound = 2, .nentry = 2, .jumps = 1 },
	{ .fn = "entry_in_a_fragment", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "entry_in_a_fragments_middle", .unproven = 1 },
	{ .fn = "index_below_zero", .guarded = 1 },
	{ .fn = "in_doubt", .guarded = 1 },
	{ .fn = "in_doubt_at_the_end", .guarded = 1 },
	{ .fn = "ends_with_its_section", .guarded = 1 },
	{ .fn = "signed_compare", .guarded = 1 },
	{ .fn = "upper_half_unchecked", .guarded = 1 },
	{ .fn = "sign_extended_byte", .guarded = 1 },
	{ .fn = "other_flags", .guarded = 1 },
	{ .fn = "pointer_changed_between", .guarded = 1 },
	{ .fn = "call_between", .guarded = 1 },
	{ .fn = "base_of_another" },	/* no table at all: may be a tail call */
	{ .fn = "changed_after_the_compare", .guarded = 1 },
	{ .fn = "changed_in_part", .guarded = 1 },
	{ .fn = "compare_behind_the_copy_of_another", .guarded = 1 },
	{ .fn = "copy_from_last_time_round", .guarded = 1 },
	{ .fn = "one_way_unbounded", .guarded = 1 },
	{ .fn = "index_lost_in_a_call", .guarded = 1 },
	{ .fn = "index_moved_by_a_scan", .guarded = 1 },
	{ .fn = "index_moved_by_a_comparison", .guarded = 1 },
	{ .fn = "store_between", .guarded = 1 },
	{ .fn = "bit_set_between", .guarded = 1 },
	{ .fn = "apart_between", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "compare_before_a_shift", .guarded = 1 },
	{ .fn = "mask_of_a_short", .guarded = 1 },
	{ .fn = "byte_of_a_mask_compared", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "mask_or_nothing", .guarded = 1 },
	{ .fn = "byte_of_more_compared", .guarded = 1 },
	{ .fn = "bound_beyond_the_table", .guarded = 1 },
	{ .fn = "address_stored", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "address_stored_odd_base", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "address_kept_by_bsf", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "address_kept_by_cmov", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "address_left_over", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "address_stored_scaled", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "address_stored_two_loads", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 2 },
	{ .fn = "address_stored_displaced", .unproven = 1 },
	{ .fn = "address_stored_of_two" }, /* no table at all: may be a tail call */
	{ .fn = "address_stored_one_way" },	/* likewise */
	{ .fn = "address_stored_over_a_call", .unproven = 1 },
	{ .fn = "address_used_beyond_the_bound", .ntable = 1, .bound = 2, .nentry = 4,
	  .jumps = 1 },
	{ .fn = "entry_and_address_stored", .unproven = 1 },
	{ .fn = "target_and_address_stored", .unproven = 1 },
	{ .fn = "entry_stored", .unproven = 1 },
	{ .fn = "target_used_as_a_number", .unproven = 1 },
	{ .fn = "address_compared_elsewhere", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1,
	   },
	{ .fn = "address_used_after_a_call", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "byte_of_the_address_extended", .ntable = 1, .bound = 4, .nentry = 4,
	  .jumps = 1 },
	{ .fn = "half_of_the_address_extended", .ntable = 1, .bound = 4, .nentry = 4,
	  .jumps = 1 },
	{ .fn = "live_at_an_unknown_jump", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1,
	  .unproven = 1 },
	{ .fn = "live_when_leaving", .ntable = 1, .bound = 4, .nentry = 5, .jumps = 1 },
	{ .fn = "leaves_for_a_trap", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "leaves_and_comes_back", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "leaves_and_uses", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "leaves_and_returns_it", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "leaves_for_a_call", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "calls_at_its_end", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "writable_table" },	/* no candidate: may be a tail call */
	{ .fn = "into_the_middle", .guarded = 1 },
	{ .fn = "entry_in_the_linkage_table", .unproven = 1 },
	{ .fn = "odd_prefix" },	/* no candidate: may be a tail call */
	{ .fn = "carry_at_a_case", .unproven = 1 },
	{ .fn = "carry_kept_at_a_case", .unproven = 1 },
	{ .fn = "carry_set_at_a_case", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "carry_kept_by_the_kernel", .unproven = 1 },
	{ .fn = "goes_on_in_another", .unproven = 1 },
	{ .fn = "goes_on_beside_data", .unproven = 1 },
};

static const struct expected absolute[] = {
	{ .fn = "_start", .ntable = 1, .bound = 3, .nentry = 3, .jumps = 1 },
	{ .fn = "loaded", .ntable = 1, .bound = 3, .nentry = 3, .jumps = 1 },
	{ .fn = "unbounded", .unproven = 1 },
	{ .fn = "a_bounded_one_near", .ntable = 1, .bound = 3, .nentry = 3, .jumps = 1,
	  .unproven = 1 },
	{ .fn = "two_without_a_bound", .unproven = 2 },
	{ .fn = "in_doubt", .unproven = 1 },
	{ .fn = "in_doubt_at_the_end", .unproven = 1 },
	{ .fn = "compare_tells", .ntable = 1, .bound = 4, .nentry = 4, .jumps = 1 },
	{ .fn = "compare_too_far", .unproven = 1 },
	{ .fn = "two_in_a_row", .ntable = 2, .bound = 2, .nentry = 2, .jumps = 2 },
	{ .fn = "two_that_overlap", .ntable = 2, .bound = 4, .nentry = 4, .jumps = 2 },
	{ .fn = "seems_cut", .ntable = 2, .bound = 6, .nentry = 6, .jumps = 2 },
	{ .fn = "dead_code", .ntable = 2, .bound = 4, .nentry = 4, .jumps = 2, .unproven = 1 },
};

/* The table's address stays in the registers, and the loads of its entries are changed. */
static bool stays(const char *fn)
{
	static const char *const name[] = {
		"address_stored", "address_compared_elsewhere", "address_used_after_a_call",
		"byte_of_the_address_extended", "half_of_the_address_extended",
		"address_stored_odd_base", "address_left_over", "address_stored_scaled",
		"address_stored_two_loads", "live_at_an_unknown_jump", "live_when_leaving",
		"leaves_for_a_trap", "leaves_and_uses", "leaves_and_returns_it",
		"address_used_beyond_the_bound", "passed_to_a_callee",
		"address_kept_by_bsf", "address_kept_by_cmov", "dead_code",
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
	uint32_t jumps = 0, guarded = 0, guards = 0;

	for (uint32_t i = 0; i < fn->nblock; i++)
		jumps += fn->block[i].table != NO_TABLE;
	for (uint32_t i = 0; i < fn->njump; i++)
		guarded += fn->jump[i].kind == JUMP_GUARDED;
	for (uint32_t i = 0; i < fn->ntable; i++) {
		guards += fn->table[i].guard > 0;
		assert_true(fn->table[i].guard <= fn->table[i].nentry);
		assert_true(!fn->table[i].guard ||
			    fn->table[i].kind == BLOCKMAP_TABLE_BESIDE32);
	}
	if (fn->ntable - guards != e->ntable || jumps - guarded != e->jumps ||
	    guarded != e->guarded || fn->unproven != e->unproven)
		fail_msg("%s: %u tables, %u of them guarded, %u jumps, %u of them guarded, "
			 "%u unproven", e->fn, fn->ntable, guards, jumps, guarded,
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
	const struct fn *fn = asm_fn(&in->pic, "entry_stored");
	const struct fn *proven = asm_fn(&in->pic, "pic");
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
		{ "in_doubt", JUMP_GUARDED },
		{ "bound_beyond_the_table", JUMP_GUARDED },
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
