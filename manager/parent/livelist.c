/* livelist.c - which processes have generations mapped, and which entries these are; see
 * livelist.h
 *
 * Tested by tests/unit/manager/parent/test_livework.c.
 */
#include "manager/parent/livelist.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/procstat.h"

enum { ROWS = 4096 };
enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

int livelist_open(struct livelist *l, const struct livebook *book, struct err *err)
{
	l->book = book;
	l->row = calloc(ROWS + LIVEBOOK_ENTRIES, sizeof(*l->row));
	return l->row ? 0 : err_set(err, ERR_SYS, "out of memory");
}

void livelist_close(struct livelist *l)
{
	free(l->entry);
	free(l->row);
	l->entry = NULL;
	l->row = NULL;
}

/* "PID ADDRESS FOLDER/GENERATION", perhaps with more behind it. */
static bool read_row(const struct livelist *l, const char *line, struct livelist_row *out)
{
	size_t n = strlen(l->book->folder);
	struct procstat process;
	char hex[65], *end;
	long pid = strtol(line, &end, 10);

	if (pid <= 0 || pid > INT32_MAX || *end != ' ' || !(end = strchr(end + 1, ' ')) ||
	    strncmp(end + 1, l->book->folder, n) != 0 || end[1 + n] != '/')
		return false;
	(void)snprintf(hex, sizeof(hex), "%s", end + 2 + n);
	struct digest generation;
	if (digest_from_hex(hex, &generation) < 0 || !procstat_read((pid_t)pid, &process))
		return false;
	*out = (struct livelist_row){ .pid = (pid_t)pid, .start = process.start,
				      .owner = process.owner, .generation = generation };
	return true;
}

static const struct livebook_entry *entry_of(const struct livelist *l,
					     const struct livelist_row *r, bool exactly)
{
	for (uint32_t i = 0; i < l->nentry; i++) {
		const struct livebook_entry *e = &l->entry[i];

		if (digest_equal(&e->generation, &r->generation) &&
		    (!exactly || (e->pid == r->pid && e->start == r->start)))
			return e;
	}
	return NULL;
}

static void find_entry(const struct livelist *l, struct livelist_row *r)
{
	r->entry = entry_of(l, r, true);
	r->own = r->entry != NULL;
	if (!r->own)
		r->entry = entry_of(l, r, false);
}

/* Another one that has the generation, and an entry; NULL. */
static const struct livelist_row *own_like(const struct livelist *l,
					   const struct livelist_row *of)
{
	for (uint32_t i = 0; i < l->nrow; i++)
		if (l->row[i].own && &l->row[i] != of &&
		    digest_equal(&l->row[i].generation, &of->generation))
			return &l->row[i];
	return NULL;
}

/* Forks of which none has an entry: one gets it, so that it stays known what they have.  Not
 * all, for anybody can have many. */
static void enter_fork(struct livelist *l, struct livelist_row *r)
{
	struct err err;

	if (!r->entry || r->own || own_like(l, r))
		return;
	struct livebook_entry e = *r->entry;
	e.pid = r->pid;
	e.start = r->start;
	e.owner = r->owner;
	if (livebook_put(l->book, &e, &err) < 0)
		l->tell(err.text);
	else
		r->own = true;
}

static bool has(void *ctx, const struct digest *generation)
{
	const struct livelist *l = ctx;

	for (uint32_t i = 0; i < l->nrow; i++)
		if (digest_equal(&l->row[i].generation, generation))
			return true;
	return l->more;
}

static bool has_row(const struct livelist *l, const struct livebook_entry *e)
{
	for (uint32_t i = 0; i < l->nrow; i++)
		if (l->row[i].pid == e->pid && l->row[i].start == e->start &&
		    digest_equal(&l->row[i].generation, &e->generation))
			return true;
	return false;
}

/* Which the list has not: where it has no end, because somebody sees to that, a process of an
 * entry has its generation still. */
static bool is_gone(struct livelist *l, const struct livebook_entry *e)
{
	struct procstat process;

	if (!l->more || !procstat_read(e->pid, &process) || process.start != e->start)
		return true;
	l->row[l->nrow++] = (struct livelist_row){
		.pid = e->pid, .start = e->start, .owner = process.owner,
		.generation = e->generation, .entry = e, .own = true,
	};
	return false;
}

static void read_rows(struct livelist *l, char *said, bool cut)
{
	char *rest = NULL;

	l->nrow = 0;
	l->more = cut;
	for (char *line = strtok_r(said, "\n", &rest); line && l->nrow < ROWS;
	     line = strtok_r(NULL, "\n", &rest))
		l->nrow += read_row(l, line, &l->row[l->nrow]);
	l->more |= l->nrow == ROWS;
}

/* What is mapped decides. */
int livelist_take(struct livelist *l, char *said, bool cut, struct err *err)
{
	read_rows(l, said, cut);
	free(l->entry);
	l->entry = NULL;
	l->nentry = 0;
	if (livebook_all(l->book, &l->entry, &l->nentry, err) < 0)
		return -1;
	for (uint32_t i = 0; i < l->nrow; i++)
		find_entry(l, &l->row[i]);
	uint32_t listed = l->nrow;
	for (uint32_t i = 0; i < l->nentry; i++)
		if (!has_row(l, &l->entry[i]) && is_gone(l, &l->entry[i]))
			(void)livebook_remove(l->book, &l->entry[i], NULL);	/* the next */
	for (uint32_t i = 0; i < listed; i++)
		enter_fork(l, &l->row[i]);
	livebook_sweep(l->book, has, l);
	return 0;
}

static int write_row(int fd, const struct livelist_row *r, struct err *err)
{
	char generation[65], original[65], line[PATH_MAX + 256];

	digest_hex(&r->generation, generation);
	int n = snprintf(line, sizeof(line), "%d %" PRIu64 " %" PRIu32 " %s", (int)r->pid,
			 r->start, r->owner, generation);
	if (r->entry) {
		digest_hex(&r->entry->original, original);
		n += snprintf(line + n, sizeof(line) - (size_t)n, " %s %s", original,
			      r->entry->path);
	}
	line[n] = '\n';				/* all of it fits */
	return io_write_all(fd, line, (size_t)n + 1, err);
}

int livelist_write(const struct livelist *l, struct err *err)
{
	int fd = memfd_create("morph-live", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return err_set(err, ERR_SYS, "memfd_create: %s", strerror(errno));
	for (uint32_t i = 0; i < l->nrow; i++)
		if (write_row(fd, &l->row[i], err) < 0) {
			close(fd);
			return -1;
		}
	if (lseek(fd, 0, SEEK_SET) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
		return fd;
	err_set(err, ERR_SYS, "seal: %s", strerror(errno));
	close(fd);
	return -1;
}

bool livelist_is_only(const struct livelist *l, const struct livelist_row *of)
{
	for (uint32_t i = 0; i < l->nrow; i++)
		if (&l->row[i] != of && digest_equal(&l->row[i].generation, &of->generation))
			return false;
	return !l->more;
}
