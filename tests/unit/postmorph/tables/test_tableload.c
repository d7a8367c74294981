/* test_tableload.c - loads of table entries get a displacement, and others are told apart */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "postmorph/tables/tableload.h"

static const struct load {
	const char *what;
	uint8_t code[8], n;
	uint8_t size;			/* with a displacement; 0: it is something else */
	uint8_t made[TABLELOAD_MAX];	/* with the displacement 0x11223344 */
} loads[] = {
	{ .what = "movslq (%rdx,%rax,4),%rax", .code = { 0x48, 0x63, 0x04, 0x82 }, .n = 4,
	  .size = 8, .made = { 0x48, 0x63, 0x84, 0x82, 0x44, 0x33, 0x22, 0x11 } },
	{ .what = "mov (%rdx,%rax,4),%eax", .code = { 0x8b, 0x04, 0x82 }, .n = 3,
	  .size = 7, .made = { 0x8b, 0x84, 0x82, 0x44, 0x33, 0x22, 0x11 } },
	{ .what = "movslq 0(%r13,%rax,4),%rax", .code = { 0x49, 0x63, 0x44, 0x85, 0 }, .n = 5,
	  .size = 8, .made = { 0x49, 0x63, 0x84, 0x85, 0x44, 0x33, 0x22, 0x11 } },
	{ .what = "movslq 4(%rdx,%rax,4),%rax", .code = { 0x48, 0x63, 0x44, 0x82, 4 }, .n = 5 },
	{ .what = "movslq (%rdx),%rax", .code = { 0x48, 0x63, 0x02 }, .n = 3 },
	{ .what = "movslq (,%rax,4) + disp32", .code = { 0x48, 0x63, 0x04, 0x85, 0, 0, 0, 0 },
	  .n = 8 },
	{ .what = "lea (%rdx,%rax,4),%rax", .code = { 0x48, 0x8d, 0x04, 0x82 }, .n = 4 },
	{ .what = "a prefix", .code = { 0x3e, 0x48, 0x63, 0x04, 0x82 }, .n = 5 },
	{ .what = "a byte behind it", .code = { 0x48, 0x63, 0x04, 0x82, 0x90 }, .n = 5 },
	{ .what = "cut", .code = { 0x48, 0x63, 0x04 }, .n = 3 },
	{ .what = "nothing", .n = 0 },
};

static void loads_of_entries_are_told_from_others(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		struct bytes code = { loads[i].code, loads[i].n };

		if (tableload_size(code) != loads[i].size)
			fail_msg("%s: %u bytes", loads[i].what, tableload_size(code));
	}
}

static void the_displacement_is_added(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		uint8_t made[TABLELOAD_MAX] = { 0 };

		if (loads[i].size == 0)
			continue;
		tableload_write((struct bytes){ loads[i].code, loads[i].n }, 0x11223344, made);
		if (memcmp(made, loads[i].made, sizeof(made)) != 0)
			fail_msg("%s", loads[i].what);
	}
}

static void indexes_are_compared_as_a_whole(void **state)
{
	static const struct guard {
		const char *what;
		uint8_t code[8], n;
		uint32_t below;
		uint8_t size;		/* 0: there is none */
		uint8_t made[9];	/* up to where the jump goes to */
	} guards[] = {
		{ .what = "movslq (%rdx,%rax,4),%rax", .code = { 0x48, 0x63, 0x04, 0x82 },
		  .n = 4, .below = 127, .size = 10,
		  .made = { 0x48, 0x83, 0xf8, 127, 0x0f, 0x83 } },
		{ .what = "a word", .code = { 0x48, 0x63, 0x04, 0x82 }, .n = 4, .below = 0x180,
		  .size = 13, .made = { 0x48, 0x81, 0xf8, 0x80, 1, 0, 0, 0x0f, 0x83 } },
		{ .what = "mov (%rdx,%rdi,4),%eax", .code = { 0x8b, 0x04, 0xba }, .n = 3,
		  .below = 1, .size = 10, .made = { 0x48, 0x83, 0xff, 1, 0x0f, 0x83 } },
		{ .what = "movslq (%r8,%r12,4),%rcx", .code = { 0x4b, 0x63, 0x0c, 0xa0 },
		  .n = 4, .below = 9, .size = 10,
		  .made = { 0x49, 0x83, 0xfc, 9, 0x0f, 0x83 } },
		{ .what = "movslq (%rsp),%rax", .code = { 0x48, 0x63, 0x04, 0xa4 }, .n = 4,
		  .below = 9 },
		{ .what = "movslq (%rdx,%rax,1),%rax", .code = { 0x48, 0x63, 0x04, 0x02 },
		  .n = 4, .below = 9 },
		{ .what = "too many", .code = { 0x48, 0x63, 0x04, 0x82 }, .n = 4,
		  .below = 0x80000000 },
		{ .what = "lea", .code = { 0x48, 0x8d, 0x04, 0x82 }, .n = 4, .below = 9 },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(guards) / sizeof(guards[0]); i++) {
		const struct guard *g = &guards[i];
		struct bytes code = { g->code, g->n };
		uint8_t made[TABLELOAD_GUARD_MAX] = { 0 };

		if (tableload_guard_size(code, g->below) != g->size)
			fail_msg("%s: %u bytes", g->what, tableload_guard_size(code, g->below));
		if (g->size == 0)
			continue;
		tableload_guard_write(code, g->below, made);
		if (memcmp(made, g->made, sizeof(g->made)) != 0)
			fail_msg("%s", g->what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_of_entries_are_told_from_others),
		cmocka_unit_test(the_displacement_is_added),
		cmocka_unit_test(indexes_are_compared_as_a_whole),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
