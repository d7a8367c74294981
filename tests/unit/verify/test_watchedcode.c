/* test_watchedcode.c - a function that others look for by an address inside of it is not
 * moved
 *
 * The Editor leaves such functions; here it is told that it need not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/verify/untrue.h"

static void what_others_look_for_has_no_image(void **state)
{
	static const char any[] = "-shared", fixed[] = "-static -no-pie -Wl,-e,waits";
	static const struct {
		const char *flags, *fn, *why;
	} refused[] = {
		{ any, "waits", "knows its address" },
		{ any, "remembers", "knows its address" },
		{ any, "comes_back", "knows its address" },
		{ any, "keyed", "holds its address" },
		{ fixed, "keyed", "holds its address" },
		{ any, "first_of_all", "looks at it" },
		{ any, "measured", "looks at it" },
		{ any, "may_fail", "holds its address" },
		{ any, "restarts", "restartable sequence" },
		{ any, "may_fail_by_name", "holds its address" },
		{ any, "restarts_by_name", "restartable sequence" },
		{ fixed, "waits", "knows its address" },
		{ fixed, "remembers", "knows its address" },
		{ fixed, "restarts", "restartable sequence" },
	};

	(void)state;
	untrue_expect((struct untrue){ .source = "watched", .flags = any }, NULL);
	untrue_expect((struct untrue){ .source = "watched", .flags = fixed }, NULL);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		untrue_expect((struct untrue){ .source = "watched", .flags = refused[i].flags,
					       .moved = refused[i].fn },
			      refused[i].why);
}

static void what_data_knows_inside_has_no_image(void **state)
{
	static const char any[] = "-shared";
	static const char fixed[] = "-static -no-pie -Wa,--defsym,FIXED=1";
	static const struct {
		const char *flags, *fn, *why;
	} refused[] = {
		{ any, "half", "holds its address" },
		{ fixed, "half", "holds its address" },
		{ any, "half_of_entry", "lists it" },
		{ any, "half_packed", "holds its address" },
		{ any, "full_of_entry", "lists it" },
		{ any, "half_of_two", "holds its address" },
		{ any, "half_most", "holds its address" },
		{ any, "half_of_more", "holds its address" },
		{ any, "half_far", "holds its address" },
		{ any, "away7", "holds its address" },
		{ any, "half_of_note", "holds its address" },
		{ any, "half_of_kind", "holds its address" },
		{ any, "half_between", "holds its address" },
		{ any, "half_behind_code", "holds its address" },
		{ any, "half_gap", "holds its address" },
		{ any, "half_in_front", "holds its address" },
		{ any, "full_between", "holds its address" },
		{ any, "half_beside_table", "holds its address" },
		{ any, "full", "holds its address" },
		{ any, "full_most", "holds its address" },
		{ any, "full_second", "holds its address" },
		{ any, "full_and_halves", "holds its address" },
		{ any, "full_far", "holds its address" },
		{ any, "full_pair", "holds its address" },
		{ any, "record1", "holds its address" },
		{ any, "record8", "holds its address" },
		{ any, "full_beside_memory", "holds its address" },
		{ any, "symbol", "is its address" },
		{ any, "from_outside", "knows its address" },
		{ any, "listed", "lists it" },
		{ fixed, "listed", "lists it" },
		{ any, "listed_for_collector", "lists it" },
		{ fixed, "listed_for_collector", "lists it" },
		{ any, "listed_for_handler", "lists it" },
		{ any, "listed_in_front", "lists it" },
		{ any, "listed_half_in_front", "lists it" },
		{ any, "listed_last", "lists it" },
		{ fixed, "listed_last", "lists it" },
		{ any, "listed_for_tracer", "lists it" },
		{ fixed, "listed_for_tracer", "lists it" },
		{ fixed, "word", "holds its address" },
		{ fixed, "word_far", "holds its address" },
		{ fixed, "word_of_small_bytes", "holds its address" },
		{ fixed, "word_unaligned", "holds its address" },
		{ fixed, "constant", "knows its address" },
		{ fixed, "loaded", "knows its address" },
	};

	(void)state;
	untrue_expect((struct untrue){ .source = "inner", .flags = any }, NULL);
	untrue_expect((struct untrue){ .source = "inner", .flags = fixed }, NULL);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		untrue_expect((struct untrue){ .source = "inner", .flags = refused[i].flags,
					       .moved = refused[i].fn },
			      refused[i].why);
}

/* Constants that are addresses of instructions, and numbers, flags and masks by chance. */
static void round_numbers_are_no_addresses(void **state)
{
	static const char flags[] = "-static -no-pie -Wl,-e,use_flags"
		" -Wl,--section-start=code.mask=0x3fffef"
		" -Wl,--section-start=code.low_half=0x46fff0"
		" -Wl,--section-start=code.flags=0x480000"
		" -Wl,--section-start=code.low_half_16=0x4afff0"
		" -Wl,--section-start=code.flags_4=0x4c0000";
	static const char *const is_round[] = { "low_half", "mask", "flags" };
	static const char *const stays[] = { "low_half_16", "flags_4" };
	struct arena *a = arena_new();
	struct prog prog;

	(void)state;
	asm_analyze("round", flags, a, &prog);
	for (size_t i = 0; i < sizeof(is_round) / sizeof(is_round[0]); i++)
		if (asm_fn(&prog, is_round[i])->skip != SKIP_NONE)
			fail_msg("%s stays", is_round[i]);
	arena_free(a);
	untrue_expect((struct untrue){ .source = "round", .flags = flags }, NULL);
	for (size_t i = 0; i < sizeof(stays) / sizeof(stays[0]); i++)
		untrue_expect((struct untrue){ .source = "round", .flags = flags,
					       .moved = stays[i] },
			      "knows its address");
}

/* What looks like an address by chance keeps nothing where it is. */
static void chance_holds_nothing(void **state)
{
	static const char any[] = "-shared";
	static const char fixed[] = "-static -no-pie -Wa,--defsym,FIXED=1";
	static const struct {
		const char *flags, *fn;
	} moved[] = {
		{ any, "half_alone" }, { any, "half_amid" },
		{ any, "half_of_numbers" }, { any, "half_of_nops" }, { any, "half_of_halves" },
		{ any, "full_alone" }, { any, "full_amid" }, { any, "full_spread" },
		{ fixed, "word_alone" }, { fixed, "word_of_numbers" },
		{ fixed, "word_of_mask" }, { fixed, "unknown" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
		struct arena *a = arena_new();
		struct prog prog;

		asm_analyze("inner", moved[i].flags, a, &prog);
		if (asm_fn(&prog, moved[i].fn)->skip != SKIP_NONE)
			fail_msg("%s %s stays", moved[i].flags, moved[i].fn);
		arena_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_others_look_for_has_no_image),
		cmocka_unit_test(what_data_knows_inside_has_no_image),
		cmocka_unit_test(round_numbers_are_no_addresses),
		cmocka_unit_test(chance_holds_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
