/* modulefile.c - the files that a recording is of, and the jobs that look into them
 *
 * Tested by tests/e2e/import.sh and tests/e2e/export.sh.
 */
#include "manager/report/modulefile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/profile.h"
#include "manager/parent/regular.h"

int modulefile_run(const char *morph_edit, const struct modulefile_job *job, int *out,
		   struct err *err)
{
	struct job_spec spec = {
		.kind = job->kind, .morph_edit = morph_edit, .user = { false, 0, 0 },
		.memory_bytes = UINT64_MAX, .file_bytes = MODULEFILE_OUTPUT_MAX,
		.cpu_s = MODULEFILE_JOB_S, .wall_s = MODULEFILE_JOB_S, .nin = job->nin,
		.a = job->a, .b = job->b, .prompt = true,
	};
	int fd[JOB_MAX_OUT];

	memcpy(spec.in, job->in, (size_t)job->nin * sizeof(*job->in));
	if (job_run(&spec, fd, err) < 0)
		return -1;
	*out = fd[0];
	return 0;
}

int modulefile_text(const char *morph_edit, const struct modulefile_job *job, struct arena *a,
		    struct bytes *out, struct err *err)
{
	int fd;

	if (modulefile_run(morph_edit, job, &fd, err) < 0)
		return -1;
	int rc = io_read_all(fd, MODULEFILE_OUTPUT_MAX, a, out, err);
	close(fd);
	return rc;
}

int modulefile_open(const char *path, struct stat *st, struct err *err)
{
	char real[PATH_MAX];
	int fd = realpath(path, real) ? regular_open(AT_FDCWD, real, 0, st) : -1;

	if (fd >= 0)
		return fd;
	return fd == REGULAR_NOT ? err_set(err, ERR_REFUSED, "not a regular file")
				 : err_set(err, ERR_SYS, "%s", strerror(errno));
}

/* What others wrote is not parsed with root's rights, unless by who has them through sudo. */
static bool may_be_parsed(uid_t owner)
{
	const char *sudo = getenv("SUDO_UID");
	char *end;

	if (geteuid() != 0 || owner == 0)
		return true;
	return sudo && *sudo && strtoul(sudo, &end, 10) == owner && !*end;
}

int modulefile_recording(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		err_set(err, ERR_INPUT, "'%s': not a regular file", path);
	else if (!may_be_parsed(st.st_uid))
		err_set(err, ERR_REFUSED, "'%s': belongs to user %u; root reads only what is "
			"root's, a copy of it say", path, (unsigned)st.st_uid);
	else
		return fd;
	close(fd);
	return -1;
}

int modulefile_check(const char *const *file, uint32_t n, struct err *err)
{
	struct stat st;

	for (uint32_t i = 0; i < n; i++) {
		int fd = modulefile_open(file[i], &st, err);

		if (fd < 0)
			return err_wrap(err, "--binary='%s'", file[i]);
		close(fd);
	}
	return 0;
}

/* Opens the file if it is the one with that digest. */
static int open_with_digest(const char *path, const struct digest *want, struct err *err)
{
	struct digest digest;
	struct stat st;
	int fd = modulefile_open(path, &st, err);

	if (fd < 0)
		return -1;
	if (digest_fd(fd, &digest, err) == 0 && digest_equal(&digest, want))
		return fd;
	close(fd);
	return err_set(err, ERR_REFUSED, "another file is there by now");
}

int modulefile_of_profile(const struct modulefile_places *places, const char *const *file,
			  uint32_t n, const struct profile *p, struct err *err)
{
	char path[PATH_MAX], hex[65];
	struct err unused;
	int fd = -1;

	for (uint32_t i = 0; i < n && fd < 0; i++)
		fd = open_with_digest(file[i], &p->original, &unused);
	if (fd < 0)
		fd = open_with_digest(p->module, &p->original, err);
	digest_hex(&p->original, hex);
	if (fd < 0 &&
	    snprintf(path, sizeof(path), "%s/originals/%s", places->store, hex) < PATH_MAX)
		fd = open_with_digest(path, &p->original, &unused);
	return fd;
}

int modulefile_build_id(const char *morph_edit, int fd, char hex[2 * MODULEFILE_ID_MAX + 1],
			struct err *err)
{
	struct arena *a = arena_new();
	struct bytes b;
	struct modulefile_job job = { .kind = JOB_BUILD_ID, .nin = 1, .in = { fd } };
	int rc = modulefile_text(morph_edit, &job, a, &b, err);

	if (rc == 0) {
		size_t n = b.n ? b.n - 1 : 0;	/* a line */

		if (n > 2 * MODULEFILE_ID_MAX || memchr(b.p, '/', n))
			n = 0;
		memcpy(hex, b.p, n);
		hex[n] = '\0';
	}
	arena_free(a);
	return rc;
}

int modulefile_original(const struct modulefile_places *places, int fd, struct blockmap *map,
			struct err *err)
{
	struct arena *a = arena_new();
	char path[PATH_MAX], hex[65];
	int original = -1;
	struct bytes b;

	struct modulefile_job job = { .kind = JOB_MAP, .nin = 1, .in = { fd } };
	if (modulefile_text(places->morph_edit, &job, a, &b, err) == 0 &&
	    blockmap_read(b, map, err) == 0) {
		digest_hex(&map->original, hex);
		int n = snprintf(path, sizeof(path), "%s/originals/%s", places->store, hex);

		original = n < PATH_MAX ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		if (original < 0)
			err_set(err, ERR_SYS, "a generation; its original '%s': %s", path,
				strerror(errno));
	}
	arena_free(a);
	return original;
}

/* --- debug files --- */

static int open_full(const char *path)
{
	struct err err;
	struct stat st;
	int fd = modulefile_open(path, &st, &err);

	if (fd >= 0 && st.st_size > 0)
		return fd;
	if (fd >= 0)
		close(fd);	/* debuginfod remembers by an empty file what there is not */
	return -1;
}

int modulefile_debug(const char *build_id)
{
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *below = "", *home;
	char path[PATH_MAX];
	int fd = -1;

	if (strlen(build_id) < 3 || strspn(build_id, "0123456789abcdef") != strlen(build_id))
		return -1;
	if (snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id,
		     build_id + 2) < PATH_MAX)
		fd = open_full(path);
	if (fd >= 0)
		return fd;
	if (!cache && (cache = getenv("XDG_CACHE_HOME")))
		below = "/debuginfod_client";
	if (!cache && (home = getenv("HOME"))) {
		cache = home;
		below = "/.cache/debuginfod_client";
	}
	if (cache && snprintf(path, sizeof(path), "%s%s/%s/debuginfo", cache, below,
			      build_id) < PATH_MAX)
		fd = open_full(path);
	return fd;
}
