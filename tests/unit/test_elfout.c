/* test_elfout.c - the file of a generation, read again
 *
 * The original is made here: four pages of text and data, with the program headers that decide the
 * layout.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "editor/elfout.h"
#include "lib/arena.h"
#include "lib/err.h"

enum { TEXT = 0x1000, NOTE_AT = 0x200, HDR_AT = 0x300, NAMES_AT = 0x400, SECTIONS_AT = 0x500,
       DATA = 0x2000, SIZE = 0x3000, NSH = 5 };

struct made {
	struct arena *a;
	struct wr file, out;
	struct image img, gen;
	struct elfout eo;
	struct elfout_parts parts;
	struct err err;
};

enum { PROPERTY = 1, EXECUTABLE = 2, NO_EH = 4, NO_SECTIONS = 8, BIG_BSS = 16, FIXED = 32 };

static int setup(void **state)
{
	struct made *m = test_calloc(1, sizeof(*m));

	m->a = arena_new();
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	arena_free(m->a);
	wr_free(&m->file);
	wr_free(&m->out);
	test_free(m);
	return 0;
}

static Elf64_Phdr phdr(uint32_t type, uint32_t flags, uint64_t off, vaddr addr, uint64_t size)
{
	return (Elf64_Phdr){ .p_type = type, .p_flags = flags, .p_offset = off, .p_vaddr = addr,
			     .p_paddr = addr, .p_filesz = size, .p_memsz = size,
			     .p_align = type == PT_LOAD ? 0x1000 : 8 };
}

static void put_sections(uint8_t *file, vaddr base)
{
	static const char names[] = "\0.text\0.eh_frame_hdr\0.eh_frame\0.shstrtab";
	Elf64_Shdr sh[NSH] = {
		[1] = { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = base + TEXT, .sh_offset = TEXT, .sh_size = 0x800 },
		[2] = { .sh_name = 7, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
			.sh_addr = base + HDR_AT, .sh_offset = HDR_AT, .sh_size = 12 },
		[3] = { .sh_name = 21, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
			.sh_addr = base + HDR_AT + 16, .sh_offset = HDR_AT + 16, .sh_size = 4 },
		[4] = { .sh_name = 31, .sh_type = SHT_STRTAB, .sh_offset = NAMES_AT,
			.sh_size = sizeof(names) },
	};

	memcpy(file + NAMES_AT, names, sizeof(names));
	memcpy(file + SECTIONS_AT, sh, sizeof(sh));
}

static void make_original(struct made *m, unsigned how)
{
	vaddr base = how & FIXED ? 0x400000 : 0;
	Elf64_Phdr ph[9];
	uint16_t n = 0;

	if (how & EXECUTABLE) {
		ph[n++] = phdr(PT_PHDR, PF_R, 64, base + 64, 0);
		ph[n++] = phdr(PT_INTERP, PF_R, NOTE_AT + 0x80, base + NOTE_AT + 0x80, 8);
	}
	ph[n++] = phdr(PT_LOAD, PF_R | PF_X, 0, base, 0x2000);
	ph[n] = phdr(PT_LOAD, PF_R | PF_W, DATA, base + DATA, 0x1000);
	ph[n++].p_memsz = how & BIG_BSS ? 64 << 20 : 0x2345;
	ph[n++] = phdr(PT_NOTE, PF_R, NOTE_AT, base + NOTE_AT, 0x20);
	ph[n++] = phdr(PT_NOTE, PF_R, NOTE_AT + 0x20, base + NOTE_AT + 0x20, 0x24);
	if (how & PROPERTY)
		ph[n++] = phdr(PT_GNU_PROPERTY, PF_R, NOTE_AT, base + NOTE_AT, 0x20);
	if (!(how & NO_EH))
		ph[n++] = phdr(PT_GNU_EH_FRAME, PF_R, HDR_AT, base + HDR_AT, 12);
	if (how & EXECUTABLE)
		ph[0].p_filesz = ph[0].p_memsz = n * sizeof(*ph);

	Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = how & FIXED ? ET_EXEC : ET_DYN, .e_machine = EM_X86_64,
		.e_version = EV_CURRENT, .e_phoff = 64, .e_ehsize = 64, .e_phentsize = sizeof(*ph),
		.e_phnum = n, .e_shentsize = sizeof(Elf64_Shdr),
	};
	uint8_t *file = wr_reserve(&m->file, SIZE);

	memset(file + TEXT, 0x90, 0x1000);
	memset(file + DATA, 0x55, 0x1000);
	if (!(how & NO_SECTIONS)) {
		put_sections(file, base);
		eh.e_shoff = SECTIONS_AT;
		eh.e_shnum = NSH;
		eh.e_shstrndx = NSH - 1;
	}
	memcpy(file, &eh, sizeof(eh));
	memcpy(file + 64, ph, n * sizeof(*ph));
	if (image_parse(wr_bytes(&m->file), m->a, &m->img, &m->err) < 0)
		fail_msg("%s", m->err.text);
}

#define BYTES(s) ((struct bytes){ (const uint8_t *)(s), sizeof(s) - 1 })

static void make_generation(struct made *m, unsigned how)
{
	static struct elfout_patch patch;

	make_original(m, how);
	if (elfout_plan(&m->img, &m->eo, &m->err) < 0)
		fail_msg("%s", m->err.text);
	m->parts = (struct elfout_parts){
		.text = BYTES("hot text, then fluff"), .hot_size = 9, .tables = BYTES("tables"),
		.hdr = BYTES("header of unwind"), .frame = BYTES("unwind data"), .map = BYTES("map"),
		.patch = &patch, .npatch = 1,
	};
	patch = (struct elfout_patch){ .off = TEXT + 0x10, .size = 5,
				       .byte = { 0xe9, 1, 2, 3, 4 } };
	elfout_place(&m->eo, m->parts.text.n, m->parts.tables.n, m->parts.hdr.n, &m->parts);
	if (elfout_write(&m->eo, &m->parts, &m->out, &m->err) < 0 ||
	    image_parse(wr_bytes(&m->out), m->a, &m->gen, &m->err) < 0)
		fail_msg("%s", m->err.text);
}

static void assert_holds(const struct made *m, const char *name, new_vaddr addr, struct bytes what)
{
	const struct section *s = image_section(&m->gen, name);
	struct bytes b = image_at(&m->gen, addr, what.n);

	assert_non_null(s);
	assert_int_equal(s->h.sh_addr, addr);
	assert_int_equal(s->h.sh_size, what.n);
	assert_non_null(b.p);
	assert_memory_equal(b.p, what.p, what.n);
	assert_int_equal(b.p - m->gen.file.p, s->h.sh_offset);
}

/* What holds for every layout. */
static void assert_sound(const struct made *m)
{
	vaddr last = 0;
	uint32_t nload = 0;

	for (uint32_t i = 0; i < m->gen.nph; i++) {
		const Elf64_Phdr *ph = &m->gen.ph[i];

		if (ph->p_type != PT_LOAD)
			continue;
		assert_true(ph->p_vaddr >= last);
		last = ph->p_vaddr + ph->p_memsz;
		assert_int_equal(ph->p_offset % 0x1000, ph->p_vaddr % 0x1000);
		nload++;
	}
	assert_int_equal(nload, 4);
	assert_int_equal(image_phdr(&m->gen, PT_GNU_EH_FRAME)->p_vaddr, m->parts.hdr_addr);
	assert_holds(m, ".morph.text", m->eo.text_addr, BYTES("hot text,"));
	assert_holds(m, ".morph.fluff", m->eo.text_addr + 9, BYTES(" then fluff"));
	assert_holds(m, ".morph.rodata", m->parts.tables_addr, m->parts.tables);
	assert_holds(m, ".eh_frame_hdr", m->parts.hdr_addr, m->parts.hdr);
	assert_holds(m, ".eh_frame", m->parts.frame_addr, m->parts.frame);
	assert_true(image_is_exec(&m->gen, m->eo.text_addr));
	assert_false(image_is_writable(&m->gen, m->eo.text_addr));
	assert_false(image_is_exec(&m->gen, m->parts.tables_addr));
	const struct section *map = image_section(&m->gen, ".morph.map");

	assert_int_equal(map->h.sh_flags, 0);
	assert_memory_equal(m->gen.file.p + map->h.sh_offset, "map", 3);
	assert_int_equal(m->gen.eh.e_entry, m->img.eh.e_entry);
}

/* All bytes of the original but the patch and those in [skip, skip + n). */
static void assert_original_intact(const struct made *m, uint64_t skip, uint64_t n)
{
	assert_memory_equal(m->out.p + TEXT + 0x10, "\xe9\1\2\3\4", 5);
	for (uint64_t i = sizeof(Elf64_Ehdr); i < SIZE; i++)
		if ((i < skip || i >= skip + n) && (i < TEXT + 0x10 || i >= TEXT + 0x15))
			assert_int_equal(m->out.p[i], m->file.p[i]);
}

static void a_property_note_makes_room(void **state)
{
	struct made *m = *state;

	make_generation(m, PROPERTY | EXECUTABLE);
	assert_int_equal(m->eo.layout, 'C');
	assert_sound(m);
	assert_int_equal(m->gen.nph, m->img.nph);
	assert_int_equal(m->gen.eh.e_phoff, 64);
	assert_null(image_phdr(&m->gen, PT_GNU_PROPERTY));
	assert_int_equal(image_phdr(&m->gen, PT_NOTE)->p_offset, NOTE_AT + 0x20);
	assert_original_intact(m, 64, m->img.nph * sizeof(Elf64_Phdr));
}

static void a_library_gets_its_table_moved(void **state)
{
	struct made *m = *state;

	make_generation(m, 0);
	assert_int_equal(m->eo.layout, 'A');
	assert_sound(m);
	assert_int_equal(m->gen.nph, m->img.nph + 2);
	const Elf64_Phdr *ro = &m->gen.ph[3];

	assert_int_equal(ro->p_flags, PF_R);
	assert_int_equal(m->gen.eh.e_phoff, ro->p_offset);
	assert_true(m->out.n < SIZE + 6 * 0x1000);
	assert_original_intact(m, 0, 0);
}

static void an_executable_keeps_offset_and_address_in_step(void **state)
{
	struct made *m = *state;

	make_generation(m, EXECUTABLE | FIXED);
	assert_int_equal(m->eo.layout, 'B');
	assert_sound(m);
	const Elf64_Phdr *ph = image_phdr(&m->gen, PT_PHDR);

	assert_int_equal(ph->p_vaddr, 0x400000 + m->gen.eh.e_phoff);
	assert_int_equal(ph->p_offset, m->gen.eh.e_phoff);
	assert_int_equal(ph->p_filesz, m->gen.nph * sizeof(*ph));
	assert_int_equal(m->eo.text_off, m->eo.text_addr - 0x400000);
	assert_original_intact(m, 0, 0);
}

static void a_hole_for_a_large_bss_is_not_made(void **state)
{
	struct made *m = *state;

	make_generation(m, EXECUTABLE | BIG_BSS);
	assert_int_equal(m->eo.layout, 'A');
	assert_sound(m);
	assert_int_equal(image_phdr(&m->gen, PT_PHDR)->p_offset, m->gen.eh.e_phoff);
	assert_true(m->out.n < SIZE + 6 * 0x1000);
}

static void old_sections_keep_index_and_lose_name(void **state)
{
	struct made *m = *state;

	make_generation(m, PROPERTY);
	assert_string_equal(m->gen.sh[1].name, ".text");
	assert_string_equal(m->gen.sh[2].name, ".morph.old_eh_frame_hdr");
	assert_string_equal(m->gen.sh[3].name, ".morph.old_eh_frame");
	assert_string_equal(m->gen.sh[4].name, ".shstrtab");
	assert_int_equal(m->gen.eh.e_shstrndx, 4);
	assert_string_equal(m->gen.sh[8].name, ".eh_frame_hdr");
	assert_string_equal(m->gen.sh[9].name, ".eh_frame");
}

static void a_file_without_sections_gets_the_new_ones(void **state)
{
	struct made *m = *state;

	make_generation(m, PROPERTY | NO_SECTIONS);
	assert_sound(m);
	assert_int_equal(m->gen.sh[0].h.sh_type, SHT_NULL);
	assert_string_equal(m->gen.sh[m->gen.eh.e_shstrndx].name, ".shstrtab");
}

static void without_a_search_table_it_is_refused(void **state)
{
	struct made *m = *state;

	make_original(m, NO_EH);
	assert_int_equal(elfout_plan(&m->img, &m->eo, &m->err), -1);
	assert_int_equal(m->err.kind, ERR_REFUSED);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_property_note_makes_room),
		T(a_library_gets_its_table_moved),
		T(an_executable_keeps_offset_and_address_in_step),
		T(a_hole_for_a_large_bss_is_not_made),
		T(old_sections_keep_index_and_lose_name),
		T(a_file_without_sections_gets_the_new_ones),
		T(without_a_search_table_it_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
