/* test_indexop.c - which registers an instruction writes, of which it clears the upper half,
 * and by which it reads an entry of a table
 *
 * A bound that is shown of 32 bits holds for the register where the rest of it is 0.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "verify/indexop.h"

enum { RAX = 1 << 0, RCX = 1 << 1, RBX = 1 << 3 };

static const struct written {
	const char *what;
	uint8_t code[8], size;
	uint16_t writes, clears;
} cases[] = {
	{ "mov %ecx, %eax", { 0x89, 0xc8 }, 2, RAX, RAX },
	{ "mov %rcx, %rax", { 0x48, 0x89, 0xc8 }, 3, RAX, 0 },
	{ "mov %cx, %ax", { 0x66, 0x89, 0xc8 }, 3, RAX, 0 },
	{ "mov %cl, %al", { 0x88, 0xc8 }, 2, RAX, 0 },
	{ "mov $5, %eax", { 0xb8, 5 }, 5, RAX, RAX },
	{ "add %rcx, %rbx", { 0x48, 0x01, 0xcb }, 3, RBX, 0 },
	{ "add %ecx, %ebx", { 0x01, 0xcb }, 2, RBX, RBX },
	/* of zero these leave all of it */
	{ "bsf %ecx, %eax", { 0x0f, 0xbc, 0xc1 }, 3, RAX, 0 },
	{ "bsr %ecx, %eax", { 0x0f, 0xbd, 0xc1 }, 3, RAX, 0 },
	{ "cmove %ecx, %eax", { 0x0f, 0x44, 0xc1 }, 3, RAX, RAX },
	{ "cmove %rcx, %rax", { 0x48, 0x0f, 0x44, 0xc1 }, 4, RAX, 0 },
	{ "tzcnt %ecx, %eax", { 0xf3, 0x0f, 0xbc, 0xc1 }, 4, RAX, RAX },
	{ "bsf %rcx, %rax", { 0x48, 0x0f, 0xbc, 0xc1 }, 4, RAX, 0 },
	{ "xchg %ecx, %ebx", { 0x87, 0xcb }, 2, RBX | RCX, RBX | RCX },
	{ "xchg %rcx, %rbx", { 0x48, 0x87, 0xcb }, 3, RBX | RCX, 0 },
	{ "vmovd %xmm0, %eax", { 0xc5, 0xf9, 0x7e, 0xc0 }, 4, RAX, RAX },
	{ "vmovq %xmm0, %rax", { 0xc4, 0xe1, 0xf9, 0x7e, 0xc0 }, 5, RAX, 0 },
};

static void a_write_of_32_bits_clears_the_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct written *c = &cases[i];
		struct iop o;

		if (!iop_decode((struct bytes){ c->code, c->size }, 0x1000, &o))
			fail_msg("%s is not known", c->what);
		if (o.writes != c->writes || o.clears != c->clears)
			fail_msg("%s writes %x and clears the rest of %x", c->what, o.writes,
				 o.clears);
	}
}

/* The bit that a register tells may be anywhere, the one of a constant is in the operand. */
static void a_bit_may_be_far_away(void **state)
{
	static const uint8_t by_register[] = { 0x0f, 0xab, 0x08 };
	static const uint8_t set[] = { 0x0f, 0xba, 0x28, 3 };
	struct iop o;

	(void)state;
	assert_true(iop_decode((struct bytes){ by_register, 3 }, 0x1000, &o));
	assert_true(o.stores && o.to.kind == PLACE_OTHER);
	assert_true(iop_decode((struct bytes){ set, 4 }, 0x1000, &o));
	assert_true(o.stores && o.to.kind == PLACE_MEMORY);
}

enum { A, C, NO_INDEX = -1 };

static const struct read {
	const char *what;
	uint8_t code[8], size, base;
	int index;
	bool scaled;
} reads[] = {
	{ "movslq (%rax,%rcx,4), %rdx", { 0x48, 0x63, 0x14, 0x88 }, 4, A, C, false },
	{ "movslq (%rax,%rcx), %rdx", { 0x48, 0x63, 0x14, 0x08 }, 4, A, C, true },
	{ "movslq (%rcx,%rax), %rdx", { 0x48, 0x63, 0x14, 0x01 }, 4, A, C, true },
	{ "movslq (%rcx,%rax,4), %rdx", { 0x48, 0x63, 0x14, 0x81 }, 4, A, NO_INDEX, false },
	{ "movslq (%rbx,%rcx,4), %rdx", { 0x48, 0x63, 0x14, 0x8b }, 4, A, NO_INDEX, false },
	{ "movslq (%rax,%rcx,2), %rdx", { 0x48, 0x63, 0x14, 0x48 }, 4, A, NO_INDEX, false },
	{ "movslq (%rax,%rcx,8), %rdx", { 0x48, 0x63, 0x14, 0xc8 }, 4, A, NO_INDEX, false },
	{ "mov 64(,%rcx,8), %rdx", { 0x48, 0x8b, 0x14, 0xcd, 64 }, 8, PLACE_NONE, C, false },
	{ "jmp *64(,%rcx,8)", { 0xff, 0x24, 0xcd, 64 }, 7, PLACE_NONE, C, false },
	{ "movslq 64(,%rcx,4), %rdx", { 0x48, 0x63, 0x14, 0x8d, 64 }, 8, PLACE_NONE, NO_INDEX,
	  false },
	{ "mov (%rax), %rdx", { 0x48, 0x8b, 0x10 }, 3, A, NO_INDEX, false },
	{ "mov %rcx, %rax", { 0x48, 0x89, 0xc8 }, 3, A, NO_INDEX, false },
	{ "nothing that there is", { 0x06 }, 1, A, NO_INDEX, false },
};

static void an_entry_is_read_by_one_register(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		const struct read *c = &reads[i];
		struct vindex x;
		bool found = iop_index((struct bytes){ c->code, c->size }, c->base, &x);

		if (found != (c->index != NO_INDEX))
			fail_msg("%s: %d", c->what, found);
		if (found && (x.index.kind != PLACE_REG || x.index.base != c->index ||
			      x.scaled != c->scaled))
			fail_msg("%s: by register %u, scaled: %d", c->what, x.index.base,
				 x.scaled);
	}
}

static void a_place_beside_the_code_has_an_address(void **state)
{
	static const uint8_t load[] = { 0x8b, 0x05, 8, 0, 0, 0 };	/* mov 8(%rip), %eax */
	static const uint8_t back[] = { 0x8b, 0x05, 0xf0, 0xff, 0xff, 0xff };	/* -16 */
	static const uint8_t stack[] = { 0x8b, 0x44, 0x24, 8 };	/* mov 8(%rsp), %eax */
	struct iop o;

	(void)state;
	assert_true(iop_decode((struct bytes){ load, sizeof(load) }, 0x1000, &o));
	assert_int_equal(o.kind, IOP_MOVE);
	assert_int_equal(o.from.kind, PLACE_MEMORY);
	assert_int_equal(o.from.base, PLACE_RIP);
	assert_int_equal(o.from.at, 0x1000 + sizeof(load) + 8);
	assert_true(iop_decode((struct bytes){ back, sizeof(back) }, 0x1000, &o));
	assert_int_equal(o.from.at, 0x1000 + sizeof(back) - 16);
	assert_true(iop_decode((struct bytes){ stack, sizeof(stack) }, 0x1000, &o));
	assert_int_equal(o.from.base, 4);
	assert_int_equal(o.from.index, PLACE_NONE);
	assert_int_equal(o.from.at, 8);
}

/* ah to bh are the second bytes, of registers whose lowest ones have other names. */
static void the_second_byte_of_a_register_is_no_place(void **state)
{
	enum { AL, CL, DL, BL, AH, CH, DH, BH, REGISTER = 0xf8 };

	(void)state;
	for (uint8_t r = AL; r <= BH; r++) {
		const uint8_t compare[] = { 0x80, (uint8_t)(REGISTER | r), 5 };	/* cmp $5, r */
		struct iop o;

		assert_true(iop_decode((struct bytes){ compare, sizeof(compare) }, 0, &o));
		assert_int_equal(o.kind, IOP_COMPARE);
		assert_int_equal(o.from.kind, r < AH ? PLACE_REG : PLACE_OTHER);
		if (r < AH)
			assert_int_equal(o.from.base, r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_of_32_bits_clears_the_others),
		cmocka_unit_test(a_bit_may_be_far_away),
		cmocka_unit_test(an_entry_is_read_by_one_register),
		cmocka_unit_test(a_place_beside_the_code_has_an_address),
		cmocka_unit_test(the_second_byte_of_a_register_is_no_place),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
