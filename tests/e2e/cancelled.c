/* cancelled - cancels threads without end, and looks whether their cleanup handlers have run
 *
 * A thread has two handlers, one in each of two functions, and is cancelled deeper down, where
 * it calculates or waits.  Prints the same line every time; ends with 1 when a handler did not
 * run, or the thread was not cancelled.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static volatile int outer_ran, inner_ran, begun;

static void outer_handler(void *unused)
{
	(void)unused;
	outer_ran++;
}

static void inner_handler(void *unused)
{
	(void)unused;
	inner_ran++;
}

__attribute__((noinline)) static uint64_t mix(uint64_t v)
{
	for (int i = 0; i < 20000; i++)
		v = v % 3 ? v * 6364136223846793005u + 1 : v ^ v >> 17;
	return v;
}

__attribute__((noinline)) static uint64_t work(uint64_t v)
{
	struct timespec short_time = { 0, 1000 };

	for (;;) {
		v = mix(v);
		begun = 1;
		pthread_testcancel();
		if (v % 4 == 0)
			(void)nanosleep(&short_time, NULL);
	}
	return v;
}

__attribute__((noinline)) static uint64_t inner(uint64_t v)
{
	pthread_cleanup_push(inner_handler, NULL);
	v += work(v);
	pthread_cleanup_pop(0);
	return v + 1;
}

static void *run(void *seed)
{
	uint64_t v = (uintptr_t)seed;

	pthread_cleanup_push(outer_handler, NULL);
	v = inner(v);
	pthread_cleanup_pop(0);
	return (void *)(uintptr_t)v;
}

int main(void)
{
	struct timespec some = { 0, 2000000 };

	for (int i = 1;; i++) {
		pthread_t t;
		void *result = NULL;

		begun = 0;
		if (pthread_create(&t, NULL, run, (void *)(uintptr_t)i))
			return 1;
		while (!begun)
			(void)nanosleep(&some, NULL);
		(void)pthread_cancel(t);
		(void)pthread_join(t, &result);
		if (result != PTHREAD_CANCELED || outer_ran != i || inner_ran != i)
			return 1;
		(void)puts("cancelled, both handlers ran");
		(void)fflush(stdout);
	}
}
