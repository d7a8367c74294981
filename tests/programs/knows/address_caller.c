/* address_caller.c - functions that ask whether they were called from one of their friends, by
 * the return address, in the forms that compilers have for that */
#include <stdint.h>
#include <stdio.h>

#define CALLER ((uintptr_t)__builtin_return_address(0))
#define AT(n) ((uintptr_t)friend##n)
#define ALONE __attribute__((noinline, noclone))

#define LONG ".rept 11\n\tnopl 512(%%rax,%%rax,1)\n.endr"

#define FORM(n, question)			\
	ALONE int friend##n(int x);		\
	ALONE int ask##n(void) { return question; }	\
	ALONE int friend##n(int x)		\
	{					\
		int yes = ask##n();		\
						\
		__asm__ volatile(LONG : "+r"(yes));	\
		return x & 1 ? yes + 10 : 2 * yes;	\
	}					\
	__attribute__((unused)) ALONE int stranger##n(int x)	\
	{					\
		int yes = ask##n();		\
						\
		__asm__ volatile("nop" : "+r"(yes));	\
		return x & 1 ? yes + 20 : 3 * yes;	\
	}

FORM(1, CALLER - AT(1) < 80)
FORM(2, CALLER >= AT(2) && CALLER < AT(2) + 80)
FORM(3, CALLER > AT(3) && CALLER <= AT(3) + 79)
FORM(4, CALLER - (AT(4) + 1) < 79)
FORM(5, CALLER < AT(5) + 80)
FORM(6, CALLER > AT(6))
FORM(7, CALLER <= AT(7) + 79)

#define TRY(n) (friend##n(i) + stranger##n(i))

int main(void)
{
	int sum = 0;

	/* of the last ones one bound is open: there it matters to strangers where they are */
	for (int i = 0; i < 20000; i++)
		sum += TRY(1) + 3 * TRY(2) + 7 * TRY(3) + 11 * TRY(4) + 13 * friend5(i) +
		       17 * friend6(i) + 19 * friend7(i);
	printf("%d %d %d %d %d %d %d %d\n", sum, friend1(1), friend2(1), friend3(1), friend4(1),
	       friend5(1), friend6(1), friend7(1));
	return 0;
}
