/* kept - labels at a distance from one that a word of data holds
 *
 * TOP: the first one stands where the function begins.  KEPT: what was calculated is kept in
 * memory, from where the jump fetches it.  SPILLED: by the compiler, and words hold all labels.
 * LOOP: code that only its own end leads to.
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
		machine.next = base[3] + distance[*p++];                                      \
		look(3);                                                                       \
		goto *machine.next;                                                            \
	} while (0)
#elif defined(SPILLED)
#define NEXT                                                                                   \
	do {                                                                                   \
		const void *next = base[3] + distance[*p++];                                   \
		__asm__ volatile("" ::: "rbx", "rbp", "r12", "r13", "r14", "r15");             \
		look(3);                                                                       \
		goto *next;                                                                    \
	} while (0)
#else
#define NEXT goto *(base[3] + distance[*p++])
#endif

#ifdef LOOP
#define AGAIN (r & 64)
#else
#define AGAIN 0
#endif

__attribute__((noipa)) unsigned long run(unsigned long a, const unsigned char *p)
{
#ifdef SPILLED
	static const void *volatile base[] = { &&first, &&second, &&second, &&last };
#else
	static const void *volatile base[] = { 0, 0, 0, &&last };
#endif
	static const int distance[] = { &&first - &&last, &&second - &&last, &&last - &&last };
	unsigned long r = 0;

#ifndef TOP
	r = a * 7;
	NEXT;
#endif
first:
	do {
		r = r * 3 + a;
		seen = 1;
	} while (AGAIN);
	NEXT;
second:
	do {
		r = r * 5 ^ a;
		seen = 2;
	} while (AGAIN);
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
