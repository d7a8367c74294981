/* test_branchstacks.c - branches and runs of small programs (tests/asm/interpret.s), and such
 * as the code does not have
 *
 * tests/e2e/branches.sh has the same of whole programs and their generations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "binary/dynamic.h"
#include "editor/interpret/branchstacks.h"
#include "lib/err.h"
#include "tests/unit/asm.h"

static struct {
	struct arena *a;
	struct prog prog;
	struct { const char *name; vaddr addr; } symbol[256];
	uint32_t nsymbol;
	struct profile placed;
	struct sightings_stats stats;
} fx;

static void take_symbol(void *ctx, uint32_t index, const struct symbol *s)
{
	(void)ctx;
	(void)index;
	if (s->defined && *s->name && fx.nsymbol < 256) {
		fx.symbol[fx.nsymbol].name = s->name;
		fx.symbol[fx.nsymbol++].addr = s->value;
	}
}

static vaddr address_of(const char *name)
{
	for (uint32_t i = 0; i < fx.nsymbol; i++)
		if (strcmp(fx.symbol[i].name, name) == 0)
			return fx.symbol[i].addr;
	fail_msg("no symbol %s", name);
	return 0;
}

static int set_up(void **state)
{
	struct err err;

	(void)state;
	fx.a = arena_new();
	struct bytes file =
		asm_build("interpret", "-shared -Wl,-z,relro -Wl,-Bsymbolic", fx.a);
	if (prog_analyze(file, fx.a, &fx.prog, &err) < 0)
		fail_msg("%s", err.text);
	symbols_each(&fx.prog.img, SHT_SYMTAB, take_symbol, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	arena_free(fx.a);
	return 0;
}

/* The last instruction in front of a symbol. */
static vaddr last_before(const char *symbol)
{
	vaddr end = address_of(symbol);
	const struct fn *fn = &fx.prog.fn[prog_find_fn(&fx.prog, end - 1)];

	for (uint32_t i = 0; i < fn->ninsn; i++)
		if (prog_insn_addr(&fx.prog, &fn->insn[i]) + fn->insn[i].len == end)
			return prog_insn_addr(&fx.prog, &fn->insn[i]);
	fail_msg("nothing in front of %s", symbol);
	return 0;
}

static void place(enum sighting_kind kind, vaddr from, vaddr to)
{
	struct sighting s = { from, to, kind, 3 };
	struct sightings_source source = { .mapped = &fx.prog.img, .sighting = &s,
					   .nsighting = 1, .executions = true };

	fx.placed = (struct profile){ 0 };
	branchstacks_place(&source, &fx.prog, &fx.placed, &fx.stats);
}

static void nothing(uint64_t why)
{
	assert_int_equal(fx.placed.nedge + fx.placed.ncall + fx.placed.nblock, 0);
	assert_int_equal(why, 3);
}

static void one_edge(const char *from, const char *to)
{
	assert_int_equal(fx.placed.nedge, 1);
	assert_int_equal(fx.placed.edge[0].from, address_of(from));
	assert_int_equal(fx.placed.edge[0].to, address_of(to));
	assert_true(fx.placed.edge[0].count == 3);
}

static void a_taken_branch_is_an_edge_or_a_call(void **state)
{
	(void)state;
	place(SIGHTING_TAKEN, last_before("above"), address_of("below"));
	one_edge("by_register", "below");
	assert_int_equal(fx.stats.taken, 3);
	place(SIGHTING_TAKEN, last_before("case_0"), address_of("case_2"));
	one_edge("in_table", "case_2");
	place(SIGHTING_TAKEN, address_of("dcall"), address_of("callee"));
	assert_int_equal(fx.placed.nedge, 0);
	assert_int_equal(fx.placed.ncall, 1);
	assert_int_equal(fx.placed.call[0].insn, address_of("dcall"));
	assert_int_equal(fx.placed.call[0].target, address_of("callee"));
	assert_int_equal(fx.stats.calls, 3);
	place(SIGHTING_TAKEN, last_before("below"), address_of("back"));	/* ret */
	assert_int_equal(fx.stats.returns, 3);
	assert_int_equal(fx.placed.ncall, 0);
	/* the call was the last of its block, so control went on over an edge */
	assert_int_equal(fx.placed.nedge, 1);
	assert_int_equal(fx.placed.edge[0].to, address_of("back"));
	place(SIGHTING_TAKEN, last_before("below"), address_of("above"));	/* no call */
	assert_int_equal(fx.placed.nedge + fx.placed.ncall, 0);
}

static void a_run_executes_blocks_and_goes_over_edges(void **state)
{
	(void)state;
	/* from the entry over the branch that is not taken to the return */
	place(SIGHTING_RUN, address_of("by_register"), last_before("below"));
	one_edge("by_register", "above");
	assert_int_equal(fx.placed.nblock, 2);
	assert_int_equal(fx.placed.block[0].addr, address_of("by_register"));
	assert_int_equal(fx.placed.block[1].addr, address_of("above"));
	assert_true(fx.placed.block[0].samples == 3 && fx.placed.block[1].samples == 3);
	assert_int_equal(fx.stats.runs, 3);
	/* from the middle of a block, which began in another run */
	place(SIGHTING_RUN, last_before("above"), last_before("below"));
	one_edge("by_register", "above");
	assert_int_equal(fx.placed.nblock, 1);
	place(SIGHTING_RUN, last_before("above"), last_before("above"));
	assert_int_equal(fx.placed.nedge + fx.placed.nblock, 0);
	assert_int_equal(fx.stats.runs, 3);
}

static void what_the_code_does_not_have_is_left_out(void **state)
{
	vaddr jcc = last_before("above"), table = last_before("case_0");

	(void)state;
	place(SIGHTING_TAKEN, address_of("by_register"), address_of("below"));	/* a cmp */
	nothing(fx.stats.no_branch);
	place(SIGHTING_TAKEN, jcc + 1, address_of("below"));	/* in the middle */
	nothing(fx.stats.no_branch + fx.stats.no_target);
	place(SIGHTING_TAKEN, 8, address_of("below"));		/* no code */
	nothing(fx.stats.no_branch);
	place(SIGHTING_TAKEN, jcc, address_of("above"));	/* the way that it falls */
	nothing(fx.stats.no_target);
	place(SIGHTING_TAKEN, table, 8);
	nothing(fx.stats.no_target);
	place(SIGHTING_TAKEN, table, address_of("no_case"));	/* not in the table */
	nothing(fx.stats.no_edge + fx.stats.outside);
	place(SIGHTING_RUN, address_of("by_register"), last_before("below") - 1);
	nothing(fx.stats.no_run);
	/* over a return, over a call, backwards, into code that is none */
	place(SIGHTING_RUN, address_of("by_register"), last_before("below") + 3);
	nothing(fx.stats.no_run);
	place(SIGHTING_RUN, address_of("dcall"), last_before("caller_eight"));
	nothing(fx.stats.no_run);
	place(SIGHTING_RUN, last_before("below"), address_of("by_register"));
	nothing(fx.stats.no_run);
	place(SIGHTING_RUN, UINT64_MAX - 1, UINT64_MAX);
	nothing(fx.stats.no_run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_taken_branch_is_an_edge_or_a_call),
		cmocka_unit_test(a_run_executes_blocks_and_goes_over_edges),
		cmocka_unit_test(what_the_code_does_not_have_is_left_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
