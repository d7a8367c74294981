/* address_label.c - a handler compares where the program was interrupted with labels: constants
 * in a program at a fixed address, leas else */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

extern char probe_load[], probe_done[];

__attribute__((noinline, noclone)) int probe(const int *p)
{
	int value;

	__asm__ volatile(".globl probe_load, probe_done\n"
			 ".hidden probe_load, probe_done\n"
			 "\tnopl 0(%%rax)\n\tnopl 0(%%rax)\n"	/* not in the entry jump */
			 "probe_load:\n\tmovl (%1), %0\n"
			 "probe_done:\n\tnop" : "=&a"(value) : "r"(p) : "memory");
	return value;
}

static void fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)sig;
	(void)info;
	if (u->uc_mcontext.gregs[REG_RIP] == (greg_t)(long)probe_load) {
		u->uc_mcontext.gregs[REG_RAX] = -7;
		u->uc_mcontext.gregs[REG_RIP] = (greg_t)(long)probe_done;
		return;
	}
	printf("elsewhere\n");
	fflush(stdout);
	signal(SIGSEGV, SIG_DFL);
}

int main(void)
{
	struct sigaction act = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO };
	const int *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int good = 3, sum = 0;

	sigaction(SIGSEGV, &act, NULL);
	for (int i = 0; i < 20000; i++)
		sum += probe(i % 100 == 99 ? bad : &good);
	printf("%d\n", sum);
	return 0;
}
