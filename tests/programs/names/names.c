/* names.c - a program that tools look at: which frames have which names, where it stops, what
 * it counts
 *
 * Its functions call each other and a library's (nameslib.c) in a fixed way.  Without arguments
 * it prints what it calculated, so that a tool's output is the only thing that differs.
 *
 *   frames   the names of all frames by dladdr() and backtrace_symbols(), and of the function
 *            that _Unwind_FindEnclosingFunction() gives; on standard error their addresses,
 *            from where the file is loaded
 *   look     what dlsym() and dlvsym() find, by name, and what it does
 *   leaks    memory that is read before it is written, for valgrind
 *   long     for a while, so that a profiler has something to count
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "tests/programs/names/names.h"

#define NOINLINE __attribute__((noinline, noclone))

enum { MAX_FRAMES = 32 };

int watched;			/* a debugger looks at it */
static int mode;

/* The name in `FILE(NAME+0xOFFSET) [ADDRESS]`. */
static void print_symbol(const char *text)
{
	const char *from = strchr(text, '('), *end = from ? strpbrk(from, "+)") : NULL;

	printf(" symbols=%.*s", end ? (int)(end - from - 1) : 0, end ? from + 1 : "");
}

NOINLINE void show(const char *where)
{
	void *at[MAX_FRAMES];
	int n = backtrace(at, MAX_FRAMES);
	char **text = backtrace_symbols(at, n);

	printf("at %s\n", where);
	for (int i = 0; i < n; i++) {
		char *pc = (char *)at[i] - 1;
		void *start = _Unwind_FindEnclosingFunction(pc);
		Dl_info d = { 0 }, s = { 0 };
		struct link_map *map;

		if (!dladdr1(pc, &d, (void **)&map, RTLD_DL_LINKMAP) ||
		    !strstr(d.dli_fname, "names"))
			break;
		(void)dladdr(start, &s);
		printf("%d dladdr=%s", i, d.dli_sname ? d.dli_sname : "");
		print_symbol(text[i]);
		printf(" function=%s\n", s.dli_sname ? s.dli_sname : "");
		fprintf(stderr, "%lx\n", (unsigned long)pc - map->l_addr);
	}
	free(text);
}

NOINLINE int inner(int n)
{
	watched += n;
	if (n == 7) {
		if (mode == 'f')
			show("inner");
		return n * 3;			/* line: seldom */
	}
	return n + 1;				/* line: often */
}

static NOINLINE int hidden(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += inner(i % 9) ^ i;
	if (sum % 2)
		sum += inner(7);
	return sum;
}

NOINLINE int outer(int n)
{
	int sum = hidden(n);

	if (sum < 0)
		return 0;
	return sum + lib_first(n, mode == 'f' ? show : NULL);
}

NOINLINE int careless(int n)
{
	int *p = malloc(sizeof(*p) * 2);

	if (n > 5)
		p[0] = n;
	if (p[0] > 3)				/* not written when n is 5 or less */
		n++;
	free(p);
	return n;
}

static void look_up(const char *name, const char *version)
{
	void *at = version ? dlvsym(RTLD_DEFAULT, name, version) : dlsym(RTLD_DEFAULT, name);
	int (*f)(int n, void (*look)(const char *where));
	Dl_info d = { 0 };

	memcpy(&f, &at, sizeof(f));
	if (at)
		(void)dladdr(at, &d);
	printf("%s %s: %s, is %s, gives %d\n", name, version ? version : "-",
	       at ? "found" : "missing", d.dli_sname && d.dli_saddr == at ? d.dli_sname : "-",
	       at && strncmp(name, "lib_", 4) == 0 ? f(5, NULL) : 0);
}

static void look_all_up(void)
{
	static const char *const name[] = { "main", "show", "inner", "outer", "careless",
					    "hidden", "lib_first", "lib_second",
					    "lib_versioned", "lib_hidden", "nothing" };
	static const char *const version[] = { NULL, "NAMES_1", "NAMES_2" };

	for (unsigned i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		for (unsigned k = 0; k < sizeof(version) / sizeof(version[0]); k++)
			look_up(name[i], version[k]);
}

int main(int argc, char **argv)
{
	int sum = 0, rounds = 1;

	mode = argc > 1 ? argv[1][0] : 0;
	if (mode == 'l' && argv[1][1] == 'o' && argv[1][2] == 'o')
		look_all_up();
	if (mode == 'l' && argv[1][1] == 'e')
		printf("%d\n", careless(4));
	if (mode == 'l' && argv[1][1] == 'o' && argv[1][2] == 'n')
		rounds = 20000;
	for (int i = 0; i < rounds; i++)
		sum += outer(20 + i % 2);
	printf("%d %d\n", sum, watched);
	return 0;
}
