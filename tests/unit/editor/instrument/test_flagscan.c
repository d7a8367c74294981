/* test_flagscan.c - where the Editor puts a private counter, no flag that it changes is live */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "editor/instrument/flagscan.h"
#include "lib/arena.h"
#include "tests/unit/asm.h"

static void flags_are_live_where_the_name_says(void **state)
{
	static const struct {
		const char *name;
		bool dead;
	} fn[] = {
		{ "live_branch", false }, { "live_set", false }, { "live_jump", false },
		{ "live_taken", false }, { "live_pushed", false }, { "live_shift", false },
		{ "live_rotation", false }, { "live_system", false }, { "live_callee", false },
		{ "live_return", false }, { "live_tail", false }, { "live_carry_only", false },
		{ "dead_write", true }, { "dead_carry", true }, { "dead_ways", true },
		{ "dead_return", true }, { "dead_narrow", true }, { "dead_slot", true },
		{ "dead_rotation", true },
		{ "dead_tail", true }, { "dead_trap", true }, { "live_label", false },
		{ "live_run_into", false }, { "live_any_label", false },
		{ "live_again", false }, { "live_prefixed", false },
		{ "dead_framed", true }, { "live_framed", false },
		{ "dead_dispatched", true }, { "live_half_known", false },
		{ "live_half_decoded", false }, { "live_distances", false },
		{ "live_label_variable", false }, { "live_loop", false },
		{ "live_sum", false }, { "live_brought_sum", false },
		{ "dead_fetched", true }, { "dead_fetched_by_others", true },
		{ "dead_backwards", true }, { "dead_cold", true },
		{ "dead_copied", true }, { "live_behind_call", false },
		{ "live_kept_in_frame", false }, { "live_unreached", false },
		{ "live_trap", false }, { "live_called_inside", false },
	};
	struct arena *a = arena_new();
	struct prog prog;

	(void)state;
	asm_analyze("counting", "-static -no-pie -Wl,-e,begin", a, &prog);
	const struct flagscan *s = flagscan_new(&prog, a);
	for (size_t i = 0; i < sizeof(fn) / sizeof(fn[0]); i++) {
		vaddr at = asm_place(&prog, fn[i].name);
		const unsigned test = 2;	/* bytes of what writes them in front */

		if (flagscan_is_dead(s, at) != fn[i].dead)
			fail_msg("%s is%s dead", fn[i].name, fn[i].dead ? " not" : "");
		assert_true(flagscan_is_dead(s, at - test));
	}
	assert_false(flagscan_is_dead(s, asm_place(&prog, "live_computed")));
	/* where no code is */
	assert_false(flagscan_is_dead(s, 0));
	arena_free(a);
}

/* Of the program that is built so, flags are live at this place, and not at all. */
static void is_live(const char *flags, const char *name)
{
	struct arena *a = arena_new();
	struct prog prog;

	asm_analyze("counting", flags, a, &prog);
	const struct flagscan *s = flagscan_new(&prog, a);
	assert_false(flagscan_is_dead(s, asm_place(&prog, name)));
	assert_true(flagscan_is_dead(s, asm_place(&prog, "dead_write")));
	arena_free(a);
}

static void flags_that_come_back_through_a_pointer_are_live(void **state)
{
	static const char *const flags[] = {
		"-static -no-pie -Wl,-e,begin -Wa,--defsym,CALLED=1",
		"-static -no-pie -Wl,-e,begin -Wa,--defsym,JUMPED=1",
		"-static -no-pie -Wl,-e,begin -Wa,--defsym,HIDDEN=1",
		"-static -no-pie -Wl,-e,begin -Wa,--defsym,FAR=1",
		"-static -no-pie -Wl,-e,begin -Wa,--defsym,UNTOLD=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		is_live(flags[i], "dead_return");
}

static void ways_by_a_table_may_lead_elsewhere(void **state)
{
	struct arena *a = arena_new();
	struct prog prog;

	(void)state;
	asm_analyze("counting", "-static -no-pie -Wl,-e,begin -Wa,--defsym,ELSEWHERE=1", a,
		    &prog);
	const struct flagscan *s = flagscan_new(&prog, a);
	assert_false(flagscan_is_dead(s, asm_place(&prog, "live_elsewhere")));
	assert_false(flagscan_is_dead(s, asm_place(&prog, "live_shared")));
	assert_false(flagscan_is_dead(s, asm_place(&prog, "live_narrow_labels")));
	assert_false(flagscan_is_dead(s, asm_place(&prog, "live_sum_by_thunk")));
	assert_false(flagscan_is_dead(s, asm_place(&prog, "live_thunk")));
	arena_free(a);
}

/* No function does, or goes on for so long without writing them. */
static void who_begins_by_reading_flags_is_a_label(void **state)
{
	(void)state;
	is_live("-static -no-pie -Wl,-e,begin -Wa,--defsym,ODD=1", "dead_tail");
	is_live("-static -no-pie -Wl,-e,begin -Wa,--defsym,ODD=2", "dead_tail");
}

static void what_a_constant_pointer_leads_to_is_known(void **state)
{
	struct arena *a = arena_new();
	struct prog prog;

	(void)state;
	asm_analyze("counting", "-pie -Wl,-e,begin,-z,relro,-z,now -Wa,--defsym,CONSTANT=1", a,
		    &prog);
	const struct flagscan *s = flagscan_new(&prog, a);
	assert_false(flagscan_is_dead(s, asm_place(&prog, "live_constant")));
	assert_false(flagscan_is_dead(s, asm_place(&prog, "live_constant_label")));
	assert_true(flagscan_is_dead(s, asm_place(&prog, "dead_return")));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_are_live_where_the_name_says),
		cmocka_unit_test(flags_that_come_back_through_a_pointer_are_live),
		cmocka_unit_test(ways_by_a_table_may_lead_elsewhere),
		cmocka_unit_test(who_begins_by_reading_flags_is_a_label),
		cmocka_unit_test(what_a_constant_pointer_leads_to_is_known),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
