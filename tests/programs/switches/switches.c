/* switches.c - ways to write a switch; every function has one, or as many as its name says
 *
 * Cases do what no table of constants could, so that compilers have to jump.  The program runs
 * each function over all its cases and prints what came of it.
 */
#include <stdio.h>
#include <stdlib.h>

static unsigned long state = 1;

__attribute__((noinline)) static void note(unsigned k)
{
	state = state * 1103515245 + k;
}

#define CASES(x) \
	case 0: note(x); break; \
	case 1: note(3); state ^= x; break; \
	case 2: state += 5; break; \
	case 3: note(state >> 7); note(x); break; \
	case 4: state = ~state; break; \
	case 5: state -= x; note(1); break; \
	case 6: note(6); note(66); break; \
	case 7: state <<= 1; note(x + 7); break;

__attribute__((noinline)) static void plain(int x)
{
	switch (x) {
	CASES(x)
	default: note(100);
	}
}

__attribute__((noinline)) static void offset(int x)
{
	switch (x - 'a') {
	CASES(x)
	default: note(101);
	}
}

__attribute__((noinline)) static void of_long(long x)
{
	switch (x) {
	CASES(x)
	default: note(102);
	}
}

__attribute__((noinline)) static void of_byte(unsigned char x)
{
	switch (x) {
	CASES(x)
	default: note(103);
	}
}

__attribute__((noinline)) static void masked(unsigned x)
{
	switch (x & 7) {
	CASES(x)
	}
}

__attribute__((noinline)) static void shifted(unsigned char x)
{
	switch (x >> 5) {
	CASES(x)
	}
}

__attribute__((noinline)) static void unreachable_default(unsigned x)
{
	switch (x) {
	CASES(x)
	default: __builtin_unreachable();
	}
}

/* The sign is found by `fnstsw %ax; and $0x200, %eax`, with what else was in the register. */
__attribute__((noinline)) static void signs(int x, long double y)
{
	switch (x) {
	CASES((unsigned)__builtin_signbit(y) + x)
	case 8: note((unsigned)__builtin_signbit(y)); break;
	case 9: printf("%d", !__builtin_signbit(y)); break;
	default: note(107);
	}
}

enum kind { K0, K1, K2, K3, K4, K5, K6, K7 };

struct item {
	enum kind kind;
	struct item *next;
};

__attribute__((noinline)) static void in_a_loop(const struct item *item)
{
	for (; item; item = item->next)
		switch (item->kind) {
		CASES((unsigned)item->kind)
		}
}

__attribute__((noinline)) static void over_calls(const char *s)
{
	for (; *s; s++) {
		note(*s);
		switch (*s - '0') {
		CASES((unsigned char)*s)
		default: printf("%c", *s);
		}
		note(*s);
	}
}

__attribute__((noinline)) static void two(int x, int y)
{
	switch (x) {
	CASES(x)
	default: note(104);
	}
	switch (y) {
	CASES(x + y)
	default: note(105);
	}
}

__attribute__((noinline)) static int nested_two(int x, int y)
{
	switch (x) {
	case 0: return 1;
	case 1: note(1); return y;
	case 2: note(2); return 4;
	case 3:
		switch (y) {
		CASES(y)
		default: return 9;
		}
		return 5;
	case 4: state++; return 7;
	case 5: note(y); return 8;
	case 6: note(state >> 3); return 2;
	default: return 0;
	}
}

__attribute__((noinline)) static void with_holes(int x)
{
	switch (x) {
	CASES(x)
	case 11: note(11); break;
	case 13: note(13); state ^= 99; break;
	case 14: note(14); note(15); break;
	case 17: state += 17; break;
	default: note(106);
	}
}

__attribute__((noinline)) static void exits(int x)
{
	switch (x) {
	CASES(x)
	case 8: printf("%lx\n", state); exit(3);
	default: abort();
	}
}

/* Compilers store what is in a register of which nobody needs the content, and that may be
 * the address of the table by which the code got there.  It is the same wherever the code
 * is. */
extern const int kept_table[];
int kept(int x, const int **where);

__asm__(".text\n"
	".type kept, @function\n"
	"kept:	.cfi_startproc\n"
	"	cmp	$4, %edi\n"
	"	ja	9f\n"
	"	mov	%edi, %eax\n"
	"	lea	kept_table(%rip), %rdx\n"
	"	movslq	(%rdx,%rax,4), %rcx\n"
	"	add	%rdx, %rcx\n"
	"	jmp	*%rcx\n"
	"10:	mov	$100, %eax\n"
	"	jmp	8f\n"
	"11:	lea	3(%rdi), %eax\n"
	"	jmp	8f\n"
	"12:	mov	(%rdx), %eax\n" /* from the table itself */
	"	cmp	%eax, kept_table(%rip)\n"
	"	sete	%al\n"
	"	movzbl	%al, %eax\n"
	"	jmp	8f\n"
	"9:	mov	$-1, %eax\n"
	"	xor	%edx, %edx\n"
	"8:	mov	%rdx, (%rsi)\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size	kept, .-kept\n"
	".section .rodata\n"
	".p2align 2\n"
	".hidden kept_table\n"
	"kept_table:\n"
	"	.long	10b-kept_table, 11b-kept_table, 12b-kept_table, 11b-kept_table, "
	"10b-kept_table\n"
	".text\n");

static void table_stays(int x)
{
	const int *where = NULL;
	int result = kept(x, &where);

	printf("%d%s ", result, where == kept_table ? "k" : where ? "?" : "");
}

int main(void)
{
	struct item items[8];

	for (int i = 0; i < 8; i++)
		items[i] =
			(struct item){ (enum kind)(i * 5 % 8), i < 7 ? &items[i + 1] : NULL };
	for (int i = -3; i < 20; i++) {
		plain(i);
		offset('a' + i);
		of_long(i);
		of_byte((unsigned char)i);
		masked((unsigned)i);
		shifted((unsigned char)(13 * i));
		unreachable_default((unsigned)i & 7);
		two(i, 7 - i);
		printf("%d ", nested_two(i, i + 1));
		printf("%d ", nested_two(3, i));
		with_holes(i);
		signs(i, 1.5L);
		signs(i, -2.5L);
		table_stays(i);
	}
	in_a_loop(items);
	over_calls("0123456789x0");
	for (int i = 0; i < 9; i++)
		exits(i);
	return 0;
}
