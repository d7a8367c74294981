/* address_unaligned.c - did the fault happen where it may?  By labels in words not aligned */
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

#ifdef __PIE__
#define TABLE ".section .data.rel.ro,\"aw\",@progbits"
#else
#define TABLE ".section .rodata"
#endif

/* As in assembler code that puts its table behind a string. */
__asm__(".text\n\t"
	".type fetch, @function\n"
	"fetch:\n\t"
	".cfi_startproc\n\t"
	"push %rbx\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"xor %eax, %eax\n\t"
	"test %rdi, %rdi\n\t"
	"je fetch_before\n\t"
	"inc %eax\n"
	"fetch_before:\n\t"
	"mov (%rdi), %eax\n"
	"fetch_behind:\n\t"
	"pop %rbx\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"ret\n\t"
	".cfi_endproc\n\t"
	".size fetch, . - fetch\n\t"
	TABLE "\n\t"
	".balign 8\n\t"
	".ascii \"fetch\"\n"
	"fetch_labels:\n\t"
	".quad fetch_before\n\t"
	".quad fetch_behind\n\t"
	".text");
extern __attribute__((visibility("hidden"))) const char fetch_labels[2 * sizeof(long)];
extern __attribute__((visibility("hidden"))) int fetch(const int *p);

static volatile int expected, elsewhere;

static unsigned long label(int n)
{
	unsigned long to;

	__builtin_memcpy(&to, fetch_labels + n * sizeof(to), sizeof(to));
	return to;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
	unsigned long at = (unsigned long)reg[REG_RIP];

	(void)sig;
	(void)info;
	if (at >= label(0) && at < label(1))
		expected++;
	else
		elsewhere++;
	reg[REG_RAX] = 7;
	reg[REG_RIP] += 2;	/* behind the load */
}

int main(void)
{
	struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	int x = 35, sum;

	(void)sigaction(SIGSEGV, &act, NULL);
	sum = fetch(&x) + fetch(NULL);
	printf("%d, %d in the load, %d elsewhere\n", sum, expected, elsewhere);
	return elsewhere;
}
