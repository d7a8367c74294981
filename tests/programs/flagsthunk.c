/* flagsthunk.c - flags live on across a jump to a label by way of a thunk, a function of its
 * own: gcc -mindirect-branch=thunk-extern */
#include <stdio.h>

#define THUNK(r) __asm__( \
	".globl __x86_indirect_thunk_" #r "\n" \
	".type __x86_indirect_thunk_" #r ", @function\n" \
	"__x86_indirect_thunk_" #r ":\n" \
	".cfi_startproc\n" \
	"lfence\n" \
	"jmp *%" #r "\n" \
	".cfi_endproc\n" \
	".size __x86_indirect_thunk_" #r ", . - __x86_indirect_thunk_" #r "\n")
THUNK(rax);
THUNK(rdx);
THUNK(rcx);
THUNK(rsi);
THUNK(rdi);
THUNK(r8);

static volatile int sink;

__attribute__((noinline)) static int f(long a, long b, unsigned long x)
{
	static void *const label[] = { &&l0, &&l1, &&l2, &&l3 };

	if (a < b) {
		sink = 1;
		return 77;
	}
	goto *label[x];
l0:
	sink = 2;
	return a == b ? 1 : 2;
l1:
	if (a == b) {
		sink = 9;
		return 11;
	}
	sink = 5;
	return 15;
l2:
	if (a == b) {
		sink = 19;
		return 21;
	}
	return 10;
l3:
	return a == b ? 31 : 30;
}

int main(void)
{
	unsigned long sum = 0;

	for (int i = 0; i < 6000; i++)
		sum = sum * 3 + (unsigned)f(i % 7, i % 5, i % 4);
	printf("%lu\n", sum);
	return 0;
}
