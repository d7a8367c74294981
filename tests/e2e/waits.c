/* waits CALL [thread] - waits in a system call for a second, while it is being stopped
 *
 * CALL is one of waits[] below: those that signal(7) lists, with and without time limits.  What
 * is waited for comes from a child after a second, in some cases a part of it at once, or is
 * the end of the limit.  Prints the name of the error, "ok" for none (EMSGSIZE: less than all
 * was transferred; ENOSYS: the system has no such call), and how long it took in ms.  With
 * `thread` another thread than the main one waits.  Without CALL: lists the names, one a line;
 * those that a stop would change, because they have a limit or do half of their work, are
 * marked by "later".
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/timedcall.h"

enum { SECOND_MS = 1000 };
static const struct timespec second = { SECOND_MS / 1000, 0 };

static int pair[2], terminal[2], ready[2], epoll, sem, queue, notify, lock, listener;
static char folder[] = "/tmp/morph-waits.XXXXXX", fifo[64], file[64];
static struct sockaddr_un name = { .sun_family = AF_UNIX };
static aio_context_t aio, aio_two;
static sigset_t usr1, usr2;
static volatile sig_atomic_t handled_usr1, handled_usr2;
static volatile uint64_t handled_ms;
static uint32_t word;

static void limit(int fd, int option)
{
	struct timeval t = { SECOND_MS / 1000, 0 };

	(void)setsockopt(fd, SOL_SOCKET, option, &t, sizeof(t));
}

/* What a call has done, where that is less than all. */
static long whole(long did, long want)
{
	if (did < 0 || did == want)
		return did;
	errno = EMSGSIZE;
	return -1;
}

static long do_epoll(void) { struct epoll_event e; return epoll_wait(epoll, &e, 1, -1); }
static long do_epoll_limit(void)
{
	struct epoll_event e;

	return epoll_wait(epoll, &e, 1, SECOND_MS);
}
static long do_epoll_pwait(void)
{
	struct epoll_event e;

	return epoll_pwait(epoll, &e, 1, -1, &usr1);
}
static long do_sigwait(void) { return sigwaitinfo(&usr1, NULL); }
static long do_sigwait_limit(void) { return sigtimedwait(&usr1, NULL, &second); }
static long do_semop(void)
{
	struct sembuf op = { 0, -1, 0 };

	return semop(sem, &op, 1);
}
static long do_semop_limit(void)
{
	struct sembuf op = { 0, -1, 0 };

	return semtimedop(sem, &op, 1, &second);
}
static long do_recv(void) { char c; return recv(pair[0], &c, 1, 0); }
static long do_recv_limit(void)
{
	limit(pair[0], SO_RCVTIMEO);
	return do_recv();
}
static long do_read_limit(void)
{
	char c;

	limit(pair[0], SO_RCVTIMEO);
	return read(pair[0], &c, 1);
}
static long do_send(void)
{
	static char many[1 << 20];

	return whole(send(pair[0], many, sizeof(many), 0), sizeof(many));
}
static long do_accept(void) { return accept(listener, NULL, NULL); }
static long do_accept_limit(void)
{
	limit(listener, SO_RCVTIMEO);
	return do_accept();
}
static long do_inotify(void) { char b[512]; return read(notify, b, sizeof(b)); }
static long do_poll(void)
{
	struct pollfd p = { pair[0], POLLIN, 0 };

	return poll(&p, 1, -1);
}
static long do_poll_limit(void)
{
	struct pollfd p = { pair[0], POLLIN, 0 };

	return poll(&p, 1, SECOND_MS);
}
static long do_ppoll_limit(void)
{
	struct pollfd p = { pair[0], POLLIN, 0 };

	return ppoll(&p, 1, &second, NULL);
}
static long do_select_limit(void)
{
	struct timeval t = { SECOND_MS / 1000, 0 };

	return select(0, NULL, NULL, NULL, &t);
}
static long do_nanosleep(void) { return nanosleep(&second, NULL); }
/* Nothing is left, as it was not interrupted. */
static long do_nanosleep_again(void)
{
	struct timespec t = second;
	long rc = nanosleep(&t, &t);

	return whole(rc, t.tv_sec == second.tv_sec && t.tv_nsec == second.tv_nsec ? rc : -1);
}
/* A point in time; older headers have neither of these calls. */
enum { FUTEX_WAITV_CALL = 449, FUTEX_WAIT_CALL = 455, PRIVATE_U32 = 2 | 128 };

static struct timespec in_a_second(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += second.tv_sec;
	return t;
}

static long do_futexes_limit(void)
{
	struct { uint64_t val, addr; uint32_t flags, reserved; } w = {
		0, (uintptr_t)&word, PRIVATE_U32, 0 };
	struct timespec end = in_a_second();

	return syscall(FUTEX_WAITV_CALL, &w, 1, 0, &end, CLOCK_MONOTONIC);
}

static long do_futex_wait_limit(void)
{
	struct timespec end = in_a_second();

	return syscall(FUTEX_WAIT_CALL, &word, 0UL, (unsigned long)UINT32_MAX, PRIVATE_U32,
		       &end, CLOCK_MONOTONIC);
}

static long do_futex_limit(void)
{
	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &second, NULL, 0);
}
/* The other thread, which holds the second word, moves the one that waits there. */
static uint32_t condition, held_by;

static void *move_and_free(void *unused)
{
	enum { CMP_REQUEUE_PI = 12 | 128, UNLOCK_PI = 7 | 128 };

	held_by = (uint32_t)gettid();
	(void)!write(ready[1], "", 1);
	(void)usleep(50000);
	(void)syscall(SYS_futex, &condition, CMP_REQUEUE_PI, 1, 0UL, &held_by, 0);
	(void)nanosleep(&second, NULL);
	(void)syscall(SYS_futex, &held_by, UNLOCK_PI);
	return unused;
}
static long do_requeue(void)
{
	enum { WAIT_REQUEUE_PI = 11 | 128 };
	pthread_t t;

	(void)pthread_create(&t, NULL, move_and_free, NULL);
	(void)!read(ready[0], &(char){ 0 }, 1);
	long rc = syscall(SYS_futex, &condition, WAIT_REQUEUE_PI, 0, NULL, &held_by, 0);
	int error = errno;
	(void)pthread_join(t, NULL);
	errno = error;
	return rc;
}
static long do_msgrcv(void)
{
	struct { long type; char c; } m;

	return msgrcv(queue, &m, 1, 0, 0);
}
static long do_aio(void)
{
	struct io_event e;

	return syscall(SYS_io_getevents, aio, 1, 1, &e, NULL);
}
static long do_aio_limit(void)
{
	struct io_event e;

	return syscall(SYS_io_getevents, aio, 1, 1, &e, &second);
}
/* Of two events one is there. */
static long do_aio_two(void)
{
	struct io_event e[2];

	return whole(syscall(SYS_io_getevents, aio_two, 2, 2, e, NULL), 2);
}
/* Ten bytes, of which three are there. */
static long do_recv_least(void)
{
	int least = 10;
	char c[10];

	(void)setsockopt(pair[0], SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least));
	return whole(recv(pair[0], c, sizeof(c), 0), sizeof(c));
}
static long do_recv_all(void)
{
	char c[10];

	return whole(recv(pair[0], c, sizeof(c), MSG_WAITALL), sizeof(c));
}
static long read_terminal(unsigned least, unsigned limit_ds)
{
	struct termios t;
	char c[10];

	(void)tcgetattr(terminal[1], &t);
	cfmakeraw(&t);
	t.c_cc[VMIN] = (cc_t)least;
	t.c_cc[VTIME] = (cc_t)limit_ds;
	(void)tcsetattr(terminal[1], TCSANOW, &t);
	return whole(read(terminal[1], c, sizeof(c)), least);
}
static long do_terminal(void) { return read_terminal(10, 0); }
static long do_terminal_one(void) { return read_terminal(1, 0); }
static long do_terminal_limit(void) { return read_terminal(0, SECOND_MS / 100); }
/* Limits where the kernel cannot write what is left of them. */
static long do_pselect_read_only(void)
{
	return syscall(SYS_pselect6, 0, NULL, NULL, NULL, &second, NULL);
}
static long do_nanosleep_read_only(void)
{
	return syscall(SYS_nanosleep, &second, &second);
}
/* One request, which is a limit: submitted and waited for, or waited for by another call. */
static long uring(bool masked)
{
	struct io_uring_params p = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 1, &p);
	size_t size = p.sq_off.array + sizeof(uint32_t), done_size = p.cq_off.cqes +
		      p.cq_entries * sizeof(struct io_uring_cqe);

	if (fd < 0) {
		errno = ENOSYS;
		return -1;
	}
	char *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			  IORING_OFF_SQ_RING);
	char *done = mmap(NULL, done_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			  IORING_OFF_CQ_RING);
	struct io_uring_sqe *sqe = mmap(NULL, sizeof(*sqe), PROT_READ | PROT_WRITE, MAP_SHARED,
					fd, IORING_OFF_SQES);
	struct __kernel_timespec limit_s = { .tv_sec = SECOND_MS / 1000 };
	*sqe = (struct io_uring_sqe){ .opcode = IORING_OP_TIMEOUT, .fd = -1, .len = 1,
				      .addr = (uint64_t)(uintptr_t)&limit_s };
	*(uint32_t *)(void *)(ring + p.sq_off.array) = 0;
	__atomic_store_n((uint32_t *)(void *)(ring + p.sq_off.tail), 1, __ATOMIC_RELEASE);
	long rc = syscall(SYS_io_uring_enter, fd, 1, !masked,
			  masked ? 0 : IORING_ENTER_GETEVENTS, NULL, 0);
	if (whole(rc, 1) < 0)
		return -1;
	if (masked)
		rc = syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS, &usr1, 8);
	return rc < 0 ? -1 : whole(__atomic_load_n((uint32_t *)(void *)(done + p.cq_off.tail),
						   __ATOMIC_ACQUIRE), 1);
}
static long do_uring(void) { return uring(false); }
static long do_wait(void) { return wait(NULL); }
static long do_fifo(void) { return open(fifo, O_RDONLY); }
static long do_flock(void) { return flock(lock, LOCK_EX); }
static long do_setlkw(void)
{
	struct flock l = { .l_type = F_WRLCK };

	return fcntl(lock, F_SETLKW, &l);
}

/* --- those that hold off SIGUSR1, which the thread does not, and which waits --- */

static void handle(int signal_no)
{
	if (signal_no == SIGUSR1) {
		handled_ms = now_ms();
		handled_usr1++;
	} else {
		handled_usr2++;
	}
}

/* EPROTO: the handler ran before the call had ended, or not at its end. */
static long hold_off(long (*call)(void))
{
	struct sigaction act = { .sa_handler = handle };
	uint64_t began = now_ms();

	(void)sigaction(SIGUSR1, &act, NULL);
	(void)sigaction(SIGUSR2, &act, NULL);
	(void)pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
	(void)!write(ready[1], "", 1);
	long rc = call();
	if (handled_usr1 == 1 && handled_ms - began > SECOND_MS - 100)
		return rc;
	errno = EPROTO;
	return -1;
}
static long call_ppoll(void)
{
	struct pollfd p = { pair[0], POLLIN, 0 };

	return ppoll(&p, 1, NULL, &usr1);
}
static long call_pselect(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pair[0], &set);
	return pselect(pair[0] + 1, &set, NULL, NULL, NULL, &usr1);
}
static long call_epoll_pwait2(void)
{
	struct epoll_event e;

	return syscall(SYS_epoll_pwait2, epoll, &e, 1, NULL, &usr1, 8);
}
static long call_pgetevents(void)
{
	struct { sigset_t *mask; size_t size; } sig = { &usr1, 8 };
	struct io_event e;

	return syscall(SYS_io_pgetevents, aio, 1, 1, &e, NULL, &sig);
}
static long call_uring(void) { return uring(true); }
static long call_suspend(void)
{
	(void)sigsuspend(&usr1);
	return errno == EINTR && handled_usr2 == 1 ? 0 : -1;
}
static long do_ppoll_held(void) { return hold_off(call_ppoll); }
static long do_pselect_held(void) { return hold_off(call_pselect); }
static long do_epoll_pwait_held(void) { return hold_off(do_epoll_pwait); }
static long do_epoll_pwait2_held(void) { return hold_off(call_epoll_pwait2); }
static long do_pgetevents_held(void) { return hold_off(call_pgetevents); }
static long do_uring_held(void) { return hold_off(call_uring); }
static long do_suspend_held(void) { return hold_off(call_suspend); }

/* END: the limit does, with or without an error; else the child, by what it does.  HALVES,
 * TYPE: the first part comes at once.  HELD and later: so does SIGUSR1. */
enum event { END, SEND, HALVES, TYPE, TYPE_LATE, SIGNAL, SEM, MESSAGE, CREATE, CONNECT,
	     DRAIN, EXIT, OPEN, HELD, HELD_SEND, HELD_SIGNAL };

static const struct {
	const char *name;
	long (*run)(void);
	enum event event;
	bool later;		/* a stop would change it */
} waits[] = {
	{ "epoll_wait", do_epoll, SEND, false },
	{ "epoll_wait-limit", do_epoll_limit, END, true },
	{ "epoll_pwait", do_epoll_pwait, SEND, false },
	{ "sigwaitinfo", do_sigwait, SIGNAL, false },
	{ "sigtimedwait-limit", do_sigwait_limit, END, true },
	{ "semop", do_semop, SEM, false },
	{ "semtimedop-limit", do_semop_limit, END, true },
	{ "recv", do_recv, SEND, false },
	{ "recv-limit", do_recv_limit, END, true },
	{ "read-limit", do_read_limit, END, true },
	{ "send", do_send, DRAIN, true },
	{ "accept", do_accept, CONNECT, false },
	{ "accept-limit", do_accept_limit, END, true },
	{ "inotify", do_inotify, CREATE, false },
	{ "poll", do_poll, SEND, false },
	{ "poll-limit", do_poll_limit, END, false },
	{ "ppoll-limit", do_ppoll_limit, END, false },
	{ "select-limit", do_select_limit, END, false },
	{ "nanosleep", do_nanosleep, END, false },
	{ "nanosleep-again", do_nanosleep_again, END, false },
	{ "futex-limit", do_futex_limit, END, false },
	{ "futexes-limit", do_futexes_limit, END, false },
	{ "futex-wait-limit", do_futex_wait_limit, END, false },
	{ "futex-requeue-pi", do_requeue, END, true },
	{ "msgrcv", do_msgrcv, MESSAGE, false },
	{ "io_getevents-limit", do_aio_limit, END, true },
	{ "io_getevents", do_aio, SEND, false },
	{ "io_getevents-two", do_aio_two, SEND, true },
	{ "recv-least", do_recv_least, HALVES, true },
	{ "recv-all", do_recv_all, HALVES, true },
	{ "read-terminal-ten", do_terminal, TYPE, true },
	{ "read-terminal-one", do_terminal_one, TYPE_LATE, false },
	{ "read-terminal-limit", do_terminal_limit, END, true },
	{ "pselect6-read-only", do_pselect_read_only, END, true },
	{ "nanosleep-read-only", do_nanosleep_read_only, END, true },
	{ "io_uring_enter", do_uring, END, true },
	{ "ppoll-held", do_ppoll_held, HELD_SEND, false },
	{ "pselect6-held", do_pselect_held, HELD_SEND, false },
	{ "epoll_pwait-held", do_epoll_pwait_held, HELD_SEND, false },
	{ "epoll_pwait2-held", do_epoll_pwait2_held, HELD_SEND, false },
	{ "io_pgetevents-held", do_pgetevents_held, HELD_SEND, false },
	{ "io_uring_enter-held", do_uring_held, HELD, false },
	{ "sigsuspend-held", do_suspend_held, HELD_SIGNAL, false },
	{ "wait", do_wait, EXIT, false },
	{ "open-fifo", do_fifo, OPEN, false },
	{ "flock", do_flock, EXIT, false },
	{ "setlkw", do_setlkw, EXIT, false },
};
enum { NWAIT = sizeof(waits) / sizeof(waits[0]) };

static void make_all(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	static struct iocb cb, there, *cbs[] = { &cb, &there };

	if (!mkdtemp(folder))
		exit(2);
	(void)snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	(void)snprintf(file, sizeof(file), "%s/file", folder);
	(void)snprintf(name.sun_path, sizeof(name.sun_path), "%s/socket", folder);
	(void)socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	(void)!pipe(ready);
	epoll = epoll_create1(0);
	(void)epoll_ctl(epoll, EPOLL_CTL_ADD, pair[0], &e);
	sem = semget(IPC_PRIVATE, 1, 0600);
	queue = msgget(IPC_PRIVATE, 0600);
	(void)mkfifo(fifo, 0600);
	lock = open(file, O_RDWR | O_CREAT, 0600);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	(void)bind(listener, (struct sockaddr *)&name, sizeof(name));
	(void)listen(listener, 1);
	notify = inotify_init();
	(void)inotify_add_watch(notify, folder, IN_CREATE);
	(void)syscall(SYS_io_setup, 1, &aio);
	cb = (struct iocb){ .aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = (uint32_t)pair[0],
			    .aio_buf = POLLIN };
	there = cb;
	there.aio_buf = POLLOUT;
	(void)syscall(SYS_io_submit, aio, 1, cbs);
	(void)syscall(SYS_io_setup, 2, &aio_two);
	(void)syscall(SYS_io_submit, aio_two, 2, cbs);
	terminal[0] = posix_openpt(O_RDWR | O_NOCTTY);
	(void)grantpt(terminal[0]);
	(void)unlockpt(terminal[0]);
	terminal[1] = open(ptsname(terminal[0]), O_RDWR | O_NOCTTY);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	(void)sigprocmask(SIG_BLOCK, &usr1, NULL);
	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	(void)sigprocmask(SIG_BLOCK, &usr2, NULL);
}

static void bring_about(enum event event, pid_t parent)
{
	struct sembuf up = { 0, 1, 0 };
	struct { long type; char c; } m = { 1, 0 };
	static char many[1 << 16];

	switch (event) {
	case HELD_SEND:
	case SEND: (void)send(pair[1], "x", 1, 0); break;
	case HELD_SIGNAL: (void)kill(parent, SIGUSR2); break;
	case HALVES: (void)send(pair[1], "the rest", 7, 0); break;
	case TYPE: (void)!write(terminal[0], "the rest", 7); break;
	case TYPE_LATE: (void)!write(terminal[0], "x", 1); break;
	case SIGNAL: (void)kill(parent, SIGUSR1); break;
	case SEM: (void)semop(sem, &up, 1); break;
	case MESSAGE: (void)msgsnd(queue, &m, 1, 0); break;
	case CREATE: (void)close(open(strcat(file, "2"), O_CREAT | O_RDWR, 0600)); break;
	case CONNECT:
		(void)connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&name,
			      sizeof(name));
		break;
	case DRAIN:
		for (long n = 0; n < 1 << 20;)
			n += read(pair[1], many, sizeof(many));
		break;
	case OPEN: (void)open(fifo, O_WRONLY); break;
	case END: case EXIT: case HELD: break;
	}
}

/* The child holds the locks that EXIT frees. */
static pid_t start_child(enum event event)
{
	struct flock l = { .l_type = F_WRLCK };
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	if (event == EXIT) {
		int other = open(file, O_RDWR);

		(void)flock(other, LOCK_EX);
		(void)fcntl(lock, F_SETLK, &l);
	}
	(void)close(pair[0]);
	if (event >= HELD)
		(void)!read(ready[0], &(char){ 0 }, 1);
	(void)usleep(100000);		/* the terminal is set, or it waits */
	if (event == HALVES)
		(void)send(pair[1], "few", 3, 0);
	if (event == TYPE)
		(void)!write(terminal[0], "few", 3);
	if (event >= HELD)
		(void)kill(parent, SIGUSR1);
	(void)nanosleep(&second, NULL);
	bring_about(event, parent);
	_exit(0);
}

int main(int argc, char **argv)
{
	int k = 0;

	for (; argc < 2 && k < NWAIT; k++)
		(void)printf("%s%s\n", waits[k].name, waits[k].later ? " later" : "");
	while (argc > 1 && k < NWAIT && strcmp(waits[k].name, argv[1]) != 0)
		k++;
	if (k == NWAIT)
		return argc < 2 ? 0 : 2;
	make_all();
	pid_t child = start_child(waits[k].event);
	(void)usleep(50000);		/* it has its locks */
	timedcall_run(&waits[k].run, argc > 2);
	(void)kill(child, SIGKILL);
	(void)unlink(fifo);
	(void)unlink(name.sun_path);
	file[strlen(folder) + 5] = '\0';
	(void)unlink(file);
	(void)unlink(strcat(file, "2"));
	(void)rmdir(folder);
	(void)semctl(sem, 0, IPC_RMID);
	(void)msgctl(queue, IPC_RMID, NULL);
	return 0;
}
