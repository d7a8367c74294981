/* address_patched.c - NOPs that the program patches where __patchable_function_entries says
 * (-fpatchable-function-entry=5,2) */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline, noclone)) int traced(int x)
{
	__asm__ volatile("");
	return x + 1;
}

extern const uintptr_t __start___patchable_function_entries[]
	__attribute__((visibility("hidden")));
extern const uintptr_t __stop___patchable_function_entries[]
	__attribute__((visibility("hidden")));

/* Two NOPs stand in front of the entry, three behind it. */
static void patch(uintptr_t place)
{
	/* mov %edi, %eax; ret */
	static const unsigned char code[] = { 0x89, 0xf8, 0xc3 };
	uintptr_t page = place & ~(uintptr_t)4095;

	mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy((void *)(place + 2), code, sizeof(code));
	mprotect((void *)page, 8192, PROT_READ | PROT_EXEC);
}

int main(void)
{
	int sum = 0;
	const uintptr_t *volatile p = __start___patchable_function_entries;

	for (int i = 0; i < 100000; i++)
		sum += traced(i & 7);
	printf("%d\n", sum);
	for (; p < __stop___patchable_function_entries; p++)
		if (*p + 2 == (uintptr_t)traced)
			patch(*p);
	sum = 0;
	for (int i = 0; i < 100000; i++)
		sum += traced(i & 7);
	printf("%d\n", sum);
	return 0;
}
