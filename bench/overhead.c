/* overhead.c - how much longer a command takes while something else goes on
 *
 *	overhead [-n PAIRS] [-c CPU] [-p PID-FILE] 'ON' 'OFF' 'COMMAND'
 *
 * A pair is COMMAND after ON and COMMAND after OFF, in turns the one and the other first.  All
 * are run by /bin/sh; COMMAND pinned to one CPU (-c, default the last one).  What counts is its
 * CPU time, which is where time that an interrupt took while it ran ends up, and that of
 * everything it waited for.  One pair goes uncounted first.  Prints
 *
 *	off_ms MEDIAN added_pct ESTIMATE low LOW high HIGH own_pct SHARE pairs N same yes|no
 *
 * where ESTIMATE is Hodges and Lehmann's for the logarithms of on / off, LOW .. HIGH its
 * interval of 95 % (bench/shift.h), and SHARE the CPU time of the processes in PID-FILE, per
 * time that COMMAND took after ON. Exit code 0 when all runs printed the same, else 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
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
#include <time.h>
#include <unistd.h>

#include "bench/pin.h"
#include "bench/shift.h"

enum { PAIRS_MAX = 1000 };

extern char **environ;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static double now_s(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);	/* cannot fail for this clock */
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* CPU seconds; what it printed goes to `out`. */
static double run(const char *command, int out)
{
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, strdup(command), NULL };
	posix_spawn_file_actions_t fa;
	struct rusage u;
	int status;
	pid_t pid;

	if (!argv[2] || posix_spawn_file_actions_init(&fa))
		die("overhead");
	posix_spawn_file_actions_adddup2(&fa, out, 1);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	errno = posix_spawn(&pid, "/bin/sh", &fa, NULL, argv, environ);
	if (errno)
		die("/bin/sh");
	if (wait4(pid, &status, 0, &u) != pid)
		die("wait4");
	posix_spawn_file_actions_destroy(&fa);
	free(argv[2]);
	return seconds_of(u.ru_utime) + seconds_of(u.ru_stime);
}

/* FNV-1a of everything that was printed. */
static uint64_t hash_output(int fd)
{
	uint64_t h = 0xcbf29ce484222325;
	uint8_t buf[65536];
	ssize_t n;

	if (lseek(fd, 0, SEEK_SET) < 0)
		die("lseek");
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n; i++)
			h = (h ^ buf[i]) * 0x100000001b3;
	return h;
}

/* CPU seconds that the processes of the file have had. */
static double own_time(const char *pid_file)
{
	char path[64];
	double sum = 0;
	int pid;
	FILE *f = pid_file ? fopen(pid_file, "r") : NULL;

	if (!f)
		return 0;
	while (fscanf(f, "%d", &pid) == 1) {
		unsigned long long ns = 0;

		(void)snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);	/* fits */
		FILE *s = fopen(path, "r");
		if (!s)
			continue;
		if (fscanf(s, "%llu", &ns) == 1)
			sum += (double)ns / 1e9;
		(void)fclose(s);	/* only read */
	}
	(void)fclose(f);
	return sum;
}

struct options {
	unsigned pairs;
	int cpu;
	const char *pid_file;
	const char *on, *off, *command;
};

struct sums {
	double own_s, on_wall_s;
	uint64_t hash;
	bool any, same;
};

/* One half of a pair: CPU seconds of the command. */
static double half(const struct options *o, bool on, struct sums *t)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int out = memfd_create("stdout", MFD_CLOEXEC);

	if (null < 0 || out < 0)
		die("overhead");
	pin(-1);
	(void)run(on ? o->on : o->off, null);
	double own = on ? own_time(o->pid_file) : 0, begun = now_s();
	pin(o->cpu);
	double s = run(o->command, out);
	pin(-1);
	if (on) {
		t->on_wall_s += now_s() - begun;
		t->own_s += own_time(o->pid_file) - own;
	}
	uint64_t h = hash_output(out);
	t->same = !t->any || (t->same && h == t->hash);
	t->hash = t->any ? t->hash : h;
	t->any = true;
	close(out);
	close(null);
	return s;
}

static double percent(double logarithm)
{
	return 100 * expm1(logarithm);
}

static void print_shift(const double *v, unsigned n)
{
	struct shift s = shift_of(v, n);

	printf("added_pct %.4f low %.4f high %.4f", percent(s.estimate), percent(s.low),
	       percent(s.high));
}

static int parse(struct options *o, int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "n:c:p:")) != -1) {
		if (opt == 'n')
			o->pairs = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'c')
			o->cpu = (int)strtol(optarg, NULL, 10);
		else if (opt == 'p')
			o->pid_file = optarg;
		else
			return -1;
	}
	if (argc - optind != 3 || o->pairs < 1 || o->pairs > PAIRS_MAX)
		return -1;
	o->on = argv[optind];
	o->off = argv[optind + 1];
	o->command = argv[optind + 2];
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = { .pairs = 20, .cpu = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1 };
	static double ratio[PAIRS_MAX], off_ms[PAIRS_MAX];
	struct sums t = { 0 };

	if (parse(&o, argc, argv) < 0) {
		fprintf(stderr, "usage: overhead [-n PAIRS] [-c CPU] [-p PID-FILE] 'ON' 'OFF' "
			"'COMMAND'\n");
		return 2;
	}
	(void)half(&o, false, &t);
	(void)half(&o, true, &t);
	t.own_s = t.on_wall_s = 0;
	for (unsigned i = 0; i < o.pairs; i++) {
		double s[2];
		bool first = i % 2;

		s[first] = half(&o, first, &t);
		s[!first] = half(&o, !first, &t);
		ratio[i] = log(s[1] / s[0]);
		off_ms[i] = 1e3 * s[0];
	}
	(void)run(o.off, 1);
	qsort(off_ms, o.pairs, sizeof(*off_ms), shift_by_value);
	printf("off_ms %.1f ", shift_median_of_sorted(off_ms, o.pairs));
	print_shift(ratio, o.pairs);
	printf(" own_pct %.4f pairs %u same %s\n", 100 * t.own_s / t.on_wall_s, o.pairs,
	       t.same ? "yes" : "no");
	return t.same ? 0 : 1;
}
