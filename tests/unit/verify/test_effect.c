/* test_effect.c - what single instructions read, write and do, as the architecture has it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "verify/effect.h"

enum { AX = 1, CX = 2, DX = 4, BX = 8, SP = 16, SI = 64, DI = 128 };	/* masks */
enum { rax, rcx, rdx, rbx };
enum { CF = 1, PF = 2, AF = 4, ZF = 8, SF = 16, OF = 32, ARITHMETIC = 63 };

static const vaddr AT = 0x1000;

#define CODE(...) { __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ })

/* Decodes exactly one instruction. */
static struct effect effect_of(const char *name, const uint8_t *code, unsigned n)
{
	struct effect e;

	if (!effect_decode((struct bytes){ code, n }, AT, &e) || e.len != n)
		fail_msg("%s does not decode", name);
	return e;
}

static void expect(const char *name, const char *what, uint64_t got, uint64_t want)
{
	if (got != want)
		fail_msg("%s: %s is %#llx, not %#llx", name, what, (unsigned long long)got,
			 (unsigned long long)want);
}

static void registers_are_read_and_overwritten(void **state)
{
	static const struct {
		const char *name;
		uint8_t code[8];
		unsigned n;
		uint16_t reads, kills, clobbers, low_reads, word_reads, low_kills, word_kills;
	} row[] = {
		{ "xchg %rax,%rbx", CODE(0x48, 0x93), AX | BX, AX | BX, 0, 0, 0, 0, 0 },
		{ "mul %rcx", CODE(0x48, 0xf7, 0xe1), AX | CX, AX | DX, 0, 0, 0, 0, 0 },
		{ "mov %al,%cl", CODE(0x88, 0xc1), 0, 0, CX, AX, 0, CX, 0 },
		{ "mov %ah,%cl", CODE(0x88, 0xe1), 0, 0, CX, 0, AX, CX, 0 },
		{ "mov %cl,%ah", CODE(0x88, 0xcc), 0, 0, AX, CX, 0, 0, 0 },
		{ "mov %ax,%cx", CODE(0x66, 0x89, 0xc1), 0, 0, CX, 0, AX, 0, CX },
		{ "movzbl %al,%ecx", CODE(0x0f, 0xb6, 0xc8), 0, CX, 0, AX, 0, 0, 0 },
		{ "mov $7,%ecx", CODE(0xb9, 7, 0, 0, 0), 0, CX, 0, 0, 0, 0, 0 },
		{ "xor %eax,%eax", CODE(0x31, 0xc0), 0, AX, 0, 0, 0, 0, 0 },
		{ "sbb %eax,%eax", CODE(0x19, 0xc0), 0, AX, 0, 0, 0, 0, 0 },
		{ "or $-1,%eax", CODE(0x83, 0xc8, 0xff), 0, AX, 0, 0, 0, 0, 0 },
		{ "sete %dl", CODE(0x0f, 0x94, 0xc2), 0, 0, DX, 0, 0, DX, 0 },
		{ "mov %rbx,8(%rax,%rcx,2)", CODE(0x48, 0x89, 0x5c, 0x48, 8),
		  AX | CX | BX, 0, 0,
		  0, 0, 0, 0 },
		{ "mov %fs:8(%rsp),%rax", CODE(0x64, 0x48, 0x8b, 0x44, 0x24, 8),
		  SP, AX, 0, 0, 0,
		  0, 0 },
		{ "bsf %rax,%rcx", CODE(0x48, 0x0f, 0xbc, 0xc8), AX, 0, CX, 0, 0, 0, 0 },
		{ "bsr %ax,%cx", CODE(0x66, 0x0f, 0xbd, 0xc8), 0, 0, CX, 0, AX, 0, 0 },
		{ "xchg %ah,%al", CODE(0x86, 0xe0), 0, 0, AX, AX, AX, 0, 0 },
		{ "cmovew %ax,%cx", CODE(0x66, 0x0f, 0x44, 0xc8), 0, 0, CX, 0, AX, 0, 0 },
		{ "cpuid", CODE(0x0f, 0xa2), AX | CX, AX | BX | CX | DX, 0, 0, 0, 0, 0 },
		{ "repe cmpsb", CODE(0xf3, 0xa6), CX | SI | DI, 0, CX | SI | DI, 0, 0, 0, 0 },
		{ "nop", CODE(0x90), 0, 0, 0, 0, 0, 0, 0 },
		{ "ud1 25(%eax),%eax", CODE(0x67, 0x0f, 0xb9, 0x40, 25), 0, 0, 0, 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const char *name = row[i].name;
		struct effect e = effect_of(name, row[i].code, row[i].n);

		expect(name, "reads", e.reads, row[i].reads);
		expect(name, "low_reads", e.low_reads, row[i].low_reads);
		expect(name, "word_reads", e.word_reads, row[i].word_reads);
		/* What may be left as it was counts as both. */
		expect(name, "writes", e.kills | e.clobbers, row[i].kills | row[i].clobbers);
		expect(name, "more kills", e.kills & ~row[i].kills & ~row[i].clobbers, 0);
		if (!row[i].kills)
			expect(name, "kills", e.kills, 0);
		expect(name, "missing kills", row[i].kills & ~e.kills & ~e.clobbers, 0);
		expect(name, "low_kills", e.low_kills, row[i].low_kills);
		expect(name, "word_kills", e.word_kills, row[i].word_kills);
		expect(name, "op", e.op, FX_NONE);
	}
}

static const struct {
	const char *name;
	uint8_t code[8];
	unsigned n;
	uint8_t op, a, b, c;
	uint16_t reads;
	vaddr value;
} way[] = {
	{ "mov %rax,%rbx", CODE(0x48, 0x89, 0xc3), FX_COPY, rbx, rax, 0, 0, 0 },
	{ "mov %eax,%ebx", CODE(0x89, 0xc3), FX_COPY_LOW, rbx, rax, 0, 0, 0 },
	{ "mov %esp,%eax", CODE(0x89, 0xe0), FX_COPY_LOW, rax, 4, 0, 0, 0 },
	{ "and %rax,%rcx", CODE(0x48, 0x21, 0xc1), FX_BITS, rcx, rax, 0, 0, 0 },
	{ "sub $4,%ecx", CODE(0x83, 0xe9, 4), FX_BITS, rcx, rcx, 0, 0, 0 },
	{ "shl $2,%rcx", CODE(0x48, 0xc1, 0xe1, 2), FX_BITS, rcx, rcx, 0, 0, 0 },
	{ "inc %eax", CODE(0xff, 0xc0), FX_BITS, rax, rax, 0, 0, 0 },
	{ "and $3,%ecx", CODE(0x83, 0xe1, 3), FX_LOW_BITS, rcx, rcx, 0, 0, 3 },
	{ "and $0x3ff,%ecx", CODE(0x81, 0xe1, 0xff, 3, 0, 0),
	  FX_LOW_BITS, rcx, rcx, 0, 0, 0x3ff },
	{ "cmovne %rax,%rbx", CODE(0x48, 0x0f, 0x45, 0xd8), FX_CHOOSE, rbx, rax, 0, 0, 0 },
	{ "lea 8(%rdx,%rax,2),%rcx", CODE(0x48, 0x8d, 0x4c, 0x42, 8), FX_MIX, rcx, rdx,
	  rax, 0, 0 },
	{ "lea 0x10(%rip),%rdx", CODE(0x48, 0x8d, 0x15, 0x10, 0, 0, 0), FX_BASE, rdx, 0, 0,
	  0, 0x1017 },
	{ "movslq (%rdx,%rax,4),%rcx", CODE(0x48, 0x63, 0x0c, 0x82), FX_LOAD, rcx, rdx, 0,
	  AX, 0 },
	{ "lea (,%rax,4),%rcx", CODE(0x48, 0x8d, 0x0c, 0x85, 0, 0, 0, 0), FX_SCALE, rcx,
	  rax, 0, AX, 0 },
	{ "mov (%rdx,%rax,4),%ecx", CODE(0x8b, 0x0c, 0x82), FX_WORD, rcx, rdx, rax, AX, 0 },
	{ "mov (%rdx,%rax),%ecx", CODE(0x8b, 0x0c, 0x02), FX_WORD_SUM, rcx, rdx, rax, 0,
	  0 },
	{ "movslq %eax,%rcx", CODE(0x48, 0x63, 0xc8), FX_EXTEND, rcx, rax, 0, 0, 0 },
	{ "cltq", CODE(0x48, 0x98), FX_EXTEND, rax, rax, 0, 0, 0 },
	{ "add %rdx,%rax", CODE(0x48, 0x01, 0xd0), FX_ADD, rax, rdx, 0, 0, 0 },
	{ "lea (%rdx,%rax),%rcx", CODE(0x48, 0x8d, 0x0c, 0x02), FX_SUM, rcx, rdx, rax, 0,
	  0 },
	{ "push %rbx", CODE(0x53), FX_PUSH, rbx, 0, 0, 0, 0 },
	{ "pop %rbx", CODE(0x5b), FX_POP, rbx, 0, 0, SP, 0 },
	{ "mov %rax,8(%rsp)", CODE(0x48, 0x89, 0x44, 0x24, 8), FX_SPILL, rax, 0, 0, SP, 0 },
	{ "mov 8(%rsp),%eax", CODE(0x8b, 0x44, 0x24, 8), FX_RELOAD, rax, 0, 0, SP, 0 },
	{ "mov 0x1000(,%rax,8),%rcx", CODE(0x48, 0x8b, 0x0c, 0xc5, 0, 0x10, 0, 0), FX_TABLE,
	  rcx, 0, 0, AX, 0x1000 },
	{ "jmp *%rax", CODE(0xff, 0xe0), FX_JUMP, rax, 0, 0, 0, 0 },
	{ "jmp *0x1000(,%rax,8)", CODE(0xff, 0x24, 0xc5, 0, 0x10, 0, 0), FX_JUMP_TABLE, 0,
	  0, 0, AX, 0x1000 },
	/* Close to these, and nothing of the kind. */
	{ "add %rax,%rax", CODE(0x48, 0x01, 0xc0), FX_BITS, rax, rax, 0, 0, 0 },
	{ "movslq 4(%rdx,%rax,4),%rcx", CODE(0x48, 0x63, 0x4c, 0x82, 4), FX_NONE, 0, 0, 0,
	  AX | DX, 0 },
	{ "movslq (%rdx,%rax,8),%rcx", CODE(0x48, 0x63, 0x0c, 0xc2), FX_NONE, 0, 0, 0,
	  AX | DX, 0 },
	{ "mov 4(%rdx,%rax,4),%ecx", CODE(0x8b, 0x4c, 0x82, 4), FX_NONE, 0, 0, 0, AX | DX,
	  0 },
	{ "shr $2,%rcx", CODE(0x48, 0xc1, 0xe9, 2), FX_NONE, 0, 0, 0, CX, 0 },
	{ "jmp *0x1000(,%rax,4)", CODE(0xff, 0x24, 0x85, 0, 0x10, 0, 0), FX_NONE, 0, 0, 0,
	  AX, 0 },
};

static void the_way_to_a_table_is_recognized(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		const char *name = way[i].name;
		struct effect e = effect_of(name, way[i].code, way[i].n);

		expect(name, "op", e.op, way[i].op);
		expect(name, "reads", e.reads, way[i].reads);
		if (way[i].op == FX_NONE)
			continue;
		expect(name, "a", e.a, way[i].a);
		expect(name, "b", e.b, way[i].b);
		expect(name, "c", e.c, way[i].c);
		expect(name, "value", e.value, way[i].value);
	}
}

static void flags_are_read_and_written(void **state)
{
	static const struct {
		const char *name;
		uint8_t code[8];
		unsigned n;
		uint8_t read, written, repeats;
	} row[] = {
		{ "cmp %eax,%ecx", CODE(0x39, 0xc1), 0, ARITHMETIC, 0 },
		{ "inc %eax", CODE(0xff, 0xc0), 0, ARITHMETIC & ~CF, 0 },
		{ "adc %eax,%ecx", CODE(0x11, 0xc1), CF, ARITHMETIC, 0 },
		{ "ja 0x1002", CODE(0x77, 0), CF | ZF, 0, 0 },
		{ "jl 0x1002", CODE(0x7c, 0), SF | OF, 0, 0 },
		{ "cmovne %rax,%rbx", CODE(0x48, 0x0f, 0x45, 0xd8), ZF, 0, 0 },
		{ "setp %al", CODE(0x0f, 0x9a, 0xc0), PF, 0, 0 },
		{ "shl $2,%eax", CODE(0xc1, 0xe0, 2), 0, ARITHMETIC, 0 },
		{ "shl $32,%eax", CODE(0xc1, 0xe0, 32), 0, 0, 0 },	/* a count of 0 */
		{ "shl $32,%rax", CODE(0x48, 0xc1, 0xe0, 32), 0, ARITHMETIC, 0 },
		{ "shl %cl,%eax", CODE(0xd3, 0xe0), 0, 0, 0 },
		{ "repe cmpsb", CODE(0xf3, 0xa6), 0, 0, ARITHMETIC },
		{ "cmpsb", CODE(0xa6), 0, ARITHMETIC, 0 },
		{ "mov %eax,%ecx", CODE(0x89, 0xc1), 0, 0, 0 },
		{ "lea (%rdx,%rax),%rcx", CODE(0x48, 0x8d, 0x0c, 0x02), 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const char *name = row[i].name;
		struct effect e = effect_of(name, row[i].code, row[i].n);

		expect(name, "flags read", e.flags_read, row[i].read);
		expect(name, "flags written", e.flags_written, row[i].written);
		expect(name, "flags repeated", e.repeats, row[i].repeats);
	}
}

static void the_stack_grows_by_whole_slots_or_moves(void **state)
{
	static const struct {
		const char *name;
		uint8_t code[8];
		unsigned n;
		int32_t stack;
		bool moves;
	} row[] = {
		{ "push %rbx", CODE(0x53), 1, false },
		{ "pop %rbx", CODE(0x5b), -1, false },
		{ "pop %rsp", CODE(0x5c), 0, true },
		{ "pushw %bx", CODE(0x66, 0x53), 0, true },
		{ "sub $0x18,%rsp", CODE(0x48, 0x83, 0xec, 0x18), 3, false },
		{ "sub $0x1c,%rsp", CODE(0x48, 0x83, 0xec, 0x1c), 0, true },
		{ "add $0x18,%rsp", CODE(0x48, 0x83, 0xc4, 0x18), -3, false },
		{ "sub %rax,%rsp", CODE(0x48, 0x29, 0xc4), 0, true },
		{ "lea -8(%rsp),%rsp", CODE(0x48, 0x8d, 0x64, 0x24, 0xf8), 1, false },
		{ "lea -8(%rbp),%rsp", CODE(0x48, 0x8d, 0x65, 0xf8), 0, true },
		{ "mov %rbp,%rsp", CODE(0x48, 0x89, 0xec), 0, true },
		{ "leave", CODE(0xc9), 0, true },
		{ "and $-16,%rsp", CODE(0x48, 0x83, 0xe4, 0xf0), 0, true },
		{ "mov %rax,%rbx", CODE(0x48, 0x89, 0xc3), 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const char *name = row[i].name;
		struct effect e = effect_of(name, row[i].code, row[i].n);

		expect(name, "growth", (uint64_t)e.stack, (uint64_t)row[i].stack);
		expect(name, "moved", e.moves_stack, row[i].moves);
	}
}

/* Whatever the number is. */
static void numbers_added_to_the_stack_are_whole_slots_or_none(void **state)
{
	enum { SUB = 0xec, ADD = 0xc4 };

	(void)state;
	for (int i = -128; i < 128; i++)
		for (int add = 0; add <= 1; add++) {
			const uint8_t code[] = { 0x48, 0x83, add ? ADD : SUB, (uint8_t)i };
			struct effect e = effect_of(add ? "add" : "sub", code, sizeof(code));
			int32_t growth = i % 8 ? 0 : add ? -i / 8 : i / 8;

			expect("a number", "growth", (uint64_t)e.stack, (uint64_t)growth);
			expect("a number", "moved", e.moves_stack, i % 8 != 0);
		}
}

static void what_may_fault_is_told(void **state)
{
	static const struct {
		const char *name;
		uint8_t code[8];
		unsigned n;
		bool faults;
	} row[] = {
		{ "mov %rax,%rbx", CODE(0x48, 0x89, 0xc3), false },
		{ "mov (%rax),%rbx", CODE(0x48, 0x8b, 0x18), true },
		{ "mov %rbx,(%rax)", CODE(0x48, 0x89, 0x18), true },
		{ "lea 8(%rax),%rbx", CODE(0x48, 0x8d, 0x58, 8), false },
		{ "add %eax,%ecx", CODE(0x01, 0xc1), false },
		{ "div %ecx", CODE(0xf7, 0xf1), true },
		{ "push %rbx", CODE(0x53), true },
		{ "pxor %xmm0,%xmm0", CODE(0x66, 0x0f, 0xef, 0xc0), false },
		{ "addps %xmm1,%xmm0", CODE(0x0f, 0x58, 0xc1), true },
		{ "ud2", CODE(0x0f, 0x0b), true },
		{ "fldz", CODE(0xd9, 0xee), true },
		{ "movd %eax,%mm0", CODE(0x0f, 0x6e, 0xc0), true },
		{ "vpxor %ymm0,%ymm0,%ymm0", CODE(0xc5, 0xfd, 0xef, 0xc0), true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		expect(row[i].name, "faults",
		       effect_of(row[i].name, row[i].code, row[i].n).faults, row[i].faults);
}

static void places_in_the_frame_and_slots_are_told(void **state)
{
	static const uint8_t spill[] = { 0x48, 0x89, 0x44, 0x24, 8 };	/* mov %rax,8(%rsp) */
	/* movzbl -8(%rsp),%eax */
	static const uint8_t byte[] = { 0x0f, 0xb6, 0x44, 0x24, 0xf8 };
	static const uint8_t call[] = { 0xff, 0x15, 0x10, 0, 0, 0 };	/* call *0x10(%rip) */
	static const uint8_t count[] = { 0xb9, 7, 0, 0, 0 };		/* mov $7,%ecx */
	static const uint8_t zero[] = { 0xb9, 0, 0, 0, 0 };
	struct effect e = effect_of("spill", spill, sizeof(spill));

	(void)state;
	assert_true(e.frame && !e.frame_read);
	assert_int_equal(e.at, 8);
	assert_int_equal(e.span, 8);
	e = effect_of("byte", byte, sizeof(byte));
	assert_true(e.frame && e.frame_read);
	assert_int_equal(e.at, -8);
	assert_int_equal(e.span, 1);
	assert_true(effect_of("call", call, sizeof(call)).slot == AT + 6 + 0x10);
	assert_true(effect_of("count", count, sizeof(count)).sets_count);
	assert_false(effect_of("zero", zero, sizeof(zero)).sets_count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_are_read_and_overwritten),
		cmocka_unit_test(the_way_to_a_table_is_recognized),
		cmocka_unit_test(flags_are_read_and_written),
		cmocka_unit_test(the_stack_grows_by_whole_slots_or_moves),
		cmocka_unit_test(numbers_added_to_the_stack_are_whole_slots_or_none),
		cmocka_unit_test(what_may_fault_is_told),
		cmocka_unit_test(places_in_the_frame_and_slots_are_told),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
