/* address_bytes.c - code that reads the first bytes of a function, enters it behind them, and
 * patches it */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#define ASM_FUNCTION(name, body)		\
	"\t.p2align 4\n"			\
	"\t.globl " name "\n"			\
	"\t.hidden " name "\n"			\
	"\t.type " name ", @function\n"		\
	name ":\n"				\
	"\t.cfi_startproc\n"			\
	body					\
	"\tret\n"				\
	"\t.cfi_endproc\n"			\
	"\t.size " name ", . - " name "\n"

__asm__(".text\n"
	ASM_FUNCTION("entered", "\taddl $1000000, %edi\n\tleal 1(%rdi), %eax\n\tnop\n\tnop\n")
	ASM_FUNCTION("read_it", "\tleal 2(%rdi), %eax\n\tnop\n\tnop\n\tnop\n\tnop\n")
	ASM_FUNCTION("patched", "\tmovl $5, %eax\n\tnop\n\tnop\n\tnop\n\tnop\n"));

int entered(int), read_it(int), patched(int);

/* The distance is the program's, so that it is arithmetic, not a label. */
__attribute__((noinline, noclone)) int enter(int x, long distance)
{
	return ((int (*)(int))((uintptr_t)entered + (uintptr_t)distance))(x);
}

__attribute__((noinline, noclone)) unsigned checksum(void)
{
	unsigned sum = 0;

#ifdef __OPTIMIZE__	/* some would form the address of the end only: doc/limits.md */
	const unsigned char *p = (const unsigned char *)(uintptr_t)read_it;

	__asm__ volatile("" : "+r"(p));
	for (int i = 0; i < 8; i++)
		sum = sum * 31 + p[i];
#else			/* and here it would go through memory first */
	for (int i = 0; i < 8; i++)
		sum = sum * 31 + ((const unsigned char *)(uintptr_t)read_it)[i];
#endif
	return sum;
}

__attribute__((noinline, noclone)) void patch(void)
{
	uintptr_t page = (uintptr_t)patched & ~(uintptr_t)4095;

	mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	*(volatile unsigned char *)((uintptr_t)patched + 1) = 6;
	mprotect((void *)page, 8192, PROT_READ | PROT_EXEC);
}

int main(void)
{
	unsigned sum = 0;

	for (int i = 0; i < 100000; i++)
		sum += (unsigned)enter(i & 3, 6) + checksum() + (unsigned)patched(0) +
		       (unsigned)entered(1) + (unsigned)read_it(1);
	printf("%u\n", sum);
	patch();
	printf("%d\n", patched(0));
	return 0;
}
