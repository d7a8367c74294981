/* address_library.c - a library's handler knows a label of the library by its symbol, over the
 * GOT; with MAIN the program that uses the library */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

int library_load(const int *p);
void library_set(void);

#ifndef MAIN
extern char library_label[], library_end[];

__attribute__((noinline, noclone)) int library_load(const int *p)
{
	int value;

	__asm__ volatile(".globl library_label, library_end\n"
			 "\tnopl 0(%%rax)\n\tnopl 0(%%rax)\n"	/* not in the entry jump */
			 "library_label:\n\tmovl (%1), %0\n"
			 "library_end:\n\tnop" : "=&a"(value) : "r"(p) : "memory");
	return value;
}

static void fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)info;
	if (u->uc_mcontext.gregs[REG_RIP] != (greg_t)(long)library_label) {
		printf("elsewhere\n");
		fflush(stdout);
		signal(sig, SIG_DFL);
		return;
	}
	u->uc_mcontext.gregs[REG_RAX] = -7;
	u->uc_mcontext.gregs[REG_RIP] = (greg_t)(long)library_end;
}

void library_set(void)
{
	struct sigaction act = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &act, NULL);
}
#else
int main(void)
{
	const int *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int good = 3, sum = 0;

	library_set();
	for (int i = 0; i < 20000; i++)
		sum += library_load(i % 100 == 99 ? bad : &good);
	printf("%d\n", sum);
	return 0;
}
#endif
