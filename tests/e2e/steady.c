/* steady HOW - a process that notices changes, or one that must be left alone
 *
 *	registers   looks without end, about half of the time, whether its vector registers,
 *	            signal mask, alternate signal stack and a signal that is pending are what
 *	            they were; ends with 1 when they are not, and with 0 on SIGTERM
 *	waits       waits without end in a call with a signal mask of its own, and looks
 *	            whether the thread's is what it was; ends as `registers`
 *	count       adds up without end, with system calls in between; ends as `registers`
 *	handler     as `count`, after the handler of a signal, which the second
 *	            instruction of a function raised, has waited for SIGUSR1 far down the stack
 *	call        waits in a system call that is the third instruction of a function; ends
 *	            as `registers`
 *	slow | held
 *	            is for 3 seconds in a system call in which it cannot be stopped, and goes
 *	            on as `count`; so is a thread, while the main one waits in an unusual call:
 *	            ends with 1 when the thread came out of it much later; with 77 when the
 *	            kernel has no userfaultfd for it
 *	spawns      as `count`, with children that run in its memory most of the time
 *	naps        as `count`; another thread sleeps again and again, and its filter ends
 *	            the process for restart_syscall()
 *	service | seccomp | dispatch | private | locked | own-text | vfork | ended | stopped |
 *	compat | crowded
 *	            filters its system calls, as services do, or so that no code can be
 *	            mapped any more; handles those of some places itself; is not dumpable; has
 *	            locked memory; wrote to its text; waits for a vfork child; only its second
 *	            thread still runs; is stopped; has a thread that runs 32-bit code; has no
 *	            room left within 2 GiB behind its text
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t ends, goes_on;

static void end(int sig)
{
	(void)sig;
	ends = 1;
}

/* After a millisecond or so at work: others want the CPU, too, and a stop may come here as
 * well. */
static void rest(void)
{
	const struct timespec t = { .tv_nsec = 1500000 };

	(void)nanosleep(&t, NULL);
}

/* Fills some registers of each kind, spins, and compares; 0 if they are the same. */
__attribute__((noinline)) static uint64_t spin(uint64_t seed)
{
	uint64_t bad = 0, mix = seed;

	__asm__ volatile("movq %[s], %%xmm0; movq %[s], %%xmm7; movq %[s], %%xmm15\n\t"
			 "mov %[s], %%r12; mov %[s], %%r13; mov %[s], %%r9\n\t"
			 "mov $20000, %%ecx\n"
			 "1: dec %%ecx; jnz 1b\n\t"
			 "movq %%xmm0, %%rax; xor %[s], %%rax; or %%rax, %[bad]\n\t"
			 "movq %%xmm7, %%rax; xor %[s], %%rax; or %%rax, %[bad]\n\t"
			 "movq %%xmm15, %%rax; xor %[s], %%rax; or %%rax, %[bad]\n\t"
			 "xor %[s], %%r12; or %%r12, %[bad]\n\t"
			 "xor %[s], %%r13; or %%r13, %[bad]\n\t"
			 "xor %[s], %%r9; or %%r9, %[bad]"
			 : [bad] "+r"(bad), [s] "+r"(mix)
			 :
			 : "rax", "rcx", "r9", "r12", "r13", "xmm0", "xmm7", "xmm15", "cc");
	return bad | (mix ^ seed);
}

static int registers(void)
{
	static char stack[1 << 16];
	stack_t mine = { .ss_sp = stack, .ss_size = sizeof(stack) }, now;
	sigset_t mask, seen, pending;
	uint64_t seed = 0x9e3779b97f4a7c15;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigaddset(&mask, SIGRTMIN + 3);
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	(void)raise(SIGUSR2);
	(void)sigaltstack(&mine, NULL);
	for (uint64_t i = 0; !ends; i++, seed = seed * 6364136223846793005u + 1) {
		if (i % 100 == 0)
			rest();
		if (spin(seed) || sigprocmask(SIG_SETMASK, NULL, &seen) < 0 ||
		    memcmp(&seen, &mask, 8) != 0 || sigaltstack(NULL, &now) < 0 ||
		    now.ss_sp != stack || now.ss_size != sizeof(stack) ||
		    now.ss_flags != 0 || sigpending(&pending) < 0 ||
		    !sigismember(&pending, SIGUSR2))
			return 1;
	}
	return 0;
}

static int waits(void)
{
	const struct timespec t = { .tv_nsec = 1500000 };
	sigset_t mask, held, seen;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	sigemptyset(&held);
	sigaddset(&held, SIGUSR1);
	while (!ends)
		if ((ppoll(NULL, 0, &t, &held) != 0 && !ends) ||
		    sigprocmask(SIG_SETMASK, NULL, &seen) < 0 || memcmp(&seen, &mask, 8) != 0)
			return 1;
	return 0;
}

__attribute__((noinline)) static uint64_t fold(uint64_t h, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)p[i]) * 1099511628211u;
	return h;
}

__attribute__((noinline)) static int count_digits(uint64_t v)
{
	char text[32];

	return snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
}

__attribute__((noinline)) static bool is_odd(uint64_t v)
{
	__asm__ volatile("" : "+r"(v));
	return v % 2;
}

static int count(void)
{
	char text[256];

	for (uint64_t i = 0; !ends; i++) {
		int n = snprintf(text, sizeof(text), "%d-%llu", (int)(i % 7),
				 (unsigned long long)i);
		uint64_t want = 14695981039346656037u;

		if (i % 2000 == 0)
			rest();
		for (int k = 0; k < n; k++)
			want = (want ^ (uint8_t)text[k]) * 1099511628211u;
		if (fold(14695981039346656037u, text, (size_t)n) != want ||
		    count_digits(i) != n - 2 || is_odd(i) != (i & 1) ||
		    syscall(SYS_getppid) < 0)
			return 1;
	}
	return 0;
}

/* Ends the process for mappings of code, if those are forbidden, else for code that can be
 * written, as services have it. */
static void filter(int forbidden)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (unsigned)forbidden),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)forbidden, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static void *nap(void *unused)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_restart_syscall, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };
	struct timespec t = { .tv_nsec = 20000000 };

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
	while (syscall(SYS_nanosleep, &t, NULL) == 0)
		;
	_exit(1);
	return unused;
}

/* Which places those are does not matter: nothing is in them yet. */
static void dispatch(void)
{
	static char selector;		/* SYSCALL_DISPATCH_FILTER_ALLOW */

	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector) < 0)
		_exit(1);
}

/* As debuggers do. */
static void write_text(void)
{
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	(void)pwrite(mem, (const void *)(uintptr_t)fold, 1, (off_t)(uintptr_t)fold);
	close(mem);
}

static void *second(void *unused)
{
	while (pause() < 0)
		;
	return unused;
}

/* Both stand within the first 5 bytes, or will call again what is there. */
uint64_t load(const uint64_t *from);
long wait_in(long number);
__asm__(".text\n"
	".type load, @function\n"
	"load: .cfi_startproc\n\t"
	"push %rbx; .cfi_adjust_cfa_offset 8\n\t"
	"mov (%rdi), %rbx; lea 1(%rbx), %rax\n\t"
	"pop %rbx; .cfi_adjust_cfa_offset -8\n\t"
	"ret; .cfi_endproc; .size load, . - load\n"
	".type wait_in, @function\n"
	"wait_in: .cfi_startproc\n\t"
	"push %rbx; .cfi_adjust_cfa_offset 8\n\t"
	"mov %edi, %eax; syscall\n\t"
	"pop %rbx; .cfi_adjust_cfa_offset -8\n\t"
	"ret; .cfi_endproc; .size wait_in, . - wait_in\n"
	".skip 64, 0xcc");

static void go_on(int sig)
{
	(void)sig;
	goes_on = 1;
}

static uint64_t there = 41;

/* Below it calls are made for us. */
__attribute__((noinline)) static void make_room(void)
{
	volatile char below[100000];

	below[0] = below[sizeof(below) - 1] = 1;
}

static void mend(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	volatile char deep[150000];

	(void)sig;
	(void)info;
	deep[0] = deep[sizeof(deep) - 1] = 1;
	make_room();
	while (!goes_on)
		(void)pause();
	uc->uc_mcontext.gregs[REG_RDI] = (greg_t)(uintptr_t)&there;
}

/* 0: it was mended. */
static int fault(void)
{
	struct sigaction a = { .sa_sigaction = mend, .sa_flags = SA_SIGINFO };
	struct sigaction b = { .sa_handler = go_on };

	(void)sigaction(SIGSEGV, &a, NULL);
	(void)sigaction(SIGUSR1, &b, NULL);
	return load(NULL) != there + 1;
}

/* --- a call in which it cannot be stopped: it writes where there is no memory yet --- */

enum { SLOW_S = 3, LATER_S = 2, PAGE = 4096 };
static int slow_pipe[2], done_pipe[2], copy_pipe[2];
static char *slow_page;

/* A child gives the memory after a while. */
static void begin_slow(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	slow_page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	struct uffdio_register r = { .range = { (uintptr_t)slow_page, PAGE },
				     .mode = UFFDIO_REGISTER_MODE_MISSING };
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &r) < 0)
		_exit(77);
	if (pipe(slow_pipe) < 0 || pipe(done_pipe) < 0 || pipe(copy_pipe) < 0 ||
	    write(slow_pipe[1], "x", 1) != 1)
		_exit(1);
	if (fork() != 0)
		return;
	static char zeros[PAGE];
	struct uffdio_copy copy = { (uintptr_t)slow_page, (uintptr_t)zeros, PAGE, 0, 0 };
	(void)sleep(SLOW_S);
	_exit(ioctl(fd, UFFDIO_COPY, &copy) < 0);
}

static void *read_slowly(void *unused)
{
	if (read(slow_pipe[0], slow_page, 1) != 1 || write(done_pipe[1], "x", 1) != 1)
		_exit(1);
	return unused;
}

/* Is the thread held up? */
static int held(void)
{
	struct timespec begin, end;
	pthread_t t;

	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	begin_slow();
	(void)pthread_create(&t, NULL, read_slowly, NULL);
	(void)sleep(1);
	if (tee(done_pipe[0], copy_pipe[1], 1, 0) != 1)
		return 1;
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	return end.tv_sec - begin.tv_sec > SLOW_S + LATER_S;
}

/* For ever: a jump to itself, by a far return into the segment of 32-bit code. */
static void *run_32_bit(void *unused)
{
	enum { CODE_32 = 0x23 };
	static const uint8_t jump[] = { 0xeb, 0xfe };
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (code == MAP_FAILED)
		_exit(77);
	memcpy(code, jump, sizeof(jump));
	__asm__ volatile("push %[segment]; push %[code]; lretq"
			 :
			 : [segment] "i"(CODE_32), [code] "r"((uint64_t)(uintptr_t)code)
			 : "memory");
	return unused;
}

static void fill_room(void)
{
	enum { LARGE = 1 << 20, SMALL = 4096 };
	uint64_t from = (uintptr_t)fold & ~(uint64_t)(LARGE - 1), reach = (uint64_t)1 << 31;

	for (uint64_t at = from; at < from + reach; at += LARGE) {
		if (mmap((void *)at, LARGE, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
			 0) != MAP_FAILED)
			continue;
		for (uint64_t page = at; page < at + LARGE; page += SMALL)
			(void)mmap((void *)page, SMALL, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				   MAP_FIXED_NOREPLACE, -1, 0);
	}
}

/* As posix_spawn() does, whose child takes a while to get to another program. */
static void *spawn(void *unused)
{
	for (;;) {
		pid_t child = vfork();

		if (child == 0) {
			(void)nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
			_exit(0);
		}
		(void)waitpid(child, NULL, 0);
		(void)nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	}
	return unused;
}

static void be(const char *how)
{
	pthread_t t;

	if (strcmp(how, "seccomp") == 0)
		filter(PROT_EXEC);
	else if (strcmp(how, "service") == 0)
		filter(PROT_EXEC | PROT_WRITE);
	else if (strcmp(how, "naps") == 0)
		(void)pthread_create(&t, NULL, nap, NULL);
	else if (strcmp(how, "dispatch") == 0)
		dispatch();
	else if (strcmp(how, "private") == 0)
		(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	else if (strcmp(how, "locked") == 0)
		(void)mlock((void *)((uintptr_t)fold & ~(uintptr_t)4095), 4096);
	else if (strcmp(how, "own-text") == 0)
		write_text();
	else if (strcmp(how, "vfork") == 0 && vfork() == 0)
		for (;;)
			(void)pause();
	else if (strcmp(how, "spawns") == 0)
		(void)pthread_create(&t, NULL, spawn, NULL);
	else if (strcmp(how, "stopped") == 0)
		(void)raise(SIGSTOP);
	else if (strcmp(how, "crowded") == 0)
		fill_room();
	else if (strcmp(how, "compat") == 0)
		(void)pthread_create(&t, NULL, run_32_bit, NULL);
	if (strcmp(how, "ended") == 0) {
		(void)pthread_create(&t, NULL, second, NULL);
		(void)syscall(SYS_exit, 0);
	}
}

int main(int argc, char **argv)
{
	struct sigaction a = { .sa_handler = end };

	if (argc < 2)
		return 2;
	(void)sigaction(SIGTERM, &a, NULL);
	if (strcmp(argv[1], "registers") == 0)
		return registers();
	if (strcmp(argv[1], "waits") == 0)
		return waits();
	if (strcmp(argv[1], "call") == 0)
		return !(wait_in(SYS_pause) == -EINTR && ends);
	if (strcmp(argv[1], "handler") == 0 && fault())
		return 1;
	if (strcmp(argv[1], "held") == 0)
		return held();
	if (strcmp(argv[1], "slow") == 0) {
		begin_slow();
		(void)read_slowly(NULL);
	}
	be(argv[1]);
	return count();
}
