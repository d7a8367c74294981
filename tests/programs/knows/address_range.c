/* address_range.c - is it a pointer to code of this program?  By the symbols of the linker */
#include <stdio.h>

/* An entry jump needs five bytes. */
#define LONGER __asm__ volatile("nopl 0(%rax)")
#define HIDDEN __attribute__((visibility("hidden")))
extern HIDDEN const char __executable_start[], etext[];

__attribute__((noinline, noclone)) int one(int x) { LONGER; return x + 1; }
__attribute__((noinline, noclone)) int two(int x) { LONGER; return x + 2; }

static int data;
void *volatile all[] = { (void *)one, (void *)two, (void *)printf, &data };

__attribute__((noinline, noclone)) int is_code(const char *p)
{
	return p >= __executable_start && p < etext;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 100000; i++)
		sum += is_code(all[i & 1]) ? ((int (*)(int))all[i & 1])(i & 7) : -1;
	printf("%d %d %d\n", sum, is_code(all[0]), is_code(all[3]));
	return 0;
}
