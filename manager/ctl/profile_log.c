/* profile_log.c - what the Manager does when idle, for one log and without its store
 *
 * Every file that the log has samples of is opened at its path and must be the inode that ran
 * (the device number may differ: btrfs, overlayfs); `morph-edit analyze` gives its block table,
 * and `morph-edit interpret` the edges, where samples came with registers.  Files
 * that it refuses are said and left out.
 *
 * A generation has its block map with it; its original is looked for in the daemon's store.
 *
 * Tested by tests/e2e/registers.sh.
 */
#include "manager/ctl/profile_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/countsfile.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "lib/profile.h"
#include "lib/say.h"
#include "manager/samples/attribute.h"
#include "manager/parent/job.h"
#include "monitor/spool.h"

enum { OUTPUT_MAX = 1 << 30, JOB_S = 3600 };

struct known {			/* one original module of the log */
	char *path;
	struct blocktable table;
};

struct log {
	const char *morph_edit, *store;
	FILE *say;
	struct known *known;
	uint32_t nknown;
	int fd;			/* the file that is being resolved, -1: none */
	int original;		/* of it, if it is a generation, else -1 */
	struct blockmap map;
};

static void say(const struct log *l, const char *path, const char *text)
{
	if (l->say)
		say_line(l->say, "%s: %s", path, text);	/* only news for a person */
}

static int run(const struct log *l, enum job_kind kind, const int *in, int nin, int *out,
	       struct err *err)
{
	struct job_spec spec = {
		.kind = kind, .morph_edit = l->morph_edit, .user = { false, 0, 0 },
		.memory_bytes = UINT64_MAX, .file_bytes = OUTPUT_MAX, .cpu_s = JOB_S,
		.wall_s = JOB_S, .nin = nin, .prompt = true,
	};
	int fd[JOB_MAX_OUT];

	memcpy(spec.in, in, (size_t)nin * sizeof(*in));
	if (job_run(&spec, fd, err) < 0)
		return -1;
	*out = fd[0];
	return 0;
}

static int make_table(const struct log *l, int fd, struct blocktable *out, struct err *err)
{
	struct arena *a = arena_new();
	int rc = -1, table = -1;
	struct digest digest;
	struct bytes b;

	if (run(l, JOB_ANALYZE, &fd, 1, &table, err) == 0 && digest_fd(fd, &digest, err) == 0 &&
	    io_read_all(table, OUTPUT_MAX, a, &b, err) == 0 &&
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

/* The block map of the generation in l->fd, and its original. */
static int open_generation(struct log *l, struct err *err)
{
	struct arena *a = arena_new();
	char path[PATH_MAX], hex[65];
	int map = -1, rc = -1;
	struct bytes b;

	if (run(l, JOB_MAP, &l->fd, 1, &map, err) == 0 &&
	    io_read_all(map, OUTPUT_MAX, a, &b, err) == 0 &&
	    blockmap_read(b, &l->map, err) == 0) {
		digest_hex(&l->map.original, hex);
		rc = snprintf(path, sizeof(path), "%s/originals/%s", l->store, hex);
		l->original = rc < PATH_MAX ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		rc = l->original < 0
			     ? err_set(err, ERR_SYS, "a generation; its original '%s': %s",
				       path, strerror(errno))
			     : 0;
	}
	if (map >= 0)
		close(map);
	arena_free(a);
	return rc;
}

/* The block table of what is in l->fd, or of its original. */
static int find_table(struct log *l, struct blocktable *out, struct err *err)
{
	if (make_table(l, l->fd, out, err) == 0)
		return 0;
	struct err why;
	if (err->kind != ERR_REFUSED || open_generation(l, &why) < 0) {
		if (err->kind == ERR_REFUSED && l->map.nblock)
			*err = why;	/* it is a generation, so that tells more */
		return -1;
	}
	if (make_table(l, l->original, out, err) < 0)
		return -1;
	if (digest_equal(&out->original, &l->map.original))
		return 0;
	blocktable_free(out);
	return err_set(err, ERR_INPUT,
		       "a generation; its original in the store is another file");
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

/* Its table is kept until all is written. */
static void release(void *ctx, const struct attribute_target *target)
{
	struct log *l = ctx;

	if (target)
		blockindex_free(target->own);
	if (l->fd >= 0)
		close(l->fd);
	if (l->original >= 0)
		close(l->original);
	blockmap_free(&l->map);
	l->fd = l->original = -1;
	l->map = (struct blockmap){ 0 };
}

static int resolve(void *ctx, const struct space_file *file, struct attribute_target *out,
		   struct err *err)
{
	struct blocktable t = { 0 };
	struct log *l = ctx;
	struct err why;
	uint32_t i;

	(void)err;		/* one module's failure is no reason to give up the others */
	l->fd = open_ran(file, &why);
	if (l->fd < 0 || find_table(l, &t, &why) < 0) {
		say(l, file->path, why.text);
		release(l, NULL);
		return 0;
	}
	for (i = 0; i < l->nknown; i++)
		if (digest_equal(&l->known[i].table.original, &t.original))
			break;
	if (i == l->nknown) {
		l->known = memory_grow(l->known, l->nknown + 1, sizeof(*l->known));
		l->known[l->nknown++] = (struct known){ memory_need(strdup(file->path)), t };
	} else {
		blocktable_free(&t);
	}
	struct blockindex *index =
		blockindex_new(&l->known[i].table, l->original < 0 ? NULL : &l->map);
	*out = (struct attribute_target){ .module = i, .index = index, .own = index };
	return 1;
}

static int interpret(void *ctx, const struct attribute_target *target, struct bytes states,
		     struct edgecounts *out_edges, struct err *err)
{
	const struct log *l = ctx;
	struct arena *a = arena_new();
	int in[3] = { l->fd, memfd_create("states", MFD_CLOEXEC), l->original };
	int out = -1, rc = -1;
	struct err why;
	struct bytes b;

	if (in[1] < 0)
		err_set(&why, ERR_SYS, "memfd_create: %s", strerror(errno));
	else if (io_write_all(in[1], states.p, states.n, &why) == 0 &&
		 run(l, JOB_INTERPRET, in, l->original < 0 ? 2 : 3, &out, &why) == 0 &&
		 io_read_all(out, OUTPUT_MAX, a, &b, &why) == 0)
		rc = 0;
	if (rc == 0)
		rc = edgecounts_read(b, &l->known[target->module].table, out_edges, &why);
	if (rc < 0)
		say(l, l->known[target->module].path, why.text);
	if (in[1] >= 0)
		close(in[1]);
	if (out >= 0)
		close(out);
	arena_free(a);
	return rc < 0 ? err_set(err, why.kind, "%s", why.text) : 0;
}

/* --- writing --- */

static int write_file(const char *out_dir, const char *module, const struct digest *original,
		      struct bytes b, const struct log *l, struct err *err)
{
	const char *slash = strrchr(module, '/');
	char path[PATH_MAX], hex[65], text[128];

	digest_hex(original, hex);
	if (snprintf(path, sizeof(path), "%s/%s.%.12s.profile", out_dir,
		     slash ? slash + 1 : module, hex) >= (int)sizeof(path))
		return err_set(err, ERR_USAGE, "'%s': path too long", out_dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
	int rc = io_write_all(fd, b.p, b.n, err);
	if (close(fd) < 0 && rc == 0)
		rc = err_set(err, ERR_SYS, "close: %s", strerror(errno));
	if (rc < 0)
		return err_wrap(err, "'%s'", path);
	/* fits */
	(void)snprintf(text, sizeof(text), "%" PRIu64 " bytes of profile", b.n);
	say(l, module, text);
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
		.block = memory_new(m->ncount + 1, sizeof(*p.block)),
		.nblock = m->ncount,
	};
	struct arena *a = arena_new();
	struct wr w = { 0 };

	for (uint32_t i = 0; i < m->ncount; i++)
		p.block[i] = (struct profile_block){
			k->table.base + k->table.block[m->count[i].block].off,
			m->count[i].samples,
		};
	edgecounts_to_profile(&m->edges, 1, &k->table, a, &p);
	profile_write(&p, &w);
	int rc = write_file(out_dir, k->path, &k->table.original, wr_bytes(&w), l, err);
	wr_free(&w);
	arena_free(a);
	free(p.block);
	return rc;
}

static int gather(int fd, struct log *l, const char *out_dir, struct err *err)
{
	struct attribute_resolver resolver = { .resolve = resolve, .release = release,
					       .interpret = interpret, .ctx = l };
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
			say_line(l->say, "%10" PRIu64 " %s", sum.counter[i],
				 counter_help[i]);	/* only news for a person */
	attribution_free(&sum);
	attribute_free(a);
	spaces_free(spaces);
	spool_reader_free(r);
	return rc;
}

/* --- counts instead of a log --- */

static int write_counts(int fd, struct log *l, const char *out_dir, struct err *err)
{
	int in[2] = { -1, fd }, out = -1, rc = -1;
	struct arena *a = arena_new();
	struct countsfile f;
	struct bytes b;

	if (io_read_all(fd, OUTPUT_MAX, a, &b, err) < 0 || countsfile_read(b, a, &f, err) < 0)
		goto out;
	in[0] = open(f.path, O_RDONLY | O_CLOEXEC);
	if (in[0] < 0) {
		err_set(err, ERR_SYS, "'%s': open: %s", f.path, strerror(errno));
		goto out;
	}
	if (run(l, JOB_COUNTS, in, 2, &out, err) == 0 &&
	    io_read_all(out, OUTPUT_MAX, a, &b, err) == 0)
		rc = write_file(out_dir, f.path, &f.original, b, l, err);
out:
	if (in[0] >= 0)
		close(in[0]);
	if (out >= 0)
		close(out);
	arena_free(a);
	return rc;
}

static bool holds_counts(int fd)
{
	uint8_t start[8];

	return pread(fd, start, sizeof(start), 0) == (ssize_t)sizeof(start) &&
	       countsfile_is((struct bytes){ start, sizeof(start) });
}

int profile_log_write(const char *log_path, const char *out_dir,
		      const struct profile_log_places *places, FILE *say_to, struct err *err)
{
	struct log l = { .morph_edit = places->morph_edit,
			 .store = places->store, .say = say_to, .fd = -1,
			 .original = -1 };
	int fd = open(log_path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", log_path, strerror(errno));
	if (mkdir(out_dir, 0777) < 0 && errno != EEXIST) {
		close(fd);
		return err_set(err, ERR_SYS, "'%s': mkdir: %s", out_dir, strerror(errno));
	}
	int rc = holds_counts(fd) ? write_counts(fd, &l, out_dir, err)
				  : gather(fd, &l, out_dir, err);
	close(fd);
	for (uint32_t i = 0; i < l.nknown; i++) {
		blocktable_free(&l.known[i].table);
		free(l.known[i].path);
	}
	free(l.known);
	return rc < 0 ? err_wrap(err, "'%s'", log_path) : 0;
}
