/* address_kcfi.c - every indirect call compares the hash of a type in front of what it calls
 * (-fsanitize=kcfi), from this program and from libc */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int plus(int x)
{
	return x + 1;
}

__attribute__((noinline)) static int twice(int x)
{
	return 2 * x;
}

__attribute__((noinline)) static long thrice(long x)
{
	return 3 * x;
}

static int by_size(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

int (*volatile all[])(int) = { plus, twice };
long (*volatile other)(long) = thrice;

int main(void)
{
	int v[64];
	long sum = 0;

	for (int i = 0; i < 100000; i++) {
		sum += all[i & 1](i & 7);
		sum += other(i & 3);
	}
	for (int i = 0; i < 64; i++)
		v[i] = i * 37 & 63;
	qsort(v, 64, sizeof(*v), by_size);
	printf("%ld %d\n", sum, v[5]);
	return 0;
}
