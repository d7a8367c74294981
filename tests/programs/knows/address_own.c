/* address_own.c - a function tells a handler where it may fault, and a callee where it was
 * called: it forms the address of its own instruction */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <ucontext.h>

static volatile uintptr_t expected, resume;
static unsigned hits, others, friends, strangers;

static void caught(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)sig;
	(void)info;
	if ((uintptr_t)u->uc_mcontext.gregs[REG_RIP] == expected) {
		hits++;
		u->uc_mcontext.gregs[REG_RAX] = 77;
	} else {
		others++;
		u->uc_mcontext.gregs[REG_RAX] = 1;
	}
	u->uc_mcontext.gregs[REG_RIP] = (long long)resume;
}

/* The labels are behind the entry jump. */
__attribute__((noinline, noclone)) static int probe(const int *p)
{
	int v;

	__asm__ volatile("nopl 0(%%rax)\n"
			 "\tlea 1f(%%rip), %%rax\n"
			 "\tmov %%rax, %1\n"
			 "\tlea 2f(%%rip), %%rax\n"
			 "\tmov %%rax, %2\n"
			 "1:\tmovl (%3), %0\n"
			 "2:\tnop"
			 : "=&a"(v), "=m"(expected), "=m"(resume) : "D"(p) : "memory");
	return v;
}

#ifndef __PIE__
/* The same by constants. */
__attribute__((noinline, noclone)) static int probe_fixed(const int *p)
{
	int v;

	__asm__ volatile("nopl 0(%%rax)\n"
			 "\tmov $1f, %%eax\n"
			 "\tmov %%rax, %1\n"
			 "\tmovq $2f, %2\n"
			 "1:\tmovl (%3), %0\n"
			 "2:\tnop"
			 : "=&a"(v), "=m"(expected), "=m"(resume) : "D"(p) : "memory");
	return v;
}
#else
#define probe_fixed probe
#endif

__attribute__((noinline, noclone, used)) static void ask(uintptr_t where)
{
	if ((uintptr_t)__builtin_return_address(0) == where)
		friends++;
	else
		strangers++;
}

/* Steps over the red zone, on an aligned stack. */
__attribute__((noinline, noclone)) static int calls(int x)
{
	__asm__ volatile("mov %%rsp, %%rbx\n"
			 "\tlea -128(%%rsp), %%rsp\n"
			 "\tand $-16, %%rsp\n"
			 "\tlea 1f(%%rip), %%rdi\n"
			 "\tcall %P0\n"
			 "1:\tmov %%rbx, %%rsp"
			 : : "i"(ask)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
			   "cc", "memory");
	return 3 * x;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_NODEFER };
	unsigned sum = 0;
	int x = 5;

	sigaction(SIGSEGV, &sa, NULL);
	for (int i = 0; i < 20000; i++) {
		sum = sum * 31 + (unsigned)(i & 1 ? probe : probe_fixed)(i % 30 ? &x : NULL);
		sum += (unsigned)calls(i);
	}
	printf("%u %u %u %u %u\n", sum, hits, others, friends, strangers);
	return 0;
}
