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

/* mov (%rdi), %eax begins a block, whose end is at many distances from it; div %ecx another. */
#define LOADS(name, n) \
	__attribute__((noinline)) static unsigned name(const int *p, unsigned rounds) \
	{ \
		unsigned sum = rounds, left = rounds; \
\
		__asm__ volatile("0: cmp $-5, %%ecx\n" \
				 "je 2f\n" \
				 "mov (%%rdi), %%eax\n" \
				 ".rept " #n "\n" \
				 "mov $1, %%dl\n" \
				 ".endr\n" \
				 "add %%eax, %0\n" \
				 "cmp $-9, %0\n" \
				 "je 2f\n" \
				 "add $1, %0\n" \
				 "2: dec %%ecx\n" \
				 "jne 0b\n" \
				 : "+r"(sum), "+c"(left) : "D"(rounds % 3 ? NULL : p) \
				 : "cc", "eax", "edx"); \
		for (unsigned i = 0; i < rounds / 8; i++) { \
			int x; \
\
			__asm__ volatile("div %%ecx" : "=a"(x) \
					 : "a"(i), "d"(0), "c"(i % 2) : "cc"); \
			sum = sum * 5 + (unsigned)x; \
		} \
		return sum; \
	}

LOADS(a, 0) LOADS(b, 1) LOADS(c, 2) LOADS(d, 3) LOADS(e, 4) LOADS(f, 5) LOADS(g, 6) LOADS(h, 7)
LOADS(i, 8) LOADS(j, 9) LOADS(k, 10) LOADS(l, 11)
LOADS(m, 12) LOADS(n, 13) LOADS(o, 14) LOADS(p, 15)

static unsigned (*const all[])(const int *, unsigned) = {
	a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p,
};

int main(void)
{
	struct sigaction action = { .sa_sigaction = step, .sa_flags = SA_SIGINFO };
	static const int one = 1;
	unsigned sum = 0;

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	for (unsigned t = 0; t < 10; t++)
		for (unsigned s = 0; s < sizeof(all) / sizeof(all[0]); s++)
			if ((sum = sum * 31 + all[s](&one, 100 + t)) % 1021 == 1)
				printf("%u\n", sum);	/* what hardly runs */
			else if (sum % 1019 == 2)
				printf("%u %u\n", t, s);
	printf("%lu %u\n", (unsigned long)faults, sum);
	return 0;
}
