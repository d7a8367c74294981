/* test_insncost.c - instructions that take longer cost more, and NOPs cost nothing */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "postmorph/machine/insncost.h"

enum { BASE = 0x1000, MAX = 8 };

/* The cost of a block of these instructions, decoded one after the other. */
static double cost_of(const uint8_t *code, uint64_t n)
{
	Elf64_Phdr ph = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = BASE,
			  .p_filesz = n, .p_memsz = n };
	struct insn insn[MAX];
	struct prog prog = { .base = BASE };
	struct fn fn = { .insn = insn };
	struct block b = { .addr = BASE };

	prog.img.file = (struct bytes){ code, n };
	prog.img.ph = &ph;
	prog.img.nph = 1;
	for (uint64_t off = 0; off < n; off += insn[b.ninsn++].len) {
		vaddr target;

		assert_true(b.ninsn < MAX);
		assert_true(insn_decode(bytes_at(prog.img.file, off, n - off), BASE + off,
					&insn[b.ninsn], &target));
		insn[b.ninsn].off = (uint32_t)off;
	}
	fn.ninsn = b.ninsn;
	return block_cost(&prog, &fn, &b);
}

#define COST(...) cost_of((const uint8_t[]){ __VA_ARGS__ }, \
			  sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void nops_cost_nothing(void **state)
{
	(void)state;
	assert_true(COST(0x90, 0x66, 0x90) == 0);
	assert_true(COST(0x01, 0xd0) > 0);			/* add %edx,%eax */
}

static void what_takes_longer_costs_more(void **state)
{
	double push = COST(0x50), plain = COST(0x01, 0xd0);	/* push %rax */
	double store = COST(0x89, 0x02);			/* mov %eax,(%rdx) */
	double frame = COST(0x8b, 0x44, 0x24, 0x08);		/* mov 8(%rsp),%eax */
	double chase = COST(0x8b, 0x02);			/* mov (%rdx),%eax */
	double divide = COST(0xf7, 0xf1);			/* div %ecx */
	double string = COST(0xf3, 0xa4);			/* rep movsb */

	(void)state;
	assert_true(push < plain);
	assert_true(plain < store);
	assert_true(store < frame);
	assert_true(frame < chase);
	assert_true(chase < divide);
	assert_true(divide < string);
}

static void a_block_costs_the_sum(void **state)
{
	double divide = COST(0xf7, 0xf1), plain = COST(0x01, 0xd0), jump = COST(0xeb, 0x00);

	(void)state;
	for (int round = 0; round < 2; round++)		/* the second from memory */
		assert_true(COST(0xf7, 0xf1, 0x01, 0xd0, 0x90, 0xeb, 0x00) ==
			    divide + plain + jump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nops_cost_nothing),
		cmocka_unit_test(what_takes_longer_costs_more),
		cmocka_unit_test(a_block_costs_the_sum),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
