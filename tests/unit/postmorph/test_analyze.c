/* test_analyze.c - functions, blocks, edges, fragments and hazards of made and of real files */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/asm.h"

static struct arena *arena;
static struct prog prog;

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	asm_analyze("functions", "-shared -s", arena, &prog);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static const struct fn *fn_of(const char *name)
{
	return asm_fn(&prog, name);
}

static void every_function_has_its_reason(void **state)
{
	static const struct {
		const char *fn;
		enum skip skip;
	} expected[] = {
		{ "counted_loop", SKIP_NONE },
		{ "loop_insns", SKIP_NONE },
		{ "loop_at_the_entry", SKIP_ENTRY_TARGET },
		{ "loop_behind_endbr64", SKIP_NONE },
		{ "tiny", SKIP_SHORT },
		{ "calls_next", SKIP_CALL_NEXT },
		{ "calls_inside", SKIP_CALL_INSIDE },
		{ "comes_back_later", SKIP_RETURN_BEHIND },
		{ "comes_back_later_over_nops", SKIP_RETURN_BEHIND },
		{ "returns_behind_a_call", SKIP_NONE },
		{ "middle_of_insn", SKIP_MID_INSN },
		{ "middle_of_insn_later", SKIP_MID_INSN },
		{ "falls_out", SKIP_NONE },
		{ "jumped_into", SKIP_NONE },
		{ "address_taken_inside", SKIP_WATCHED },
		{ "handler", SKIP_SIGNAL_FRAME },
		{ "catches", SKIP_NONE },
		{ "split", SKIP_NONE },
		{ "shares_1", SKIP_NONE },
		{ "shares_2", SKIP_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (fn_of(expected[i].fn)->skip != expected[i].skip)
			fail_msg("%s: %s", expected[i].fn,
				 skip_text[fn_of(expected[i].fn)->skip]);
}

struct skipped {
	const char *fn;
	enum skip skip;
};

static void a_function_that_others_look_for_stays(void **state)
{
	static const struct {
		const char *fn;
		enum skip skip;
	} expected[] = {
		{ "waits", SKIP_WATCHED }, { "use_waits", SKIP_NONE },
		{ "first_of_all", SKIP_WATCHED }, { "known_by_name", SKIP_NONE },
		{ "may_fail", SKIP_WATCHED }, { "threaded", SKIP_NONE },
		{ "remembers", SKIP_WATCHED }, { "jumped_into", SKIP_NONE },
		{ "goes_there", SKIP_NONE }, { "has_base", SKIP_NONE },
		{ "keyed", SKIP_WATCHED }, { "comes_back", SKIP_WATCHED },
		{ "restarts", SKIP_RSEQ }, { "restarts_by_name", SKIP_RSEQ },
		{ "may_fail_by_name", SKIP_WATCHED }, { "measured", SKIP_WATCHED },
		{ "behind_tagged", SKIP_NONE },
	};
	struct prog watched;

	(void)state;
	asm_analyze("watched", "-shared", arena, &watched);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct fn *fn = asm_fn(&watched, expected[i].fn);

		if (fn->skip != expected[i].skip)
			fail_msg("%s: %s", expected[i].fn, skip_text[fn->skip]);
	}
}

static void check_skips(const char *source, const char *flags,
			const struct skipped *expected, size_t n)
{
	struct prog made;

	asm_analyze(source, flags, arena, &made);
	for (size_t i = 0; i < n; i++) {
		const struct fn *fn = asm_fn(&made, expected[i].fn);

		if (fn->skip != expected[i].skip)
			fail_msg("%s %s, %s: %s", source, flags, expected[i].fn,
				 skip_text[fn->skip]);
	}
}

static void what_is_between_two_labels_stays(void **state)
{
	static const struct skipped expected[] = {
		{ "row_first", SKIP_WATCHED }, { "row_middle", SKIP_WATCHED },
		{ "row_last", SKIP_WATCHED }, { "row_behind", SKIP_NONE },
		{ "use_row", SKIP_NONE },
		{ "given_first", SKIP_WATCHED }, { "given_middle", SKIP_WATCHED },
		{ "asked_middle", SKIP_WATCHED }, { "named_first", SKIP_NONE },
		{ "named_middle", SKIP_NONE }, { "alone_first", SKIP_NONE },
		{ "alone_last", SKIP_NONE }, { "far_first", SKIP_NONE },
		{ "far_last", SKIP_NONE }, { "pages_in_front", SKIP_WATCHED },
		{ "pages_middle", SKIP_WATCHED },
	};
	static const struct skipped compared[] = { { "compared_middle", SKIP_WATCHED } };
	static const char fixed[] = "-static -no-pie -Wa,--defsym,FIXED=1 -Wl,-e,use_row";

	(void)state;
	check_skips("between", fixed, compared, 1);
	check_skips("between", "-shared", expected, sizeof(expected) / sizeof(expected[0]));
	check_skips("between", fixed, expected, sizeof(expected) / sizeof(expected[0]));
}

static void a_function_that_data_knows_inside_stays(void **state)
{
	static const struct skipped expected[] = {
		{ "unknown", SKIP_NONE }, { "half", SKIP_INNER_WORD },
		{ "half_of_two", SKIP_INNER_WORD }, { "half_alone", SKIP_NONE },
		{ "half_amid", SKIP_NONE }, { "half_most", SKIP_INNER_WORD },
		{ "half_amid_unknown", SKIP_INNER_WORD },
		{ "half_of_numbers", SKIP_NONE }, { "half_of_more", SKIP_INNER_WORD },
		{ "half_packed", SKIP_INNER_WORD },
		{ "half_far", SKIP_INNER_WORD }, { "away7", SKIP_INNER_WORD },
		{ "half_of_entry", SKIP_LISTED }, { "full_of_entry", SKIP_LISTED },
		{ "half_of_note", SKIP_INNER_WORD }, { "half_of_kind", SKIP_INNER_WORD },
		{ "half_between", SKIP_INNER_WORD }, { "half_in_front", SKIP_INNER_WORD },
		{ "half_behind_code", SKIP_INNER_WORD }, { "half_gap", SKIP_INNER_WORD },
		{ "full_between", SKIP_INNER_WORD },
		{ "half_of_nops", SKIP_NONE }, { "half_beside_table", SKIP_INNER_WORD },
		{ "switches_more", SKIP_NONE },
		{ "full_alone", SKIP_NONE }, { "full_amid", SKIP_NONE },
		{ "full_most", SKIP_INNER_WORD }, { "full_second", SKIP_INNER_WORD },
		{ "full_and_halves", SKIP_INNER_WORD }, { "full_far", SKIP_INNER_WORD },
		{ "full_spread", SKIP_NONE }, { "full_beside_memory", SKIP_INNER_WORD },
		{ "full_pair", SKIP_INNER_WORD },
		{ "record1", SKIP_INNER_WORD }, { "record8", SKIP_INNER_WORD },
		{ "full", SKIP_INNER_WORD }, { "symbol", SKIP_WATCHED },
		{ "from_outside", SKIP_WATCHED },
		{ "listed", SKIP_LISTED }, { "listed_in_front", SKIP_LISTED },
		{ "listed_half_in_front", SKIP_LISTED },
		{ "listed_for_collector", SKIP_LISTED }, { "listed_for_handler", SKIP_LISTED },
		{ "listed_for_tracer", SKIP_LISTED },
		{ "switches", SKIP_NONE },
	};
	static const struct skipped fixed[] = {
		{ "unknown", SKIP_NONE }, { "half", SKIP_INNER_WORD },
		{ "listed_for_collector", SKIP_LISTED }, { "listed_for_tracer", SKIP_LISTED },
		{ "word", SKIP_INNER_WORD }, { "word_far", SKIP_INNER_WORD },
		{ "word_unaligned", SKIP_INNER_WORD }, { "word_of_numbers", SKIP_NONE },
		{ "word_of_mask", SKIP_NONE },
		{ "constant", SKIP_WATCHED }, { "use_constant", SKIP_NONE },
		{ "loaded", SKIP_WATCHED }, { "use_loaded", SKIP_NONE },
		{ "switches", SKIP_NONE },
	};

	(void)state;
	check_skips("inner", "-shared", expected, sizeof(expected) / sizeof(expected[0]));
	check_skips("inner", "-static -no-pie -Wa,--defsym,FIXED=1", fixed,
		    sizeof(fixed) / sizeof(fixed[0]));
}

static void a_function_with_data_behind_a_trap_stays(void **state)
{
	static const struct skipped expected[] = {
		{ "told", SKIP_BEHIND_TRAP }, { "numbered", SKIP_BEHIND_TRAP },
		{ "nopped", SKIP_BEHIND_TRAP }, { "trapped", SKIP_NONE },
		{ "padded", SKIP_NONE }, { "last", SKIP_NONE }, { "meaning", SKIP_NONE },
		{ "asserting", SKIP_NONE }, { "seeming", SKIP_BEHIND_TRAP },
		{ "prefixed", SKIP_BEHIND_TRAP },
		{ "jumping", SKIP_NONE }, { "switching", SKIP_NONE },
	};

	(void)state;
	check_skips("behindtraps", "-shared", expected, sizeof(expected) / sizeof(expected[0]));
	check_skips("behindtraps", "-static -no-pie", expected,
		    sizeof(expected) / sizeof(expected[0]));
}

static void a_function_whose_place_is_asked_for_stays(void **state)
{
	static const struct skipped expected[] = {
		{ "ordinary", SKIP_NONE }, { "in_section", SKIP_SECTION },
		{ "paged", SKIP_PAGE }, { "read_from", SKIP_CODE_READ },
		{ "read_at", SKIP_CODE_READ }, { "ordered", SKIP_WATCHED },
		{ "entered", SKIP_CODE_READ }, { "named", SKIP_NONE },
		{ "negated", SKIP_CODE_READ }, { "bounded", SKIP_WATCHED },
		{ "bounded_behind", SKIP_WATCHED }, { "bounds_behind", SKIP_NONE },
		{ "finds_got", SKIP_NONE }, { "reads", SKIP_NONE },
		{ "copied", SKIP_CODE_READ }, { "protected", SKIP_CODE_READ },
		{ "handed_on", SKIP_NONE },
	};
	static const struct skipped fixed[] = {
		{ "read_by_constant", SKIP_CODE_READ }, { "read_from", SKIP_CODE_READ },
		{ "named", SKIP_NONE }, { "in_section", SKIP_SECTION },
		{ "ordered_by_constant", SKIP_WATCHED }, { "only_named", SKIP_NONE },
		{ "bounded_by_constant", SKIP_WATCHED },
	};

	(void)state;
	check_skips("placed", "-shared", expected, sizeof(expected) / sizeof(expected[0]));
	check_skips("placed", "-static -no-pie -Wa,--defsym,FIXED=1", fixed,
		    sizeof(fixed) / sizeof(fixed[0]));
}

static void pointers_keep_their_value_where_that_matters(void **state)
{
	static const struct {
		const char *fn;
		enum pointers pointers;
	} expected[] = {
		{ "ordinary", POINTERS_KNOWN }, { "aligned", POINTERS_KNOWN },
		{ "padded", POINTERS_KNOWN }, { "fronted", POINTERS_UNKNOWN },
		{ "stub", POINTERS_UNKNOWN }, { "joined", POINTERS_UNKNOWN },
	};
	static const char by_segment[] =
		"-shared -Wa,--defsym,ASKS=3 -Wl,-z,noseparate-code "
		"'-Wl,--defsym=segment_end=ADDR(.eh_frame)+SIZEOF(.eh_frame)'";
	static const char *const asks[] = {
		"-shared -Wa,--defsym,ASKS=1", "-shared -Wa,--defsym,ASKS=2", by_segment,
	};
	struct prog placed;

	(void)state;
	asm_analyze("placed", "-shared", arena, &placed);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(asm_fn(&placed, expected[i].fn)->pointers,
				 expected[i].pointers);
	assert_int_equal(asm_fn(&placed, "aligned")->align, 64);
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		asm_analyze("placed", asks[i], arena, &placed);
		assert_int_equal(asm_fn(&placed, "ordinary")->pointers, POINTERS_UNKNOWN);
	}
}

static void the_entry_jump_goes_behind_endbr64(void **state)
{
	(void)state;
	assert_int_equal(fn_of("counted_loop")->patch_off, 4);
	assert_int_equal(fn_of("loop_insns")->patch_off, 0);
}

static void a_conditional_jump_has_two_edges(void **state)
{
	const struct fn *fn = fn_of("counted_loop");

	(void)state;
	assert_int_equal(fn->nblock, 3);
	assert_int_equal(fn->block[0].fall, 1);
	assert_int_equal(fn->block[0].taken, NO_BLOCK);
	assert_int_equal(fn->block[1].taken, 1);
	assert_int_equal(fn->block[1].fall, 2);
	assert_int_equal(fn->block[2].fall, NO_BLOCK);
	assert_int_equal(fn->block[2].fall_out, 0);
}

static void loop_and_jrcxz_and_xbegin_branch(void **state)
{
	const struct fn *fn = fn_of("loop_insns"), *x = fn_of("aborts_transaction");

	(void)state;
	assert_int_equal(fn->nblock, 5);
	assert_int_equal(fn->block[1].taken, 1);
	assert_int_equal(fn->block[2].taken, 4);
	assert_int_equal(fn->block[2].fall, 3);
	assert_int_equal(x->block[0].taken, 2);
	assert_int_equal(x->block[0].fall, 1);
}

static void control_may_run_out_of_a_function(void **state)
{
	const struct fn *fn = fn_of("falls_out");

	(void)state;
	assert_int_equal(fn->block[0].fall, NO_BLOCK);
	assert_int_equal(fn->block[0].fall_out, fn->entry + fn->range[0].size);
}

static void calls_that_do_not_return_are_known(void **state)
{
	const struct fn *fn = fn_of("gives_up_later");
	uint32_t n = 0;

	(void)state;
	assert_true(fn_of("gives_up")->block[0].noreturn);
	for (uint32_t i = 0; i < fn->nblock; i++)
		n += fn->block[i].noreturn;
	assert_int_equal(n, 1);
	assert_true(fn->block[1].noreturn);
	assert_int_equal(fn->block[1].fall, 2);
	assert_true(fn_of("trusts_what_runs_on")->block[1].noreturn);
	assert_true(fn_of("trusts_what_calls_first")->block[1].noreturn);
	assert_false(fn_of("trusts_what_traps")->block[1].noreturn);
	assert_true(fn_of("trusts_what_jumps")->block[1].noreturn);
	assert_false(fn_of("asks")->block[0].noreturn);
}

/* But behind the last one of a function nothing is. */
static void a_trap_runs_on(void **state)
{
	const struct fn *fn = fn_of("traps_twice");

	(void)state;
	assert_int_equal(fn->nblock, 5);
	assert_true(fn->block[1].noreturn && fn->block[1].fall == 2);
	assert_true(fn->block[2].fall == 3);		/* NOPs */
	assert_true(fn->block[3].fall == NO_BLOCK && fn->block[3].fall_out == 0);
	assert_false(fn->block[3].noreturn);
	assert_true(fn->block[4].padding);
}

static void padding_is_what_nothing_reaches(void **state)
{
	const struct fn *fn = fn_of("has_padding");

	(void)state;
	assert_int_equal(fn->nblock, 3);
	assert_true(fn->block[1].padding);
	assert_false(fn->block[0].padding || fn->block[2].padding);
	assert_false(fn_of("gives_up")->block[0].padding);
}

static void branches_between_functions_pin(void **state)
{
	const struct fn *from = fn_of("jumps_into_another"), *to = fn_of("jumped_into");

	(void)state;
	assert_int_equal(to->nblock, 2);
	assert_true(to->block[1].pinned);
	assert_int_equal(from->block[0].taken, NO_BLOCK);
	assert_int_equal(from->block[0].taken_out, to->block[1].addr);
}

static void taken_addresses_pin(void **state)
{
	const struct fn *fn = fn_of("address_taken_inside");

	(void)state;
	assert_int_equal(fn->nblock, 2);
	assert_true(fn->block[1].pinned);
}

static void at_a_fixed_address_numbers_pin(void **state)
{
	struct prog fixed;

	(void)state;
	asm_analyze("low", "-static -no-pie", arena, &fixed);
	assert_int_equal(asm_fn(&fixed, "formed")->nblock, 2);
	assert_true(asm_fn(&fixed, "formed")->block[1].pinned);
}

static void fragments_join_their_only_parent(void **state)
{
	const struct fn *fn = fn_of("split");

	(void)state;
	assert_int_equal(fn->nrange, 3);
	assert_int_equal(prog_find_fn(&prog, fn->range[1].addr), fn - prog.fn);
	assert_int_equal(prog_find_fn(&prog, fn->range[2].addr + 1), fn - prog.fn);
	assert_int_not_equal(fn->block[0].taken, NO_BLOCK);
	assert_int_equal(fn->block[fn->block[0].taken].addr, fn->range[1].addr);
	assert_int_equal(fn_find_block(fn, fn->range[1].addr), fn->block[0].taken);
	assert_int_equal(fn_find_block(fn, fn->entry + 1), 0);
}

static void a_shared_fragment_stays(void **state)
{
	const struct fn *fn = fn_of("shares_1");

	(void)state;
	assert_int_equal(fn->nrange, 1);
	assert_int_equal(fn->block[0].taken, NO_BLOCK);
	uint32_t f = prog_find_fn(&prog, fn->block[0].taken_out);
	assert_int_not_equal(f, NO_FN);
	assert_int_equal(prog.fn[f].skip, SKIP_FRAGMENT);
	assert_int_equal(fn_of("shares_2")->block[0].taken_out, prog.fn[f].entry);
}

static void calls_are_listed_in_order(void **state)
{
	uint32_t caller = (uint32_t)(fn_of("gives_up_later") - prog.fn);
	uint32_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < prog.ncall; i++) {
		const struct call_site *c = &prog.call[i];

		if (i > 0)
			assert_true(c[-1].caller < c->caller || (c[-1].caller == c->caller &&
								 c[-1].block <= c->block));
		if (c->caller != caller)
			continue;
		n++;
		const struct fn *fn = &prog.fn[caller];
		uint32_t b = fn_find_block(fn, fn->entry + c->off);
		assert_int_equal(b, c->block);
		assert_int_equal(prog.fn[c->callee].name == NULL, true);	/* hidden */
	}
	assert_int_equal(n, 1);
}

/* What is to be kept around function f, by the calls of all; how many that are. */
static uint32_t expect_kept(uint32_t f, uint32_t depth, bool *kept, struct arena *a)
{
	uint32_t n = 0;

	kept[f] = true;
	for (; depth > 0; depth--) {
		const bool *before = arena_dup(a, kept, prog.nfn * sizeof(*kept));

		for (uint32_t i = 0; i < prog.ncall; i++)
			kept[prog.call[i].callee] |= before[prog.call[i].caller];
	}
	for (uint32_t i = 0; i < prog.nfn; i++)
		n += kept[i];
	return n;
}

static void callees_are_kept_as_deep_as_is_wanted(void **state)
{
	uint32_t most[3] = { 0 };

	(void)state;
	for (uint32_t f = 0; f < prog.nfn; f++)
		for (uint32_t depth = 0; depth < 3; depth++) {
			struct arena *a = arena_new();
			const struct prog_wanted wanted = { &prog.fn[f].entry, 1, depth };
			bool *kept = arena_array(a, prog.nfn, sizeof(*kept));
			uint32_t n = expect_kept(f, depth, kept, a);
			struct prog p;
			struct err err;

			most[depth] = n > most[depth] ? n : most[depth];
			assert_int_equal(
				prog_analyze_around(prog.img.file, &wanted, a, &p, &err), 0);
			for (uint32_t i = 0; i < prog.nfn; i++) {
				assert_int_equal(p.fn[i].kept, kept[i]);
				if (kept[i])
					assert_int_equal(p.fn[i].nblock, prog.fn[i].nblock);
			}
			arena_free(a);
		}
	assert_int_equal(most[0], 1);
	assert_true(most[1] > 1 && most[2] > most[1]);
}

static void refused(const char *flags, const char *why)
{
	struct arena *a = arena_new();
	struct prog p;
	struct err err = { 0 };

	if (prog_analyze(asm_build("hazard", flags, a), a, &p, &err) == 0)
		fail_msg("%s: not refused", flags);
	if (err.kind != ERR_REFUSED || !strstr(err.text, why))
		fail_msg("%s: %s", flags, err.text);
	arena_free(a);
}

static void hazards_are_refused_with_a_reason(void **state)
{
	struct arena *a = arena_new();
	struct prog p;

	(void)state;
	asm_analyze("hazard", "-shared -s", a, &p);
	asm_analyze("hazard", "-shared -s -Wa,--defsym,OCAML=900", a, &p);
	asm_analyze("hazard", "-shared -s -Wa,--defsym,GPROF=1", a, &p);
	asm_analyze("hazard", "-shared -s -Wa,--defsym,HEAP=2", a, &p);
	asm_analyze("hazard", "-no-pie -s -e f -Wl,--no-as-needed -lc -Wa,--defsym,HEAP=1", a,
		    &p);
	arena_free(a);
	refused("-no-pie -s -e f -Wl,--no-as-needed -lc -Wa,--defsym,HEAP=2", "heap");
	refused("-shared -s -Wa,--defsym,GO=1", "Go");
	refused("-shared -s -Wa,--defsym,GPROF=2", "gprof");
	refused("-shared -s -Wa,--defsym,MAP=1", "generation");
	refused("-shared -s -Wa,--defsym,OCAML=1100", "OCaml");
	refused("-shared -s -Wa,--defsym,TEXTREL=1 -Wl,-z,notext", "relocated");
	refused("-shared -s -Wl,-N", "writable");
}

static void a_function_of_more_than_4_gib_is_an_error(void **state)
{
	struct arena *a = arena_new();
	struct prog p;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(prog_analyze(asm_build("endless", "-shared", a), a, &p, &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
	assert_string_equal(err.text, "a function of more than 4 GiB");
	arena_free(a);
}

static void real_programs_keep_the_invariants(void **state)
{
	static const char *const path[] = { "/usr/bin/perl", "/usr/bin/gzip", "/usr/bin/bash",
					    "/lib/x86_64-linux-gnu/libc.so.6" };

	(void)state;
	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
		struct arena *a = arena_new();
		struct bytes file;
		struct err err;
		struct prog p;
		int fd = open(path[i], O_RDONLY);
		uint32_t movable = 0;

		if (fd < 0 || io_read_all(fd, 1 << 28, a, &file, &err) < 0 ||
		    prog_analyze(file, a, &p, &err) < 0 || ir_check(&p, &err) < 0)
			fail_msg("%s: %s", path[i], err.text);
		(void)close(fd);
		for (uint32_t k = 0; k < p.nfn; k++)
			movable += p.fn[k].skip == SKIP_NONE;
		assert_true(movable > p.nfn * 9 / 10);
		arena_free(a);
	}
}

/* An FDE of what is no code, a gigabyte away from the text: nothing is known of it. */
static void functions_may_lie_far_outside_of_the_text(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	asm_analyze("symbols", "-shared -Wl,--section-start=.rodata=0x40000000", a, &prog);
	assert_true(prog.nfn > 1);
	assert_true(prog.fn[prog.nfn - 1].entry >= 0x40000000);
	assert_int_not_equal(prog.fn[prog.nfn - 1].skip, SKIP_NONE);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_function_has_its_reason),
		cmocka_unit_test(a_function_that_others_look_for_stays),
		cmocka_unit_test(what_is_between_two_labels_stays),
		cmocka_unit_test(a_function_that_data_knows_inside_stays),
		cmocka_unit_test(a_function_with_data_behind_a_trap_stays),
		cmocka_unit_test(a_function_whose_place_is_asked_for_stays),
		cmocka_unit_test(pointers_keep_their_value_where_that_matters),
		cmocka_unit_test(the_entry_jump_goes_behind_endbr64),
		cmocka_unit_test(a_conditional_jump_has_two_edges),
		cmocka_unit_test(loop_and_jrcxz_and_xbegin_branch),
		cmocka_unit_test(control_may_run_out_of_a_function),
		cmocka_unit_test(calls_that_do_not_return_are_known),
		cmocka_unit_test(a_trap_runs_on),
		cmocka_unit_test(padding_is_what_nothing_reaches),
		cmocka_unit_test(branches_between_functions_pin),
		cmocka_unit_test(taken_addresses_pin),
		cmocka_unit_test(at_a_fixed_address_numbers_pin),
		cmocka_unit_test(fragments_join_their_only_parent),
		cmocka_unit_test(a_shared_fragment_stays),
		cmocka_unit_test(calls_are_listed_in_order),
		cmocka_unit_test(callees_are_kept_as_deep_as_is_wanted),
		cmocka_unit_test(hazards_are_refused_with_a_reason),
		cmocka_unit_test(a_function_of_more_than_4_gib_is_an_error),
		cmocka_unit_test(real_programs_keep_the_invariants),
		cmocka_unit_test(functions_may_lie_far_outside_of_the_text),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
