/* pairs.c - commands, run in turn or side by side, compared in CPU time and output
 *
 *	pairs [-n ROUNDS] [-c CPU] [-s] [-t FILE] [-b BEFORE] [-e EVERY] [-v] 'COMMAND A'
 *	'COMMAND B'...
 *
 * Each command is run by /bin/sh.  One round goes uncounted first.  Then rounds of all commands
 * run, each beginning with the next command, every second one backwards (A B, B A, A B and so
 * on), so that a slow drift of the machine meets all alike.  CPU time is user plus system of
 * everything the command waited for.  All are pinned to one CPU (-c, default the last one);
 * address space layout stays random, as in real life.
 *
 * With -s the commands of a round run side by side, and the kernel gives each SLICE_MS of the
 * CPU in turn: on a machine whose speed changes from second to second, as a guest's does with
 * what its neighbours do, all meet the same.  They must not write the same files.  Every slice
 * begins with the caches as the others left them; slices of 5, 20 and 100 ms give the same
 * ratios of the C compiler, short ones the surest.  Kernels before 6.12 make them as long as
 * they like.
 *
 * BEFORE, a command that is not counted, runs in front of the uncounted round and of every
 * EVERY-th (1) other: what it makes anew, as copies of the programs in other pages of memory,
 * differs from round to round and not from A to B.
 *
 * Standard output and exit code of every run are compared with those of the first run of A.
 * Prints one line for each command but A:
 *
 *	a_ms MEDIAN b_ms MEDIAN ratio A/B low LEAST high MOST pairs N same yes|no
 *
 * where low and high are the least and the greatest ratio of one round.  With -t, FILE gets a
 * line for each round: the milliseconds of all commands in their order.  Exit code 0 when all
 * output was the same, else 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/pin.h"

enum { ROUNDS_MAX = 1000, COMMANDS_MAX = 32, SLICE_MS = 5 };

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

/* A command that runs: its process, and the file that its standard output goes to. */
struct started {
	pid_t pid;
	int out;
};

static struct started start(const char *command, bool verbose)
{
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, strdup(command), NULL };
	struct started s = { .out = memfd_create("stdout", MFD_CLOEXEC) };
	posix_spawn_file_actions_t fa;

	if (s.out < 0 || !argv[2] || posix_spawn_file_actions_init(&fa))
		die("pairs");
	posix_spawn_file_actions_adddup2(&fa, s.out, 1);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	if (!verbose)
		posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
	errno = posix_spawn(&s.pid, "/bin/sh", &fa, NULL, argv, environ);
	if (errno)
		die("/bin/sh");
	free(argv[2]);
	posix_spawn_file_actions_destroy(&fa);
	return s;
}

static struct run finish(struct started s)
{
	struct run r = { 0 };
	struct rusage u;

	if (wait4(s.pid, &r.status, 0, &u) != s.pid)
		die("wait4");
	r.ms = ms_of(u.ru_utime) + ms_of(u.ru_stime);
	hash_file(s.out, &r);
	close(s.out);
	return r;
}

static struct run run_once(const char *command, bool verbose)
{
	return finish(start(command, verbose));
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

static bool same(const struct run *x, const struct run *y)
{
	return x->status == y->status && x->size == y->size && x->hash == y->hash;
}

/* Slices of the CPU for this process and what it starts, as long as its policy stays the
 * usual one. */
static void set_slice(unsigned ms)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof(attr),
		   .policy = SCHED_OTHER,
		   .runtime = ms * UINT64_C(1000000) };

	if (syscall(SYS_sched_setattr, 0, &attr, 0) < 0)
		die("sched_setattr");
}

struct options {
	unsigned rounds, n, every;
	int cpu;
	bool side_by_side, verbose;
	const char *times, *before;
	char **command;		/* [n] */
};

static int usage(void)
{
	fprintf(stderr,
		"usage: pairs [-n ROUNDS] [-c CPU] [-s] [-t FILE] [-b BEFORE] [-e EVERY] [-v] "
		"'COMMAND A' 'COMMAND B'...\n");
	return 2;
}

static int parse(struct options *o, int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "n:c:st:b:e:v")) != -1) {
		if (opt == 'n')
			o->rounds = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'c')
			o->cpu = (int)strtol(optarg, NULL, 10);
		else if (opt == 's')
			o->side_by_side = true;
		else if (opt == 't')
			o->times = optarg;
		else if (opt == 'b')
			o->before = optarg;
		else if (opt == 'e')
			o->every = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'v')
			o->verbose = true;
		else
			return -1;
	}
	o->n = (unsigned)(argc - optind);
	o->command = argv + optind;
	return o->n < 2 || o->n > COMMANDS_MAX || o->rounds < 1 || o->rounds > ROUNDS_MAX ||
	       o->every < 1 ? -1 : 0;
}

static double ms[COMMANDS_MAX][ROUNDS_MAX];

static void prepare(const struct options *o)
{
	if (!o->before || run_once(o->before, o->verbose).status == 0)
		return;
	fprintf(stderr, "pairs: '%s' failed\n", o->before);
	exit(2);
}

/* Fills r, by command: one after the other from the i-th on, backwards in every second
 * round, or at once. */
static void run_round(const struct options *o, unsigned i, bool verbose, struct run *r)
{
	struct started s[COMMANDS_MAX];
	unsigned which[COMMANDS_MAX];

	for (unsigned k = 0; k < o->n; k++) {
		which[k] = (i + (i % 2 ? o->n - k : k)) % o->n;
		s[k] = start(o->command[which[k]], verbose);
		if (!o->side_by_side)
			r[which[k]] = finish(s[k]);
	}
	for (unsigned k = 0; k < o->n && o->side_by_side; k++)
		r[which[k]] = finish(s[k]);
}

/* Fills ms; all_same[k]: every run of command k did what the first run of the first did. */
static void run_rounds(const struct options *o, bool *all_same)
{
	struct run first, r[COMMANDS_MAX];

	prepare(o);
	run_round(o, 0, o->verbose, r);
	first = r[0];
	for (unsigned k = 0; k < o->n; k++)
		all_same[k] = same(&first, &r[k]);
	for (unsigned i = 0; i < o->rounds; i++) {
		if (i % o->every == 0)
			prepare(o);
		run_round(o, i, false, r);
		for (unsigned k = 0; k < o->n; k++) {
			ms[k][i] = r[k].ms;
			all_same[k] = all_same[k] && same(&first, &r[k]);
		}
	}
}

static void write_times(const struct options *o)
{
	FILE *f = fopen(o->times, "w");

	if (!f)
		die(o->times);
	for (unsigned i = 0; i < o->rounds; i++)
		for (unsigned k = 0; k < o->n; k++)
			fprintf(f, "%.1f%c", ms[k][i], k + 1 < o->n ? ' ' : '\n');
	if (fclose(f))
		die(o->times);
}

int main(int argc, char **argv)
{
	struct options o = { .rounds = 9, .every = 1,
		.cpu = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1 };
	static double a_ms[ROUNDS_MAX], ratio[ROUNDS_MAX];
	bool all_same[COMMANDS_MAX], ok;

	if (parse(&o, argc, argv) < 0)
		return usage();
	pin(o.cpu);
	if (o.side_by_side)
		set_slice(SLICE_MS);
	run_rounds(&o, all_same);
	if (o.times)
		write_times(&o);
	ok = all_same[0];
	for (unsigned k = 1; k < o.n; k++) {
		for (unsigned i = 0; i < o.rounds; i++)
			ratio[i] = ms[0][i] / ms[k][i];
		memcpy(a_ms, ms[0], sizeof(a_ms));
		double a = median(a_ms, o.rounds), b = median(ms[k], o.rounds);
		(void)median(ratio, o.rounds);	/* sorts */
		printf("a_ms %.1f b_ms %.1f ratio %.3f low %.3f high %.3f pairs %u same %s\n",
		       a, b, a / b, ratio[0], ratio[o.rounds - 1], o.rounds,
		       all_same[0] && all_same[k] ? "yes" : "no");
		ok = ok && all_same[k];
	}
	return ok ? 0 : 1;
}
