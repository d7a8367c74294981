/* covered.c - switches over all that can be, where compilers compare no index, and a jump by a
 * table whose address is formed in the middle, too: what is behind that goes by the original
 *
 * Prints what each computed.
 */
#include <stdio.h>

enum kind { ADD, SUBTRACT, MULTIPLY, SHIFT, INVERT, SWAP, CALL, KEEP, NKIND };

static __attribute__((noinline)) long twice(long x)
{
	return 2 * x + 1;
}

static __attribute__((noinline)) long covered(enum kind kind, long x, long y)
{
	switch (kind) {
	case ADD: return x + y;
	case SUBTRACT: return twice(x) - y;
	case MULTIPLY: return x * y + 3;
	case SHIFT: return x << (y & 7);
	case INVERT: return ~x ^ twice(y);
	case SWAP: return y * 100 + x;
	case CALL: return twice(twice(x)) + y;
	case KEEP: return x % 11;
	default: __builtin_unreachable();
	}
}

/* Runs again and again from where the last one has ended. */
static __attribute__((noinline)) long program(const unsigned char *code, long n, long x)
{
	for (long i = 0; i < n; i++) {
		switch ((enum kind)code[i]) {
		case ADD: x += i; break;
		case SUBTRACT: x -= 3 * i; break;
		case MULTIPLY: x *= 3; break;
		case SHIFT: x <<= 1; break;
		case INVERT: x = ~x; break;
		case SWAP: x = covered(ADD, x, i); break;
		case CALL: x = twice(x) % 1000003; break;
		case KEEP: break;
		default: __builtin_unreachable();
		}
	}
	return x;
}

long beyond(long index, long x);
const int *middle(void);
__asm__(".text\n\t.globl beyond\n\t.type beyond, @function\nbeyond:\n\t.cfi_startproc\n"
	"	lea	T_beyond(%rip), %rdx\n"
	"	mov	%rsi, %r8\n"
	"	movslq	(%rdx,%rdi,4), %rax\n"
	"	add	%rdx, %rax\n"
	"	jmp	*%rax\n"
	"1:	lea	1(%r8), %rax\n	ret\n"
	"2:	lea	(%r8,%r8,2), %rax\n	ret\n"
	"3:	mov	%r8, %rax\n	neg	%rax\n	ret\n"
	"4:	lea	400(%rdi,%r8), %rax\n	ret\n"
	"	.cfi_endproc\n	.size beyond, .-beyond\n"
	"	.globl middle\n	.type middle, @function\nmiddle:\n	.cfi_startproc\n"
	"	lea	8 + T_beyond(%rip), %rax\n	ret\n"
	"	.cfi_endproc\n	.size middle, .-middle\n"
	"	.section .rodata\n	.p2align 2\n"
	"T_beyond:\n	.long	1b - T_beyond, 2b - T_beyond, 3b - T_beyond, 4b - T_beyond\n"
	"	.long	4b - T_beyond, 3b - T_beyond, 0x7ffffff0\n"
	"	.text\n");

int main(void)
{
	unsigned char code[200];

	for (int i = 0; i < 200; i++)
		code[i] = (unsigned char)(i * 7 % NKIND);
	for (int k = 0; k < NKIND; k++)
		(void)printf("%ld\n", covered((enum kind)k, 1234 + k, 77 - k));
	(void)printf("%ld\n", program(code, 200, 5));
	for (long i = 0; i < 6; i++)
		(void)printf("%ld\n", beyond(i, 1000 * i + 7));
	(void)printf("%d\n", middle()[1] - middle()[2]);
	return 0;
}
