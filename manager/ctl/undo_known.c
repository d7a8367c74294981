/* undo_known.c - what root's ledger knows of a path (manager/parent/ledger.h)
 *
 * The ledger is root's alone, so what it says is believed.  A damaged entry says nothing: undo
 * goes on by what the file itself says.
 *
 * Tested by tests/e2e/undo.sh.
 */
#include "manager/ctl/undo_known.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/err.h"
#include "manager/parent/ledger.h"

int undo_known_open(const char *store, int *ledger_fd, struct err *err)
{
	char path[PATH_MAX];
	struct stat st;

	*ledger_fd = -1;
	if (snprintf(path, sizeof(path), "%s/ledger", store) >= (int)sizeof(path))
		return err_set(err, ERR_USAGE, "'%s': path too long", store);
	if (lstat(path, &st) < 0 && errno == ENOENT)
		return 0;
	*ledger_fd = ledger_open(store, err);
	return *ledger_fd < 0 ? -1 : 0;
}

int undo_known_find(int ledger_fd, const char *path, const struct digest *present,
		    struct digest *original, uint32_t *owner, struct err *err)
{
	struct ledger_entry e;
	struct err why;

	if (ledger_fd < 0)
		return 0;
	int rc = ledger_find(ledger_fd, path, present, &e, &why);
	if (rc < 0 && why.kind != ERR_INPUT)
		return err_set(err, why.kind, "%s", why.text);
	if (rc <= 0)
		return 0;
	*original = e.original;
	*owner = e.owner;
	/* from here on its original is kept for the usual time; nothing depends on it */
	(void)ledger_seen(ledger_fd, path, present, &why);
	return 1;
}

struct question {
	const char *path;
	const struct digest *original;
	bool path_known, of_original;
	struct names *also;		/* NULL: not asked for */
};

static int ask(void *ctx, const char *name, time_t seen, const struct ledger_entry *e,
	       struct err *err)
{
	struct question *q = ctx;
	bool path = strcmp(e->path, q->path) == 0;
	bool original = q->original && digest_equal(&e->original, q->original);

	(void)name;
	(void)seen;
	(void)err;
	q->path_known |= path;
	q->of_original |= path && original;
	for (unsigned i = 0; q->also && path && original && i < e->also.n; i++)
		(void)names_add(q->also, names_at(&e->also, i));	/* as many as fit */
	return 0;
}

static void ask_all(int ledger_fd, struct question *q)
{
	struct err ignored;

	if (ledger_fd >= 0)
		(void)ledger_each(ledger_fd, ask, q, &ignored);	/* what could be read */
}

bool undo_known_path(int ledger_fd, const char *path)
{
	struct question q = { .path = path };

	ask_all(ledger_fd, &q);
	return q.path_known;
}

bool undo_known_original(int ledger_fd, const char *path, const struct digest *original)
{
	struct question q = { .path = path, .original = original };

	ask_all(ledger_fd, &q);
	return q.of_original;
}

void undo_known_also(int ledger_fd, const char *path, const struct digest *original,
		     struct names *out)
{
	struct question q = { .path = path, .original = original, .also = out };

	out->n = out->bytes = 0;
	ask_all(ledger_fd, &q);
}

struct last {
	const char *path;
	struct ledger_entry *out;
	time_t seen;
	int found;
};

static int see(void *ctx, const char *name, time_t seen, const struct ledger_entry *e,
	       struct err *err)
{
	struct last *l = ctx;
	bool first = l->seen < 0;

	(void)name;
	(void)err;
	if (strcmp(e->path, l->path) != 0 || (!first && seen < l->seen))
		return 0;
	l->found = first || seen > l->seen ||
		   (l->found && digest_equal(&e->original, &l->out->original));
	l->seen = seen;
	*l->out = *e;
	return 0;
}

int undo_known_last(int ledger_fd, const char *path, struct ledger_entry *out)
{
	struct last l = { .path = path, .out = out, .seen = -1 };
	struct err ignored;

	if (ledger_fd >= 0)
		(void)ledger_each(ledger_fd, see, &l, &ignored);	/* what could be read */
	return l.found;
}

/* --- all paths --- */

struct paths {
	char **at;
	size_t n, cap;
};

static int add(void *ctx, const char *name, time_t seen, const struct ledger_entry *e,
	       struct err *err)
{
	struct paths *p = ctx;

	(void)name;
	(void)seen;
	if (p->n == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 64;
		char **at = realloc(p->at, cap * sizeof(*at));

		if (!at)
			return err_set(err, ERR_SYS, "out of memory");
		p->at = at;
		p->cap = cap;
	}
	p->at[p->n] = strdup(e->path);
	if (!p->at[p->n])
		return err_set(err, ERR_SYS, "out of memory");
	p->n++;
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int undo_known_each(int ledger_fd, void (*f)(void *ctx, const char *path), void *ctx,
		    struct err *err)
{
	struct paths p = { 0 };

	if (ledger_fd < 0)
		return 0;
	int rc = ledger_each(ledger_fd, add, &p, err);
	if (p.n)
		qsort(p.at, p.n, sizeof(*p.at), by_text);
	for (size_t i = 0; i < p.n; i++) {
		if (i == 0 || strcmp(p.at[i], p.at[i - 1]) != 0)
			f(ctx, p.at[i]);
		if (i)
			free(p.at[i - 1]);
	}
	if (p.n)
		free(p.at[p.n - 1]);
	free(p.at);
	return rc;
}
