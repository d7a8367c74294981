/* address_entries.c - a function that begins with what is to be exchanged for something else: a
 * section lists it by its distance from the list */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* lea 50(%rdi), %eax; ret */
static const uint8_t other[] = { 0x8d, 0x47, 50, 0xc3 };

__attribute__((visibility("hidden"))) extern const int32_t __start_others[], __stop_others[];

__attribute__((noinline)) int exchanged(int x);
__asm__(".pushsection .text\n"
	"\t.p2align 4\n"
	"\t.type exchanged, @function\n"
	"exchanged:\n"
	"\t.cfi_startproc\n"
	"1:\tleal 5(%rdi), %eax\n"
	"\tnopl 0(%rax,%rax,1)\n"
	"\tret\n"
	"\t.cfi_endproc\n"
	"\t.size exchanged, . - exchanged\n"
	"\t.pushsection others, \"a\"\n"
	"\t.p2align 2\n"
	"\t.long 1b - .\n"
	"\t.popsection\n"
	"\t.popsection");

static int sum(void)
{
	int n = 0;

	for (int i = 0; i < 20000; i++)
		n += exchanged(i & 7);
	return n;
}

int main(void)
{
	printf("%d\n", sum());
	for (const int32_t *p = __start_others; p < __stop_others; p++) {
		uint8_t *at = (uint8_t *)(intptr_t)((intptr_t)p + *p);
		void *page = (void *)((uintptr_t)at & -(uintptr_t)4096);

		if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
			return 1;
		memcpy(at, other, sizeof(other));
	}
	printf("%d\n", sum());
	return 0;
}
