/* test_sections.c - section headers, symbols and bytes of no part: what nothing runs is
 * checked, too
 *
 * A generation of tests/asm/symbols.s is damaged in one place; the Verifier has to say what is
 * wrong.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "editor/optimize.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "tests/unit/asm.h"
#include "verify/verify.h"

static struct arena *arena;
static struct bytes original, generation;
static struct image orig, gen;

static int setup(void **state)
{
	const struct edit_options options = {
		.all = true, .shuffle = true, .seed = 5, .generation = 1
	};
	struct wr made = { 0 }, map = { 0 };
	struct edit_stats stats = { 0 };
	struct err err;

	(void)state;
	arena = arena_new();
	original = asm_build("symbols", "-shared", arena);
	if (edit_optimize(original, NULL, &options, arena, &made, &map, &stats, &err) < 0)
		fail_msg("%s", err.text);
	generation = (struct bytes){ arena_dup(arena, made.p, made.n), made.n };
	wr_free(&made);
	wr_free(&map);
	return image_parse(original, arena, &orig, &err) < 0 ||
	       image_parse(generation, arena, &gen, &err) < 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

/* A copy to be damaged, with `more` zero bytes behind it. */
static uint8_t *copy(size_t more)
{
	uint8_t *p = arena_alloc(arena, generation.n + more);

	memcpy(p, generation.p, generation.n);
	return p;
}

static void refused(const uint8_t *p, size_t n, const char *why)
{
	struct verify_stats stats;
	struct err err = { 0 };

	assert_int_equal(
		verify_generation(original, (struct bytes){ p, n }, arena, &stats, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

static uint32_t index_of(const char *name)
{
	const struct section *s = image_section(&gen, name);

	assert_non_null(s);
	return (uint32_t)(s - gen.sh);
}

/* Where field `off` of the section's header is. */
static uint64_t header(const char *name, size_t off)
{
	return gen.eh.e_shoff + (uint64_t)index_of(name) * sizeof(Elf64_Shdr) + off;
}

static void one_byte(uint64_t at, const char *why)
{
	uint8_t *p = copy(0);

	p[at] ^= 1;
	refused(p, generation.n, why);
}

static void the_generation_itself_is_accepted(void **state)
{
	struct verify_stats stats;
	struct err err;

	(void)state;
	if (verify_generation(original, generation, arena, &stats, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(gen.nsh > orig.nsh);
}

static void sections_of_the_original_keep_their_headers(void **state)
{
	(void)state;
	one_byte(header(".symtab", offsetof(Elf64_Shdr, sh_flags)), "was changed");
	one_byte(header(".strtab", offsetof(Elf64_Shdr, sh_link)), "was changed");
	one_byte(header(".dynstr", offsetof(Elf64_Shdr, sh_size)), "section");
	one_byte(header(".symtab", offsetof(Elf64_Shdr, sh_entsize)), "was changed");
	one_byte(header(".text", offsetof(Elf64_Shdr, sh_addralign)), "section");
}

static void new_sections_are_what_their_names_say(void **state)
{
	(void)state;
	one_byte(header(".morph.text", offsetof(Elf64_Shdr, sh_size)),
		 "is not what its name says");
	one_byte(header(".morph.text", offsetof(Elf64_Shdr, sh_flags)),
		 "is not what its name says");
	one_byte(header(".morph.map", offsetof(Elf64_Shdr, sh_addr)),
		 "is not what its name says");
	one_byte(header(".eh_frame", offsetof(Elf64_Shdr, sh_offset)), "section");
}

static void names_stand_one_behind_the_other(void **state)
{
	uint64_t names = gen.sh[gen.eh.e_shstrndx].h.sh_offset;

	(void)state;
	one_byte(header(".morph.text", offsetof(Elf64_Shdr, sh_name)),
		 "is not behind the one before");
	one_byte(names + gen.sh[index_of(".text")].h.sh_name + 1, "is called");
	one_byte(gen.eh.e_shoff + gen.eh.e_shstrndx * sizeof(Elf64_Shdr) +
		 offsetof(Elf64_Shdr, sh_flags), "is no table of names");
}

static Elf64_Sym symbol(uint64_t i)
{
	Elf64_Sym s;

	memcpy(&s, generation.p + gen.sh[index_of(".symtab")].h.sh_offset + i * sizeof(s),
	       sizeof(s));
	return s;
}

/* Where field `off` of symbol i is. */
static uint64_t field(uint64_t i, size_t off)
{
	return gen.sh[index_of(".symtab")].h.sh_offset + i * sizeof(Elf64_Sym) + off;
}

/* The first added symbol: those stand behind the original's local ones. */
static uint64_t first_added(void)
{
	uint64_t i = orig.sh[image_section(&orig, ".symtab") - orig.sh].h.sh_info;

	assert_true(gen.sh[index_of(".symtab")].h.sh_info > i);
	assert_int_equal(symbol(i).st_info, ELF64_ST_INFO(STB_LOCAL, STT_FUNC));
	return i;
}

static void symbols_of_the_original_stay(void **state)
{
	(void)state;
	one_byte(field(1, offsetof(Elf64_Sym, st_value)), "symbol 1 was changed");
	one_byte(field(first_added() - 1, offsetof(Elf64_Sym, st_size)), "was changed");
	one_byte(field(gen.sh[index_of(".symtab")].h.sh_info, offsetof(Elf64_Sym, st_value)),
		 "was changed");
	one_byte(gen.sh[index_of(".strtab")].h.sh_offset + 1,
		 "the strings of symbols were changed");
}

static void added_symbols_name_parts_of_functions(void **state)
{
	uint64_t i = first_added();

	(void)state;
	one_byte(field(i, offsetof(Elf64_Sym, st_value)), "is not a part of the function");
	one_byte(field(i, offsetof(Elf64_Sym, st_size)), "is not a part of the function");
	one_byte(field(i, offsetof(Elf64_Sym, st_name)), "is not a part of the function");
	one_byte(field(i, offsetof(Elf64_Sym, st_info)), "is no local function");
	one_byte(field(i, offsetof(Elf64_Sym, st_other)), "is no local function");
	one_byte(gen.sh[index_of(".strtab")].h.sh_offset + symbol(i).st_name,
		 "is not a part of the function");
}

/* Those of original code are in its section, and not in one that is no code. */
static void added_symbols_of_originals_are_in_code(void **state)
{
	uint16_t wide = (uint16_t)index_of(".wide"), text = (uint16_t)index_of(".text");
	unsigned n = 0;

	(void)state;
	for (uint64_t i = first_added(); i < gen.sh[index_of(".symtab")].h.sh_info; i++) {
		uint8_t *p = copy(0);

		if (symbol(i).st_shndx != text)
			continue;
		assert_true(symbol(i).st_value < gen.sh[wide].h.sh_size);
		memcpy(p + field(i, offsetof(Elf64_Sym, st_shndx)), &wide, sizeof(wide));
		refused(p, generation.n, "is not a part of the function");
		n++;
	}
	assert_true(n > 0);
}

static void the_number_of_symbols_is_right(void **state)
{
	(void)state;
	one_byte(header(".symtab", offsetof(Elf64_Shdr, sh_info)), "other local ones");
}

static void every_byte_belongs_to_something(void **state)
{
	uint64_t text = gen.sh[index_of(".morph.text")].h.sh_offset, at = text;
	uint8_t *p = copy(1);

	(void)state;
	refused(p, generation.n + 1, "the file goes on behind its section headers");
	while (at > original.n && generation.p[at - 1] == 0)
		at--;
	assert_true(at < text);		/* between the original and new text */
	one_byte(at, "belongs to nothing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_generation_itself_is_accepted),
		cmocka_unit_test(sections_of_the_original_keep_their_headers),
		cmocka_unit_test(new_sections_are_what_their_names_say),
		cmocka_unit_test(names_stand_one_behind_the_other),
		cmocka_unit_test(symbols_of_the_original_stay),
		cmocka_unit_test(added_symbols_name_parts_of_functions),
		cmocka_unit_test(added_symbols_of_originals_are_in_code),
		cmocka_unit_test(the_number_of_symbols_is_right),
		cmocka_unit_test(every_byte_belongs_to_something),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
