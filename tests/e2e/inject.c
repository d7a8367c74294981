/* inject PID CALL [ARG...] - has another process make a system call; tells how it ended
 *
 * What a process may do is best asked of itself.  It is stopped (ptrace), made to execute the
 * call at a `syscall` instruction of its vdso, and goes on where it was.  ARG is a number or
 * =TEXT, a string.  Prints "ok" or the name of the error.
 */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* Where the process has a `syscall` instruction. */
static uint64_t find_syscall(pid_t pid, int mem)
{
	char path[64], line[512];
	static uint8_t code[1 << 16];
	unsigned long start, stop;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f)) {
		if (!strstr(line, "[vdso]") || sscanf(line, "%lx-%lx", &start, &stop) != 2)
			continue;
		ssize_t n = pread(mem, code, sizeof(code) < stop - start ? sizeof(code) :
				  stop - start, (off_t)start);
		for (ssize_t i = 0; i + 1 < n; i++)
			if (code[i] == 0x0f && code[i + 1] == 0x05) {
				(void)fclose(f);
				return start + (uint64_t)i;
			}
	}
	errno = ENOENT;
	die("no syscall instruction");
	return 0;
}

/* Texts go below the stack, beyond its red zone. */
static void set_arguments(int mem, struct user_regs_struct *r, int argc, char **argv)
{
	unsigned long long *const reg[] = {
		&r->rdi, &r->rsi, &r->rdx, &r->r10, &r->r8, &r->r9
	};
	uint64_t room = (r->rsp - 8192) & ~15ull;

	for (int i = 0; i < 6; i++)
		*reg[i] = 0;
	for (int i = 0; i < argc && i < 6; i++) {
		size_t n = strlen(argv[i]);

		if (argv[i][0] != '=') {
			*reg[i] = (unsigned long long)strtoll(argv[i], NULL, 0);
			continue;
		}
		if (pwrite(mem, argv[i] + 1, n, (off_t)room) != (ssize_t)n)
			die("write");
		*reg[i] = room;
		room += (n + 15) & ~15ull;
	}
}

int main(int argc, char **argv)
{
	struct user_regs_struct before, now;
	char path[64];
	int status;

	if (argc < 3)
		return 2;
	pid_t pid = atoi(argv[1]);
	int number = seccomp_syscall_resolve_name(argv[2]);
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	int mem = open(path, O_RDWR | O_CLOEXEC);
	if (number < 0 || mem < 0)
		die(argv[2]);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0 ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 || waitpid(pid, &status, 0) != pid ||
	    ptrace(PTRACE_GETREGS, pid, NULL, &before) < 0)
		die("stop");
	now = before;
	now.rip = find_syscall(pid, mem);
	now.rax = (unsigned long long)number;
	now.orig_rax = (unsigned long long)-1;		/* nothing to begin anew */
	set_arguments(mem, &now, argc - 3, argv + 3);
	if (ptrace(PTRACE_SETREGS, pid, NULL, &now) < 0 ||
	    ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0 || waitpid(pid, &status, 0) != pid)
		die("step");
	if (!WIFSTOPPED(status)) {
		(void)printf("killed\n");
		return 0;
	}
	if (ptrace(PTRACE_GETREGS, pid, NULL, &now) < 0 ||
	    ptrace(PTRACE_SETREGS, pid, NULL, &before) < 0 ||
	    ptrace(PTRACE_DETACH, pid, NULL, NULL) < 0)
		die("go on");
	long long rc = (long long)now.rax;
	(void)printf("%s\n", rc < 0 && rc > -4096 ? strerrorname_np((int)-rc) : "ok");
	return 0;
}
