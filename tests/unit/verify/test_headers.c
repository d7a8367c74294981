/* test_headers.c - new segments find room in memory, and what may differ is in one
 * place there
 *
 * Generations of which the bytes are right, and a program header, or two, is not; and originals
 * whose loader would do what nobody has seen.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"

enum { PAGE = 4096 };

/* Its new headers are in a segment 0x2000 below it. */
static struct spoil at_address(vaddr addr)
{
	char flags[200];

	snprintf(flags, sizeof(flags),
		 "-static -no-pie -Wl,--build-id=none -Wl,-z,max-page-size=0x2000 "
		 "-Wl,-Ttext-segment=%#llx -Wl,--section-start=.early=%#llx",
		 (unsigned long long)addr, (unsigned long long)addr + 0x180);
	return spoil_make_as("low", flags, 1);
}

/* That is the first page that ordinary users may have. */
static struct spoil at_fixed_address(void)
{
	return at_address(0x12000);
}

static uint64_t header_off(const struct image *img, uint32_t i)
{
	return img->eh.e_phoff + i * sizeof(Elf64_Phdr);
}

static void set_header(const struct image *img, struct wr *file, uint32_t i, Elf64_Phdr h)
{
	memcpy(file->p + header_off(img, i), &h, sizeof(h));
}

static uint32_t first_load(const struct image *img)
{
	return (uint32_t)(image_phdr(img, PT_LOAD) - img->ph);
}

static Elf64_Phdr last_load(const struct image *img)
{
	Elf64_Phdr last = { 0 };

	for (uint32_t i = 0; i < img->nph; i++)
		if (img->ph[i].p_type == PT_LOAD)
			last = img->ph[i];
	return last;
}

/* A page of the file, read-only, behind all others. */
static Elf64_Phdr page_behind(const struct image *img)
{
	Elf64_Phdr last = last_load(img);
	vaddr at = (last.p_vaddr + last.p_memsz + PAGE - 1) & ~(vaddr)(PAGE - 1);

	return (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = at, .p_paddr = at,
			     .p_filesz = PAGE, .p_memsz = PAGE, .p_align = PAGE };
}

/* The original has never had its last header: there the generation has `h`. */
static void with_another(struct spoil *m, Elf64_Phdr h)
{
	uint16_t n = (uint16_t)(m->orig.nph - 1);

	memcpy(m->original.p + offsetof(Elf64_Ehdr, e_phnum), &n, sizeof(n));
	memset(m->original.p + header_off(&m->orig, n), 0, sizeof(h));
	set_header(&m->gen, &m->generation, m->gen.nph - 1, h);
}

static void new_segments_are_near(void **state)
{
	struct spoil m = spoil_make("beside", 1);
	Elf64_Phdr h = page_behind(&m.gen);

	(void)state;
	with_another(&m, h);
	spoil_expect(&m, NULL);
	m = spoil_make("beside", 1);
	h.p_vaddr = h.p_paddr = h.p_vaddr + (1 << 30);
	with_another(&m, h);
	spoil_expect(&m, "may find no room");
}

static void new_segments_have_no_strange_alignment(void **state)
{
	struct spoil m = spoil_make("beside", 1);
	Elf64_Phdr h = page_behind(&m.gen);

	(void)state;
	h.p_vaddr = h.p_paddr = h.p_align = 2 << 20;
	with_another(&m, h);
	spoil_expect(&m, "may find no room");
	m = spoil_make("beside", 1);
	h.p_align = 3 * PAGE;
	with_another(&m, h);
	spoil_expect(&m, "cannot be mapped");
}

static void new_text_begins_with_a_page(void **state)
{
	struct spoil m = spoil_make("beside", 1);
	Elf64_Phdr h = page_behind(&m.gen);

	(void)state;
	h.p_flags = PF_R | PF_X;
	h.p_vaddr = h.p_paddr = h.p_vaddr + 16;
	h.p_offset = h.p_filesz = h.p_memsz = 16;
	with_another(&m, h);
	spoil_expect(&m, "does not begin with a page");
}

static void lower(uint8_t *field)
{
	uint64_t value;

	memcpy(&value, field, sizeof(value));
	value -= PAGE;
	memcpy(field, &value, sizeof(value));
}

/* What has these headers at that place of the file. */
static void lower_first(const struct image *img, uint8_t *file, uint32_t load)
{
	const struct section *s = image_section(img, ".early");
	uint8_t *h = file + header_off(img, load);

	lower(h + offsetof(Elf64_Phdr, p_vaddr));
	lower(h + offsetof(Elf64_Phdr, p_paddr));
	lower(file + img->eh.e_shoff + (uint64_t)(s - img->sh) * sizeof(s->h) +
	      offsetof(Elf64_Shdr, sh_addr));
}

/* The first segment is lower by a page, and then the one below it. */
static void new_segments_are_not_at_the_bottom(void **state)
{
	struct spoil m = at_fixed_address();
	uint32_t o = first_load(&m.orig), g = first_load(&m.gen);
	Elf64_Phdr low = m.gen.ph[g];

	(void)state;
	assert_int_equal(low.p_vaddr, 0x10000);
	lower_first(&m.orig, m.original.p, o);
	lower_first(&m.orig, m.generation.p + m.gen.ph[g + 1].p_offset, o);
	lower_first(&m.gen, m.generation.p, g + 1);
	low.p_align = PAGE;
	set_header(&m.gen, &m.generation, g, low);
	struct spoil bottom = { .a = arena_new(), .orig = m.orig, .gen = m.gen };
	wr_raw(&bottom.original, m.original.p, m.original.n);
	wr_raw(&bottom.generation, m.generation.p, m.generation.n);
	low.p_vaddr = low.p_paddr = low.p_vaddr - PAGE;
	set_header(&bottom.gen, &bottom.generation, g, low);
	spoil_expect(&bottom, "may find no room");
	spoil_expect(&m, NULL);		/* the other one has its images */
}

static void new_segments_are_right_below(void **state)
{
	struct spoil m = at_address(0x16000);
	uint32_t g = first_load(&m.gen);
	Elf64_Phdr low = m.gen.ph[g];

	(void)state;
	assert_int_equal(low.p_vaddr, 0x14000);
	low.p_vaddr = low.p_paddr = 0x12000;
	set_header(&m.gen, &m.generation, g, low);
	spoil_expect(&m, "may find no room");
}

/* Pages begin where they began. */
static void file_offsets_grow_by_pages(void **state)
{
	enum { MORE = 16 };
	struct spoil m = at_fixed_address();
	uint32_t g = first_load(&m.gen);
	uint64_t lift = m.gen.ph[g + 1].p_offset;
	uint8_t *old = m.generation.p + lift;

	(void)state;
	for (uint32_t i = g + 1; i < m.gen.nph; i++) {
		Elf64_Phdr h = m.gen.ph[i];

		if (h.p_filesz > 0 && h.p_offset < lift + m.original.n)
			h.p_offset += MORE;
		set_header(&m.gen, &m.generation, i, h);
	}
	for (uint32_t i = 1; i < m.orig.nsh; i++) {
		Elf64_Shdr h = m.gen.sh[i].h;

		if (h.sh_offset < lift + m.original.n)
			h.sh_offset += MORE;
		memcpy(m.generation.p + m.gen.eh.e_shoff + i * sizeof(h), &h, sizeof(h));
	}
	memmove(old + MORE, old, m.original.n);
	memset(old, 0, MORE);
	spoil_expect(&m, "file offsets have grown");
}

static void set_type(struct wr *file, uint16_t type)
{
	memcpy(file->p + offsetof(Elf64_Ehdr, e_type), &type, sizeof(type));
}

static void only_at_a_fixed_address_file_offsets_grow(void **state)
{
	struct spoil m = at_fixed_address();

	(void)state;
	set_type(&m.original, ET_DYN);
	set_type(&m.generation, ET_DYN);
	spoil_expect(&m, "file offsets have grown");
}

/* The new headers are loaded, but above everything. */
static void headers_are_in_the_first_segment(void **state)
{
	struct spoil m = at_fixed_address();
	uint32_t g = first_load(&m.gen);
	Elf64_Phdr low = m.gen.ph[g], behind = page_behind(&m.gen);

	(void)state;
	low.p_align = PAGE;
	low.p_vaddr = low.p_paddr = behind.p_vaddr;
	for (uint32_t i = g; i + 1 < m.gen.nph; i++)
		set_header(&m.gen, &m.generation, i, m.gen.ph[i + 1]);
	set_header(&m.gen, &m.generation, m.gen.nph - 1, low);
	spoil_expect(&m, "not in the first segment");
}

static void what_may_differ_is_loaded_once(void **state)
{
	struct spoil m = spoil_make("beside", 1);
	Elf64_Phdr h = page_behind(&m.gen);

	(void)state;
	set_header(&m.orig, &m.original, m.orig.nph - 1, h);
	set_header(&m.gen, &m.generation, m.gen.nph - 1, h);
	spoil_expect(&m, "is loaded 2 times");
}

static void make_code_writable(const struct image *img, struct wr *file)
{
	for (uint32_t i = 0; i < img->nph; i++)
		if (img->ph[i].p_type == PT_LOAD && (img->ph[i].p_flags & PF_X))
			file->p[header_off(img, i) + offsetof(Elf64_Phdr, p_flags)] |= PF_W;
}

static void code_cannot_be_written_to(void **state)
{
	struct spoil m = spoil_make("beside", 1);

	(void)state;
	make_code_writable(&m.orig, &m.original);
	spoil_expect(&m, "can be written to");
}

/* Nor does the Editor make anything of the original. */
static void expect_both(struct spoil *m, const char *editor, const char *verifier)
{
	const struct edit_options options = { .all = true };
	struct edit_stats stats = { 0 };
	struct wr generation = { 0 }, map = { 0 };
	struct err err = { 0 };

	assert_int_equal(edit_optimize(wr_bytes(&m->original), NULL, &options, m->a,
				       &generation, &map, &stats, &err),
			 -1);
	if (!strstr(err.text, editor))
		fail_msg("refused for another reason: %s", err.text);
	wr_free(&generation);
	wr_free(&map);
	spoil_expect(m, verifier);
}

/* The relocation that many bytes behind the first of the section changes code. */
static void relocate_code(struct spoil *m, const char *name, uint64_t at)
{
	const struct section *s = image_section(&m->orig, name);
	vaddr code = image_section(&m->orig, ".text")->h.sh_addr;

	assert_non_null(s);
	memcpy(spoil_original(m, s->h.sh_addr) + at, &code, sizeof(code));
	memcpy(spoil_generation(m, m->gen.sh[s - m->orig.sh].h.sh_addr) + at, &code,
	       sizeof(code));
}

static void what_is_relocated_can_be_written_to(void **state)
{
	static const struct {
		const char *name, *flags, *section;
	} file[] = {
		{ "pointed", "-shared", ".rela.dyn" },
		{ "pointed", "-shared -Wl,-z,pack-relative-relocs", ".relr.dyn" },
		{ "ifunc", "-static -no-pie", ".rela.plt" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(file) / sizeof(file[0]); i++) {
		struct spoil m = spoil_make_as(file[i].name, file[i].flags, 2);

		relocate_code(&m, file[i].section, 0);
		expect_both(&m, "nobody can write to", "which nobody can write to");
	}
}

static void set_dynamic(struct spoil *m, int64_t tag, uint64_t value)
{
	const Elf64_Phdr *o = image_phdr(&m->orig, PT_DYNAMIC),
			 *g = image_phdr(&m->gen, PT_DYNAMIC);
	uint64_t at = 0;
	int64_t there;

	for (;; at += sizeof(Elf64_Dyn)) {
		memcpy(&there, m->original.p + o->p_offset + at, sizeof(there));
		if (there == tag)
			break;
		assert_int_not_equal(there, DT_NULL);
	}
	memcpy(m->original.p + o->p_offset + at + sizeof(tag), &value, sizeof(value));
	memcpy(m->generation.p + g->p_offset + at + sizeof(tag), &value, sizeof(value));
}

/* No dynamic entry leads to the last one any more. */
static void relocations_that_nobody_reads_are_none(void **state)
{
	struct spoil m = spoil_make("pointed", 2);
	uint64_t size = image_section(&m.orig, ".rela.dyn")->h.sh_size - sizeof(Elf64_Rela);

	(void)state;
	set_dynamic(&m, DT_RELASZ, size);
	relocate_code(&m, ".rela.dyn", size);
	spoil_expect(&m, NULL);
}

static void relocations_are_all_there(void **state)
{
	struct spoil m = spoil_make("pointed", 2);

	(void)state;
	set_dynamic(&m, DT_RELASZ, 1 << 20);
	expect_both(&m, "outside the file", "outside the file");
	m = spoil_make_as("pointed", "-shared -Wl,-z,pack-relative-relocs", 2);
	set_dynamic(&m, DT_RELRSZ, 1 << 20);
	expect_both(&m, "outside the file", "are in no segment, or not in one");
}

static void relocations_are_by_symbols_that_are_there(void **state)
{
	struct spoil m = spoil_make("pointed", 2);
	const struct section *s = image_section(&m.orig, ".rela.dyn");
	uint64_t info = ELF64_R_INFO(1 << 20, R_X86_64_64);
	size_t at = offsetof(Elf64_Rela, r_info);

	(void)state;
	memcpy(spoil_original(&m, s->h.sh_addr) + at, &info, sizeof(info));
	memcpy(spoil_generation(&m, m.gen.sh[s - m.orig.sh].h.sh_addr) + at, &info,
	       sizeof(info));
	expect_both(&m, "the symbols does not hold", "the symbols does not hold");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_segments_are_near),
		cmocka_unit_test(new_segments_have_no_strange_alignment),
		cmocka_unit_test(new_text_begins_with_a_page),
		cmocka_unit_test(new_segments_are_not_at_the_bottom),
		cmocka_unit_test(new_segments_are_right_below),
		cmocka_unit_test(file_offsets_grow_by_pages),
		cmocka_unit_test(only_at_a_fixed_address_file_offsets_grow),
		cmocka_unit_test(headers_are_in_the_first_segment),
		cmocka_unit_test(what_may_differ_is_loaded_once),
		cmocka_unit_test(code_cannot_be_written_to),
		cmocka_unit_test(what_is_relocated_can_be_written_to),
		cmocka_unit_test(relocations_that_nobody_reads_are_none),
		cmocka_unit_test(relocations_are_all_there),
		cmocka_unit_test(relocations_are_by_symbols_that_are_there),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
