/* test_codenames.c - what code made at run time is called, by what was written of it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "editor/exchange/codenames.h"
#include "lib/arena.h"
#include "lib/err.h"

static struct arena *a;

static const char *resolve(struct bytes file, const char *places)
{
	struct wr out = { 0 };
	struct err err = { 0 };
	struct bytes at = { (const uint8_t *)places, strlen(places) };

	if (codenames_resolve(file, at, a, &out, &err) < 0) {
		wr_free(&out);
		return arena_printf(a, "%s", err.text);
	}
	const char *text = arena_printf(a, "%.*s", (int)out.n, (const char *)out.p);
	wr_free(&out);
	return text;
}

static const char *of_map(const char *map, const char *places)
{
	return resolve((struct bytes){ (const uint8_t *)map, strlen(map) }, places);
}

#define NONE "place\t0x0\t0x0\t-\n"
#define NAMED(name, number) "frame\t0\t\t" name "\nplace\t0x0\t0x0\t" number "\n"
#define FIRST(name, number) "function\t0x0\t0\t" name "\n" NAMED(name, number)

static void a_map_names_what_its_pieces_cover(void **state)
{
	static const char map[] = "7f0010 10 one\n0x7f0020 0X20 two of them\n7f0040 1 three";

	(void)state;
	assert_string_equal(of_map(map, "0x7f0010\n"), FIRST("one", "0"));
	assert_string_equal(of_map(map, "0x7f003f\n0x7f000f\n0x7f001f\n0x7f0020\n0x7f0040\n"),
			    FIRST("two of them", "0") NONE FIRST("one", "1")
			    NAMED("two of them", "0") FIRST("three", "2"));
	assert_string_equal(of_map(map, "0x7f0041\n"), NONE);
	assert_string_equal(of_map(map, ""), "");
	assert_string_equal(of_map("", "0x1\n"), NONE);
}

static void later_code_holds_where_it_covers_earlier(void **state)
{
	static const char map[] = "1000 1000 old\n1100 10 new\n1108 4 newest\n1108 2 last\n";

	(void)state;
	assert_string_equal(of_map(map, "0x10ff\n0x1100\n0x1108\n0x110a\n0x110c\n0x1110\n"),
			    FIRST("old", "0") FIRST("new", "1") FIRST("last", "2")
			    FIRST("newest", "3") NAMED("new", "1") NAMED("old", "0"));
}

static void lines_that_are_none_are_passed_by(void **state)
{
	(void)state;
	assert_string_equal(of_map("\n1000\n1000 10\n1000 10 \nx 10 name\n1000  y name\n"
				   "1000 0 empty\n12345678901234567 10 long\n"
				   "ffffffffffffffff 10 over\n1000\t10\tgood\n", "0x1000\n"),
			    FIRST("good", "0"));
}

static void names_are_shown_as_all_are(void **state)
{
	char name[1200] = "10 10 ";

	(void)state;
	assert_string_equal(of_map("10 10 a\tb\033[31m\n", "0x10\n"),
			    FIRST("a\\x09b\\x1b[31m", "0"));
	memset(name + 6, 'x', sizeof(name) - 7);
	const char *text = of_map(name, "0x10\n");
	assert_true(strlen(text) < 1200);	/* twice, and cut */
}

static void put_load(struct wr *w, uint64_t addr, uint64_t size, const char *name)
{
	uint32_t n = (uint32_t)strlen(name) + 1;

	wr_u32(w, 0);
	wr_u32(w, 16 + 40 + n + 3);
	wr_u64(w, 12345);
	wr_u32(w, 7);
	wr_u32(w, 7);
	wr_u64(w, addr);
	wr_u64(w, addr);
	wr_u64(w, size);
	wr_u64(w, 1);
	wr_raw(w, name, n);
	wr_raw(w, "\x90\x90\xc3", 3);
}

static void put_header(struct wr *w, uint32_t size)
{
	wr_u32(w, 0x4a695444);
	wr_u32(w, 1);
	wr_u32(w, size);
	for (int i = 12; i < 40; i += 4)
		wr_u32(w, 0);
}

static void a_jitdump_names_what_was_loaded(void **state)
{
	struct wr w = { 0 };

	(void)state;
	put_header(&w, 40);
	put_load(&w, 0x1000, 3, "one");
	wr_u32(&w, 2);				/* debug information */
	wr_u32(&w, 24);
	wr_u64(&w, 0);
	wr_u64(&w, 0x1000);
	put_load(&w, 0x1001, 8, "two");
	put_load(&w, 0x2000, 8, "cut off");
	w.n -= 4;
	assert_string_equal(resolve(wr_bytes(&w), "0x1000\n0x1001\n0x1008\n0x1009\n0x2000\n"),
			    FIRST("one", "0") FIRST("two", "1") NAMED("two", "1") NONE NONE);
	wr_free(&w);
	put_header(&w, 20);
	assert_string_equal(resolve(wr_bytes(&w), "0x1000\n"),
			    "a jitdump with a header of 20 bytes");
	wr_free(&w);
	put_header(&w, 400);
	assert_string_equal(resolve(wr_bytes(&w), "0x1000\n"),
			    "a jitdump with a header of 400 bytes");
	wr_free(&w);
}

static void places_are_addresses_and_nothing_else(void **state)
{
	static const char *const bad[] = { "+0x10\n", "0x10", "0x10\n\n", "1 2\n", "0x\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_string_equal(of_map("10 10 one\n", bad[i]), "malformed places");
}

/* As fast as one without, whatever covers what: else this takes minutes. */
static void a_million_pieces_on_top_of_each_other_are_no_work(void **state)
{
	struct wr map = { 0 }, places = { 0 };

	(void)state;
	for (int i = 0; i < 1000000; i++)
		wr_text(&map, "0 ffffff all\n");
	for (int i = 0; i < 20000; i++)
		wr_text(&places, arena_printf(a, "0x%x\n", i));
	const char *text = arena_printf(a, "%.*s", (int)places.n, (const char *)places.p);
	assert_non_null(strstr(resolve(wr_bytes(&map), text), NAMED("all", "0")));
	wr_free(&map);
	wr_free(&places);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_map_names_what_its_pieces_cover),
		cmocka_unit_test(later_code_holds_where_it_covers_earlier),
		cmocka_unit_test(lines_that_are_none_are_passed_by),
		cmocka_unit_test(names_are_shown_as_all_are),
		cmocka_unit_test(a_jitdump_names_what_was_loaded),
		cmocka_unit_test(places_are_addresses_and_nothing_else),
		cmocka_unit_test(a_million_pieces_on_top_of_each_other_are_no_work),
	};

	a = arena_new();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	arena_free(a);
	return failed;
}
