/* hoisted - a switch in a loop, to which a computed jump alone leads: its table's address is
 * formed in front of the loop
 */
#include <stdio.h>

static volatile long sink;
struct counts {
	int n;
};

__attribute__((noinline)) static void count(void)
{
	sink++;
}

__attribute__((noinline)) static long least(long x)
{
	if (x > 5)
		sink = x;
	return x;
}

__attribute__((noipa)) long ident(long x)
{
	sink = x;
	return x;
}

__attribute__((noipa)) long run(long a, long b, unsigned long x, struct counts *c)
{
	static const void *const label[] = { &&zero, &&one, &&two, &&three };
	long r = 1;

	goto *label[x & 3];
zero:
	if (a == b)
		return r + 76;
	goto done;
one:
	r = r << 3 ^ 69;
	goto done;
two:
	sink = 29;
	r ^= b * 29 + 2;
	goto done;
three:
	r += ident(b + 22);
done:
	for (int l = 0; l < (a & 3); l++) {
		switch (ident((a + b) % 10 - 4)) {
		case -4: count(); break;
		case -3: r += ident(b + 82); break;
		case -2: if (a == b) return r + 35; sink = -2; break;
		case -1: if (a == b) return r + 45; sink = -1; break;
		case 0: c->n++; break;
		case 1: if (a < b) r -= 14; else sink = 1; break;
		case 2: if (a == b) return r + 49; sink = 2; break;
		case 3: r += ident(b + 32); break;
		case 4: if (a == b) return r + 41; sink = 4; break;
		case 5: r ^= least(b + 3); break;
		default: r += 7;
		}
	}
	return r;
}

int main(void)
{
	struct counts c = { 0 };
	unsigned long sum = 0;

	for (unsigned long i = 0; i < 5000; i++) {
		unsigned long k = (i * 2654435761u >> 7) & 0xfffff;

		sum = sum * 3 + (unsigned long)run((long)(k % 7), (long)(k % 5), k, &c);
	}
	printf("%lu\n", sum);
	return 0;
}
