/* livethreads.c - a process with threads: BUSY of them calculate, SLEEPING wait
 *
 * For bench/live.sh.  The main thread is one of them.  The process ends by a signal.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static uint64_t mix(uint64_t v)
{
	for (int i = 0; i < 64; i++)
		v = v % 3 ? v * 6364136223846793005u + 1 : v ^ v >> 17;
	return v;
}

static void *calculate(void *seed)
{
	volatile uint64_t v = (uintptr_t)seed;

	for (;;)
		v = mix(v);
	return NULL;
}

static void *wait_on(void *unused)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	(void)pthread_mutex_lock(&lock);
	while (pthread_cond_wait(&never, &lock) == 0)
		;
	return unused;
}

int main(int argc, char **argv)
{
	int busy = argc > 2 ? atoi(argv[1]) : 0, sleeping = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t t;

	for (int i = 1; i < busy; i++)
		if (pthread_create(&t, NULL, calculate, (void *)(uintptr_t)i))
			return 1;
	for (int i = busy ? 0 : 1; i < sleeping; i++)
		if (pthread_create(&t, NULL, wait_on, NULL))
			return 1;
	(void)puts("ready");
	(void)fflush(stdout);
	return busy ? calculate(NULL) != NULL : wait_on(NULL) != NULL;
}
