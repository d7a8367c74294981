/* test_front.c - what gave way to the program header table is all there, and nothing
 * else gave way
 *
 * A generation of tests/asm/front.s, in which the notes move up and the rest goes away, is
 * damaged one byte at a time: in every byte, for a check that passes some of them over is right
 * about all others.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"
#include "verify/parts.h"

static struct spoil made;
static uint64_t table, new_table;	/* where they end */
/* of the front: what is behind it is compared as it stands */
static uint64_t end;

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

static struct spoil copy_of(const struct spoil *from)
{
	struct spoil m = { .a = arena_new(), .orig = from->orig, .gen = from->gen };

	wr_raw(&m.original, from->original.p, from->original.n);
	wr_raw(&m.generation, from->generation.p, from->generation.n);
	return m;
}

static struct spoil copy(void)
{
	return copy_of(&made);
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

	snprintf(why, sizeof(why), "byte at file offset 0x%llx %s", (unsigned long long)at,
		 what);
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
		h.sh_size = made.orig.sh[i].h.sh_size;
		memcpy(m.generation.p + made.gen.eh.e_shoff + i * sizeof(h), &h, sizeof(h));
		while (!made.original.p[at])
			at++;
		expect_byte(&m, at, "was overwritten");
		n++;
	}
	assert_true(n >= 5);
}

/* Where it is missed first: of a note, by its program header, or as the build-id; of a symbol,
 * by what its address leads to; of a table that has grown, where it grew. */
static const char *missed(const Elf64_Shdr *o, const Elf64_Shdr *h, uint64_t at)
{
	struct buildid id = buildid_find(&made.gen);

	if (id.id.n && h->sh_offset + at - (uint64_t)(id.id.p - made.gen.file.p) < id.id.n)
		return "build-id";
	if (h->sh_type == SHT_NOTE)
		return "program header";
	if (h->sh_type == SHT_GNU_HASH || h->sh_type == SHT_HASH)
		return o->sh_size == h->sh_size ? "has moved from" : "hash table";
	if (at >= o->sh_size)
		return "added dynamic symbol";
	return h->sh_type == SHT_DYNSYM ? "" : "has moved from";
}

static void what_moved_has_all_its_bytes(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < made.orig.nsh; i++) {
		const Elf64_Shdr *h = &made.gen.sh[i].h;

		for (uint64_t at = 0; has_moved(i) && at < h->sh_size; at++)
			damaged(h->sh_offset + at, missed(&made.orig.sh[i].h, h, at));
	}
}

static void lengthen_relocations(const struct image *img, struct wr *file)
{
	const Elf64_Phdr *p = image_phdr(img, PT_DYNAMIC);

	for (uint64_t at = p->p_offset; at < p->p_offset + p->p_filesz;
	     at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn d;

		memcpy(&d, file->p + at, sizeof(d));
		if (d.d_tag == DT_RELASZ)
			d.d_un.d_val++;
		memcpy(file->p + at, &d, sizeof(d));
	}
}

/* With -z nocombreloc, DT_RELA leads to the first of several sections. */
static void what_goes_on_behind_its_section_stays(void **state)
{
	const struct edit_options options = { .all = true };
	struct spoil m = spoil_make_as("beside",
				       "-shared -Wl,--build-id=none -Wl,-z,noseparate-code", 1);
	struct edit_stats stats = { 0 };
	struct wr generation = { 0 }, map = { 0 };
	struct err err;

	(void)state;
	lengthen_relocations(&m.orig, &m.original);
	lengthen_relocations(&m.gen, &m.generation);
	assert_int_equal(edit_optimize(wr_bytes(&m.original), NULL, &options, m.a, &generation,
				       &map, &stats, &err),
			 -1);
	assert_non_null(strstr(err.text, "no room"));
	spoil_expect(&m, "leads to more than section");
	wr_free(&generation);
	wr_free(&map);
}

/* Zeros, too, are read by somebody. */
static void a_section_of_zeros_has_moved(void **state)
{
	static const char name[] = ".note.wider";
	uint32_t i = (uint32_t)(image_section(&made.orig, name) - made.orig.sh);
	Elf64_Shdr o = made.orig.sh[i].h, g = made.gen.sh[i].h;
	struct spoil m = copy();

	(void)state;
	memset(m.original.p + o.sh_offset, 0, o.sh_size);
	memset(m.generation.p + g.sh_offset, 0, g.sh_size);
	o.sh_name = g.sh_name;
	memcpy(m.generation.p + made.gen.eh.e_shoff + i * sizeof(o), &o, sizeof(o));
	spoil_expect(&m, "and has not moved");
}

static void make_first_writable(const struct image *img, struct wr *file)
{
	const Elf64_Phdr *p = image_phdr(img, PT_LOAD);
	uint64_t at = img->eh.e_phoff + (uint64_t)(p - img->ph) * sizeof(*p);

	file->p[at + offsetof(Elf64_Phdr, p_flags)] |= PF_W;
}

/* Where zeros are that nobody can write to. */
static vaddr zeros_of(const struct image *img)
{
	const Elf64_Shdr *h = &image_section(img, ".morph.old_eh_frame")->h;
	vaddr at = h->sh_addr + h->sh_size - sizeof(uint32_t);
	struct bytes b = image_at(img, at, sizeof(uint32_t));

	assert_memory_equal(b.p, &(uint32_t){ 0 }, sizeof(uint32_t));
	return at;
}

static void set_section(const struct image *img, struct wr *file, const char *name,
			Elf64_Shdr h)
{
	uint64_t i = (uint64_t)(image_section(img, name) - img->sh);

	memcpy(file->p + img->eh.e_shoff + i * sizeof(h), &h, sizeof(h));
}

/* The last four bytes of .dynamic, which are zero, are said to be a note: one that can be
 * written to. */
static void what_can_be_written_to_stays(void **state)
{
	enum { SIZE = 4 };
	struct spoil m = copy();
	const Elf64_Phdr *dynamic = image_phdr(&m.orig, PT_DYNAMIC);
	vaddr at = dynamic->p_vaddr + dynamic->p_filesz - SIZE, zeros = zeros_of(&m.gen);
	uint64_t off = (uint64_t)(image_rest(&m.orig, at).p - m.orig.file.p);
	uint64_t zeros_off = (uint64_t)(image_rest(&m.gen, zeros).p - m.gen.file.p);
	Elf64_Shdr o = image_section(&m.orig, ".dynamic")->h,
		   g = image_section(&m.gen, ".dynamic")->h;
	Elf64_Phdr h = { .p_type = PT_NOTE,
			 .p_flags = PF_R, .p_offset = off, .p_vaddr = at, .p_paddr = at,
			 .p_filesz = SIZE, .p_memsz = SIZE,
			 .p_align = 1 };

	(void)state;
	o.sh_type = g.sh_type = SHT_NOTE;
	o.sh_flags = g.sh_flags = SHF_ALLOC;
	o.sh_size = g.sh_size = SIZE;
	o.sh_addralign = g.sh_addralign = 1;
	o.sh_addr = at;
	o.sh_offset = off;
	g.sh_addr = zeros;
	g.sh_offset = zeros_off;
	set_section(&m.orig, &m.original, ".dynamic", o);
	/* the old table is still there */
	set_section(&m.orig, &m.generation, ".dynamic", o);
	set_section(&m.gen, &m.generation, ".dynamic", g);
	spoil_expect(&m, "has moved from");
	m = copy();
	memcpy(m.original.p + table - sizeof(h), &h, sizeof(h));
	h.p_vaddr = h.p_paddr = zeros;
	h.p_offset = zeros_off;
	memcpy(m.generation.p + new_table - sizeof(h), &h, sizeof(h));
	spoil_expect(&m, "program header");
	m = spoil_make_as("beside", "-shared -Wl,--build-id=none", 1);
	make_first_writable(&m.orig, &m.original);
	make_first_writable(&m.gen, &m.generation);
	spoil_expect(&m, "the first segment, where program headers grow, can be written to");
}

/* Where tables of dynamic symbols were in a program at a fixed address, a section keeps others
 * out: nothing else is in it. */
static void the_place_of_tables_that_moved_is_a_section(void **state)
{
	static const char name[] = ".morph.old_tables";
	struct spoil m = spoil_make_as("symbols",
				       "-no-pie -rdynamic -Wl,-e,0,--no-as-needed -lc", 1);
	const Elf64_Shdr is = image_section(&m.gen, name)->h,
			 next = image_section(&m.gen, ".dynstr")->h;
	Elf64_Shdr spoilt[] = { is, is, is };

	(void)state;
	assert_true(is.sh_size > 24 && is.sh_type == SHT_PROGBITS && is.sh_flags == SHF_ALLOC);
	assert_int_equal(is.sh_addr + is.sh_size, next.sh_addr);
	spoilt[0].sh_size++;		/* into the next one */
	spoilt[1].sh_addr--;		/* into the one before */
	spoilt[1].sh_offset--;
	spoilt[2].sh_flags |= SHF_WRITE;
	for (int i = 0; i < 3; i++) {
		struct spoil other = copy_of(&m);

		set_section(&m.gen, &other.generation, name, spoilt[i]);
		spoil_expect(&other, "is not what its name says");
	}
	spoil_expect(&m, NULL);
}

static void what_is_behind_the_front_is_as_it_was(void **state)
{
	(void)state;
	damaged(end, "was changed from 00 to 01");
}

/* Where the front ends, a relocation that leads to an image now is cut in two. */
static void the_rest_of_a_pointer_is_as_it_was(void **state)
{
	struct spoil m = spoil_make_with("beside", "-shared", (struct edit_options){
		.all = true, .shuffle = true, .seed = 9, .generation = 1 });
	const Elf64_Phdr *first = image_phdr(&m.gen, PT_LOAD);

	(void)state;
	for (uint64_t at = table_end(&m.gen); at < first->p_filesz; at++) {
		struct spoil other = copy_of(&m);

		other.generation.p[at] ^= 0x10;
		spoil_expect(&other, "");
	}
	spoil_expect(&m, NULL);
}

/* Of a section that has not moved. */
static void a_section_header_is_as_it_was(void **state)
{
	struct spoil m = copy();
	const struct section *text = image_section(&m.gen, ".text");
	uint8_t *header = m.generation.p + m.gen.eh.e_shoff +
			  (uint64_t)(text - m.gen.sh) * sizeof(Elf64_Shdr);

	(void)state;
	header[offsetof(Elf64_Shdr, sh_addralign)] ^= 0x30;
	spoil_expect(&m, "(.text at 0x");
}

/* Each value that is no address of a section that has moved. */
static void dynamic_entries_are_as_they_were(void **state)
{
	const Elf64_Phdr *p = image_phdr(&made.orig, PT_DYNAMIC);
	unsigned n = 0;

	(void)state;
	assert_non_null(p);
	for (uint64_t at = p->p_offset; at < p->p_offset + p->p_filesz;
	     at += sizeof(Elf64_Dyn)) {
		struct spoil m = copy();
		Elf64_Dyn d;

		memcpy(&d, m.generation.p + at, sizeof(d));
		m.generation.p[at + offsetof(Elf64_Dyn, d_un)] ^= 0x10;
		spoil_expect(&m, "dynamic entry 0");
		if (d.d_tag == DT_NULL)
			break;
		n++;
	}
	assert_true(n > 2);
}

/* A number may be the address of a section that moved, or of anything in a note of others. */
static void numbers_may_be_addresses_of_what_moved(void **state)
{
	struct verify v = { .orig = made.orig };
	unsigned begin = 0, inside = 0, others = 0;

	(void)state;
	for (uint32_t i = 0; i < made.orig.nsh; i++) {
		const Elf64_Shdr *h = &made.orig.sh[i].h;

		if (!has_moved(i))
			continue;
		v.front = (struct vfront){ .off = h->sh_addr, .hi = h->sh_size };
		assert_true(verify_may_be_in_front(&v, h->sh_addr));
		assert_false(verify_may_be_in_front(&v, h->sh_addr + h->sh_size));
		begin++;
		if (h->sh_type != SHT_NOTE) {
			assert_false(verify_may_be_in_front(&v, h->sh_addr + 1));
			inside++;
		} else {
			bool gnu = memcmp(made.original.p + h->sh_offset + 12, "GNU", 4) == 0;

			assert_int_equal(verify_may_be_in_front(&v, h->sh_addr + 1), !gnu);
			others += !gnu;
		}
	}
	assert_true(begin > inside && inside > 2 && others == 2);
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
		cmocka_unit_test(a_section_of_zeros_has_moved),
		cmocka_unit_test(what_can_be_written_to_stays),
		cmocka_unit_test(the_place_of_tables_that_moved_is_a_section),
		cmocka_unit_test(what_is_behind_the_front_is_as_it_was),
		cmocka_unit_test(the_rest_of_a_pointer_is_as_it_was),
		cmocka_unit_test(numbers_may_be_addresses_of_what_moved),
		cmocka_unit_test(a_section_header_is_as_it_was),
		cmocka_unit_test(dynamic_entries_are_as_they_were),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
