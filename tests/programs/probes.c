/* probes.c - a program with static probe points, for images.sh and mutate.sh
 *
 * As <sys/sdt.h> makes them: a NOP and a note that is not loaded.  Where each of them fires,
 * and with which arguments, depends on nothing but the program.  PROBE_STAY are two that cannot
 * follow.
 */
#include <stdio.h>

#define PROBE(name, arguments, ...)                                                         \
	__asm__ volatile(                                                                   \
		"990: nop\n"                                                                \
		".pushsection .note.stapsdt, \"\", \"note\"\n"                              \
		".balign 4\n"                                                               \
		".4byte 992f - 991f, 994f - 993f, 3\n"                                      \
		"991: .asciz \"stapsdt\"\n"                                                 \
		"992: .balign 4\n"                                                          \
		"993: .8byte 990b, _.stapsdt.base, 0\n"                                     \
		".asciz \"morph\"\n"                                                        \
		".asciz \"" #name "\"\n"                                                    \
		".asciz \"" arguments "\"\n"                                                \
		"994: .balign 4\n"                                                          \
		".popsection\n"                                                             \
		".ifndef _.stapsdt.base\n"                                                  \
		".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
		".weak _.stapsdt.base\n"                                                    \
		".hidden _.stapsdt.base\n"                                                  \
		"_.stapsdt.base: .space 1\n"                                                \
		".size _.stapsdt.base, 1\n"                                                 \
		".popsection\n"                                                             \
		".endif"                                                                    \
		:                                                                           \
		: __VA_ARGS__)

int number;

__attribute__((noinline)) static int step(int x)
{
	x += number * 3;		/* probes where an entry jump goes stay */
	PROBE(step, "-4@%0", "r" (x));
	if (x % 3 == 0) {
		PROBE(third, "-4@%0", "r" (x));		/* two NOPs behind each other */
		PROBE(third_again, "-4@%0", "r" (x + 1));
		x += number;
	}
	for (int i = 0; i < x % 4; i++)
		PROBE(turn, "-4@%0 -4@$7", "r" (i));
	if (x % 5 == 0)
		PROBE(last, "-4@%0", "r" (x));
	return x * 7 + 1;
}

#ifdef PROBE_STAY
/* At the entry, and with an argument that is somewhere else seen from the image. */
__attribute__((noinline, naked)) static void at_the_entry(void)
{
	PROBE(entry, "");
	__asm__ volatile("movl $1, number(%rip)\n addl $2, number(%rip)\n ret");
}

__attribute__((noinline)) static int beside(int x)
{
	PROBE(beside, "-4@number(%%rip)");
	return x * 3 + number * x;
}
#endif

int main(int argc, char **argv)
{
	int x = argc;

	(void)argv;
#ifdef PROBE_STAY
	at_the_entry();
	x = beside(x);
#endif
	for (int i = 0; i < 9; i++)
		x = step(x % 1000 + i);
	return printf("%d\n", x) < 0;
}
