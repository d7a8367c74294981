/* cost.c - what one command costs
 *
 *	cost COMMAND ARGUMENT...
 *
 * Runs it RUNS (5) times with standard output thrown away and prints, of the medians,
 *
 *	wall_ms N cpu_ms N peak_kib N
 *
 * where peak is the greatest resident set of any process in it.  Exit code of the last run.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MAX = 100 };

extern char **environ;

static int by_value(const void *x, const void *y)
{
	const double *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

static double now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);	/* always there */
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	static double wall[RUNS_MAX], cpu[RUNS_MAX], peak[RUNS_MAX];
	const char *text = getenv("RUNS");
	int runs = text ? atoi(text) : 5, status = 0;
	posix_spawn_file_actions_t fa;

	if (argc < 2 || runs < 1 || runs > RUNS_MAX) {
		fprintf(stderr, "usage: cost COMMAND ARGUMENT...\n");
		return 2;
	}
	if (posix_spawn_file_actions_init(&fa) ||
	    posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0))
		return 2;
	for (int i = 0; i < runs; i++) {
		struct rusage u;
		double start = now_ms();
		pid_t pid;

		errno = posix_spawnp(&pid, argv[1], &fa, NULL, argv + 1, environ);
		if (errno || wait4(pid, &status, 0, &u) != pid) {
			perror(argv[1]);
			return 2;
		}
		wall[i] = now_ms() - start;
		cpu[i] = 1e3 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			 1e-3 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
		peak[i] = (double)u.ru_maxrss;
	}
	posix_spawn_file_actions_destroy(&fa);
	printf("wall_ms %.0f cpu_ms %.0f peak_kib %.0f\n", median(wall, runs),
	       median(cpu, runs), median(peak, runs));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
