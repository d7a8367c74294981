/* address_argument.c - the address of a jump table is also a value: a callee reads the table */
#include <stdio.h>

__asm__(".text\n"
	"\t.p2align 4\n"
	"\t.globl dispatch\n"
	"\t.hidden dispatch\n"
	"\t.type dispatch, @function\n"
	"dispatch:\n"
	"\t.cfi_startproc\n"
	"\tpushq %rbx\n"
	"\t.cfi_def_cfa_offset 16\n"
	"\t.cfi_offset 3, -16\n"
	"\tmovl %edi, %ebx\n"
	"\tleaq dispatch_table(%rip), %rdi\n"
	"\tcall look\n"
	"\tcmpl $3, %ebx\n"
	"\tja 9f\n"
	"\tleaq dispatch_table(%rip), %rdx\n"
	"\tmovslq (%rdx,%rbx,4), %rcx\n"
	"\taddq %rdx, %rcx\n"
	"\tjmp *%rcx\n"
	"1:\taddl $1, %eax\n"
	"\tjmp 9f\n"
	"2:\taddl $2, %eax\n"
	"\tjmp 9f\n"
	"3:\taddl $3, %eax\n"
	"\tjmp 9f\n"
	"4:\taddl $4, %eax\n"
	"9:\tpopq %rbx\n"
	"\t.cfi_def_cfa_offset 8\n"
	"\tret\n"
	"\t.cfi_endproc\n"
	"\t.size dispatch, . - dispatch\n"
	"\t.section .rodata\n"
	"\t.p2align 2\n"
	"dispatch_table:\n"
	"\t.long 1b - dispatch_table, 2b - dispatch_table\n"
	"\t.long 3b - dispatch_table, 4b - dispatch_table\n"
	"\t.text\n");

int dispatch(int);

/* Distances between cases, whatever they are, are the program's. */
__attribute__((noinline, used, visibility("hidden"))) int look(const int *table)
{
	return (table[1] - table[0]) * 100 + (table[3] - table[2]);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 100000; i++)
		sum += dispatch(i & 7);
	printf("%d %d\n", sum, dispatch(9));
	return 0;
}
