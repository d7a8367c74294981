/* flows CALL MS [thread] - transfers much by one call again and again, while it is stopped
 *
 * CALL is one of flows[] below; a child reads, or writes, the other side all the time.  Nothing
 * interrupts these calls, so each does all that it is asked for, and what comes out at the
 * other side is what went in.  Prints "ok" and how many there were, or of the first one that
 * was different what it did; "none" where the system has no such call.  With `thread` another
 * thread than the main one makes them.  Without CALL: lists the names, one a line.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* Bytes follow each other in periods, and a transfer has whole ones. */
enum { PERIOD = 251, SIZE = PERIOD * 4000, MUCH = PERIOD * 200000, PACKETS = 64,
       PACKET = 1000, LEAST = 50 };

static uint8_t data[MUCH];
static int near = -1, far = -1, other = -1;
static unsigned long run_ms;

static void fill(void)
{
	for (int i = 0; i < MUCH; i++)
		data[i] = (uint8_t)(i % PERIOD);
}

static bool is_whole(void)
{
	for (int i = 0; i < SIZE; i++)
		if (data[i] != i % PERIOD)
			return false;
	return true;
}

/* Three buffers, of which one is empty. */
static void divide(struct iovec v[4])
{
	v[0] = (struct iovec){ data, 100001 };
	v[1] = (struct iovec){ data, 0 };
	v[2] = (struct iovec){ data + 100001, 299999 };
	v[3] = (struct iovec){ data + 400000, SIZE - 400000 };
}

static long do_write(void) { return write(near, data, SIZE); }
static long do_writev(void)
{
	struct iovec v[4];

	divide(v);
	return writev(near, v, 4);
}
static long do_send(void) { return send(near, data, SIZE, 0); }
static long do_send_limit(void)
{
	struct timeval limit = { 100, 0 };

	(void)setsockopt(near, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return do_send();
}
/* Takes long until it waits, and waits long. */
static long do_send_much(void) { return send(near, data, MUCH, 0); }
static long do_sendmsg(void)
{
	struct iovec v[4];
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 4 };

	divide(v);
	return sendmsg(near, &m, 0);
}
static long do_sendfile(void)
{
	off_t at = 0;
	long n = sendfile(near, other, &at, SIZE);

	return at == n ? n : -2;
}
static long do_read(void) { return read(near, data, SIZE); }
static long do_readv(void)
{
	struct iovec v[4];

	divide(v);
	return readv(near, v, 4);
}
static long do_getrandom(void) { return getrandom(data, SIZE, 0); }
static long do_recv(void)
{
	memset(data, 255, SIZE);
	long n = recv(near, data, SIZE, MSG_WAITALL);

	return is_whole() ? n : n < SIZE ? n : -2;
}
static long do_recvmsg(void)
{
	struct iovec v[4];
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 4 };

	memset(data, 255, SIZE);
	divide(v);
	long n = recvmsg(near, &m, MSG_WAITALL);
	return is_whole() ? n : n < SIZE ? n : -2;
}
/* Ends with as many bytes as are set for its descriptor. */
static long do_read_least(void) { return read(near, data, LEAST); }
static long do_recvmmsg(void)
{
	static struct mmsghdr m[PACKETS];
	struct iovec v[PACKETS];

	for (int i = 0; i < PACKETS; i++) {
		v[i] = (struct iovec){ data + (size_t)i * PACKET, PACKET };
		m[i] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &v[i], .msg_iovlen = 1 } };
	}
	return recvmmsg(near, m, PACKETS, 0, NULL);
}

/* --- writes that do not come to their end --- */

static volatile sig_atomic_t told;

static void take_signal(int signal_no)
{
	(void)signal_no;
	told++;
}

static void make_socket(int pair[2])
{
	(void)socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	(void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUFFORCE, &(int){ MUCH / 4 }, sizeof(int));
}

/* The child comes to its end before it has read anything: what was written so far is told, and
 * no signal comes.  1: so it was. */
static long do_broken(void)
{
	int pair[2];

	make_socket(pair);
	(void)signal(SIGPIPE, take_signal);
	told = 0;
	pid_t pid = fork();
	if (pid == 0) {
		(void)usleep(100000);
		_exit(0);
	}
	(void)close(pair[1]);
	long n = write(pair[0], data, MUCH);
	(void)close(pair[0]);
	(void)waitpid(pid, NULL, 0);
	return n > 0 && n < MUCH && told == 0;
}

static long count(int fd)
{
	static char some[100003];
	long sum = 0;

	for (long n = 1; n > 0; sum += n)
		n = read(fd, some, sizeof(some));
	return sum;
}

/* A signal comes while it waits: what it tells then is what the child reads.  1: so it was. */
static long do_interrupted(void)
{
	static long *came;
	int pair[2];

	if (!came)
		came = mmap(NULL, sizeof(*came), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	make_socket(pair);
	(void)signal(SIGUSR1, take_signal);
	told = 0;
	pid_t who = gettid(), pid = fork();
	if (pid == 0) {
		(void)close(pair[0]);
		(void)usleep(100000);
		(void)tgkill(getppid(), who, SIGUSR1);
		(void)usleep(200000);
		*came = count(pair[1]);
		_exit(0);
	}
	(void)close(pair[1]);
	long n = write(pair[0], data, MUCH);
	(void)close(pair[0]);
	(void)waitpid(pid, NULL, 0);
	return n > 0 && n < MUCH && n == *came && told == 1;
}

/* What the child does with the other side.  SLOW: reads late. */
enum side { NONE, READ, SLOW, WRITE, SEND, TYPE };
enum kind { PIPE, STREAM, PACKETS_OF, TERMINAL, ZERO, RANDOM, OWN };

static const struct {
	const char *name;
	long (*run)(void);
	long want;
	enum kind kind;
	enum side side;
} flows[] = {
	{ "write-pipe", do_write, SIZE, PIPE, READ },
	{ "writev-pipe", do_writev, SIZE, PIPE, READ },
	{ "write-socket", do_write, SIZE, STREAM, READ },
	{ "write-terminal", do_write, SIZE, TERMINAL, READ },
	{ "send", do_send, SIZE, STREAM, READ },
	{ "send-limit", do_send_limit, SIZE, STREAM, READ },
	{ "send-much", do_send_much, MUCH, STREAM, SLOW },
	{ "sendmsg", do_sendmsg, SIZE, STREAM, READ },
	{ "sendfile", do_sendfile, SIZE, STREAM, READ },
	{ "read-zero", do_read, SIZE, ZERO, NONE },
	{ "readv-random", do_readv, SIZE, RANDOM, NONE },
	{ "getrandom", do_getrandom, SIZE, ZERO, NONE },
	{ "recv-all", do_recv, SIZE, STREAM, WRITE },
	{ "recvmsg-all", do_recvmsg, SIZE, STREAM, WRITE },
	{ "read-socket-least", do_read_least, LEAST, STREAM, TYPE },
	{ "read-terminal-least", do_read_least, LEAST, TERMINAL, TYPE },
	{ "recvmmsg", do_recvmmsg, PACKETS, PACKETS_OF, SEND },
	{ "write-broken", do_broken, 1, OWN, NONE },
	{ "write-interrupted", do_interrupted, 1, OWN, NONE },
};
enum { NFLOW = sizeof(flows) / sizeof(flows[0]) };

/* `much`: so many bytes may be on their way. */
static void make(enum kind kind, bool writes, int much)
{
	struct termios t;
	int ends[2] = { -1, -1 };

	switch (kind) {
	case PIPE: (void)!pipe(ends); break;
	case STREAM: (void)socketpair(AF_UNIX, SOCK_STREAM, 0, ends); break;
	case PACKETS_OF: (void)socketpair(AF_UNIX, SOCK_DGRAM, 0, ends); break;
	case TERMINAL:
		ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
		(void)grantpt(ends[0]);
		(void)unlockpt(ends[0]);
		ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
		(void)tcgetattr(ends[1], &t);
		cfmakeraw(&t);
		t.c_cc[VMIN] = LEAST;
		(void)tcsetattr(ends[1], TCSANOW, &t);
		break;
	case ZERO: ends[0] = open("/dev/zero", O_RDONLY); break;
	case RANDOM: ends[0] = open("/dev/urandom", O_RDONLY); break;
	case OWN: break;
	}
	if (kind == STREAM && writes)
		(void)setsockopt(ends[1], SOL_SOCKET, SO_SNDBUFFORCE, &(int){ much },
				 sizeof(int));
	near = writes || kind == TERMINAL ? ends[1] : ends[0];
	far = near == ends[1] ? ends[0] : ends[1];
	if (kind == STREAM && !writes)
		(void)setsockopt(near, SOL_SOCKET, SO_RCVLOWAT, &(int){ LEAST }, sizeof(int));
	other = memfd_create("flows", 0);
	(void)!write(other, data, SIZE);
}

/* Who writes gets signals that it ignores. */
static void wait_long(void)
{
	struct pollfd p = { far, POLLIN, 0 };

	(void)poll(&p, 1, -1);
	for (int i = 0; i < 10; i++) {
		(void)usleep(20000);
		(void)kill(getppid(), SIGWINCH);
	}
}

/* 0: what came was what the other side has sent. */
static int read_all(bool slow)
{
	static uint8_t some[100003];
	uint64_t at = 0;
	long n = 1;

	while (n > 0) {
		if (slow && at % MUCH == 0)
			wait_long();
		size_t most = slow && MUCH - at % MUCH < sizeof(some) ? MUCH - at % MUCH :
			      sizeof(some);
		n = read(far, some, most);
		for (long i = 0; i < n; i++)
			if (some[i] != at++ % PERIOD)
				return 1;
	}
	return 0;
}

static pid_t start_child(enum side side)
{
	pid_t pid = side == NONE ? 0 : fork();

	if (side == NONE || pid != 0) {
		(void)close(far);
		return pid;
	}
	(void)close(near);
	if (side == READ || side == SLOW)
		_exit(read_all(side == SLOW));
	while (side == TYPE && write(far, data, 1) == 1)
		continue;
	while (side == WRITE ? write(far, data, SIZE) == SIZE : send(far, data, PACKET, 0) > 0)
		continue;
	_exit(0);
}

static unsigned long now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long)t.tv_sec * 1000 + (unsigned long)t.tv_nsec / 1000000;
}

/* All of them in one thread; `which` is an element of flows[]. */
static void *flow(void *which)
{
	int k = *(int *)which;
	unsigned long end = now_ms() + run_ms, n = 0;
	long did = flows[k].want;

	for (; did == flows[k].want && now_ms() < end; n++) {
		errno = 0;
		did = flows[k].run();
	}
	if (did == flows[k].want)
		(void)printf("ok %lu\n", n);
	else if (n == 1 && (errno == ENOSYS || errno == EOPNOTSUPP))
		(void)printf("none\n");
	else
		(void)printf("call %lu: %ld of %ld, %s\n", n, did, flows[k].want,
			     did < 0 ? strerrorname_np(errno) : "short");
	return NULL;
}

int main(int argc, char **argv)
{
	int k = 0, status = 0;
	pthread_t t;

	for (; argc < 3 && k < NFLOW; k++)
		(void)printf("%s\n", flows[k].name);
	while (argc > 2 && k < NFLOW && strcmp(flows[k].name, argv[1]) != 0)
		k++;
	if (k == NFLOW)
		return argc < 3 ? 0 : 2;
	run_ms = strtoul(argv[2], NULL, 10);
	fill();
	bool writes = flows[k].side == READ || flows[k].side == SLOW;
	make(flows[k].kind, writes, flows[k].want / 4);
	pid_t child = start_child(flows[k].side);
	if (argc < 4)
		(void)flow(&k);
	else if (pthread_create(&t, NULL, flow, &k) == 0)
		(void)pthread_join(t, NULL);
	(void)close(near);
	if (writes && waitpid(child, &status, 0) == child && status != 0)
		(void)printf("other bytes came\n");
	if (child > 0)
		(void)kill(child, SIGKILL);
	return 0;
}
