/* kept - labels at a distance from one that a word of data holds
 *
 * TOP: the first one stands where the function begins.  KEPT: what was calculated is kept in
 * memory, from where the jump fetches it.
 */
#include <stdio.h>

struct machine {
	const void *next;
} machine;
volatile int seen;

__attribute__((noipa)) void look(int i)
{
	seen = i;
}

#ifdef KEPT
#define NEXT                                                                                   \
	do {                                                                                   \
		machine.next = *base + distance[*p++];                                         \
		look(3);                                                                       \
		goto *machine.next;                                                            \
	} while (0)
#else
#define NEXT goto *(*base + distance[*p++])
#endif

__attribute__((noipa)) unsigned long run(unsigned long a, const unsigned char *p)
{
	static const void *volatile base[] = { &&last };
	static const int distance[] = { &&first - &&last, &&second - &&last, &&last - &&last };
	unsigned long r = 0;

#ifndef TOP
	r = a * 7;
	NEXT;
#endif
first:
	r = r * 3 + a;
	seen = 1;
	NEXT;
second:
	r ^= a;
	seen = 2;
	NEXT;
last:
	return r;
}

int main(void)
{
	unsigned long sum = 0;

	for (unsigned long k = 0; k < 1000; k++)
		sum = sum * 3 + run(k % 7, (const unsigned char *)"\0\1\1\0\1\0\0\2" + k % 7);
	printf("%lu\n", sum);
	return 0;
}
