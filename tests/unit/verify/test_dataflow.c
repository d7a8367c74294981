/* test_dataflow.c - what comes from the address of a new jump table goes to its jump only
 *
 * Generations of tests/asm/filler.s; its functions stores_* use two tables one after the other.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"

enum { SEEDS = 16, FIRST_TABLE = 1, FIRST_JUMP = 7, SECOND_TABLE = 10, SECOND_JUMP = 14 };

static bool has_image(const struct spoil *m, unsigned insn)
{
	return blockmap_find_orig(&m->map, spoil_insn(m, "stores_behind", insn)) != NULL;
}

/* A generation in which both tables are new ones. */
static struct spoil make(void)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct spoil m = spoil_make("filler", seed);

		if (has_image(&m, FIRST_TABLE) && has_image(&m, FIRST_JUMP) &&
		    has_image(&m, SECOND_TABLE) && has_image(&m, SECOND_JUMP))
			return m;
		spoil_expect(&m, NULL);
	}
	fail_msg("no such generation");
	return (struct spoil){ 0 };
}

/* By another register than the target's, while %r12 has the address of the first table. */
static void a_jump_that_may_go_anywhere_takes_no_address_along(void **state)
{
	struct spoil m = make();

	(void)state;
	spoil_change(&m, spoil_insn(&m, "stores_behind", SECOND_JUMP), 1, 0xe0, 0xe7);
	spoil_expect(&m, "may go anywhere while a register");
}

/* By the address itself, not the sum. */
static void only_the_sum_is_jumped_to(void **state)
{
	struct spoil m = make();

	(void)state;
	spoil_change(&m, spoil_insn(&m, "stores_behind", SECOND_JUMP), 1, 0xe0, 0xe1);
	spoil_expect(&m, "uses what comes from the address");
}

/* The map says that the new table ends in front of an entry that the comparison admits. */
static void a_new_table_has_all_entries(void **state)
{
	struct spoil m = make();
	const struct section *at = image_section(&m.gen, ".morph.map");
	vaddr table = spoil_address(&m, "T1_stores_behind");
	struct wr map = { 0 };
	unsigned cut = 0;

	(void)state;
	for (uint32_t i = 0; i < m.map.ntable; i++)
		if (m.map.table[i].orig_addr == table) {
			m.map.table[i].nentry--;
			cut++;
		}
	assert_int_equal(cut, 1);
	blockmap_write(&m.map, &map);
	assert_int_equal(map.n, at->h.sh_size);
	memcpy(m.generation.p + at->h.sh_offset, map.p, map.n);
	wr_free(&map);
	spoil_expect(&m, "of which 3 have new ones");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_that_may_go_anywhere_takes_no_address_along),
		cmocka_unit_test(only_the_sum_is_jumped_to),
		cmocka_unit_test(a_new_table_has_all_entries),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
