/* foreign.c - damages a generation by kind of claim, and runs what the Verifier accepts
 *
 *   foreign ORIGINAL GENERATION NUMBER SEED FOLDER
 *
 * Makes NUMBER damaged generations by the kinds of kinds.h, each as often as any other, and
 * asks the Verifier about each.  One that it accepts is written to FOLDER and run: it must
 * print what ORIGINAL prints and end as that ends.  Nothing is judged to be harmless by
 * reading it, and nothing is shared with mutate.c, whose damage and judgement know the
 * Verifier.
 *
 * The program must therefore run all of its code, throw through all of its frames and call
 * through all of its pointers by itself, without arguments: tests/verify/foreign.sh builds
 * such.
 *
 * Prints a line for each kind, tab-separated: its name, tried, refused, accepted and ran the
 * same, ran differently.  What ran differently is left in FOLDER.  Exit code 1 if there is any.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/io.h"
#include "tests/unit/renewed.h"
#include "tests/verify/kinds.h"
#include "verify/verify.h"

enum { OUTPUT_MOST = 1 << 16, RUN_CPU_S = 5, RUN_MS = 20000 };

struct run {
	int status;
	size_t n;
	char output[OUTPUT_MOST];
};

struct tally {
	unsigned tried, refused, same, different;
};

static struct run expected, seen;

static void child(const char *path, int out)
{
	struct rlimit cpu = { RUN_CPU_S, RUN_CPU_S }, core = { 0, 0 };
	char *argv[] = { (char *)(uintptr_t)"program", NULL }, *envp[] = { NULL };

	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &core);
	dup2(open("/dev/null", O_RDONLY), 0);
	dup2(out, 1);
	dup2(out, 2);
	execve(path, argv, envp);
	_exit(127);
}

/* Its output, both streams in one, and how it ended. */
static void run(const char *path, struct run *r)
{
	int pipes[2];
	ssize_t n = 1;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		exit(2);
	pid_t pid = fork();
	if (pid == 0)
		child(path, pipes[1]);
	close(pipes[1]);
	r->n = 0;
	while (n > 0) {
		struct pollfd f = { pipes[0], POLLIN, 0 };

		if (poll(&f, 1, RUN_MS) <= 0) {
			kill(pid, SIGKILL);
			break;
		}
		n = read(pipes[0], r->output + r->n, OUTPUT_MOST - r->n);
		r->n += n > 0 ? (size_t)n : 0;
	}
	close(pipes[0]);
	waitpid(pid, &r->status, 0);
}

static bool runs_the_same(const struct foreign *t, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0 || io_write_all(fd, t->gen, t->n, NULL) < 0) {
		perror(path);
		exit(2);
	}
	close(fd);
	run(path, &seen);
	return seen.status == expected.status && seen.n == expected.n &&
	       memcmp(seen.output, expected.output, seen.n) == 0;
}

static int verify(const struct foreign *t, struct bytes gen, struct arena *a, struct err *err)
{
	struct verify_stats stats;

	return (is_counting(t) ? verify_counting_generation : verify_generation)(
		t->original, gen, a, &stats, err);
}

/* Asks the Verifier, and the processor where that accepts. */
static void judge(struct foreign *t, const char *kind, const char *folder, struct tally *all)
{
	struct bytes gen = { t->gen, t->n };
	char path[4096];
	static unsigned number;

	if (t->n == t->pristine.n && memcmp(t->gen, t->pristine.p, t->n) == 0)
		return;
	struct arena *a = arena_new();
	gen = renewed_copy(t->original, t->pristine, gen, a);
	int rc = verify(t, gen, a, NULL);
	arena_free(a);
	all->tried++;
	if (rc < 0) {
		all->refused++;
		return;
	}
	(void)snprintf(path, sizeof(path), "%s/accepted%u", folder, ++number);
	if (runs_the_same(t, path)) {
		all->same++;
		unlink(path);
		return;
	}
	all->different++;
	fprintf(stderr, "%s: accepted, but runs differently: %s\n", kind, path);
}

static unsigned tell(const char *kind, const struct tally *all)
{
	if (all->tried)
		printf("%s\t%u\t%u\t%u\t%u\n", kind, all->tried, all->refused, all->same,
		       all->different);
	return all->different;
}

static unsigned try_all(struct foreign *t, unsigned number, const char *folder)
{
	enum {
		NFIELD = sizeof(fields) / sizeof(fields[0]),
		NTABLE = sizeof(tables) / sizeof(tables[0]),
		NOTHER = sizeof(others) / sizeof(others[0]),
		NKIND = NFIELD + 3 * NTABLE + NOTHER
	};
	static bool (*const by_table[])(
		struct foreign *, const char *) = { damage_order, damage_twice, damage_gone };
	static const char *const done[] = { "two change places", "one twice", "one zeroed" };
	unsigned each = number / NKIND + 1, different = 0;
	char name[128];

	for (unsigned kind = 0; kind < NKIND; kind++) {
		struct tally all = { 0 };
		unsigned k = kind - NFIELD, o = k - 3 * NTABLE;

		if (kind < NFIELD)
			(void)snprintf(name, sizeof(name), "%s: %s", fields[kind].table,
				       fields[kind].name);
		else if (k < 3 * NTABLE)
			(void)snprintf(name, sizeof(name), "%s: %s", tables[k / 3],
				       done[k % 3]);
		else
			(void)snprintf(name, sizeof(name), "%s", others[o].name);
		for (unsigned i = 0; i < each; i++) {
			foreign_reset(t);
			if (!(kind < NFIELD    ? damage_field(t, &fields[kind])
			      : k < 3 * NTABLE ? by_table[k % 3](t, tables[k / 3])
					       : others[o].damage(t)))
				break;
			judge(t, name, folder, &all);
		}
		different += tell(name, &all);
	}
	return different;
}

static struct bytes read_file(const char *path, struct arena *a)
{
	struct err err;
	struct bytes b;
	int fd = io_open_read(path, &err);

	if (fd < 0 || io_read_all(fd, 1 << 30, a, &b, &err) < 0) {
		fprintf(stderr, "foreign: %s\n", err.text);
		exit(2);
	}
	close(fd);
	return b;
}

int main(int argc, char **argv)
{
	struct foreign t = { 0 };
	struct err err = { 0 };
	char path[4096];

	if (argc != 6) {
		fprintf(stderr, "foreign ORIGINAL GENERATION NUMBER SEED FOLDER\n");
		return 2;
	}
	struct arena *a = arena_new();
	t.original = read_file(argv[1], a);
	t.pristine = read_file(argv[2], a);
	t.seed = 0x9e3779b97f4a7c15ull * (strtoull(argv[4], NULL, 10) + 1);
	if (verify(&t, t.pristine, a, &err) < 0 ||
	    !foreign_open(&t, &err)) {
		fprintf(stderr, "foreign: %s: %s\n", argv[2], err.text);
		return 2;
	}
	run(argv[1], &expected);
	foreign_reset(&t);
	(void)snprintf(path, sizeof(path), "%s/undamaged", argv[5]);
	if (expected.n == 0 || !runs_the_same(&t, path)) {
		fprintf(stderr,
			"foreign: %s: does not run as its original even when nothing is "
			"damaged\n",
			argv[2]);
		return 2;
	}
	unsigned different = try_all(&t, (unsigned)strtoul(argv[3], NULL, 10), argv[5]);
	foreign_close(&t);
	arena_free(a);
	return different > 0;
}
