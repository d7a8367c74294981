/* test_interpret.c - edges and calls from states of small programs (tests/asm/interpret.s)
 *
 * Each case says where control is, what the registers hold, and which edges follow.  It is
 * tried on the original and on generations in several orders, which must tell the same in the
 * original's blocks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "editor/interpret/sightings.h"
#include "editor/optimize.h"
#include "tests/unit/asm.h"
#include "binary/dynamic.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, SEEDS = 6 };
static const uint64_t BIAS = 0x7f0000000000, STACK = 0x7ffd00000000;

struct sample_case {
	const char *at;			/* symbol */
	/* "FROM>TO FROM>TO*2 CALL=TARGET", blocks by any symbol in them */
	const char *edges;
	uint64_t reg[16];
	uint64_t rflags;
	const char *returns_to;		/* symbol, the first word of the stack piece */
	uint64_t second_word;
	uint32_t stack_words;		/* of the piece that comes along, 0 to 3 */
	uint32_t branches;		/* 0: the default */
	const char *then_to;		/* symbol, its third word */
	/* the first word where RDI points, which comes along; 0: none does */
	uint64_t pointed_to;
};

struct fixture {
	struct arena *a;
	struct bytes file;
	struct prog prog;
	struct { const char *name; vaddr addr; } symbol[256];
	uint32_t nsymbol;
	struct bytes generation[SEEDS];
};

static struct fixture fx;

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
	struct edit_stats stats;
	struct err err;

	(void)state;
	fx.a = arena_new();
	fx.file = asm_build("interpret", "-shared -Wl,-z,relro -Wl,-Bsymbolic", fx.a);
	if (prog_analyze(fx.file, fx.a, &fx.prog, &err) < 0)
		fail_msg("%s", err.text);
	symbols_each(&fx.prog.img, SHT_SYMTAB, take_symbol, NULL);
	for (unsigned i = 0; i < SEEDS; i++) {
		struct edit_options options = { .all = true, .shuffle = true, .seed = i,
						.generation = 1 };
		struct wr made = { 0 }, map = { 0 };

		if (edit_optimize(fx.file, NULL, &options, fx.a, &made, &map, &stats, &err) < 0)
			fail_msg("%s", err.text);
		fx.generation[i] = (struct bytes){ arena_dup(fx.a, made.p, made.n), made.n };
		wr_free(&made);
		wr_free(&map);
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	arena_free(fx.a);
	return 0;
}

/* Zeros but for the word that RDI points to. */
static struct bytes memory_of_rdi(uint64_t word)
{
	struct wr w = { 0 };

	wr_u64(&w, UINT64_C(1) << RDI * STATEMEMORY_PER_GPR);
	uint8_t *p = wr_reserve(&w, STATEMEMORY_REACH);
	memcpy(p + statememory_word_at(0), &word, sizeof(word));
	struct bytes b = { arena_dup(fx.a, w.p, w.n), w.n };
	wr_free(&w);
	return b;
}

static struct statesample sample_of(const struct sample_case *c, vaddr pc, uint64_t stack[3])
{
	struct statesample s = { .pc = pc + BIAS, .bias = BIAS, .rflags = c->rflags };

	memcpy(s.gpr, c->reg, sizeof(s.gpr));
	s.gpr[RSP] = STACK;
	stack[0] = c->returns_to ? address_of(c->returns_to) + BIAS : 0x1234;
	stack[1] = c->second_word;
	stack[2] = c->then_to ? address_of(c->then_to) + BIAS : 0x1234;
	s.stack = (struct bytes){ (const uint8_t *)stack, 8 * c->stack_words };
	if (c->pointed_to)
		s.memory = memory_of_rdi(c->pointed_to);
	return s;
}

/* Registers that hold the address of a function: those with this bit. */
#define FUNCTION(name_index) (0xf00d000000000000u | (name_index))
static const char *const pointed[] = { "by_register", "callee", "above" };

static void follow(const struct sample_case *c, const struct image *img,
		   const struct blockmap *map, vaddr pc, struct profile *out,
		   struct interpret_stats *stats)
{
	struct interpret_options options = INTERPRET_DEFAULTS;
	struct sightings_source source = { .mapped = img, .map = map };
	struct sightings_stats placed;
	struct err err;
	uint64_t stack[3];

	if (c->branches)
		options.branches = c->branches;
	struct interpreter *in = interpreter_new(img, fx.a, &options, &err);
	assert_non_null(in);
	struct statesample s = sample_of(c, pc, stack);
	for (int i = 0; i < 16; i++)
		if (s.gpr[i] >> 48 == 0xf00d)
			s.gpr[i] = address_of(pointed[s.gpr[i] & 0xff]) + BIAS;
	interpreter_follow(in, &s);
	*stats = *interpreter_stats(in);
	source.sighting = interpreter_sightings(in, &source.nsighting);
	sightings_place(&source, &fx.prog, out, &placed);
	assert_int_equal(placed.no_edge + placed.ambiguous + placed.uncut, 0);
}

static vaddr block_start(const char *symbol)
{
	vaddr addr = address_of(symbol);
	const struct fn *fn = &fx.prog.fn[prog_find_fn(&fx.prog, addr)];

	return fn->block[fn_find_block(fn, addr)].addr;
}

/* Compares with the case's list; every line must be there with its count, and no other. */
static void check_edges(const struct sample_case *c, const char *where, const struct profile *p)
{
	char text[256], *save = NULL;
	uint32_t found = 0;

	(void)snprintf(text, sizeof(text), "%s", c->edges);
	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *star = strchr(w, '*'), *edge = strchr(w, '>'), *call = strchr(w, '=');
		double count = star ? atoi(star + 1) : 1;
		bool ok = false;

		if (star)
			*star = '\0';
		*(edge ? edge : call) = '\0';
		for (uint32_t i = 0; edge && i < p->nedge; i++)
			ok |= p->edge[i].from == block_start(w) &&
			      p->edge[i].to == address_of(edge + 1) &&
			      p->edge[i].count == count;
		for (uint32_t i = 0; call && i < p->ncall; i++)
			ok |= p->call[i].insn == address_of(w) &&
			      p->call[i].target == address_of(call + 1) &&
			      p->call[i].count == count;
		if (!ok)
			fail_msg("%s at %s: no %s %s %s", where, c->at, w, edge ? ">" : "=",
				 edge ? edge + 1 : call + 1);
		found++;
	}
	if (found != p->nedge + p->ncall)
		fail_msg("%s at %s: %u edges and %u calls, not %u", where, c->at, p->nedge,
			 p->ncall, found);
}

/* Where a symbol of the original is in a generation: in its block's image, if there is one. */
static new_vaddr moved_place(const struct blockmap *map, vaddr addr)
{
	const struct blockmap_block *b = blockmap_find_orig(map, addr);

	return b ? map->gen_base + b->gen + (addr - map->orig_base - b->orig) : addr;
}

static void in_all_forms(const struct sample_case *c)
{
	struct interpret_stats stats;
	struct profile p;
	struct err err;

	follow(c, &fx.prog.img, NULL, address_of(c->at), &p, &stats);
	check_edges(c, "the original", &p);
	for (unsigned i = 0; i < SEEDS; i++) {
		struct image img = { 0 };
		struct blockmap map;

		assert_int_equal(image_parse(fx.generation[i], fx.a, &img, &err), 0);
		const struct section *s = image_section(&img, ".morph.map");
		assert_non_null(s);
		assert_int_equal(blockmap_read(bytes_at(img.file, s->h.sh_offset, s->h.sh_size),
					       &map, &err),
				 0);
		follow(c, &img, &map, moved_place(&map, address_of(c->at)), &p, &stats);
		check_edges(c, "a generation", &p);
		follow(c, &img, &map, address_of(c->at), &p, &stats);
		check_edges(c, "the original text of a generation", &p);
		blockmap_free(&map);
	}
}

static void known_values_decide(void **state)
{
	static const struct sample_case cases[] = {
		{ .at = "by_register", .edges = "by_register>below", .reg[RDI] = 4 },
		{ .at = "by_register", .edges = "by_register>above", .reg[RDI] = 5 },
		{ .at = "by_register", .edges = "by_register>above", .reg[RDI] = 0xffffffff },
		{ .at = "flags_set", .edges = "flags_set>is_le", .rflags = FLAG_ZF },
		{ .at = "flags_set", .edges = "flags_set>is_le", .rflags = FLAG_OF },
		{ .at = "flags_set", .edges = "flags_set>is_gt", .rflags = FLAG_OF | FLAG_SF },
		{ .at = "flags_set", .edges = "flags_set>is_gt" },
		{ .at = "by_stack", .edges = "" },
		{ .at = "in_frame", .edges = "" },
		{ .at = "in_frame",
		  .edges = "in_frame>is_seven", .second_word = 7,
		  .stack_words = 2 },
		{ .at = "in_frame",
		  .edges = "in_frame>is_other", .second_word = 6,
		  .stack_words = 2 },
		{ .at = "guard_check", .edges = "guard_check>guard_same" },
		{ .at = "chosen", .edges = "chosen>chosen_nine", .reg[RDI] = 1, .reg[RSI] = 9 },
		{ .at = "chosen",
		  .edges = "chosen>chosen_other", .reg[RDI] = 2,
		  .reg[RSI] = 9 },
		{ .at = "conditional_tail_call", .edges = "tail>not_tail", .reg[RDI] = 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		in_all_forms(&cases[i]);
}

static void one_branch_leads_to_the_next(void **state)
{
	static const struct sample_case cases[] = {
		{ .at = "round",
		  .reg[RCX] = 3, .reg[RAX] = 1,
		  .edges = "counted>counted*2 counted>counted_out "
			   "counted_out>counted_positive" },
		{ .at = "round",
		  .reg[RCX] = 2, .reg[RAX] = 0x80000000,
		  .edges = "counted>counted counted>counted_out counted_out>counted_positive" },
		{ .at = "round",
		  .reg[RCX] = 1, .reg[RDX] = 0x80000000,
		  .edges = "counted>counted_out counted_out>counted_negative" },
		{ .at = "round", .reg[RCX] = 100, .edges = "counted>counted*64" },
		{ .at = "round", .reg[RCX] = 100, .edges = "counted>counted", .branches = 1 },
		{ .at = "round",
		  .reg[RCX] = 100, .edges = "counted>counted*20",
		  .branches = 20 },
		{ .at = "by_table",
		  .edges = "by_table>in_table in_table>case_2",
		  .reg[RDI] = 2 },
		{ .at = "by_table", .edges = "by_table>no_case", .reg[RDI] = 4 },
		{ .at = "by_loop_insns",
		  .edges = "again>again again>loop_done loop_done>rcx_zero" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		in_all_forms(&cases[i]);
}

static void calls_and_returns_are_followed(void **state)
{
	static const struct sample_case cases[] = {
		{ .at = "caller",
		  .reg[RDI] = 7,
		  .edges = "callee>callee_other back>caller_eight" },
		{ .at = "caller", .edges = "callee>callee_zero back>caller_other" },
		{ .at = "callee_zero", .edges = "" },
		{ .at = "callee_zero",
		  .edges = "back>caller_other dcall=callee", .returns_to = "back",
		  .stack_words = 1 },
		{ .at = "icall",
		  .edges = "icall=callee callee>callee_other", .reg[RAX] = FUNCTION(1),
		  .reg[RDI] = 1 },
		{ .at = "through_constant_pointer",
		  .reg[RSI] = 1, .reg[RDI] = 0,
		  .edges = "ccall=callee callee>callee_zero" },
		{ .at = "through_constant_pointer",
		  .reg[RSI] = 2, .reg[RDI] = 0,
		  .edges = "ccall=by_register by_register>below" },
		{ .at = "conditional_tail_call",
		  .reg[RDI] = 0,
		  .edges = "tail=by_register by_register>below" },
		{ .at = "itail",
		  .edges = "itail=callee callee>callee_zero",
		  .reg[RAX] = FUNCTION(1) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		in_all_forms(&cases[i]);
}

/* In callee, called from caller, called from calls_caller: as far as the stack's piece goes. */
static void return_addresses_tell_of_calls(void **state)
{
	static const struct sample_case cases[] = {
		{ .at = "callee_zero",
		  .returns_to = "back", .then_to = "oback", .stack_words = 2,
		  .edges = "back>caller_other dcall=callee" },
		{ .at = "callee_zero",
		  .returns_to = "back", .then_to = "oback", .stack_words = 3,
		  .edges = "back>caller_other dcall=callee ocall=caller" },
		{ .at = "callee",
		  .returns_to = "back", .then_to = "back", .stack_words = 3,
		  .edges = "callee>callee_zero back>caller_other*2 dcall=callee" },
		{ .at = "callee_zero", .returns_to = "tback", .stack_words = 1, .edges = "" },
		{ .at = "callee_zero",
		  .returns_to = "callee_other", .stack_words = 1,
		  .edges = "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		in_all_forms(&cases[i]);
}

/* The code can be followed all the same. */
static void without_unwind_tables_only_callers_are_not_seen(void **state)
{
	struct sample_case c = { .at = "callee_zero", .returns_to = "back", .stack_words = 1,
				 .edges = "back>caller_other" };
	uint8_t *copy = arena_dup(fx.a, fx.file.p, fx.file.n);
	const struct section *s = image_section(&fx.prog.img, ".eh_frame");
	struct interpret_stats stats;
	struct image img = { 0 };
	struct profile p;
	struct err err;

	(void)state;
	memset(copy + s->h.sh_offset, 0xff, 4);		/* a record of another form */
	assert_int_equal(image_parse((struct bytes){ copy, fx.file.n }, fx.a, &img, &err), 0);
	follow(&c, &img, NULL, address_of(c.at), &p, &stats);
	check_edges(&c, "a file without unwind tables", &p);
	assert_false(stats.unwinds);
	assert_int_equal(stats.callers, 0);
	follow(&c, &fx.prog.img, NULL, address_of(c.at), &p, &stats);
	assert_true(stats.unwinds && stats.callers == 1);
}

static void memory_that_comes_along_decides(void **state)
{
	static const struct sample_case cases[] = {
		{ .at = "by_heap",
		  .edges = "by_heap>heap_some heap_some>heap_zero", .reg[RDI] = 0x10000,
		  .reg[RSI] = 1,
		  .pointed_to = 5 },
		{ .at = "by_heap",
		  .edges = "by_heap>heap_zero", .reg[RDI] = 0x10000, .reg[RSI] = 1,
		  .pointed_to = UINT64_C(5) << 32 },
		{ .at = "by_heap", .edges = "", .reg[RDI] = 0x10000, .reg[RSI] = 1 },
		/* A store of what is known covers what came along. */
		{ .at = "stores_to_heap",
		  .edges = "stores_to_heap>stored_nine", .reg[RDI] = 0x10000, .reg[RSI] = 9,
		  .pointed_to = 5 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		in_all_forms(&cases[i]);
}

static void unknown_values_without_a_way_on_end_it(void **state)
{
	static const struct sample_case cases[] = {
		{ .at = "by_heap", .edges = "", .reg[RDI] = 0x10000, .reg[RSI] = 1 },
		{ .at = "by_own_store", .edges = "by_own_store>store_other", .reg[RSI] = 2,
		  .reg[RDI] = 0x10000 },
		{ .at = "by_own_store", .edges = "by_own_store>store_three", .reg[RSI] = 3 },
		{ .at = "through_variable", .edges = "" },
		{ .at = "unknown_choice", .edges = "", .reg[RDI] = 2, .reg[RAX] = 9 },
		{ .at = "unknown_choice", .edges = "", .reg[RDI] = 1, .reg[RAX] = 9 },
		{ .at = "makes_a_system_call", .edges = "" },
		{ .at = "icall", .edges = "", .reg[RAX] = 0x1000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		in_all_forms(&cases[i]);
}

/* What may have been written on the ways is unknown, and nothing else.  In a generation one
 * of them may lead to the original; then they do not meet. */
static void past_a_branch_it_goes_on_where_the_ways_meet(void **state)
{
	static const struct sample_case cases[] = {
		{ .at = "ways_meet",
		  .reg[RDI] = 0x10000, .reg[RDX] = 5, .reg[RSI] = 5,
		  .edges = "together>stored_two stored_two>meet_same" },
		{ .at = "ways_meet",
		  .reg[RDI] = 0x10000, .reg[RDX] = 5, .reg[RSI] = 6,
		  .edges = "together>stored_two stored_two>meet_other" },
		{ .at = "stores_somewhere", .reg[RDI] = 0x10000, .edges = "" },
		{ .at = "moves_stack",
		  .reg[RDI] = 0x10000, .reg[RSI] = 4,
		  .edges = "moved>moved_four" },
		{ .at = "moves_stack",
		  .reg[RDI] = 0x10000, .reg[RSI] = 5,
		  .edges = "moved>moved_other" },
	};
	struct interpret_stats stats;
	struct profile p;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		follow(&cases[i], &fx.prog.img, NULL, address_of(cases[i].at), &p, &stats);
		check_edges(&cases[i], "the original", &p);
	}
}

/* Of an unknown function's caller, and behind a call of one, what functions leave alone is
 * known. */
static void past_what_is_called_it_goes_on_behind_the_call(void **state)
{
	static const struct sample_case cases[] = {
		{ .at = "asks_and_looks",
		  .reg[RDI] = 0x10000, .reg[RBX] = 3,
		  .edges = "asked>looked_three" },
		{ .at = "saves_and_asks",
		  .reg[RDI] = 0x10000, .reg[RBX] = 4, .returns_to = "asked", .stack_words = 1,
		  .edges = "acall=saves_and_asks asked>looked_other" },
		{ .at = "passes_calls",
		  .reg[RSI] = 4, .reg[RBX] = 0x10000,
		  .edges = "passes_calls>passed_four" },
		{ .at = "passes_calls",
		  .reg[RSI] = 5, .reg[RBX] = 0x10000,
		  .edges = "passes_calls>passed_other" },
		{ .at = "calls_stub", .reg[RBX] = 5, .edges = "calls_stub>stub_five" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		in_all_forms(&cases[i]);
}

static void what_is_passed_by_is_counted(void **state)
{
	static const struct { struct sample_case c; uint64_t joined, left, called; } cases[] = {
		{ { .at = "ways_meet", .reg[RDI] = 0x10000 }, 2, 0, 0 },
		{ { .at = "asks_and_looks", .reg[RDI] = 0x10000, .reg[RBX] = 3 }, 0, 1, 0 },
		{ { .at = "passes_calls", .reg[RSI] = 4, .reg[RBX] = 0x10000 }, 1, 0, 1 },
		{ { .at = "calls_stub" }, 0, 0, 1 },
	};
	struct interpret_stats stats;
	struct profile p;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		follow(&cases[i].c, &fx.prog.img, NULL, address_of(cases[i].c.at), &p, &stats);
		assert_int_equal(stats.joined, cases[i].joined);
		assert_int_equal(stats.left, cases[i].left);
		assert_int_equal(stats.called, cases[i].called);
	}
}

static void work_is_bounded(void **state)
{
	static const char *const endless[] = { "spins", "forever" };
	struct interpret_options defaults = INTERPRET_DEFAULTS;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sample_case c = { .at = endless[i], .edges = "" };
		struct interpret_stats stats;
		struct profile p;

		follow(&c, &fx.prog.img, NULL, address_of(c.at), &p, &stats);
		assert_int_equal(stats.steps, defaults.steps);
		assert_int_equal(stats.stop[STOP_STEPS], 1);
	}
}

static void what_ended_it_is_counted(void **state)
{
	static const struct {
		struct sample_case c;
		enum stop stop;
		enum unknown why;
	} cases[] = {
		{ { .at = "by_heap", .reg[RDI] = 0x10000 }, STOP_BRANCH, UNKNOWN_HEAP },
		{ { .at = "in_frame" }, STOP_BRANCH, UNKNOWN_STACK },
		{ { .at = "stub" }, STOP_JUMP, UNKNOWN_DATA },
		{ { .at = "callee_zero" }, STOP_RETURN, UNKNOWN_STACK },
		{ { .at = "makes_a_system_call" }, STOP_CODE, UNKNOWN_NOTHING },
	};
	struct interpret_stats stats;
	struct profile p;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		follow(&cases[i].c, &fx.prog.img, NULL, address_of(cases[i].c.at), &p, &stats);
		assert_int_equal(stats.first[cases[i].stop][cases[i].why], 1);
		assert_int_equal(stats.with_branch, 0);
	}
	struct sample_case outside = { .at = "variable_pointer" };
	follow(&outside, &fx.prog.img, NULL, address_of(outside.at), &p, &stats);
	assert_int_equal(stats.outside, 1);
	struct sample_case inside = { .at = "by_register" };
	follow(&inside, &fx.prog.img, NULL, address_of(inside.at), &p, &stats);
	assert_int_equal(stats.with_branch, 1);
	assert_int_equal(stats.branches, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_values_decide),
		cmocka_unit_test(one_branch_leads_to_the_next),
		cmocka_unit_test(calls_and_returns_are_followed),
		cmocka_unit_test(return_addresses_tell_of_calls),
		cmocka_unit_test(without_unwind_tables_only_callers_are_not_seen),
		cmocka_unit_test(memory_that_comes_along_decides),
		cmocka_unit_test(unknown_values_without_a_way_on_end_it),
		cmocka_unit_test(past_a_branch_it_goes_on_where_the_ways_meet),
		cmocka_unit_test(past_what_is_called_it_goes_on_behind_the_call),
		cmocka_unit_test(what_is_passed_by_is_counted),
		cmocka_unit_test(work_is_bounded),
		cmocka_unit_test(what_ended_it_is_counted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
