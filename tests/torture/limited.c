/* limited.c - one command under limits, and one line about how it ended
 *
 *	limited CPU_S MEM_MIB COMMAND ARGUMENT...
 *
 * Every process of the command gets the limits of CPU time and of address space; the whole has
 * ten times the CPU time by the clock, after which its process group is killed.  The command's
 * standard output goes to descriptor 3 if that is open, else nowhere.  Prints
 *
 *	END CPU_MS PEAK_KIB
 *
 * where END is the exit code, "signal-N" or "time-out", CPU_MS what all its processes used
 * together and PEAK_KIB the greatest resident set among them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WALL_FACTOR = 10 };

static pid_t child;
static volatile sig_atomic_t late;

static void kill_it(int sig)
{
	late = sig == SIGALRM;
	if (child > 0)
		(void)kill(-child, SIGKILL);	/* it may be gone already */
}

static void run(char **argv, rlim_t cpu_s, rlim_t mem_mib)
{
	struct rlimit cpu = { cpu_s, cpu_s + 1 }, mem = { mem_mib << 20, mem_mib << 20 };
	struct rlimit core = { 0, 0 };

	if (setpgid(0, 0) < 0 || setrlimit(RLIMIT_CPU, &cpu) < 0 ||
	    setrlimit(RLIMIT_AS, &mem) < 0 || setrlimit(RLIMIT_CORE, &core) < 0) {
		perror("limited: limits");
		_exit(127);
	}
	int out = fcntl(3, F_GETFD) >= 0 ? 3 : open("/dev/null", O_WRONLY);
	if (out < 0 || dup2(out, STDOUT_FILENO) < 0) {
		perror("limited: output");
		_exit(127);
	}
	(void)execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = kill_it };
	struct rusage u;
	int status;

	if (argc < 4 || atol(argv[1]) < 1 || atol(argv[2]) < 1) {
		fprintf(stderr, "usage: limited CPU_S MEM_MIB COMMAND ARGUMENT...\n");
		return 2;
	}
	long cpu_s = atol(argv[1]), mem_mib = atol(argv[2]);
	child = fork();
	if (child < 0) {
		perror("limited: fork");
		return 2;
	}
	if (child == 0)
		run(argv + 3, (rlim_t)cpu_s, (rlim_t)mem_mib);
	if (sigaction(SIGALRM, &act, NULL) < 0 || sigaction(SIGTERM, &act, NULL) < 0 ||
	    sigaction(SIGINT, &act, NULL) < 0)
		return 2;
	(void)alarm((unsigned)(cpu_s * WALL_FACTOR));
	while (wait4(child, &status, 0, &u) < 0)
		if (errno != EINTR)
			return 2;
	if (late)
		printf("time-out");
	else if (WIFSIGNALED(status))
		printf("signal-%d", WTERMSIG(status));
	else
		printf("%d", WEXITSTATUS(status));
	printf(" %ld %ld\n", u.ru_utime.tv_sec * 1000 + u.ru_utime.tv_usec / 1000 +
	       u.ru_stime.tv_sec * 1000 + u.ru_stime.tv_usec / 1000, u.ru_maxrss);
	return 0;
}
