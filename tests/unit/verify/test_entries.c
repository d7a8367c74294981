/* test_entries.c - no instruction leads inside an entry jump, however it is hidden
 *
 * Generations of tests/asm/swallowed.s; a jump in it is led there by hand.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"

enum { JUMP = 5 };

/* The jump at `name` leads so many bytes behind the entry of the function that was moved. */
static struct spoil leads(const char *name, unsigned room, int32_t behind)
{
	char flags[64];

	(void)snprintf(flags, sizeof(flags), "-shared -Wa,--defsym,ROOM=%u", room);
	struct spoil m = spoil_make_as("swallowed", flags, 1);
	vaddr jump = spoil_address(&m, name), entry = spoil_address(&m, "moved");
	int32_t distance = (int32_t)(entry - (jump + JUMP)) + behind;

	assert_non_null(blockmap_find_orig(&m.map, entry));
	assert_null(blockmap_find_orig(&m.map, jump));
	assert_int_equal(*spoil_original(&m, jump), 0xe9);
	memcpy(spoil_original(&m, jump) + 1, &distance, sizeof(distance));
	memcpy(spoil_generation(&m, jump) + 1, &distance, sizeof(distance));
	return m;
}

static void may_lead_anywhere_but_inside(const char *name, unsigned room)
{
	struct spoil m = leads(name, room, 0);

	spoil_expect(&m, NULL);
	for (int32_t behind = 1; behind < JUMP; behind++) {
		m = leads(name, room, behind);
		spoil_expect(&m, "inside an entry jump");
	}
	m = leads(name, room, JUMP);
	spoil_expect(&m, NULL);
}

static void a_jump_leads_to_no_part_of_one(void **state)
{
	(void)state;
	may_lead_anywhere_but_inside("plain", 0);
	may_lead_anywhere_but_inside("outside", 0);
}

/* It is found by a jump behind it, which is hidden as well. */
static void hidden_code_that_leads_back_is_found(void **state)
{
	(void)state;
	for (unsigned room = 0; room < 8; room++)
		may_lead_anywhere_but_inside("first", room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_leads_to_no_part_of_one),
		cmocka_unit_test(hidden_code_that_leads_back_is_found),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
