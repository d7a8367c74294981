/* test_stateset.c - samples come back by file and offset, each with its own stack and memory */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "manager/samples/stateset.h"

enum { N = 40 };

/* Lengths of stack and memory differ, none is a multiple of 8. */
static uint16_t stack_bytes(uint32_t i)
{
	return (uint16_t)(3 + i);
}

static uint16_t memory_bytes(uint32_t i)
{
	return (uint16_t)(1 + 2 * i);
}

static void add(struct stateset *s, uint32_t i)
{
	uint8_t stack[64], memory[128];
	struct spool_state state = { .stack = stack, .stack_bytes = stack_bytes(i),
				     .memory = memory, .memory_bytes = memory_bytes(i) };

	memset(stack, (int)i, sizeof(stack));
	memset(memory, 100 + (int)i, sizeof(memory));
	assert_int_equal(stateset_add(s, i % 3, 1000 - i, 0x400000 + i, &state), 0);
}

static void check(const struct stateset *s, const struct stateset_item *item)
{
	struct spool_state state = stateset_state(s, item);
	uint32_t i = (uint32_t)(item->pc - 0x400000);

	assert_int_equal(item->off, 1000 - i);
	assert_int_equal(state.stack_bytes, stack_bytes(i));
	assert_int_equal(state.memory_bytes, memory_bytes(i));
	for (uint32_t k = 0; k < stack_bytes(i); k++)
		assert_int_equal(state.stack[k], i);
	for (uint32_t k = 0; k < memory_bytes(i); k++)
		assert_int_equal(state.memory[k], 100 + i);
}

static void each_has_what_was_added_with_it(void **state)
{
	struct stateset s = { 0 };
	uint32_t n, all = 0;

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		add(&s, i);
	stateset_sort(&s);
	for (uint32_t file = 0; file < 3; file++) {
		const struct stateset_item *item = stateset_of(&s, file, &n);

		for (uint32_t i = 0; i < n; i++) {
			assert_int_equal(item[i].file, file);
			assert_true(i == 0 || item[i - 1].off < item[i].off);
			check(&s, &item[i]);
		}
		all += n;
	}
	assert_int_equal(all, N);
	(void)stateset_of(&s, 3, &n);
	assert_int_equal(n, 0);
	stateset_clear(&s);
	assert_int_equal(s.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_what_was_added_with_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
