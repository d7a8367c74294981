/* farcalls.c - what a call through the linkage table costs, and one without it, near and far
 *
 *	farcalls
 *
 * Makes code with so many calls of ten functions, each call behind a branch that goes one way
 * or the other by chance, and runs it: over stubs `jmp *slot(%rip)`, one for each function, or
 * `call *slot(%rip)` at once; with the functions beside the code, as libraries are, or as far
 * away as a program is from its libraries.  Prints a row of a Markdown table for each number of
 * calls: nanoseconds for a call and its branch, the least of RUNS.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { FUNCTIONS = 10, RUNS = 40, CALLS_A_RUN = 500000, CODE = 1 << 20, STUB = 16, APART = 256
       };

#define FAR_AWAY (64ull << 30)

struct code {
	uint8_t *p;		/* [CODE] slots, stubs, then what is run */
	uint8_t *callee;	/* [FUNCTIONS * APART] */
	uint32_t n;
};

static uint8_t *map(void *at, size_t size)
{
	void *p = mmap(at, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

static void put(struct code *c, const void *bytes, uint32_t n)
{
	memcpy(c->p + c->n, bytes, n);
	c->n += n;
}

static void put_relative(struct code *c, uint32_t to)
{
	int32_t d = (int32_t)to - (int32_t)(c->n + 4);

	put(c, &d, sizeof(d));
}

#define PUT(c, ...) \
	put(c, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static uint32_t slot_of(uint32_t f) { return f * (uint32_t)sizeof(void *); }
static uint32_t stub_of(uint32_t f) { return FUNCTIONS * (uint32_t)sizeof(void *) + f * STUB; }

static void make_functions(struct code *c, bool far)
{
	c->p = map(NULL, CODE);
	c->callee = map(far ? c->p - FAR_AWAY : NULL, FUNCTIONS * APART);
	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		uint8_t *at = c->callee + f * APART;

		/* mov $1,%eax; ret */
		memcpy(at, (const uint8_t[]){ 0xb8, 1, 0, 0, 0, 0xc3 }, 6);
		c->n = slot_of(f);
		put(c, &at, sizeof(at));
		c->n = stub_of(f);
		/* jmp *slot(%rip) */
		PUT(c, 0xff, 0x25);
		put_relative(c, slot_of(f));
	}
}

/* uint64_t run(uint64_t seed): the next seed. */
static uint32_t make_calls(struct code *c, uint32_t calls, bool slot)
{
	uint32_t entry = c->n = stub_of(FUNCTIONS);

	/* push %rbx; push %r12; sub $8,%rsp; mov %rdi,%r12 */
	PUT(c, 0x53, 0x41, 0x54, 0x48, 0x83, 0xec, 8, 0x49, 0x89, 0xfc);
	for (uint32_t i = 0; i < calls; i++) {
		uint32_t f = i * 7 % FUNCTIONS;

		/* imul $..,%r12,%r12 */
		PUT(c, 0x4d, 0x69, 0xe4, 0x2d, 0xf4, 0x51, 0x58);
		/* add $..,%r12 */
		PUT(c, 0x49, 0x81, 0xc4, 0x39, 0x30, 0, 0);
		/* test $1<<28,%r12d */
		PUT(c, 0x41, 0xf7, 0xc4, 0, 0, 0, 0x10);
		/* jz 1f; add $1,%ebx; 1: */
		PUT(c, 0x74, 3, 0x83, 0xc3, 1);
		if (slot)
			PUT(c, 0xff, 0x15);
		else
			PUT(c, 0xe8);
		put_relative(c, slot ? slot_of(f) : stub_of(f));
	}
	/* mov %r12,%rax; add $8,%rsp; pop %r12; pop %rbx; ret */
	PUT(c, 0x4c, 0x89, 0xe0, 0x48, 0x83, 0xc4, 8, 0x41, 0x5c, 0x5b, 0xc3);
	return entry;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double measure(uint32_t calls, bool slot, bool far)
{
	struct code c = { 0 };
	uint64_t (*run)(uint64_t), seed = 12345;
	double least = 0;

	make_functions(&c, far);
	uint8_t *entry = c.p + make_calls(&c, calls, slot);

	memcpy(&run, &entry, sizeof(run));
	for (int r = 0; r < RUNS; r++) {
		double from = now_ns();

		for (uint32_t i = 0; i < CALLS_A_RUN / calls; i++)
			seed = run(seed);
		double ns = (now_ns() - from) / (CALLS_A_RUN / calls) / calls;

		if (r == 0 || ns < least)
			least = ns;
	}
	munmap(c.p, CODE);
	munmap(c.callee, FUNCTIONS * APART);
	return least;
}

int main(void)
{
	static const uint32_t calls[] = { 10, 20, 50, 100, 200, 500, 1000, 2000 };

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		printf("| %u | %.1f | %.1f | %.1f | %.1f |\n", calls[i],
		       measure(calls[i], false, false), measure(calls[i], true, false),
		       measure(calls[i], false, true), measure(calls[i], true, true));
	return 0;
}
