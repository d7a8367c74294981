/* flagsacross.c - compilers keep the flags of one comparison across a computed jump, in
 * functions without a frame: by a table, and by labels */
#include <stdio.h>

static volatile int sink;

__attribute__((noinline)) static int by_table(long a, long b, unsigned long x)
{
	if (a < b) {
		sink = 1;
		return 77;
	}
	switch (x) {
	case 0:
		sink = 2;
		return a == b ? 1 : 2;
	case 1:
		if (a == b) {
			sink = 9;
			return 11;
		}
		sink = 5;
		return 15;
	case 2:
		if (a == b) {
			sink = 19;
			return 21;
		}
		return 10;
	case 3:
		return a == b ? 31 : 30;
	case 4:
		if (a == b) {
			sink = 99;
			return 41;
		}
		return 40;
	case 5:
		if (a == b)
			return 51;
		sink = 4;
		return 50;
	default:
		__builtin_unreachable();
	}
}

__attribute__((noinline)) static int by_label(long a, long b, unsigned long x)
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
		sum = sum * 3 + (unsigned)by_table(i % 7, i % 5, i % 6) +
		      (unsigned)by_label(i % 7, i % 5, i % 4);
	printf("%lu\n", sum);
	return 0;
}
