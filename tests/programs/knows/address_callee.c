/* address_callee.c - the address of a function goes to functions of the library that copy what
 * is there, and compare it */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* An entry jump needs five bytes. */
#define LONGER __asm__ volatile("nopl 0(%rax)")
#define FUNCTION __attribute__((noinline, noclone, aligned(64)))

FUNCTION int copied(int x) { LONGER; return 7 * x + 3; }
FUNCTION int compared(int x) { LONGER; return 9 * x + 3; }
FUNCTION int with_that(int x) { LONGER; return 9 * x + 3; }

/* Not known to the compiler, which would do it by itself. */
static volatile size_t size = 48, some = 8;

int main(void)
{
	char *room = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned sum = 0;

	memcpy(room, (const void *)(uintptr_t)copied, size);
	for (int i = 0; i < 20000; i++)
		sum = sum * 31 + (unsigned)(((int (*)(int))(uintptr_t)room)(i) + copied(i) +
					    compared(i) - with_that(i));
	int same = memcmp((const void *)(uintptr_t)compared,
			  (const void *)(uintptr_t)with_that, some);
	printf("%u %d\n", sum, same);
	return 0;
}
