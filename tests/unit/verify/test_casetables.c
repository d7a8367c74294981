/* test_casetables.c - tables with entries that lead out of the function (tests/asm/filler.s)
 *
 * Entries behind such a one are followed like those in front of it, whether the table is
 * replaced or not.
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

static const char *const forms[] = { "forms_behind", "forms_behind_cold" };
static const char *const stores[] = { "stores_behind", "stores_behind_cold" };

static void the_table_may_stay(void **state)
{
	uint32_t stayed[2] = { 0 }, moved[2] = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct spoil m = spoil_make("filler", seed);

		for (unsigned i = 0; i < 2; i++)
			if (has_image(&m, forms[i], FIRST_TABLE))
				(has_image(&m, forms[i], SECOND_TABLE) ? moved : stayed)[i]++;
		spoil_expect(&m, NULL);
	}
	for (unsigned i = 0; i < 2; i++)
		assert_true(moved[i] > 0 && stayed[i] > 0);
}

/* The register with the address of a new table goes to memory, whether the table with that
 * entry, by which control gets there, is a new one or stays. */
static void misuse_behind_it_is_seen(void **state)
{
	bool seen[2][2] = { { false } };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		unsigned i = seed % 2;
		struct spoil m = spoil_make("filler", seed);
		bool spoiled = has_image(&m, stores[i], FIRST_TABLE) &&
			       has_image(&m, stores[i], STORE);

		if (spoiled) {
			seen[i][has_image(&m, stores[i], SECOND_TABLE)] = true;
			spoil_change(&m, spoil_insn(&m, stores[i], STORE), 2, 0x2a, 0x22);
		}
		spoil_expect(&m, spoiled ? "uses what comes from the address" : NULL);
	}
	for (unsigned i = 0; i < 2; i++)
		assert_true(seen[i][0] && seen[i][1]);
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

/* By a load and by a jump through memory. */
static void tables_of_addresses_are_replaced(void **state)
{
	unsigned replaced = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct spoil m = spoil_make_as("absolute", "-static -no-pie", seed);

		for (uint32_t i = 0; i < m.map.ntable; i++)
			replaced += m.map.table[i].kind == BLOCKMAP_TABLE_ABS64;
		spoil_expect(&m, NULL);
	}
	assert_true(replaced > 0);
}

static const struct blockmap_table *table_at(const struct spoil *m, const char *name)
{
	vaddr at = spoil_address(m, name);

	/* but the last one, whose end is the section's */
	for (uint32_t i = 0; i + 1 < m->map.ntable; i++)
		if (m->map.table[i].orig_addr == at)
			return &m->map.table[i];
	return NULL;
}

/* What they lead to asks for the fourth entry of another table, which is cut. */
static void entries_behind_what_seems_the_end_count(void **state)
{
	enum { FIRST = 5, DISPATCHES = 11, ASKS = 12 };	/* instructions */
	unsigned cut = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct spoil m = spoil_make_as("absolute", "-static -no-pie", seed);
		const struct blockmap_table *inner = table_at(&m, "T_inner");
		bool asks = inner && has_image(&m, "seems_cut", FIRST) &&
			    has_image(&m, "seems_cut", DISPATCHES) &&
			    has_image(&m, "seems_cut", ASKS);

		if (asks)
			spoil_cut(&m, inner, 2);
		cut += asks;
		spoil_expect(&m, asks ? "uses no more than 2 entries" : NULL);
	}
	assert_true(cut > 0);
}

/* The first entry of the table behind it is none of it: it would lead there. */
static void another_table_ends_it(void **state)
{
	enum { BEHIND = 8 };
	struct spoil m = spoil_make("filler", 1);
	vaddr table = spoil_address(&m, "T_left"), entry = spoil_address(&m, "side_by_side");
	int32_t next;

	(void)state;
	memcpy(&next, spoil_original(&m, table + BEHIND), sizeof(next));
	assert_int_equal(table + (vaddr)(int64_t)next, entry + 2);
	assert_true(has_image(&m, "side_by_side", 0));
	spoil_expect(&m, NULL);
}

/* The register at a call becomes an argument (r9). */
static void a_callee_does_not_get_the_address(void **state)
{
	enum { FORMS = 3, MODRM = 2, R11 = 0x1d, R9 = 0x0d };
	struct spoil m = spoil_make("passed", 1);
	vaddr lea = spoil_insn(&m, "passes", FORMS);

	(void)state;
	assert_int_equal(m.map.ntable, 1);
	spoil_expect(&m, NULL);
	m = spoil_make("passed", 1);
	spoil_change(&m, lea, MODRM, R11, R9);
	spoil_expect(&m, "uses what comes from the address");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_may_stay),
		cmocka_unit_test(misuse_behind_it_is_seen),
		cmocka_unit_test(another_table_ends_it),
		cmocka_unit_test(tables_of_addresses_are_replaced),
		cmocka_unit_test(entries_behind_what_seems_the_end_count),
		cmocka_unit_test(a_callee_does_not_get_the_address),
		cmocka_unit_test(an_entry_behind_it_leads_inside_an_entry_jump),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("entries that lead out", tests, NULL, NULL);
}
