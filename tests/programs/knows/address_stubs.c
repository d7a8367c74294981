/* address_stubs.c - stubs of 16 bytes each, of which only the first has a pointer */
#include <stdint.h>
#include <stdio.h>

__asm__(".text\n"
	"\t.set number, 0\n"
	"\t.p2align 4\n"
	"\t.globl stubs\n"
	"\t.hidden stubs\n"
	"\t.type stubs, @function\n"
	"stubs:\n"
	"\t.rept 8\n"
	"\t.p2align 4\n"
	"\t.cfi_startproc\n"
	"\tmovl $100 + number, %eax\n"
	"\taddl %edi, %eax\n"
	"\tret\n"
	"\t.cfi_endproc\n"
	"\t.set number, number + 1\n"
	"\t.endr\n");

int stubs(int);

/* in memory: nothing tells who calculates with it */
char *volatile base = (char *)stubs;

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 100000; i++)
		sum += ((int (*)(int))(base + 16 * (i & 7)))(i & 3);
	printf("%d\n", sum);
	return 0;
}
