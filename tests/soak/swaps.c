/* swaps STOP PAUSE_MS MORPH-LIVE PID|FILE PLAN GENERATION FOLDER [OPTION...] - swaps, no end
 *
 * Has a process and its children swapped in and out, or all processes of the program FILE.
 * For tests/soak/live.sh: a shell would need longer for what is around a swap than the swap
 * takes.  It ends when the file STOP is there, behind a turn of swaps out.  Says in a line each
 * what came of it:
 *
 *	on US | off US		done; how long the process stood still
 *	later WAY PID TEXT	no moment for it came
 *	gone			the process has ended
 *	taken			new text does not fit there
 *	failed WAY PID TEXT	anything else
 *
 * Where there was nothing to do it says nothing: a child that was born of a swapped process has
 * the generation.  Servers have processes that wait in calls with long time limits, which are
 * put off: so patience is short.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FAMILY = 256, ARGUMENTS = 16, SAID = 512 };

struct swaps {
	char *live, *plan, *generation, *folder, **options;
	const char *stop, *program;	/* the second may be NULL */
	long pause_ms;
};

static ssize_t read_file(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);

	if (fd >= 0)
		close(fd);
	to[n < 0 ? 0 : n] = '\0';
	return n;
}

/* The process and its children; those of its main thread, as servers have them. */
static int family(pid_t pid, pid_t *of)
{
	char path[64], text[4096];
	int n = 0;

	of[n++] = pid;
	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	(void)read_file(path, text, sizeof(text));	/* it has ended: none */
	for (char *rest, *p = strtok_r(text, " \n", &rest); p && n < FAMILY;
	     p = strtok_r(NULL, " \n", &rest))
		of[n++] = (pid_t)atoi(p);
	return n;
}

/* The very file, whatever the process calls it. */
static bool runs(pid_t pid, const char *program)
{
	struct stat want, has;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat(program, &want) == 0 && stat(path, &has) == 0 &&
	       has.st_dev == want.st_dev && has.st_ino == want.st_ino;
}

/* All that run the program. */
static int all_of(const char *program, pid_t *of)
{
	DIR *d = opendir("/proc");
	int n = 0;

	if (!d)
		exit(2);
	for (struct dirent *e; n < FAMILY && (e = readdir(d));) {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (pid > 0 && runs(pid, program))
			of[n++] = pid;
	}
	closedir(d);
	return n;
}

/* Runs morph-live; its exit code, and what it says. */
static int run(char *const argv[], char *said, size_t size)
{
	int out[2], status;
	size_t n = 0;
	ssize_t got;

	if (pipe2(out, O_CLOEXEC) < 0)
		exit(1);
	pid_t pid = fork();
	if (pid == 0) {
		(void)dup2(out[1], 1);
		(void)dup2(out[1], 2);
		(void)execv(argv[0], argv);
		_exit(127);
	}
	close(out[1]);
	while ((got = read(out[0], said + n, size - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = '\0';
	close(out[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		exit(1);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A process that is ending has no program any more, and it may have begun another one. */
static bool is_gone(const struct swaps *s, pid_t pid, const char *said)
{
	static const char *const words[] = { "has ended", "there is no process",
					     "No such process" };
	char path[64], exe[256];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(said, words[i]))
			return true;
	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return readlink(path, exe, sizeof(exe)) < 0 || (s->program && !runs(pid, s->program));
}

static bool is_usual(const char *said)
{
	return strstr(said, "no moment") || strstr(said, "the place of new text");
}

static void swap_one(const struct swaps *s, pid_t pid, const char *way)
{
	char number[16], said[SAID], on[] = "on", off[] = "off",
	     patience[] = "--patience=250", *argv[ARGUMENTS + 8] = { s->live };
	bool in = strcmp(way, "on") == 0;
	unsigned long us;
	int n = 1;

	(void)snprintf(number, sizeof(number), "%d", (int)pid);
	argv[n++] = in ? on : off;
	argv[n++] = number;
	argv[n++] = in ? s->plan : s->folder;
	if (in)
		argv[n++] = s->generation;
	argv[n++] = patience;
	for (char **o = s->options; *o && in && n < ARGUMENTS; o++)
		argv[n++] = *o;
	int rc = run(argv, said, sizeof(said));
	/* it may have begun the same program anew */
	if (rc != 0 && !is_usual(said) && !is_gone(s, pid, said))
		rc = run(argv, said, sizeof(said));
	said[strcspn(said, "\n")] = '\0';
	if (rc == 0 && sscanf(said, "done, pause %lu us", &us) == 1)
		(void)printf("%s %lu\n", way, us);
	else if (rc != 0 && strstr(said, "no moment"))
		(void)printf("later %s %d %s\n", way, (int)pid, said);
	else if (rc != 0 && strstr(said, "the place of new text"))
		(void)puts("taken");
	else if (rc != 0 && is_gone(s, pid, said))
		(void)puts("gone");
	else if (rc != 0 || strcmp(said, "nothing to do") != 0)
		(void)printf("failed %s %d %s\n", way, (int)pid, said);
}

int main(int argc, char **argv)
{
	pid_t of[FAMILY];

	if (argc < 8) {
		(void)fputs("usage: swaps STOP PAUSE_MS MORPH-LIVE PID|FILE PLAN GENERATION "
			    "FOLDER [OPTION...]\n", stderr);
		return 2;
	}
	struct swaps s = { .stop = argv[1], .pause_ms = atol(argv[2]), .live = argv[3],
			   .plan = argv[5], .generation = argv[6], .folder = argv[7],
			   .options = argv + 8,
			   .program = argv[4][0] == '/' ? argv[4] : NULL };
	struct timespec pause = { s.pause_ms / 1000, s.pause_ms % 1000 * 1000000 };
	while (access(s.stop, F_OK) < 0)
		for (int i = 0; i < 2; i++) {
			int n = s.program ? all_of(s.program, of) :
					    family((pid_t)atoi(argv[4]), of);

			for (int k = 0; k < n; k++)
				swap_one(&s, of[k], i ? "off" : "on");
			(void)fflush(stdout);
			(void)nanosleep(&pause, NULL);	/* or less */
		}
	return 0;
}
