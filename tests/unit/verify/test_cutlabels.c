/* test_cutlabels.c - an entry jump over what a calculated jump may go to is refused
 *
 * Of tests/asm/cutlabels.s, where one instruction is changed in the original and the image.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"
#include "tests/unit/verify/untrue.h"

enum { FETCH = 3, OPCODE = 1, MOV = 0x8b, ADD = 0x03, SEEDS = 32 };

static struct spoil with_image(const char *function, unsigned insn)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct spoil m = spoil_make("cutlabels", seed);

		if (blockmap_find_orig(&m.map, spoil_address(&m, function)) &&
		    blockmap_find_orig(&m.map, spoil_insn(&m, function, insn)))
			return m;
		spoil_expect(&m, NULL);
	}
	fail_msg("%s has no image", function);
	return (struct spoil){ 0 };
}

static void what_is_fetched_is_told_by_data(void **state)
{
	struct spoil m = with_image("fetches", FETCH);

	(void)state;
	spoil_expect(&m, NULL);
}

static void what_is_calculated_may_be_anywhere(void **state)
{
	struct spoil m = with_image("fetches", FETCH);

	(void)state;
	spoil_change(&m, spoil_insn(&m, "fetches", FETCH), OPCODE, MOV, ADD);
	spoil_expect(&m, "inside an entry jump");
}

static void expect_moved(const char *flags, const char *function, const char *why)
{
	untrue_expect((struct untrue){ .source = "cutlabels", .flags = flags,
				       .moved = function }, why);
}

static const char fixed[] = "-static -no-pie -Wa,--defsym,FIXED=1 "
			    "-Wl,--eh-frame-hdr,-e,fetches";

static void what_is_fetched_may_have_been_calculated(void **state)
{
	(void)state;
	expect_moved("-shared", "fetches_kept", "inside an entry jump");
	expect_moved(fixed, "fetches_kept", "inside an entry jump");
}

static void a_word_holds_labels_as_well(void **state)
{
	(void)state;
	expect_moved("-shared", "word_has_label", "inside an entry jump");
	expect_moved("-shared", "word_leads_between", "inside an entry jump");
	expect_moved(fixed, "word_has_label", "inside an entry jump");
	untrue_expect((struct untrue){ .source = "cutlabels", .flags = "-shared" }, NULL);
	untrue_expect((struct untrue){ .source = "cutlabels", .flags = fixed }, NULL);
}

static void but_where_the_frame_is_another(void **state)
{
	struct spoil m = with_image("calculates_with_a_frame", 1);

	(void)state;
	spoil_expect(&m, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_fetched_is_told_by_data),
		cmocka_unit_test(what_is_calculated_may_be_anywhere),
		cmocka_unit_test(what_is_fetched_may_have_been_calculated),
		cmocka_unit_test(a_word_holds_labels_as_well),
		cmocka_unit_test(but_where_the_frame_is_another),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("labels under entry jumps", tests, NULL, NULL);
}
