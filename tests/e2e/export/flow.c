/* flow.c - a program for tests/e2e/bolt.sh: branches, a table of cases, calls, also through
 * pointers, tail calls, and local functions of one name in two files (compiled twice, OTHER is
 * the second one) */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t one(uint64_t x);
uint64_t other(uint64_t x);

static __attribute__((noinline, noclone)) uint64_t local(uint64_t x)
{
	uint64_t n = 0;

	while (x > 1) {
#ifdef OTHER
		x = x % 3 == 0 ? x / 3 : x - 1;
#else
		x = x % 2 == 0 ? x / 2 : x - 1;
#endif
		n++;
	}
	return n;
}

#ifdef OTHER
uint64_t other(uint64_t x)
{
	return local(x) + 1;
}
#else
uint64_t one(uint64_t x)
{
	return local(x);
}

static __attribute__((noinline)) uint64_t cases(uint64_t x)
{
	switch (x % 9) {
	case 0: return one(x);
	case 1: return other(x);
	case 2: return x << 3;
	case 3: return x * 7;
	case 4: return one(x + 1) + other(x);
	case 5: return x ^ 0x5555;
	case 6: return ~x;
	case 7: return x / 5;
	default: return 1;
	}
}

static uint64_t (*volatile const way[])(uint64_t) = { one, other };

/* A jump behind a branch, to which nothing else leads. */
uint64_t pair(uint64_t x);
__asm__("	.text\n"
	"	.type	pair, @function\n"
	"pair:	.cfi_startproc\n"
	"	testb	$1, %dil\n"
	"	je	1f\n"
	"	jmp	2f\n"
	"1:	lea	1(%rdi), %rax\n"
	"	ret\n"
	"2:	lea	2(%rdi), %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	pair, . - pair\n");

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000, sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += cases(i * i) + way[i % 3 == 0](i) + pair(i);
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
#endif
