/* flow_behind.c - data behind a trap: a handler reads a number, or the distance of a message
 * from where it stands, and goes on behind that
 *
 * Some of these data are the first bytes of branches.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

static unsigned long traps;
static unsigned told;

static void told_by_number(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	const unsigned char *at = (const unsigned char *)u->uc_mcontext.gregs[REG_RIP];

	(void)sig;
	(void)info;
	told = told * 31 + at[0];
	traps++;
	u->uc_mcontext.gregs[REG_RIP] += 1;
}

static void told_by_message(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	const unsigned char *at = (const unsigned char *)u->uc_mcontext.gregs[REG_RIP];
	int32_t distance;

	(void)sig;
	(void)info;
	memcpy(&distance, at + 2, sizeof(distance));
	const char *message = (const char *)at + 2 + distance;
	told = told * 31 + (unsigned)strlen(message) * 7 + (unsigned char)message[0] + at[6];
	traps++;
	u->uc_mcontext.gregs[REG_RIP] += 7;
}

#define FUNCTION(name, factor, trap)					\
	__attribute__((noinline)) static unsigned name(unsigned x)	\
	{								\
		for (unsigned i = 0; i < (x & 3); i++) {		\
			x += i;						\
			if (x % 7 == 1)					\
				__asm__ volatile(trap);			\
			x *= factor;					\
		}							\
		return x;						\
	}

#define NUMBER(n) "int3\n\t.byte " #n
FUNCTION(a, 3, NUMBER(0x74))
FUNCTION(b, 5, NUMBER(0xe9))
FUNCTION(c, 7, NUMBER(0x0f))
FUNCTION(d, 9, NUMBER(0xc3))
FUNCTION(e, 11, NUMBER(5))
FUNCTION(f, 13, NUMBER(0x48))
FUNCTION(g, 15, NUMBER(0x66))
FUNCTION(h, 17, NUMBER(0xeb))

#define MESSAGE(n, s)					\
	"ud2\n"						\
	"9:\t.long 8f - 9b\n"				\
	"\t.byte " #n "\n"				\
	"\t.pushsection .rodata.str, \"aMS\", @progbits, 1\n"	\
	"8:\t.asciz \"" s "\"\n"				\
	"\t.popsection"
FUNCTION(i, 3, MESSAGE(0x90, "first"))
FUNCTION(j, 5, MESSAGE(0x74, "second one"))
FUNCTION(k, 7, MESSAGE(0x48, "third"))
FUNCTION(l, 9, MESSAGE(0xe8, "fourth"))

static unsigned (*const all[])(unsigned) = { a, b, c, d, e, f, g, h, i, j, k, l };

int main(void)
{
	struct sigaction sa = { .sa_sigaction = told_by_number,
				.sa_flags = SA_SIGINFO | SA_NODEFER };
	unsigned sum = 0;

	sigaction(SIGTRAP, &sa, NULL);
	sa.sa_sigaction = told_by_message;
	sigaction(SIGILL, &sa, NULL);
	for (unsigned n = 0; n < 12000; n++)
		sum = sum * 31 + all[n % 12](n);
	printf("%u %lu %u\n", sum, traps, told);
	return 0;
}
