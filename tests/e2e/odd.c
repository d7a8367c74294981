/* odd.c - processes that are not like others, for odd.sh: each burns about the same CPU time
 *
 *   odd burn                      plainly
 *   odd fork                      in a child that does not exec
 *   odd memfd PROGRAM             in PROGRAM, executed from memory
 *   odd threadexec PROGRAM        in PROGRAM, executed by a thread that is not the first one
 *   odd leaderexit                in a thread, the first one having ended
 *   odd remap                     in a second mapping of its own code
 *   odd jit                       in code made at run time, named in /tmp/perf-PID.map
 *   odd moved                     the same, moved to a place that the kernel tells nobody of
 *   odd chroot DIR PROGRAM        in PROGRAM of the root DIR
 *   odd covered TYPE DIR [LOWER UPPER WORK] FILE PROGRAM
 *                                 in PROGRAM, in mount and pid namespaces where another file
 *                                 system, tmpfs or overlay, covers DIR; FILE is copied to
 *                                 PROGRAM there
 *   odd maps N                    with N mappings of its file, then plainly
 *   odd short N MS                N processes one after the other, each burning MS milliseconds
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* some 0.4 s, less on a fast processor */
static const uint64_t turns = 1000 * 1000 * 1000;
static const uint64_t least_ns = 400 * 1000 * 1000;

static __attribute__((noinline)) void burn(uint64_t n)
{
	__asm__ volatile("1:	dec %0\n	jnz 1b" : "+r"(n));
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* By the clock, so that a fast processor gives as many samples; by turns, because time that
 * the machine was away may count as CPU time and has none. */
static void spend(void (*code)(uint64_t))
{
	uint64_t begun = cpu_ns();

	code(turns);
	while (cpu_ns() - begun < least_ns)
		/* who looks more often is off the CPU at ticks */
		code(25 * 1000 * 1000);
}

/* Of its own: what exec has cost does not count. */
static void spend_ms(unsigned long ms)
{
	uint64_t end = cpu_ns() + ms * 1000000;

	while (cpu_ns() < end)
		burn(100000);
}

static int die(const char *what)
{
	perror(what);
	return 1;
}

static int copy_to(const char *path, int to)
{
	char buf[65536];
	ssize_t n;
	int from = open(path, O_RDONLY | O_CLOEXEC);

	while (from >= 0 && (n = read(from, buf, sizeof(buf))) > 0)
		if (write(to, buf, (size_t)n) != n)
			return -1;
	return from < 0 ? -1 : close(from);
}

static int run_memfd(const char *program)
{
	char *argv[] = { (char *)(uintptr_t)"odd", (char *)(uintptr_t)"burn", NULL };
	int fd = memfd_create("odd", MFD_CLOEXEC);

	if (fd < 0 || copy_to(program, fd) < 0)
		return die(program);
	(void)fexecve(fd, argv, environ);
	return die("fexecve");
}

static int run_fork(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		spend(burn);
		_exit(0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

static void *exec_it(void *program)
{
	(void)execl(program, "odd", "burn", (char *)NULL);
	exit(die(program));
}

static void *burn_it(void *unused)
{
	(void)unused;
	(void)usleep(300000);		/* the first one is long gone */
	spend(burn);
	exit(0);
}

static int in_thread(void *(*f)(void *), void *arg, bool leave)
{
	pthread_t t;

	if (pthread_create(&t, NULL, f, arg) != 0)
		return die("pthread_create");
	if (leave)
		pthread_exit(NULL);
	(void)pthread_join(t, NULL);
	return 1;			/* not reached: the thread ends us all */
}

/* The page of burn() and the next one, mapped again from the file. */
static int run_remap(void)
{
	char path[512], perms[8];
	unsigned long from, to, off;
	FILE *f = fopen("/proc/self/maps", "re");
	uintptr_t at = (uintptr_t)burn;
	char line[1024];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %511s", &from, &to, perms, &off,
			   path) != 5 ||
		    at < from || at >= to)
			continue;
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		uint8_t *p = mmap(NULL, to - from, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
				  (off_t)off);
		if (fd < 0 || p == MAP_FAILED)
			return die(path);
		void (*again)(uint64_t) = (void (*)(uint64_t))(uintptr_t)(p + (at - from));
		spend(again);
		return 0;
	}
	return die("/proc/self/maps");
}

static int run_jit(bool moved)
{
	/* dec %rdi; jnz; ret */
	static const uint8_t code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
	char path[64];
	uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return die("mmap");
	memcpy(p, code, sizeof(code));
	if (moved) {
		void *to = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (to == MAP_FAILED)
			return die("mmap");
		p = mremap(p, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to);
		if (p == MAP_FAILED)
			return die("mremap");
	}
	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *f = fopen(path, "we");
	if (!f)
		return die(path);
	(void)fprintf(f, "%lx %zx made_at_run_time\n", (unsigned long)(uintptr_t)p,
		      sizeof(code));
	(void)fclose(f);
	spend((void (*)(uint64_t))(uintptr_t)p);
	(void)unlink(path);
	return 0;
}

static int run_chroot(const char *dir, const char *program)
{
	if (chroot(dir) < 0 || chdir("/") < 0)
		return die(dir);
	(void)execl(program, "odd", "burn", (char *)NULL);
	return die(program);
}

static int in_covered(const char *type, const char *dir, const char *data, const char *file,
		      const char *program)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return die("private mounts");
	/* FILE may lie below DIR: opened before it is covered. */
	int from = open(file, O_RDONLY);
	if (from < 0 || mount(type, dir, type, 0, data) < 0)
		return die(type);
	int to = open(program, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", from);
	if (to < 0 || copy_to(path, to) < 0 || close(to) < 0)
		return die(program);
	(void)execl(program, "odd", "burn", (char *)NULL);
	return die(program);
}

static int run_covered(char **arg, int n)
{
	char data[1024] = "mode=755";
	int status;

	if (n == 7)
		(void)snprintf(data, sizeof(data), "lowerdir=%s,upperdir=%s,workdir=%s", arg[2],
			       arg[3], arg[4]);
	if (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0)
		return 77;		/* not here */
	pid_t pid = fork();
	if (pid == 0)
		_exit(in_covered(arg[0], arg[1], data, arg[n - 2], arg[n - 1]));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Every second page of a range of the file's first page, so that none of them can be merged. */
static int run_maps(const char *self, unsigned long n)
{
	int fd = open(self, O_RDONLY | O_CLOEXEC);

	for (unsigned long i = 0; i < n; i++)
		if (mmap(NULL, 4096, PROT_READ | (i % 2 ? PROT_EXEC : 0), MAP_PRIVATE, fd,
			 (off_t)(i % 3) * 4096) == MAP_FAILED)
			return errno == ENOMEM ? 77 : die("mmap");	/* vm.max_map_count */
	spend(burn);
	return 0;
}

static int run_short(const char *self, unsigned long n, const char *ms)
{
	char *argv[] = { (char *)(uintptr_t)self, (char *)(uintptr_t)"for",
			 (char *)(uintptr_t)ms, NULL };
	pid_t pid;

	for (unsigned long i = 0; i < n; i++)
		if (posix_spawn(&pid, self, NULL, NULL, argv, environ) != 0 ||
		    waitpid(pid, NULL, 0) < 0)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "burn") == 0)
		spend(burn);
	else if (strcmp(what, "for") == 0 && argc == 3)
		spend_ms(strtoul(argv[2], NULL, 10));
	else if (strcmp(what, "fork") == 0)
		return run_fork();
	else if (strcmp(what, "memfd") == 0 && argc == 3)
		return run_memfd(argv[2]);
	else if (strcmp(what, "threadexec") == 0 && argc == 3)
		return in_thread(exec_it, argv[2], false);
	else if (strcmp(what, "leaderexit") == 0)
		return in_thread(burn_it, NULL, true);
	else if (strcmp(what, "remap") == 0)
		return run_remap();
	else if (strcmp(what, "jit") == 0 || strcmp(what, "moved") == 0)
		return run_jit(strcmp(what, "moved") == 0);
	else if (strcmp(what, "chroot") == 0 && argc == 4)
		return run_chroot(argv[2], argv[3]);
	else if (strcmp(what, "covered") == 0 && (argc == 6 || argc == 9))
		return run_covered(argv + 2, argc - 2);
	else if (strcmp(what, "maps") == 0 && argc == 3)
		return run_maps(argv[0], strtoul(argv[2], NULL, 10));
	else if (strcmp(what, "sleeper") == 0 && argc == 3)	/* until it is killed */
		return run_maps(argv[0], strtoul(argv[2], NULL, 10)) || pause();
	else if (strcmp(what, "short") == 0 && argc == 4)
		return run_short(argv[0], strtoul(argv[2], NULL, 10), argv[3]);
	else
		return 2;
	return 0;
}
