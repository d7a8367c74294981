/* test_elfout.c - the file of a generation, read again
 *
 * The original is made here: four pages of text and data, and in the first of them notes, a
 * hash table that .dynamic leads to, and unwind data.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "editor/emit/elfout.h"
#include "lib/arena.h"
#include "lib/err.h"

enum { TEXT = 0x1000, FRONT = 0x40, NOTE_AT = 0x240, INTERP_AT = NOTE_AT + 0x20, HASH_AT =
       0x270, HASH_SIZE = 0x90, HDR_AT = 0x300, NAMES_AT = 0x400, SECTIONS_AT = 0x500, DATA =
       0x2000, DYNAMIC_AT = 0x2100, SIZE = 0x3000, NSH = 8, NEW = 2 * sizeof(Elf64_Phdr) };

struct made {
	struct arena *a;
	struct wr file, out;
	struct prog prog;
	struct image gen;
	struct elfout eo;
	struct elfout_parts parts;
	struct err err;
};

enum { EXECUTABLE = 1, STATIC = 2, NO_EH = 4, FIXED = 8, BIG_PAGES = 16,
       WRITABLE = 32 };

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

static void put_sections(uint8_t *file, vaddr base, unsigned how)
{
	static const char names[] = "\0.note.id\0.interp\0.gnu.hash\0.text\0.eh_frame_hdr\0"
				    ".eh_frame\0.shstrtab";
	Elf64_Shdr sh[NSH] = {
		[1] = { .sh_name = 1,
			.sh_type = SHT_NOTE, .sh_flags = SHF_ALLOC, .sh_addralign = 8,
			.sh_addr = base + NOTE_AT, .sh_offset = NOTE_AT,
			.sh_size = 0x20 },
		[2] = { .sh_name = 10,
			.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
			.sh_addr = base + INTERP_AT, .sh_offset = INTERP_AT,
			.sh_size = 8 },
		[3] = { .sh_name = 18,
			.sh_type = how & STATIC ? SHT_RELA : SHT_GNU_HASH,
			.sh_flags = SHF_ALLOC, .sh_addr = base + HASH_AT, .sh_offset = HASH_AT,
			.sh_size = HASH_SIZE,
			.sh_addralign = 8 },
		[4] = { .sh_name = 28,
			.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = base + TEXT, .sh_offset = TEXT,
			.sh_size = 0x800 },
		[5] = { .sh_name = 34,
			.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
			.sh_addr = base + HDR_AT, .sh_offset = HDR_AT,
			.sh_size = 12 },
		[6] = { .sh_name = 48,
			.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
			.sh_addr = base + HDR_AT + 16, .sh_offset = HDR_AT + 16,
			.sh_size = 4 },
		[7] = { .sh_name = 58,
			.sh_type = SHT_STRTAB, .sh_offset = NAMES_AT,
			.sh_size = sizeof(names) },
	};

	memcpy(file + NAMES_AT, names, sizeof(names));
	memcpy(file + SECTIONS_AT, sh, sizeof(sh));
}

static uint16_t put_phdrs(Elf64_Phdr *ph, vaddr base, unsigned how)
{
	uint64_t align = how & BIG_PAGES ? 0x200000 : 0x1000;
	uint16_t n = 0;

	if (how & EXECUTABLE) {
		ph[n++] = phdr(PT_PHDR, PF_R, 64, base + 64, 0);
		ph[n++] = phdr(PT_INTERP, PF_R, INTERP_AT, base + INTERP_AT, 8);
	}
	ph[n] = phdr(PT_LOAD, PF_R | PF_X | (how & WRITABLE ? PF_W : 0), 0, base, 0x2000);
	ph[n++].p_align = align;
	ph[n] = phdr(PT_LOAD, PF_R | PF_W, DATA, base + DATA, 0x1000);
	ph[n++].p_memsz = 0x2345;
	ph[n++] = phdr(PT_NOTE, PF_R, NOTE_AT, base + NOTE_AT, 0x20);
	ph[n++] = phdr(PT_GNU_STACK, PF_R | PF_W, 0, 0, 0);
	if (!(how & STATIC))
		ph[n++] = phdr(PT_DYNAMIC, PF_R | PF_W, DYNAMIC_AT, base + DYNAMIC_AT, 0x100);
	if (!(how & NO_EH))
		ph[n++] = phdr(PT_GNU_EH_FRAME, PF_R, HDR_AT, base + HDR_AT, 12);
	if (how & EXECUTABLE)
		ph[0].p_filesz = ph[0].p_memsz = n * sizeof(*ph);
	return n;
}

/* The table ends right in front of the note. */
static void make_original(struct made *m, unsigned how)
{
	vaddr base = how & FIXED ? 0x400000 : 0;
	Elf64_Phdr ph[9];
	uint16_t n = put_phdrs(ph, base, how);
	Elf64_Dyn dynamic[] = { { DT_STRSZ, { base + HASH_AT } },
				{ DT_GNU_HASH, { base + HASH_AT } },
				{ DT_NULL, { 0 } },
				{ DT_GNU_HASH, { base + HASH_AT } } };
	Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = how & FIXED ? ET_EXEC : ET_DYN, .e_machine = EM_X86_64,
		.e_version = EV_CURRENT, .e_phoff = FRONT, .e_ehsize = 64,
		.e_phentsize = sizeof(*ph), .e_phnum = n, .e_shentsize = sizeof(Elf64_Shdr),
		.e_shoff = SECTIONS_AT, .e_shnum = NSH, .e_shstrndx = NSH - 1,
	};
	uint8_t *file = wr_reserve(&m->file, SIZE);

	memset(file + TEXT, 0x90, 0x1000);
	memset(file + DATA, 0x55, 0x1000);
	memset(file + NOTE_AT, 'n', 0x20);
	memset(file + INTERP_AT, 'i', 8);
	memset(file + HASH_AT, 'h', HASH_SIZE);
	put_sections(file, base, how);
	memcpy(file, &eh, sizeof(eh));
	memcpy(file + FRONT, ph, n * sizeof(*ph));
	if (!(how & STATIC))
		memcpy(file + DYNAMIC_AT, dynamic, sizeof(dynamic));
	m->prog.seen_in_front = UINT64_MAX;
	if (image_parse(wr_bytes(&m->file), m->a, &m->prog.img, &m->err) < 0)
		fail_msg("%s", m->err.text);
}

#define BYTES(s) ((struct bytes){ (const uint8_t *)(s), sizeof(s) - 1 })

static void headers_without_end_are_refused(void **state)
{
	struct made *m = *state;
	uint32_t *count[] = { &m->prog.img.nph, &m->prog.img.nsh };

	make_original(m, 0);
	for (int i = 0; i < 2; i++) {
		uint32_t was = *count[i];

		*count[i] = UINT32_MAX;
		assert_int_equal(elfout_plan(&m->prog, &m->eo, &m->err), -1);
		assert_string_equal(m->err.text, "too many program or section headers");
		*count[i] = was;
	}
}

static void make_generation(struct made *m, unsigned how)
{
	static struct elfout_patch patch;

	make_original(m, how);
	if (elfout_plan(&m->prog, &m->eo, &m->err) < 0)
		fail_msg("%s", m->err.text);
	m->parts = (struct elfout_parts){
		.text = BYTES("hot text, then fluff"), .hot_size = 9, .tables = BYTES("tables"),
		.hdr = BYTES("header of unwind"), .frame = BYTES("unwind data"),
		.map = BYTES("map"), .patch = &patch, .npatch = 1,
	};
	patch = (struct elfout_patch){ .off = TEXT + 0x10, .size = 5,
				       .byte = { 0xe9, 1, 2, 3, 4 } };
	elfout_place(&m->eo, m->parts.text.n, m->parts.tables.n, m->parts.hdr.n, &m->parts);
	if (elfout_write(&m->eo, &m->parts, &m->out, &m->err) < 0 ||
	    image_parse(wr_bytes(&m->out), m->a, &m->gen, &m->err) < 0)
		fail_msg("%s", m->err.text);
}

static void assert_holds(const struct made *m, const char *name, new_vaddr addr,
			 struct bytes what)
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
	assert_int_equal(nload, m->eo.lift ? 5 : 4);
	assert_int_equal(m->gen.eh.e_phoff, FRONT);
	assert_int_equal(m->gen.nph, m->eo.nph);
	assert_non_null(image_phdr(&m->gen, PT_GNU_STACK));
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
	assert_int_equal(m->gen.eh.e_entry, m->prog.img.eh.e_entry);
}

/* Bytes [from, SIZE) of the original but the patch. */
static void assert_original_intact(const struct made *m, uint64_t from)
{
	const uint8_t *out = m->out.p + m->eo.lift;

	assert_memory_equal(out + TEXT + 0x10, "\xe9\1\2\3\4", 5);
	for (uint64_t i = from; i < SIZE; i++)
		if (i < TEXT + 0x10 || i >= TEXT + 0x15)
			assert_int_equal(out[i], m->file.p[i]);
}

static uint64_t dynamic_value(const struct made *m, int index)
{
	Elf64_Dyn d;

	memcpy(&d, m->out.p + DYNAMIC_AT + (size_t)index * sizeof(d), sizeof(d));
	return d.d_un.d_val;
}

static void notes_move_up_and_a_hash_table_away(void **state)
{
	struct made *m = *state;

	make_generation(m, EXECUTABLE);
	assert_int_equal(m->eo.layout, 'F');
	assert_sound(m);
	const Elf64_Shdr *note = &m->gen.sh[1].h, *interp = &m->gen.sh[2].h,
			 *hash = &m->gen.sh[3].h;

	assert_int_equal(note->sh_offset, NOTE_AT + NEW);
	assert_int_equal(note->sh_addr, NOTE_AT + NEW);
	assert_memory_equal(m->out.p + NOTE_AT + NEW, m->file.p + NOTE_AT, 0x28);
	assert_int_equal(image_phdr(&m->gen, PT_NOTE)->p_vaddr, note->sh_addr);
	assert_int_equal(image_phdr(&m->gen, PT_NOTE)->p_offset, note->sh_offset);
	assert_int_equal(image_phdr(&m->gen, PT_INTERP)->p_vaddr, interp->sh_addr);
	assert_int_equal(image_phdr(&m->gen, PT_INTERP)->p_offset, interp->sh_offset);
	assert_int_equal(image_phdr(&m->gen, PT_PHDR)->p_filesz,
			 m->gen.nph * sizeof(Elf64_Phdr));
	assert_true(hash->sh_addr >= m->eo.text_addr);
	assert_memory_equal(image_at(&m->gen, hash->sh_addr, HASH_SIZE).p, m->file.p + HASH_AT,
			    HASH_SIZE);
	assert_int_equal(dynamic_value(m, 0), HASH_AT);		/* a size: a number by chance */
	assert_int_equal(dynamic_value(m, 1), hash->sh_addr);
	assert_int_equal(dynamic_value(m, 3), HASH_AT);		/* behind DT_NULL */
	memcpy(m->out.p + DYNAMIC_AT, m->file.p + DYNAMIC_AT, 0x100);
	assert_original_intact(m, INTERP_AT + 8 + NEW);
}

static void a_library_likewise(void **state)
{
	struct made *m = *state;

	make_generation(m, 0);
	assert_int_equal(m->eo.layout, 'F');
	assert_sound(m);
	assert_int_equal(m->gen.nph, m->prog.img.nph + 2);
	assert_true(m->out.n < SIZE + 6 * 0x1000);
}

static void assert_refused(struct made *m)
{
	assert_int_equal(elfout_plan(&m->prog, &m->eo, &m->err), -1);
	assert_int_equal(m->err.kind, ERR_REFUSED);
}

static void what_code_refers_to_does_not_move(void **state)
{
	struct made *m = *state;

	make_original(m, 0);
	m->prog.seen_in_front = NOTE_AT + 4;
	assert_refused(m);
	m->prog.seen_in_front = INTERP_AT + 8 + NEW;	/* the first byte that stays */
	assert_int_equal(elfout_plan(&m->prog, &m->eo, &m->err), 0);
}

static void bytes_of_no_section_are_not_overwritten(void **state)
{
	struct made *m = *state;

	make_original(m, 0);
	m->file.p[NOTE_AT - 4] = 1;
	assert_refused(m);
	m->file.p[NOTE_AT - 4] = 0;
	m->file.p[INTERP_AT + 8] = 1;
	assert_refused(m);
}

/* What the loader finds by an entry that does not move with it stays; behind the front is none
 * of that. */
static void what_other_dynamic_entries_name_does_not_move(void **state)
{
	struct made *m = *state;

	for (int fixed = 0; fixed < 2; fixed++) {
		vaddr base = fixed ? 0x400000 : 0;
		Elf64_Dyn other = { DT_SYMINFO, { base + HASH_AT } };

		wr_free(&m->file);
		make_original(m, fixed ? EXECUTABLE | FIXED : 0);
		uint8_t *last = m->file.p + DYNAMIC_AT + 2 * sizeof(other);
		memset(last + sizeof(other), 0, sizeof(other));
		memcpy(last, &other, sizeof(other));
		if (!fixed)
			assert_refused(m);
		else			/* all is moved out of the way, below */
			assert_int_equal(elfout_plan(&m->prog, &m->eo, &m->err), 0);
		assert_int_not_equal(m->eo.layout, 'F');
		other.d_un.d_val = base + TEXT;
		memcpy(last, &other, sizeof(other));
		assert_int_equal(elfout_plan(&m->prog, &m->eo, &m->err), 0);
		assert_int_equal(m->eo.layout, 'F');
	}
}

/* Three that have no bytes there, whatever their headers say of the place. */
static void sections_that_are_not_loaded_are_in_nobodys_way(void **state)
{
	struct made *m = *state;

	make_original(m, 0);
	memset(m->file.p + INTERP_AT, 0, 8);
	m->prog.img.sh[2].name = ".other";
	assert_refused(m);
	for (int i = 0; i < 3; i++) {
		Elf64_Shdr *h = &m->prog.img.sh[2].h, was = *h;

		h->sh_type = i == 1 ? SHT_NOBITS : SHT_PROGBITS;
		h->sh_flags = i == 0 ? 0 : SHF_ALLOC;
		h->sh_size = i == 2 ? 0 : 8;
		if (elfout_plan(&m->prog, &m->eo, &m->err) < 0)
			fail_msg("%d: %s", i, m->err.text);
		assert_int_equal(m->eo.layout, 'F');
		*h = was;
	}
}

/* What a program writes to may not mean later what the file says. */
static void nothing_moves_within_a_writable_segment(void **state)
{
	struct made *m = *state;

	make_original(m, WRITABLE);
	assert_refused(m);
}

static void a_library_with_nothing_to_move_is_refused(void **state)
{
	struct made *m = *state;

	make_original(m, STATIC);
	assert_refused(m);
}

static void a_static_program_gets_a_segment_below(void **state)
{
	struct made *m = *state;

	make_generation(m, STATIC | FIXED);
	assert_int_equal(m->eo.layout, 'L');
	assert_sound(m);
	const Elf64_Phdr *low = image_phdr(&m->gen, PT_LOAD);

	assert_int_equal(low->p_vaddr, 0x400000 - 0x1000);
	assert_int_equal(low->p_offset, 0);
	assert_int_equal(low->p_flags, PF_R);
	const Elf64_Phdr *note = image_phdr(&m->gen, PT_NOTE);	/* in the first page again */

	assert_int_equal(note->p_vaddr - low->p_vaddr, note->p_offset);
	assert_true(note->p_offset >= FRONT + m->gen.nph * sizeof(Elf64_Phdr));
	assert_true(note->p_offset + note->p_filesz <= low->p_filesz);
	assert_memory_equal(m->out.p + note->p_offset, m->file.p + NOTE_AT, 0x20);
	assert_int_equal(m->gen.sh[1].h.sh_offset, note->p_offset);
	assert_int_equal(image_phdr(&m->gen, PT_GNU_STACK)->p_offset, 0);
	assert_int_equal(m->gen.sh[4].h.sh_offset, TEXT + 0x1000);
	assert_original_intact(m, 0);
}

static void the_segment_below_keeps_large_pages_in_step(void **state)
{
	struct made *m = *state;

	make_generation(m, STATIC | FIXED | BIG_PAGES);
	assert_sound(m);
	assert_int_equal(image_phdr(&m->gen, PT_LOAD)->p_vaddr, 0x200000);
	assert_int_equal(m->eo.lift, 0x200000);
	assert_original_intact(m, 0);
}

static void a_program_that_registers_frames_gets_a_search_table(void **state)
{
	struct made *m = *state;

	make_generation(m, STATIC | FIXED | NO_EH);
	assert_sound(m);
	assert_int_equal(m->gen.nph, m->prog.img.nph + 4);
}

static void old_sections_keep_index_and_lose_name(void **state)
{
	struct made *m = *state;

	make_generation(m, 0);
	assert_string_equal(m->gen.sh[4].name, ".text");
	assert_string_equal(m->gen.sh[5].name, ".morph.old_eh_frame_hdr");
	assert_string_equal(m->gen.sh[6].name, ".morph.old_eh_frame");
	assert_string_equal(m->gen.sh[7].name, ".shstrtab");
	assert_int_equal(m->gen.eh.e_shstrndx, 7);
	assert_string_equal(m->gen.sh[11].name, ".eh_frame_hdr");
	assert_string_equal(m->gen.sh[12].name, ".eh_frame");
}

static void names_in_no_string_table_are_malformed(void **state)
{
	struct made *m = *state;
	struct elfout eo;

	make_original(m, 0);
	m->prog.img.sh[7].h.sh_type = SHT_SYMTAB;
	assert_int_equal(elfout_plan(&m->prog, &eo, &m->err), -1);
	assert_int_equal(m->err.kind, ERR_INPUT);
	assert_string_equal(m->err.text, "the names of sections are in no string table");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(headers_without_end_are_refused),
		T(notes_move_up_and_a_hash_table_away),
		T(a_library_likewise),
		T(what_code_refers_to_does_not_move),
		T(bytes_of_no_section_are_not_overwritten),
		T(what_other_dynamic_entries_name_does_not_move),
		T(sections_that_are_not_loaded_are_in_nobodys_way),
		T(nothing_moves_within_a_writable_segment),
		T(a_library_with_nothing_to_move_is_refused),
		T(a_static_program_gets_a_segment_below),
		T(the_segment_below_keeps_large_pages_in_step),
		T(a_program_that_registers_frames_gets_a_search_table),
		T(old_sections_keep_index_and_lose_name),
		T(names_in_no_string_table_are_malformed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
