/* test_uncertain.c - which functions are chosen to be counted */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "editor/instrument/uncertain.h"
#include "lib/arena.h"

enum { NFN = 5 };

struct made {
	struct arena *a;
	struct prog prog;
	struct fn fn[NFN];
	struct block block[NFN];
	struct seen_edge seen[NFN];
};

/* Functions of one block that branches, runs 1, 4, 16, 64, 256 times, and was sampled: without
 * anything seen of the branch they weigh 1, 2, 4, 8, 16. */
static int setup(void **state)
{
	struct made *m = test_calloc(1, sizeof(*m));
	double count = 1;

	m->a = arena_new();
	for (uint32_t i = 0; i < NFN; i++, count *= 4) {
		m->block[i] = (struct block){ .count = count, .fall = 1, .taken = 2,
					      .table = NO_TABLE };
		m->fn[i] = (struct fn){ .block = &m->block[i], .nblock = 1, .moved = true,
					.samples = 1, .seen_edge = &m->seen[i] };
	}
	m->prog = (struct prog){ .fn = m->fn, .nfn = NFN };
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	arena_free(m->a);
	test_free(m);
	return 0;
}

static unsigned select(struct made *m, double share)
{
	const bool *chosen = uncertain_select(&m->prog, share, m->a);
	unsigned bits = 0;

	for (uint32_t i = 0; i < NFN; i++)
		bits |= (unsigned)chosen[i] << i;
	return bits;
}

static void the_fewest_that_have_the_share_are_chosen(void **state)
{
	assert_int_equal(select(*state, 0.5), 1u << 4);		/* 16 of 31 */
	assert_int_equal(select(*state, 0.52), 3u << 3);
	assert_int_equal(select(*state, 0.78), 7u << 2);
	assert_int_equal(select(*state, 1), 31);
}

static void no_more_than_have_it_are_chosen(void **state)
{
	struct made *m = *state;

	m->block[3].count = m->block[4].count;
	for (uint32_t i = 0; i < 3; i++)
		m->fn[i].moved = false;
	unsigned one = select(m, 0.5);
	assert_true(one == 1u << 3 || one == 1u << 4);
}

/* As where rounding leaves the sum of all below their share. */
static void no_more_than_there_are_are_chosen(void **state)
{
	struct made *m = *state;

	m->fn[0].moved = false;
	assert_int_equal(select(m, 1.5), 15 << 1);
}

static void what_was_seen_makes_a_branch_less_uncertain(void **state)
{
	struct made *m = *state;

	m->seen[4].count = 31;			/* 16 / 32 */
	m->fn[4].nseen_edge = 1;
	assert_int_equal(select(m, 0.5), 1u << 3);		/* 8 of 15.5 */
}

static void only_blocks_with_a_choice_count(void **state)
{
	struct made *m = *state;

	m->block[4].taken = NO_BLOCK;		/* falls through */
	m->block[3].taken = m->block[3].fall;	/* both ways lead to one block */
	assert_int_equal(select(m, 0.5), 1u << 2);		/* 4 of 7 */
	m->block[4].taken_out = 0x1000;		/* a tail call on one way */
	assert_int_equal(select(m, 0.5), 1u << 4);
	m->block[4].taken_out = 0;
	m->block[4].fall = NO_BLOCK;
	m->block[4].table = 0;			/* a jump table */
	assert_int_equal(select(m, 0.5), 1u << 4);
}

static void functions_that_stay_or_do_not_run_are_left_out(void **state)
{
	struct made *m = *state;

	m->fn[4].moved = false;
	m->fn[3].samples = 0;			/* expected to run, by its callers */
	assert_int_equal(select(m, 0.5), 1u << 3);
	m->block[3].count = 0;
	assert_int_equal(select(m, 0.5), 1u << 2);
	assert_int_equal(select(m, 1), 7);
}

/* .28 of the executions of a branch go another way than it is taken for if nothing is known. */
static void what_is_left_open_follows_from_confidence(void **state)
{
	struct made *m = *state;
	double low = 0.13 / 0.28, high = 0.01 / 0.28;

	assert_true(fabs(uncertain_open(&m->prog) - low) < 1e-9);
	for (uint32_t i = 0; i < NFN; i++)
		m->block[i].confidence = CONFIDENCE_HIGH;
	assert_true(fabs(uncertain_open(&m->prog) - high) < 1e-9);
	m->block[4].confidence = CONFIDENCE_LOW;	/* 256 of 341 executions */
	assert_true(fabs(uncertain_open(&m->prog) - (256 * low + 85 * high) / 341) < 1e-9);
	m->block[4].fall = NO_BLOCK;			/* always taken */
	assert_true(fabs(uncertain_open(&m->prog) - high) < 1e-9);
	m->fn[3].samples = 0;				/* nothing was seen of it: 64 of 85 */
	assert_true(fabs(uncertain_open(&m->prog) - (64 + 21 * high) / 85) < 1e-9);
	for (uint32_t i = 0; i < NFN; i++)
		m->fn[i].moved = false;
	assert_true(uncertain_open(&m->prog) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_left_open_follows_from_confidence,
						setup, teardown),
		cmocka_unit_test_setup_teardown(the_fewest_that_have_the_share_are_chosen,
						setup, teardown),
		cmocka_unit_test_setup_teardown(no_more_than_have_it_are_chosen, setup,
						teardown),
		cmocka_unit_test_setup_teardown(no_more_than_there_are_are_chosen, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_was_seen_makes_a_branch_less_uncertain,
						setup, teardown),
		cmocka_unit_test_setup_teardown(only_blocks_with_a_choice_count, setup,
						teardown),
		cmocka_unit_test_setup_teardown(functions_that_stay_or_do_not_run_are_left_out,
						setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
