/* test_placement.c - a function of which the program asks where it is stays there, as do
 * pointers to it
 *
 * The Editor leaves such functions and pointers; here it is told that it need not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/verify/untrue.h"

static const char ANY[] = "-shared", ASKS[] = "-shared -Wa,--defsym,ASKS=1",
		  ASKS_TOGETHER[] = "-shared -Wa,--defsym,ASKS=1 -Wl,-z,noseparate-code",
		  ASKS_GOT[] = "-shared -Wa,--defsym,ASKS=2",
		  ASKS_SEGMENT[] =
			"-shared -Wa,--defsym,ASKS=3 -Wl,-z,noseparate-code '-Wl,--defsym,"
			"segment_end=ADDR(.eh_frame)+SIZEOF(.eh_frame)'",
		  FIXED[] = "-static -no-pie -Wa,--defsym,FIXED=1";

static void what_is_looked_at_has_no_image(void **state)
{
	static const struct {
		const char *flags, *fn, *why;
	} refused[] = {
		{ ANY, "in_section", "section trusted" },
		{ FIXED, "in_section", "section trusted" },
		{ ANY, "paged", "has a page" },
		{ ANY, "read_from", "looks at it" },
		{ FIXED, "read_from", "looks at it" },
		{ ANY, "copied", "looks at it" },
		{ ANY, "protected", "looks at it" },
		{ FIXED, "read_by_constant", "looks at it" },
		{ ANY, "read_at", "reads or writes its first bytes" },
		{ ANY, "read_by_uncovered", "reads or writes its first bytes" },
		{ ANY, "ordered", "looks at it" },
		{ ANY, "entered", "looks at it" },
		{ ANY, "negated", "looks at it" },
		{ ANY, "bounded", "asks what lies above or below" },
		{ ANY, "bounded_behind", "asks what lies above or below" },
		{ FIXED, "ordered_by_constant", "calculates with its address" },
		{ FIXED, "bounded_by_constant", "asks what lies above or below" },
	};

	(void)state;
	untrue_expect((struct untrue){ .source = "placed", .flags = ANY }, NULL);
	untrue_expect((struct untrue){ .source = "placed", .flags = "-shared -s" }, NULL);
	untrue_expect((struct untrue){ .source = "placed", .flags = FIXED }, NULL);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		untrue_expect((struct untrue){ .source = "placed", .flags = refused[i].flags,
					       .moved = refused[i].fn },
			      refused[i].why);
}

static void what_is_between_two_labels_has_no_image(void **state)
{
	static const char fixed[] = "-static -no-pie -Wa,--defsym,FIXED=1 -Wl,-e,use_row";
	static const char *const flags[] = { "-shared", fixed };
	static const char *const stays[] = {
		"row_first", "row_middle", "row_last", "given_middle", "asked_middle",
		"pages_in_front", "pages_middle",
	};

	(void)state;
	for (size_t f = 0; f < sizeof(flags) / sizeof(flags[0]); f++) {
		untrue_expect((struct untrue){ .source = "between", .flags = flags[f] }, NULL);
		for (size_t i = 0; i < sizeof(stays) / sizeof(stays[0]); i++)
			untrue_expect((struct untrue){ .source = "between", .flags = flags[f],
						       .moved = stays[i] },
				      "is between");
	}
	untrue_expect((struct untrue){ .source = "between", .flags = fixed,
				       .moved = "compared_middle" },
		      "is between");
}

static void pointers_lead_to_images_that_are_as_good(void **state)
{
	static const struct {
		const char *flags, *fn, *why;
		bool unaligned;
	} redirected[] = {
		{ ANY, "ordinary", NULL, false },
		{ ANY, "padded", NULL, false },
		{ ANY, "aligned", NULL, false },
		{ ANY, "aligned", "aligned to less", true },
		{ ANY, "fronted", "in front of", false },
		{ ANY, "stub", "nothing leads to", false },
		{ ANY, "joined", "nothing leads to some", false },
		{ ASKS, "ordinary", "where its code ends", false },
		{ ASKS_GOT, "ordinary", "where its code ends", false },
		{ ASKS_SEGMENT, "ordinary", "where its code ends", false },
		{ ASKS_TOGETHER, "ordinary", "where its code ends", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(redirected) / sizeof(redirected[0]); i++)
		untrue_expect((struct untrue){ .source = "placed",
					       .flags = redirected[i].flags,
					       .redirected = redirected[i].fn,
					       .unaligned = redirected[i].unaligned },
			      redirected[i].why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_looked_at_has_no_image),
		cmocka_unit_test(what_is_between_two_labels_has_no_image),
		cmocka_unit_test(pointers_lead_to_images_that_are_as_good),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
