/* test_bpf.c - the assembler for the kernel's machine, instruction by instruction */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "monitor/bpf.h"

static struct bpf_code code;

/* The instruction with that number. */
static void is(unsigned i, int op, int dst, int src, int off, int imm)
{
	assert_true(i < code.n);
	assert_int_equal(code.insn[i].code, op);
	assert_int_equal(code.insn[i].dst_reg, dst);
	assert_int_equal(code.insn[i].src_reg, src);
	assert_int_equal(code.insn[i].off, off);
	assert_int_equal(code.insn[i].imm, imm);
}

/* Numbers are those of the instruction set's description, not of the header. */
static void every_instruction_is_what_its_name_says(void **state)
{
	(void)state;
	memset(&code, 0, sizeof(code));
	bpf_move(&code, R6, R1);
	bpf_set(&code, R0, -7);
	bpf_add(&code, R4, -32);
	bpf_and(&code, R3, 255);
	bpf_load(&code, R2, FRAME, -16);
	bpf_store(&code, FRAME, -8, R9);
	bpf_call(&code, 25);
	bpf_set_wide(&code, R2, BPF_PSEUDO_MAP_FD, UINT64_C(0x123456789abcdef0));
	bpf_return(&code, 1);
	assert_int_equal(code.n, 11);
	is(0, 0xbf, 6, 1, 0, 0);
	is(1, 0xb7, 0, 0, 0, -7);
	is(2, 0x07, 4, 0, 0, -32);
	is(3, 0x57, 3, 0, 0, 255);
	is(4, 0x79, 2, 10, -16, 0);
	is(5, 0x7b, 10, 9, -8, 0);
	is(6, 0x85, 0, 0, 0, 25);
	is(7, 0x18, 2, 1, 0, (int)0x9abcdef0);
	is(8, 0, 0, 0, 0, 0x12345678);
	is(9, 0xb7, 0, 0, 0, 1);
	is(10, 0x95, 0, 0, 0, 0);
}

static void jumps_lead_to_what_comes_next(void **state)
{
	(void)state;
	memset(&code, 0, sizeof(code));
	unsigned near = bpf_jump(&code, BPF_JEQ, 5), far = bpf_jump(&code, BPF_JNE, -1);
	bpf_here(&code, near);
	bpf_set(&code, R0, 0);
	bpf_set(&code, R0, 1);
	bpf_here(&code, far);
	bpf_return(&code, 0);
	is(near, 0x15, 0, 0, 1, 5);
	is(far, 0x55, 0, 0, 2, -1);
}

static void the_kernel_takes_it_and_says_why_not(void **state)
{
	struct err err = { 0 };

	(void)state;
	if (geteuid() != 0)
		skip();
	int map = bpf_map(BPF_MAP_TYPE_ARRAY, 8, 2, 0, &err);
	if (map < 0)
		skip();		/* a kernel without */
	close(map);
	assert_int_equal(bpf_map(BPF_MAP_TYPE_ARRAY, 0, 2, 0, &err), -1);
	assert_string_equal(err.text, "BPF map: Invalid argument");
	memset(&code, 0, sizeof(code));
	bpf_return(&code, 1);
	int program = bpf_program(&code, BPF_PROG_TYPE_TRACEPOINT, &err);
	assert_true(program >= 0);
	/* only an event can have one */
	assert_int_equal(bpf_attach(program, STDIN_FILENO, &err), -1);
	assert_non_null(strstr(err.text, "BPF program: attaching it: "));
	assert_int_equal(bpf_lead_out(program, 3, STDIN_FILENO, &err), -1);
	assert_non_null(strstr(err.text, "BPF map of CPU 3: "));
	close(program);
	code.n = 1;		/* it never ends */
	assert_int_equal(bpf_program(&code, BPF_PROG_TYPE_TRACEPOINT, &err), -1);
	assert_string_equal(err.text, "BPF program: Invalid argument");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instruction_is_what_its_name_says),
		cmocka_unit_test(jumps_lead_to_what_comes_next),
		cmocka_unit_test(the_kernel_takes_it_and_says_why_not),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
