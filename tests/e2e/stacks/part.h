/* part.h - the library of tests/e2e/stacks/work.c */
#ifndef TESTS_E2E_STACKS_PART_H
#define TESTS_E2E_STACKS_PART_H

/* Calls f(n), two functions further. */
void part_outer(void (*f)(unsigned long n), unsigned long n);

#endif
