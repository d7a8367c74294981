/* test_image.c - the ELF reader against whole, cut and damaged files */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/asm.h"

static struct arena *arena;
static struct bytes library, program;

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	library = asm_build("jumptable", "-shared -s -Wl,--hash-style=gnu", arena);
	program = asm_build("absolute", "-static -no-pie -s", arena);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static void parse(struct bytes file, struct image *img)
{
	struct err err;

	if (image_parse(file, arena, img, &err) < 0)
		fail_msg("%s", err.text);
}

static void kinds_of_files_are_told_apart(void **state)
{
	struct image img;

	(void)state;
	parse(library, &img);
	assert_true(img.pie_or_dso && !img.executable);
	parse(program, &img);
	assert_true(!img.pie_or_dso && img.executable && img.is_static);
}

/* Of the first segment of code as of all others. */
static void what_is_left_of_a_segment_ends_with_it(void **state)
{
	const struct bytes file[] = { library, program };

	(void)state;
	for (int f = 0; f < 2; f++) {
		struct image img;

		parse(file[f], &img);
		for (uint32_t i = 0; i < img.nph; i++) {
			const Elf64_Phdr *ph = &img.ph[i];

			if (ph->p_type != PT_LOAD || ph->p_filesz < 2)
				continue;
			for (uint64_t off = 0; off < ph->p_filesz; off += ph->p_filesz - 1) {
				struct bytes rest = image_rest(&img, ph->p_vaddr + off);

				assert_ptr_equal(rest.p, file[f].p + ph->p_offset + off);
				assert_int_equal(rest.n, ph->p_filesz - off);
			}
			assert_null(image_rest(&img, ph->p_vaddr + ph->p_filesz).p);
		}
	}
}

static void addresses_lead_to_file_bytes(void **state)
{
	struct image img;
	vaddr lo, hi;

	(void)state;
	parse(library, &img);
	const struct section *text = image_section(&img, ".text");
	assert_non_null(text);
	struct bytes b = image_at(&img, text->h.sh_addr, text->h.sh_size);
	assert_ptr_equal(b.p, library.p + text->h.sh_offset);
	assert_int_equal(b.n, text->h.sh_size);
	assert_true(image_is_exec(&img, text->h.sh_addr));
	assert_false(image_is_writable(&img, text->h.sh_addr));
	assert_ptr_equal(image_section_at(&img, text->h.sh_addr + text->h.sh_size - 1), text);
	image_span(&img, &lo, &hi);
	assert_null(image_at(&img, hi, 1).p);
	assert_null(image_at(&img, lo, hi - lo).p);
	assert_null(image_at(&img, text->h.sh_addr, UINT64_MAX).p);
	assert_null(image_segment(&img, UINT64_MAX));
}

static void dynamic_entries_are_found(void **state)
{
	struct image img;
	uint64_t v;

	(void)state;
	parse(library, &img);
	assert_true(image_dynamic(&img, DT_SYMTAB, &v));
	assert_int_equal(v, image_section(&img, ".dynsym")->h.sh_addr);
	assert_false(image_dynamic(&img, DT_RPATH, &v));
	parse(program, &img);
	assert_false(image_dynamic(&img, DT_SYMTAB, &v));
}

/* Entry `at` of the dynamic section gets another tag: a copy of the library. */
static struct bytes with_tag(uint32_t at, int64_t tag)
{
	struct image img;

	parse(library, &img);
	uint8_t *copy = arena_dup(arena, library.p, library.n);
	memcpy(copy + image_phdr(&img, PT_DYNAMIC)->p_offset + at * sizeof(Elf64_Dyn), &tag,
	       sizeof(tag));
	return (struct bytes){ copy, library.n };
}

/* The loader takes the last, who reads on until it has found one the first. */
static void a_second_dynamic_entry_of_a_tag_is_refused(void **state)
{
	struct image img;
	struct err err;

	(void)state;
	parse(library, &img);
	const uint8_t *first = library.p + image_phdr(&img, PT_DYNAMIC)->p_offset;
	for (uint32_t i = 1; i < 4; i++) {
		int64_t tag;

		memcpy(&tag, first + (i - 1) * sizeof(Elf64_Dyn), sizeof(tag));
		assert_int_equal(image_parse(with_tag(i, tag), arena, &img, &err), -1);
		assert_non_null(strstr(err.text, "two dynamic entries of tag"));
	}
	parse(with_tag(1, DT_DEBUG), &img);
	struct bytes two = with_tag(0, DT_NEEDED);
	const int64_t needed = DT_NEEDED;
	memcpy((uint8_t *)(uintptr_t)two.p + (first - library.p) + sizeof(Elf64_Dyn), &needed,
	       sizeof(needed));
	parse(two, &img);
}

/* Which of two is believed depends on who reads them. */
static void sections_are_aligned_to_powers_of_two(void **state)
{
	const uint64_t odd = 9;
	struct arena *a = arena_new();
	uint8_t *file = arena_dup(a, library.p, library.n);
	struct image img;
	struct err err;

	(void)state;
	parse(library, &img);
	uint64_t i = (uint64_t)(image_section(&img, ".text") - img.sh);
	memcpy(file + img.eh.e_shoff + i * sizeof(Elf64_Shdr) +
	       offsetof(Elf64_Shdr, sh_addralign), &odd, sizeof(odd));
	assert_int_equal(image_parse((struct bytes){ file, library.n }, a, &img, &err), -1);
	assert_non_null(strstr(err.text, "is aligned to 0x9"));
	arena_free(a);
}

static void headers_that_say_where_something_is_are_single(void **state)
{
	static const uint32_t type[] = {
		PT_PHDR, PT_INTERP, PT_DYNAMIC, PT_TLS, PT_GNU_EH_FRAME, PT_GNU_PROPERTY,
	};
	struct image img, other;
	struct err err;

	(void)state;
	parse(library, &img);
	for (size_t i = 0; i < sizeof(type) / sizeof(type[0]); i++) {
		struct bytes file = { arena_dup(arena, library.p, library.n), library.n };
		Elf64_Phdr h = *image_phdr(&img, type[i] == PT_PHDR ? PT_LOAD : PT_DYNAMIC);
		uint8_t *last = (uint8_t *)(uintptr_t)file.p + img.eh.e_phoff +
				(img.nph - 2) * sizeof(h);

		h.p_type = type[i];
		memcpy(last, &h, sizeof(h));
		memcpy(last + sizeof(h), &h, sizeof(h));
		assert_int_equal(image_parse(file, arena, &other, &err), -1);
		assert_non_null(strstr(err.text, "several program headers"));
	}
}

static void other_files_are_refused_by_what_they_are(void **state)
{
	static const struct {
		size_t off;
		uint8_t value;
		const char *why;
	} change[] = {
		{ 0, 'X', "not an ELF file" }, { EI_CLASS, ELFCLASS32, "a 32-bit file" },
		{ EI_DATA, ELFDATA2MSB, "not for x86-64" },
		{ offsetof(Elf64_Ehdr, e_machine), EM_386, "not for x86-64" },
		{ offsetof(Elf64_Ehdr, e_type), ET_REL, "an object file" },
		{ offsetof(Elf64_Ehdr, e_type), ET_CORE, "a core file" },
		{ offsetof(Elf64_Ehdr, e_type), ET_NONE, "neither a program" },
		{ offsetof(Elf64_Ehdr, e_phentsize), 1, "unknown form" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		uint8_t *copy = arena_dup(arena, library.p, library.n);
		struct image img;
		struct err err = { 0 };

		copy[change[i].off] = change[i].value;
		assert_int_equal(
			image_parse((struct bytes){ copy, library.n }, arena, &img, &err), -1);
		if (!strstr(err.text, change[i].why))
			fail_msg("%s instead of %s", err.text, change[i].why);
	}
}

/* Whatever the bytes are: a verdict with a sentence, or a program that keeps the invariants;
 * and the bytes are not written to. */
static void analyze_anything(struct bytes file)
{
	struct arena *a = arena_new();
	uint8_t *before = arena_dup(a, file.p, file.n);
	struct err err = { 0 };
	struct prog p;

	if (prog_analyze(file, a, &p, &err) < 0)
		assert_true(err.kind == ERR_INPUT || err.kind == ERR_REFUSED);
	else if (ir_check(&p, &err) < 0)
		fail_msg("%s", err.text);
	assert_memory_equal(before, file.p, file.n);
	arena_free(a);
}

static void files_cut_anywhere_get_a_verdict(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < library.n; n += n < 1024 ? 7 : 61) {
		/* a copy of its own size, so that a read behind it shows under a sanitizer */
		uint8_t *cut = malloc(n ? n : 1);

		assert_non_null(cut);
		memcpy(cut, library.p, n);
		analyze_anything((struct bytes){ cut, n });
		free(cut);
	}
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Where damage hurts: headers, program headers, and the last part with the section headers. */
static uint64_t place(uint64_t *x, uint64_t n)
{
	uint64_t r = next_random(x);

	switch (r % 4) {
	case 0:
		return (r >> 8) % 1024;
	case 1:
		return n - 1 - (r >> 8) % 2048;
	default:
		return (r >> 8) % n;
	}
}

static void damaged_files_get_a_verdict(void **state)
{
	static const uint8_t value[] = { 0, 1, 0x7f, 0x80, 0xff };
	const struct bytes *whole[] = { &library, &program };
	uint64_t x = 88172645463325252u;

	(void)state;
	for (uint32_t i = 0; i < 3000; i++) {
		const struct bytes *b = whole[i % 2];
		uint8_t *copy = malloc(b->n);

		assert_non_null(copy);
		memcpy(copy, b->p, b->n);
		for (uint64_t k = next_random(&x) % 4 + 1; k > 0; k--) {
			uint64_t at = place(&x, b->n), r = next_random(&x);

			copy[at] = r & 1 ? (uint8_t)(r >> 8) : value[(r >> 8) % sizeof(value)];
		}
		analyze_anything((struct bytes){ copy, b->n });
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_files_are_told_apart),
		cmocka_unit_test(what_is_left_of_a_segment_ends_with_it),
		cmocka_unit_test(addresses_lead_to_file_bytes),
		cmocka_unit_test(dynamic_entries_are_found),
		cmocka_unit_test(a_second_dynamic_entry_of_a_tag_is_refused),
		cmocka_unit_test(sections_are_aligned_to_powers_of_two),
		cmocka_unit_test(headers_that_say_where_something_is_are_single),
		cmocka_unit_test(other_files_are_refused_by_what_they_are),
		cmocka_unit_test(files_cut_anywhere_get_a_verdict),
		cmocka_unit_test(damaged_files_get_a_verdict),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
