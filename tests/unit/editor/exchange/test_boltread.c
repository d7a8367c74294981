/* test_boltread.c - lines of fdata and of pre-aggregated profiles about a small program
 * (tests/asm/interpret.s), and such as its code does not have
 *
 * tests/e2e/bolt.sh has whole profiles, and llvm-bolt itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "binary/dynamic.h"
#include "editor/exchange/boltread.h"
#include "lib/err.h"
#include "tests/unit/asm.h"

static struct {
	struct arena *a;
	struct bytes file;
	struct image img;
	const char *wanted;
	vaddr found;
	struct profile p;
	struct boltread_counts n;
	struct err err;
} fx;

static void take_symbol(void *ctx, uint32_t index, const struct symbol *s)
{
	(void)ctx;
	(void)index;
	if (s->defined && strcmp(s->name, fx.wanted) == 0)
		fx.found = s->value;
}

static vaddr address_of(const char *name)
{
	fx.wanted = name;
	fx.found = 0;
	symbols_each(&fx.img, SHT_SYMTAB, take_symbol, NULL);
	if (!fx.found)
		fail_msg("no symbol %s", name);
	return fx.found;
}

static int set_up(void **state)
{
	(void)state;
	fx.a = arena_new();
	fx.file = asm_build("interpret", "-shared -Wl,-z,relro -Wl,-Bsymbolic", fx.a);
	return image_parse(fx.file, fx.a, &fx.img, &fx.err);
}

static int tear_down(void **state)
{
	(void)state;
	arena_free(fx.a);
	return 0;
}

static int read_text(const char *text)
{
	struct bytes b = { (const uint8_t *)text, strlen(text) };

	fx.err.text[0] = '\0';
	return boltread(fx.file, b, fx.a, &fx.p, &fx.n, &fx.err);
}

static void is_refused(const char *text, const char *why)
{
	assert_int_equal(read_text(text), -1);
	if (!strstr(fx.err.text, why))
		fail_msg("'%s' is refused by '%s'", text, fx.err.text);
}

/* The branch in front of `above`, by its function's name and its offset. */
static char *branch(const char *to_name, vaddr to_off, const char *rest)
{
	return arena_printf(fx.a, "1 by_register %llx 1 %s %llx %s\n",
			    (unsigned long long)(address_of("above") - 2 -
						 address_of("by_register")),
			    to_name, (unsigned long long)to_off, rest);
}

static double block(const char *name)
{
	for (uint32_t i = 0; i < fx.p.nblock; i++)
		if (fx.p.block[i].addr == address_of(name))
			return fx.p.block[i].samples;
	return 0;
}

static void edges_of_fdata_are_edges_taken_or_not(void **state)
{
	vaddr base = address_of("by_register");

	(void)state;
	char *text = arena_printf(fx.a, "%s%s0 [unknown] 0 1 by_register 0 0 9\n",
				  branch("by_register", address_of("below") - base, "1 7"),
				  branch("by_register", address_of("above") - base, "0 2"));
	assert_int_equal(read_text(text), 0);
	assert_string_equal(fx.p.clock, "branches");
	assert_int_equal(fx.n.taken, 3);
	assert_int_equal(fx.n.impossible + fx.n.unknown + fx.n.elsewhere, 0);
	assert_int_equal(fx.p.nedge, 2);
	assert_true(fx.p.edge[0].from == base && fx.p.edge[0].to == address_of("above") &&
		    fx.p.edge[0].count == 2);
	assert_true(fx.p.edge[1].from == base && fx.p.edge[1].to == address_of("below") &&
		    fx.p.edge[1].count == 7);
	assert_true(block("by_register") == 9);
	assert_true(block("above") == 2);
	assert_true(block("below") == 7);
}

static void equal_lines_are_added_up(void **state)
{
	vaddr base = address_of("by_register");

	(void)state;
	char *one = branch("by_register", address_of("below") - base, "0 7");
	assert_int_equal(read_text(arena_printf(fx.a, "%s%s%s", one, one, one)), 0);
	assert_int_equal(fx.p.nedge, 1);
	assert_true(fx.p.edge[0].count == 21);
	/* that much left it, whatever entered */
	assert_true(block("by_register") == 21);
}

static void a_tail_call_is_a_call(void **state)
{
	vaddr base = address_of("conditional_tail_call");

	(void)state;
	assert_int_equal(read_text(arena_printf(
				 fx.a, "1 conditional_tail_call %llx 1 by_register 0 0 5\n",
				 (unsigned long long)(address_of("tail") - base))), 0);
	assert_int_equal(fx.p.nedge, 0);
	assert_int_equal(fx.p.ncall, 1);
	assert_true(fx.p.call[0].insn == address_of("tail") &&
		    fx.p.call[0].target == address_of("by_register") &&
		    fx.p.call[0].count == 5);
	assert_true(block("by_register") == 5);
}

static void what_the_code_does_not_have_is_left_out(void **state)
{
	vaddr base = address_of("by_register");

	(void)state;
	char *text = arena_printf(fx.a, "%s%s%s%s%s",
				  branch("by_register", address_of("below") - base, "0 7"),
				  branch("by_register", address_of("below") + 1 - base, "0 7"),
				  branch("by_flags", 0, "0 7"), branch("nobody", 0, "0 7"),
				  "1 by_register 1 0 libc.so.6 0 0 7\n");
	assert_int_equal(read_text(text), 0);
	assert_int_equal(fx.n.taken, 1);
	assert_int_equal(fx.n.impossible, 2);
	assert_int_equal(fx.n.unknown, 1);
	assert_int_equal(fx.n.elsewhere, 1);
	assert_int_equal(fx.p.nedge, 1);
	is_refused(branch("nobody", 0, "0 7"), "nothing of it is of this file");
}

static void samples_are_samples(void **state)
{
	(void)state;
	assert_int_equal(read_text("no_lbr cycles:u\n1 by_register 2 5\n1 by_register 0 4\n"
				   "1 nobody 0 3\n"), 0);
	assert_string_equal(fx.p.clock, "other");
	assert_int_equal(fx.p.nblock, 1);
	assert_true(block("by_register") == 9);
	assert_int_equal(fx.n.unknown, 1);
	assert_int_equal(read_text(arena_printf(fx.a, "E cycles\nS %llx 8\n",
						(unsigned long long)address_of("below"))), 0);
	assert_string_equal(fx.p.clock, "other");
	assert_true(block("below") == 8);
}

static void branches_and_runs_are_executions(void **state)
{
	unsigned long long jump = address_of("above") - 2, below = address_of("below"),
			   first = address_of("by_register");

	(void)state;
	char *two = arena_printf(fx.a, "B %llx %llx 3 1\nF %llx %llx 3\n", jump, below, first,
				 jump);
	char *one = arena_printf(fx.a, "T %llx %llx -1 3\nT ffffffffffffffff %llx %llx 3 0\n",
				 jump, below, first, jump);
	const char *text[] = { two, one };
	for (int i = 0; i < 2; i++) {
		assert_int_equal(read_text(text[i]), 0);
		assert_string_equal(fx.p.clock, "branches");
		assert_int_equal(fx.p.nedge, 1);
		assert_true(fx.p.edge[0].to == below && fx.p.edge[0].count == 3);
		assert_true(block("by_register") == 3);
		assert_int_equal(fx.n.impossible, 0);
	}
	assert_int_equal(read_text(arena_printf(fx.a, "%sB %llx %llx 4 0\nB X:12 %llx 1 0\n",
						two, jump, first, first)), 0);
	assert_int_equal(fx.n.impossible, 4);
	assert_int_equal(fx.n.elsewhere, 1);
}

static void large_counts_keep_their_ratios(void **state)
{
	unsigned long long jump = address_of("above") - 2, below = address_of("below"),
			   first = address_of("by_register");

	(void)state;
	assert_int_equal(read_text(arena_printf(fx.a, "B %llx %llx 30000000000 0\n"
						"F %llx %llx 60000000000\n", jump, below,
						first, jump)), 0);
	assert_true(block("by_register") / fx.p.edge[0].count > 1.999 &&
		    block("by_register") / fx.p.edge[0].count < 2.001);
	/* the largest that can be written */
	assert_int_equal(read_text(arena_printf(fx.a, "B %llx %llx 18446744073709551615 0\n"
						"F %llx %llx 18446744073709551615\n", jump,
						below, first, jump)), 0);
	assert_true(fx.p.edge[0].count > 4e9 && block("by_register") > 4e9);
}

static void malformed_text_is_an_error_with_its_line(void **state)
{
	(void)state;
	is_refused("", "empty");
	is_refused("1 by_register 0 1\n", "line 1 ");
	is_refused("E cycles\nnothing\n", "line 2 ");
	is_refused("E cycles\n1 by_register 0 1 by_register 0 0 1\n", "line 2 ");
	is_refused("1 by_register 0 1 by_register 0 0 1\nB 1 2 3 4\n", "line 2 ");
	is_refused("B 1 2 3\n", "line 1 ");
	is_refused("B 1 2 18446744073709551616 0\n", "line 1 ");
	is_refused("B 1 g 3 0\n", "line 1 ");
	is_refused("F 1 2 3 4\n", "line 1 ");
	is_refused("1 by_register 0 1 by_register 0 0 1 1\n", "line 1 ");
	is_refused("1 by_register -1 1 by_register 0 0 1\n", "line 1 ");
	is_refused("7 by_register 0 1 by_register 0 0 1\n", "line 1 ");
	is_refused("boltedcollection\n", "rewritten");
	assert_int_equal(fx.err.kind, ERR_REFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_of_fdata_are_edges_taken_or_not),
		cmocka_unit_test(equal_lines_are_added_up),
		cmocka_unit_test(a_tail_call_is_a_call),
		cmocka_unit_test(what_the_code_does_not_have_is_left_out),
		cmocka_unit_test(samples_are_samples),
		cmocka_unit_test(branches_and_runs_are_executions),
		cmocka_unit_test(large_counts_keep_their_ratios),
		cmocka_unit_test(malformed_text_is_an_error_with_its_line),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("boltread", tests, set_up, tear_down);
}
