/* flow_length.c - a handler adds the length of the instruction that faults
 *
 * It knows that length, because the program has only one kind of such instructions.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

static volatile unsigned long faults;

static void step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)info;
	faults++;
	u->uc_mcontext.gregs[REG_RAX] = sig;
	u->uc_mcontext.gregs[REG_RIP] += 2;
}

/* mov (%rdi), %eax and div %ecx, which begin a line of code here and there. */
#define LOADS(name, filler) \
	__attribute__((noinline)) static unsigned name(const int *p, unsigned n) \
	{ \
		unsigned sum = n; \
\
		for (unsigned i = 0; i < n; i++) { \
			int x; \
\
			__asm__ volatile(filler \
					 "1: mov (%%rdi), %%eax\n" \
					 "add $1, %%eax\n" \
					 "cmp $3, %%eax\n" \
					 "jb 2f\n" \
					 "xor $5, %%eax\n" \
					 "2:" \
					 : "=a"(x) : "D"(i % 3 ? NULL : p) : "cc"); \
			sum = sum * 5 + (unsigned)x; \
			if (i % 7 == 3) { \
				__asm__ volatile("div %%ecx" : "=a"(x) \
						 : "a"(i), "d"(0), "c"(i % 2) : "cc"); \
				sum ^= (unsigned)x; \
			} \
		} \
		return sum; \
	}

LOADS(a, "")
LOADS(b, "test %%edi, %%edi\n")
LOADS(c, "test %%edi, %%edi\nmov $1, %%eax\n")
LOADS(d, "test %%edi, %%edi\nmov $1, %%eax\nmov $2, %%eax\n")
LOADS(e, "mov $1, %%eax\nmov $2, %%eax\nmov $3, %%eax\n")
LOADS(f, "mov $1, %%al\nmov $2, %%eax\nmov $3, %%eax\nmov $4, %%eax\n")
LOADS(g, "mov $1, %%al\nmov $2, %%al\nmov $3, %%eax\nmov $4, %%eax\nmov $5, %%eax\n")
LOADS(h, "test %%edi, %%edi\nje 1f\nmov $3, %%eax\n")

int main(void)
{
	struct sigaction action = { .sa_sigaction = step, .sa_flags = SA_SIGINFO };
	static const int one = 1;
	unsigned sum = 0;

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	for (unsigned i = 0; i < 10; i++) {
		sum = sum * 31 + a(&one, 150) + b(&one, 150) + c(&one, 150) + d(&one, 150);
		sum = sum * 31 + e(&one, 150) + f(&one, 150) + g(&one, 150) + h(&one, 150);
	}
	printf("%lu %u\n", (unsigned long)faults, sum);
	return 0;
}
