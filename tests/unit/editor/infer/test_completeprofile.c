/* test_completeprofile.c - counts as a complete profile: units, order, parallel edges */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "editor/infer/completeprofile.h"

enum { NBLOCK = 4 };

struct world {
	struct prog prog;
	struct fn fn[2];
	struct block block[2][NBLOCK];
	struct jump_table table;
	uint32_t succ[3];
	double count[3];
};

/* f branches to one block either way, then jumps through a table of b2, b3, b2, whose edges to
 * b2 are counted at the first; g, which stands before f, has one block. */
static void make(struct world *w)
{
	const struct block of_f[NBLOCK] = {
		{ .addr = 0x200, .count = 10, .fall = 1, .taken = 1, .fall_count = 4,
		  .taken_count = 6, .table = NO_TABLE },
		{ .addr = 0x210, .count = 10, .fall = NO_BLOCK, .taken = NO_BLOCK, .table = 0 },
		{ .addr = 0x220, .count = 7, .fall = 3, .taken = 0, .fall_count = 7,
		  .table = NO_TABLE },
		{ .addr = 0x230, .fall = NO_BLOCK, .taken = NO_BLOCK, .table = NO_TABLE },
	};

	memset(w, 0, sizeof(*w));
	memcpy(w->block[0], of_f, sizeof(of_f));
	w->block[1][0] = (struct block){ .addr = 0x100, .count = 5, .fall = NO_BLOCK,
		.taken = NO_BLOCK, .table = NO_TABLE };
	memcpy(w->succ, (const uint32_t[]){ 2, 3, 2 }, sizeof(w->succ));
	memcpy(w->count, (const double[]){ 7, 3, 0 }, sizeof(w->count));
	w->table = (struct jump_table){ .succ = w->succ, .nentry = 3, .count = w->count };
	w->fn[0] = (struct fn){ .block = w->block[0], .nblock = NBLOCK, .table = &w->table,
		.ntable = 1, .moved = true };
	w->fn[1] = (struct fn){ .block = w->block[1], .nblock = 1, .moved = true };
	w->prog = (struct prog){ .arena = arena_new(), .fn = w->fn, .nfn = 2 };
}

static void assert_edge(const struct profile_edge *e, vaddr from, vaddr to, double count)
{
	assert_int_equal(e->from, from);
	assert_int_equal(e->to, to);
	assert_true(e->count == count);
}

static void blocks_and_edges_that_run_ascend_and_parallel_edges_are_one(void **state)
{
	struct world w;
	struct profile p;

	(void)state;
	make(&w);
	w.prog.exact = true;
	completeprofile_make(&w.prog, "m", &p);
	assert_true(profile_is_exact(&p));
	assert_string_equal(p.module, "m");
	assert_int_equal(p.nblock, 4);
	assert_int_equal(p.block[0].addr, 0x100);
	assert_true(p.block[0].samples == 5);
	assert_int_equal(p.block[3].addr, 0x220);
	assert_int_equal(p.nedge, 4);
	assert_edge(&p.edge[0], 0x200, 0x210, 10);
	assert_edge(&p.edge[1], 0x210, 0x220, 7);
	assert_edge(&p.edge[2], 0x210, 0x230, 3);
	assert_edge(&p.edge[3], 0x220, 0x230, 7);
	arena_free(w.prog.arena);
}

static void estimates_are_thousandths_of_functions_that_move(void **state)
{
	struct world w;
	struct profile p;

	(void)state;
	make(&w);
	w.fn[0].moved = false;
	completeprofile_make(&w.prog, "m", &p);
	assert_int_equal(p.nblock, 1);
	assert_int_equal(p.nedge, 0);
	assert_true(p.block[0].samples == 5000);
	arena_free(w.prog.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_and_edges_that_run_ascend_and_parallel_edges_are_one),
		cmocka_unit_test(estimates_are_thousandths_of_functions_that_move),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
