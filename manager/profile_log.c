/* profile_log.c - what the Manager does when idle, for one log and without its store
 *
 * Every file that the log has samples of is opened at its path and must be the inode that ran (the
 * device number may differ: btrfs, overlayfs); `morph-edit analyze` gives its block table.  Files
 * that it refuses (generations among them: their originals are in the daemon's store) are said and
 * left out.
 */
#include "manager/profile_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/profile.h"
#include "manager/attribute.h"
#include "monitor/spool.h"

enum { TABLE_MAX = 256 << 20 };

struct known {			/* one original module of the log */
	char *path;
	struct blocktable table;
};

struct log {
	const char *morph_edit;
	FILE *say;
	struct known *known;
	uint32_t nknown;
};

static void *must(void *p)
{
	if (!p) {
		(void)fputs("out of memory\n", stderr);	/* exits anyway */
		exit(1);
	}
	return p;
}

static void say(const struct log *l, const char *path, const char *text)
{
	if (l->say)
		(void)fprintf(l->say, "%s: %s\n", path, text);	/* only news for a person */
}

/* The child: standard error goes to `tell`. */
static void run_analyze(const char *morph_edit, int fd, int table, int tell)
{
	char in[32], out[32];

	(void)snprintf(in, sizeof(in), "fd:%d", fd);		/* fits */
	(void)snprintf(out, sizeof(out), "fd:%d", table);	/* fits */
	int null = open("/dev/null", O_RDWR);
	if (null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0 && dup2(tell, 2) >= 0 &&
	    fcntl(fd, F_SETFD, 0) == 0 && fcntl(table, F_SETFD, 0) == 0)
		execl(morph_edit, "morph-edit", "analyze", in, "--table", out, (char *)NULL);
	dprintf(2, "%s: %s\n", morph_edit, strerror(errno));
	_exit(127);
}

/* The first line that the job said, without its end. */
static void read_line(int fd, char *out, size_t n)
{
	size_t have = 0;
	char rest[512];

	for (ssize_t k; have + 1 < n; have += (size_t)k) {
		k = read(fd, out + have, n - 1 - have);
		if (k <= 0)
			break;
	}
	out[have] = '\0';
	out[strcspn(out, "\n")] = '\0';
	while (read(fd, rest, sizeof(rest)) > 0)	/* so that it does not wait for us */
		;
}

static int analyze(const struct log *l, int fd, int table, struct err *err)
{
	char reason[512];
	int tell[2], status;

	if (pipe2(tell, O_CLOEXEC) < 0)
		return err_set(err, ERR_SYS, "pipe: %s", strerror(errno));
	pid_t pid = fork();
	if (pid == 0)
		run_analyze(l->morph_edit, fd, table, tell[1]);
	close(tell[1]);
	if (pid > 0)
		read_line(tell[0], reason, sizeof(reason));
	close(tell[0]);
	if (pid < 0)
		return err_set(err, ERR_SYS, "fork: %s", strerror(errno));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (!reason[0])
		(void)snprintf(reason, sizeof(reason), "analysis ended with status %d", status);
	return err_set(err, WIFEXITED(status) && WEXITSTATUS(status) == 3 ? ERR_REFUSED : ERR_SYS,
		       "%s", reason);
}

static int make_table(const struct log *l, int fd, struct blocktable *out, struct err *err)
{
	struct arena *a = arena_new();
	int rc = -1, table = memfd_create("block table", MFD_CLOEXEC);
	struct digest digest;
	struct bytes b;

	if (table < 0)
		err_set(err, ERR_SYS, "memfd_create: %s", strerror(errno));
	else if (analyze(l, fd, table, err) == 0 && digest_fd(fd, &digest, err) == 0 &&
		 io_read_all(table, TABLE_MAX, a, &b, err) == 0 &&
		 blocktable_read(b, out, err) == 0)
		rc = 0;
	if (rc == 0 && !digest_equal(&digest, &out->original)) {
		blocktable_free(out);
		rc = err_set(err, ERR_INPUT, "it changed meanwhile");
	}
	if (table >= 0)
		close(table);
	arena_free(a);
	return rc;
}

/* A descriptor for the file that ran, if it is still at its path. */
static int open_ran(const struct space_file *file, struct err *err)
{
	struct stat st;

	if (file->path[0] != '/')
		return err_set(err, ERR_REFUSED, "not a file with a path");
	int fd = open(file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, ERR_SYS, "%s", strerror(errno));
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == file->inode)
		return fd;
	close(fd);
	return err_set(err, ERR_REFUSED, "another file is there by now");
}

static int resolve(void *ctx, const struct space_file *file, struct attribute_target *out,
		   struct err *err)
{
	struct blocktable t = { 0 };
	struct log *l = ctx;
	struct err why;
	uint32_t i;

	(void)err;		/* one module's failure is no reason to give up the others */
	int fd = open_ran(file, &why);
	int rc = fd < 0 ? -1 : make_table(l, fd, &t, &why);
	if (fd >= 0)
		close(fd);
	if (rc < 0) {
		say(l, file->path, why.text);
		return 0;
	}
	for (i = 0; i < l->nknown; i++)
		if (digest_equal(&l->known[i].table.original, &t.original))
			break;
	if (i == l->nknown) {
		l->known = must(realloc(l->known, (l->nknown + 1) * sizeof(*l->known)));
		l->known[l->nknown++] = (struct known){ must(strdup(file->path)), t };
	} else {
		blocktable_free(&t);
	}
	*out = (struct attribute_target){ .module = i, .table = &l->known[i].table };
	return 1;
}

/* --- writing --- */

static int write_file(const char *out_dir, const struct known *k, struct bytes b,
		      const struct log *l, struct err *err)
{
	const char *slash = strrchr(k->path, '/');
	char path[PATH_MAX], hex[65], text[128];

	digest_hex(&k->table.original, hex);
	if (snprintf(path, sizeof(path), "%s/%s.%.12s.profile", out_dir,
		     slash ? slash + 1 : k->path, hex) >= (int)sizeof(path))
		return err_set(err, ERR_USAGE, "'%s': path too long", out_dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
	int rc = io_write_all(fd, b.p, b.n, err);
	if (close(fd) < 0 && rc == 0)
		rc = err_set(err, ERR_SYS, "close: %s", strerror(errno));
	if (rc < 0)
		return err_wrap(err, "'%s'", path);
	(void)snprintf(text, sizeof(text), "%" PRIu64 " bytes of profile", b.n);	/* fits */
	say(l, k->path, text);
	return 0;
}

static int write_profile(const char *out_dir, const char *clock, const struct log *l,
			 const struct attribute_module *m, struct err *err)
{
	const struct known *k = &l->known[m->module];
	struct profile p = {
		.module = k->path,
		.original = k->table.original,
		.clock = clock,
		.outside = (double)m->outside,
		.samples = (double)m->samples,
		.block = must(calloc(m->ncount + 1, sizeof(*p.block))),
		.nblock = m->ncount,
	};
	struct wr w = { 0 };

	for (uint32_t i = 0; i < m->ncount; i++)
		p.block[i] = (struct profile_block){
			k->table.base + k->table.block[m->count[i].block].off,
			m->count[i].samples,
		};
	profile_write(&p, &w);
	int rc = write_file(out_dir, k, wr_bytes(&w), l, err);
	wr_free(&w);
	free(p.block);
	return rc;
}

static int gather(int fd, struct log *l, const char *out_dir, struct err *err)
{
	struct attribute_resolver resolver = { .resolve = resolve, .ctx = l };
	struct spool_reader *r = spool_reader_open(fd, err);
	struct attribution sum = { 0 };

	if (!r)
		return -1;
	struct spaces *spaces = spaces_new(NULL);
	struct attribute *a = attribute_new(spaces);
	attribute_spool(a, r);
	int rc = attribute_resolve(a, &resolver, &sum, err);
	for (uint32_t i = 0; i < sum.nmodule && rc == 0; i++)
		rc = write_profile(out_dir, spool_reader_clock(r), l, &sum.module[i], err);
	for (int i = 0; i < NCOUNTER && l->say && rc == 0; i++)
		if (sum.counter[i])
			(void)fprintf(l->say, "%10" PRIu64 " %s\n", sum.counter[i],
				      counter_help[i]);		/* only news for a person */
	attribution_free(&sum);
	attribute_free(a);
	spaces_free(spaces);
	spool_reader_free(r);
	return rc;
}

int profile_log_write(const char *log_path, const char *out_dir, const char *morph_edit_path,
		      FILE *say_to, struct err *err)
{
	struct log l = { .morph_edit = morph_edit_path, .say = say_to };
	int fd = open(log_path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", log_path, strerror(errno));
	if (mkdir(out_dir, 0777) < 0 && errno != EEXIST) {
		close(fd);
		return err_set(err, ERR_SYS, "'%s': mkdir: %s", out_dir, strerror(errno));
	}
	int rc = gather(fd, &l, out_dir, err);
	close(fd);
	for (uint32_t i = 0; i < l.nknown; i++) {
		blocktable_free(&l.known[i].table);
		free(l.known[i].path);
	}
	free(l.known);
	return rc < 0 ? err_wrap(err, "'%s'", log_path) : 0;
}
