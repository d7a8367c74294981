/* procwatch.c - looks at processes in /proc */
#include "manager/try/procwatch.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "lib/procstat.h"
#include "lib/wr.h"

/* A library may be mapped late; chosen. */
enum { MAPS_EVERY = 8, FILES_MAX = 1024, PROCESSES_MAX = 1024, DEPTH_MAX = 64 };

struct file {
	char *path;
	uint64_t ns;
};

struct process {
	pid_t pid;
	uint32_t exe;		/* place in file[]; UINT32_MAX: not known */
	uint64_t ns;
	unsigned looks;
};

struct procwatch {
	struct file *file;
	uint32_t nfile, nprocess;
	struct process *process;
};

struct procwatch *procwatch_new(void)
{
	return memory_new(1, sizeof(struct procwatch));
}

void procwatch_free(struct procwatch *w)
{
	for (uint32_t i = 0; w && i < w->nfile; i++)
		free(w->file[i].path);
	if (w) {
		free(w->file);
		free(w->process);
	}
	free(w);
}

/* UINT32_MAX: there is no room, or it is no file with a path. */
static uint32_t file_of(struct procwatch *w, const char *path)
{
	static const char gone[] = " (deleted)";
	size_t n = strlen(path);

	if (path[0] != '/' || strpbrk(path, "\n\\") ||
	    (n > sizeof(gone) && strcmp(path + n - sizeof(gone) + 1, gone) == 0))
		return UINT32_MAX;
	for (uint32_t i = 0; i < w->nfile; i++)
		if (strcmp(w->file[i].path, path) == 0)
			return i;
	if (w->nfile == FILES_MAX)
		return UINT32_MAX;
	w->file = memory_grow(w->file, w->nfile + 1, sizeof(*w->file));
	w->file[w->nfile] = (struct file){ memory_need(strdup(path)), 0 };
	return w->nfile++;
}

static struct process *process_of(struct procwatch *w, pid_t pid)
{
	for (uint32_t i = 0; i < w->nprocess; i++)
		if (w->process[i].pid == pid)
			return &w->process[i];
	if (w->nprocess == PROCESSES_MAX)
		w->nprocess = 0;	/* most of them are gone; the rest begin anew */
	w->process = memory_grow(w->process, w->nprocess + 1, sizeof(*w->process));
	w->process[w->nprocess] = (struct process){ .pid = pid, .exe = UINT32_MAX };
	return &w->process[w->nprocess++];
}

static FILE *open_of(pid_t pid, const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);	/* fits */
	return fopen(path, "re");
}

static uint64_t cpu_ns(pid_t pid)
{
	FILE *f = open_of(pid, "stat");
	struct procstat process;
	char line[1024];

	if (!f)
		return 0;
	line[fread(line, 1, sizeof(line) - 1, f)] = '\0';
	(void)fclose(f);
	if (!procstat_parse(line, &process))
		return 0;
	return process.cpu_ticks * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* The files that it executes of. */
static void look_at_maps(struct procwatch *w, pid_t pid)
{
	char line[PATH_MAX + 128], rights[5];
	FILE *f = open_of(pid, "maps");
	int at;

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		at = 0;
		if (sscanf(line, "%*s %4s %*s %*s %*s %n", rights, &at) == 1 && at &&
		    rights[2] == 'x')
			(void)file_of(w, line + at);	/* entered, if there is room */
	}
	if (f)
		(void)fclose(f);
}

static void look_at(struct procwatch *w, pid_t pid)
{
	struct process *p = process_of(w, pid);
	char link[64], exe[PATH_MAX];

	(void)snprintf(link, sizeof(link), "/proc/%d/exe", pid);	/* fits */
	ssize_t n = readlink(link, exe, sizeof(exe) - 1);
	if (n <= 0)
		return;
	exe[n] = '\0';
	uint32_t file = file_of(w, exe);
	uint64_t ns = cpu_ns(pid);
	if (file != p->exe || p->looks++ % MAPS_EVERY == 0)
		look_at_maps(w, pid);
	p = process_of(w, pid);
	p->exe = file;
	if (file != UINT32_MAX && ns > p->ns)
		w->file[file].ns += ns - p->ns;
	p->ns = ns;
}

static void look_below(struct procwatch *w, pid_t pid, int depth)
{
	char path[64];
	pid_t child;

	(void)snprintf(path, sizeof(path), "task/%d/children", pid);	/* fits */
	FILE *f = depth < DEPTH_MAX ? open_of(pid, path) : NULL;
	while (f && fscanf(f, "%d", &child) == 1) {
		look_at(w, child);
		look_below(w, child, depth + 1);
	}
	if (f)
		(void)fclose(f);
}

void procwatch_look(struct procwatch *w, pid_t root)
{
	look_below(w, root, 0);
}

int procwatch_write(const struct procwatch *w, const char *path, struct err *err)
{
	struct wr text = { 0 };
	char number[32];

	for (uint32_t i = 0; i < w->nfile; i++) {
		(void)snprintf(number, sizeof(number), "%" PRIu64 " ", w->file[i].ns);
		wr_text(&text, number);
		wr_text(&text, w->file[i].path);
		wr_u8(&text, '\n');
	}
	int rc = io_write_file(path, 0600, wr_bytes(&text), err);
	wr_free(&text);
	return rc;
}
