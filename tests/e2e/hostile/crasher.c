/* crasher.c - a process that has somebody else's file mapped executable, and comes to its end
 *
 *	crasher HOW FILE [TIMES]
 *
 *	kill	it sends SIGSEGV to itself
 *	queue	it sends a SIGSEGV that says that it is a fault (si_code SEGV_MAPERR)
 *	own	a fault in its own code
 *	inside	a fault in the file's code: at an instruction that only the kernel may execute
 *
 * TIMES processes do so, one after the other; 1 unless told.  0 when all died by the signal.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HLT = 0xf4 };

static const uint8_t *map(const char *path, size_t *n)
{
	struct stat st;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	*n = (size_t)st.st_size;
	void *p = mmap(NULL, *n, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* A byte of a segment with code that is such an instruction, if one begins there. */
static const uint8_t *find(const uint8_t *p, size_t n)
{
	const Elf64_Ehdr *head = (const void *)p;
	const Elf64_Phdr *ph = (const void *)(p + head->e_phoff);

	for (int i = 0; i < head->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X) &&
		    ph[i].p_offset + ph[i].p_filesz <= n)
			return memchr(p + ph[i].p_offset, HLT, ph[i].p_filesz);
	return NULL;
}

static void end_by(const char *how, const uint8_t *p, size_t n)
{
	if (strcmp(how, "kill") == 0) {
		(void)kill(getpid(), SIGSEGV);
	} else if (strcmp(how, "queue") == 0) {
		siginfo_t info = { .si_signo = SIGSEGV, .si_code = SEGV_MAPERR };

		(void)syscall(SYS_rt_sigqueueinfo, getpid(), SIGSEGV, &info);
	} else if (strcmp(how, "own") == 0) {
		volatile uintptr_t nowhere = 8;

		*(volatile int *)nowhere = 1;
	} else if (strcmp(how, "inside") == 0) {
		void (*code)(void) = (void (*)(void))(uintptr_t)find(p, n);

		if (code)
			code();
	}
	_exit(1);
}

int main(int argc, char **argv)
{
	size_t n = 0;
	const uint8_t *p = argc > 2 ? map(argv[2], &n) : NULL;
	int times = argc > 3 ? atoi(argv[3]) : 1, status, bad = 0;

	if (!p) {
		fprintf(stderr, "usage: crasher kill|queue|own|inside FILE [TIMES]\n");
		return 2;
	}
	for (int i = 0; i < times; i++) {
		pid_t pid = fork();

		if (pid == 0)
			end_by(argv[1], p, n);
		if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) ||
		    WTERMSIG(status) != SIGSEGV)
			bad = 1;
	}
	return bad;
}
