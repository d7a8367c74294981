/* splicefiles.c - the files of a process, samples of it, and where generations for it are kept
 *
 * Tested by tests/e2e/livectl.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "manager/parent/livefiles.h"
#include "manager/try/folder.h"
#include "manager/try/splicing.h"
#include "manager/try/tools.h"
#include "monitor/procmaps.h"

/* Chosen: the rate of sampling. */
enum { RATE_HZ = 997, MAPS_BYTES = 64 << 20 };

int splicing_open(struct splicing *s, struct err *err)
{
	if (livefiles_open(s->store, s->folder, sizeof(s->folder), err) < 0)
		return -1;
	livefiles_sweep(s->store);
	return 0;
}

int splicing_can_map(const struct splicing *s, struct err *err)
{
	struct statvfs fs;

	if (statvfs(s->folder, &fs) < 0 || !(fs.f_flag & ST_NOEXEC))
		return 0;
	return err_set(err, ERR_REFUSED, "'%s': no code can be mapped from there: the file "
		       "system is mounted noexec", s->folder);
}

bool splicing_program_gone(pid_t pid)
{
	static const char gone[] = " (deleted)";
	char path[64], exe[PATH_MAX];

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(path, exe, sizeof(exe) - 1), tail = sizeof(gone) - 1;
	exe[n < 0 ? 0 : n] = '\0';
	return n > tail && strcmp(exe + n - tail, gone) == 0;
}

int splicing_scratch(struct splicing *s, struct err *err)
{
	if (s->scratch)
		return 0;
	if (tempfolder_make(&s->temp, "morph-try", err) < 0)
		return -1;
	s->scratch = s->temp.path;
	return 0;
}

void splicing_close(struct splicing *s)
{
	struct err ignored;

	if (s->scratch)
		(void)tempfolder_remove(&s->temp, &ignored);	/* it is in $TMPDIR */
	s->scratch = NULL;
}

int splicing_sample(struct splicing *s, pid_t pid, unsigned seconds, struct err *err)
{
	char which[32], rate[32], number[16], store[PATH_MAX + 16];
	int rc = -1;

	splicing_close(s);
	if (splicing_scratch(s, err) < 0)
		return -1;
	char *log = folder_path(s->scratch, "log");
	(void)snprintf(which, sizeof(which), "--pid=%d", (int)pid);
	(void)snprintf(rate, sizeof(rate), "--rate=%d", RATE_HZ);
	(void)snprintf(number, sizeof(number), "%u", seconds);
	(void)snprintf(store, sizeof(store), "--store=%s", s->store);
	struct tool record = { .argv = { "/proc/self/exe", "record", "-o", log, rate, which,
					 "--", "sleep", number } };
	struct tool profile = { .argv = { "/proc/self/exe", "profile", log, "-o", s->scratch,
					  store } };
	if (tools_run(&record, 1, err) == 0) {
		*err = record.err;
		if (err->kind == ERR_NONE && tools_run(&profile, 1, err) == 0) {
			*err = profile.err;
			rc = err->kind == ERR_NONE ? 0 : -1;
		}
	}
	free(log);
	return rc;
}

static void add_file(void *ctx, const struct spool_event *ev)
{
	struct splicing_files *all = ctx;
	struct splicing_file *f = &all->file[all->n];

	if (ev->kind != SPOOL_MMAP || ev->mmap.path[0] != '/' || all->n == SPLICING_FILES)
		return;
	(void)snprintf(f->path, sizeof(f->path), "%s", ev->mmap.path);
	(void)snprintf(f->link, sizeof(f->link),
		       "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)all->pid,
		       ev->mmap.addr, ev->mmap.addr + ev->mmap.len);
	all->n++;
}

int splicing_files(pid_t pid, struct splicing_files *all, struct err *err)
{
	struct arena *a = arena_new();
	char path[64];
	struct bytes text;
	int rc = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	all->n = 0;
	all->pid = pid;
	if (fd < 0)
		err_set(err, ERR_SYS, "there is no process %d", (int)pid);
	else if ((rc = io_read_all(fd, MAPS_BYTES, a, &text, err)) == 0)
		(void)procmaps_parse(text, (uint32_t)pid, "", 0, add_file, all);
	if (fd >= 0)
		close(fd);
	arena_free(a);
	return rc;
}
