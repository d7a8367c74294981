/* nameslib.c - a library: exported functions, one weak, one in two versions, one of its own */
#include <stddef.h>

#include "tests/programs/names/names.h"

#define NOINLINE __attribute__((noinline, noclone))

__attribute__((symver("lib_versioned@NAMES_1"))) int versioned_old(int n);
__attribute__((symver("lib_versioned@@NAMES_2"))) int versioned_new(int n);

static NOINLINE int lib_hidden(int n)
{
	return n > 3 ? n * 5 : n + 2;
}

NOINLINE int lib_second(int n, void (*look)(const char *where))
{
	if (n % 4 == 1) {
		if (look)
			look("lib_second");
		return n + 7;
	}
	return lib_hidden(n);
}

NOINLINE int lib_first(int n, void (*look)(const char *where))
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += lib_second(i % 6, i == 5 ? look : NULL);
	return sum;
}

/* What links with the library need not know it. */
__attribute__((weak)) NOINLINE int lib_weak(int n, void (*look)(const char *where))
{
	if (n % 4 == 1 && look)
		look("lib_weak");
	return n > 9 ? lib_hidden(n) * 3 : lib_hidden(n + 1);
}

NOINLINE int versioned_old(int n)
{
	return n > 0 ? lib_hidden(n) : 1;
}

NOINLINE int versioned_new(int n)
{
	return n > 0 ? lib_hidden(n) + 1000 : 2;
}
