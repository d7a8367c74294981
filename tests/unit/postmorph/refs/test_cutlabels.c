/* test_cutlabels.c - no entry jump is laid where a calculated jump may go
 * (tests/asm/cutlabels.s) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/asm.h"

static void they_keep_entry_jumps_out(void **state)
{
	static const struct {
		const char *fn;
		enum skip skip;
	} want[] = {
		{ "calculates", SKIP_ENTRY_TARGET },
		{ "calculates_with_a_frame", SKIP_NONE },
		{ "fetches", SKIP_NONE },
		{ "forms_none", SKIP_NONE },
	};
	struct arena *a = arena_new();
	struct prog prog;

	(void)state;
	asm_analyze("cutlabels", "-shared", a, &prog);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		if (asm_fn(&prog, want[i].fn)->skip != want[i].skip)
			fail_msg("%s: %d", want[i].fn, (int)asm_fn(&prog, want[i].fn)->skip);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_keep_entry_jumps_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("labels under entry jumps", tests, NULL, NULL);
}
