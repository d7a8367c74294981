/* onestep.h - runs one instruction on the processor, with all general registers and flags given
 *
 * Two signals do it.  A breakpoint enters the handler, which loads the state to begin with and
 * sets the trap flag; the instruction runs; the next signal (the trap, or a fault) enters the
 * handler again, which takes the state down and goes back behind the breakpoint.  The lower
 * halves of vector registers are the same each time.
 */
#ifndef TESTS_UNIT_ONESTEP_H
#define TESTS_UNIT_ONESTEP_H

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { ONESTEP_STACK = 1 << 16, ONESTEP_TRAP = 0x100, ONESTEP_ROUNDS = 16 };

struct onestep {
	uint64_t reg[16], flags, pc;	/* registers in encoding order */
	int signal;			/* SIGTRAP: it ran; else what it raised */
};

static struct onestep *onestep_now;	/* being run */
static gregset_t onestep_home;
static int onestep_left;		/* steps of an instruction that repeats itself */

static const int onestep_greg[16] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

static void onestep_signal(int number, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct onestep *s = onestep_now;

	(void)info;
	if (!s)
		_exit(99);
	if (s->signal == 0) {			/* to begin with */
		memcpy(onestep_home, g, sizeof(onestep_home));
		for (int i = 0; i < 16; i++)
			g[onestep_greg[i]] = (greg_t)s->reg[i];
		memset(((ucontext_t *)context)->uc_mcontext.fpregs->_xmm, 0x3f,
		       sizeof(((ucontext_t *)context)->uc_mcontext.fpregs->_xmm));
		g[REG_RIP] = (greg_t)s->pc;
		g[REG_EFL] = (greg_t)(s->flags | ONESTEP_TRAP);
		s->signal = -1;
		return;
	}
	if (number == SIGTRAP && (uint64_t)g[REG_RIP] == s->pc && onestep_left-- > 0)
		return;				/* a repeat prefix: the next round */
	for (int i = 0; i < 16; i++)
		s->reg[i] = (uint64_t)g[onestep_greg[i]];
	s->pc = (uint64_t)g[REG_RIP];
	s->flags = (uint64_t)g[REG_EFL] & ~(uint64_t)ONESTEP_TRAP;
	s->signal = number;
	onestep_now = NULL;
	memcpy(g, onestep_home, sizeof(onestep_home));
}

static inline void onestep_prepare(void)
{
	static const int number[] = { SIGTRAP, SIGSEGV, SIGILL, SIGFPE, SIGBUS };
	struct sigaction act = { .sa_sigaction = onestep_signal,
				 .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t stack = { .ss_size = ONESTEP_STACK };

	stack.ss_sp = mmap(NULL, ONESTEP_STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) < 0)
		_exit(98);
	for (unsigned i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		if (sigaction(number[i], &act, NULL) < 0)
			_exit(98);
}

/* Runs what stands at s->pc; *s is the state behind it. */
static __attribute__((noinline)) void onestep_run(struct onestep *s)
{
	s->signal = 0;
	onestep_left = ONESTEP_ROUNDS;
	onestep_now = s;
	__asm__ volatile("int3" ::: "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
			 "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
			 "xmm13", "xmm14", "xmm15");
}

#endif
