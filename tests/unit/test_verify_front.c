/* test_verify_front.c - what gave way to the program header table is all there, and nothing else gave way
 *
 * A generation of tests/asm/front.s, in which the notes move up and the rest goes away, is damaged one byte
 * at a time: in every byte, for a check that passes some of them over is right about all others.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"

static struct spoil made;
static uint64_t table, new_table;	/* where they end */
static uint64_t end;			/* of the front: what is behind it is compared as it stands */

static uint64_t table_end(const struct image *img)
{
	return img->eh.e_phoff + img->nph * sizeof(Elf64_Phdr);
}

static int setup(void **state)
{
	(void)state;
	made = spoil_make("front", 1);
	table = table_end(&made.orig);
	new_table = table_end(&made.gen);
	end = image_phdr(&made.gen, PT_LOAD)->p_filesz;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	blockmap_free(&made.map);
	wr_free(&made.original);
	wr_free(&made.generation);
	arena_free(made.a);
	return 0;
}

static struct spoil copy(void)
{
	struct spoil m = { .a = arena_new(), .orig = made.orig, .gen = made.gen };

	wr_raw(&m.original, made.original.p, made.original.n);
	wr_raw(&m.generation, made.generation.p, made.generation.n);
	return m;
}

static void damaged(uint64_t at, const char *why)
{
	struct spoil m = copy();

	m.generation.p[at] ^= 1;
	spoil_expect(&m, why);
}

/* Refused because of that byte. */
static void expect_byte(struct spoil *m, uint64_t at, const char *what)
{
	char why[80];

	snprintf(why, sizeof(why), "byte at file offset 0x%llx %s", (unsigned long long)at, what);
	spoil_expect(m, why);
}

static bool is_in_section(const struct image *img, uint64_t off)
{
	for (const struct section *s = img->sh; s < img->sh + img->nsh; s++)
		if ((s->h.sh_flags & SHF_ALLOC) && off - s->h.sh_offset < s->h.sh_size)
			return true;
	return false;
}

/* Without room wherever a check may begin or end too early or too late, nothing is tested. */
static void a_generation_with_room_between_sections_is_accepted(void **state)
{
	const struct image *o = &made.orig, *g = &made.gen;
	const Elf64_Shdr *old = &image_section(o, ".note.wider")->h;
	const Elf64_Shdr *new = &image_section(g, ".note.wider")->h;
	struct spoil m = copy();

	(void)state;
	assert_true(table < old->sh_offset && new_table < new->sh_offset);
	assert_false(is_in_section(o, old->sh_offset + old->sh_size));
	assert_false(is_in_section(g, new->sh_offset + new->sh_size));
	assert_true(is_in_section(g, end - 1));
	assert_false(is_in_section(o, end - 1));
	spoil_expect(&m, NULL);
}

static void room_between_what_moved_is_zero(void **state)
{
	(void)state;
	for (uint64_t at = new_table; at < end; at++) {
		if (is_in_section(&made.gen, at))
			continue;
		struct spoil m = copy();

		m.generation.p[at] = 1;
		expect_byte(&m, at, "is in nothing that moved");
	}
}

static void room_that_was_overwritten_was_zero(void **state)
{
	(void)state;
	for (uint64_t at = table; at < end; at++) {
		if (is_in_section(&made.orig, at))
			continue;
		struct spoil m = copy();

		m.original.p[at] = 1;
		expect_byte(&m, at, "was overwritten");
	}
}

static bool has_moved(uint32_t i)
{
	return made.orig.sh[i].h.sh_addr != made.gen.sh[i].h.sh_addr;
}

static void a_section_that_was_overwritten_has_moved(void **state)
{
	uint32_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < made.orig.nsh; i++) {
		uint64_t at = made.orig.sh[i].h.sh_offset;
		Elf64_Shdr h = made.gen.sh[i].h;

		if (!has_moved(i))
			continue;
		struct spoil m = copy();

		h.sh_addr = made.orig.sh[i].h.sh_addr;
		h.sh_offset = at;
		memcpy(m.generation.p + made.gen.eh.e_shoff + i * sizeof(h), &h, sizeof(h));
		while (!made.original.p[at])
			at++;
		expect_byte(&m, at, "was overwritten");
		n++;
	}
	assert_true(n >= 5);
}

/* Where it is missed first: of a note, by its program header; of a symbol, by what its address leads to. */
static const char *missed(const Elf64_Shdr *h)
{
	return h->sh_type == SHT_NOTE ? "program header" : h->sh_type == SHT_DYNSYM ? "" : "has moved from";
}

static void what_moved_has_all_its_bytes(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < made.orig.nsh; i++) {
		const Elf64_Shdr *h = &made.gen.sh[i].h;

		for (uint64_t at = 0; has_moved(i) && at < h->sh_size; at++)
			damaged(h->sh_offset + at, missed(h));
	}
}

static void lengthen_strings(const struct image *img, struct wr *file)
{
	const Elf64_Phdr *p = image_phdr(img, PT_DYNAMIC);

	for (uint64_t at = p->p_offset; at < p->p_offset + p->p_filesz; at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn d;

		memcpy(&d, file->p + at, sizeof(d));
		if (d.d_tag == DT_STRSZ)
			d.d_un.d_val++;
		memcpy(file->p + at, &d, sizeof(d));
	}
}

/* With -z nocombreloc, DT_RELA leads to the first of several sections; here it is the strings. */
static void what_goes_on_behind_its_section_stays(void **state)
{
	const struct edit_options options = { .all = true };
	struct spoil m = spoil_make("beside", 1);
	struct edit_stats stats = { 0 };
	struct wr generation = { 0 }, map = { 0 };
	struct err err;

	(void)state;
	lengthen_strings(&m.orig, &m.original);
	lengthen_strings(&m.gen, &m.generation);
	assert_int_equal(edit_optimize(wr_bytes(&m.original), NULL, &options, m.a, &generation, &map, &stats,
				       &err), -1);
	assert_non_null(strstr(err.text, "no room"));
	spoil_expect(&m, "leads to more than section");
	wr_free(&generation);
	wr_free(&map);
}

static void what_is_behind_the_front_is_as_it_was(void **state)
{
	(void)state;
	damaged(end, "was changed from 00 to 01");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_generation_with_room_between_sections_is_accepted),
		cmocka_unit_test(room_between_what_moved_is_zero),
		cmocka_unit_test(room_that_was_overwritten_was_zero),
		cmocka_unit_test(a_section_that_was_overwritten_has_moved),
		cmocka_unit_test(what_moved_has_all_its_bytes),
		cmocka_unit_test(what_goes_on_behind_its_section_stays),
		cmocka_unit_test(what_is_behind_the_front_is_as_it_was),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
