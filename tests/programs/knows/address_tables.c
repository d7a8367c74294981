/* address_tables.c - tables of instructions that may fault: distances of 32 and 64 bits from
 * where they stand, in a section of their own, of whatever type, among constants, beside jump
 * tables, and between functions; and plain addresses */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#define LOAD(n, section, entry)						\
	__attribute__((noinline, noclone)) int load_##n(const int *p)	\
	{								\
		int value;						\
		/* not in the entry jump */				\
		__asm__ volatile("\tnopl 0(%%rax)\n\tnopl 0(%%rax)\n"	\
				 "1:\tmovl (%1), %0\n"			\
				 "2:\tnop\n"				\
				 "\t.pushsection " section "\n"		\
				 "\t.balign 8\n"				\
				 entry "\n"				\
				 "\t.popsection" : "=&a"(value) : "r"(p) : "memory"); \
		return value;						\
	}
#define HALF "\t.long 1b - ., 2b - ."
#define FULL "\t.quad 1b - ., 2b - ."
#define PLAIN "\t.quad 1b, 2b"

LOAD(a, "faults_half, \"a\"", HALF)
LOAD(b, "faults_half, \"a\"", HALF)
LOAD(c, ".rodata.half, \"a\"", "\t.globl half_table\n\t.hidden half_table\nhalf_table:\n" HALF)
LOAD(d, "faults_full, \"a\"", FULL)
LOAD(e, ".rodata.full, \"a\"", "\t.globl full_table\n\t.hidden full_table\nfull_table:\n" FULL)
LOAD(f, "faults_plain, \"aw\"", PLAIN)
LOAD(g, ".data.rel.ro.plain, \"aw\"",
     "\t.globl plain_table\n\t.hidden plain_table\nplain_table:\n" PLAIN)
LOAD(h, "faults_typed, \"a\", @0x6fff0007",
     "\t.globl typed_table\n\t.hidden typed_table\ntyped_table:\n" HALF)
LOAD(i, ".text.faults, \"ax\"", "\t.globl text_table\n\t.hidden text_table\ntext_table:\n" HALF)

#define HIDDEN __attribute__((visibility("hidden")))
extern HIDDEN const int32_t __start_faults_half[], __stop_faults_half[], half_table[],
	typed_table[], text_table[];
extern HIDDEN const int64_t __start_faults_full[], __stop_faults_full[], full_table[];
extern HIDDEN const intptr_t __start_faults_plain[], __stop_faults_plain[], plain_table[];

static intptr_t find_half(intptr_t pc, const int32_t *from, const int32_t *to)
{
	for (; from < to; from += 2)
		if (pc == (intptr_t)from + from[0])
			return (intptr_t)(from + 1) + from[1];
	return 0;
}

static intptr_t find_full(intptr_t pc, const int64_t *from, const int64_t *to)
{
	for (; from < to; from += 2)
		if (pc == (intptr_t)from + from[0])
			return (intptr_t)(from + 1) + from[1];
	return 0;
}

static intptr_t find_plain(intptr_t pc, const intptr_t *from, const intptr_t *to)
{
	for (; from < to; from += 2)
		if (pc == from[0])
			return from[1];
	return 0;
}

static void fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	intptr_t pc = u->uc_mcontext.gregs[REG_RIP], to;

	(void)info;
	if (!(to = find_half(pc, __start_faults_half, __stop_faults_half)) &&
	    !(to = find_half(pc, half_table, half_table + 2)) &&
	    !(to = find_half(pc, typed_table, typed_table + 2)) &&
	    !(to = find_half(pc, text_table, text_table + 2)) &&
	    !(to = find_full(pc, __start_faults_full, __stop_faults_full)) &&
	    !(to = find_full(pc, full_table, full_table + 2)) &&
	    !(to = find_plain(pc, __start_faults_plain, __stop_faults_plain)) &&
	    !(to = find_plain(pc, plain_table, plain_table + 2))) {
		printf("in no table\n");
		fflush(stdout);
		signal(sig, SIG_DFL);
		return;
	}
	u->uc_mcontext.gregs[REG_RAX] = -7;
	u->uc_mcontext.gregs[REG_RIP] = to;
}

int main(void)
{
	static int (*const load[])(const int *) = { load_a, load_b, load_c, load_d, load_e,
						    load_f, load_g, load_h, load_i };
	struct sigaction act = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO };
	const int *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int good = 3;

	sigaction(SIGSEGV, &act, NULL);
	for (int k = 0; k < 9; k++) {
		int sum = 0;

		for (int i = 0; i < 2000; i++)
			sum += load[k](i % 100 == 99 ? bad : &good);
		printf("%c %d\n", 'a' + k, sum);
		fflush(stdout);
	}
	return 0;
}
