/* open.c - computed jumps by tables of addresses that do not end where they seem to
 *
 * HOLE     the array has an unused label, and its index is masked, of one byte or any
 * MIDDLE   the code forms the address of an array's middle, too
 * FOLDED   the lowest index is not 0, and other labels stand where number 0 would be
 * FRONT    the array has an unused label in front of where its address is formed
 *
 * Prints what depends on all that ran.
 */
#include <stdio.h>

static volatile int sink;
static long (*volatile other)(long);

#if defined(HOLE) || defined(FRONT)
#ifndef PICK
#define PICK *p++
#endif
__attribute__((noinline)) static long run(long a, long b, const INDEX *p)
{
#ifdef FRONT
	static const void *const label[] = { &&twice, NULL, &&stop, &&inc, &&dec, &&cmp, NULL };
#define GO goto *label[(PICK) + 2]
	enum { STOP = 0, INC = 1, DEC = 2, CMP = 3, TWICE = -2 };
#else
	static const void *const label[SIZE] = { &&stop, &&inc, NULL, &&dec, &&cmp, &&twice };
#define GO goto *label[PICK]
	enum { STOP = 0, INC = 1, DEC = 3, CMP = 4, TWICE = 5 };
#endif
	static const INDEX code[] = { INC, DEC, CMP, TWICE, INC, TWICE, DEC, CMP, INC, STOP };
	long s = 0;

	if (other)			/* where labels, too, might be jumped to */
		return other(a);
	p = code + (p ? *p : 0);
	GO;
inc:	s += a; sink = 1; GO;
dec:	s -= b; sink = 2; GO;
cmp:	if (a == b) s ^= 5; GO;
twice:	s *= 2; GO;
stop:	return s;
}

static long one(long i)
{
	const INDEX at = (INDEX)(i % 5);

	return run(i % 7, i % 5, &at);
}
#elif defined(MIDDLE)
__attribute__((noinline)) static long run(long a, long b, const long *p)
{
	static const void *const label[] = { &&stop, &&inc, &&dec, &&cmp, &&twice, &&stop };
	long s = 0;

	if (a > 100)
		goto *label[b + 3];
	goto *label[*p++];
inc:	s += a; sink = 1; goto *label[*p++];
dec:	s -= b; sink = 2; goto *label[*p++];
cmp:	if (a == b) s ^= 5; goto *label[*p++];
twice:	s *= 2; goto *label[*p++];
stop:	return s;
}

static long one(long i)
{
	static const long code[] = { 1, 3, 4, 2, 1, 2, 3, 4, 1, 0 };

	return run(i % 7 + (i % 11 ? 0 : 200), i % 5 % 3, code + i % 5);
}
#else
__attribute__((noinline)) static long run(long a, long b, unsigned long x)
{
	static const struct {
		void *first[2];
		long number;
		void *label[4];
	} all = { { &&third, &&none }, 5, { &&none, &&first, &&second, &&third } };
	static void *volatile held = &&second;

	if (sink == 12345)
		goto *held;
	if (a < b) {
		sink = 1;
		return 77;
	}
	goto *all.label[x - 3];
none:	sink = 2; return a == b ? 1 : 2;
first:	if (a == b) { sink = 9; return 11; } sink = 5; return 15;
second:	if (a == b) { sink = 19; return 21; } return 10;
third:	return a == b ? 31 : 30;
}

static long one(long i)
{
	return run(i % 7, i % 5, 3 + (unsigned long)i % 4);
}
#endif

int main(void)
{
	unsigned long s = 0;

	for (long i = 0; i < 6000; i++)
		s = s * 3 + (unsigned long)one(i);
	printf("%lu\n", s);
	return 0;
}
