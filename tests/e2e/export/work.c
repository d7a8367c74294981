/* work.c - a program for tests/e2e/export.sh: three functions share its time as they loop, one
 * of them has another inlined, and one gets a name there that no form should be broken by */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;

static inline __attribute__((always_inline)) uint64_t inlined(uint64_t x)
{
	for (int i = 0; i < 8; i++) x = x * 5 + 1442695040888963407u;	/* line-inlined */
	return x;
}

__attribute__((noinline)) void outer(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = inlined(x) ^ n;
	sink = x;
}

__attribute__((noinline)) void divides(uint64_t n)
{
	uint64_t x = ~n;

	while (n--)
		x = x / (n | 3) + 12345678901234567u;
	sink = x;
}

__attribute__((noinline)) void odd_name(uint64_t n)
{
	uint64_t x = 1;

	while (n--)
		x += x >> 3 ^ n;
	sink = x;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;

	for (int i = 0; i < 10; i++) {
		outer(n);
		divides(n);
		odd_name(2 * n);
	}
	return 0;
}
