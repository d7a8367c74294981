/* test_verify_filler.c - tables with entries for cases that cannot be (tests/asm/filler.s)
 *
 * Entries behind such a one are followed like those in front of it, whether the table is replaced or not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"

enum { SEEDS = 64, FIRST_TABLE = 1, SECOND_TABLE = 10, STORE = 15 };	/* instructions */

static bool has_image(const struct spoil *m, const char *function, unsigned insn)
{
	return blockmap_find_orig(&m->map, spoil_insn(m, function, insn)) != NULL;
}

static void the_table_may_stay(void **state)
{
	uint32_t stayed = 0, moved = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct spoil m = spoil_make("filler", seed);

		if (has_image(&m, "forms_behind", FIRST_TABLE))
			*(has_image(&m, "forms_behind", SECOND_TABLE) ? &moved : &stayed) += 1;
		spoil_expect(&m, NULL);
	}
	assert_true(moved > 0 && stayed > 0);
}

/* The register with the address of a new table goes to memory, whether the table with the filler, by
 * which control gets there, is a new one or stays. */
static void misuse_behind_it_is_seen(void **state)
{
	bool seen[2] = { false, false };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct spoil m = spoil_make("filler", seed);
		bool spoiled = has_image(&m, "stores_behind", FIRST_TABLE) &&
			       has_image(&m, "stores_behind", STORE);

		if (spoiled) {
			seen[has_image(&m, "stores_behind", SECOND_TABLE)] = true;
			spoil_change(&m, spoil_insn(&m, "stores_behind", STORE), 2, 0x2a, 0x22);
		}
		spoil_expect(&m, spoiled ? "uses what comes from the address" : NULL);
	}
	assert_true(seen[0] && seen[1]);
}

/* Nobody jumps through that one: an entry jump is made where its third entry is to lead. */
static void an_entry_behind_it_leads_inside_an_entry_jump(void **state)
{
	struct spoil m = spoil_make("filler", 1);
	vaddr table = spoil_address(&m, "T_inside"), entry = spoil_address(&m, "leads_inside");
	int32_t inside = (int32_t)(entry + 2 - table);

	(void)state;
	memcpy(spoil_original(&m, table) + 2 * sizeof(inside), &inside, sizeof(inside));
	memcpy(spoil_generation(&m, table) + 2 * sizeof(inside), &inside, sizeof(inside));
	spoil_expect(&m, "inside an entry jump");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_may_stay),
		cmocka_unit_test(misuse_behind_it_is_seen),
		cmocka_unit_test(an_entry_behind_it_leads_inside_an_entry_jump),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("cases that cannot be", tests, NULL, NULL);
}
