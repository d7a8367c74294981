/* flow_swallow.c - bytes that are jumped over and that, decoded one after the other, swallow the
 * instruction by which an address is formed
 *
 * Two pointers to one function are equal, wherever they come from.
 */
#include <stdio.h>

typedef unsigned (*function)(unsigned);

__attribute__((noinline)) static unsigned twice(unsigned x)
{
	for (unsigned i = 0; i < (x & 7); i++)
		x = x * 2 + i;
	return x;
}

__attribute__((noinline)) static unsigned thrice(unsigned x)
{
	for (unsigned i = 0; i < (x & 7); i++)
		x = x * 3 + i;
	return x;
}

/* In data, where relocations tell of them. */
static function table[] = { twice, thrice };

function swallowed(void), swallowed_twice(void);

/* 48 b8: mov of a constant of eight bytes, which are the lea and the ret; e9: a jump. */
__asm__(".text\n"
	".type swallowed, @function\n"
	"swallowed: .cfi_startproc\n"
	"	jmp	1f\n"
	"	.byte	0x48, 0xb8\n"
	"1:	lea	twice(%rip), %rax\n"
	"	ret\n"
	"	mov	$0, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size swallowed, .-swallowed\n"

	/* behind the bytes is another jump over bytes */
	".type swallowed_twice, @function\n"
	"swallowed_twice: .cfi_startproc\n"
	"	test	%edi, %edi\n"
	"	jmp	1f\n"
	"	.byte	0x48, 0xb8\n"
	"1:	jmp	2f\n"
	"	.byte	0x48, 0xb9, 0, 0\n"
	"	.byte	0x48, 0xba\n"
	"2:	lea	thrice(%rip), %rax\n"
	"	ret\n"
	"	mov	$0, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size swallowed_twice, .-swallowed_twice\n");

int main(int argc, char **argv)
{
	unsigned sum = 0, equal = 0;

	(void)argv;
	for (unsigned i = 0; i < 3000; i++) {
		function volatile f = table[(i + (unsigned)argc) % 2];

		sum = sum * 31 + f(i);
		equal += f == swallowed();
		equal += 3 * (f == swallowed_twice());
		sum = sum * 31 + swallowed()(i) + swallowed_twice()(i);
	}
	printf("%u %u\n", sum, equal);
	return 0;
}
