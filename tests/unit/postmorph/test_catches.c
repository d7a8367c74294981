/* test_catches.c - which files may catch exceptions of others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "postmorph/catches.h"
#include "tests/unit/asm.h"

static int check(int which, const char *flags, struct err *err)
{
	struct arena *a = arena_new();
	struct image img;

	*err = (struct err){ 0 };
	assert_int_equal(image_parse(asm_build("catches", arena_printf(a, "-shared %s "
			 "-Wa,--defsym,which=%d", flags, which), a), a, &img, err), 0);
	int rc = catches_check(&img, err);
	arena_free(a);
	return rc;
}

static void who_throws_does_not_catch(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(check(0, "", &err), 0);
	/* a class of its own, with types that the C++ library gives to all */
	assert_int_equal(check(6, "", &err), 0);
}

static void who_catches_is_seen_by_what_that_needs(void **state)
{
	static const struct {
		int which;
		const char *name;
	} of[] = {
		{ 1, "__cxa_begin_catch" }, { 2, "_Unwind_GetLanguageSpecificData" },
		{ 3, "dl_iterate_phdr" },   { 4, "_ZTVSt15basic_streambuf" },
		{ 5, "_ZTINSt6thread" },    { 7, "_ZSt15set_new_handler" },
		{ 8, "__gcc_personality_v0" },
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		assert_int_equal(check(of[i].which, "", &err), -1);
		assert_int_equal(err.kind, ERR_REFUSED);
		assert_non_null(strstr(err.text, of[i].name));
	}
}

static void the_runtime_is_excepted_by_its_name(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(check(1, "-Wl,-soname,libstdc++.so.6", &err), 0);
	assert_int_equal(check(1, "-Wl,-soname,libjemalloc.so.2", &err), 0);
	assert_int_equal(check(1, "-Wl,-soname,libstdc++.so.60", &err), -1);
}

static void without_symbols_nothing_is_told(void **state)
{
	struct arena *a = arena_new();
	struct err err = { 0 };
	struct image img;

	(void)state;
	assert_int_equal(image_parse(asm_build("catches", "-static -Wl,-e,f "
			 "-Wa,--defsym,which=9", a), a, &img, &err), 0);
	assert_int_equal(catches_check(&img, &err), -1);
	assert_non_null(strstr(err.text, "no symbols"));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_throws_does_not_catch),
		cmocka_unit_test(who_catches_is_seen_by_what_that_needs),
		cmocka_unit_test(the_runtime_is_excepted_by_its_name),
		cmocka_unit_test(without_symbols_nothing_is_told),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
