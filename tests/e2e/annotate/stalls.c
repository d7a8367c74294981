/* stalls.c - loops of which it is known what they wait for, for tests/e2e/annotate.sh
 *
 * Each function is one loop in assembler.  The absolute symbol culprit_NAME is the distance
 * from its entry to the instruction that is to blame for most of its time: a label there would
 * be one that other code may jump to.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOP __attribute__((noinline, noclone)) void
#define CULPRIT(name) ".globl culprit_" #name "\n.set culprit_" #name ", . - " #name "\n"

static volatile uint64_t sink;

LOOP division(uint64_t n)
{
	uint64_t x = ~UINT64_C(0);

	asm volatile("1: xor %%edx, %%edx\n"
		     CULPRIT(division) "div %2\n"
		     "or %3, %0\n"
		     "dec %1\n"
		     "jnz 1b\n"
		     : "+a"(x), "+r"(n) : "r"(UINT64_C(3)), "r"(UINT64_C(1) << 62) : "rdx");
	sink = x;
}

LOOP multiplication(uint64_t n)
{
	uint64_t x = 3;

	asm volatile("1:\n"
		     CULPRIT(multiplication) "imul %2, %0\n"
		     "dec %1\n"
		     "jnz 1b\n"
		     : "+r"(x), "+r"(n) : "r"(UINT64_C(5)));
	sink = x;
}

/* Each waits for the one before: INSN is of x, which is %0, and y, %2. */
#define CHAIN(name, insn, x0, y0)						\
LOOP name(uint64_t n)								\
{										\
	double x = x0, y = y0;							\
										\
	asm volatile("1:\n"							\
		     CULPRIT(name) insn "\n"					\
		     "dec %1\n"							\
		     "jnz 1b\n"							\
		     : "+x"(x), "+r"(n) : "x"(y));				\
	sink = (uint64_t)x;							\
}
CHAIN(floating, "mulsd %2, %0", 1, 1)
CHAIN(additions, "addsd %2, %0", 1, 1)
CHAIN(quotient, "divsd %2, %0", 1e300, 1.0000001)
CHAIN(root, "sqrtsd %0, %0", 3, 0)

/* A pointer that leads to another line of much memory each time. */
LOOP chase(uint64_t n, void **p)
{
	asm volatile("1:\n"
		     CULPRIT(chase) "mov (%0), %0\n"
		     "lea 1(%%rcx), %%rdx\n"
		     "add $1, %%rcx\n"
		     "dec %1\n"
		     "jnz 1b\n"
		     : "+r"(p), "+r"(n) : : "rcx", "rdx");
	sink = (uint64_t)(uintptr_t)p;
}

/* One that leads to itself. */
LOOP cached(uint64_t n, void **p)
{
	asm volatile("1:\n"
		     CULPRIT(cached) "mov (%0), %0\n"
		     "dec %1\n"
		     "jnz 1b\n"
		     : "+r"(p), "+r"(n));
	sink = (uint64_t)(uintptr_t)p;
}

/* One whose eight bytes lie in two lines. */
LOOP crossing(uint64_t n, void **p)
{
	asm volatile("1:\n"
		     CULPRIT(crossing) "mov (%0), %0\n"
		     "dec %1\n"
		     "jnz 1b\n"
		     : "+r"(p), "+r"(n));
	sink = (uint64_t)(uintptr_t)p;
}

/* A branch that goes by random bytes. */
LOOP misprediction(uint64_t n, const uint8_t *bytes)
{
	uint64_t i = 0, sum = 0;

	asm volatile("1: movzbl (%2,%0), %%eax\n"
		     "test $1, %%al\n"
		     CULPRIT(misprediction) "jz 2f\n"
		     "add $3, %1\n"
		     "xor $5, %1\n"
		     "2: inc %0\n"
		     "cmp %3, %0\n"
		     "jb 1b\n"
		     : "+r"(i), "+r"(sum) : "r"(bytes), "r"(n) : "rax");
	sink = sum;
}

/* A jump through a table that goes by random bytes. */
LOOP jumping(uint64_t n, const uint8_t *bytes)
{
	uint64_t i = 0, sum = 0;

	asm volatile("lea 9f(%%rip), %%rdx\n"
		     "1: movzbl (%2,%0), %%eax\n"
		     "and $3, %%eax\n"
		     "cmp $3, %%eax\n"
		     "ja 6f\n"
		     "movslq (%%rdx,%%rax,4), %%rax\n"
		     "add %%rdx, %%rax\n"
		     CULPRIT(jumping) "jmp *%%rax\n"
		     "2: add $1, %1\n"
		     "jmp 6f\n"
		     "3: add $2, %1\n"
		     "jmp 6f\n"
		     "4: add $3, %1\n"
		     "jmp 6f\n"
		     "5: add $4, %1\n"
		     "6: inc %0\n"
		     "cmp %3, %0\n"
		     "jb 1b\n"
		     ".pushsection .rodata\n"
		     ".balign 4\n"
		     "9: .long 2b - 9b, 3b - 9b, 4b - 9b, 5b - 9b\n"
		     ".popsection\n"
		     : "+r"(i), "+r"(sum) : "r"(bytes), "r"(n) : "rax", "rdx");
	sink = sum;
}

/* Two bytes that are stored one by one and loaded as one word. */
LOOP forwarding(uint64_t n, uint8_t *bytes)
{
	uint64_t x = n;

	asm volatile("1: movb %%dl, (%2)\n"
		     CULPRIT(forwarding) "movb %%dh, 1(%2)\n"
		     "movzwl (%2), %%edx\n"
		     "add $1, %%edx\n"
		     "dec %1\n"
		     "jnz 1b\n"
		     : "+d"(x), "+r"(n) : "r"(bytes) : "memory");
	sink = x;
}

/* Three cycles of arithmetic a round, which retire in two or three groups.  It does not run:
 * samples of it are made. */
LOOP together(uint64_t n)
{
	uint64_t x = 1, y = n;

	asm volatile("1: mov %0, %%rax\n"
		     CULPRIT(together) "sar $3, %%rax\n"
		     "add %2, %%rax\n"
		     "add $5, %2\n"
		     "xor %%rax, %0\n"
		     "dec %1\n"
		     "jnz 1b\n"
		     : "+r"(x), "+r"(n), "+r"(y) : : "rax");
	sink = x;
}

/* A load in every 128th round of a chain that retires with what comes behind the load.  It runs
 * as often each time, and samples of it are made. */
LOOP seldom(uint64_t n, void **p)
{
	uint64_t x = 3;

	asm volatile("1: imul %2, %0\n"
		     "imul %2, %0\n"
		     "test $127, %1\n"
		     "jnz 2f\n"
		     CULPRIT(seldom) "mov (%3), %%rax\n"
		     "add $1, %%rax\n"
		     "2: dec %1\n"
		     "jnz 1b\n"
		     : "+r"(x), "+r"(n) : "r"(UINT64_C(5)), "r"(p) : "rax");
	sink = x;
}

/* A sum that is in memory: it is loaded as soon as it is stored.  It runs as often each time,
 * and samples of it are made. */
LOOP spilled(uint64_t n, double *p)
{
	asm volatile("1: movsd (%1), %%xmm0\n"
		     CULPRIT(spilled) "addsd %%xmm0, %%xmm0\n"
		     "movsd %%xmm0, (%1)\n"
		     "dec %0\n"
		     "jnz 1b\n"
		     : "+r"(n) : "r"(p) : "xmm0", "memory");
}

/* Two branches lead to one place; the one behind the loop does not run.  Samples are made. */
LOOP joined(uint64_t n)
{
	uint64_t i = 0, sum = 0;

	asm volatile("test %2, %2\n"
		     "js 3f\n"
		     "1: test $1, %0\n"
		     CULPRIT(joined) "jz 2f\n"
		     "add $3, %1\n"
		     "xor $5, %1\n"
		     "2: inc %0\n"
		     "cmp %2, %0\n"
		     "jb 1b\n"
		     "jmp 4f\n"
		     "3: test %1, %1\n"
		     "jz 2b\n"
		     "4:\n"
		     : "+r"(i), "+r"(sum) : "r"(n));
	sink = sum;
}

/* A cycle through all of `n` lines in an order that no prefetcher knows. */
static void **shuffled(size_t n)
{
	enum { POINTERS = 8 };		/* in a line */
	void **p = aligned_alloc(64, n * 64);
	uint32_t *order = malloc(n * sizeof(*order));

	if (!p || !order)
		exit(1);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (size_t i = n - 1; i > 0; i--) {
		size_t k = ((size_t)rand() << 16 ^ (size_t)rand()) % (i + 1);
		uint32_t t = order[i];

		order[i] = order[k];
		order[k] = t;
	}
	for (size_t i = 0; i < n; i++)
		p[(size_t)order[i] * POINTERS] = &p[(size_t)order[(i + 1) % n] * POINTERS];
	free(order);
	return p;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	static _Alignas(64) char lines[128];
	uint8_t *random = malloc(n);
	void **split = (void **)(void *)(lines + 60), *self = &self;
	void **p = shuffled(1 << 21);
	double sum = 0;

	if (!random)
		return 1;
	*(void *volatile *)split = split;
	for (uint64_t i = 0; i < n; i++)
		random[i] = (uint8_t)(rand() >> 9);
	seldom(1024, &self);
	spilled(1024, &sum);
	division(n);
	multiplication(3 * n);
	floating(3 * n);
	additions(2 * n);
	quotient(n);
	root(n / 2);
	chase(n / 8, p);
	cached(3 * n, &self);
	crossing(2 * n, split);
	misprediction(n, random);
	misprediction(n, random);
	jumping(n, random);
	forwarding(n, random);
	return 0;
}
