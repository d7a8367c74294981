/* test_shift.c - instructions whose images are longer: loads that read new jump tables
 * by addresses of the original, and what has prefixes in front that mean nothing
 *
 * Generations are made of tests/asm/beside.s, and what shows that a register has the address of
 * a table is spoiled, and of tests/asm/prefixes.s, and the prefixes are, or how the map tells
 * of them.
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
	/* %rcx, not %rbx */
	spoil_change(&m, spoil_insn(&m, "over_a_call", 2), 2, 0x1d, 0x0d);
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
	vaddr lea = spoil_insn(&m, "held", 7), load = spoil_insn(&m, "held", 10);
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
		uint8_t *p = spoil_generation(
				     &m, spoil_image(&m, spoil_insn(&m, load[i], i ? 8 : 5))) +
			     4;

		memcpy(&shift[i], p, sizeof(shift[i]));
		other = shift[i] + 4;
		memcpy(p, &other, sizeof(other));
		spoil_expect(&m, "than a new one is at");
	}
	struct spoil m = make();
	other = shift[1] +
		(int32_t)(spoil_address(&m, "T_over") - spoil_address(&m, "T_plain"));
	memcpy(spoil_generation(&m, spoil_image(&m, spoil_insn(&m, "plain", 5))) + 4, &other,
	       sizeof(other));
	spoil_expect(&m, "than a new one is at");
}

/* Where the image of an instruction with prefixes in front is, in a generation by that seed;
 * 0: nowhere. */
static new_vaddr find_front(const struct spoil *m, struct blockmap_block *line)
{
	for (uint32_t i = 0; i < m->map.nblock; i++) {
		*line = m->map.block[i];
		new_vaddr g = m->map.gen_base + line->gen;

		if (line->gen_size > line->orig_size &&
		    image_at(&m->gen, g, 1).p[0] == INSN_FRONT)
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
		struct spoil m = spoil_make("prefixes", seed);
		new_vaddr g = find_front(&m, &line);

		if (g) {
			uint32_t last = line.gen_size - line.orig_size - 1;

			*spoil_generation(&m, g + (i % 2 ? last : 0)) = other[i];
			i++;
		}
		spoil_expect(&m, g ? "the bytes differ" : NULL);
	}
}

/* lea becomes inc, which is not of those that the Verifier knows to have room for them. */
static void only_what_is_known_may_have_prefixes(void **state)
{
	static const uint8_t lea[] = { 0x48, 0x8d, 0x44 }, inc = 0xff;
	bool spoiled = false;

	(void)state;
	for (uint64_t seed = 1; !spoiled; seed++) {
		struct spoil m = spoil_make("prefixes", seed);
		struct blockmap_block line;
		new_vaddr g = find_front(&m, &line);
		vaddr at = m.map.orig_base + line.orig;

		if (g && memcmp(spoil_original(&m, at), lea, sizeof(lea)) == 0) {
			spoil_original(&m, at)[1] = spoil_generation(&m, at)[1] = inc;
			spoil_generation(&m, g + line.gen_size - line.orig_size)[1] = inc;
			spoiled = true;
		}
		spoil_expect(&m, spoiled ? "the bytes differ" : NULL);
	}
}

/* False, and nothing is written: it is of another size now. */
static bool write_map(struct spoil *m)
{
	const struct section *at = image_section(&m->gen, ".morph.map");
	struct wr map = { 0 };

	blockmap_write(&m->map, &map);
	bool fits = map.n == at->h.sh_size;
	if (fits)
		memcpy(m->generation.p + at->h.sh_offset, map.p, map.n);
	wr_free(&map);
	return fits;
}

static bool leads_on(const struct blockmap_block *b)
{
	return b->orig + b->orig_size == b[1].orig && b->gen + b->gen_size == b[1].gen;
}

/* The start of the line behind it becomes the end of a line. */
static void take(struct blockmap_block *b, uint32_t orig_bytes, uint32_t gen_bytes)
{
	b->orig_size += orig_bytes;
	b->gen_size += gen_bytes;
	b[1].orig += orig_bytes;
	b[1].orig_size -= orig_bytes;
	b[1].gen += gen_bytes;
	b[1].gen_size -= gen_bytes;
}

/* Bytes of the plain instructions that a line begins with; *first: of the first one. */
static uint32_t plain_bytes(const struct spoil *m, const struct blockmap_block *b,
			    uint32_t *first)
{
	vaddr start = m->map.orig_base + b->orig, at = start, target;
	struct insn insn;

	for (*first = 0; at < start + b->orig_size; at += insn.len) {
		if (!insn_decode(image_rest(&m->orig, at), at, &insn, &target) ||
		    insn.kind != INSN_PLAIN)
			break;
		if (at == start)
			*first = insn.len;
	}
	return (uint32_t)(at - start);
}

/* A line whose image has prefixes in front, between two that it goes along with, and the
 * length of the first of the instructions behind it.  NULL: there is none. */
static struct blockmap_block *find_front_between(const struct spoil *m, uint32_t *len)
{
	for (uint32_t i = 1; i + 1 < m->map.nblock; i++) {
		struct blockmap_block *b = &m->map.block[i];

		if (b->gen_size > b->orig_size && leads_on(b - 1) && leads_on(b) &&
		    image_at(&m->gen, m->map.gen_base + b->gen, 1).p[0] == INSN_FRONT &&
		    plain_bytes(m, b - 1, len) == b[-1].orig_size &&
		    plain_bytes(m, b + 1, len) > *len)
			return b;
	}
	return NULL;
}

/* The map has it in one line with the instruction behind it, or in front of it. */
static void what_has_prefixes_is_a_line_by_itself(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int tries = 0; tries < 2; seed++) {
		struct spoil m = spoil_make("prefixes", seed);
		uint32_t len;
		struct blockmap_block *front = find_front_between(&m, &len);

		if (!front) {
			spoil_expect(&m, NULL);
			continue;
		}
		if (tries)
			take(front - 1, front->orig_size, front->gen_size);
		take(front, len, len);
		bool written = write_map(&m);
		spoil_expect(&m, !written ? NULL : tries ? "its image is longer"
					  : "what is in front of it has a longer image");
		tries += written;
	}
}

/* The last instruction in front of the branch at the end of a line; false: it has none, or it
 * may have no prefixes. */
static bool find_fused(const struct spoil *m, const struct blockmap_block *b, uint32_t *off)
{
	vaddr start = m->map.orig_base + b->orig, at = start, target;
	struct insn insn, last = { 0 };

	for (; at < start + b->orig_size; at += insn.len) {
		if (!insn_decode(image_rest(&m->orig, at), at, &insn, &target))
			return false;
		if (insn.kind == INSN_JCC)
			break;
		last = insn;
		*off = (uint32_t)(at - start);
	}
	return insn.kind == INSN_JCC && last.kind == INSN_PLAIN &&
	       insn_front_room(&last, image_rest(&m->orig, start + *off).p) > 0;
}

/* A prefix is moved to the instruction that the branch at the end of the next line is behind,
 * and the line begins there: the map leads from the branch's image into its middle. */
static void what_has_prefixes_has_no_branch_behind_it_in_its_line(void **state)
{
	bool written = false;

	(void)state;
	for (uint64_t seed = 1; !written && seed < 200; seed++) {
		struct spoil m = spoil_make("fused", seed);

		for (uint32_t i = 0; i + 1 < m.map.nblock && !written; i++) {
			struct blockmap_block *b = &m.map.block[i], was[2] = { b[0], b[1] };
			uint32_t off = 0, n = b->gen_size - b->orig_size;
			uint8_t *p = spoil_generation(&m, m.map.gen_base + b->gen);

			if (*p != INSN_FRONT || b->gen_size <= b->orig_size || n > 3 ||
			    !leads_on(b) || !find_fused(&m, b + 1, &off))
				continue;
			take(b, off, off);
			b->gen_size -= n;
			b[1].gen -= n;
			b[1].gen_size += n;
			written = write_map(&m);
			if (!written) {
				memcpy(b, was, sizeof(was));
				continue;
			}
			memmove(p, p + n, b->gen_size);
			memset(p + b->gen_size, INSN_FRONT, n);
		}
		spoil_expect(&m, written ? "what is in front of it has a longer image" : NULL);
	}
	assert_true(written);
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
		cmocka_unit_test(only_what_is_known_may_have_prefixes),
		cmocka_unit_test(what_has_prefixes_is_a_line_by_itself),
		cmocka_unit_test(what_has_prefixes_has_no_branch_behind_it_in_its_line),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("shifted loads", tests, NULL, NULL);
}
