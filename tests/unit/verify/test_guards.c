/* test_guards.c - images that compare the index of a jump table first
 *
 * Generations are made of tests/asm/guards.s, and the comparison, the jump behind it, or what
 * makes them right is spoiled.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"

enum { COMPARE = 3, JUMP = 5, DISTANCE = 6 };	/* bytes of a guard that is 10 long */

static struct spoil make(void)
{
	return spoil_make("guards", 2);
}

/* The guard of instruction number n of the function. */
static uint8_t *guard(struct spoil *m, const char *function, unsigned n)
{
	uint8_t *p = spoil_generation(m, spoil_image(m, spoil_insn(m, function, n)));

	assert_int_equal(p[0] & 0xfe, 0x48);
	assert_true(p[1] == 0x83 || p[1] == 0x81);
	return p;
}

static const struct blockmap_table *table_of(struct spoil *m, const char *name)
{
	for (uint32_t i = 0; i < m->map.ntable; i++)
		if (m->map.table[i].orig_addr == spoil_address(m, name))
			return &m->map.table[i];
	return NULL;
}

static void guarded_tables_are_accepted(void **state)
{
	static const char *const beside[] = { "T_plain", "T_extended", "T_many", "T_byte",
					      "T_second", "T_kept", "T_other" };
	struct spoil m = make();

	(void)state;
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		const struct blockmap_table *t = table_of(&m, beside[i]);

		if (!t || t->kind != BLOCKMAP_TABLE_BESIDE32)
			fail_msg("%s", beside[i]);
	}
	assert_int_equal(table_of(&m, "T_first")->kind, BLOCKMAP_TABLE_REL32);
	assert_null(table_of(&m, "T_flags"));
	assert_null(table_of(&m, "T_scaled"));
	assert_int_equal(table_of(&m, "T_pushes")->kind, BLOCKMAP_TABLE_REL32);
	assert_null(table_of(&m, "T_pushed"));
	assert_null(table_of(&m, "T_words"));
	assert_int_equal(guard(&m, "extended", 1)[0], 0x49);
	assert_int_equal(guard(&m, "many", 1)[1], 0x81);
	spoil_expect(&m, NULL);
}

static void fewer_indexes_may_go_by_the_table(void **state)
{
	struct spoil m = make();

	(void)state;
	guard(&m, "plain", 1)[COMPARE] = 1;
	spoil_expect(&m, NULL);
}

static void no_more_than_it_has_entries(void **state)
{
	struct spoil m = make();

	(void)state;
	guard(&m, "plain", 1)[COMPARE] = 5;
	spoil_expect(&m, "reads up to 5 entries");
	m = make();
	guard(&m, "many", 1)[COMPARE]++;
	spoil_expect(&m, "reads up to 201 entries");
	m = make();
	spoil_cut(&m, table_of(&m, "T_plain"), 3);
	spoil_expect(&m, "reads up to 4 entries");
}

static void the_comparison_is_of_that_index(void **state)
{
	static const struct {
		const char *fn;
		uint8_t at, to;
	} other[] = {
		{ "plain", 2, 0xfe }, { "plain", 2, 0xf7 }, { "plain", 0, 0x49 },
		{ "plain", 0, 0x40 }, { "extended", 0, 0x48 }, { "extended", 2, 0xf8 },
		{ "plain", 1, 0x85 }, { "plain", COMPARE, 0 }, { "plain", COMPARE, 0x84 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		struct spoil m = make();

		guard(&m, other[i].fn, 1)[other[i].at] = other[i].to;
		spoil_expect(&m, "the bytes differ");
	}
}

static void what_is_not_below_leaves(void **state)
{
	static const uint8_t condition[] = { 0x82, 0x87, 0x8d, 0x84, 0x8f };

	(void)state;
	for (size_t i = 0; i < sizeof(condition); i++) {
		struct spoil m = make();

		guard(&m, "plain", 1)[JUMP] = condition[i];
		spoil_expect(&m, "the bytes differ");
	}
}

static void it_leaves_to_the_load(void **state)
{
	static const int8_t by[] = { 4, -7, 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(by); i++) {
		struct spoil m = make();
		uint8_t *p = guard(&m, "plain", 1) + DISTANCE;
		int32_t d;

		memcpy(&d, p, sizeof(d));
		d += by[i];
		memcpy(p, &d, sizeof(d));
		spoil_expect(&m, "the bytes differ");
	}
	/* to its image: there it would do so for ever */
	struct spoil m = make();
	memcpy(guard(&m, "plain", 1) + DISTANCE, (int32_t[]){ -10 }, sizeof(int32_t));
	spoil_expect(&m, "the bytes differ");
}

/* setb between the load and the addition, or a system call, which puts them in r11 */
static void the_flags_are_read(void **state)
{
	static const uint8_t reads[][2] = { { 0x92, 0xc1 }, { 0x05, 0x90 } };

	(void)state;
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		struct spoil m = make();
		vaddr at = spoil_insn(&m, "with_a_byte", 2);

		spoil_change(&m, at, 1, 0xb6, reads[i][0]);
		spoil_change(&m, at, 2, 0xc9, reads[i][1]);
		spoil_expect(&m, "the bytes differ");
	}
}

static void a_register_has_another_new_table(void **state)
{
	struct spoil m = make();
	vaddr at = spoil_insn(&m, "behind_another", 11);

	(void)state;
	spoil_change(&m, at, 2, 0xf2, 0xf1);
	spoil_expect(&m, "may go anywhere");
}

/* By some seeds one of the two stays where it is. */
static void what_is_on_the_stack_comes_of_another(void **state)
{
	enum { PUSH = 5, LOAD = 14 };
	struct spoil m;
	uint64_t seed = 1;

	(void)state;
	do
		m = spoil_make("guards", seed++);
	while (!blockmap_find_orig(&m.map, spoil_insn(&m, "pushes", PUSH)) ||
	       !blockmap_find_orig(&m.map, spoil_insn(&m, "pushes", LOAD)));
	assert_int_equal(guard(&m, "pushes", LOAD)[0], 0x48);
	spoil_change(&m, spoil_insn(&m, "pushes", PUSH), 0, 0x51, 0x50);
	spoil_expect(&m, "may go anywhere");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guarded_tables_are_accepted),
		cmocka_unit_test(fewer_indexes_may_go_by_the_table),
		cmocka_unit_test(no_more_than_it_has_entries),
		cmocka_unit_test(the_comparison_is_of_that_index),
		cmocka_unit_test(what_is_not_below_leaves),
		cmocka_unit_test(it_leaves_to_the_load),
		cmocka_unit_test(the_flags_are_read),
		cmocka_unit_test(a_register_has_another_new_table),
		cmocka_unit_test(what_is_on_the_stack_comes_of_another),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
