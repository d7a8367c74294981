/* main.c - compares pointers to functions that come from everywhere, and calls them
 *
 * What it prints must not depend on where any code lies.
 */
#include "pointers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int signalled;
static number_fn *chosen;

static void same(const char *what, number_fn *a, number_fn *b)
{
	printf("%s: %s %d %d\n", what, a == b ? "same" : "DIFFERENT", a(10), b(10));
}

static number_fn *by_name(const char *name)
{
	void *p = dlsym(RTLD_DEFAULT, name);
	number_fn *f;

	memcpy(&f, &p, sizeof(f));
	return f;
}

/* Exported by the program itself. */
int in_program(int n)
{
	return 100 + n;
}

static int local_1(int n)
{
	return chosen == local_1 ? n : -n;
}

static int local_2(int n)
{
	return chosen == local_2 ? 10 * n : -n;
}

static number_fn *const locals[] = { local_1, local_2, in_program };

static int ascending(const void *x, const void *y)
{
	return *(const int *)x - *(const int *)y;
}

static void on_signal(int number)
{
	signalled = number;
}

static void *thread(void *arg)
{
	number_fn *const *f = arg;

	return *f == local_1 ? arg : NULL;
}

static void at_exit(void)
{
	puts("at exit");
}

static void library_pointers(void)
{
	static const char *const name[] = { "twice", "thrice" };
	number_fn *const mine[] = { twice, thrice };

	for (int i = 0; i < 2; i++) {
		same("own and code of the library", mine[i], by_code(i));
		same("own and table", mine[i], by_table(i));
		same("own and dlsym", mine[i], by_name(name[i]));
		printf("the library agrees: %d\n", is_mine(i, mine[i]));
	}
	for (int i = 2; i < 4; i++) {
		same("hidden: table and structure", by_table(i), by_structure(i));
		same("hidden: code and table", by_code(i), by_table(i));
	}
	same("aliases", thrice, thrice_alias);
	same("exported structure", exported_operations.first, by_name("twice"));
	same("resolver", resolved, by_name("resolved"));
	printf("two functions: %s\n", by_code(0) == by_code(1) ? "SAME" : "not the same");
	Dl_info info;
	void *p = dlsym(RTLD_DEFAULT, "twice");

	printf("dladdr: %s, starts there: %d\n", dladdr(p, &info) && info.dli_sname ?
	       info.dli_sname : "?", info.dli_saddr == p);
}

static void own_pointers(void)
{
	number_fn *f = local_1;

	for (int i = 0; i < 2; i++) {
		chosen = locals[i];
		printf("local %d: %d\n", i, chosen(5));
	}
	same("program's own and dlsym", in_program, by_name("in_program"));
	same("program's own and table", locals[2], in_program);
	keep_pointer(in_program);
	same("kept", in_program, kept_pointer());
	printf("kept call: %d\n", call_kept(1));
	keep_pointer(twice);
	printf("kept call: %d\n", call_kept(1));
	chosen = f;
	pthread_t t;
	void *result = NULL;

	if (pthread_create(&t, NULL, thread, &f) == 0)
		pthread_join(t, &result);
	printf("thread: %d\n", result == &f);
}

int main(void)
{
	int v[] = { 5, 3, 9, 1 };
	struct sigaction old = { 0 };

	atexit(at_exit);
	qsort(v, 4, sizeof(v[0]), ascending);
	printf("sorted: %d %d %d %d\n", v[0], v[1], v[2], v[3]);
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	sigaction(SIGUSR1, NULL, &old);
	printf("signal: %d, handler: %d\n", signalled == SIGUSR1, old.sa_handler == on_signal);
	library_pointers();
	own_pointers();
	return 0;
}
