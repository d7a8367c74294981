/* test_countsfile.c - what is written is read; each field that is damaged alone is refused */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/arena.h"
#include "lib/countsfile.h"
#include "lib/err.h"

enum { NCOUNTER = 5, NSLOT = 2 };
/* places of fields: head, digest, then these */
enum { BASE = COUNTSFILE_HEAD + 32, OFFSET = BASE + 8, SIZE = OFFSET + 8, MAP = SIZE + 8,
       NMAP = MAP + 8, NHEAT = NMAP + 8, COUNTERS = NHEAT + 8, PATH = COUNTERS + 12 };

static struct arena *arena;

static int begin(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int end(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static struct wr written(void)
{
	static const char path[] = "/usr/bin/program";
	struct countsfile f = {
		.head = "MORPHCNT\3", .original = { { 1, 2, 3 } }, .base = 0x400000,
		.ncounter = NCOUNTER, .nslot = NSLOT, .nsite = 1, .path = path,
		.offset = countsfile_offset(path), .size = countsfile_size(NCOUNTER, NSLOT),
		.map = { (const uint8_t *)"map", 3 }, .heat = { (const uint8_t *)"heat", 4 },
	};
	struct wr w = { 0 };

	countsfile_write(&f, &w);
	return w;
}

static void what_is_written_is_read(void **state)
{
	struct wr w = written();
	struct countsfile f;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(countsfile_read(wr_bytes(&w), arena, &f, &err), 0);
	assert_int_equal(f.base, 0x400000);
	assert_int_equal(f.ncounter, NCOUNTER);
	assert_int_equal(f.nslot, NSLOT);
	assert_string_equal(f.path, "/usr/bin/program");
	assert_int_equal(f.map.n, 3);
	assert_memory_equal(f.map.p, "map", 3);
	assert_int_equal(f.heat.n, 4);
	assert_memory_equal(f.heat.p, "heat", 4);
	assert_int_equal(f.counters.n, 8 * NCOUNTER);
	assert_int_equal(f.slots.n, COUNTSFILE_SLOT * NSLOT);
	wr_free(&w);
}

static void refuse(struct bytes file, const char *what)
{
	struct countsfile f;
	struct err err = { 0 };

	if (countsfile_read(file, arena, &f, &err) == 0)
		fail_msg("%s: accepted", what);
	assert_non_null(strstr(err.text, "damaged"));
}

static void a_damaged_field_is_refused(void **state)
{
	static const struct {
		const char *what;
		uint32_t at;
		uint8_t byte;		/* the field's last but one, and first otherwise */
		bool high;
	} damage[] = {
		{ "the counters' place", OFFSET, 1, true },
		{ "their size", SIZE, 8, false },
		{ "the map's place", MAP, 1, true },
		{ "the map's size", NMAP, 1, true },
		{ "the heat's size", NHEAT, 5, false },
		{ "fewer counters than there always are", COUNTERS, 1, false },
		{ "the path's length", PATH, 0, false },
		{ "a path beyond the end", PATH + 2, 255, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		struct wr w = written();

		w.p[damage[i].at + (damage[i].high ? 6 : 0)] = damage[i].byte;
		refuse(wr_bytes(&w), damage[i].what);
		wr_free(&w);
	}
}

static void what_was_cut_off_is_refused(void **state)
{
	struct wr w = written();

	(void)state;
	for (size_t n = PATH; n < w.n; n += n < PATH + 64 ? 1 : 97)
		refuse((struct bytes){ w.p, n }, "cut off");
	refuse((struct bytes){ w.p, w.n - 1 }, "cut off");
	wr_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_written_is_read, begin, end),
		cmocka_unit_test_setup_teardown(a_damaged_field_is_refused, begin, end),
		cmocka_unit_test_setup_teardown(what_was_cut_off_is_refused, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
