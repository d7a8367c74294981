/* test_verify_shift.c - instructions whose images are longer: loads that read new jump tables by addresses
 * of the original, and what has prefixes in front that mean nothing
 *
 * A generation is made of tests/asm/beside.s, and what shows that a register has the table's address is
 * spoiled, or the prefixes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"

static struct spoil make(void)
{
	return spoil_make("beside", 2);
}

static const char UNCERTAIN[] = "not certain by which address";

static void tables_beside_are_accepted(void **state)
{
	struct spoil m = make();
	uint32_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < m.map.ntable; i++)
		n += m.map.table[i].kind == BLOCKMAP_TABLE_BESIDE32;
	assert_int_equal(n, 4);
	spoil_expect(&m, NULL);
}

static void another_register_has_the_address(void **state)
{
	struct spoil m = make();

	(void)state;
	spoil_change(&m, spoil_insn(&m, "plain", 3), 2, 0x15, 0x0d);	/* %rcx */
	spoil_expect(&m, UNCERTAIN);
}

/* With some seeds the branch is inverted. */
static void one_way_leads_around_the_address(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (;; seed++) {
		struct spoil m = spoil_make("beside", seed);
		vaddr from = spoil_insn(&m, "around", 6), to = spoil_insn(&m, "around", 11);
		new_vaddr image = spoil_image(&m, from);
		int32_t d = (int32_t)(spoil_image(&m, to) - (image + 6));
		uint8_t *p = spoil_generation(&m, image);

		spoil_original(&m, from)[1] = (uint8_t)(to - (from + 2));
		spoil_generation(&m, from)[1] = (uint8_t)(to - (from + 2));
		if (*p == 0x0f && p[1] == 0x84) {
			memcpy(p + 2, &d, sizeof(d));
			spoil_expect(&m, UNCERTAIN);
			return;
		}
		spoil_expect(&m, "");
	}
}

static void a_call_may_have_overwritten_the_address(void **state)
{
	struct spoil m = make();

	(void)state;
	spoil_change(&m, spoil_insn(&m, "over_a_call", 2), 2, 0x1d, 0x0d);	/* %rcx, not %rbx */
	spoil_change(&m, spoil_insn(&m, "over_a_call", 8), 3, 0x83, 0x81);
	spoil_change(&m, spoil_insn(&m, "over_a_call", 9), 2, 0xd8, 0xc8);
	spoil_expect(&m, UNCERTAIN);
}

static vaddr first_addend(const struct image *img)
{
	return image_section(img, ".rela.dyn")->h.sh_addr + offsetof(Elf64_Rela, r_addend);
}

static void a_pointer_leads_behind_the_address(void **state)
{
	struct spoil m = make();
	vaddr lea = spoil_insn(&m, "held", 6), load = spoil_insn(&m, "held", 9);
	uint8_t *original = spoil_original(&m, first_addend(&m.orig));
	uint8_t *generation = spoil_generation(&m, first_addend(&m.gen));
	new_vaddr image = spoil_image(&m, load);

	(void)state;
	assert_memory_equal(original, &lea, sizeof(lea));
	assert_memory_equal(generation, &lea, sizeof(lea));
	memcpy(original, &load, sizeof(load));
	memcpy(generation, &image, sizeof(image));
	spoil_expect(&m, UNCERTAIN);
}

/* The displacement of a load: to a word more, and to another function's table. */
static void displacements_lead_to_the_right_table(void **state)
{
	static const char *const load[] = { "plain", "over_a_call" };
	int32_t shift[2], other;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct spoil m = make();
		uint8_t *p = spoil_generation(&m, spoil_image(&m, spoil_insn(&m, load[i], i ? 8 : 5))) + 4;

		memcpy(&shift[i], p, sizeof(shift[i]));
		other = shift[i] + 4;
		memcpy(p, &other, sizeof(other));
		spoil_expect(&m, "than a new one is at");
	}
	struct spoil m = make();
	other = shift[1] + (int32_t)(spoil_address(&m, "T_over") - spoil_address(&m, "T_plain"));
	memcpy(spoil_generation(&m, spoil_image(&m, spoil_insn(&m, "plain", 5))) + 4, &other, sizeof(other));
	spoil_expect(&m, "than a new one is at");
}

/* Where the image of an instruction with prefixes in front is, in a generation by that seed; 0: nowhere. */
static new_vaddr find_front(const struct spoil *m, struct blockmap_block *line)
{
	for (uint32_t i = 0; i < m->map.nblock; i++) {
		*line = m->map.block[i];
		new_vaddr g = m->map.gen_base + line->gen;

		if (line->gen_size > line->orig_size && image_at(&m->gen, g, 1).p[0] == INSN_FRONT)
			return g;
	}
	return 0;
}

static void only_prefixes_without_a_meaning_are_accepted(void **state)
{
	static const uint8_t other[] = { 0x64, 0x3e, 0x66, 0xf0, 0xf3, 0x48, 0x90 };
	uint64_t seed = 1;
	struct blockmap_block line;

	(void)state;
	for (uint32_t i = 0; i < sizeof(other); seed++) {
		struct spoil m = spoil_make("beside", seed);
		new_vaddr g = find_front(&m, &line);

		if (g) {
			uint32_t last = line.gen_size - line.orig_size - 1;

			*spoil_generation(&m, g + (i % 2 ? last : 0)) = other[i];
			i++;
		}
		spoil_expect(&m, g ? "the bytes differ" : NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_beside_are_accepted),
		cmocka_unit_test(another_register_has_the_address),
		cmocka_unit_test(one_way_leads_around_the_address),
		cmocka_unit_test(a_call_may_have_overwritten_the_address),
		cmocka_unit_test(a_pointer_leads_behind_the_address),
		cmocka_unit_test(displacements_lead_to_the_right_table),
		cmocka_unit_test(only_prefixes_without_a_meaning_are_accepted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("shifted loads", tests, NULL, NULL);
}
