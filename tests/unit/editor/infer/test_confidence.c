/* test_confidence.c - shares of work, blocks and branches by confidence, worked out by hand */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "editor/infer/confidence.h"

/* Blocks of 2, 1 and 3 instructions, the last of which is a NOP; the first one branches. */
static struct fn make_fn(struct block *block, struct insn *insn)
{
	memset(block, 0, 3 * sizeof(*block));
	memset(insn, 0, 6 * sizeof(*insn));
	for (int i = 0; i < 6; i++)
		insn[i].kind = i < 5 ? INSN_PLAIN : INSN_NOP;
	block[0] = (struct block){ .insn = 0, .ninsn = 2, .count = 100, .fall = 1, .taken = 2,
		.confidence = CONFIDENCE_HIGH };
	block[1] = (struct block){ .insn = 2, .ninsn = 1, .count = 60, .fall = 2,
		.taken = NO_BLOCK, .confidence = CONFIDENCE_LOW };
	block[2] = (struct block){ .insn = 3, .ninsn = 3, .count = 70, .fall = NO_BLOCK,
		.taken = NO_BLOCK, .confidence = CONFIDENCE_MEDIUM };
	return (struct fn){ .block = block, .nblock = 3, .insn = insn, .moved = true };
}

static void assert_share(double is, double is_to_be)
{
	if (!(fabs(is - is_to_be) < 1e-12))
		fail_msg("%.12g instead of %.12g", is, is_to_be);
}

static void shares_are_of_work_of_blocks_and_of_branches_that_move(void **state)
{
	struct block block[2][3];
	struct insn insn[2][6];
	struct fn fn[2] = { make_fn(block[0], insn[0]), make_fn(block[1], insn[1]) };
	struct prog prog = { .fn = fn, .nfn = 2 };
	struct confidence_shares s;

	(void)state;
	fn[1].moved = false;
	fn[1].block[1].count = 1e6;
	confidence_sum(&prog, &s);
	assert_share(s.share[CONFIDENCE_OF_WORK][CONFIDENCE_HIGH], 200. / 400);
	assert_share(s.share[CONFIDENCE_OF_WORK][CONFIDENCE_LOW], 60. / 400);
	assert_share(s.share[CONFIDENCE_OF_WORK][CONFIDENCE_MEDIUM], 140. / 400);
	assert_share(s.share[CONFIDENCE_OF_BLOCKS][CONFIDENCE_HIGH], 100. / 230);
	assert_share(s.share[CONFIDENCE_OF_BLOCKS][CONFIDENCE_LOW], 60. / 230);
	assert_share(s.share[CONFIDENCE_OF_BLOCKS][CONFIDENCE_MEDIUM], 70. / 230);
	assert_share(s.share[CONFIDENCE_OF_BRANCHES][CONFIDENCE_HIGH], 1);
	assert_share(s.share[CONFIDENCE_OF_BRANCHES][CONFIDENCE_LOW], 0);
}

static void of_nothing_executed_all_shares_are_0(void **state)
{
	struct block block[3];
	struct insn insn[6];
	struct fn fn = make_fn(block, insn);
	struct prog prog = { .fn = &fn, .nfn = 1 };
	struct confidence_shares s;

	(void)state;
	for (int i = 0; i < 3; i++)
		block[i].count = 0;
	confidence_sum(&prog, &s);
	for (int k = 0; k < NCONFIDENCE_OF; k++)
		for (int c = 0; c < NCONFIDENCE; c++)
			assert_share(s.share[k][c], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_of_work_of_blocks_and_of_branches_that_move),
		cmocka_unit_test(of_nothing_executed_all_shares_are_0),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
