/* test_dynsyms.c - dynamic symbols that a generation has more than its original
 *
 * In a generation of tests/asm/exported.s one thing of them is made wrong, of which the rest
 * knows nothing: the Verifier has to say what.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"

enum { WORD = sizeof(uint32_t), VERSION = sizeof(uint16_t) };

static struct spoil made;
static uint64_t nold, nadded;

static struct spoil make(void)
{
	return spoil_make_as("exported",
			     "-shared -Wl,--hash-style=both -Wl,--default-symver "
			     "-Wl,-soname,exported.so",
			     2);
}

static uint64_t symbols_of(const struct image *img)
{
	return image_section(img, ".dynsym")->h.sh_size / sizeof(Elf64_Sym);
}

static int setup(void **state)
{
	(void)state;
	made = make();
	nold = symbols_of(&made.orig);
	nadded = symbols_of(&made.gen) - nold;
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

static uint8_t *table(struct spoil *m, const char *name)
{
	return m->generation.p + image_section(&m->gen, name)->h.sh_offset;
}

static Elf64_Sym *symbol(struct spoil *m, uint64_t i)
{
	return (Elf64_Sym *)(void *)table(m, ".dynsym") + i;
}

static uint32_t *word(struct spoil *m, const char *name, uint64_t i)
{
	return (uint32_t *)(void *)table(m, name) + i;
}

static Elf64_Shdr *header(struct spoil *m, const char *name)
{
	return (Elf64_Shdr *)(void *)(m->generation.p + m->gen.eh.e_shoff) +
	       (image_section(&m->gen, name) - m->gen.sh);
}

/* The number of an added symbol that is not called like the first one. */
static uint64_t another(struct spoil *m)
{
	for (uint64_t i = nold + 1; i < nold + nadded; i++)
		if (symbol(m, i)->st_name != symbol(m, nold)->st_name)
			return i;
	fail_msg("all have one name");
	return 0;
}

static void each_part_has_a_name(void **state)
{
	struct spoil m = make();

	(void)state;
	assert_true(nadded >= 4);		/* two functions, each split */
	for (uint64_t i = nold; i < nold + nadded; i++) {
		assert_true(symbol(&m, i)->st_size > 0);
		assert_int_equal(ELF64_ST_TYPE(symbol(&m, i)->st_info), STT_FUNC);
	}
	spoil_expect(&m, NULL);
}

static void a_name_is_that_of_the_function(void **state)
{
	struct spoil m = make();

	(void)state;
	symbol(&m, nold)->st_name = symbol(&m, another(&m))->st_name;
	spoil_expect(&m, "is not a part of the function that it names");
	m = make();
	symbol(&m, nold)->st_name++;
	spoil_expect(&m, "is not a part of the function that it names");
}

static void a_part_is_covered_as_a_whole(void **state)
{
	static const struct {
		int64_t value, size;
	} change[] = { { 1, -1 }, { 0, -1 }, { 0, 1 }, { -1, 1 }, { 0, 1 << 20 } };

	(void)state;
	for (size_t i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		struct spoil m = make();

		symbol(&m, nold)->st_value += (uint64_t)change[i].value;
		symbol(&m, nold)->st_size += (uint64_t)change[i].size;
		spoil_expect(&m, "is not a part of the function that it names");
	}
}

static void all_else_is_like_the_symbol_of_the_function(void **state)
{
	struct spoil m = make();

	(void)state;
	symbol(&m, nold)->st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC);
	spoil_expect(&m, "added dynamic symbol");
	m = make();
	symbol(&m, nold)->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	spoil_expect(&m, "added dynamic symbol");
	m = make();
	symbol(&m, nold)->st_other = STV_HIDDEN;
	spoil_expect(&m, "added dynamic symbol");
	m = make();
	symbol(&m, nold)->st_shndx++;
	spoil_expect(&m, "added dynamic symbol");
}

/* Who asks for no version gets no hidden one. */
static void versions_are_hidden(void **state)
{
	struct spoil m = make();
	uint8_t *high = table(&m, ".gnu.version") + nold * VERSION + 1;

	(void)state;
	assert_true(*high & 0x80);
	*high &= 0x7f;
	spoil_expect(&m, "added dynamic symbol");
	m = make();
	table(&m, ".gnu.version")[nold * VERSION] ^= 1;
	spoil_expect(&m, "added dynamic symbol");
}

static void it_may_cover_the_original(void **state)
{
	struct spoil m = make();
	const uint8_t *old = m.original.p + image_section(&m.orig, ".dynsym")->h.sh_offset;

	(void)state;
	for (uint64_t i = 1; i < nold; i++) {
		Elf64_Sym s;

		memcpy(&s, old + i * sizeof(s), sizeof(s));
		if (s.st_name == symbol(&m, nold)->st_name)
			*symbol(&m, nold) = s;
	}
	spoil_expect(&m, NULL);
	m = make();
	symbol(&m, nold)->st_shndx = symbol(&m, 1)->st_shndx;
	spoil_expect(&m, "added dynamic symbol");
}

/* Where a lookup in .hash begins, and where it goes on. */
static void no_chain_of_hash_leads_to_one(void **state)
{
	struct spoil m = make();
	uint32_t nbucket = *word(&m, ".hash", 0);

	(void)state;
	for (uint64_t i = 0; i < 2 + nbucket + nold + nadded; i++) {
		m = i ? make() : m;
		*word(&m, ".hash", i) = (uint32_t)(i == 1 ? nold : nold + nadded - 1);
		spoil_expect(&m, "word");
	}
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	while (*name)
		h = h * 33 + (uint8_t)*name++;
	return h;
}

/* With the hash of its name, a lookup would find it; where that is the only one of the name
 * with such a version, instead of none. */
static void the_gnu_hash_is_not_that_of_the_name(void **state)
{
	struct spoil m = make();
	uint64_t words = image_section(&m.gen, ".gnu.hash")->h.sh_size / WORD;
	const char *name = (char *)m.generation.p +
			   image_section(&m.gen, ".dynstr")->h.sh_offset +
			   symbol(&m, nold)->st_name;

	(void)state;
	*word(&m, ".gnu.hash", words - nadded) = gnu_hash(name) & ~1U;
	spoil_expect(&m, "GNU hash table");
}

static void the_gnu_chain_goes_on_to_its_end(void **state)
{
	struct spoil m = make();
	uint64_t words = image_section(&m.gen, ".gnu.hash")->h.sh_size / WORD;

	(void)state;
	*word(&m, ".gnu.hash", words - nadded - 1) |= 1;	/* as in the original */
	spoil_expect(&m, "GNU hash table");
	m = make();
	*word(&m, ".gnu.hash", words - nadded) |= 1;
	spoil_expect(&m, "GNU hash table");
	m = make();
	*word(&m, ".gnu.hash", words - 1) &= ~1U;
	spoil_expect(&m, "GNU hash table");
	for (uint64_t i = 0; i < words - nadded; i++) {
		m = make();
		*word(&m, ".gnu.hash", i) ^= 2;
		spoil_expect(&m, "GNU hash table");
	}
}

static void all_tables_grow_together(void **state)
{
	static const struct {
		const char *name;
		uint64_t size;
	} what[] = { { ".dynsym", sizeof(Elf64_Sym) }, { ".gnu.version", VERSION },
		     { ".gnu.hash", WORD }, { ".hash", WORD } };

	(void)state;
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		struct spoil m = make();

		header(&m, what[i].name)->sh_size -= what[i].size;
		spoil_expect(&m, "not as much");
		m = make();
		header(&m, what[i].name)->sh_size -= nadded * what[i].size;
		spoil_expect(&m, "");
		m = make();
		header(&m, what[i].name)->sh_size -= 1;
		spoil_expect(&m, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part_has_a_name),
		cmocka_unit_test(a_name_is_that_of_the_function),
		cmocka_unit_test(a_part_is_covered_as_a_whole),
		cmocka_unit_test(all_else_is_like_the_symbol_of_the_function),
		cmocka_unit_test(versions_are_hidden),
		cmocka_unit_test(it_may_cover_the_original),
		cmocka_unit_test(no_chain_of_hash_leads_to_one),
		cmocka_unit_test(the_gnu_hash_is_not_that_of_the_name),
		cmocka_unit_test(the_gnu_chain_goes_on_to_its_end),
		cmocka_unit_test(all_tables_grow_together),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
