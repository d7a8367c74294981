/* lines.c - what it costs this processor where code lies in a 64-byte line
 *
 * lines CPU [ROUNDS]: writes small pieces of code into memory, each at all offsets of a line,
 * runs them on that CPU, all offsets of all pieces in each of ROUNDS rounds, and prints for
 * each
 *
 *	PIECE SIZE OFFSET CYCLES
 *
 * with the lower quartile of the cycles for one execution: other work on the machine only adds
 * to them.  They are the processor's own: the time-stamp counter's, by what a chain of
 * additions takes just before and behind, one a cycle.  The pieces:
 *
 *	block	a loop of one block: eight NOPs of four bytes and its branch, so that it is as
 *		fast as it is fetched
 *	pair	a loop of a comparison and its branch, and what counts down
 *	loop	as block, with four NOPs, which a wide processor decodes in one cycle
 *	chain	blocks of four NOPs, each of which jumps to the next: too many to be kept as a
 *		loop
 *	dispatch that of an interpreter: bound, table, indirect jump; sixteen of them go round
 *	alike	one with sixteen handlers, each of which dispatches; where other pieces have an
 *		offset, this has the distance of the end of one from that of the one before, so
 *		at the multiples of 16 all end at the same offset of 16 bytes
 *	nop	as block, with a long NOP more: what padding costs that runs
 *	prefix	as block, with three prefixes more
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <x86intrin.h>

#include "bench/pin.h"

enum { LINE = 64, REPEAT = 20000, MAX_ROUNDS = 99, HANDLERS = 4, PROGRAM = 16,
       CHAIN = 24, ROOM = 128 * LINE, MANY = 16, LONG = 120 };

typedef void code_fn(uint64_t rounds, const void *table, const uint8_t *program);

struct piece {
	const char *name;
	uint8_t code[64];
	unsigned size;
	unsigned executions;		/* of one round */
	double cycles[LINE][MAX_ROUNDS];
};

#define FOUR 0x0f, 0x1f, 0x40, 0x00	/* a NOP of 4 bytes: a slot, and no more */
#define FOURS FOUR, FOUR, FOUR, FOUR
#define EIGHT FOURS, FOURS
/* sub $1, %rdi; jnz: its displacement follows */
#define AGAIN 0x48, 0x83, 0xef, 0x01, 0x75

static struct piece pieces[] = {
	{ .name = "block", .code = { EIGHT, AGAIN, 0xda }, .size = 38, .executions = 1 },
	{ .name = "pair",
	  .code = { 0x48, 0x8d, 0x7f, 0xff, 0x48, 0x85, 0xff, 0x75, 0xf7 },
	  .size = 9, .executions = 1 },
	/* a jmp to the next one follows, and counts */
	{ .name = "chain", .code = { FOURS }, .size = 21,
	  .executions = CHAIN },
	/* movzbl (%rcx), %eax; lea 1(%rcx), %rcx; cmp $3, %eax; ja +0 (not taken);
	 * mov (%rsi,%rax,8), %rax; jmp *%rax */
	{ .name = "dispatch",
	  .code = { 0x0f, 0xb6, 0x01, 0x48, 0x8d, 0x49, 0x01, 0x83, 0xf8, 0x03, 0x77, 0x00,
		    0x48, 0x8b, 0x04, 0xc6, 0xff, 0xe0 },
	  .size = 18, .executions = PROGRAM },
	/* lea 1(%rcx), %rcx; movzbl (%rcx), %eax; jmp *(%rsi,%rax,8) */
	{ .name = "alike",
	  .code = { 0x48, 0x8d, 0x49, 0x01, 0x0f, 0xb6, 0x01, 0xff, 0x24, 0xc6 },
	  .size = 10, .executions = LONG },
	{ .name = "nop",
	  .code = { EIGHT, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, AGAIN, 0xd2 },
	  .size = 46, .executions = 1 },
	{ .name = "prefix", .code = { 0x2e, 0x2e, 0x2e, EIGHT, AGAIN, 0xd7 }, .size = 41,
	  .executions = 1 },
	{ .name = "loop", .code = { FOURS, AGAIN, 0xea }, .size = 22, .executions = 1 },
};

enum { NPIECE = sizeof(pieces) / sizeof(pieces[0]), CHAINED = 2, DISPATCH = 3, ALIKE = 4 };

static uint8_t *put(uint8_t *at, const void *code, size_t n)
{
	memcpy(at, code, n);
	return at + n;
}

static uint8_t *put_jump(uint8_t *at, const uint8_t *to, uint8_t opcode)
{
	int32_t d = (int32_t)(to - (at + 5));

	*at = opcode;
	memcpy(at + 1, &d, 4);
	return at + 5;
}

static code_fn *write_chain(uint8_t *room, const struct piece *p, unsigned offset)
{
	static const uint8_t again[] = { 0x48, 0x83, 0xef, 0x01, 0x74, 0x05 }, ret = 0xc3;
	uint8_t *first = room + 4 * LINE + offset;

	for (unsigned i = 0; i < CHAIN; i++) {
		uint8_t *at = first + i * 4 * LINE;

		put_jump(put(at, p->code, p->size - 5), at + 4 * LINE, 0xe9);
	}
	uint8_t *last = room + (4 + 4 * CHAIN) * LINE;
	put_jump(first + (CHAIN - 1) * 4 * LINE + p->size - 5, last, 0xe9);
	put(put_jump(put(last, again, sizeof(again)), first, 0xe9), &ret, 1);
	return (code_fn *)(uintptr_t)first;
}

/* Each handler in two lines of its own; one more goes round or returns. */
static code_fn *write_alike(uint8_t *room, const struct piece *p, unsigned step,
			    const void **table)
{
	/* mov %rdx, %rcx; movzbl (%rcx), %eax; jmp *(%rsi,%rax,8) */
	static const uint8_t first[] = { 0x48, 0x89, 0xd1, 0x0f, 0xb6, 0x01, 0xff, 0x24, 0xc6 };
	/* sub $1, %rdi; jnz back to the first; ret */
	static const uint8_t again[] = { 0x48, 0x83, 0xef, 0x01, 0x75, 0xf1, 0xc3 };

	for (unsigned i = 0; i < MANY; i++) {
		uint8_t *at = room + (4 + 2 * i) * LINE + i * step % LINE;

		table[i] = at;
		put(at, p->code, p->size);
	}
	put(room, first, sizeof(first));
	table[MANY] = room + sizeof(first);
	put(room + sizeof(first), again, sizeof(again));
	return (code_fn *)(uintptr_t)room;
}

/* Writes the piece at `offset` of a line; table[] gets the interpreter's handlers: the first
 * three dispatch again, the last one goes round or returns. */
static code_fn *write_piece(uint8_t *room, const struct piece *p, unsigned offset,
			    const void **table)
{
	uint8_t *at = room + 4 * LINE + offset, *start = room, *end;
	/* mov %rdx, %r10; mov %rdx, %rcx */
	static const uint8_t keep[] = { 0x49, 0x89, 0xd2, 0x48, 0x89, 0xd1 };
	static const uint8_t again[] = { 0x4c, 0x89, 0xd1, 0x48, 0x83, 0xef, 0x01, 0x74,
					 0x05 };
	static const uint8_t ret = 0xc3;

	memset(room, 0xcc, ROOM);
	end = put(at, p->code, p->size);
	if (p == &pieces[CHAINED])
		return write_chain(room, p, offset);
	if (p == &pieces[ALIKE])
		return write_alike(room, p, offset, table);
	if (p != &pieces[DISPATCH]) {
		put(end, &ret, 1);
		put_jump(start, at, 0xe9);
		return (code_fn *)(uintptr_t)start;
	}
	put_jump(put(start, keep, sizeof(keep)), at, 0xe9);
	for (unsigned i = 0; i < HANDLERS; i++) {
		uint8_t *handler = room + (8 + 2 * i) * LINE, *h = handler;

		table[i] = handler;
		if (i == HANDLERS - 1)
			h = put(h, again, sizeof(again));
		put(put_jump(h, at, 0xe9), &ret, 1);
	}
	return (code_fn *)(uintptr_t)start;
}

/* Cycles of the time-stamp counter for one of the processor's. */
static double of_cycle(void)
{
	enum { TIMES = 200, ADDS = 16 };
	uint64_t x = 0, start;
	unsigned aux;

	_mm_lfence();
	start = __rdtsc();
	for (unsigned i = 0; i < TIMES; i++)
		__asm__ volatile(".rept 16\n\tadd %1, %0\n\t.endr" : "+r"(x) : "r"(start));
	return (double)(__rdtscp(&aux) - start) / (TIMES * ADDS);
}

static double run(code_fn *f, const struct piece *p, const void *table, const uint8_t *program)
{
	uint64_t rounds = REPEAT / p->executions, start;
	unsigned aux;

	f(rounds / 8 + 1, table, program);	/* decoded, predicted */
	double cycle = of_cycle();
	_mm_lfence();
	start = __rdtsc();
	f(rounds, table, program);
	uint64_t all = __rdtscp(&aux) - start;

	cycle = (cycle + of_cycle()) / 2;
	return (double)all / cycle / (double)(rounds * p->executions);
}

static int by_value(const void *x, const void *y)
{
	const double *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

int main(int argc, char **argv)
{
	static const uint8_t program[PROGRAM] = { 0, 1, 2, 0, 0, 2, 1, 1,
						  2, 0, 1, 2, 2, 1, 0, 3 };
	const void *table[MANY + 1];
	uint8_t longer[LONG + 1];
	uint32_t seed = 1;
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 41;
	uint8_t *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED || rounds < 1 || rounds > MAX_ROUNDS) {
		(void)fprintf(stderr, "usage: lines CPU [ROUNDS]\n");
		return 1;
	}
	for (unsigned i = 0; i < LONG; i++)
		longer[i] = (uint8_t)((seed = seed * 1103515245u + 12345u) >> 24) % MANY;
	longer[LONG] = MANY;
	pin(argc > 1 ? atoi(argv[1]) : 0);
	for (unsigned r = 0; r < rounds; r++)
		for (unsigned k = 0; k < NPIECE * LINE; k++) {
			struct piece *p = &pieces[k % NPIECE];
			unsigned offset = k / NPIECE;

			p->cycles[offset][r] =
				run(write_piece(room, p, offset, table), p, table,
				    p == &pieces[ALIKE] ? longer : program);
		}
	for (unsigned i = 0; i < NPIECE; i++)
		for (unsigned k = 0; k < LINE; k++) {
			struct piece *p = &pieces[i];

			qsort(p->cycles[k], rounds, sizeof(double), by_value);
			printf("%s %u %u %.3f\n", p->name, p->size, k,
			       p->cycles[k][rounds / 4]);
		}
	return 0;
}
