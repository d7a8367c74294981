/* flagslabels.c - flags live on across a jump to a label that is not easily seen to be one:
 * where a cold part begins, in a packed structure, at a distance from the only one that data
 * hold */
#include <stdio.h>

static volatile int sink;

__attribute__((cold, noinline)) static void chill(int x)
{
	sink = x;
}

__attribute__((noinline)) static int to_cold(long a, long b, unsigned long x)
{
	static void *const label[] = { &&l0, &&l1, &&l2 };

	if (x > 50) {		/* a jump to the cold part, which shows whose it is */
		chill(9);
		return 77;
	}
	if (a < b) {
		sink = 8;
		return 32;
	}
	goto *label[x];
l0:
	sink = 3;
	return 7;
l1: __attribute__((cold));
	if (a == b) {
		chill(1);
		return 52;
	}
	chill(4);
	return 66;
l2:
	sink = 4;
	return 41;
}

__attribute__((noinline)) static int packed(long a, long b, unsigned long x)
{
	static struct __attribute__((packed)) {
		char c;
		void *label;
	} const at[] = { { 1, &&l0 }, { 2, &&l1 }, { 3, &&l2 } };

	if (a < b) {
		sink = 8;
		return 32;
	}
	goto *at[x].label;
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
	sink = 4;
	return 41;
}

/* The target is known before the comparison. */
__attribute__((noinline)) static int distant(long a, long b, unsigned long x)
{
	static void *volatile base = &&l0;
	static const int distance[] = { 0, &&l1 - &&l0, &&l2 - &&l0 };
	void *to = base + distance[x];

	__asm__ volatile("" : "+r"(to));
	if (a < b) {
		sink = 8;
		return 32;
	}
	goto *to;
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
	sink = 4;
	return 41;
}

int main(void)
{
	unsigned long sum = 0;

	for (int i = 0; i < 6000; i++)
		sum = sum * 3 + (unsigned)to_cold(i % 7, i % 5, i % 3) +
		      (unsigned)packed(i % 7, i % 5, i % 3) +
		      (unsigned)distant(i % 7, i % 5, i % 3);
	printf("%lu\n", sum);
	return 0;
}
