/* madecode.c - which processes of a log ran code that they had made; see madecode.h
 *
 * Tested by tests/e2e/madecode.sh.
 */
#include "manager/report/madecode.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/regular.h"
#include "manager/report/evidence.h"
#include "monitor/spool.h"

/* A clock of files is coarse, and a runtime may write its last lines as it ends. */
#define SLACK_NS UINT64_C(2000000000)

static struct madecode_maker *find(struct madecode *m, uint32_t pid)
{
	for (uint32_t i = m->maker.n; i-- > 0; )
		if (m->maker.v[i].pid == pid)
			return &m->maker.v[i];
	return NULL;
}

/* /ANYWHERE/jit-PID.dump */
static bool is_dump(const char *path, uint32_t pid)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "jit-%" PRIu32 ".dump", pid);
	return path[0] == '/' && strcmp(evidence_base(path), name) == 0;
}

void madecode_event(struct madecode *m, const struct spool_event *ev)
{
	struct madecode_maker *maker;

	if (ev->kind == SPOOL_EXEC || (ev->kind == SPOOL_EXIT && ev->pid == ev->tid)) {
		maker = find(m, ev->pid);
		if (maker)
			maker->over = true;
	} else if (ev->kind == SPOOL_MMAP && is_dump(ev->mmap.path, ev->pid)) {
		uint32_t i = madecode_maker(m, ev->pid);

		if (i != UINT32_MAX)
			m->maker.v[i].dump = arena_printf(m->arena, "%s", ev->mmap.path);
	}
}

uint32_t madecode_maker(struct madecode *m, uint32_t pid)
{
	struct madecode_maker *maker = find(m, pid);

	if (maker && !maker->over)
		return (uint32_t)(maker - m->maker.v);
	if (m->maker.n == MADECODE_MAKERS)
		return UINT32_MAX;
	vec_push(m->arena, &m->maker, ((struct madecode_maker){ .pid = pid }));
	return m->maker.n - 1;
}

/* Why it is not to be believed; NULL: it is. */
static const char *against(const struct stat *st, const struct madecode_log *log)
{
	uint64_t written_ns = (uint64_t)st->st_mtim.tv_sec * 1000000000 +
			      (uint64_t)st->st_mtim.tv_nsec;

	if (st->st_uid != geteuid() && st->st_uid != log->owner)
		return "another user's";
	if (!log->this_boot || written_ns + SLACK_NS < log->begin_ns ||
	    written_ns > log->end_ns + SLACK_NS)
		return "not written while the recording was: another process's, perhaps";
	return NULL;
}

static int open_one(const char *path, const struct madecode_log *log, struct err *err)
{
	struct stat st;
	int fd = regular_open(AT_FDCWD, path, 0, &st);

	if (fd == REGULAR_NOT)
		return err_set(err, ERR_REFUSED, "'%s': not a regular file", path);
	if (fd < 0 && errno != ENOENT)
		return err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	const char *why = fd < 0 ? NULL : against(&st, log);
	if (!why)
		return fd;
	close(fd);
	return err_set(err, ERR_REFUSED, "'%s': %s", path, why);
}

int madecode_open(const struct madecode *m, uint32_t maker, const struct madecode_log *log,
		  struct err *err)
{
	const struct madecode_maker *one = &m->maker.v[maker];
	char map[64];

	*err = (struct err){ 0 };
	for (uint32_t i = maker + 1; i < m->maker.n; i++)
		if (m->maker.v[i].pid == one->pid)
			return -1;		/* a later one has written over it */
	if (one->dump)
		return open_one(one->dump, log, err);
	(void)snprintf(map, sizeof(map), "/tmp/perf-%" PRIu32 ".map", one->pid);
	return open_one(map, log, err);
}
