/* address_front.c - callers read what stands in front of a function: prefix data, the hash of a
 * type (as -fsanitize=kcfi writes it) */
#include <stdint.h>
#include <stdio.h>

#define FUNCTION(name, data, what)		\
	"\t.p2align 4\n"			\
	data					\
	"\t.globl " name "\n"			\
	"\t.hidden " name "\n"			\
	"\t.type " name ", @function\n"		\
	name ":\n"				\
	"\t.cfi_startproc\n"			\
	"\tleal " what "(%rdi), %eax\n"		\
	"\tnopl 0(%rax)\n"			\
	"\tret\n"				\
	"\t.cfi_endproc\n"			\
	"\t.size " name ", . - " name "\n"

__asm__(".text\n"
	FUNCTION("plus_one", "\t.quad 0x1122334455667788, 11\n", "1")
	FUNCTION("plus_two", "\t.quad 0x1122334455667788, 22\n", "2")
	FUNCTION("hashed", "\t.skip 11, 0x90\n\tmovl $0x12345678, %eax\n", "3"));

int plus_one(int), plus_two(int), hashed(int);

int (*volatile all[])(int) = { plus_one, plus_two };
int (*volatile typed)(int) = hashed;

int main(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 100000; i++) {
		const uint64_t *front = (const uint64_t *)(uintptr_t)all[i & 1];

		sum += front[-1] * (unsigned)all[i & 1](i & 3);
		sum += ((const uint32_t *)(uintptr_t)typed)[-1] + (unsigned)typed(1);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
