/* killat N COMMAND... - runs it, and kills it at its Nth system call
 * killat -FILE N COMMAND... - writes 1 to the file there, and waits for its end
 *
 * Each call counts twice, at its beginning and at its end.  Only those from its first ptrace()
 * on count.  Exit code: 0 it was killed, or has ended since; 1 it had ended before (as it did,
 * if that was not 0: 2).
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* At the place: it is killed, or the file is written and it goes on. */
static int reached(pid_t pid, const char *file)
{
	int status, fd = file ? open(file, O_WRONLY | O_CLOEXEC) : -1;

	if (file && (fd < 0 || write(fd, "1", 1) != 1 || ptrace(PTRACE_DETACH, pid, 0, 0) < 0))
		return 3;
	if (!file)
		(void)kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	return 0;
}

int main(int argc, char **argv)
{
	const char *file = argc > 1 && argv[1][0] == '-' ? argv[1] + 1 : NULL;
	if (file)
		argc--, argv++;
	long n = argc > 2 ? atol(argv[1]) : 0, seen = 0;
	int status;

	if (n <= 0)
		return 3;
	pid_t pid = fork();
	if (pid == 0) {
		(void)ptrace(PTRACE_TRACEME, 0, 0, 0);
		(void)raise(SIGSTOP);
		(void)execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid ||
	    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD) < 0)
		return 3;
	int deliver = 0;
	while (ptrace(PTRACE_SYSCALL, pid, 0, deliver) == 0 &&
	       waitpid(pid, &status, 0) == pid) {
		struct user_regs_struct regs;

		if (!WIFSTOPPED(status))
			return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 2;
		bool call = WSTOPSIG(status) == (SIGTRAP | 0x80);
		deliver = call || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		if (!call || ptrace(PTRACE_GETREGS, pid, 0, &regs) < 0)
			continue;
		seen += seen > 0 || regs.orig_rax == SYS_ptrace;
		if (seen < n)
			continue;
		return reached(pid, file);
	}
	return 3;
}
