/* test_insntime.c - what instructions need, write and take (tests/asm/timed.s) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "postmorph/machine/insntime.h"
#include "tests/unit/asm.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, NO = 255 };
enum { ADD, ZERO, MUL, DIV, LOAD, STORE, UPDATE, LEA, FLOAT, NOP, SETC,
       PUSH, POP, MOVE, PART, POP_RSP, JUMP, VECTOR_ZERO, ONES, VECTOR_XOR, SWAP, UNALIGNED };

#define BIT(r) (UINT64_C(1) << (r))
#define FLAGS BIT(INSNTIME_FLAGS)

static struct arena *arena;
static struct prog prog;

static int set_up(void **state)
{
	struct err err;

	(void)state;
	arena = arena_new();
	if (prog_analyze(asm_build("timed", "-shared", arena), arena, &prog, &err) < 0)
		fail_msg("%s", err.text);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static struct insntime of(uint32_t i)
{
	struct insntime t;

	insntime_of(&prog, &prog.fn[0].insn[i], &t);
	return t;
}

static void registers_are_read_and_written(void **state)
{
	struct insntime t = of(ADD);

	(void)state;
	assert_int_equal(t.reads, BIT(RAX) | BIT(RBX));
	assert_int_equal(t.writes, BIT(RAX) | FLAGS);
	t = of(ZERO);
	assert_int_equal(t.reads, 0);
	assert_int_equal(t.writes, BIT(RCX) | FLAGS);
	t = of(DIV);
	assert_int_equal(t.reads, BIT(RAX) | BIT(RDX) | BIT(R8));
	assert_int_equal(t.writes & (BIT(RAX) | BIT(RDX)), BIT(RAX) | BIT(RDX));
	t = of(FLOAT);
	assert_int_equal(t.reads, BIT(INSNTIME_VECTOR + 1) | BIT(INSNTIME_VECTOR + 2));
	assert_int_equal(t.writes, BIT(INSNTIME_VECTOR + 2));
	assert_true(of(SETC).reads & FLAGS);
	assert_true(of(JUMP).reads & FLAGS);
	assert_int_equal(of(NOP).reads | of(NOP).writes, 0);
}

static void memory_is_an_address_and_a_size(void **state)
{
	struct insntime t = of(LOAD);

	(void)state;
	assert_true(t.load && !t.store);
	assert_int_equal(t.address, BIT(RDI) | BIT(RBX));
	assert_int_equal(t.writes, BIT(R9));
	assert_true(t.memory.base == RDI && t.memory.index == RBX && t.memory.scale == 4 &&
		    t.memory.disp == 8 && t.memory.size == 4);
	t = of(STORE);
	assert_true(t.store && !t.load);
	assert_true(t.memory.base == RSP && t.memory.index == NO && t.memory.disp == 3 &&
		    t.memory.size == 1);
	assert_int_equal(t.reads, BIT(RAX));
	t = of(UPDATE);
	assert_true(t.store && t.load);
	t = of(LEA);
	assert_true(!t.store && !t.load);
	assert_int_equal(t.address, BIT(RDI) | BIT(RBX));
}

static void times_are_those_of_their_classes(void **state)
{
	(void)state;
	assert_int_equal(of(ADD).class, INSNTIME_PLAIN);
	assert_true(of(ADD).latency == 1);
	assert_int_equal(of(MUL).class, INSNTIME_MULTIPLY);
	assert_true(of(MUL).latency == 3);
	assert_int_equal(of(DIV).class, INSNTIME_DIVIDE);
	assert_true(of(DIV).latency == 7);
	assert_int_equal(of(LOAD).class, INSNTIME_LOAD);
	assert_true(of(LOAD).latency == 0);		/* behind the load itself */
	assert_true(of(UPDATE).latency == 1);
	assert_int_equal(of(FLOAT).class, INSNTIME_FLOAT);
	assert_int_equal(of(STORE).class, INSNTIME_STORE);
	assert_int_equal(of(JUMP).class, INSNTIME_BRANCH);
}

static void as_many_begin_in_a_cycle_as_the_widest_core_begins(void **state)
{
	(void)state;
	assert_int_equal(1 / of(MUL).busy, 3);
	assert_int_equal(1 / of(FLOAT).busy, 4);
	assert_int_equal(1 / of(JUMP).busy, 3);
}

static void the_stack_pointer_moves_in_no_time(void **state)
{
	struct insntime t = of(PUSH);

	(void)state;
	assert_true(t.store && !t.load && t.moved == BIT(RSP));
	assert_int_equal(t.writes, 0);
	t = of(POP);
	assert_true(t.load && !t.store && t.moved == BIT(RSP));
	assert_int_equal(t.writes, BIT(RBX));
	assert_true(t.latency == 0);
	t = of(POP_RSP);
	assert_int_equal(t.moved, 0);
	assert_int_equal(t.writes, BIT(RSP));
}

static void a_move_of_a_register_takes_none(void **state)
{
	(void)state;
	assert_true(of(MOVE).latency == 0);
	assert_true(of(PART).latency == 1);
	assert_true(of(SWAP).latency == 0);
	assert_int_equal(of(SWAP).writes, BIT(RAX) | BIT(RBX));
	assert_true(of(UNALIGNED).latency == 0);
}

static void nor_does_a_constant(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct insntime t = of((const uint32_t[]){ ZERO, VECTOR_ZERO, ONES }[i]);

		assert_true(t.latency == 0);
		assert_int_equal(t.reads, 0);
		assert_int_not_equal(t.writes, 0);
	}
	assert_true(of(VECTOR_XOR).latency == 1);	/* of two */
	assert_int_equal(of(VECTOR_XOR).reads,
			 BIT(INSNTIME_VECTOR + 3) | BIT(INSNTIME_VECTOR + 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_are_read_and_written),
		cmocka_unit_test(memory_is_an_address_and_a_size),
		cmocka_unit_test(as_many_begin_in_a_cycle_as_the_widest_core_begins),
		cmocka_unit_test(the_stack_pointer_moves_in_no_time),
		cmocka_unit_test(a_move_of_a_register_takes_none),
		cmocka_unit_test(nor_does_a_constant),
		cmocka_unit_test(times_are_those_of_their_classes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("insntime", tests, set_up, tear_down);
}
