/* test_callgraph.c - the call graph that functions are ordered by */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/unit/irtext.h"
#include "editor/passes/callgraph.h"
#include "lib/err.h"

/* f calls g from b1 and jumps on, from b2, to where a register says. */
static const char text[] =
	"fn f\n"
	"  b0 size 20 insns 5 count 10 -> b1:10\n"
	"  b1 size 30 insns 5 count 100 call g -> b2:10 b1:90\n"
	"  b2 size 12 insns 3 count 8 -> ijmp\n"
	"fn g\n"
	"  b0 size 20 insns 5 count 100 -> ret\n"
	"fn h\n"
	"  b0 size 20 insns 5 count 6 -> ret\n"
	"fn s still\n"
	"  b0 size 20 insns 5 count 6 -> ret\n"
	"run none\n";

static struct prog *read_text(struct arena *a)
{
	struct irtext *t = arena_alloc(a, sizeof(*t));
	struct err err;

	if (irtext_parse((struct bytes){ (const uint8_t *)text, strlen(text) }, a, t, &err) < 0)
		fail_msg("%s", err.text);
	return &t->prog;
}

static void assert_edge(const struct proc_edge *e, uint32_t from, uint32_t to, double weight,
			uint64_t off)
{
	assert_int_equal(e->from, from);
	assert_int_equal(e->to, to);
	assert_true(e->weight == weight);
	assert_int_equal(e->off, off);
}

static void direct_calls_are_made_as_often_as_their_block_runs(void **state)
{
	struct arena *a = arena_new();
	struct proc_graph g;

	(void)state;
	callgraph_make(read_text(a), a, &g);
	assert_int_equal(g.nproc, 3);
	assert_int_equal(g.size[0], 62);
	assert_int_equal(g.nedge, 1);
	assert_edge(&g.edge[0], 0, 1, 100, 20);
	arena_free(a);
}

/* Of 20 jumps seen 5 went to g, 10 to h and 5 to a function that stays: b2 ran 8 times. */
static void indirect_calls_are_shared_out_by_what_was_seen(void **state)
{
	struct arena *a = arena_new();
	struct prog *prog = read_text(a);
	struct fn *f = &prog->fn[0];
	uint32_t last = f->block[2].insn + f->block[2].ninsn - 1;
	struct seen_call seen[] = {
		{ last, prog->fn[1].entry, 5 }, { last, prog->fn[2].entry, 10 },
		{ last, prog->fn[3].entry, 5 },
	};
	struct proc_graph g;

	(void)state;
	f->seen_call = seen;
	f->nseen_call = 3;
	callgraph_make(prog, a, &g);
	assert_int_equal(g.nedge, 3);
	assert_edge(&g.edge[1], 0, 1, 2, 50);
	assert_edge(&g.edge[2], 0, 2, 4, 50);
	arena_free(a);
}

/* Offsets are those of the new order, and fluff takes no room. */
static void offsets_count_hot_blocks_in_their_order(void **state)
{
	struct arena *a = arena_new();
	struct prog *prog = read_text(a);
	struct fn *f = &prog->fn[0];
	struct proc_graph g;

	(void)state;
	f->order[1] = 2;
	f->order[2] = 1;
	callgraph_make(prog, a, &g);
	assert_int_equal(g.edge[0].off, 32);
	f->block[2].cold = true;
	callgraph_make(prog, a, &g);
	assert_int_equal(g.edge[0].off, 20);
	assert_int_equal(g.size[0], 50);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(direct_calls_are_made_as_often_as_their_block_runs),
		cmocka_unit_test(indirect_calls_are_shared_out_by_what_was_seen),
		cmocka_unit_test(offsets_count_hot_blocks_in_their_order),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
