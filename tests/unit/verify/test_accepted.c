/* test_accepted.c - programs with what looks forbidden and is not: all functions move, in
 * several orders, and the Verifier finds that they may; and one with what looks harmless and is
 * not
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "editor/optimize.h"
#include "binary/dynamic.h"
#include "lib/blockmap.h"
#include "tests/unit/asm.h"
#include "verify/verify.h"

enum { SEEDS = 4 };

/* Returns how many jump tables have new ones. */
static uint32_t move_orders(const char *name, const char *flags, uint32_t nmoved,
			    uint64_t first)
{
	uint32_t tables = 0;

	for (uint64_t seed = first; seed < first + SEEDS; seed++) {
		struct arena *a = arena_new();
		struct edit_options options = { .all = true, .shuffle = true, .seed = seed,
						.generation = 1 };
		struct bytes original = asm_build(name, flags, a);
		struct wr made = { 0 }, map = { 0 };
		struct edit_stats stats;
		struct verify_stats proof;
		struct err err;

		if (edit_optimize(original, NULL, &options, a, &made, &map, &stats, &err) < 0 ||
		    verify_generation(original, wr_bytes(&made), a, &proof, &err) < 0)
			fail_msg("%s, seed %u: %s", name, (unsigned)seed, err.text);
		assert_int_equal(stats.functions_moved, nmoved);
		tables = proof.tables;
		wr_free(&made);
		wr_free(&map);
		arena_free(a);
	}
	return tables;
}

static uint32_t move_and_verify(const char *name, const char *flags, uint32_t nmoved)
{
	return move_orders(name, flags, nmoved, 1);
}

static void places_in_thread_local_storage_are_no_addresses(void **state)
{
	(void)state;
	move_and_verify("threadlocal", "-shared -Wl,-Ttext=0x10000", 1);
}

/* Functions of another convention; what they save is described behind the return address.  What
 * nobody can follow costs its own function alone. */
static void other_registers_may_be_saved(void **state)
{
	struct arena *a = arena_new();
	struct prog prog;

	(void)state;
	asm_analyze("savedvectors", "-shared", a, &prog);
	assert_int_equal(asm_fn(&prog, "masks")->skip, SKIP_NONE);
	assert_int_equal(asm_fn(&prog, "unheard_of")->skip, SKIP_UNWIND_FORM);
	assert_int_equal(asm_fn(&prog, "forgotten")->skip, SKIP_UNWIND_FORM);
	arena_free(a);
	move_and_verify("savedvectors", "-shared", 3);
}

/* Original code of the one may then run because of the other: no pointer may change for it. */
static void functions_may_share_a_fragment(void **state)
{
	(void)state;
	move_and_verify("sharedpart", "-shared", 3);
}

static void code_is_no_jump_table(void **state)
{
	(void)state;
	move_and_verify("codeastable", "-shared", 2);
}

/* What it runs into must have an image then. */
static void an_entry_or_a_landing_pad_may_be_empty(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 64; seed += SEEDS)
		move_orders("emptypad", "-shared", 2, seed);
}

/* A table's address that a landing pad passes to a callee stays the original's; a table of
 * which a callee gets an entry has no new one. */
static void callees_may_get_what_comes_from_a_table(void **state)
{
	(void)state;
	assert_int_equal(move_and_verify("passedaway", "-shared", 2), 1);
}

static void a_stub_may_be_the_last_of_its_segment(void **state)
{
	(void)state;
	(void)move_and_verify("laststub", "-shared", 1);
}

static vaddr symbol_value(struct bytes file, const char *name, struct arena *a)
{
	struct image img;
	struct err err;

	assert_int_equal(image_parse(file, a, &img, &err), 0);
	return asm_symbol(&img, name);
}

/* In all combinations of blocks that move and blocks that stay. */
static void a_dispatch_may_stay_beside_others(void **state)
{
	uint32_t stayed = 0, moved = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 64; seed++) {
		struct arena *a = arena_new();
		struct edit_options options = { .all = true, .shuffle = true, .seed = seed,
						.generation = 1 };
		struct bytes original = asm_build("formedtwice", "-shared", a);
		struct wr made = { 0 }, text = { 0 };
		struct edit_stats stats;
		struct verify_stats proof;
		struct blockmap map;
		struct err err;

		if (edit_optimize(original, NULL, &options, a, &made, &text, &stats, &err) <
			    0 ||
		    verify_generation(original, wr_bytes(&made), a, &proof, &err) < 0)
			fail_msg("seed %u: %s", (unsigned)seed, err.text);
		assert_int_equal(stats.jump_tables, 2);
		assert_int_equal(blockmap_read(wr_bytes(&text), &map, &err), 0);
		if (blockmap_find_orig(&map, symbol_value(original, "second_dispatch", a)))
			moved++;
		else
			stayed++;
		blockmap_free(&map);
		wr_free(&made);
		wr_free(&text);
		arena_free(a);
	}
	assert_true(moved > 0 && stayed > 0);
}

/* A function with several names gets that of its fragments; one whose fragment is named like no
 * function of its own gets none.  What no section of code holds stays, whatever an FDE says. */
static void names_fit_all_parts(void **state)
{
	struct arena *a = arena_new();
	struct prog prog;

	(void)state;
	asm_analyze("symbols", "-shared -Wl,-z,noseparate-code", a, &prog);
	assert_string_equal(asm_fn(&prog, "one_name")->symbol, "other_name");
	assert_null(asm_fn(&prog, "wrongly_named")->symbol);
	assert_int_equal(asm_fn(&prog, "no_code")->skip, SKIP_DECODE);
	arena_free(a);
	move_and_verify("symbols", "-shared -Wl,-z,noseparate-code", 2);
}

/* A symbol table that ends in the middle of a symbol stays as it is. */
static void a_damaged_symbol_table_stays(void **state)
{
	struct edit_options options = { .all = true, .generation = 1 };
	struct arena *a = arena_new();
	struct bytes original = asm_build("symbols", "-shared", a);
	uint8_t *copy = arena_dup(a, original.p, original.n);
	struct wr made = { 0 }, map = { 0 };
	struct edit_stats stats;
	struct verify_stats proof;
	struct image img;
	struct err err;

	(void)state;
	assert_int_equal(image_parse(original, a, &img, &err), 0);
	uint64_t at = img.eh.e_shoff +
		      (uint64_t)(image_section(&img, ".symtab") - img.sh) * sizeof(Elf64_Shdr);
	copy[at + offsetof(Elf64_Shdr, sh_size)]++;
	struct bytes damaged = { copy, original.n };
	assert_int_equal(edit_optimize(damaged, NULL, &options, a, &made, &map, &stats, &err),
			 0);
	assert_int_equal(verify_generation(damaged, wr_bytes(&made), a, &proof, &err), 0);
	wr_free(&made);
	wr_free(&map);
	arena_free(a);
}

/* Either nobody makes a new table, or the Verifier does not accept it. */
static void a_target_on_the_stack_is_followed(void **state)
{
	struct edit_options options = { .all = true, .generation = 1 };
	struct arena *a = arena_new();
	struct bytes original = asm_build("popped", "-shared", a);
	struct wr made = { 0 }, map = { 0 };
	struct edit_stats stats;
	struct verify_stats proof = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(edit_optimize(original, NULL, &options, a, &made, &map, &stats, &err),
			 0);
	if (verify_generation(original, wr_bytes(&made), a, &proof, &err) == 0)
		assert_int_equal(proof.tables, 0);
	else
		assert_non_null(strstr(err.text, "replaced jump table"));
	wr_free(&made);
	wr_free(&map);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_in_thread_local_storage_are_no_addresses),
		cmocka_unit_test(other_registers_may_be_saved),
		cmocka_unit_test(functions_may_share_a_fragment),
		cmocka_unit_test(code_is_no_jump_table),
		cmocka_unit_test(an_entry_or_a_landing_pad_may_be_empty),
		cmocka_unit_test(callees_may_get_what_comes_from_a_table),
		cmocka_unit_test(a_stub_may_be_the_last_of_its_segment),
		cmocka_unit_test(a_dispatch_may_stay_beside_others),
		cmocka_unit_test(names_fit_all_parts),
		cmocka_unit_test(a_damaged_symbol_table_stays),
		cmocka_unit_test(a_target_on_the_stack_is_followed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
