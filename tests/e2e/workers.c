/* workers HOW - computes while the kernel works for it in threads of the process
 *
 *	request		a worker of io_uring waits for a pipe
 *	asleep | spins	io_uring polls in a thread of its own, that waits | that is on a CPU
 *	named		a thread of the program has the name of such a worker, and waits for
 *			a call with a time limit
 *
 * Ends with 0 on SIGTERM, behind the end of a request of it; 1: that was done otherwise than it
 * should; 77: the kernel does none.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 8, ENTRIES = 4 };

static volatile sig_atomic_t ends;
static volatile uint64_t sink;

static void end(int sig)
{
	(void)sig;
	ends = 1;
}

__attribute__((noinline)) static uint64_t odd(uint64_t x)
{
	return x % 7 == 3 ? x * 3 + 1 : x ^ x >> 5;
}

__attribute__((noinline)) static uint64_t even(uint64_t x)
{
	return x % 5 == 2 ? x + 13 : x * 2862933555777941757u;
}

__attribute__((noinline)) static uint64_t work(uint64_t x)
{
	for (int i = 0; i < 20000; i++)
		x = x & 1 ? odd(x) : even(x + 1);
	return x;
}

struct ring {
	int fd;
	struct io_uring_params p;
	char *at;
	struct io_uring_sqe *entry;
};

static int open_ring(struct ring *r, unsigned flags, unsigned idle_ms)
{
	r->p = (struct io_uring_params){ .flags = flags, .sq_thread_idle = idle_ms };
	r->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &r->p);
	if (r->fd < 0 || !(r->p.features & IORING_FEAT_SINGLE_MMAP))
		return -1;
	r->at = mmap(NULL, r->p.cq_off.cqes + r->p.cq_entries * sizeof(struct io_uring_cqe) +
		     r->p.sq_off.array + ENTRIES * sizeof(unsigned), PROT_READ | PROT_WRITE,
		     MAP_SHARED, r->fd, IORING_OFF_SQ_RING);
	r->entry = mmap(NULL, ENTRIES * sizeof(*r->entry), PROT_READ | PROT_WRITE, MAP_SHARED,
			r->fd, IORING_OFF_SQES);
	return r->at == MAP_FAILED || r->entry == MAP_FAILED ? -1 : 0;
}

static _Atomic unsigned *word(const struct ring *r, unsigned off)
{
	return (_Atomic unsigned *)(void *)(r->at + off);
}

/* The first request, and the only one. */
static int submit(struct ring *r, const struct io_uring_sqe *what)
{
	r->entry[0] = *what;
	*word(r, r->p.sq_off.array) = 0;
	atomic_store(word(r, r->p.sq_off.tail), 1);
	unsigned flags = r->p.flags & IORING_SETUP_SQPOLL ? IORING_ENTER_SQ_WAKEUP : 0;
	return syscall(SYS_io_uring_enter, r->fd, 1, 0, flags, NULL, 0) == 1 ? 0 : -1;
}

static int is_done(const struct ring *r)
{
	return atomic_load(word(r, r->p.cq_off.tail)) != 0;
}

static int has_done(const struct ring *r, int32_t want)
{
	const struct io_uring_cqe *c = (const void *)(r->at + r->p.cq_off.cqes);

	for (int i = 0; i < 500 && !is_done(r); i++)
		(void)nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	if (is_done(r) && c->res == want)
		return 1;
	(void)fprintf(stderr, "the request %s: %d\n", is_done(r) ? "is done" : "goes on",
		      (int)c->res);
	return 0;
}

static void compute(void)
{
	for (uint64_t x = 1; !ends;)
		sink = x = work(x);
}

static int request(void)
{
	static const char bytes[BYTES + 1] = "whatever";
	struct ring r;
	int from[2], to[2];

	if (pipe(from) < 0 || pipe(to) < 0)
		return 1;
	struct io_uring_sqe splice = { .opcode = IORING_OP_SPLICE, .fd = to[1],
				       .off = UINT64_MAX, .splice_off_in = UINT64_MAX,
				       .splice_fd_in = from[0], .len = BYTES };
	if (open_ring(&r, 0, 0) < 0 || submit(&r, &splice) < 0)
		return 77;
	compute();
	if (is_done(&r))
		return !has_done(&r, BYTES) || 1;
	return write(from[1], bytes, BYTES) != BYTES || !has_done(&r, BYTES);
}

static int polls(unsigned idle_ms)
{
	struct io_uring_sqe nothing = { .opcode = IORING_OP_NOP };
	struct ring r;

	if (open_ring(&r, IORING_SETUP_SQPOLL, idle_ms) < 0)
		return 77;
	compute();
	return submit(&r, &nothing) < 0 || !has_done(&r, 0);
}

static void *waiter(void *unused)
{
	struct epoll_event event;
	int fd = epoll_create1(0);

	(void)prctl(PR_SET_NAME, "iou-wrk-1");
	(void)epoll_wait(fd, &event, 1, 3600000);
	return unused;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	(void)signal(SIGTERM, end);
	if (strcmp(how, "request") == 0)
		return request();
	if (strcmp(how, "asleep") == 0 || strcmp(how, "spins") == 0)
		return polls(how[0] == 'a' ? 20 : 600000);
	if (strcmp(how, "named") != 0 || pthread_create(&thread, NULL, waiter, NULL) != 0)
		return 2;
	compute();
	return 0;
}
