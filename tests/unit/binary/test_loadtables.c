/* test_loadtables.c - a file whose sections are not what the loader reads is refused, whatever
 * differs
 *
 * tests/asm/versions.s as a library has every table; in each test one thing of it is said
 * wrongly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "binary/loadtables.h"
#include "tests/unit/asm.h"

static struct arena *arena;
static struct bytes library;
static struct image img;

static int setup(void **state)
{
	struct err err;

	arena = arena_new();
	const char *flags = arena_printf(arena,
					 "-shared -Wl,--hash-style=%s -Wl,--default-symver "
					 "-Wl,-soname,versions.so -Wl,--no-as-needed -lc",
					 (const char *)*state);
	library = asm_build("versions", flags, arena);
	return image_parse(library, arena, &img, &err);
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static uint8_t *copy(void)
{
	return arena_dup(arena, library.p, library.n);
}

/* Accepted (NULL), or refused with that in the sentence; so it is by who analyses it. */
static void expect(const uint8_t *file, const char *why)
{
	struct bytes b = { file, library.n };
	struct image changed;
	struct prog prog;
	struct err err = { 0 };

	assert_int_equal(image_parse(b, arena, &changed, &err), 0);
	int rc = loadtables_check(&changed, &err);
	if (!why && rc < 0)
		fail_msg("refused: %s", err.text);
	if (!why)
		return;
	if (rc == 0)
		fail_msg("accepted; expected: %s", why);
	assert_int_equal(err.kind, ERR_INPUT);
	if (!strstr(err.text, why))
		fail_msg("refused for another reason: %s", err.text);
	assert_int_equal(prog_analyze(b, arena, &prog, &err), -1);
}

static const struct section *section(const char *name)
{
	const struct section *s = image_section(&img, name);

	if (!s)
		fail_msg("no section %s", name);
	return s;
}

static void set_section(uint8_t *file, const char *name, Elf64_Shdr h)
{
	memcpy(file + img.eh.e_shoff + (size_t)(section(name) - img.sh) * sizeof(h), &h,
	       sizeof(h));
}

static void put32(uint8_t *file, const char *name, uint64_t at, uint32_t value)
{
	memcpy(file + section(name)->h.sh_offset + at, &value, sizeof(value));
}

static uint32_t get32(const char *name, uint64_t at)
{
	uint32_t value;

	memcpy(&value, library.p + section(name)->h.sh_offset + at, sizeof(value));
	return value;
}

static const struct {
	const char *section, *what;
} tables[] = {
	{ ".hash", "hash table" }, { ".gnu.hash", "GNU hash table" }, { ".dynsym", "symbols" },
	{ ".gnu.version", "versions of symbols" }, { ".gnu.version_r", "needed versions" },
	{ ".gnu.version_d", "defined versions" }, { ".dynstr", "strings" },
};
enum { NTABLE = sizeof(tables) / sizeof(tables[0]) };

static void the_library_is_accepted(void **state)
{
	(void)state;
	expect(library.p, NULL);
}

static void a_section_holds_its_table(void **state)
{
	(void)state;
	for (int i = 0; i < NTABLE; i++) {
		Elf64_Shdr h = section(tables[i].section)->h;
		uint8_t *file = copy();
		char why[80];

		snprintf(why, sizeof(why), "section with the %s does not hold all",
			 tables[i].what);
		h.sh_size--;
		set_section(file, tables[i].section, h);
		expect(file, why);
	}
}

static void a_section_begins_with_its_table(void **state)
{
	(void)state;
	for (int i = 0; i < NTABLE; i++) {
		Elf64_Shdr h = section(tables[i].section)->h;
		uint8_t *file = copy();
		char why[80];

		snprintf(why, sizeof(why), "no section begins where the loader reads the %s",
			 tables[i].what);
		h.sh_addr--;
		h.sh_offset--;
		h.sh_size++;
		set_section(file, tables[i].section, h);
		expect(file, why);
	}
}

/* Wherever it stands among the headers; but what the loader does not map is none. */
static void of_two_sections_at_one_place_the_shorter_counts(void **state)
{
	const Elf64_Shdr all = section(".dynsym")->h;
	uint8_t *behind = copy(), *before = copy(), *empty = copy(), *file_only = copy(),
		*none = copy();
	Elf64_Shdr h = all;

	(void)state;
	h.sh_size = sizeof(Elf64_Sym);
	set_section(behind, ".symtab", h);
	expect(behind, "the symbols does not hold all");
	set_section(before, ".dynsym", h);
	set_section(before, ".symtab", all);
	expect(before, "the symbols does not hold all");
	h.sh_type = SHT_NOBITS;
	set_section(none, ".symtab", h);
	expect(none, NULL);
	h.sh_type = SHT_PROGBITS;
	h.sh_flags = 0;
	set_section(file_only, ".symtab", h);
	expect(file_only, NULL);
	h.sh_flags = SHF_ALLOC;
	h.sh_size = 0;
	set_section(empty, ".symtab", h);
	expect(empty, NULL);
}

/* Where symbols are more than what one of the three that tell of them says, another one
 * counts. */
static void symbols_are_as_many_as_any_table_says(void **state)
{
	static const char relocations[] = ".rela.dyn";
	uint8_t *by_relocation = copy(), *by_chain = copy();
	uint64_t gnu = section(".gnu.hash")->h.sh_size, size = section(relocations)->h.sh_size;
	Elf64_Rela r;

	(void)state;
	memcpy(&r, library.p + section(relocations)->h.sh_offset + size - sizeof(r), sizeof(r));
	r.r_info = ELF64_R_INFO(1000, ELF64_R_TYPE(r.r_info));
	memcpy(by_relocation + section(relocations)->h.sh_offset + size - sizeof(r), &r,
	       sizeof(r));
	expect(by_relocation, "the symbols does not hold all");
	/* does not end */
	put32(by_chain, ".gnu.hash", gnu - 4, get32(".gnu.hash", gnu - 4) & ~1u);
	expect(by_chain, "the GNU hash table does not hold all");
}

/* No relocation is of the last symbol, so only the hash table that there is tells of it. */
static void one_hash_table_tells_of_all_symbols(void **state)
{
	Elf64_Shdr h = section(".dynsym")->h;
	uint8_t *file = copy();

	assert_true(!image_section(&img, ".hash") != !image_section(&img, ".gnu.hash"));
	(void)state;
	expect(file, NULL);
	h.sh_size -= sizeof(Elf64_Sym);
	set_section(file, ".dynsym", h);
	expect(file, "the symbols does not hold all");
}

static void hash_tables_lead_into_themselves(void **state)
{
	enum { BUCKET = 8, GNU_HEAD = 16 };
	uint32_t nbucket = get32(".hash", 0), nchain = get32(".hash", 4),
		 nword = get32(".gnu.hash", 8);
	uint8_t *bucket = copy(), *chain = copy(), *below = copy(), *many = copy(),
		*empty = copy();
	Elf64_Shdr h = section(".hash")->h;

	(void)state;
	put32(bucket, ".hash", BUCKET, nchain);
	expect(bucket, "the hash table does not hold all");
	put32(chain, ".hash", BUCKET + 4 * nbucket, nchain);
	expect(chain, "the hash table does not hold all");
	put32(below, ".gnu.hash", GNU_HEAD + 8 * nword, get32(".gnu.hash", 4) - 1);
	expect(below, "the GNU hash table does not hold all");
	put32(empty, ".hash", 0, 0);
	h.sh_size = 4;				/* not even how many chains there are */
	set_section(empty, ".hash", h);
	expect(empty, "the hash table does not hold all");
	put32(many, ".gnu.hash", 8, UINT32_MAX);
	expect(many, "the GNU hash table does not hold all");
}

static void names_are_among_the_strings(void **state)
{
	uint8_t *symbol = copy(), *from = copy(), *version = copy(), *last = copy(),
		*needed = copy();
	const Elf64_Shdr *strings = &section(".dynstr")->h, *dynamic = &section(".dynamic")->h;
	Elf64_Dyn d;

	(void)state;
	put32(symbol, ".dynsym", sizeof(Elf64_Sym), (uint32_t)strings->sh_size);
	expect(symbol, "the strings does not hold all");
	put32(from, ".gnu.version_r", offsetof(Elf64_Verneed, vn_file),
	      (uint32_t)strings->sh_size);
	expect(from, "the strings does not hold all");
	put32(version, ".gnu.version_r",
	      get32(".gnu.version_r", offsetof(Elf64_Verneed, vn_aux)) +
		      offsetof(Elf64_Vernaux, vna_name),
	      (uint32_t)strings->sh_size);
	expect(version, "the strings does not hold all");
	last[strings->sh_offset + strings->sh_size - 1] = 'x';
	expect(last, "the strings does not hold all");
	memcpy(&d, needed + dynamic->sh_offset, sizeof(d));
	assert_int_equal(d.d_tag, DT_NEEDED);
	d.d_un.d_val = strings->sh_size;
	memcpy(needed + dynamic->sh_offset, &d, sizeof(d));
	expect(needed, "the strings does not hold all");
}

/* Each of many records leads to all behind it: to follow that takes the square of the time. */
static void versions_do_not_lie_in_one_another(void **state)
{
	const Elf64_Shdr *h = &section(".gnu.version_d")->h;
	uint8_t *file = copy();

	(void)state;
	put32(file, ".gnu.version_d", offsetof(Elf64_Verdef, vd_next), (uint32_t)h->sh_size);
	expect(file, "the defined versions does not hold all");
	file = copy();
	put32(file, ".gnu.version_d", offsetof(Elf64_Verdef, vd_aux), (uint32_t)h->sh_size);
	expect(file, "the defined versions does not hold all");
	file = copy();
	for (uint64_t at = 0; at + 4 <= h->sh_size; at += 4)
		put32(file, ".gnu.version_d", at, 4);
	/* here all of them end */
	put32(file, ".gnu.version_d", h->sh_size - 4, 0);
	expect(file, "the defined versions does not hold all");
}

/* By the kind of hash table that it has. */
#define of_library(test, hash) { #test " (" #hash ")", test, setup, teardown, #hash }

int main(void)
{
	const struct CMUnitTest tests[] = {
		of_library(the_library_is_accepted, both),
		of_library(a_section_holds_its_table, both),
		of_library(a_section_begins_with_its_table, both),
		of_library(of_two_sections_at_one_place_the_shorter_counts, both),
		of_library(symbols_are_as_many_as_any_table_says, both),
		of_library(one_hash_table_tells_of_all_symbols, gnu),
		of_library(one_hash_table_tells_of_all_symbols, sysv),
		of_library(hash_tables_lead_into_themselves, both),
		of_library(names_are_among_the_strings, both),
		of_library(versions_do_not_lie_in_one_another, both),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
