/* lines.c - a program whose lines a debugger stops at, often and seldom */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

struct pair { int x, y; };

static int total;

static inline int square(int v)
{
	int r = v * v;

	if (r > 100)
		r -= 3;
	return r;
}

NOINLINE int work(struct pair *p, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		int t = square(p->x + i);

		if (t & 1)
			sum += t;
		else if (t % 7 == 3) {
			sum -= p->y;
			continue;
		}
		total++;
	}
	return sum;
}

NOINLINE int deep(int depth)
{
	int below;

	if (depth == 0) {
		total += 2;
		return 1;		/* line: bottom */
	}
	below = deep(depth - 1);
	return below * 3 + depth;
}

NOINLINE int careless(int n)
{
	int *p = malloc(2 * sizeof(*p));

	if (n > 5)
		p[0] = n;
	if (p[0] > 3)			/* not written when n is 5 or less */
		n++;
	free(p);
	return n;
}

int main(int argc, char **argv)
{
	struct pair p = { argc, 5 };
	int sum = 0;

	(void)argv;
	for (int i = 0; i < 10; i += 3)	/* a debugger stops at each turn */
		sum += work(&p, i * 3);
	if (argc > 1) {
		printf("%d\n", careless(argc));
		sum++;
	}
	switch (sum % 6) {
	case 0: puts("zero"); break;
	case 1: puts("one"); break;
	case 2: puts("two"); break;
	case 3: puts("three"); break;
	case 4: puts("four"); break;
	default: puts("many"); break;
	}
	printf("%d %d %d\n", sum, deep(5), total);
	return 0;
}
