/* test_unwindwalk.c - callers on made stacks, by rows of tests/asm/unwind.s
 *
 * A case has the PC, registers and words of the stack, and the symbols that the frames are to
 * be in, innermost first.  Then tables and samples of any bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "binary/dynamic.h"
#include "editor/interpret/unwindwalk.h"
#include "tests/unit/asm.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP };
static const uint64_t BIAS = 0x7f0000000000, STACK = 0x7ffd00001000;

struct fixture {
	struct arena *a;
	struct bytes file, rows;
	struct image img;
	struct unwindtable table;
	struct { const char *name; vaddr addr; } symbol[64];
	uint32_t nsymbol;
	struct wr space;		/* a stream of it alone */
};
static struct fixture fx;

static void take_symbol(void *ctx, uint32_t index, const struct symbol *s)
{
	(void)ctx;
	(void)index;
	if (s->defined && *s->name && fx.nsymbol < 64) {
		fx.symbol[fx.nsymbol].name = s->name;
		fx.symbol[fx.nsymbol++].addr = s->value;
	}
}

/* At run time. */
static uint64_t at(const char *name)
{
	for (uint32_t i = 0; i < fx.nsymbol; i++)
		if (strcmp(fx.symbol[i].name, name) == 0)
			return fx.symbol[i].addr + BIAS;
	fail_msg("no symbol %s", name);
	return 0;
}

static int set_up(void **state)
{
	struct wr rows = { 0 };
	struct err err;
	struct cfi cfi;

	(void)state;
	fx.a = arena_new();
	fx.file = asm_build("unwind", "-shared", fx.a);
	if (image_parse(fx.file, fx.a, &fx.img, &err) < 0 ||
	    cfi_parse(&fx.img, fx.a, &cfi, &err) < 0)
		fail_msg("%s", err.text);
	symbols_each(&fx.img, SHT_SYMTAB, take_symbol, NULL);
	unwindtable_write(&fx.img, &cfi, &rows);
	fx.rows = (struct bytes){ arena_dup(fx.a, rows.p, rows.n), rows.n };
	wr_free(&rows);
	struct rd r = rd_of(fx.rows);
	assert_int_equal(unwindtable_open(&r, &fx.table, &err), 0);
	assert_int_equal(rd_left(&r), 0);
	const Elf64_Phdr *code = fx.img.code;
	struct callstack_mapping m = { code->p_vaddr + BIAS,
				       code->p_vaddr + code->p_memsz + BIAS,
				       code->p_offset, 0 };
	callstack_write_header(&fx.space);
	callstack_write_space(&m, 1, &fx.space);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	wr_free(&fx.space);
	arena_free(fx.a);
	return 0;
}

static struct bytes mappings(void)
{
	struct callstack_sample unused;
	struct callstack_reader r;
	struct bytes space = { 0 };

	assert_int_equal(callstack_open(wr_bytes(&fx.space), &r, NULL), 0);
	assert_int_equal(callstack_read(&r, &space, &unused, NULL), CALLSTACK_SPACE);
	return space;
}

static struct callstack walk(const struct unwindtable *table, const struct callstack_sample *s)
{
	struct unwindwalk w = { table, 1 };
	struct callstack c;

	unwindwalk_sample(&w, mappings(), s, &c);
	return c;
}

/* `names`: one of a place each, the address or one below, separated by spaces. */
static void expect(const struct callstack *c, const char *names, enum callstack_end end)
{
	char name[64];
	uint32_t n = 0;

	for (int used; sscanf(names, " %63s%n", name, &used) == 1; names += used, n++) {
		if (n == c->n)
			fail_msg("only %u frames, '%s' is missing", c->n, name);
		uint64_t below = at(name) - c->addr[n];
		if (below > 1 || (n == 0 && below))
			fail_msg("frame %u: 0x%lx is not '%s'", n,
				 (unsigned long)(c->addr[n] - BIAS), name);
	}
	assert_int_equal(c->n, n);
	assert_int_equal(c->end, end);
}

static struct callstack_sample sample(const char *pc, const uint64_t *word, uint32_t n)
{
	struct callstack_sample s = { .pc = at(pc),
				      .stack = { (const uint8_t *)word, n * sizeof(*word) } };

	s.gpr[RSP] = STACK;
	return s;
}

static void rows_lead_to_code_that_nobody_called(void **state)
{
	/* leaf | pushed: a word, rbx | framed, whose frame is at word 4 | start */
	const uint64_t word[] = { at("in_pushed"), 1, STACK + 80, at("in_framed"), 0, 0, 7,
				  at("in_by_rbx"), 0, 0, at("in_start") };
	struct callstack_sample s = sample("leaf", word, 11);

	(void)state;
	s.gpr[RBP] = STACK + 48;
	struct callstack c = walk(&fx.table, &s);
	expect(&c, "leaf in_pushed in_framed in_by_rbx in_start", CALLSTACK_WHOLE);
	assert_false(c.guessed);
	assert_int_equal(c.addr[0], s.pc);
	assert_int_equal(c.addr[1], at("in_pushed") - 1);
	/* a word less each: nothing is read that is not there */
	static const char *const left[] = {
		"leaf", "leaf in_pushed", "leaf in_pushed", "leaf in_pushed",
		"leaf in_pushed in_framed", "leaf in_pushed in_framed",
		"leaf in_pushed in_framed", "leaf in_pushed in_framed",
		"leaf in_pushed in_framed in_by_rbx", "leaf in_pushed in_framed in_by_rbx",
		"leaf in_pushed in_framed in_by_rbx",
	};
	for (uint32_t n = 0; n < 11; n++) {
		s.stack.n = n * 8;
		c = walk(&fx.table, &s);
		expect(&c, left[n], CALLSTACK_SHORT);
	}
}

static void what_a_call_may_change_is_not_known_behind_it(void **state)
{
	const uint64_t word[] = { at("in_by_rcx"), at("in_start"), 0 };
	struct callstack_sample s = sample("leaf", word, 3);

	(void)state;
	s.gpr[RCX] = STACK + 16;
	struct callstack c = walk(&fx.table, &s);
	expect(&c, "leaf in_by_rcx", CALLSTACK_NO_ROW);
	s = sample("by_rcx", word, 3);		/* of the innermost it is */
	s.gpr[RCX] = STACK;
	c = walk(&fx.table, &s);
	expect(&c, "by_rcx in_by_rcx", CALLSTACK_NO_ROW);
}

static void a_register_leads_on_where_it_is_known(void **state)
{
	const uint64_t word[] = { at("in_to_rcx"), at("in_start"), at("in_start"), 0 };
	struct callstack_sample s = sample("to_rcx", word, 4);

	(void)state;
	s.gpr[RCX] = at("in_start");
	struct callstack c = walk(&fx.table, &s);
	expect(&c, "to_rcx in_start", CALLSTACK_WHOLE);
	s = sample("leaf", word, 4);		/* behind a call it is anything */
	s.gpr[RCX] = at("in_start");
	c = walk(&fx.table, &s);
	expect(&c, "leaf in_to_rcx", CALLSTACK_NO_ROW);
}

static void stubs_have_expressions(void **state)
{
	const uint64_t word[] = { at("in_start"), at("in_pushed"), 0, 0, at("in_start") };
	struct callstack_sample s = sample("stub", word, 5);

	(void)state;
	struct callstack c = walk(&fx.table, &s);
	expect(&c, "stub in_start", CALLSTACK_WHOLE);
	s.pc = at("stub_later");
	c = walk(&fx.table, &s);
	expect(&c, "stub_later in_pushed in_start", CALLSTACK_WHOLE);
}

static void a_signal_interrupts_an_instruction(void **state)
{
	/* leaf was called from the signal's frame; victim() is at its first instruction, and
	 * what is in front of it is never() */
	const uint64_t word[] = { at("signals"), 0, 0, at("victim"), STACK + 48, STACK + 56,
				  at("in_by_rbx"), at("in_start") };
	struct callstack_sample s = sample("leaf", word, 8);

	(void)state;
	struct callstack c = walk(&fx.table, &s);
	expect(&c, "leaf signals victim in_by_rbx in_start", CALLSTACK_WHOLE);
	assert_int_equal(c.addr[2], at("victim"));
	assert_int_equal(c.addr[3], at("in_by_rbx") - 1);
}

static void frame_pointers_do_where_there_are_no_rows(void **state)
{
	const uint64_t word[] = { 0, STACK + 32, at("in_bare"), 0, 0, at("in_bare") };
	struct callstack_sample s = sample("bare", word, 6);

	(void)state;
	s.gpr[RBP] = STACK + 8;
	struct callstack c = walk(&fx.table, &s);
	expect(&c, "bare in_bare in_bare", CALLSTACK_WHOLE);
	assert_true(c.guessed);
	/* who may not have set it up may be anywhere */
	s.gpr[RBP] = 0;
	c = walk(&fx.table, &s);
	expect(&c, "bare", CALLSTACK_NO_ROW);
	const uint64_t elsewhere[] = { STACK + 9, STACK - 8, STACK + 48, STACK + 40,
				       ~UINT64_C(0) };
	for (int i = 0; i < 5; i++) {
		s.gpr[RBP] = elsewhere[i];
		c = walk(&fx.table, &s);
		expect(&c, "bare", CALLSTACK_NO_ROW);
	}
	/* what is there must be an address of code */
	uint64_t garbage[] = { 0, STACK + 24, 0x1234, 0, 0 };
	s = sample("bare", garbage, 5);
	s.gpr[RBP] = STACK + 8;
	c = walk(&fx.table, &s);
	expect(&c, "bare", CALLSTACK_NO_ROW);
	garbage[2] = 0;
	c = walk(&fx.table, &s);
	expect(&c, "bare", CALLSTACK_NO_ROW);
	garbage[2] = 0x1234;
	s.pc = 0x5000;				/* but of code made at run time */
	c = walk(&fx.table, &s);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.addr[1], 0x1233);
	/* that of a caller is not a guess */
	const uint64_t called[] = { at("in_bare"), 0, at("in_start") };
	s = sample("leaf", called, 3);
	s.gpr[RBP] = STACK + 8;
	c = walk(&fx.table, &s);
	expect(&c, "leaf in_bare in_start", CALLSTACK_WHOLE);
	assert_false(c.guessed);
}

static void return_addresses_must_be_somewhere(void **state)
{
	uint64_t word[] = { 0, 0 };
	struct callstack_sample s = sample("leaf", word, 2);

	(void)state;
	struct callstack c = walk(&fx.table, &s);
	expect(&c, "leaf", CALLSTACK_WHOLE);
	word[0] = UINT64_C(0xffffffff81000000);
	c = walk(&fx.table, &s);
	expect(&c, "leaf", CALLSTACK_NO_ROW);
}

static void a_system_call_is_in_front_of_where_it_returns_to(void **state)
{
	const uint64_t word[] = { at("in_start") };
	struct callstack_sample s = sample("victim", word, 1);

	(void)state;
	s.kernel = true;
	struct callstack c = walk(&fx.table, &s);		/* a fault */
	expect(&c, "victim in_start", CALLSTACK_WHOLE);
	s.gpr[RCX] = s.pc;
	c = walk(&fx.table, &s);	/* it is the last instruction of never(), nobody's */
	assert_int_equal(c.n, 1);
	assert_int_equal(c.addr[0], at("victim") - 1);
	assert_int_equal(c.end, CALLSTACK_WHOLE);
}

static void rows_that_nobody_should_write_end_there(void **state)
{
	static const char *const name[] = {
		"loops", "grows", "divides", "overflows", "underflows", "unknown", "register",
		"outside", "jumps_out", "cut_short", "back", "no_address",
	};
	static uint64_t word[4096];

	(void)state;
	for (uint32_t i = 0; i < 4096; i++)
		word[i] = at("in_back");
	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
		struct callstack_sample s = sample(name[i], word, 4096);

		struct callstack c = walk(&fx.table, &s);
		if (c.n != 1)
			fail_msg("%s: %u frames", name[i], c.n);
		expect(&c, name[i], CALLSTACK_NO_ROW);
	}
	for (uint32_t i = 0; i < 4096; i++)
		word[i] = at("leaf") + 1;
	struct callstack_sample s = sample("leaf", word, 4096);
	struct callstack c = walk(&fx.table, &s);
	assert_int_equal(c.n, CALLSTACK_DEPTH_MAX);
	assert_int_equal(c.end, CALLSTACK_DEEP);
}

static void code_of_no_file_or_without_a_table_has_no_rows(void **state)
{
	const uint64_t word[] = { at("in_start"), 0 };
	struct callstack_sample s = sample("leaf", word, 2);
	struct unwindwalk none = { NULL, 0 }, one = { &fx.table, 1 };
	struct callstack c;

	(void)state;
	unwindwalk_sample(&none, mappings(), &s, &c);
	expect(&c, "leaf", CALLSTACK_NO_ROW);
	unwindwalk_sample(&one, (struct bytes){ NULL, 0 }, &s, &c);
	expect(&c, "leaf", CALLSTACK_NO_ROW);
	s.pc = 0x1000;
	s.gpr[RBP] = STACK;
	unwindwalk_sample(&one, mappings(), &s, &c);
	assert_int_equal(c.n, 1);
}

static void tables_of_any_bytes_do_no_harm(void **state)
{
	static uint64_t word[64];
	uint8_t *copy = arena_dup(fx.a, fx.rows.p, fx.rows.n);
	uint64_t seed = 88172645463325252u, open = 0;
	struct err err;

	(void)state;
	for (uint32_t i = 0; i < 64; i++)
		word[i] = at(fx.symbol[i % fx.nsymbol].name);
	for (uint64_t n = 0; n < fx.rows.n; n++) {
		struct rd r = rd_of((struct bytes){ copy, n });
		struct unwindtable t;

		assert_int_equal(unwindtable_open(&r, &t, &err), -1);
	}
	for (int round = 0; round < 20000; round++) {
		uint8_t kept[4];
		uint64_t where[4];

		for (int i = 0; i < 4; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			where[i] = (seed >> 8) % fx.rows.n;
			kept[i] = copy[where[i]];
			copy[where[i]] = (uint8_t)seed;
		}
		struct rd r = rd_of((struct bytes){ copy, fx.rows.n });
		struct unwindtable t;
		struct callstack_sample s = sample(fx.symbol[seed % fx.nsymbol].name, word, 64);
		s.gpr[RBP] = s.gpr[RBX] = STACK + seed % 64 * 8;
		if (unwindtable_open(&r, &t, &err) == 0) {
			struct callstack c = walk(&t, &s);

			open++;
			assert_in_range(c.n, 1, CALLSTACK_DEPTH_MAX);
			assert_in_range(c.end, 0, NCALLSTACK_END - 1);
		}
		for (int i = 4; i-- > 0; )
			copy[where[i]] = kept[i];
	}
	assert_memory_equal(copy, fx.rows.p, fx.rows.n);
	assert_true(open > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_lead_to_code_that_nobody_called),
		cmocka_unit_test(what_a_call_may_change_is_not_known_behind_it),
		cmocka_unit_test(a_register_leads_on_where_it_is_known),
		cmocka_unit_test(stubs_have_expressions),
		cmocka_unit_test(a_signal_interrupts_an_instruction),
		cmocka_unit_test(frame_pointers_do_where_there_are_no_rows),
		cmocka_unit_test(return_addresses_must_be_somewhere),
		cmocka_unit_test(a_system_call_is_in_front_of_where_it_returns_to),
		cmocka_unit_test(rows_that_nobody_should_write_end_there),
		cmocka_unit_test(code_of_no_file_or_without_a_table_has_no_rows),
		cmocka_unit_test(tables_of_any_bytes_do_no_harm),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("unwindwalk", tests, set_up, tear_down);
}
