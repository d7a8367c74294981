/* test_needed.c - the version with which a symbol is looked for */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "binary/dynamic.h"
#include "binary/needed.h"
#include "tests/unit/asm.h"

struct seen {
	const struct image *img;
	unsigned libc, none;		/* symbols with a version of libc's, without one */
};

static void look(void *ctx, uint32_t index, const struct symbol *s)
{
	struct seen *seen = ctx;
	const char *version = needed_version(seen->img, index);

	if (strcmp(s->name, "memcpy") == 0) {
		assert_string_equal(version, "GLIBC_2.14");
		seen->libc++;
	} else if (strcmp(s->name, "abort") == 0) {
		assert_string_equal(version, "GLIBC_2.2.5");
		seen->libc++;
	} else {
		assert_string_equal(version, "");
		seen->none++;
	}
}

static struct seen look_at(struct bytes file, struct arena *a)
{
	struct image img;
	struct err err;
	struct seen seen = { .img = &img };

	assert_int_equal(image_parse(file, a, &img, &err), 0);
	symbols_each(&img, SHT_DYNSYM, look, &seen);
	seen.img = NULL;
	return seen;
}

static void imported_symbols_have_versions_and_own_ones_none(void **state)
{
	struct arena *a = arena_new();
	struct bytes file = asm_build("imports", "-shared -Wl,--no-as-needed -lc", a);
	struct seen seen = look_at(file, a);

	(void)state;
	assert_int_equal(seen.libc, 2);
	assert_true(seen.none >= 2);		/* an own one, and the first, which is none */
	arena_free(a);
}

static void without_tables_there_are_none(void **state)
{
	struct arena *a = arena_new();
	struct image img;
	struct err err;

	(void)state;
	assert_int_equal(image_parse(asm_build("imports", "-shared", a), a, &img, &err), 0);
	for (uint32_t i = 0; i < 8; i++)
		assert_string_equal(needed_version(&img, i), "");
	assert_string_equal(needed_version(&img, UINT32_MAX), "");
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(imported_symbols_have_versions_and_own_ones_none),
		cmocka_unit_test(without_tables_there_are_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
