/* Tail calls through an array of functions, which at a fixed address look like a switch of the
 * function that makes them where that is in the array itself (openswitch.sh). */
#include <stdio.h>

typedef long (*state)(const unsigned char *, long);

long start(const unsigned char *, long);
#define OTHER(name, value) \
	__attribute__((noinline)) static long name(const unsigned char *p, long x) \
	{ \
		return value; \
	}
OTHER(digit, x * 3 + *p)
OTHER(letter, x * 5 - *p)
OTHER(end, x ^ *p)

#ifdef FIRST		/* the lowest index is not 0 */
static const state by[] = { digit, letter, end, start };	/* of -3 to 0 */
#define NEXT(p) by[-(long)((p)[0] % 4) + 3]
#else			/* with a gap */
static const state by[256] = { [0] = start, ['0'] = digit, ['1'] = digit, ['A'] = letter,
			       ['z'] = end };
#define NEXT(p) by[(p)[0]]
#endif

__attribute__((noinline)) long start(const unsigned char *p, long x)
{
	p++;
	return x > 1000000 ? x : NEXT(p)(p, x + 1);
}

int main(void)
{
	static const unsigned char text[] = "\0\0" "0A" "\0" "1z" "\0" "A";
	unsigned long sum = 0;

	for (long i = 0; i < 5000; i++)
		sum = sum * 3 + (unsigned long)start(text + (i & 1 ? 3 : 0), i);
	printf("%lu\n", sum);
	return 0;
}
