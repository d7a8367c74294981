/* pairs.c - two commands, run alternately, compared in CPU time and output
 *
 *	pairs [-n PAIRS] [-c CPU] [-v] 'COMMAND A' 'COMMAND B'
 *
 * Each command is run by /bin/sh.  One pair goes uncounted first.  Then pairs run as A B, B A, A B
 * and so on, so that a slow drift of the machine meets both alike.  CPU time is user plus system
 * of everything the command waited for.  Both are pinned to one CPU (-c, default the last one);
 * address space layout stays random, as in real life.
 *
 * Standard output and exit code of every run are compared with those of the first run of A.
 * Prints one line:
 *
 *	a_ms MEDIAN b_ms MEDIAN ratio A/B low LEAST high MOST pairs N same yes|no
 *
 * where low and high are the least and the greatest ratio of one pair.  Exit code 0 when all
 * output was the same, else 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAIRS_MAX = 1000 };

extern char **environ;

struct run {
	double ms;
	int status;
	uint64_t size, hash;	/* of standard output */
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* FNV-1a of everything in the file. */
static void hash_file(int fd, struct run *r)
{
	uint8_t buf[65536];
	ssize_t n;

	r->size = 0;
	r->hash = 0xcbf29ce484222325;
	if (lseek(fd, 0, SEEK_SET) < 0)
		die("lseek");
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			r->hash = (r->hash ^ buf[i]) * 0x100000001b3;
		r->size += (uint64_t)n;
	}
	if (n < 0)
		die("read");
}

static double ms_of(struct timeval t)
{
	return 1e3 * (double)t.tv_sec + 1e-3 * (double)t.tv_usec;
}

static struct run run_once(const char *command, bool verbose)
{
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, strdup(command), NULL };
	posix_spawn_file_actions_t fa;
	struct run r = { 0 };
	struct rusage u;
	pid_t pid;

	int out = memfd_create("stdout", MFD_CLOEXEC);
	if (out < 0 || !argv[2] || posix_spawn_file_actions_init(&fa))
		die("pairs");
	posix_spawn_file_actions_adddup2(&fa, out, 1);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	if (!verbose)
		posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
	errno = posix_spawn(&pid, "/bin/sh", &fa, NULL, argv, environ);
	if (errno)
		die("/bin/sh");
	if (wait4(pid, &r.status, 0, &u) != pid)
		die("wait4");
	r.ms = ms_of(u.ru_utime) + ms_of(u.ru_stime);
	hash_file(out, &r);
	close(out);
	free(argv[2]);
	posix_spawn_file_actions_destroy(&fa);
	return r;
}

static int by_value(const void *x, const void *y)
{
	const double *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static double median(double *v, unsigned n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		die("sched_setaffinity");
}

static bool same(const struct run *x, const struct run *y)
{
	return x->status == y->status && x->size == y->size && x->hash == y->hash;
}

int main(int argc, char **argv)
{
	static double ms[2][PAIRS_MAX], ratio[PAIRS_MAX];
	int opt, cpu = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
	unsigned pairs = 9;
	bool verbose = false;

	while ((opt = getopt(argc, argv, "n:c:v")) != -1) {
		if (opt == 'n')
			pairs = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'c')
			cpu = (int)strtol(optarg, NULL, 10);
		else if (opt == 'v')
			verbose = true;
		else
			return 2;
	}
	if (argc - optind != 2 || pairs < 1 || pairs > PAIRS_MAX) {
		fprintf(stderr, "usage: pairs [-n PAIRS] [-c CPU] [-v] 'COMMAND A' 'COMMAND B'\n");
		return 2;
	}
	pin(cpu);
	struct run first = run_once(argv[optind], verbose), warm = run_once(argv[optind + 1], verbose);
	bool all_same = same(&first, &warm);
	for (unsigned i = 0; i < pairs; i++) {
		for (unsigned k = 0; k < 2; k++) {
			unsigned which = (i + k) % 2;
			struct run r = run_once(argv[optind + (int)which], false);

			ms[which][i] = r.ms;
			all_same = all_same && same(&first, &r);
		}
		ratio[i] = ms[0][i] / ms[1][i];
	}
	double a = median(ms[0], pairs), b = median(ms[1], pairs);
	(void)median(ratio, pairs);	/* sorts */
	printf("a_ms %.1f b_ms %.1f ratio %.3f low %.3f high %.3f pairs %u same %s\n", a, b, a / b,
	       ratio[0], ratio[pairs - 1], pairs, all_same ? "yes" : "no");
	return all_same ? 0 : 1;
}
