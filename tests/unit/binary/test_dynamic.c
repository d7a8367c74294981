/* test_dynamic.c - relocations and symbols of a library, packed or not
 *
 * tests/asm/pointed.s has pointers that are relocated; with RELR the linker packs them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "binary/dynamic.h"
#include "tests/unit/asm.h"

static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static struct image library(const char *name, const char *flags)
{
	struct image img;
	struct err err;

	if (image_parse(asm_build(name, flags, arena), arena, &img, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	return img;
}

struct seen {
	const struct image *img;
	uint32_t relative, plt, all;
	file_off at;			/* of the last one's value */
};

/* The value is what stands at `at`. */
static void take_reloc(void *ctx, const struct reloc *r)
{
	struct seen *s = ctx;
	struct rd rd = rd_of(bytes_at(s->img->file, r->at, 8));

	assert_true(rd_u64(&rd) == r->value && !rd.bad);
	s->relative += r->type == R_X86_64_RELATIVE;
	s->plt += r->plt;
	s->all++;
	s->at = r->at;
}

static struct seen relocs_of(const struct image *img)
{
	struct seen s = { .img = img };
	struct err err;

	assert_int_equal(relocs_each(img, take_reloc, &s, &err), 0);
	return s;
}

static void packed_relocations_are_as_many(void **state)
{
	struct image plain = library("pointed", "-shared -Wl,-z,nopack-relative-relocs");
	struct image packed = library("pointed", "-shared -Wl,-z,pack-relative-relocs");
	uint64_t relr;

	(void)state;
	assert_false(image_dynamic(&plain, DT_RELR, &relr));
	assert_true(image_dynamic(&packed, DT_RELR, &relr));
	assert_true(relocs_of(&plain).relative > 4);
	assert_int_equal(relocs_of(&plain).relative, relocs_of(&packed).relative);
	assert_int_equal(relocs_of(&plain).all, relocs_of(&packed).all);
}

static void slots_of_the_linkage_table_are_told_apart(void **state)
{
	struct image img = library("callees", "-shared");

	(void)state;
	assert_int_equal(relocs_of(&img).plt, 4);	/* abort, err, puts; a chosen one */
}

static void what_is_relocated_can_be_written_to(void **state)
{
	struct image img = library("callees", "-shared");
	struct seen s = relocs_of(&img);
	uint8_t *copy = arena_dup(arena, img.file.p, img.file.n);
	struct err err;

	(void)state;
	/* the place of the last one, the first field of its Elf64_Rela */
	memcpy(copy + s.at - offsetof(Elf64_Rela, r_addend), &img.text_at, sizeof(vaddr));
	assert_int_equal(image_parse((struct bytes){ copy, img.file.n }, arena, &img, &err), 0);
	s.img = &img;
	assert_int_equal(relocs_each(&img, take_reloc, &s, &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
}

struct named {
	const char *name;
	uint32_t n, defined;
};

static void take_symbol(void *ctx, uint32_t index, const struct symbol *s)
{
	struct named *f = ctx;

	(void)index;
	f->n += strcmp(s->name, f->name) == 0;
	f->defined += strcmp(s->name, f->name) == 0 && s->defined;
}

static void symbols_have_names_and_say_whether_they_are_defined(void **state)
{
	struct image img = library("callees", "-shared");
	struct named imported = { .name = "abort" }, hidden = { .name = "hangs" },
		     own = { .name = "hangs" };

	(void)state;
	symbols_each(&img, SHT_DYNSYM, take_symbol, &imported);
	symbols_each(&img, SHT_DYNSYM, take_symbol, &hidden);
	symbols_each(&img, SHT_SYMTAB, take_symbol, &own);
	assert_true(imported.n == 1 && imported.defined == 0);
	assert_int_equal(hidden.n, 0);
	assert_true(own.n == 1 && own.defined == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_relocations_are_as_many),
		cmocka_unit_test(slots_of_the_linkage_table_are_told_apart),
		cmocka_unit_test(what_is_relocated_can_be_written_to),
		cmocka_unit_test(symbols_have_names_and_say_whether_they_are_defined),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
