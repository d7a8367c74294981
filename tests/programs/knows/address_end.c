/* address_end.c - the same by the end of all that the program has in memory */
#include <stdio.h>

/* An entry jump needs five bytes. */
#define LONGER __asm__ volatile("nopl 0(%rax)")
#define HIDDEN __attribute__((visibility("hidden")))
extern HIDDEN const char __executable_start[], _end[];

__attribute__((noinline, noclone)) int one(int x) { LONGER; return x + 1; }
__attribute__((noinline, noclone)) int two(int x) { LONGER; return x + 2; }

int (*volatile all[])(int) = { one, two };

int main(void)
{
	int sum = 0, own = 0;

	for (int i = 0; i < 100000; i++) {
		const char *p = (const char *)all[i & 1];

		own += p >= __executable_start && p < _end;
		sum += all[i & 1](i & 7);
	}
	printf("%d %d\n", sum, own);
	return 0;
}
