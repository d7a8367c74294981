/* test_edgecounter.c - edge counters are run: they count, and change nothing else
 *
 * Each is written into memory that can be executed, followed by a return, and called by a
 * piece of assembly that sets registers, flags, red zone and stack before and reads them after.
 * A stub in place of the counter runtime notes what it is told, and destroys what it may.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include "editor/emit/edgecounter.h"
#include "postmorph/ir/ir.h"

struct cpu {				/* the assembly knows the offsets */
	uint64_t rax, rcx, rdx, r11, flags;
	uint64_t on_stack;		/* at 8(%rsp) for the code that is called */
	uint64_t red_zone;		/* out: words of it that changed */
	uint64_t rsp_moved;		/* out */
};

void run_code(struct cpu *cpu, const void *code);
uint64_t told_target, told_number, was_jumped_to, jump_to;
extern const uint8_t stub_target[], stub_jump[], destination[];

enum { NCOUNTER = 4, PAGE = 4096, CF = 1, ZF = 0x40, SF = 0x80, OF = 0x800,
       STATUS = 0x8d5 };

__asm__(
"	.text\n"
"run_code:\n"
"	push %rbx\n"
"	push %rbp\n"
"	push %r12\n"
"	push %r13\n"
"	mov %rdi, %rbx\n"
"	mov %rsi, %r12\n"
"	push 40(%rbx)\n"
"	mov %rsp, %r13\n"
"	mov $0x5a5a1234, %ebp\n"
"	.set i, 16\n"
"	.rept 16\n"			/* the callee's red zone is below its return address */
"	mov %rbp, -i(%rsp)\n"
"	.set i, i + 8\n"
"	.endr\n"
"	mov (%rbx), %rax\n"
"	mov 8(%rbx), %rcx\n"
"	mov 16(%rbx), %rdx\n"
"	mov 24(%rbx), %r11\n"
"	push 32(%rbx)\n"
"	popf\n"
"	call *%r12\n"
"	pushf\n"
"	pop 32(%rbx)\n"
"	mov %rax, (%rbx)\n"
"	mov %rcx, 8(%rbx)\n"
"	mov %rdx, 16(%rbx)\n"
"	mov %r11, 24(%rbx)\n"
"	sub %rsp, %r13\n"
"	mov %r13, 56(%rbx)\n"
"	xor %eax, %eax\n"
"	.set i, 16\n"
"	.rept 16\n"
"	xor %ecx, %ecx\n"
"	cmp %rbp, -i(%rsp)\n"
"	setne %cl\n"
"	add %rcx, %rax\n"
"	.set i, i + 8\n"
"	.endr\n"
"	mov %rax, 48(%rbx)\n"
"	pop %rax\n"
"	pop %r13\n"
"	pop %r12\n"
"	pop %rbp\n"
"	pop %rbx\n"
"	ret\n"
"stub_target:\n"
"	mov %r11, told_target(%rip)\n"
"	mov %eax, %eax\n"
"	mov %rax, told_number(%rip)\n"
"	mov $-1, %r11\n"
"	xor %eax, %eax\n"
"	ret\n"
"stub_jump:\n"
"	mov %r11, told_target(%rip)\n"
"	mov %eax, %eax\n"
"	mov %rax, told_number(%rip)\n"
"	mov jump_to(%rip), %r11\n"
"	xor %eax, %eax\n"
"	ret\n"
"destination:\n"
"	incq was_jumped_to(%rip)\n"
"	ret\n");

static uint8_t code[PAGE] __attribute__((aligned(PAGE)));
static uint64_t counters[NCOUNTER];

static struct edgecounters all(bool locked)
{
	return (struct edgecounters){
		.locked = locked, .counter_addr = (new_vaddr)counters,
		.runtime_target = (new_vaddr)stub_target,
		.runtime_jump = (new_vaddr)stub_jump };
}

static int setup(void **state)
{
	(void)state;
	memset(counters, 0, sizeof(counters));
	told_target = told_number = was_jumped_to = jump_to = 0;
	return mprotect(code, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
}

/* Runs the edge counter; returns its size. */
static uint32_t run(const struct edgecounters *c, const struct edgecounter *counter,
		    const struct prog *prog, const struct insn *insn, struct cpu *cpu)
{
	uint8_t other[EDGECOUNTER_MAX];
	uint32_t n = edgecounter_write(c, counter, prog, insn, (new_vaddr)code, code);

	assert_int_equal(n, edgecounter_write(c, counter, prog, insn, 0, other));
	code[n] = 0xc3;
	run_code(cpu, code);
	return n;
}

static void assert_kept(const struct cpu *was, const struct cpu *is, uint64_t flags)
{
	assert_int_equal(is->rax, was->rax);
	assert_int_equal(is->rcx, was->rcx);
	assert_int_equal(is->rdx, was->rdx);
	assert_int_equal(is->r11, was->r11);
	assert_int_equal(is->flags & flags, was->flags & flags);
	assert_int_equal(is->red_zone, 0);
	assert_int_equal(is->rsp_moved, 0);
}

static const uint64_t some_flags[] = { 0, CF, ZF, SF, OF, OF | SF | CF, STATUS };
enum { NFLAGS = sizeof(some_flags) / sizeof(*some_flags) };

static void a_counter_leaves_the_carry_flag(void **state)
{
	(void)state;
	for (int i = 0; i < 2 * NFLAGS; i++) {
		struct edgecounters c = all(i % 2);
		struct cpu was = { 1, 2, 3, 4, 0x202 | some_flags[i / 2], 5, 0, 0 }, is = was;

		run(&c, &(struct edgecounter){ .number = 2 }, NULL, NULL, &is);
		assert_kept(&was, &is, CF);
		assert_int_equal(counters[2], i + 1);
		assert_int_equal(code[0] == 0xf0, i % 2);	/* lock */
	}
	assert_int_equal(counters[0] | counters[1] | counters[3], 0);
}

static void one_that_saves_leaves_all_flags(void **state)
{
	(void)state;
	for (int i = 0; i < NFLAGS; i++) {
		struct edgecounters c = all(false);
		struct edgecounter counter = { .number = 3, .saved = true };
		struct cpu was = { 0x1111, 2, 3, 4, 0x202 | some_flags[i], 5, 0, 0 }, is = was;

		run(&c, &counter, NULL, NULL, &is);
		assert_kept(&was, &is, STATUS);
		assert_int_equal(counters[3], i + 1);
	}
}

static const struct form {
	const char *name;
	uint8_t byte[8];
	uint64_t target;
} forms[] = {
	{ "call *%rax", { 0xff, 0xd0 }, 0x1111 },
	{ "call *%r11", { 0x41, 0xff, 0xd3 }, 0x4444 },
	{ "notrack jmp *%rdx", { 0x3e, 0xff, 0xe2 }, 0x3333 },
	{ "call *(%rcx)", { 0xff, 0x11 }, 0xabc0 },
	{ "call *8(%rcx)", { 0xff, 0x51, 8 }, 0xabc1 },
	{ "call *0x10(%rcx)", { 0xff, 0x91, 0x10, 0, 0, 0 }, 0xabc2 },
	{ "jmp *0(%rcx,%rdx,8)", { 0xff, 0x24, 0xd1 }, 0xabc3 },
	{ "call *8(%rsp)", { 0xff, 0x54, 0x24, 8 }, 0x5555 },
	{ "call *0x8(%rsp)", { 0xff, 0x94, 0x24, 8, 0, 0, 0 }, 0x5555 },
	{ "call *(%rsp,%rdx,8)", { 0xff, 0x14, 0xd4 }, 0x5555 },
	{ "jmp *16(%rip)", { 0xff, 0x25, 16, 0, 0, 0 }, 0x6666 },
};

/* The instruction as it stands in the original, which is in memory here, too. */
static void make_prog(const struct form *f, struct prog *prog, struct insn *insn)
{
	static uint8_t original[64];
	const uint64_t at_rip = 0x6666;
	vaddr target;

	memset(original, 0x90, sizeof(original));
	memcpy(original, f->byte, sizeof(f->byte));
	memcpy(original + 6 + 16, &at_rip, sizeof(at_rip));
	*prog = (struct prog){ .base = (vaddr)original, .img = {
		.text = { original, sizeof(original) }, .text_at = (vaddr)original } };
	assert_true(insn_decode(prog->img.text, prog->base, insn, &target));
	insn->off = 0;
}

static struct cpu cpu_for(const struct form *f, const uint64_t *memory)
{
	bool by_index = f->byte[1] == 0x24, on_stack = f->byte[1] == 0x14;

	return (struct cpu){ 0x1111, (uint64_t)memory, by_index ? 3 : on_stack ? 1 : 0x3333,
			     0x4444, 0x202 | OF | CF, 0x5555, 0, 0 };
}

static void targets_are_passed_on(void **state)
{
	static const uint64_t memory[] = { 0xabc0, 0xabc1, 0xabc2, 0xabc3 };
	struct edgecounters c = all(false);

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct edgecounter counter = {
			.at = EDGECOUNTER_TARGET, .saved = true, .number = 70 + (uint32_t)i };
		struct cpu was = cpu_for(&forms[i], memory), is = was;
		struct prog prog;
		struct insn insn;

		make_prog(&forms[i], &prog, &insn);
		run(&c, &counter, &prog, &insn, &is);
		if (told_target != forms[i].target)
			fail_msg("%s: told 0x%llx", forms[i].name,
				 (unsigned long long)told_target);
		assert_int_equal(told_number, 70 + i);
		assert_kept(&was, &is, STATUS);
	}
}

static void one_that_jumps_goes_where_it_is_told(void **state)
{
	struct edgecounters c = all(false);
	struct edgecounter counter = {
		.at = EDGECOUNTER_TARGET, .saved = true, .number = 9, .jumps = true };
	struct cpu was = cpu_for(&forms[2], NULL), is = was;
	struct prog prog;
	struct insn insn;

	(void)state;
	jump_to = (uint64_t)destination;
	make_prog(&forms[2], &prog, &insn);
	uint32_t n = run(&c, &counter, &prog, &insn, &is);
	assert_int_equal(was_jumped_to, 1);
	assert_int_equal(told_target, 0x3333);
	assert_int_equal(told_number, 9);
	assert_kept(&was, &is, CF);		/* the inc there changes the others */
	assert_in_range(n, 1, EDGECOUNTER_MAX);
}

static void a_counter_is_found_by_its_place(void **state)
{
	struct edgecounter v[] = {
		{ .block = 1, .at = EDGECOUNTER_BEFORE, .where = 2 },
		{ .block = 1, .at = EDGECOUNTER_FALL },
		{ .block = 4, .at = EDGECOUNTER_BEFORE },
		{ .block = 4, .at = EDGECOUNTER_ENTRY, .where = 3 },
		{ .block = 4, .at = EDGECOUNTER_ENTRY, .where = 9 },
		{ .block = 5, .at = EDGECOUNTER_ENTRY, .where = 1 },
	};
	uint32_t first[] = { 0, 0, 2, 2, 2, 5, 6 };
	struct edgecounter_fn fn[] = { { 0 }, { .v = v, .n = 6, .first = first } };
	struct edgecounters c = { .fn = fn };
	uint32_t n;

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		assert_ptr_equal(edgecounter_find(&c, 1, v[i].block, v[i].at, v[i].where),
				 &v[i]);
	assert_null(edgecounter_find(&c, 1, 1, EDGECOUNTER_BEFORE, 1));
	assert_null(edgecounter_find(&c, 1, 1, EDGECOUNTER_TAKEN, 0));
	assert_null(edgecounter_find(&c, 0, 1, EDGECOUNTER_FALL, 0));
	assert_null(edgecounter_find(NULL, 1, 1, EDGECOUNTER_FALL, 0));
	assert_ptr_equal(edgecounter_entries(&c, 1, 4, &n), &v[3]);
	assert_int_equal(n, 2);
	assert_null(edgecounter_entries(&c, 1, 1, &n));
	assert_int_equal(n, 0);
	assert_null(edgecounter_entries(NULL, 1, 4, &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_counter_leaves_the_carry_flag, setup),
		cmocka_unit_test_setup(one_that_saves_leaves_all_flags, setup),
		cmocka_unit_test_setup(targets_are_passed_on, setup),
		cmocka_unit_test_setup(one_that_jumps_goes_where_it_is_told, setup),
		cmocka_unit_test(a_counter_is_found_by_its_place),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
