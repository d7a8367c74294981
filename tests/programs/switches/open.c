/* open.c - computed jumps by tables of addresses that do not end where they seem to
 *
 * HOLE     the array has an unused label, and its index is masked, of one byte or any
 * MIDDLE   the code forms the address of an array's middle, too
 * FOLDED   the lowest index is not 0, and other labels stand where number 0 would be
 * FRONT    the array has an unused label in front of where its address is formed
 * TOP      behind an unused one there is but the label where the function begins
 * PART     ... where its part that seldom runs begins
 * BOTH     as FOLDED, with a comparison, and the other labels are an array with an unused one
 * CUT      (of distances) the address of another array, taken less, is in the table's middle
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
#elif defined(TOP)
__attribute__((noinline, noclone)) long run(long a, long b, const unsigned long *p)
{
	static const void *const label[] = { &&first, &&second, NULL, &&top };

top:	if (a == 5) { p++; a += b; goto *label[*p]; }
	if (a == 6) { p++; a -= b; goto *label[*p]; }
	p++; a ^= 3; sink = 8;
	goto *label[*p];
first:	sink = 1; if (a == b) return 3; return 4;
second:	sink = 2; return a == b ? 30 : 40;
}

static long one(long i)
{
	const unsigned long second = (unsigned long)i % 2;
	const unsigned long code[] = { 0, i % 3 ? second : 3, second, 0 };

	return run(i % 9, i % 5, code);
}
#elif defined(PART)
__attribute__((noinline, cold, noclone)) long seldom(long a, long b)
{
	sink = (int)(a + b);
	return a * 7 + b;
}

__attribute__((noinline, noclone)) long run(long a, long b, const unsigned long *p)
{
	static const void *const label[] = { &&first, &&second, NULL, &&part };

	if (a == 5) { sink = 3; goto *label[*p]; }
	sink = 4; goto *label[*p];
first:	sink = 1; if (a == b) return 3; return 4;
second:	sink = 2; return a == b ? 30 : 40;
part:	return seldom(a, b);
}

static long one(long i)
{
	const unsigned long code = (unsigned long)(const long[]){ 0, 1, 3 }[i % 3];

	return run(i % 7, i % 5, &code);
}
#elif defined(BOTH)
__attribute__((noinline))
static long run(long a, long b, unsigned long i, const unsigned long *p)
{
	static const struct { const void *open[6], *compared[4]; } all = {
		{ &&first, &&second, NULL, &&fourth, &&fifth, &&sixth },
		{ &&fourth, &&second, &&third, &&sixth }
	};

	if (i == 77) { sink = 4; goto *all.open[*p]; }
	if (i < 7) { sink = 3; goto *all.compared[i - 3]; }
	return 99;
first:	sink = 1; if (a == b) return 3; return 4;
second:	sink = 2; return a == b ? 30 : 40;
third:	sink = 7; if (a == b) { sink = 9; return 33; } return 44;
sixth:	if (a == b) { sink = 19; return 333; } sink = 5; return 444;
fourth:	if (a == b) { sink = 29; return 3331; } sink = 15; return 4441;
fifth:	if (a == b) { sink = 39; return 3332; } sink = 25; return 4442;
}

static long one(long i)
{
	const unsigned long code = (unsigned long)(const long[]){ 0, 1, 3, 4, 5 }[i % 5];

	const unsigned long compared = i % 3 == 1 ? 3 + (unsigned long)i % 4 : 100;

	return run(i % 7, i % 5, i % 3 == 0 ? 77 : compared, &code);
}
#elif defined(CUT)
__attribute__((noinline, noclone))
const int *run(long a, long b, unsigned x, unsigned long y, long *out)
{
	static const int array[] = {
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
	};
	long r = 0;

	switch (x) {
	case 0: sink = 1; r = a == b ? 3 : 4; break;
	case 1: sink = 2; r = a < b ? 30 : 40; if (a == 3) { *out = 5; return 0; } break;
	case 2: sink = 7; r = a * 3; break;
	case 3: sink = 9; r = b * 5; sink++; break;
	case 4: if (a == b) { sink = 29; *out = 3331; return 0; } sink = 15; r = 4441; break;
	case 5: sink = 91; r = b * 7; sink++; break;
	case 6: sink = 92; r = b * 9 - a; sink++; break;
	case 7: sink = 93; r = b * 11 - a; sink++; break;
	case 8: sink = 94; r = b * 13 - a; sink++; break;
	case 9: sink = 95; r = b * 15 - a; sink++; break;
	default: __builtin_unreachable();
	}
	*out = r;
	for (unsigned long k = y; k < y + (unsigned long)a; k++) {
		r = r * 5 + array[k - CUT];
		sink = (int)r;
	}
	*out = r;
	return 0;
}

static long one(long i)
{
	long r;
	const int *p = run(i % 7, i % 5, (unsigned)i % 10, CUT + (unsigned long)i % 8, &r);

	return r + (p ? *p : 0);
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
