/* livebook.c - entries and files of generations in running processes; see livebook.h
 *
 * Tested by tests/unit/manager/parent/test_livework.c.
 */
#include "manager/parent/livebook.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/folders.h"
#include "manager/parent/install_file.h"
#include "manager/parent/livefiles.h"
#include "manager/parent/private.h"
#include "manager/parent/sumtext.h"

static const char name_new[] = "entry.new", file_new[] = "generation.new";
enum { NAME_MAX_LEN = 128 };

int livebook_open(struct livebook *b, const char *store_dir, struct err *err)
{
	*b = (struct livebook){ .book_fd = -1, .files_fd = -1 };
	if (snprintf(b->folder, sizeof(b->folder), "%s/live", store_dir) >=
	    (int)sizeof(b->folder))
		return err_set(err, ERR_USAGE, "'%s': path too long", store_dir);
	b->files_fd = private_open(store_dir, "live", err);
	if (b->files_fd >= 0)
		b->book_fd = private_open(store_dir, "livebook", err);
	if (b->book_fd >= 0)
		return 0;
	livebook_close(b);
	return -1;
}

void livebook_close(struct livebook *b)
{
	if (b->book_fd >= 0)
		close(b->book_fd);
	if (b->files_fd >= 0)
		close(b->files_fd);
	b->book_fd = b->files_fd = -1;
}

/* --- entries --- */

static void name_of(const struct livebook_entry *e, char out[NAME_MAX_LEN])
{
	char hex[65];

	digest_hex(&e->generation, hex);
	(void)snprintf(out, NAME_MAX_LEN, "%d-%" PRIu64 "-%s", (int)e->pid, e->start,
		       hex);			/* fits */
}

static void format(const struct livebook_entry *e, struct sumtext *out)
{
	char original[65], generation[65];

	digest_hex(&e->original, original);
	digest_hex(&e->generation, generation);
	out->n = 0;
	sumtext_add(out, "morph-livebook 1\nprocess %d %" PRIu64 "\nowner %" PRIu32 "\n",
		    (int)e->pid, e->start, e->owner);
	sumtext_add(out, "original %s\ngeneration %s\npath %s\n", original, generation,
		    e->path);
	sumtext_close(out);
}

int livebook_put(const struct livebook *b, const struct livebook_entry *e, struct err *err)
{
	char name[NAME_MAX_LEN];
	struct sumtext s;

	if (strchr(e->path, '\n'))
		return err_set(err, ERR_REFUSED, "its path has a line break");
	format(e, &s);
	name_of(e, name);
	return sumtext_write(b->book_fd, name, name_new, &s, err) < 0 ?
	       err_wrap(err, "livebook") : 0;
}

int livebook_remove(const struct livebook *b, const struct livebook_entry *e, struct err *err)
{
	char name[NAME_MAX_LEN];

	name_of(e, name);
	if (unlinkat(b->book_fd, name, 0) < 0 && errno != ENOENT)
		return err_set(err, ERR_SYS, "livebook: '%s': %s", name, strerror(errno));
	return 0;
}

/* What sscanf() is lenient about is found by writing it again. */
static int parse(char *at, struct livebook_entry *out)
{
	const char *value;
	int pid;

	if (!sumtext_line(&at, "morph-livebook 1") ||
	    !(value = sumtext_line(&at, "process ")) ||
	    sscanf(value, "%d %" SCNu64, &pid, &out->start) != 2 || pid <= 0 ||
	    !(value = sumtext_line(&at, "owner ")) ||
	    sscanf(value, "%" SCNu32, &out->owner) != 1 ||
	    !(value = sumtext_line(&at, "original ")) ||
	    digest_from_hex(value, &out->original) < 0 ||
	    !(value = sumtext_line(&at, "generation ")) ||
	    digest_from_hex(value, &out->generation) < 0 ||
	    !(value = sumtext_line(&at, "path ")) || strlen(value) >= sizeof(out->path) ||
	    folders_spelled(value, NULL) < 0)
		return -1;
	out->pid = pid;
	memcpy(out->path, value, strlen(value) + 1);
	return 0;
}

static bool read_entry(const struct livebook *b, const char *name, struct livebook_entry *out)
{
	struct sumtext s, copy, again;
	char right[NAME_MAX_LEN];

	if (sumtext_read(b->book_fd, name, &s, NULL) <= 0)
		return false;
	copy = s;
	*out = (struct livebook_entry){ 0 };
	if (parse(copy.text, out) < 0)
		return false;
	format(out, &again);
	name_of(out, right);
	return sumtext_same(&s, &again) && strcmp(name, right) == 0;
}

/* Of a folder of ours, from its beginning. */
static DIR *list(int folder_fd)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

int livebook_all(const struct livebook *b, struct livebook_entry **out, uint32_t *n,
		 struct err *err)
{
	struct livebook_entry *all = calloc(LIVEBOOK_ENTRIES, sizeof(*all));
	DIR *d = all ? list(b->book_fd) : NULL;

	*n = 0;
	*out = d ? all : NULL;
	if (!d) {
		free(all);
		return err_set(err, ERR_SYS, "livebook: %s", strerror(errno));
	}
	for (struct dirent *e; *n < LIVEBOOK_ENTRIES && (e = readdir(d));)
		*n += read_entry(b, e->d_name, &all[*n]);
	(void)closedir(d);		/* only read */
	return 0;
}

/* --- files --- */

static bool is_name(const char *name, struct digest *out)
{
	return digest_from_hex(name, out) == 0;
}

static int check_room(const struct livebook *b, uint64_t bytes, struct err *err)
{
	uint64_t all = bytes, files = 1;
	DIR *d = list(b->files_fd);
	struct digest of;
	struct stat st;

	for (struct dirent *e; d && (e = readdir(d));) {
		if (!is_name(e->d_name, &of) ||
		    fstatat(b->files_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		files++;
		all += (uint64_t)st.st_size;
	}
	if (d)
		(void)closedir(d);	/* only read */
	if (!d || files > LIVEBOOK_FILES || all > (uint64_t)LIVEBOOK_MIB << 20)
		return err_set(err, ERR_REFUSED, "there are %d generations, or %d MiB of them, "
			       "for running processes already", LIVEBOOK_FILES, LIVEBOOK_MIB);
	return 0;
}

int livebook_open_file(const struct livebook *b, const struct digest *generation,
		       struct err *err)
{
	struct digest d;
	char hex[65];

	digest_hex(generation, hex);
	int fd = openat(b->files_fd, hex, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s/%s': %s", b->folder, hex, strerror(errno));
	bool there = livefiles_use(fd);
	if (there && digest_fd(fd, &d, err) == 0 && digest_equal(&d, generation))
		return fd;
	close(fd);
	return err_set(err, there ? ERR_INPUT : ERR_SYS, "'%s/%s': %s", b->folder, hex,
		       there ? "damaged" : "it has just been removed");
}

int livebook_keep(const struct livebook *b, int from, const struct digest *generation,
		  struct err *err)
{
	struct digest d;
	struct stat st;
	char hex[65];
	int fd = livebook_open_file(b, generation, err);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	digest_hex(generation, hex);
	if (fstat(from, &st) < 0)
		return err_set(err, ERR_SYS, "fstat: %s", strerror(errno));
	if (check_room(b, (uint64_t)st.st_size, err) < 0)
		return -1;
	(void)unlinkat(b->files_fd, file_new, 0);	/* a kill's, if there is one */
	fd = openat(b->files_fd, file_new, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s/%s': %s", b->folder, file_new,
			       strerror(errno));
	int rc = install_copy(from, fd, &d, err);
	if (rc == 0 && !digest_equal(&d, generation))
		rc = err_set(err, ERR_REFUSED, "its content is not what was proven");
	if (rc == 0)
		rc = install_sync(fd, err);
	close(fd);
	if (rc == 0 && renameat(b->files_fd, file_new, b->files_fd, hex) < 0)
		rc = err_set(err, ERR_SYS, "'%s/%s': %s", b->folder, hex, strerror(errno));
	if (rc < 0)
		(void)unlinkat(b->files_fd, file_new, 0);	/* the next one does it again */
	return rc < 0 ? -1 : install_sync(b->files_fd, err);
}

void livebook_drop_file(const struct livebook *b, const struct digest *generation)
{
	char hex[65];

	digest_hex(generation, hex);
	(void)unlinkat(b->files_fd, hex, 0);		/* else it is swept */
}

void livebook_sweep(const struct livebook *b,
		    bool (*has)(void *ctx, const struct digest *generation), void *ctx)
{
	DIR *d = list(b->files_fd);
	struct digest of;
	struct stat st;

	/* a command that is at work with one of its own has it open, which is enough for it */
	for (struct dirent *e; d && (e = readdir(d));)
		if (is_name(e->d_name, &of) && !has(ctx, &of) &&
		    fstatat(b->files_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_mtim.tv_sec + LIVEBOOK_YOUNG_S < time(NULL))
			(void)unlinkat(b->files_fd, e->d_name, 0);	/* the next one tries */
	if (d)
		(void)closedir(d);	/* only read */
}
