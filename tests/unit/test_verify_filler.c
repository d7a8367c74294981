/* test_verify_filler.c - tables with entries that lead out of the function (tests/asm/filler.s)
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

static const char *const forms[] = { "forms_behind", "forms_behind_cold", "forms_behind_part" };
static const char *const stores[] = { "stores_behind", "stores_behind_cold" };

static void the_table_may_stay(void **state)
{
	uint32_t stayed[3] = { 0 }, moved[3] = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct spoil m = spoil_make("filler", seed);

		for (unsigned i = 0; i < 3; i++)
			if (has_image(&m, forms[i], FIRST_TABLE))
				(has_image(&m, forms[i], SECOND_TABLE) ? moved : stayed)[i]++;
		spoil_expect(&m, NULL);
	}
	for (unsigned i = 0; i < 3; i++)
		assert_true(moved[i] > 0 && stayed[i] > 0);
}

/* The register with the address of a new table goes to memory, whether the table with that entry, by
 * which control gets there, is a new one or stays. */
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

/* The map says that the new table, which was made whole, ends after that many entries. */
static void shorten(struct spoil *m, const char *name, uint32_t nentry)
{
	const struct section *map = image_section(&m->gen, ".morph.map");
	vaddr addr = spoil_address(m, name);
	uint8_t record[20];
	struct wr w = { 0 };

	for (uint32_t i = 0; i < m->map.ntable; i++) {
		const struct blockmap_table *t = &m->map.table[i];

		if (t->orig_addr != addr)
			continue;
		wr_u64(&w, t->orig_addr);
		wr_u64(&w, t->new_addr);
		wr_u32(&w, t->nentry);
	}
	assert_int_equal(w.n, sizeof(record));
	memcpy(record, w.p, sizeof(record));
	wr_free(&w);
	uint8_t *at = memmem(m->generation.p + map->h.sh_offset, map->h.sh_size, record,
			     sizeof(record));
	assert_non_null(at);
	memcpy(at + 16, &nentry, sizeof(nentry));
}

static void a_new_table_must_not_end_there(void **state)
{
	static const char *const table[] = { "T2_forms_behind", "T2_forms_behind_part" };

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t n = 1; n < 4; n++) {
			struct spoil m = spoil_make("filler", 1);

			shorten(&m, table[i], n);
			spoil_expect(&m, "goes on behind its");
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_may_stay),
		cmocka_unit_test(misuse_behind_it_is_seen),
		cmocka_unit_test(a_new_table_must_not_end_there),
		cmocka_unit_test(an_entry_behind_it_leads_inside_an_entry_jump),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("entries that lead out", tests, NULL, NULL);
}
