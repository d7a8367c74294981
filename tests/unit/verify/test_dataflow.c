/* test_dataflow.c - what comes from the address of a new jump table goes to its jump only
 *
 * Generations of tests/asm/filler.s; its functions stores_* use two tables one after the other.
 * In tests/asm/chosen.s control leaves by a stub, in nullstore.s it faults.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"
#include "tests/unit/verify/untrue.h"
#include "verify/parts.h"

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

/* The entry for a case that cannot occur leads into the instruction of another function, in
 * both tables. */
static void an_entry_may_lead_to_no_instruction(void **state)
{
	enum { ENTRY = 1, SIZE = sizeof(int32_t) };
	struct spoil m = make();
	vaddr table = spoil_address(&m, "T2_stores_behind") + ENTRY * SIZE, old = 0;
	new_vaddr now = 0;

	(void)state;
	for (uint32_t i = 0; i < m.map.ntable; i++)
		if (m.map.table[i].orig_addr == table - ENTRY * SIZE) {
			old = m.map.table[i].orig_addr;
			now = m.map.table[i].new_addr;
		}
	assert_true(now > 0);
	int32_t cold;
	vaddr like = spoil_address(&m, "T2_stores_behind_cold");
	memcpy(&cold, spoil_original(&m, like + ENTRY * SIZE), SIZE);
	vaddr inside = like + (vaddr)(int64_t)cold + 1;
	int32_t from_old = (int32_t)(inside - old), from_now = (int32_t)(inside - now);
	memcpy(spoil_original(&m, table), &from_old, SIZE);
	memcpy(spoil_generation(&m, table), &from_old, SIZE);
	memcpy(spoil_generation(&m, now + ENTRY * SIZE), &from_now, SIZE);
	spoil_expect(&m, NULL);
}

/* Lines of the map, each of 8 bytes in both texts.  Control runs on from one to the next in
 * both, but where the case says otherwise. */
static const struct stretch_case {
	const char *what;
	bool falls;
	uint32_t orig_gap, gen_gap, entry;
	bool same, endbr;	/* the second begins with endbr64 */
} stretch_cases[] = {
	{ "run on", true, 0, 0, 100, true, false },
	{ "the first has a branch", false, 0, 0, 100, false, false },
	{ "apart in the original", true, 1, 0, 100, false, false },
	{ "apart in the generation", true, 0, 1, 100, false, false },
	{ "an entry at the second", true, 0, 0, 8, false, false },
	{ "an entry behind its endbr64", true, 0, 0, 12, false, true },
	{ "an entry four bytes behind it", true, 0, 0, 12, true, false },
	{ "an entry in the first", true, 0, 0, 0, true, false },
};

/* Only between these, both form a table's new address, or both the original's: elsewhere one
 * may be left for the other text. */
static void images_are_of_one_stretch_where_both_texts_run_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(stretch_cases) / sizeof(stretch_cases[0]); i++) {
		const struct stretch_case *c = &stretch_cases[i];
		struct blockmap_block b[2] = {
			{ .orig = 0, .orig_size = 8, .gen = 64, .gen_size = 8 },
			{ .orig = 8 + c->orig_gap, .orig_size = 8, .gen = 72 + c->gen_gap,
			  .gen_size = 8 },
		};
		uint8_t code[32] = { [8] = c->endbr ? 0xf3 : 0x90, 0x0f, 0x1e, 0xfa };
		const Elf64_Phdr segment = {
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x1000,
			.p_filesz = sizeof(code), .p_memsz = sizeof(code),
		};
		uint32_t entry = c->entry;
		bool falls[2] = { c->falls, true };
		struct verify v = { .a = arena_new() };

		v.orig.file = v.orig.text = (struct bytes){ code, sizeof(code) };
		v.orig.text_at = 0x1000;
		v.orig.code = &segment;
		v.map.orig_base = 0x1000;
		v.map.block = b;
		v.map.nblock = 2;
		v.map.entry = &entry;
		v.map.nentry = 1;
		v.uses.falls = falls;
		assert_int_equal(verify_dataflow(&v), 0);
		assert_int_equal(v.flow.stretch[0], 0);
		if ((v.flow.stretch[1] == 0) != c->same)
			fail_msg("%s: the second begins with %u", c->what,
				 v.flow.stretch[1]);
		arena_free(v.a);
	}
}

/* A stub that jumps through a slot with R_X86_64_IRELATIVE is the start of a function, whatever
 * its row of the unwind table says. */
static void a_stub_of_a_chosen_function_ends_the_flow(void **state)
{
	static const char way[] = "-static -no-pie";
	static const char passed[] = "-static -no-pie -Wa,--defsym,PASSED=1";
	static const char own[] = "-static -no-pie -Wa,--defsym,OWN=1";

	(void)state;
	untrue_expect((struct untrue){ .source = "chosen", .flags = way }, NULL);
	untrue_expect((struct untrue){ .source = "chosen", .flags = own },
		      "may go anywhere while a register");
	untrue_expect((struct untrue){ .source = "chosen", .flags = passed },
		      "uses what comes from the address");
}

/* The store of what the jump left in %rax; the original stores another register. */
static void expect_null_store(const char *flags, const char *why)
{
	enum { STORE = 7, MODRM = 2, RSI = 0x34, RAX = 0x04 };
	struct spoil m = spoil_make_as("nullstore", flags, 1);

	assert_int_equal(m.map.ntable, 1);
	spoil_change(&m, spoil_insn(&m, "switching", STORE), MODRM, RSI, RAX);
	spoil_expect(&m, why);
}

static void a_store_by_a_null_pointer_stores_nothing(void **state)
{
	static const char why[] = "uses what comes from the address";

	(void)state;
	expect_null_store("-shared", NULL);
	expect_null_store("-shared -Wa,--defsym,PLACE=0xff8", NULL);
	expect_null_store("-shared -Wa,--defsym,PLACE=0xff9", why);
	expect_null_store("-shared -Wa,--defsym,PLACE=-8", why);
	expect_null_store("-shared -Wa,--defsym,RUNS_ON=1", why);
}

/* The table's length would not be asked for there. */
static void nobody_jumps_by_what_a_call_may_have_kept(void **state)
{
	(void)state;
	untrue_expect((struct untrue){ .source = "keeps", .flags = "-shared" },
		      "uses what comes from the address");
	untrue_expect((struct untrue){ .source = "keeps",
				       .flags = "-shared -Wa,--defsym,FORGETS=1" }, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_that_may_go_anywhere_takes_no_address_along),
		cmocka_unit_test(only_the_sum_is_jumped_to),
		cmocka_unit_test(a_new_table_has_all_entries),
		cmocka_unit_test(an_entry_may_lead_to_no_instruction),
		cmocka_unit_test(a_stub_of_a_chosen_function_ends_the_flow),
		cmocka_unit_test(nobody_jumps_by_what_a_call_may_have_kept),
		cmocka_unit_test(a_store_by_a_null_pointer_stores_nothing),
		cmocka_unit_test(images_are_of_one_stretch_where_both_texts_run_on),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
