/* cancel.c - threads that are cancelled or leave: every cleanup handler on their way runs, once
 *
 * Built with -fexceptions handlers run by the unwind tables; without, by jump buffers.  Both
 * are tried.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "trail.h"

static sem_t ready;
static atomic_int turning;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;

static void clean(void *what) { mark(what); }
static void unlock(void *m) { mark(pthread_mutex_unlock(m) ? "not mine" : "unlocked"); }
static void gone(void *what) { mark(what); }
#ifdef __EXCEPTIONS
static void leave(int *x) { mark_number("leave", *x); }
#endif

NOINLINE static int wait_forever(int fd)
{
	char c;
	int n;

	pthread_cleanup_push(clean, (void *)"read");
	(void)sem_post(&ready);
	n = (int)read(fd, &c, 1);
	pthread_cleanup_pop(0);
	return n;
}

NOINLINE static int down(int depth, int fd)
{
#ifdef __EXCEPTIONS
	__attribute__((cleanup(leave))) int x = depth;
#else
	int x = depth;
#endif
	char room[200];
	int n;

	memset(room, x, sizeof(room));
	if (depth == 0)
		return wait_forever(fd);
	if (depth % 2) {
		n = down(depth - 1, fd);
		return n + room[opaque(7)];
	}
	pthread_cleanup_push(clean, (void *)"even");
	n = down(depth - 1, fd) + room[opaque(3)];
	pthread_cleanup_pop(0);
	return n;
}

static void *reader(void *arg)
{
	pthread_setspecific(key, "value");
	return (void *)(long)down(4, *(int *)arg);
}

static int compare(const void *a, const void *b)
{
	int fd = *(const int *)a < 0 ? *(const int *)b : *(const int *)a;

	pthread_cleanup_push(clean, (void *)"compare");
	(void)wait_forever(fd < 0 ? -fd : fd);
	pthread_cleanup_pop(0);
	return 0;
}

static void *sorter(void *arg)
{
	int v[4] = { *(int *)arg, -*(int *)arg, *(int *)arg, -*(int *)arg };

	pthread_cleanup_push(clean, (void *)"sorter");
	qsort(v, 4, sizeof(v[0]), compare);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *waiter(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	(void)sem_post(&ready);
	for (;;)
		pthread_cond_wait(&never, &mutex);
	pthread_cleanup_pop(0);
	return NULL;
}

NOINLINE static unsigned turn(unsigned x)
{
	for (int i = 0; i < 1000; i++)
		x = x & 1 ? x * 3 + 1 : x >> 1;
	return x;
}

/* Cancelled at any instruction: the handlers outside of the loop run. */
NOINLINE static void spin(void)
{
	volatile unsigned x = 27;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	(void)sem_post(&ready);
	for (;;) {
		x = turn(x);
		atomic_store_explicit(&turning, 1, memory_order_relaxed);
	}
}

static void *spinner(void *arg)
{
	pthread_cleanup_push(clean, arg);
	spin();
	pthread_cleanup_pop(0);
	return NULL;
}

NOINLINE static void *leaver(void *arg)
{
	pthread_cleanup_push(clean, arg);
	pthread_cleanup_push(clean, (void *)"inner");
	if (opaque(1))
		pthread_exit((void *)"left");
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(1);
	return NULL;
}

static void *polite(void *arg)		/* goes on until it asks */
{
	int old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	(void)sem_post(&ready);
	while (!atomic_load((atomic_int *)arg))
		(void)usleep(100);
	mark("busy");
	pthread_cleanup_push(clean, (void *)"asked");
	pthread_setcancelstate(old, NULL);
	for (;;)
		pthread_testcancel();
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancel(const char *name, void *(*run)(void *), void *arg, const char *want)
{
	pthread_t t;
	void *result = NULL;

	if (pthread_create(&t, NULL, run, arg) || sem_wait(&ready) || pthread_cancel(t)) {
		claim(name, 0);
		return;
	}
	if (run == polite)
		atomic_store((atomic_int *)arg, 1);
	pthread_join(t, &result);
	mark(result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
	expect(name, want);
}

int main(void)
{
	atomic_int go = 0;
	pthread_t t;
	void *result;
	int fd[2];

	if (pipe(fd) || sem_init(&ready, 0, 0) || pthread_key_create(&key, gone))
		return 2;
#ifdef __EXCEPTIONS
	cancel("deferred", reader, &fd[0],
	       "read leave0 leave1 even leave2 leave3 even leave4 value cancelled");
#else
	cancel("deferred", reader, &fd[0], "read even even value cancelled");
#endif
	cancel("through qsort", sorter, &fd[0], "read compare sorter cancelled");
	cancel("condition", waiter, NULL, "unlocked cancelled");
	for (int i = 0; i < 20; i++)
		cancel("at any instruction", spinner, (void *)"spinner", "spinner cancelled");
	cancel("when it asks", polite, &go, "busy asked cancelled");
	for (int i = 0; i < 3; i++) {
		if (pthread_create(&t, NULL, leaver, (void *)"outer") ||
		    pthread_join(t, &result))
			return 2;
		mark(result);
		expect("leaves", "inner outer left");
	}
	return trail_end();
}
