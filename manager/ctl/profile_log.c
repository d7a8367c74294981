/* profile_log.c - what the Manager does when idle, for one log and without its store
 *
 * Every file that the log has samples of is opened at its path and must be the inode that ran
 * (the device number may differ: btrfs, overlayfs); `morph-edit analyze` gives its block table,
 * and `morph-edit interpret` the edges, where samples came with registers.  Files
 * that it refuses are said and left out.
 *
 * A generation has its block map with it; its original is looked for in the daemon's store.
 *
 * A recording of others becomes a log first.  Its files are known by their build-ids, as far as
 * it has these; a confined job says which one a file of this machine has.
 *
 * Tested by tests/e2e/registers.sh, tests/e2e/import.sh and tests/e2e/branches.sh.
 */
#include "manager/ctl/profile_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/branchcounts.h"
#include "lib/countsfile.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "lib/profile.h"
#include "lib/say.h"
#include "manager/samples/attribute.h"
#include "manager/import/importjob.h"
#include "manager/parent/job.h"
#include "monitor/spool.h"

enum { OUTPUT_MAX = MODULEFILE_OUTPUT_MAX };

struct known {			/* one original module of the log */
	char *path;
	struct blocktable table;
	double *executions;	/* [nblock] by branch stacks; NULL: there were none */
};

struct log {
	const struct modulefile_places *at;
	FILE *say;
	struct known *known;
	uint32_t nknown;
	int fd;			/* the file that is being resolved, -1: none */
	int original;		/* of it, if it is a generation, else -1 */
	struct blockmap map;
	const struct imported *imported;	/* the log was one of others; else NULL */
	const struct profile_log_import *import;
	const char *const *binary;	/* [nbinary], of profile_log_places */
	uint32_t nbinary;
	FILE *why;		/* likewise */
};

static void say(const struct log *l, const char *path, const char *text)
{
	if (l->say)
		say_line(l->say, "%s: %s", path, text);	/* only news for a person */
}

/* Why a module has no profile, or not all of it. */
static void say_why(const struct log *l, const char *path, const struct err *why)
{
	if (l->why)
		say_line(l->why, "%s: %s", path, why->text);
	else
		say(l, path, why->text);
}

static int run(const struct log *l, enum job_kind kind, const int *in, int nin, int *out,
	       struct err *err)
{
	struct modulefile_job job = { .kind = kind, .nin = nin };

	memcpy(job.in, in, (size_t)nin * sizeof(*in));
	return modulefile_run(l->at->morph_edit, &job, out, err);
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
	l->original = modulefile_original(l->at, l->fd, &l->map, err);
	return l->original < 0 ? -1 : 0;
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

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Recordings of old have shorter ones with zeros up to 20 bytes. */
static bool same_id(const char *file, const char *recorded)
{
	size_t n = strlen(file);

	return n && strncmp(file, recorded, n) == 0 &&
	       strspn(recorded + n, "0") == strlen(recorded + n);
}

/* Opens a file if it is the one with that build-id (NULL: not known). */
static int open_with_id(const struct log *l, const char *path, const char *id, struct err *err)
{
	char hex[2 * 20 + 1];
	struct stat st;
	int fd = modulefile_open(path, &st, err);

	if (fd < 0)
		return -1;
	if (!id)
		return fd;
	if (modulefile_build_id(l->at->morph_edit, fd, hex, err) < 0)
		;
	else if (same_id(hex, id))
		return fd;
	else
		err_set(err, ERR_REFUSED,
			"another file is there by now: its build-id is %s, that of the "
			"recording %s", *hex ? hex : "none", id);
	close(fd);
	return -1;
}

/* The file that was recorded: by its build-id, else by its name. */
static int open_recorded(const struct log *l, const struct space_file *file, struct err *err)
{
	const struct import_id *recorded = imported_id(l->imported, file->path);
	const char *id = recorded ? recorded->hex : NULL;
	const struct profile_log_import *o = l->import;
	struct stat st;
	int fd = -1;

	if (file->path[0] != '/')
		return err_set(err, ERR_REFUSED, "not a file with a path");
	if (recorded && recorded->several)
		return err_set(err, ERR_REFUSED, "two files were at that path, with different "
			       "build-ids");
	for (uint32_t i = 0; i < o->nbinary && fd < 0; i++)
		if (id || strcmp(base_name(o->binary[i]), base_name(file->path)) == 0)
			fd = open_with_id(l, o->binary[i], id, err);
	if (fd < 0)
		fd = open_with_id(l, file->path, id, err);
	if (fd >= 0 && !id && (fstat(fd, &st) < 0 || file->dev_major == IMPORT_NO_DEVICE ||
			       st.st_ino != file->inode))
		say(l, file->path,
		    "warning: the recording has no build-id of it; taken by its name");
	return fd;
}

/* A descriptor for the file that ran, if it is still at its path. */
static int open_ran(const struct log *l, const struct space_file *file, struct err *err)
{
	struct stat st;

	if (l->imported)
		return open_recorded(l, file, err);

	for (uint32_t i = 0; i < l->nbinary; i++)
		if (strcmp(base_name(l->binary[i]), base_name(file->path)) == 0)
			return modulefile_open(l->binary[i], &st, err);
	if (file->path[0] != '/')
		return err_set(err, ERR_REFUSED, "not a file with a path");
	int fd = modulefile_open(file->path, &st, err);
	if (fd < 0)
		return -1;
	if (st.st_ino == file->inode)
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
	l->fd = open_ran(l, file, &why);
	if (l->fd < 0 || find_table(l, &t, &why) < 0) {
		say_why(l, file->path, &why);
		release(l, NULL);
		return 0;
	}
	for (i = 0; i < l->nknown; i++)
		if (digest_equal(&l->known[i].table.original, &t.original))
			break;
	if (i == l->nknown) {
		l->known = memory_grow(l->known, l->nknown + 1, sizeof(*l->known));
		l->known[l->nknown++] =
			(struct known){ memory_need(strdup(file->path)), t, NULL };
	} else {
		blocktable_free(&t);
	}
	struct blockindex *index =
		blockindex_new(&l->known[i].table, l->original < 0 ? NULL : &l->map);
	*out = (struct attribute_target){ .module = i, .index = index, .own = index };
	return 1;
}

/* What a job says of branch stacks: edges, and how often blocks ran. */
static int take_executions(struct known *k, struct bytes text, struct edgecounts *out_edges,
			   struct err *err)
{
	struct arena *a = arena_new();
	struct profile p;
	int rc = profile_read(text, a, &p, err);

	if (rc == 0)
		rc = edgecounts_of(&p, &k->table, out_edges, err);
	/* where the code has none of the branches, nothing ran */
	if (rc == 0 && p.nblock && !k->executions)
		k->executions = memory_new((size_t)k->table.nblock + 1, sizeof(double));
	for (uint32_t i = 0; rc == 0 && i < p.nblock; i++) {
		uint32_t b = blocktable_find(&k->table, p.block[i].addr);

		if (b != UINT32_MAX)
			k->executions[b] += p.block[i].samples;
	}
	arena_free(a);
	return rc;
}

static int interpret(void *ctx, const struct attribute_target *target, struct bytes states,
		     struct edgecounts *out_edges, struct err *err)
{
	const struct log *l = ctx;
	struct known *k = &l->known[target->module];
	const bool executions = l->imported && branchcounts_is(states);
	struct arena *a = arena_new();
	struct err why;
	int in[3] = { l->fd, io_memory_file(states, &why), l->original };
	int out = -1, rc = -1;
	struct bytes b;

	if (in[1] >= 0 &&
	    run(l, executions ? JOB_EXECUTIONS : JOB_INTERPRET, in, l->original < 0 ? 2 : 3,
		&out, &why) == 0 && io_read_all(out, OUTPUT_MAX, a, &b, &why) == 0)
		rc = 0;
	if (rc == 0)
		rc = executions ? take_executions(k, b, out_edges, &why)
				: edgecounts_read(b, &k->table, out_edges, &why);
	if (rc < 0)
		say_why(l, k->path, &why);
	if (in[1] >= 0)
		close(in[1]);
	if (out >= 0)
		close(out);
	arena_free(a);
	return rc < 0 ? err_set(err, why.kind, "%s", why.text) : 0;
}

/* --- writing --- */

int profile_log_file(const char *out_dir, const char *module, const struct digest *original,
		     struct bytes b, struct err *err)
{
	char path[PATH_MAX], hex[65];

	digest_hex(original, hex);
	if (snprintf(path, sizeof(path), "%s/%s.%.12s.profile", out_dir,
		     base_name(module), hex) >= (int)sizeof(path))
		return err_set(err, ERR_USAGE, "'%s': path too long", out_dir);
	return io_write_file(path, 0666, b, err);
}

static int write_file(const char *out_dir, const char *module, const struct digest *original,
		      struct bytes b, const struct log *l, struct err *err)
{
	char text[128];

	if (profile_log_file(out_dir, module, original, b, err) < 0)
		return -1;
	/* fits */
	(void)snprintf(text, sizeof(text), "%" PRIu64 " bytes of profile", b.n);
	say(l, module, text);
	return 0;
}

/* Executions of blocks, or their samples, whichever says more: they are not added up, since one
 * is time and the other is not.  NULL: the samples. */
static const double *choose_executions(const struct log *l, const struct known *k,
				       const struct attribute_module *m)
{
	double ran = 0, sampled = 0;
	char text[160];

	for (uint32_t i = 0; k->executions && i < k->table.nblock; i++)
		ran += k->executions[i];
	for (uint32_t i = 0; i < m->ncount; i++)
		sampled += m->count[i].samples;
	bool use = ran > 0 && ran >= sampled;
	if (ran <= 0 || sampled <= 0)
		return use ? k->executions : NULL;
	(void)snprintf(text, sizeof(text),
		       use ? "%.0f executions of blocks by branch stacks; its %.0f samples "
			     "are not used"
			   : "only %.0f executions of blocks by branch stacks: not used, but "
			     "its %.0f samples", ran, sampled);	/* fits */
	say(l, k->path, text);
	return use ? k->executions : NULL;
}

static uint32_t fill_blocks(const struct known *k, const double *executions,
			    const struct attribute_module *m, struct profile_block *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; !executions && i < m->ncount; i++)
		out[n++] = (struct profile_block){
			k->table.base + k->table.block[m->count[i].block].off,
			m->count[i].samples,
		};
	for (uint32_t i = 0; executions && i < k->table.nblock; i++)
		if (executions[i] > 0)
			out[n++] = (struct profile_block){
				k->table.base + k->table.block[i].off, executions[i],
			};
	return n;
}

static int write_profile(const char *out_dir, const char *clock, const struct log *l,
			 const struct attribute_module *m, struct err *err)
{
	const struct known *k = &l->known[m->module];
	const double *executions = choose_executions(l, k, m);
	struct profile p = {
		.module = k->path,
		.original = k->table.original,
		.clock = executions ? "branches" : clock,
		.outside = executions ? 0 : (double)m->outside,
		.block = memory_new((size_t)(executions ? k->table.nblock : m->ncount) + 1,
				    sizeof(*p.block)),
	};
	struct arena *a = arena_new();
	struct wr w = { 0 };

	p.nblock = fill_blocks(k, executions, m, p.block);
	edgecounts_to_profile(&m->edges, 1, &k->table, a, &p);
	profile_write(&p, &w);
	int rc = write_file(out_dir, k->path, &k->table.original, wr_bytes(&w), l, err);
	wr_free(&w);
	arena_free(a);
	free(p.block);
	return rc;
}

/* Adds what one log says to *sum; *clock (room for a profile's word) is its clock. */
static int gather(int fd, struct log *l, char clock[33], struct attribution *sum,
		  struct err *err)
{
	struct attribute_resolver resolver = { .resolve = resolve, .release = release,
					       .interpret = interpret, .ctx = l };
	struct spool_reader *r = spool_reader_open(fd, err);

	if (!r)
		return -1;
	struct spaces *spaces = spaces_new(NULL);
	struct attribute *a = attribute_new(spaces);
	attribute_spool(a, r);
	int rc = attribute_resolve(a, &resolver, sum, err);
	(void)snprintf(clock, 33, "%.32s", spool_reader_clock(r));	/* fits */
	attribute_free(a);
	spaces_free(spaces);
	spool_reader_free(r);
	return rc;
}

static int write_profiles(const char *out_dir, const char *clock, const struct log *l,
			  const struct attribution *sum, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < sum->nmodule && rc == 0; i++)
		rc = write_profile(out_dir, clock, l, &sum->module[i], err);
	for (int i = 0; i < NCOUNTER && l->say && rc == 0; i++)
		if (sum->counter[i])
			say_line(l->say, "%10" PRIu64 " %s", sum->counter[i],
				 counter_help[i]);	/* only news for a person */
	return rc;
}

static int write_log(int fd, struct log *l, const char *out_dir, struct err *err)
{
	struct attribution sum = { 0 };
	char clock[33];
	int rc = gather(fd, l, clock, &sum, err);

	if (rc == 0)
		rc = write_profiles(out_dir, clock, l, &sum, err);
	attribution_free(&sum);
	return rc;
}

/* --- counts instead of a log --- */

static int write_counts(int fd, struct log *l, const char *out_dir, struct err *err)
{
	int in[2] = { -1, fd }, out = -1, rc = -1;
	struct arena *a = arena_new();
	struct countsfile f;
	struct stat st;
	struct bytes b;

	if (io_read_all(fd, OUTPUT_MAX, a, &b, err) < 0 || countsfile_read(b, a, &f, err) < 0)
		goto out;
	in[0] = modulefile_open(f.path, &st, err);
	if (in[0] < 0) {
		err_wrap(err, "'%s'", f.path);
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

static void log_free(struct log *l)
{
	for (uint32_t i = 0; i < l->nknown; i++) {
		blocktable_free(&l->known[i].table);
		free(l->known[i].executions);
		free(l->known[i].path);
	}
	free(l->known);
}

int profile_log_folder(const char *path, struct err *err)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return 0;
	return err_set(err, ERR_SYS, "'%s': mkdir: %s", path, strerror(errno));
}

int profile_log_write(const char *log_path, const char *out_dir,
		      const struct profile_log_places *places, FILE *say_to, struct err *err)
{
	struct log l = { .at = &places->at, .say = say_to, .fd = -1, .original = -1,
			 .binary = places->binary, .nbinary = places->nbinary,
			 .why = places->why };
	int fd = modulefile_recording(log_path, err);

	if (fd < 0)
		return -1;
	if (profile_log_folder(out_dir, err) < 0) {
		close(fd);
		return -1;
	}
	int rc = holds_counts(fd) ? write_counts(fd, &l, out_dir, err)
				  : write_log(fd, &l, out_dir, err);
	close(fd);
	log_free(&l);
	return rc < 0 ? err_wrap(err, "'%s'", log_path) : 0;
}

/* --- recordings of others --- */

static void say_counts(const struct log *l, const char *path, const struct import_counts *n)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
		       "%" PRIu64 " samples, %" PRIu64 " branch stacks; left out: %" PRIu64
		       " samples of other events, %" PRIu64 " records of other kinds",
		       n->samples, n->stacks, n->others, n->unknown);	/* fits */
	say(l, path, text);
	if (!n->chosen)
		return;
	(void)snprintf(text, sizeof(text),
		       "%" PRIu64 " branch stacks of chosen branches only: not used",
		       n->chosen);				/* fits */
	say(l, path, text);
}

static int import_one(const char *path, struct log *l, char clock[33], struct attribution *sum,
		      struct err *err)
{
	struct arena *a = arena_new();
	struct imported im = { .log_fd = -1 };
	char unused[33];
	int rc = importjob_run(path, a, &im, err);

	if (rc == 0) {
		say_counts(l, path, &im.counts);
		(void)snprintf(clock, 33, "%.32s", im.counts.clock);	/* fits */
		l->imported = &im;
		rc = gather(im.log_fd, l, unused, sum, err);
		l->imported = NULL;
	}
	if (im.log_fd >= 0)
		close(im.log_fd);
	arena_free(a);
	return rc < 0 ? err_wrap(err, "'%s'", path) : 0;
}

int profile_log_import(const struct profile_log_import *import, const char *out_dir,
		       const struct modulefile_places *places, FILE *say_to, struct err *err)
{
	struct log l = { .at = places, .say = say_to, .fd = -1, .original = -1,
			 .import = import };
	struct attribution sum = { 0 };
	char clock[33] = "other";
	int rc = 0;

	for (uint32_t i = 0; i < import->nrecording && rc == 0; i++)
		rc = import_one(import->recording[i], &l, clock, &sum, err);
	if (rc == 0)
		rc = profile_log_folder(out_dir, err);
	if (rc == 0)
		rc = write_profiles(out_dir, clock, &l, &sum, err);
	attribution_free(&sum);
	log_free(&l);
	return rc;
}
