/* profile_bolt.c - fdata and pre-aggregated profiles of llvm-bolt's tools to block profiles
 *
 * Tested by tests/e2e/bolt.sh.
 */
#include "manager/ctl/profile_bolt.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/profile.h"
#include "lib/say.h"

enum { TEXT_MAX = 1 << 30, FIRST_LINE = 4096 };

/* The next word of a line is made of these bytes alone. */
static bool next_is(const char **line, const char *of)
{
	size_t n = strspn(*line, of);
	bool good = n && ((*line)[n] == ' ' || (*line)[n] == '\n' || !(*line)[n]);

	*line += n + (good && (*line)[n] == ' ');
	return good;
}

bool profile_bolt_is(const char *path)
{
	static const char place[] = "0123456789abcdefABCDEFX:-";
	char line[FIRST_LINE + 1];
	const char *at = line;
	int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, line, FIRST_LINE, 0);

	if (fd >= 0)
		close(fd);
	line[n > 0 ? n : 0] = '\0';
	if (strncmp(line, "no_lbr", 6) == 0 || strncmp(line, "boltedcollection", 16) == 0)
		return true;
	if (line[0] && strchr("0123", line[0]) && line[1] == ' ') {
		size_t name = strcspn(line + 2, " \n");	/* cut short by an escaped blank, too */

		return name && line[2 + name] == ' ' && strchr(line, '\n') &&
		       strstr(line, " 0 ") != NULL;
	}
	if (!line[0] || !strchr("BFfrTRSE", line[0]) || line[1] != ' ')
		return false;
	at += 2;
	return line[0] == 'E' || next_is(&at, place);
}

/* All of them, one behind the other. */
static int gather(const struct profile_log_import *import, struct arena *a, struct err *err)
{
	int out = memfd_create("text", MFD_CLOEXEC);

	if (out < 0)
		return err_set(err, ERR_SYS, "memfd_create: %s", strerror(errno));
	for (uint32_t i = 0; i < import->nrecording; i++) {
		const char *path = import->recording[i];
		int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC), rc = -1;
		struct bytes b;

		if (fd < 0)
			err_set(err, ERR_SYS, "open: %s", strerror(errno));
		else if (io_read_all(fd, TEXT_MAX, a, &b, err) == 0 &&
			 io_write_all(out, b.p, b.n, err) == 0)
			rc = 0;
		if (rc == 0 && b.n && b.p[b.n - 1] != '\n')
			rc = io_write_all(out, "\n", 1, err);
		if (fd >= 0)
			close(fd);
		if (rc < 0) {
			close(out);
			return err_wrap(err, "'%s'", path);
		}
	}
	if (lseek(out, 0, SEEK_SET) == 0)
		return out;
	close(out);
	return err_set(err, ERR_SYS, "lseek: %s", strerror(errno));
}

static int write_profile(const char *out_dir, const char *binary, const struct digest *digest,
			 struct profile *p, struct err *err)
{
	char path[PATH_MAX];
	struct wr w = { 0 };

	p->module = realpath(binary, path) ? path : binary;
	p->original = *digest;
	p->outside = 0;		/* what was left out may be of any file */
	profile_write(p, &w);
	int rc = profile_log_folder(out_dir, err);
	if (rc == 0)
		rc = profile_log_file(out_dir, p->module, digest, wr_bytes(&w), err);
	wr_free(&w);
	return rc;
}

int profile_bolt_import(const struct profile_log_import *import, const char *out_dir,
			const struct modulefile_places *places, FILE *say, struct err *err)
{
	struct arena *a = arena_new();
	int in[2] = { -1, -1 }, rc = -1;
	struct digest digest;
	struct profile p;
	struct bytes b;
	struct stat st;

	if (import->nbinary != 1) {
		err_set(err, ERR_USAGE, "'%s': a profile of llvm-bolt does not say of which "
			"file it is: --binary=FILE names it, once", import->recording[0]);
		goto out;
	}
	in[1] = gather(import, a, err);
	if (in[1] < 0)
		goto out;
	in[0] = modulefile_open(import->binary[0], &st, err);
	if (in[0] < 0 || digest_fd(in[0], &digest, err) < 0) {
		err_wrap(err, "'%s'", import->binary[0]);
		goto out;
	}
	struct modulefile_job job = { .kind = JOB_FOREIGN, .nin = 2, .in = { in[0], in[1] } };
	if (modulefile_text(places->morph_edit, &job, a, &b, err) < 0 ||
	    profile_read(b, a, &p, err) < 0) {
		if (import->nrecording > 1)
			err_wrap(err, "with the %u behind it", import->nrecording - 1);
		err_wrap(err, "'%s'", import->recording[0]);
		goto out;
	}
	if (say)
		say_line(say, "%s: %u blocks, %u edges and %u calls; left out: %.0f lines, of "
			 "other files, of unknown names, or of what the code does not have",
			 import->binary[0], p.nblock, p.nedge, p.ncall, p.outside);
	rc = write_profile(out_dir, import->binary[0], &digest, &p, err);
out:
	for (int i = 0; i < 2; i++)
		if (in[i] >= 0)
			close(in[i]);
	arena_free(a);
	return rc;
}
