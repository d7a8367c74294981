/* flow_return.c - a callee comes back to its return address + 1
 *
 * So does __morestack, which -fsplit-stack calls: right behind the call is a return of one byte,
 * for when the function is done, and behind that its body.
 */
#include <stdio.h>

unsigned body_behind(unsigned x);
unsigned body_far_behind(unsigned x);

__asm__(".text\n"
	".type one_more, @function\n"
	"one_more: .cfi_startproc\n"
	"	incq	(%rsp)\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size one_more, .-one_more\n"

	".type body_behind, @function\n"
	"body_behind: .cfi_startproc\n"
	"	mov	$7, %eax\n"
	"	cmp	$100, %edi\n"
	"	jae	1f\n"
	"	call	one_more\n"
	"	ret\n"
	"1:	lea	3(%rdi,%rax), %eax\n"
	"	test	$1, %edi\n"
	"	je	2f\n"
	"	add	$40, %eax\n"
	"2:	ret\n"
	"	.cfi_endproc\n"
	".size body_behind, .-body_behind\n"

	".type body_far_behind, @function\n"
	"body_far_behind: .cfi_startproc\n"
	"	mov	$9, %eax\n"
	"	test	$3, %edi\n"
	"	jne	1f\n"
	"	call	one_more\n"
	"	ret\n"
	"	nopl	(%rax)\n"
	"	nopw	(%rax,%rax)\n"
	"	add	$50, %eax\n"
	"1:	lea	3(%rdi,%rax), %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size body_far_behind, .-body_far_behind\n");

__attribute__((noinline)) static unsigned deep(unsigned n)
{
	volatile char room[512];

	room[n % sizeof(room)] = (char)n;
	return n ? deep(n - 1) + (unsigned char)room[n % sizeof(room)] : 1;
}

int main(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < 20000; i++)
		sum = sum * 31 + body_behind(i % 200) + body_far_behind(i);
	for (unsigned i = 0; i < 60; i++)
		sum = sum * 31 + deep(i);
	printf("%u\n", sum);
	return 0;
}
