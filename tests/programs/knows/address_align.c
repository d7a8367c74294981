/* address_align.c - a tag in the low bits of pointers to functions that are aligned for that,
 * and the page of a function that is protected */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#define ALIGNED(n) __attribute__((noinline, aligned(n)))

/* An entry jump needs five bytes. */
#define LONGER __asm__ volatile("nopl 0(%rax)")

typedef int op(int);

ALIGNED(64) int twice(int x) { LONGER; return 2 * x; }
ALIGNED(64) int thrice(int x) { LONGER; return 3 * x; }
ALIGNED(64) int square(int x) { LONGER; return x * x; }
ALIGNED(128) int next(int x) { LONGER; return x + 1; }
/* Whatever order the compiler chooses, nothing else is in the page of paged(). */
ALIGNED(4096) int before(int x) { LONGER; return x ^ 2; }
ALIGNED(4096) int paged(int x) { LONGER; return x - 1; }
ALIGNED(4096) int behind(int x) { LONGER; return x ^ 1; }

/* in memory: nothing of them is known behind a lea */
op *volatile ops[] = { twice, thrice, square, next };
op *volatile page = paged;
static sigjmp_buf env;

/* It, too. */
ALIGNED(4096) static void caught(int sig)
{
	(void)sig;
	siglongjmp(env, 1);
}

int main(void)
{
	unsigned sum = 0;

	for (int round = 0; round < 200000; round++) {
		uintptr_t tagged = (uintptr_t)ops[round & 3] | (round & 63);
		op *f = (op *)(tagged & ~(uintptr_t)63);

		sum = sum * 31 + (unsigned)f(round & 255) + (tagged & 63);
	}
	printf("%u\n", sum);
	for (int i = 0; i < 4; i++)
		printf("%d\n", (int)((uintptr_t)ops[i] & 63));
	signal(SIGSEGV, caught);
	mprotect((void *)page, 4096, PROT_NONE);
	if (sigsetjmp(env, 1) == 0)
		printf("%d: not protected\n", paged(8));
	else
		printf("protected\n");
	mprotect((void *)page, 4096, PROT_READ | PROT_EXEC);
	printf("%d %d %d\n", paged(8), behind(8), before(8));
	return 0;
}
