/* flow_trap.c - a handler skips traps, and control goes on behind them
 *
 * hlt is a fault of what only the kernel may do, and arrives as SIGSEGV.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

static volatile unsigned long skipped;

static void skip(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	const unsigned char *at = (const unsigned char *)u->uc_mcontext.gregs[REG_RIP];

	(void)info;
	if (sig == SIGTRAP)
		;			/* it is behind the instruction already */
	else if (at[0] == 0x0f && at[1] == 0x0b)
		u->uc_mcontext.gregs[REG_RIP] += 2;
	else if (at[0] == 0x0f && at[1] == 0xb9)
		u->uc_mcontext.gregs[REG_RIP] += 3;
	else if (at[0] == 0xf4)
		u->uc_mcontext.gregs[REG_RIP] += 1;
	else
		_exit(100 + sig);
	skipped++;
}

__attribute__((noinline)) static unsigned undefined(unsigned x)
{
	if (x % 5 == 0) {
		__asm__ volatile("ud2");
		x ^= 77;
	}
	return x + 3;
}

__attribute__((noinline)) static unsigned halted(unsigned x)
{
	for (unsigned i = 0; i < (x & 3); i++) {
		x += i;
		if (x & 4)
			__asm__ volatile("hlt");
		else
			x = x * 7 + 1;
	}
	return x;
}

__attribute__((noinline)) static unsigned other(unsigned x)
{
	x *= 3;
	if (x % 7 == 1)
		__asm__ volatile(".byte 0x0f, 0xb9, 0xc0");	/* ud1 %eax, %eax */
	x += 11;
	if (x % 9 == 2)
		__asm__ volatile("int3");
	return x;
}

/* Behind the trap are NOPs, and then the rest, which nothing else leads to. */
unsigned over_nops(unsigned x);
__asm__(".text\n"
	".type over_nops, @function\n"
	"over_nops: .cfi_startproc\n"
	"	test	$1, %edi\n"
	"	je	1f\n"
	"	lea	5(%rdi), %eax\n"
	"	ret\n"
	"1:	ud2\n"
	"	.p2align 4\n"
	"	lea	9(%rdi), %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size over_nops, .-over_nops\n");

int main(void)
{
	struct sigaction action = { .sa_sigaction = skip, .sa_flags = SA_SIGINFO };
	unsigned sum = 1;

	sigaction(SIGILL, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
	for (unsigned i = 0; i < 3000; i++) {
		sum = sum * 31 + undefined(i);
		sum = sum * 31 + halted(i ^ sum);
		sum = sum * 31 + other(i + sum);
		sum = sum * 31 + over_nops(i);
	}
	printf("%lu %u\n", (unsigned long)skipped, sum);
	return 0;
}
