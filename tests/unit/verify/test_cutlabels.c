/* test_cutlabels.c - an entry jump over what a calculated jump may go to is refused
 *
 * Of tests/asm/cutlabels.s, where one instruction is changed in the original and the image.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"

enum { FETCH = 3, FETCH_FRAMED = 8, OPCODE = 1, MOV = 0x8b, ADD = 0x03, SEEDS = 32 };

static const char fixed[] = "-static -no-pie -Wl,--eh-frame-hdr,-e,fetches";

static struct spoil with_image(const char *flags, const char *function, unsigned insn)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct spoil m = spoil_make_as("cutlabels", flags, seed);

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
	struct spoil m = with_image(fixed, "fetches", FETCH);

	(void)state;
	spoil_expect(&m, NULL);
}

static void what_is_calculated_may_be_anywhere(void **state)
{
	struct spoil m = with_image(fixed, "fetches", FETCH);

	(void)state;
	spoil_change(&m, spoil_insn(&m, "fetches", FETCH), OPCODE, MOV, ADD);
	spoil_expect(&m, "inside an entry jump");
}

/* No other jump of the function shows that the one without a frame is a tail call. */
static void what_is_fetched_may_have_been_calculated(void **state)
{
	struct spoil m = with_image("-shared", "fetches_with_a_frame", FETCH_FRAMED);

	(void)state;
	spoil_expect(&m, NULL);
	m = with_image("-shared", "fetches_with_a_frame", FETCH_FRAMED);
	spoil_change(&m, spoil_insn(&m, "fetches_with_a_frame", FETCH_FRAMED), OPCODE, MOV,
		     ADD);
	spoil_expect(&m, "inside an entry jump");
}

static void but_where_the_frame_is_another(void **state)
{
	struct spoil m = with_image("-shared", "calculates_with_a_frame", 1);

	(void)state;
	spoil_expect(&m, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_fetched_is_told_by_data),
		cmocka_unit_test(what_is_calculated_may_be_anywhere),
		cmocka_unit_test(what_is_fetched_may_have_been_calculated),
		cmocka_unit_test(but_where_the_frame_is_another),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("labels under entry jumps", tests, NULL, NULL);
}
