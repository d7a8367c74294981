/* address_order.c - code that asks what is between two functions, and how long one is */
#include <stdint.h>
#include <stdio.h>

/* An entry jump needs five bytes. */
#define LONGER __asm__ volatile("nopl 0(%rax)")
#define PLACED __attribute__((noinline, noclone, section(".text.placed")))
PLACED int first(int x) { LONGER; return x + 1; }
PLACED int middle(int x) { LONGER; return 2 * x + 1; }
PLACED int last(int x) { LONGER; return x - 1; }

int (*volatile inside)(int) = middle;
int (*volatile outside)(int) = last;

__attribute__((noinline, noclone)) int is_between(uintptr_t p)
{
	uintptr_t a = (uintptr_t)first, b = (uintptr_t)last;

	return a < b ? p >= a && p < b : p > b && p <= a;
}

__attribute__((noinline, noclone)) long length(void)
{
	long n = (long)((uintptr_t)middle - (uintptr_t)first);

	return n < 0 ? -n : n;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 100000; i++)
		sum += is_between((uintptr_t)inside) + inside(i & 3) + first(i & 3) + last(1);
	printf("%d %d %d %ld\n", sum, is_between((uintptr_t)inside),
	       is_between((uintptr_t)outside), length());
	return 0;
}
