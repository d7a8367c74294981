/* look.c - adds up the samples of a log by file */
#include "manager/try/look.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/samples/space.h"
#include "monitor/spool.h"

static int most_first(const void *a, const void *b)
{
	const struct look_file *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return strcmp(x->path, y->path);
}

/* The device may be another one: that of an overlay. */
static bool is_there(const struct space_file *f)
{
	struct stat st;

	return f->path[0] == '/' && stat(f->path, &st) == 0 && S_ISREG(st.st_mode) &&
	       st.st_ino == f->inode;
}

static void take_files(struct spaces *spaces, const uint64_t *samples, uint32_t n,
		       struct look *out)
{
	out->file = memory_new(n, sizeof(*out->file));
	for (uint32_t i = 0; i < n; i++) {
		const struct space_file *f = spaces_file(spaces, i);

		if (!samples[i] || !is_there(f))
			continue;
		out->file[out->nfile++] = (struct look_file){
			.path = memory_need(strdup(f->path)), .samples = samples[i],
		};
	}
	if (out->nfile)
		qsort(out->file, out->nfile, sizeof(*out->file), most_first);
}

static void add_up(struct spool_reader *r, struct look *out)
{
	struct spaces *spaces = spaces_new(NULL);
	uint64_t *samples = NULL;
	uint32_t n = 0, file;
	struct spool_event ev;
	file_off off;

	while (spool_read(r, &ev) == 1) {
		if (ev.kind != SPOOL_SAMPLE) {
			spaces_event(spaces, &ev);
			continue;
		}
		out->samples++;
		if (ev.sample.kernel) {
			out->kernel++;
			continue;
		}
		if (spaces_find(spaces, ev.pid, ev.sample.pc, &file, &off) != SPACE_FILE)
			continue;
		if (file >= n) {
			samples = memory_grow(samples, file + 1, sizeof(*samples));
			memset(samples + n, 0, (file + 1 - n) * sizeof(*samples));
			n = file + 1;
		}
		samples[file]++;
	}
	take_files(spaces, samples, n, out);
	free(samples);
	spaces_free(spaces);
}

int look_read(const char *log, struct look *out, struct err *err)
{
	int fd = open(log, O_RDONLY | O_CLOEXEC);

	*out = (struct look){ 0 };
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': %s", log, strerror(errno));
	struct spool_reader *r = spool_reader_open(fd, err);
	if (r)
		add_up(r, out);
	spool_reader_free(r);
	close(fd);
	return r ? 0 : -1;
}

int look_read_watched(const char *path, struct look *out, struct err *err)
{
	FILE *f = fopen(path, "re");
	char line[PATH_MAX + 64];
	uint64_t ns;
	int at;

	*out = (struct look){ 0 };
	if (!f)
		return err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		at = 0;
		if (sscanf(line, "%" SCNu64 " %n", &ns, &at) != 1 || !at)
			continue;
		out->file = memory_grow(out->file, out->nfile + 1, sizeof(*out->file));
		out->file[out->nfile++] = (struct look_file){
			.path = memory_need(strdup(line + at)), .samples = ns / 1000000,
		};
		out->samples += ns / 1000000;
	}
	(void)fclose(f);
	if (out->nfile)
		qsort(out->file, out->nfile, sizeof(*out->file), most_first);
	return 0;
}

void look_free(struct look *l)
{
	for (size_t i = 0; i < l->nfile; i++)
		free(l->file[i].path);
	free(l->file);
	*l = (struct look){ 0 };
}
