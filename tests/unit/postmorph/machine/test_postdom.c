/* test_postdom.c - where the ways of branches meet (tests/asm/joins.s), and what is written
 * before */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "binary/dynamic.h"
#include "postmorph/machine/postdom.h"
#include "tests/unit/asm.h"

enum { RAX = 1 << 0, RCX = 1 << 1, RSI = 1 << 6, RDI = 1 << 7, R8 = 1 << 8, R9 = 1 << 9, R10 = 1
       << 10, R13 = 1 << 13, R15 = 1 << 15, RBP = 1 << 5 };
enum { AT_RSP = 4, AT_R12 = 12 };

static struct arena *arena;
static struct image img;
static struct { const char *name; vaddr addr; } symbol[128];
static uint32_t nsymbol;

static void take_symbol(void *ctx, uint32_t index, const struct symbol *s)
{
	(void)ctx;
	(void)index;
	if (s->defined && *s->name && nsymbol < 128) {
		symbol[nsymbol].name = s->name;
		symbol[nsymbol++].addr = s->value;
	}
}

static vaddr address_of(const char *name, const char *what)
{
	const char *wanted = arena_printf(arena, "%s_%s", name, what);

	for (uint32_t i = 0; i < nsymbol; i++)
		if (strcmp(symbol[i].name, wanted) == 0)
			return symbol[i].addr;
	fail_msg("no symbol %s", wanted);
	return 0;
}

static int set_up(void **state)
{
	struct err err;

	(void)state;
	arena = arena_new();
	if (image_parse(asm_build("joins", "-shared", arena), arena, &img, &err) < 0)
		fail_msg("%s", err.text);
	symbols_each(&img, SHT_SYMTAB, take_symbol, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static struct join find(const char *name)
{
	struct err err;
	struct joins *j = joins_new(&img, arena, &err);

	assert_non_null(j);
	struct join first = *joins_find(j, address_of(name, "branch"));
	struct join again = *joins_find(j, address_of(name, "branch"));
	assert_int_equal(first.at, again.at);
	return again;
}

static void ways_meet_and_what_is_written_before_is_told(void **state)
{
	static const struct {
		const char *name;
		uint32_t writes;
		bool flags, calls, stores;
		int64_t rsp;
	} cases[] = {
		{ .name = "one", .writes = RCX },
		{ .name = "nested", .writes = RSI | R8 | R9 | R15, .flags = true },
		{ .name = "loop", .writes = RAX | R10, .flags = true },
		{ .name = "stores", .writes = RAX },
		{ .name = "anywhere", .writes = R13, .stores = true },
		{ .name = "indexed", .stores = true },
		{ .name = "calls",
		  .writes = MACHINE_CALLER_SAVED, .flags = true,
		  .calls = true },
		{ .name = "frame", .writes = RBP, .flags = true, .rsp = 24 },
		{ .name = "trap" },
		{ .name = "abort" },
		{ .name = "circle" },
		{ .name = "far" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct join join = find(cases[i].name);

		if (!join.found || join.at != address_of(cases[i].name, "join"))
			fail_msg("%s: joins at %#llx", cases[i].name,
				 (unsigned long long)join.at);
		if (join.writes != cases[i].writes || join.flags != cases[i].flags)
			fail_msg("%s: writes %#x, flags %d", cases[i].name, join.writes,
				 join.flags);
		if (join.calls != cases[i].calls || join.stores != cases[i].stores)
			fail_msg("%s: calls %d, stores %d", cases[i].name, join.calls,
				 join.stores);
		if (join.rsp != cases[i].rsp)
			fail_msg("%s: stack %lld", cases[i].name, (long long)join.rsp);
	}
}

/* In terms of the registers at the branch. */
static void places_of_stores_are_told(void **state)
{
	static const struct join_store want[] = { { 8, 4, AT_R12 },
						  { 16, 8, AT_RSP },
						  { -40, 16, AT_RSP } };
	struct join join = find("stores");

	(void)state;
	assert_int_equal(join.nstore, 3);
	for (uint32_t i = 0; i < join.nstore; i++) {
		bool found = false;

		for (int k = 0; k < 3; k++)
			found |= join.store[i].disp == want[k].disp &&
				 join.store[i].base == want[k].base &&
				 join.store[i].bytes == want[k].bytes;
		if (!found)
			fail_msg("%u bytes at %d from %u", join.store[i].bytes,
				 join.store[i].disp, join.store[i].base);
	}
}

static void ways_that_do_not_meet_have_no_join(void **state)
{
	static const char *const cases[] = { "returns", "computed", "stack",  "frame_pointer",
					     "system",	"doomed",   "farther" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (find(cases[i]).found)
			fail_msg("%s: joins at %#llx", cases[i],
				 (unsigned long long)find(cases[i]).at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ways_meet_and_what_is_written_before_is_told),
		cmocka_unit_test(places_of_stores_are_told),
		cmocka_unit_test(ways_that_do_not_meet_have_no_join),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
