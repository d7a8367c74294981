/* test_bestcase.c - paths of instructions made by hand: how long they take at best, and what
 * they wait for */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "editor/annotate/bestcase.h"

enum { ROUNDS = 40, MOST = 8, NONE = 255 };
#define BIT(r) (UINT64_C(1) << (r))

static struct bestcase out[ROUNDS * MOST];

/* Runs a loop of n instructions ROUNDS times; cycles of the last round. */
static double loop(const struct insntime *insn, uint32_t n)
{
	const struct insntime *path[ROUNDS * MOST] = { NULL };
	double sum = 0;

	for (uint32_t i = 0; i < ROUNDS * n; i++)
		path[i] = &insn[i % n];
	bestcase_run(path, ROUNDS * n, 0, out);
	for (uint32_t i = (ROUNDS - 1) * n; i < ROUNDS * n; i++)
		sum += out[i].cycles;
	return sum;
}

static const struct bestcase *last(uint32_t n, uint32_t i)
{
	return &out[(ROUNDS - 1) * n + i];
}

static void is_near(double got, double want)
{
	if (fabs(got - want) > 0.02)
		fail_msg("%.3f instead of %.3f", got, want);
}

static struct insntime plain(uint64_t reads, uint64_t writes)
{
	return (struct insntime){ .reads = reads, .writes = writes, .latency = 1,
				  .busy = 0.17 };
}

static void what_is_independent_is_as_wide_as_the_processor(void **state)
{
	struct insntime insn[6];

	(void)state;
	for (int i = 0; i < 6; i++)
		insn[i] = plain(0, BIT(i));
	is_near(loop(insn, 6), 1.02);
	assert_int_equal(last(6, 3)->operand, UINT32_MAX);
}

static void a_chain_takes_its_latencies(void **state)
{
	struct insntime insn[] = {
		{ .reads = BIT(0), .writes = BIT(0), .latency = 3, .busy = 1,
		  .class = INSNTIME_MULTIPLY },
		plain(BIT(0), BIT(0)),
		plain(0, BIT(1)),
	};

	(void)state;
	is_near(loop(insn, 3), 4);
	is_near(last(3, 0)->cycles, 2.875);	/* less what the one in front took to retire */
	/* it waits for itself, and needs what the other has computed */
	assert_int_equal(last(3, 0)->culprit, (ROUNDS - 1) * 3);
	assert_int_equal(last(3, 0)->operand, (ROUNDS - 2) * 3 + 1);
}

static void a_unit_is_one_at_a_time(void **state)
{
	struct insntime divide = { .writes = BIT(0), .latency = 7, .busy = 4,
				   .class = INSNTIME_DIVIDE };

	(void)state;
	is_near(loop(&divide, 1), 4);
}

static void a_load_takes_its_latency_where_its_address_waits(void **state)
{
	struct insntime chase = { .address = BIT(7), .writes = BIT(7), .load = true,
				  .memory = { 7, NONE, 0, 8, 0 }, .class = INSNTIME_LOAD };

	(void)state;
	is_near(loop(&chase, 1), 4);
	assert_int_equal(last(1, 0)->culprit, ROUNDS - 1);
	chase.writes = BIT(6);
	is_near(loop(&chase, 1), 1.0 / 4);
}

static void a_load_waits_for_the_store(void **state)
{
	struct insntime insn[] = {
		{ .reads = BIT(0), .address = BIT(7), .store = true, .latency = 1,
		  .busy = 0.17, .memory = { 7, NONE, 0, 8, 16 }, .class = INSNTIME_STORE },
		{ .writes = BIT(0), .address = BIT(7), .load = true, .busy = 0.17,
		  .memory = { 7, NONE, 0, 8, 16 }, .class = INSNTIME_LOAD },
	};

	(void)state;
	insn[1].memory.size = 4;		/* a part of it will do */
	insn[1].memory.disp = 20;
	is_near(loop(insn, 2), 5);
	assert_int_equal(last(2, 1)->unforwarded, UINT32_MAX);
	insn[1].memory.disp = 22;		/* half of it is from elsewhere */
	(void)loop(insn, 2);
	assert_int_equal(last(2, 1)->unforwarded, (ROUNDS - 1) * 2);
	insn[1].memory.disp = 24;		/* behind it */
	assert_true(loop(insn, 2) < 1);
	assert_int_equal(last(2, 1)->unforwarded, UINT32_MAX);
	insn[1].memory.disp = 16;
	insn[0].writes = BIT(7);		/* then it is another address */
	(void)loop(insn, 2);
	assert_int_equal(last(2, 1)->unforwarded, UINT32_MAX);
}

/* What is stored of a register and loaded into one is no more than a move. */
static void a_value_that_was_just_stored_is_known(void **state)
{
	struct insntime insn[] = {
		{ .reads = BIT(0), .address = BIT(7), .store = true, .latency = 1,
		  .busy = 0.17, .memory = { 7, NONE, 0, 8, 16 }, .class = INSNTIME_STORE },
		{ .writes = BIT(0), .address = BIT(7), .load = true, .busy = 0.17,
		  .memory = { 7, NONE, 0, 8, 16 }, .class = INSNTIME_LOAD },
		plain(BIT(0), BIT(0)),
	};
	struct insntime update = { .address = BIT(7), .load = true, .store = true,
				   .latency = 1, .busy = 0.17, .class = INSNTIME_LOAD,
				   .memory = { 7, NONE, 0, 8, 16 } };

	(void)state;
	is_near(loop(insn, 3), 1);
	assert_int_equal(last(3, 1)->unforwarded, UINT32_MAX);
	assert_true(last(3, 1)->stored && !last(3, 0)->stored);
	is_near(loop(&update, 1), 1);
	insn[1].memory.size = 4;		/* its low half */
	is_near(loop(insn, 3), 1);
	insn[0].memory.size = insn[1].memory.size = 1;
	is_near(loop(insn, 3), 6);
	insn[0].memory.size = insn[1].memory.size = 8;
	insn[1].memory.disp = 20;		/* its high one, and more */
	assert_true(loop(insn, 3) >= 6);
	insn[1].memory.disp = 16;		/* vectors are loaded */
	insn[0].reads = insn[1].writes = insn[2].reads = insn[2].writes = BIT(INSNTIME_VECTOR);
	is_near(loop(insn, 3), 6);
}

/* Registers that are saved and restored: none waits for another. */
static void pushes_and_pops_do_not_wait_for_each_other(void **state)
{
	struct insntime insn[8];

	(void)state;
	for (int i = 0; i < 8; i++)
		insn[i] = (struct insntime){
			.reads = BIT(4), .address = BIT(4), .moved = BIT(4), .busy = 0.17,
			.memory = { 4, NONE, 0, 8, 0 }, .store = i < 4, .load = i >= 4,
			.writes = i < 4 ? 0 : BIT(8 + i), .latency = i < 4 ? 1 : 0,
			.class = i < 4 ? INSNTIME_STORE : INSNTIME_LOAD,
		};
	is_near(loop(insn, 8), 8.0 / BESTCASE_WIDTH);
	/* but it moves: what is behind it is at another address */
	insn[1] = plain(0, 0);
	insn[2] = insn[4];
	insn[2].memory.disp = -4;
	(void)loop(insn, 3);
	assert_int_equal(last(3, 2)->unforwarded, (ROUNDS - 1) * 3);
	insn[1].moved = BIT(4);
	(void)loop(insn, 3);
	assert_int_equal(last(3, 2)->unforwarded, UINT32_MAX);
}

/* Latencies of a path are hidden behind what ran before it, until they are longer than that. */
static void what_ran_before_hides_latencies(void **state)
{
	struct insntime insn[10];
	const struct insntime *path[10];
	struct bestcase alone[10];
	double sum = 0;

	(void)state;
	for (int i = 0; i < 10; i++) {
		insn[i] = (struct insntime){ .reads = BIT(0), .writes = BIT(0), .latency = 3,
					     .busy = 1, .class = INSNTIME_MULTIPLY };
		path[i] = &insn[i];
	}
	bestcase_run(path, 10, 0, alone);
	for (double ahead = 0; ahead < 60; ahead += 7) {
		bestcase_run(path, 10, ahead, out);
		sum = 0;
		for (int i = 0; i < 10; i++) {
			assert_true(out[i].cycles <= alone[i].cycles + 1e-9);
			sum += out[i].cycles;
		}
		is_near(sum, fmax(30 - ahead, 10.0 / BESTCASE_WIDTH));
	}
}

static void cycles_add_up(void **state)
{
	struct insntime insn[] = {
		plain(BIT(0), BIT(1)), plain(BIT(1), BIT(2)), plain(0, BIT(3)),
		plain(BIT(3) | BIT(2), BIT(0)),
	};

	(void)state;
	is_near(loop(insn, 4), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_independent_is_as_wide_as_the_processor),
		cmocka_unit_test(a_chain_takes_its_latencies),
		cmocka_unit_test(a_unit_is_one_at_a_time),
		cmocka_unit_test(a_load_takes_its_latency_where_its_address_waits),
		cmocka_unit_test(a_load_waits_for_the_store),
		cmocka_unit_test(a_value_that_was_just_stored_is_known),
		cmocka_unit_test(pushes_and_pops_do_not_wait_for_each_other),
		cmocka_unit_test(what_ran_before_hides_latencies),
		cmocka_unit_test(cycles_add_up),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("bestcase", tests, NULL, NULL);
}
