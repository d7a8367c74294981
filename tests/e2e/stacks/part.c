/* part.c - the library of tests/e2e/stacks/work.c: calls back into the program */
#include "part.h"

static volatile unsigned calls;

void part_inner(void (*f)(unsigned long n), unsigned long n);

__attribute__((noinline)) void part_inner(void (*f)(unsigned long n), unsigned long n)
{
	f(n);
	calls++;
}

void part_outer(void (*f)(unsigned long n), unsigned long n)
{
	part_inner(f, n);
	calls++;
}
