/* address_mcount.c - NOPs at entries that the program patches where __mcount_loc says
 * (-mnop-mcount -mrecord-mcount), as the kernel's ftrace does */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline, noclone)) int traced(int x)
{
	__asm__ volatile("");
	return x + 1;
}

extern const uintptr_t __start___mcount_loc[] __attribute__((visibility("hidden")));

/* Five bytes of NOPs, behind an ENDBR64 where there is one. */
static void patch(uintptr_t place)
{
	/* mov %edi, %eax; ret */
	static const unsigned char code[] = { 0x89, 0xf8, 0xc3 };
	uintptr_t page = place & ~(uintptr_t)4095;

	mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy((void *)place, code, sizeof(code));
	mprotect((void *)page, 8192, PROT_READ | PROT_EXEC);
}

int main(void)
{
	int sum = 0;
	const uintptr_t *volatile first = __start___mcount_loc;	/* traced(), never by name */

	for (int i = 0; i < 100000; i++)
		sum += traced(i & 7);
	printf("%d\n", sum);
	patch(*first);
	sum = 0;
	for (int i = 0; i < 100000; i++)
		sum += traced(i & 7);
	printf("%d\n", sum);
	return 0;
}
