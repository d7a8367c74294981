/* test_maps.c - mappings are read, and room is found where nothing else needs it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "live/maps.h"

enum { MIB = 1 << 20 };
static const uint64_t stack = 8 * MIB;

static const char program[] =
	"555555554000-555555560000 r--p 00000000 fe:00 11 /usr/bin/a file\n"
	"555555560000-555555580000 r-xp 0000c000 fe:00 11 /usr/bin/a file\n"
	"555555580000-555555590000 rw-p 0002c000 fe:00 11 /usr/bin/a file\n"
	"555555590000-5555555a0000 rw-p 00000000 00:00 0\n"
	"555555b00000-555555c00000 rw-p 00000000 00:00 0                          [heap]\n"
	"7ffff7a00000-7ffff7b00000 r-xp 00000000 fe:00 12 /usr/lib/b.so\n"
	"7ffff7b00000-7ffff7c00000 r-xp 00000000 fe:00 13 /usr/lib/c.so\n"
	"7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]\n";

static struct live_maps read_maps(const char *text)
{
	char copy[4096];
	struct live_maps m = { 0 };
	struct err err;

	(void)snprintf(copy, sizeof(copy), "%s", text);
	assert_int_equal(live_maps_parse(copy, &m, &err), 0);
	return m;
}

static void mappings_are_read(void **state)
{
	struct live_maps m = read_maps(program);

	(void)state;
	assert_int_equal(m.n, 8);
	const struct live_map *text = live_maps_at(&m, 0x555555570000);
	assert_true(text == &m.map[1] && text->exec && text->read && !text->write);
	assert_true(text->offset == 0xc000 && text->inode == 11 && !text->shared);
	assert_string_equal(text->name, "/usr/bin/a file");
	assert_string_equal(m.map[4].name, "[heap]");
	assert_null(live_maps_at(&m, 0x555555a00000));
	assert_true(live_maps_free_at(&m, 0x5555555a0000, 0x555555b00000));
	assert_false(live_maps_free_at(&m, 0x5555555a0000, 0x555555b00001));
	assert_false(live_maps_free_at(&m, 0x55555559f000, 0x555555a00000));
	live_maps_free(&m);
}

static void what_is_no_mapping_is_refused(void **state)
{
	static const char twice[] = "1000-3000 r--p 0 0:0 0\n"
				    "2000-4000 r--p 0 0:0 0\n";
	static const char *const bad[] = { "x\n", "2000-1000 r--p 0 0:0 0\n",
					   "1000-2000 r--p\n", twice };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char copy[128];
		struct live_maps m;
		struct err err;

		(void)snprintf(copy, sizeof(copy), "%s", bad[i]);
		assert_int_equal(live_maps_parse(copy, &m, &err), -1);
		assert_int_equal(err.kind, ERR_INPUT);
	}
}

static void our_own_can_be_read(void **state)
{
	struct live_maps m;
	struct err err;

	(void)state;
	assert_int_equal(live_maps_read(getpid(), &m, &err), 0);
	uint64_t addr = (uint64_t)(uintptr_t)our_own_can_be_read;
	const struct live_map *here = live_maps_at(&m, addr);
	assert_true(here && here->exec);
	live_maps_free(&m);
}

/* LO, HI and SIZE in the first program; 0 is none. */
static uint64_t room(uint64_t lo, uint64_t hi, uint64_t at, uint64_t size)
{
	struct live_maps m = read_maps(program);
	uint64_t found = live_maps_room(&m, lo, hi, at, size, stack);

	live_maps_free(&m);
	return found;
}

static const uint64_t lo = 0x555555554000, hi = 0x5555555a0000;

/* One that has executed another program since its mappings were read has none of them. */
static void a_mapping_that_is_gone_is_no_error(void **state)
{
	struct live_map at;
	struct live_maps m;
	struct err err;

	(void)state;
	assert_int_equal(live_maps_read(getpid(), &m, &err), 0);
	at = *live_maps_at(&m, (uint64_t)(uintptr_t)&live_maps_read);
	int fd = live_map_open(getpid(), &at, &err);

	assert_true(fd >= 0);
	close(fd);
	at.end += 4096;
	assert_int_equal(live_map_open(getpid(), &at, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_string_equal(err.text, "its mappings have changed");
	live_maps_free(&m);
}

static void its_usual_place_is_kept(void **state)
{
	(void)state;
	assert_true(room(lo, hi, 0x555555680000, MIB) == 0x555555680000);
}

static void the_gap_in_front_of_the_heap_is_used(void **state)
{
	(void)state;
	/* at its usual place it would reach into the heap, and in front of that not */
	assert_true(room(lo, hi, 0x555555a80000, MIB) > 0x555555c00000);
	assert_true(room(lo, hi, hi, 4 * MIB) == hi + 4096);
}

static void the_heap_can_grow(void **state)
{
	uint64_t at = room(lo, hi, hi, 6 * MIB);

	(void)state;
	assert_true(at >= 0x555555c00000 + ((uint64_t)1 << 30));
	assert_true(at + 6 * MIB - lo < (uint64_t)1 << 31);
	/* there is no place that near */
	assert_true(room(lo, hi, hi, (uint64_t)1 << 30) == 0);
}

static void a_library_goes_behind_others(void **state)
{
	(void)state;
	assert_true(room(0x7ffff7a00000, 0x7ffff7b00000, 0x7ffff7b10000, MIB) ==
		    0x7ffff7c00000 + 4096);
}

static void the_stack_can_grow(void **state)
{
	uint64_t size = 0x7ffffffde000 - 0x7ffff7c00000 - stack;

	(void)state;
	assert_true(room(0x7ffff7a00000, 0x7ffff7b00000, 0x7ffff7b10000, size - 2 * 4096) ==
		    0x7ffff7c00000 + 4096);
	assert_true(room(0x7ffff7a00000, 0x7ffff7b00000, 0x7ffff7b10000, size - 4096) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_are_read),
		cmocka_unit_test(what_is_no_mapping_is_refused),
		cmocka_unit_test(our_own_can_be_read),
		cmocka_unit_test(a_mapping_that_is_gone_is_no_error),
		cmocka_unit_test(its_usual_place_is_kept),
		cmocka_unit_test(the_gap_in_front_of_the_heap_is_used),
		cmocka_unit_test(the_heap_can_grow),
		cmocka_unit_test(a_library_goes_behind_others),
		cmocka_unit_test(the_stack_can_grow),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
