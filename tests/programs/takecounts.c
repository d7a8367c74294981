/* takecounts.c - runs a command, and puts what it counted privately into files of counts
 *
 *	takecounts COUNTS... -- COMMAND [ARGUMENT...]
 *
 * Does what root may do: while the command runs, its counters are opened by
 * /proc/PID/map_files (CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE), and they are read when it has
 * ended.  It is stopped on its way out, so that there is time for that.  The counters of a file
 * of counts are the shared memory without a name that has their size.  Exits as the command
 * did.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/countsfile.h"
#include "lib/err.h"

struct counts {
	const char *path;
	struct countsfile file;
	int memory;			/* -1: not found */
};

static struct bytes read_whole(const char *path, struct arena *a)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		err(125, "%s", path);
	uint8_t *p = arena_alloc(a, (size_t)st.st_size);
	if (read(fd, p, (size_t)st.st_size) != st.st_size)
		err(125, "%s", path);
	(void)close(fd);
	return (struct bytes){ p, (size_t)st.st_size };
}

static void open_memory(pid_t pid, struct counts *c, int n)
{
	char path[64], line[512];

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "re");
	if (!maps)
		err(125, "%s", path);
	while (fgets(line, sizeof(line), maps)) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx", &from, &to) != 2 || !strstr(line, " rw-s ") ||
		    !strstr(line, "/dev/zero (deleted)"))
			continue;
		for (int i = 0; i < n; i++) {
			if (to - from != c[i].file.size || c[i].memory >= 0)
				continue;
			(void)snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", pid,
				       from, to);
			c[i].memory = open(path, O_RDONLY | O_CLOEXEC);
			if (c[i].memory < 0)
				err(125, "%s", path);
			break;
		}
	}
	(void)fclose(maps);
}

static void take(struct counts *c)
{
	static uint8_t buffer[1 << 16];
	int out = open(c->path, O_WRONLY | O_CLOEXEC);

	if (c->memory < 0)
		errx(125, "%s: nothing counted in it", c->path);
	if (out < 0)
		err(125, "%s", c->path);
	for (uint64_t at = 0; at < c->file.size; ) {
		ssize_t n = pread(c->memory, buffer, sizeof(buffer), (off_t)at);

		if (n <= 0 ||
		    pwrite(out, buffer, (size_t)n, (off_t)(c->file.offset + at)) != n)
			err(125, "%s: counters", c->path);
		at += (uint64_t)n;
	}
	(void)close(out);
}

int main(int argc, char **argv)
{
	enum { MAX = 16 };
	struct counts c[MAX];
	struct arena *a = arena_new();
	int n = 0, i = 1, status;

	for (; i < argc && strcmp(argv[i], "--") != 0 && n < MAX; i++) {
		struct err e;

		c[n] = (struct counts){ .path = argv[i], .memory = -1 };
		if (countsfile_read(read_whole(argv[i], a), a, &c[n].file, &e) < 0)
			errx(125, "%s: not a file of counts", argv[i]);
		n++;
	}
	if (n == 0 || i + 1 >= argc)
		errx(125, "usage: takecounts COUNTS... -- COMMAND [ARGUMENT...]");
	pid_t pid = fork();
	if (pid == 0) {
		(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		(void)execvp(argv[i + 1], argv + i + 1);
		err(127, "%s", argv[i + 1]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT) < 0)
		err(125, "%s", argv[i + 1]);
	for (int signal = 0; ; ) {
		if (ptrace(PTRACE_CONT, pid, NULL, signal) < 0 && errno != ESRCH)
			err(125, "ptrace");
		if (waitpid(pid, &status, 0) < 0)
			err(125, "waitpid");
		if (!WIFSTOPPED(status))
			break;
		bool leaves = status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8);
		if (leaves)
			open_memory(pid, c, n);
		signal = leaves ? 0 : WSTOPSIG(status);
	}
	for (int k = 0; k < n; k++)
		take(&c[k]);
	arena_free(a);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
