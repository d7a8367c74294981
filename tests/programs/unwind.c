/* unwind.c - unwinding through libc's code, for tests that run it on a libc in another order
 *
 * Prints what must not depend on where libc's functions lie: how many frames backtrace() finds
 * from a qsort() callback out, that they end in this program, where the stack of makecontext()
 * ends, and that cancelling a thread which sleeps inside libc runs every cleanup handler on its
 * way.
 */
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { DEPTH = 64, NVALUE = 2000 };

static void *frame[DEPTH];
static int nframe;

static int compare(const void *x, const void *y)
{
	const int *a = x, *b = y;

	if (!nframe)
		nframe = backtrace(frame, DEPTH);
	return (*a > *b) - (*a < *b);
}

/* qsort() with little to sort keeps it on the stack, with much in allocated memory. */
static void sort_some(int n)
{
	int *value = calloc((size_t)n, sizeof(*value));

	if (!value)
		exit(1);
	for (int i = 0; i < n; i++)
		value[i] = (i * 7919) % n;
	nframe = 0;
	qsort(value, (size_t)n, sizeof(*value), compare);
	char **name = backtrace_symbols(frame, nframe);
	printf("%d sorted %d, %d frames, outermost in %s\n", n, value[1] - value[0], nframe,
	       name && strstr(name[nframe - 1], "unwind") ? "this program" : "something else");
	free(name);
	free(value);
}

static void count_frames(void)
{
	nframe = backtrace(frame, DEPTH);
}

/* The entry of a function of libc stands where the outermost return address would. */
static void on_another_stack(void)
{
	static char stack[1 << 16];
	ucontext_t here, there;

	if (getcontext(&there) < 0)
		exit(1);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, count_frames, 0);
	if (swapcontext(&here, &there) < 0)
		exit(1);
	printf("%d frames on another stack\n", nframe);
}

static void report(void *what)
{
	printf("cleanup %s\n", (const char *)what);
}

static int through_bsearch(const void *key, const void *item)
{
	char c;

	(void)item;
	pthread_cleanup_push(report, (void *)"inside the callback");
	(void)!read(*(const int *)key, &c, 1);	/* never returns: the thread is cancelled */
	pthread_cleanup_pop(0);
	return 0;
}

static void *sleeper(void *arg)
{
	int item[8] = { 0 };

	pthread_cleanup_push(report, (void *)"outside");
	(void)!bsearch(arg, item, 8, sizeof(item[0]), through_bsearch);	/* never returns */
	pthread_cleanup_pop(0);
	return NULL;
}

static void *leaver(void *arg)
{
	pthread_cleanup_push(report, arg);
	pthread_exit((void *)"left");
	pthread_cleanup_pop(0);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	void *result = NULL;
	int fd[2];

	sort_some(10);
	sort_some(NVALUE);
	on_another_stack();
	if (pipe(fd) < 0 || pthread_create(&thread, NULL, sleeper, &fd[0]))
		return 1;
	if (pthread_cancel(thread) || pthread_join(thread, &result))
		return 1;
	printf("cancelled %d\n", result == PTHREAD_CANCELED);
	if (pthread_create(&thread, NULL, leaver, (void *)"on exit") ||
	    pthread_join(thread, &result))
		return 1;
	printf("%s\n", (const char *)result);
	return 0;
}
