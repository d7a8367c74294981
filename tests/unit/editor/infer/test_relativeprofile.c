/* test_relativeprofile.c - functions that were counted, among estimates; and which are worth
 * counting */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "editor/infer/attach.h"
#include "editor/infer/infer.h"
#include "tests/unit/irtext.h"
#include "editor/infer/relativeprofile.h"
#include "editor/instrument/uncertain.h"
#include "lib/err.h"

/* Text begins at 0x1000: f's blocks are at 0x1000, 0x1008, 0x1014, 0x1015; g at 0x101c. */
static const char text[] =
	"fn f\n"
	"  b0 size 8 insns 2 -> b1 b3\n"
	"  b1 size 12 insns 4 call g -> b2 b0\n"
	"  b2 size 1 insns 1 -> ret\n"
	"  b3 size 7 insns 2 -> b2\n"
	"fn g\n"
	"  b0 size 1 -> ret\n";

enum { B0 = 0x1000, B1 = 0x1008, B2 = 0x1014, B3 = 0x1015, G = 0x101c };

static struct prog *make(const char *s, struct arena *a)
{
	struct irtext *t = arena_alloc(a, sizeof(*t));
	struct err err;

	if (irtext_parse((struct bytes){ (const uint8_t *)s, strlen(s) }, a, t, &err) < 0)
		fail_msg("%s", err.text);
	for (uint32_t f = 0; f < t->prog.nfn; f++)
		t->prog.fn[f].kept = t->prog.fn[f].moved = true;
	return &t->prog;
}

/* Called 100 times, 500 rounds; of those 50 by b3, or none. */
static struct profile_block block[] = {
	{ B0, 500 }, { B1, 450 }, { B2, 100 }, { B3, 50 }, { G, 7 }
};
static struct profile_edge edge[] = { { B0, B1, 450 }, { B0, B3, 50 }, { B1, B0, 400 },
	{ B1, B2, 50 }, { B3, B2, 50 } };
static struct profile_block straight_block[] = { { B0, 500 }, { B1, 500 }, { B2, 100 } };
static struct profile_edge straight_edge[] = { { B0, B1, 500 },
					       { B1, B0, 400 },
					       { B1, B2, 100 } };

static const struct profile counted = {
	.module = "/x", .clock = "exact", .block = block, .nblock = 5, .edge = edge, .nedge = 5
};
static const struct profile straight = { .module = "/x",
					 .clock = "exact", .block = straight_block, .nblock = 3,
					 .edge = straight_edge,
					 .nedge = 3 };

static const struct fn *infer(struct prog *prog, const struct profile *samples)
{
	struct err err;

	if (profile_attach(prog, samples, &err) < 0)
		fail_msg("%s", err.text);
	for (uint32_t f = 0; f < prog->nfn; f++)
		prog->fn[f].moved = true;	/* as callees are */
	if (infer_counts(prog, &err) < 0)
		fail_msg("%s", err.text);
	assert_false(prog->exact);
	return &prog->fn[0];
}

static void near(double got, double want)
{
	if (got < want * 0.999 || got > want * 1.001)
		fail_msg("%.9g instead of %.9g", got, want);
}

static void the_shape_is_counted_and_the_level_estimated(void **state)
{
	struct arena *a = arena_new();
	struct profile_block sampled[] = { { B0, 3 }, { B1, 30 } };
	double level[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct profile p = { .module = "/x",
				     .clock = "tick", .block = sampled, .nblock = 2,
				     .counted = &counted };
		const struct fn *f = infer(make(text, a), &p);

		level[i] = f->block[0].count;
		assert_true(level[i] > 0 && f->samples == sampled[0].samples + 30);
		for (uint32_t b = 0; b < 4; b++) {
			near(f->block[b].count, level[i] * block[b].samples / 500);
			assert_int_equal(f->block[b].confidence, CONFIDENCE_HIGH);
			assert_false(f->block[b].guessed);
		}
		near(f->block[0].fall_count, level[i] * 450 / 500);
		near(f->block[0].taken_count, level[i] * 50 / 500);
		near(f->block[1].taken_count, level[i] * 400 / 500);
		near(f->entry_count, level[i] * 100 / 500);
		sampled[0].samples *= 30;
	}
	assert_true(level[1] > 1.5 * level[0]);
	arena_free(a);
}

static void ways_from_a_table_are_counted_too(void **state)
{
	static const char dispatch[] =
		"fn f\n"
		"  b0 size 20 insns 5 -> table b1 b2 b1\n"
		"  b1 size 1 insns 1 -> ret\n"
		"  b2 size 1 insns 1 -> ret\n";
	struct profile_block ran[] = { { 0x1000, 90 }, { 0x1014, 60 }, { 0x1015, 30 } };
	struct profile_edge ways[] = { { 0x1000, 0x1014, 60 }, { 0x1000, 0x1015, 30 } };
	struct profile exact = { .module = "/x", .clock = "exact", .block = ran, .nblock = 3,
		.edge = ways, .nedge = 2 };
	struct profile_block sampled = { 0x1000, 40 };
	struct profile p = { .module = "/x", .clock = "tick", .block = &sampled, .nblock = 1,
		.counted = &exact };
	struct arena *a = arena_new();
	const struct fn *f = infer(make(dispatch, a), &p);

	(void)state;
	near(f->table[0].count[0], f->block[0].count * 60 / 90);
	near(f->table[0].count[1], f->block[0].count * 30 / 90);
	arena_free(a);
}

/* What ran while it was counted went past the dispatch, what was sampled did not. */
static void ways_from_a_table_that_was_not_counted_stay(void **state)
{
	static const char past[] =
		"fn f\n"
		"  b0 size 8 insns 2 -> b1 b2\n"
		"  b1 size 20 insns 5 -> table b2 b3\n"
		"  b2 size 1 insns 1 -> ret\n"
		"  b3 size 1 insns 1 -> ret\n";
	struct profile_block ran[] = { { 0x1000, 90 }, { 0x101c, 90 } };
	struct profile_edge ways[] = { { 0x1000, 0x101c, 90 } };
	struct profile exact = { .module = "/x", .clock = "exact", .block = ran, .nblock = 2,
		.edge = ways, .nedge = 1 };
	struct profile_block sampled[] = { { 0x1000, 40 }, { 0x1008, 40 } };
	struct profile p = { .module = "/x", .clock = "tick", .block = sampled, .nblock = 2,
		.counted = &exact };
	struct arena *a = arena_new();
	const struct fn *f = infer(make(past, a), &p);

	(void)state;
	assert_true(f->block[1].count > 0);
	near(f->table[0].count[0] + f->table[0].count[1], f->block[1].count);
	arena_free(a);
}

/* Also where samples tell nothing of the function. */
static void what_was_counted_is_evidence(void **state)
{
	struct arena *a = arena_new();
	struct prog *prog = make(text, a);
	const struct fn *f = &prog->fn[0];
	struct profile_call call = { 0, G, 450 };
	struct profile_block sampled = { G, 5 };
	struct profile exact = counted;
	struct profile p = { .module = "/x", .clock = "tick", .block = &sampled, .nblock = 1,
		.counted = &exact };
	struct err err;

	(void)state;
	call.insn = prog->base + f->insn[f->block[1].insn + 1].off;
	exact.call = &call;
	exact.ncall = 1;
	if (profile_attach(prog, &p, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(f->samples <= 0 && fn_is_seen(f));
	assert_int_equal(f->nseen_edge, 5);
	assert_true(f->seen_edge[0].to == 1 && f->seen_edge[0].count == 450);
	assert_int_equal(f->nseen_call, 1);
	assert_true(f->seen_call[0].target == G && f->seen_call[0].count == 450);
	arena_free(a);
}

/* Counted somewhere else than sampled: a block that ran there only has no count. */
static void what_was_not_counted_does_not_run_unless_samples_say_so(void **state)
{
	struct arena *a = arena_new();
	struct profile_block sampled[] = { { B0, 30 }, { B3, 4 } };
	struct profile_edge seen = { B0, B3, 2 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct profile p = { .module = "/x",
				     .clock = "tick", .block = sampled,
				     .nblock = i == 1 ? 2 : 1, .edge = &seen, .nedge = i == 2,
				     .counted = &straight };
		const struct block *b3 = &infer(make(text, a), &p)->block[3];

		assert_int_equal(b3->count > 0, i > 0);
		assert_int_equal(b3->confidence, CONFIDENCE_HIGH);
		assert_false(b3->guessed);
	}
	arena_free(a);
}

/* Of g, of one block, samples tell nothing: what calls it does, as if it had not been
 * counted. */
static void a_function_without_an_estimate_has_no_shape(void **state)
{
	struct arena *a = arena_new();
	struct profile_block sampled = { B0, 30 };
	struct profile p = { .module = "/x", .clock = "tick", .block = &sampled, .nblock = 1,
		.counted = &counted };
	struct prog *prog = make(text, a);
	const struct fn *f = infer(prog, &p);

	(void)state;
	assert_non_null(f->relprofile);
	assert_null(prog->fn[1].relprofile);
	assert_true(prog->fn[1].block[0].count > 0);
	arena_free(a);
}

/* A fleet says that b0 ran 500 times, and not that it went to b3: too few have that. */
static void what_counts_leave_open_is_found_by_samples(void **state)
{
	struct profile_block ran[] = { { B0, 500 }, { B1, 450 }, { B2, 100 } };
	struct profile_edge ways[] = { { B0, B1, 450 }, { B1, B0, 360 }, { B1, B2, 90 } };
	struct profile fleet = { .module = "/x", .clock = "exact", .block = ran, .nblock = 3,
		.edge = ways, .nedge = 3 };
	struct profile_block sampled[] = { { B0, 300 }, { B1, 400 }, { B3, 30 } };
	/* the last is not so, by all executions */
	struct profile_edge seen[] = { { B0, B1, 90 }, { B0, B3, 10 }, { B1, B2, 50 } };
	struct profile p = { .module = "/x", .clock = "tick", .block = sampled, .nblock = 3,
		.edge = seen, .nedge = 3, .counted = &fleet };
	struct arena *a = arena_new();
	const struct fn *f = infer(make(text, a), &p);
	const struct block *b = f->block;

	(void)state;
	assert_null(f->relprofile);
	assert_int_equal(f->nseen_edge, 4);
	assert_true(f->seen_edge[0].to == 1 && f->seen_edge[0].count == 90);
	assert_true(f->seen_edge[1].to == 3 && f->seen_edge[1].count == 10);
	assert_true(f->seen_edge[2].to == 0 && f->seen_edge[3].to == 2);
	near(f->seen_edge[2].count, 800);
	near(f->seen_edge[3].count, 200);
	assert_true(b[3].count > 0 && b[0].taken_count > 0);
	assert_true(b[0].fall_count > 5 * b[0].taken_count);
	near(b[0].fall_count + b[0].taken_count, b[0].count);
	near(b[1].count, b[0].fall_count);
	assert_true(b[1].taken_count > 3.8 * b[1].fall_count &&
		    b[1].taken_count < 4.2 * b[1].fall_count);
	/* what rounding and rare ways leave open is next to nothing */
	ways[0].count = ran[1].samples = 485;
	ways[1].count = 385, ways[2].count = 100;
	f = infer(make(text, a), &p);
	assert_non_null(f->relprofile);
	near(f->block[1].count, f->block[0].count * 485 / 500);
	arena_free(a);
}

static void counts_stand_beside_samples_only(void **state)
{
	struct arena *a = arena_new();
	struct profile ticks = counted, blocks = counted, other = counted;
	struct profile exact = counted;
	const struct profile *bad[] = { &ticks, &blocks, &other, &counted };
	struct err err;

	(void)state;
	ticks.clock = "tick";
	blocks.nedge = 0;
	other.original.b[0] = 1;
	for (int i = 0; i < 4; i++) {
		struct profile_block sampled = { B0, 30 };
		struct profile p = {
			.module = "/x", .clock = "tick", .block = &sampled, .nblock = 1
		};
		struct profile *it = i == 3 ? &exact : &p;

		it->counted = bad[i];
		assert_int_equal(profile_attach(make(text, a), it, &err), -1);
		assert_int_equal(err.kind, ERR_INPUT);
	}
	arena_free(a);
}

/* f chooses 40 times and was seen 9 times, g 20 times and never; h does not choose; j is
 * expected not to run. */
static const char choices[] =
	"fn f\n"
	"  b0 size 8 insns 2 -> b1 b2\n"
	"  b1 size 12 insns 4 -> ret\n"
	"  b2 size 1 insns 1 -> ret\n"
	"  seen b0 b1 7\n"
	"  seen b0 b2 2\n"
	"fn g\n"
	"  b0 size 8 insns 2 -> b1 b2\n"
	"  b1 size 12 insns 4 -> ret\n"
	"  b2 size 1 insns 1 -> ret\n"
	"fn h\n"
	"  b0 size 8 insns 2 -> b1\n"
	"  b1 size 12 insns 4 -> ret\n"
	"fn j\n"
	"  b0 size 8 insns 2 -> b1 b2\n"
	"  b1 size 12 insns 4 -> ret\n"
	"  b2 size 1 insns 1 -> ret\n";

static void the_most_uncertain_are_chosen_first(void **state)
{
	struct arena *a = arena_new();
	struct prog *prog = make(choices, a);
	static const struct {
		double share;
		bool f, g;
	} want[] = { { 0.01, false, true }, { 0.87, false, true }, { 0.88, true, true },
		{ 1, true, true } };

	(void)state;
	prog->fn[3].block[0].count = 0;
	for (int f = 0; f < 3; f++)
		prog->fn[f].samples = 1;
	prog->fn[0].block[0].count = 40;
	prog->fn[1].block[0].count = 20;
	prog->fn[2].block[0].count = 1000;
	for (unsigned i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const bool *chosen = uncertain_select(prog, want[i].share, a);

		assert_int_equal(chosen[0], want[i].f);
		assert_int_equal(chosen[1], want[i].g);
		assert_false(chosen[2] || chosen[3]);
	}
	prog->fn[1].moved = false;
	const bool *chosen = uncertain_select(prog, 0.5, a);
	assert_true(chosen[0] && !chosen[1]);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shape_is_counted_and_the_level_estimated),
		cmocka_unit_test(ways_from_a_table_are_counted_too),
		cmocka_unit_test(ways_from_a_table_that_was_not_counted_stay),
		cmocka_unit_test(what_was_counted_is_evidence),
		cmocka_unit_test(what_was_not_counted_does_not_run_unless_samples_say_so),
		cmocka_unit_test(a_function_without_an_estimate_has_no_shape),
		cmocka_unit_test(what_counts_leave_open_is_found_by_samples),
		cmocka_unit_test(counts_stand_beside_samples_only),
		cmocka_unit_test(the_most_uncertain_are_chosen_first),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
