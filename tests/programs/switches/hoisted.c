/* hoisted - a switch in a loop, to which a computed jump alone leads: its table's address is
 * formed in front of the loop; with LATE, behind it
 */
#include <stdio.h>

static volatile long sink;

__attribute__((noipa)) long ident(long x)
{
	sink = x;
	return x;
}

#define LABELS                                                                                 \
zero:                                                                                          \
	if (a == b)                                                                            \
		return r + 76;                                                                 \
	goto done;                                                                             \
one:                                                                                           \
	r = r << 3 ^ 69;                                                                       \
	goto done;                                                                             \
two:                                                                                           \
	sink = 29;                                                                             \
	r ^= b * 29 + 2;                                                                       \
	goto done;                                                                             \
three:                                                                                         \
	r += ident(b + 22);                                                                    \
done:

__attribute__((noipa)) long run(long a, long b, unsigned long x, int *count)
{
	static const void *const label[] = { &&zero, &&one, &&two, &&three };
	long r = 1;
	int l = 0;

	goto *label[x & 3];
#ifndef LATE
	LABELS
#endif
again:
	switch (ident((a + b) % 10 - 4)) {
	case -4: sink++; break;
	case -3: r += ident(b + 82); break;
	case -2: if (a == b) return r + 35; sink = -2; break;
	case -1: if (a == b) return r + 45; sink = -1; break;
	case 0: (*count)++; break;
	case 1: if (a < b) r -= 14; else sink = 1; break;
	case 2: if (a == b) return r + 49; sink = 2; break;
	case 3: r += ident(b + 32); break;
	case 4: if (a == b) return r + 41; sink = 4; break;
	case 5: r ^= b + 3; break;
	default: r += 7;
	}
	if (++l < (a & 3))
		goto again;
	return r;
#ifdef LATE
	LABELS
	goto again;
#endif
}

int main(void)
{
	unsigned long sum = 0;
	int count = 0;

	for (unsigned long i = 0; i < 5000; i++) {
		unsigned long k = (i * 2654435761u >> 7) & 0xfffff;

		sum = sum * 3 + (unsigned long)run((long)(k % 7), (long)(k % 5), k, &count);
	}
	printf("%lu\n", sum);
	return 0;
}
