/* ledger.c - entries of the ledger: written, found, listed; see ledger.h
 *
 * Tested by tests/unit/manager/parent/test_ledger.c.
 */
#include "manager/parent/ledger.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/folders.h"
#include "manager/parent/private.h"
#include "manager/parent/sumtext.h"

static const char name_new[] = "entry.new";

int ledger_open(const char *store_dir, struct err *err)
{
	return private_open(store_dir, "ledger", err);
}

static void name_of(const char *path, const struct digest *generation,
		    char out[LEDGER_NAME_LEN + 1])
{
	uint8_t key[PATH_MAX + 32];
	size_t n = strnlen(path, PATH_MAX - 1);

	memcpy(key, path, n);
	key[n++] = 0;
	memcpy(key + n, generation->b, 32);
	struct digest d = digest_of((struct bytes){ key, n + 32 });
	digest_hex(&d, out);
}

static void format(const struct ledger_entry *e, struct sumtext *out)
{
	char original[65], generation[65];

	digest_hex(&e->original, original);
	digest_hex(&e->generation, generation);
	out->n = 0;
	sumtext_add(out, "morph-ledger %d\noriginal %s\ngeneration %s\n", e->also.n ? 2 : 1,
		    original, generation);
	sumtext_add(out, "bytes %" PRIu64 " %" PRIu64 "\nowner %" PRIu32 "\n",
		   e->original_bytes, e->generation_bytes, e->owner);
	sumtext_add(out, "file %" PRIu64 " %" PRIu64 "\ndirectory %" PRIu64 " %" PRIu64 "\n",
		   e->dev, e->inode, e->dir_dev, e->dir_inode);
	sumtext_add(out, "path %s\n", e->path);
	for (unsigned i = 0; i < e->also.n; i++)
		sumtext_add(out, "also %s\n", names_at(&e->also, i));
	sumtext_close(out);
}

int ledger_put(int ledger_fd, const struct ledger_entry *e, struct err *err)
{
	char name[LEDGER_NAME_LEN + 1];
	struct sumtext s;

	if (strchr(e->path, '\n') || memchr(e->also.text, '\n', e->also.bytes))
		return err_set(err, ERR_REFUSED, "its path has a line break");
	format(e, &s);
	name_of(e->path, &e->generation, name);
	if (sumtext_write(ledger_fd, name, name_new, &s, err) < 0)
		return err_wrap(err, "ledger");
	return 0;
}

static bool two(const char *value, uint64_t *x, uint64_t *y)
{
	return value && sscanf(value, "%" SCNu64 " %" SCNu64, x, y) == 2;
}

/* The lines of further names: at least one. */
static int parse_also(char **at, struct names *out)
{
	for (const char *value; (value = sumtext_line(at, "also ")); )
		if (folders_spelled(value, NULL) < 0 || names_add(out, value) < 0)
			return -1;
	return out->n ? 0 : -1;
}

/* The lines, but for the last one; what sscanf() is lenient about is found by writing it
 * again. */
static int parse(char *at, struct ledger_entry *out)
{
	struct ledger_entry e = { 0 };
	const char *value;
	bool several = sumtext_line(&at, "morph-ledger 2") != NULL;

	if ((!several && !sumtext_line(&at, "morph-ledger 1")) ||
	    !(value = sumtext_line(&at, "original ")) ||
	    digest_from_hex(value, &e.original) < 0 ||
	    !(value = sumtext_line(&at, "generation ")) ||
	    digest_from_hex(value, &e.generation) < 0 ||
	    !two(sumtext_line(&at, "bytes "), &e.original_bytes, &e.generation_bytes) ||
	    !(value = sumtext_line(&at, "owner ")) ||
	    sscanf(value, "%" SCNu32, &e.owner) != 1 ||
	    !two(sumtext_line(&at, "file "), &e.dev, &e.inode) ||
	    !two(sumtext_line(&at, "directory "), &e.dir_dev, &e.dir_inode) ||
	    !(value = sumtext_line(&at, "path ")) || strlen(value) >= sizeof(e.path) ||
	    folders_spelled(value, NULL) < 0)
		return -1;
	memcpy(e.path, value, strlen(value) + 1);
	if (several && parse_also(&at, &e.also) < 0)
		return -1;
	*out = e;
	return 0;
}

/* 1, 0 or -1 as ledger_find(). */
static int read_entry(int ledger_fd, const char *name, struct ledger_entry *out,
		      struct err *err)
{
	char right[LEDGER_NAME_LEN + 1];
	struct sumtext s, copy, again;
	struct ledger_entry e;
	int rc = sumtext_read(ledger_fd, name, &s, err);

	if (rc <= 0)
		return rc;
	copy = s;
	if (parse(copy.text, &e) < 0)
		return err_set(err, ERR_INPUT, "'%s': damaged", name);
	format(&e, &again);
	name_of(e.path, &e.generation, right);
	if (!sumtext_same(&s, &again) || strcmp(name, right) != 0)
		return err_set(err, ERR_INPUT, "'%s': damaged", name);
	*out = e;
	return 1;
}

int ledger_find(int ledger_fd, const char *path, const struct digest *generation,
		struct ledger_entry *out, struct err *err)
{
	char name[LEDGER_NAME_LEN + 1];
	struct ledger_entry e;

	if (strlen(path) >= sizeof(e.path))
		return err_set(err, ERR_REFUSED, "'%s': path too long", path);
	name_of(path, generation, name);
	int rc = read_entry(ledger_fd, name, &e, err);
	if (rc < 0)
		return err_wrap(err, "ledger");
	if (rc > 0)
		*out = e;
	return rc;
}

/* --- all of them --- */

static int is_entry(const struct dirent *d)
{
	return strlen(d->d_name) == LEDGER_NAME_LEN;
}

/* 1 told; 0: it cannot be read; -1: f said so. */
static int tell(int ledger_fd, const char *name,
		int (*f)(void *ctx, const char *name, time_t seen, const struct ledger_entry *e,
			 struct err *err),
		void *ctx, struct err *err)
{
	struct ledger_entry e;
	struct stat st;

	if (fstatat(ledger_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		err_set(err, ERR_SYS, "ledger: '%s': %s", name, strerror(errno));
		return 0;
	}
	if (read_entry(ledger_fd, name, &e, err) <= 0) {
		err_wrap(err, "ledger");
		return 0;
	}
	return f(ctx, name, st.st_mtim.tv_sec, &e, err) < 0 ? -1 : 1;
}

int ledger_each(int ledger_fd,
		int (*f)(void *ctx, const char *name, time_t seen, const struct ledger_entry *e,
			 struct err *err),
		void *ctx, struct err *err)
{
	struct dirent **list;
	int n = scandirat(ledger_fd, ".", &list, is_entry, alphasort), rc = 1;
	bool unread = false;

	if (n < 0)
		return err_set(err, ERR_SYS, "ledger: %s", strerror(errno));
	for (int i = 0; i < n; i++) {
		if (rc >= 0)
			rc = tell(ledger_fd, list[i]->d_name, f, ctx, err);
		unread |= rc == 0;
		free(list[i]);
	}
	free(list);
	return rc < 0 || unread ? -1 : 0;
}

static int is_of_path(void *ctx, const char *name, time_t seen, const struct ledger_entry *e,
		      struct err *err)
{
	const char **path = ctx;

	(void)name, (void)seen, (void)err;
	if (*path && strcmp(*path, e->path) == 0)
		*path = NULL;			/* found */
	return 0;
}

int ledger_knows(int ledger_fd, const char *path, struct err *err)
{
	int rc = ledger_each(ledger_fd, is_of_path, &path, err);

	return path ? rc : 1;
}

int ledger_touch(int ledger_fd, const char *name, struct err *err)
{
	if (utimensat(ledger_fd, name, NULL, AT_SYMLINK_NOFOLLOW) < 0)
		return err_set(err, ERR_SYS, "ledger: '%s': %s", name, strerror(errno));
	return 0;
}

int ledger_seen(int ledger_fd, const char *path, const struct digest *generation,
		struct err *err)
{
	char name[LEDGER_NAME_LEN + 1];

	name_of(path, generation, name);
	return ledger_touch(ledger_fd, name, err);
}

int ledger_remove(int ledger_fd, const char *name, struct err *err)
{
	if (unlinkat(ledger_fd, name, 0) < 0 && errno != ENOENT)
		return err_set(err, ERR_SYS, "ledger: '%s': unlink: %s", name, strerror(errno));
	return 0;
}

int ledger_sync(int ledger_fd, struct err *err)
{
	if (fsync(ledger_fd) < 0)
		return err_set(err, ERR_SYS, "ledger: fsync: %s", strerror(errno));
	return 0;
}
