/* test_cutlabels.c - no entry jump is laid where a calculated jump may go
 * (tests/asm/cutlabels.s) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/asm.h"

struct want {
	const char *fn;
	enum skip skip;
};

static void expect(const char *flags, const struct want *want, size_t n)
{
	struct arena *a = arena_new();
	struct prog prog;

	asm_analyze("cutlabels", flags, a, &prog);
	for (size_t i = 0; i < n; i++)
		if (asm_fn(&prog, want[i].fn)->skip != want[i].skip)
			fail_msg("%s %s: %d", flags, want[i].fn,
				 (int)asm_fn(&prog, want[i].fn)->skip);
	arena_free(a);
}

static void they_keep_entry_jumps_out(void **state)
{
	static const struct want shared[] = {
		{ "calculates", SKIP_ENTRY_TARGET },
		{ "calculates_with_a_frame", SKIP_NONE },
		{ "fetches", SKIP_NONE },
		{ "fetches_kept", SKIP_ENTRY_TARGET },
		{ "fetches_beside", SKIP_NONE },
		{ "fetches_behind_call", SKIP_NONE },
		{ "fetches_switch", SKIP_NONE },
		{ "word_has_label", SKIP_ENTRY_TARGET },
		{ "word_leads_between", SKIP_ENTRY_TARGET },
		{ "forms_none", SKIP_NONE },
	};

	(void)state;
	expect("-shared", shared, sizeof(shared) / sizeof(shared[0]));
}

static void so_they_do_at_a_fixed_address(void **state)
{
	static const struct want fixed[] = {
		{ "calculates", SKIP_ENTRY_TARGET },
		{ "fetches", SKIP_NONE },
		{ "fetches_kept", SKIP_ENTRY_TARGET },
		{ "fetches_constant", SKIP_NONE },
		{ "word_has_label", SKIP_ENTRY_TARGET },
		{ "word_leads_between", SKIP_NONE },
	};

	(void)state;
	expect("-static -no-pie -Wa,--defsym,FIXED=1 -Wl,--eh-frame-hdr,-e,fetches", fixed,
	       sizeof(fixed) / sizeof(fixed[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_keep_entry_jumps_out),
		cmocka_unit_test(so_they_do_at_a_fixed_address),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("labels under entry jumps", tests, NULL, NULL);
}
