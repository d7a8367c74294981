/* test_edgecounts.c - edges and calls of a profile as places of the block table, and back */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "manager/samples/edgecounts.h"

enum { BASE = 0x400000 };

static struct blocktable_block block[] = { { 0x100, 0x20, 4, 0 }, { 0x120, 0x10, 3, 0 },
					   { 0x200, 0x40, 9, 1 } };
static const struct blocktable table = { .base = BASE, .nblock = 3, .block = block };

/* The last edge begins inside a block, of the calls one is in none and one leads into one. */
static struct profile_edge edge[] = { { BASE + 0x100, BASE + 0x120, 7 },
				      { BASE + 0x100, BASE + 0x200, 0.4 },
				      { BASE + 0x120, BASE + 0x100, 2.5 },
				      { BASE + 0x124, BASE + 0x100, 9 } };
static struct profile_call call[] = { { BASE + 0x105, BASE + 0x200, 5 },
				      { BASE + 0x12f, BASE + 0x100, 1 },
				      { BASE + 0x130, BASE + 0x200, 8 },
				      { BASE + 0x23f, BASE + 0x204, 8 } };
static const struct profile profile = { .outside = 3.6, .nedge = 4, .edge = edge,
					.ncall = 4, .call = call };

static struct edgecounts counts(void)
{
	struct edgecounts e;
	struct err err;

	if (edgecounts_of(&profile, &table, &e, &err) < 0)
		fail_msg("%s", err.text);
	return e;
}

static void places_are_of_the_table(void **state)
{
	static const struct edgecounts_edge edges[] = { { 0, 1, 7 }, { 1, 0, 3 } };
	static const struct edgecounts_call calls[] = { { 0, 5, 2, 5 }, { 1, 15, 0, 1 } };
	struct edgecounts e = counts();

	(void)state;
	assert_int_equal(e.left_out, 4);
	assert_int_equal(e.nedge, 2);
	assert_memory_equal(e.edge, edges, sizeof(edges));
	assert_int_equal(e.ncall, 2);
	assert_memory_equal(e.call, calls, sizeof(calls));
	assert_int_equal(edgecounts_sum(&e), 7 + 3 + 5 + 1);
	edgecounts_free(&e);
	assert_int_equal(edgecounts_sum(&e), 0);
}

static void another_file_has_other_places(void **state)
{
	struct blocktable other = table;
	struct edgecounts e;
	struct err err;

	(void)state;
	other.original.b[31] = 1;
	assert_int_equal(edgecounts_of(&profile, &other, &e, &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
}

static void they_come_back_as_addresses(void **state)
{
	struct arena *a = arena_new();
	struct edgecounts e = counts();
	struct profile p = { 0 };

	(void)state;
	e.call[1].at = 0x10;		/* behind its block */
	edgecounts_to_profile(&e, 2, &table, a, &p);
	assert_int_equal(p.nedge, 2);
	assert_int_equal(p.edge[1].from, BASE + 0x120);
	assert_int_equal(p.edge[1].to, BASE + 0x100);
	assert_true(p.edge[1].count == 1.5);
	assert_int_equal(p.ncall, 1);
	assert_int_equal(p.call[0].insn, BASE + 0x105);
	assert_int_equal(p.call[0].target, BASE + 0x200);
	assert_true(p.call[0].count == 2.5);
	edgecounts_free(&e);
	arena_free(a);
}

static void counts_add_up_and_fade(void **state)
{
	struct edgecounts e = counts(), more = counts();

	(void)state;
	more.edge[0].to = 2;
	more.edge[1].count = UINT64_MAX / 2;
	edgecounts_add(&e, &more, 10);
	assert_int_equal(e.nedge, 3);
	assert_int_equal(e.edge[0].count, 7);
	assert_int_equal(e.edge[1].to, 2);
	assert_int_equal(e.edge[1].count, 70);
	assert_true(e.edge[2].count == UINT64_MAX);
	assert_int_equal(e.ncall, 2);
	assert_int_equal(e.call[0].count, 5 + 50);
	assert_true(edgecounts_sum(&e) == UINT64_MAX);
	e.edge[2].count = 3;
	edgecounts_scale(&e, 0.05);
	assert_int_equal(e.nedge, 1);
	assert_int_equal(e.edge[0].count, 4);
	assert_int_equal(e.ncall, 2);
	assert_int_equal(e.call[0].count, 3);
	assert_int_equal(e.call[1].count, 1);
	edgecounts_free(&e);
	edgecounts_free(&more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_of_the_table),
		cmocka_unit_test(another_file_has_other_places),
		cmocka_unit_test(they_come_back_as_addresses),
		cmocka_unit_test(counts_add_up_and_fade),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
