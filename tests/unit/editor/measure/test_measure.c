/* test_measure.c - figures worked out by hand, and two ways to read one layout that must
 * agree */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "editor/optimize.h"
#include "tests/unit/irtext.h"
#include "editor/measure/measure.h"
#include "lib/blockmap.h"
#include "tests/unit/asm.h"

enum { SEEDS = 32 };

static void assert_near(double got, double want)
{
	if (fabs(got - want) > 1e-6 * (1 + fabs(want)))
		fail_msg("%.9f is not %.9f", got, want);
}

/* b0 branches to b2 (90) or falls to b1 (10), b1 jumps over b2's arm to b3: bytes 0-19, 20-29,
 * 100-119 (a line of its own) after padding, then b3. */
static const char diamond[] =
	"fn f\n"
	"  b0 size 20 insns 3 count 100 confidence high -> b1:10 b2:90\n"
	"  b1 size 10 insns 2 count 10 -> b3:10\n"
	"  b2 size 90 insns 7 count 90 confidence medium -> b3:90\n"
	"  b3 size 3 count 100 -> ret\n"
	"run none\n";

static struct prog *read_text(const char *text, struct arena *a)
{
	struct irtext *t = arena_alloc(a, sizeof(*t));
	struct err err;

	if (irtext_parse((struct bytes){ (const uint8_t *)text, strlen(text) }, a, t, &err) < 0)
		fail_msg("%s", err.text);
	return &t->prog;
}

static void figures_of_a_diamond_are_those_by_hand(void **state)
{
	struct arena *a = arena_new();
	struct prog *prog = read_text(diamond, a);
	struct placement pl;
	struct measure m;
	double left_out;

	(void)state;
	placement_original(prog, &pl);
	measure_run(prog, &pl, 1, &m, &left_out);
	assert_near(left_out, 0);
	assert_near(m.executions, 300);
	assert_near(m.told[CONFIDENCE_HIGH], 100);
	assert_near(m.told[CONFIDENCE_MEDIUM], 90);
	assert_near(m.told[CONFIDENCE_LOW], 110);
	assert_near(m.falls, 10 + 90);		/* b0 to b1, b2 to b3 */
	assert_near(m.taken, 90 + 10);		/* b0 to b2, b1 to b3 */
	assert_near(m.jumps, 10);		/* that of b1 */
	assert_near(m.to_jumps, 0);
	assert_near(m.exttsp, (10 + 0.1 * 90 * (1 - 10 / 1024.0) +
			       0.1 * 10 * (1 - 90 / 1024.0) + 1.05 * 90) /
				      200);
	assert_int_equal(m.hot_bytes, 123);
	assert_int_equal(m.hot_lines, 2);
	assert_int_equal(m.hot_pages, 1);
	arena_free(a);
}

/* b0 branches to b2 (90), which is a jmp, or falls to b1 (10), which is one, too. */
static const char jumps_alone[] =
	"fn f\n"
	"  b0 size 20 insns 3 count 100 -> b1:10 b2:90\n"
	"  b1 size 5 insns 1 count 10 -> b4:10\n"
	"  b2 size 5 insns 1 count 90 -> b4:90\n"
	"  b3 size 9 insns 2 count 0 -> ret\n"
	"  b4 size 3 count 100 -> ret\n"
	"run none\n";

static void branches_to_a_jmp_alone_are_counted(void **state)
{
	struct arena *a = arena_new();
	struct prog *prog = read_text(jumps_alone, a);
	struct placement pl;
	struct measure m;
	double left_out;

	(void)state;
	placement_original(prog, &pl);
	measure_run(prog, &pl, 1, &m, &left_out);
	assert_near(m.taken, 90 + 10 + 90);
	assert_near(m.to_jumps, 90);		/* b1 is not branched to */
	pl.block[0][2].size = 0;		/* another layout may need no jmp there */
	measure_run(prog, &pl, 1, &m, &left_out);
	assert_near(m.to_jumps, 0);
	arena_free(a);
}

/* b0's branch ends where a line does, at 32; b1's jmp crosses the next one's end, from 62 to
 * 67. */
static const char across[] =
	"fn f\n"
	"  b0 size 32 insns 3 count 100 -> b1:10 b2:90\n"
	"  b1 size 35 insns 4 count 10 -> b3:10\n"
	"  b2 size 20 insns 3 count 90 -> b3:90\n"
	"  b3 size 10 insns 3 count 100 -> ret\n"
	"run none\n";

static void jumps_across_lines_are_counted(void **state)
{
	const struct {
		const char *text;
		double across;
	} program[] = { { across, 100 + 10 }, { diamond, 0 } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct arena *a = arena_new();
		struct prog *prog = read_text(program[i].text, a);
		struct placement pl;
		struct measure m;
		double left_out;

		placement_original(prog, &pl);
		measure_run(prog, &pl, 1, &m, &left_out);
		assert_near(m.across, program[i].across);
		arena_free(a);
	}
}

/* b2, which runs 90 times, begins in the fluff text; b3 is right behind that. */
static void what_runs_in_the_fluff_text_is_counted(void **state)
{
	struct arena *a = arena_new();
	struct prog *prog = read_text(diamond, a);
	struct placement pl;
	struct measure m;
	double left_out;

	(void)state;
	placement_original(prog, &pl);
	pl.fluff = prog->fn[0].block[2].addr;
	pl.fluff_end = prog->fn[0].block[3].addr;
	measure_run(prog, &pl, 1, &m, &left_out);
	assert_near(m.fluff, 90);
	arena_free(a);
}

/* What another placement does not know is left out of all of them, and told. */
static void unknown_blocks_are_left_out_of_every_column(void **state)
{
	struct arena *a = arena_new();
	struct prog *prog = read_text(diamond, a);
	struct placement pl[2];
	struct measure m[2];
	double left_out;

	(void)state;
	placement_original(prog, &pl[0]);
	placement_original(prog, &pl[1]);
	pl[1].block[0][2].known = false;
	measure_run(prog, pl, 2, m, &left_out);
	assert_near(left_out, 90 / 300.0);
	assert_near(m[0].executions, 210);
	assert_near(m[1].executions, 210);
	arena_free(a);
}

static uint32_t next_random(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

static void give_counts(struct prog *prog, uint32_t seed)
{
	for (uint32_t f = 0; f < prog->nfn; f++) {
		for (uint32_t i = 0; i < prog->fn[f].nblock; i++) {
			struct block *b = &prog->fn[f].block[i];

			b->count = b->padding || b->landing ? 0 : next_random(&seed) % 100;
			b->taken_count = b->taken != NO_BLOCK || b->taken_out ?
					 next_random(&seed) % 100 / 100.0 * b->count : 0;
			b->fall_count = b->count - b->taken_count;
		}
	}
}

/* Original code runs on from a block that stays: whoever walks there finds originals of
 * blocks that have images as well.  Nothing runs in such functions; returns how many are
 * left. */
static uint32_t silence_leaving(struct prog *prog, const struct placement *pl)
{
	uint32_t left = 0;

	for (uint32_t f = 0; f < prog->nfn; f++) {
		struct fn *fn = &prog->fn[f];
		bool leaves = false;

		for (uint32_t i = 0; i < fn->nblock; i++)
			leaves |= pl->jumped[f] && pl->block[f][i].addr == fn->block[i].addr;
		for (uint32_t i = 0; leaves && i < fn->nblock; i++)
			fn->block[i].count = fn->block[i].taken_count =
				fn->block[i].fall_count = 0;
		left += pl->jumped[f] && !leaves;
	}
	return left;
}

/* What stands in the hot text, by the blocks: without NOPs at the end. */
static uint64_t hot_before(const struct prog *prog, const struct placement *pl,
			   const struct blockmap *map)
{
	uint64_t n = 0;

	for (uint32_t f = 0; f < prog->nfn; f++) {
		for (uint32_t i = 0; i < prog->fn[f].nblock; i++) {
			const struct block *b = &prog->fn[f].block[i];
			const struct insn *insn = prog->fn[f].insn + b->insn + b->ninsn;

			if (!pl->block[f][i].size ||
			    pl->block[f][i].addr - map->gen_base >= map->hot_size)
				continue;
			n += b->size;
			for (uint32_t k = 0; k < b->ninsn && (--insn)->kind == INSN_NOP; k++)
				n -= insn->len;
		}
	}
	return n;
}

static double instructions_of(const struct prog *prog)
{
	double n = 0;

	for (uint32_t f = 0; f < prog->nfn; f++)
		for (uint32_t i = 0; i < prog->fn[f].nblock; i++)
			n += prog->fn[f].block[i].count * prog->fn[f].block[i].ninsn;
	return n;
}

static void assert_same_figures(const struct measure *map, const struct measure *walk)
{
	assert_near(walk->executions, map->executions);
	assert_near(walk->taken, map->taken);
	assert_near(walk->falls, map->falls);
	assert_near(walk->jumps, map->jumps);
	assert_near(walk->tail_jumps, map->tail_jumps);
	assert_near(walk->entry_jumps, map->entry_jumps);
	/* NOPs between two blocks may be told as either one's. */
	assert_near(walk->instructions - walk->nops, map->instructions - map->nops);
	assert_true(fabs(walk->exttsp - map->exttsp) < 1e-3);
	assert_int_equal(walk->hot_lines, map->hot_lines);
}

/* The block map says where everything is; who knows nothing of it finds the same by walking. */
static void walking_finds_what_the_block_map_says(void **state)
{
	struct arena *a = arena_new();
	struct bytes original = asm_build("emit", "", a);
	struct prog prog;
	struct err err;

	(void)state;
	assert_int_equal(prog_analyze(original, a, &prog, &err), 0);
	for (uint32_t seed = 0; seed < SEEDS; seed++) {
		struct edit_options options = { .all = true, .shuffle = true, .seed = seed };
		struct wr generation = { 0 }, bytes = { 0 };
		struct edit_stats stats;
		struct blockmap map;
		struct placement pl[3];
		struct measure m[3];
		double left_out;

		if (edit_optimize(original, NULL, &options, a, &generation, &bytes, &stats,
				  &err) < 0 ||
		    blockmap_read(wr_bytes(&bytes), &map, &err) < 0)
			fail_msg("seed %u: %s", seed, err.text);
		give_counts(&prog, seed);
		placement_original(&prog, &pl[0]);
		if (placement_of_map(&prog, wr_bytes(&generation), &map, &pl[1], &err) < 0 ||
		    placement_walk(&prog, wr_bytes(&generation), &pl[2], &err) < 0)
			fail_msg("seed %u: %s", seed, err.text);
		assert_true(silence_leaving(&prog, &pl[1]) >= prog.nfn / 2);
		measure_run(&prog, pl, 3, m, &left_out);
		print_message("# seed %u: taken %.0f -> %.0f, %.3f left out\n", seed,
			      m[0].taken, m[1].taken, left_out);
		assert_near(left_out, 0);
		assert_true(m[1].taken != m[0].taken);
		assert_near(m[0].instructions, instructions_of(&prog));
		assert_same_figures(&m[1], &m[2]);
		assert_int_equal(m[1].hot_text, stats.hot_bytes);
		assert_int_equal(m[0].hot_text, hot_before(&prog, &pl[1], &map));
		blockmap_free(&map);
		wr_free(&generation);
		wr_free(&bytes);
	}
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_of_a_diamond_are_those_by_hand),
		cmocka_unit_test(branches_to_a_jmp_alone_are_counted),
		cmocka_unit_test(jumps_across_lines_are_counted),
		cmocka_unit_test(what_runs_in_the_fluff_text_is_counted),
		cmocka_unit_test(unknown_blocks_are_left_out_of_every_column),
		cmocka_unit_test(walking_finds_what_the_block_map_says),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
