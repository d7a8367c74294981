/* undo_links.c - names of a generation that no list has; see undo_links.h
 *
 * What is found is a guess: the number of an inode may be another file's by now.  Who undoes it
 * looks at what it is.
 *
 * Tested by tests/unit/manager/ctl/test_undo_links.c.
 */
#include "manager/ctl/undo_links.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/ctl/undo_file.h"
#include "manager/parent/install_set.h"
#include "manager/parent/ledger.h"

struct inodes {
	const struct undo_links_of *of;
	size_t n;
	ino_t *at;			/* malloc'd */
};

static void add_inode(struct inodes *i, ino_t inode)
{
	i->at = memory_grow(i->at, i->n + 1, sizeof(*i->at));
	i->at[i->n++] = inode;
}

static bool has_inode(const struct inodes *i, ino_t inode)
{
	for (size_t k = 0; k < i->n; k++)
		if (i->at[k] == inode)
			return true;
	return false;
}

static int add_entry(void *ctx, const char *name, time_t seen, const struct ledger_entry *e,
		     struct err *err)
{
	struct inodes *i = ctx;

	(void)name, (void)seen, (void)err;
	if (strcmp(e->path, i->of->known_as) == 0 &&
	    digest_equal(&e->original, i->of->original) && !has_inode(i, (ino_t)e->inode))
		add_inode(i, (ino_t)e->inode);
	return 0;
}

static void add_link(struct undo_links *l, const char *folder, size_t len,
		     const struct dirent *e)
{
	size_t size = len + strlen(e->d_name) + 1;
	char *path = memory_need(malloc(size));

	memcpy(path, folder, len);
	memcpy(path + len, e->d_name, size - len);
	l->at = memory_grow(l->at, l->n + 1, sizeof(*l->at));
	l->at[l->n++] = (struct undo_link){ path, e->d_ino };
}

/* Not a folder, which may have got the inode of a file that is no more; file systems that do
 * not say what it is have regular files, too. */
static bool may_be_file(const struct dirent *e)
{
	if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
		return false;
	return e->d_type == DT_REG || e->d_type == DT_UNKNOWN;
}

/* In the folder of `path`. */
static int look_into(const char *path, const struct inodes *i, struct undo_links *l,
		     struct err *err)
{
	size_t len = (size_t)(strrchr(path, '/') + 1 - path);
	char folder[PATH_MAX];

	(void)snprintf(folder, sizeof(folder), "%.*s", (int)len, path);	/* it was opened */
	DIR *d = opendir(folder);
	if (!d && errno == ENOENT)
		return 0;
	if (!d)
		return err_set(err, ERR_SYS, "'%s': %s", folder, strerror(errno));
	for (struct dirent *e; errno = 0, (e = readdir(d)); )
		if (has_inode(i, e->d_ino) && may_be_file(e) &&
		    !install_set_is_temporary(e->d_name))
			add_link(l, folder, len, e);
	int error = errno;
	(void)closedir(d);		/* only read */
	return error ? err_set(err, ERR_SYS, "'%s': %s", folder, strerror(error)) : 0;
}

static const char *path_of(const struct undo_links_of *of, unsigned i)
{
	return i ? names_at(of->names, i - 1) : of->path;
}

/* Its folder was looked into already. */
static bool is_looked_into(const struct undo_links_of *of, unsigned i)
{
	const char *path = path_of(of, i);
	size_t len = (size_t)(strrchr(path, '/') + 1 - path);

	for (unsigned k = 0; k < i; k++) {
		const char *other = path_of(of, k);

		if (strncmp(other, path, len) == 0 && !strchr(other + len, '/'))
			return true;
	}
	return false;
}

int undo_links_find(const struct undo_store *s, const struct undo_links_of *of,
		    struct undo_links *out, struct err *err)
{
	struct inodes i = { .of = of };
	struct undo_links l = { 0 };
	struct err ignored;
	int rc = 0;

	if (of->inode)
		add_inode(&i, of->inode);
	if (s->ledger_fd >= 0)
		/* what could be read */
		(void)ledger_each(s->ledger_fd, add_entry, &i, &ignored);
	for (unsigned k = 0; rc == 0 && i.n && k <= of->names->n; k++)
		if (!is_looked_into(of, k))
			rc = look_into(path_of(of, k), &i, &l, err);
	free(i.at);
	if (rc == 0)
		*out = l;
	else
		undo_links_free(&l);
	return rc;
}

void undo_links_free(struct undo_links *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->at[i].path);
	free(l->at);
	*l = (struct undo_links){ 0 };
}
