/* work.c - a program for tests/e2e/stacks.sh whose call tree and its shares are known
 *
 * All work is in spin(), by as many turns as its callers are to have: by_recursion() 25 of a
 * hundred, by_qsort() 20 as qsort() compares, by_library() 20 as a library calls back,
 * by_signal() 15 in a handler that interrupts a loop, on_thread() 10, by_deep() 10 behind more
 * calls than a stack may have.  Besides in_kernel() has the kernel copy, and in_vdso() asks the
 * clock.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "part.h"

enum { ROUNDS = 20, DEPTH = 10, DEEP = 300, ITEMS = 64, COPY = 1 << 20 };

static volatile unsigned long sink;
static volatile sig_atomic_t handled;
static unsigned long turns;		/* a hundredth of a round */
static unsigned long per_comparison, comparisons;

/* Not inlined, nor copied under another name. */
#ifdef __clang__
#define KEPT __attribute__((noinline)) static
#else
#define KEPT __attribute__((noipa)) static
#endif

KEPT void spin(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i;
}

KEPT void recursive(int depth, unsigned long n)
{
	if (depth)
		recursive(depth - 1, n);
	else
		spin(n);
	sink++;
}

KEPT void by_recursion(void)
{
	recursive(DEPTH - 1, 25 * turns);
	sink++;
}

KEPT int compare(const void *a, const void *b)
{
	const int *x = a, *y = b;

	comparisons++;
	spin(per_comparison);
	return (*x > *y) - (*x < *y);
}

KEPT void by_qsort(void)
{
	int item[ITEMS];

	for (int i = 0; i < ITEMS; i++)
		item[i] = i * 37 % ITEMS;
	qsort(item, ITEMS, sizeof(*item), compare);
	sink++;
}

KEPT void called_back(unsigned long n)
{
	spin(n);
	sink++;
}

KEPT void by_library(void)
{
	part_outer(called_back, 20 * turns);
	sink++;
}

KEPT void handler(int signal)
{
	spin(15 * turns);
	handled = signal;
}

KEPT void victim(void)
{
	while (!handled)
		sink++;
}

KEPT void by_signal(void)
{
	struct itimerval soon = { .it_value = { 0, 1000 } };

	handled = 0;
	(void)setitimer(ITIMER_REAL, &soon, NULL);
	victim();
	sink++;
}

KEPT void *on_thread(void *arg)
{
	spin(10 * turns);
	sink++;
	return arg;
}

KEPT void deep(int depth, unsigned long n)
{
	if (depth)
		deep(depth - 1, n);
	else
		spin(n);
	sink++;
}

KEPT void by_deep(void)
{
	deep(DEEP - 1, 10 * turns);
	sink++;
}

KEPT void in_kernel(int fd)
{
	static char copied[COPY];

	for (int i = 0; i < 64; i++)
		sink += (unsigned long)read(fd, copied, sizeof(copied));
}

KEPT void in_vdso(void)
{
	struct timespec t;

	for (int i = 0; i < 100000; i++) {
		(void)clock_gettime(CLOCK_MONOTONIC, &t);
		sink += (unsigned long)t.tv_nsec;
	}
}

int main(int argc, char **argv)
{
	int zeros = open("/dev/zero", O_RDONLY);
	pthread_t thread;

	turns = argc > 1 ? strtoul(argv[1], NULL, 10) / ROUNDS / 100 : 1000;
	by_qsort();				/* how many comparisons there are */
	per_comparison = 20 * turns / comparisons;
	(void)signal(SIGALRM, handler);
	for (int i = 0; i < ROUNDS; i++) {
		by_recursion();
		by_qsort();
		by_library();
		by_signal();
		if (pthread_create(&thread, NULL, on_thread, NULL) == 0)
			(void)pthread_join(thread, NULL);
		by_deep();
		in_kernel(zeros);
		in_vdso();
	}
	return 0;
}
