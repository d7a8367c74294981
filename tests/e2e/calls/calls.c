/* calls.c - a program for tests/e2e/calls.sh: of 1,000 turns each makes these calls
 *
 *	twice	1000 directly, 800 through a pointer, 250 by a jump of passes
 *	other	200 through a pointer
 *	passes	1000 directly
 */
#include <stdint.h>
#include <stdio.h>

static __attribute__((noinline, noclone, used)) uint64_t twice(uint64_t x)
{
	__asm__ volatile("" : "+r"(x));
	return 2 * x;
}

static __attribute__((noinline, noclone)) uint64_t other(uint64_t x)
{
	__asm__ volatile("" : "+r"(x));
	return x / 3;
}

/* x % 4 == 0 ? twice(x) : x + 1, by a conditional jump out of the function */
uint64_t passes(uint64_t x);
__asm__("	.text\n"
	"	.type	passes, @function\n"
	"passes:	.cfi_startproc\n"
	"	testb	$3, %dil\n"
	"	je	twice\n"
	"	lea	1(%rdi), %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	passes, . - passes\n");

static uint64_t (*volatile through)(uint64_t);

int main(void)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		sum += twice(i);
		through = i % 5 == 0 ? other : twice;
		sum += through(i);
		sum += passes(i);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
