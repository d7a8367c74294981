/* flagsacross.c - compilers keep the flags of one comparison across a computed jump, in
 * functions without a frame: by a table, by labels, by a variable that holds one, and by the
 * distances of labels */
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

static int turn(int x)
{
	return x ^ 5;
}

static int (*volatile turns)(int) = turn;

__attribute__((cold, noinline)) static void chill(int x)
{
	sink = x;
}

__attribute__((noinline)) static int by_variable(long a, long b, unsigned long x)
{
	static void *const label[] = { &&l0, &&l1, &&l2, &&l3, &&l4 };
	static void *volatile held;

	if (a > b) {
		sink = 1;
		return 16;
	}
	held = label[x];
	goto *held;
l0:
	if (__builtin_expect(a == b, 0)) {
		chill(5);
		return 17;
	}
	return 0;
l1:
	if (a >= b) {
		sink = 0;
		return 76;
	}
	return 0;
l2:
	return turns((int)a);
l3:
	sink = 32;
	if (a < b) {
		sink = 6;
		return 93;
	}
	return 0;
l4:
	if (__builtin_expect(a < b, 0)) {
		chill(6);
		return 6;
	}
	return 0;
}

__attribute__((noinline)) static int by_distance(long a, long b, unsigned long x)
{
	static const signed char distance[] = { &&l0 - &&l0, &&l1 - &&l0, &&l2 - &&l0 };

	if (a < b) {
		sink = 8;
		return 32;
	}
	goto *(&&l0 + distance[x]);
l0:
	sink = 3;
	return 7;
l1:
	if (a == b) {
		sink = 0;
		return 52;
	}
	return 66;
l2:
	return a == b ? 41 : 42;
}

int main(void)
{
	unsigned long sum = 0;

	for (int i = 0; i < 6000; i++)
		sum = sum * 3 + (unsigned)by_table(i % 7, i % 5, i % 6) +
		      (unsigned)by_label(i % 7, i % 5, i % 4) +
		      (unsigned)by_variable(i % 7 - i % 3, i % 5, i % 5) +
		      (unsigned)by_distance(i % 7, i % 5, i % 3);
	printf("%lu\n", sum);
	return 0;
}
