/* module_resolve.c - for samples: the module, its generation and its blocks, of a mapped file
 *
 * A sample of an inode that is not at its path any more is attributed through the content it
 * had, as long as the module at the path still has the same original.
 *
 * Device numbers of mappings differ from those of files on some file systems (btrfs,
 * overlayfs): then, and only for a file at the path that is on one, inode and path together
 * identify.  Elsewhere the same inode number and path on another device is another file: that
 * of a container.
 *
 * Tested by tests/unit/manager/store/test_module.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/blockmap.h"
#include "lib/err.h"
#include "lib/memory.h"
#include "manager/store/module.h"
#include "manager/store/module_parts.h"

/* What release() frees. */
struct loaded {
	struct store_module module;
	struct digest content;		/* of what was mapped */
};

static bool on_known_kind(int fd)
{
	enum { BTRFS = 0x9123683e, OVERLAYFS = 0x794c7630, BCACHEFS = 0xca451a4e };
	struct statfs f;

	return fstatfs(fd, &f) == 0 && ((uint32_t)f.f_type == (uint32_t)BTRFS ||
					(uint32_t)f.f_type == (uint32_t)OVERLAYFS ||
					(uint32_t)f.f_type == (uint32_t)BCACHEFS);
}

/* Of what is at the path: when nothing is, nobody can tell. */
static bool other_device(struct modules *ms, const char *path)
{
	const struct module_services *by = &ms->by;
	int fd = by->open(by->ctx, path, NULL);

	if (fd < 0)
		return false;
	bool other = by->other_device ? by->other_device(fd) : on_known_kind(fd);
	close(fd);
	return other;
}

/* Which content the mapped inode had: 1 and the record, 0 never seen. */
static int find_content(struct modules *ms, const struct space_file *file,
			struct store_file *out, struct err *err)
{
	uint64_t dev = makedev(file->dev_major, file->dev_minor);

	for (int dev_any = 0; dev_any < 2; dev_any++) {
		int rc = store_file_find(ms->store, dev, dev_any, file->inode, file->path, out,
					 err);

		if (rc < 0)
			return -1;
		if (rc == 0)
			continue;
		bool same_path = modules_is_path(out->path, file->path);
		bool told = out->has_generation && file->inode_generation;
		if (!(told ? (uint32_t)out->inode_generation == (uint32_t)file->inode_generation
			   : same_path))
			continue;
		if (!dev_any || other_device(ms, out->path))
			return 1;
	}
	return 0;
}

int modules_content(struct modules *ms, const struct space_file *file, struct digest *out,
		    struct err *err)
{
	struct store_file f;
	int rc = find_content(ms, file, &f, err);

	if (rc == 1)
		*out = f.digest;
	return rc;
}

static int load_map(struct modules *ms, const struct digest *generation, struct blockmap *out,
		    struct err *err)
{
	struct wr w = { 0 };
	int rc = store_generation_map(ms->store, generation, &w, err);

	if (rc == 0)
		rc = store_live_map(ms->store, generation, &w, err);
	if (rc == 1 && blockmap_read_images(wr_bytes(&w), out, err) < 0)
		rc = -1;
	wr_free(&w);
	return rc;
}

static int load_table(struct modules *ms, const struct store_module *m, struct blocktable *out,
		      struct err *err)
{
	int rc = store_table_load(ms->store, &m->original, out, err);

	return rc == 1 && modules_check_original(m, out, err) < 0 ? -1 : rc;
}

/* Where the blocks of content `d` of module m are: 1 it is kept, 0 not known. */
static int load_index(struct modules *ms, const struct store_module *m, const struct digest *d,
		       struct err *err)
{
	bool is_generation = !digest_equal(d, &m->original);
	struct blocktable table = { 0 };
	struct blockmap map = { 0 };
	int rc = is_generation ? load_map(ms, d, &map, err) : 1;

	if (rc == 1)
		rc = load_table(ms, m, &table, err);
	if (rc == 1)
		blockindex_kept_put(ms->kept, d, &m->original,
				blockindex_new(&table, is_generation ? &map : NULL));
	blocktable_free(&table);
	blockmap_free(&map);
	return rc;
}

/* Content `d` of module m, its generation `number`, into *out. */
static int load_target(struct modules *ms, const struct store_module *m, const struct digest *d,
		       uint32_t number, struct attribute_target *out, struct err *err)
{
	const struct blockindex *index = blockindex_kept_get(ms->kept, d);
	struct err why;

	/* Nor may what a job has made up of one file: then its blocks are not known. */
	if (!index && load_index(ms, m, d, &why) < 0 &&
	    (why.kind != ERR_INPUT || store_is_damaged(ms->store)))
		return err_set(err, why.kind, "%s", why.text);
	struct loaded *l = memory_new(1, sizeof(*l));
	*l = (struct loaded){ *m, *d };
	*out = (struct attribute_target){
		.module = (uint64_t)m->id, .generation = number, .own = l,
		.index = index ? index : blockindex_kept_get(ms->kept, d),
	};
	return 1;
}

/* Is it a file of STORE/live, a form of a generation for running processes?  Its name is its
 * digest.  Who gives such a name to a file of his own counts for it what his processes do: he
 * could as well have these run the generation. */
static bool is_live(struct modules *ms, const char *path, struct digest *out)
{
	const char *dir = store_dir(ms->store);
	size_t n = strlen(dir);
	char hex[65];

	if (strncmp(path, dir, n) != 0 || strncmp(path + n, "/live/", 6) != 0)
		return false;
	(void)snprintf(hex, sizeof(hex), "%s", path + n + 6);	/* cut: "(deleted)" */
	return digest_from_hex(hex, out) == 0;
}

static int resolve_live(struct modules *ms, const struct digest *d,
			struct attribute_target *out, struct err *err)
{
	struct store_generation g;
	struct store_module m;
	int rc = store_live_generation(ms->store, d, &g, err);

	if (rc == 1)
		rc = store_module_by_id(ms->store, g.module, &m, err);
	if (rc != 1 || !digest_equal(&g.original, &m.original))
		return rc < 0 ? -1 : 0;
	rc = load_target(ms, &m, d, g.number, out, err);
	if (rc == 1)
		out->live = true;
	return rc;
}

static int resolve_as(struct modules *ms, const struct space_file *file,
		      struct attribute_target *out, struct err *err)
{
	struct store_generation g;
	struct store_module m;
	struct store_file f;
	enum module_look look;
	struct digest live;
	uint32_t number = 0;

	if (is_live(ms, file->path, &live))
		return resolve_live(ms, &live, out, err);
	/* What is at the path now; a file that cannot be opened may still be known by its
	 * inode.  One that changed and was not read since is not known by it. */
	if (file->path[0] == '/' && ms->by.allows(ms->by.ctx, file->path) &&
	    modules_look(ms, file->path, &look, &m, NULL) == 0 && look == MODULE_LATER &&
	    m.seen.inode == file->inode)
		return 0;
	int rc = find_content(ms, file, &f, err);
	if (rc != 1)
		return rc;
	if (!ms->by.allows(ms->by.ctx, f.path))
		return 0;
	rc = store_module_by_path(ms->store, f.path, &m, err);
	if (rc != 1)
		return rc;
	if (!digest_equal(&f.digest, &m.original)) {
		rc = store_generation_by_digest(ms->store, &f.digest, &g, err);
		if (rc != 1)
			return rc;
		number = g.number;
		if (!digest_equal(&g.original, &m.original))
			/* the module at the path is another one by now */
			return 0;
	}
	/* A failed analysis must not hold up the spool; it is tried again with the next. */
	if (!blockindex_kept_get(ms->kept, &f.digest))
		(void)modules_analyze(ms, &m, NULL);
	return load_target(ms, &m, &f.digest, number, out, err);
}

/* By whichever of its names the file is run. */
static int resolve(void *ctx, const struct space_file *file, struct attribute_target *out,
		   struct err *err)
{
	struct modules *ms = ctx;
	struct space_file as = *file;
	char other[PATH_MAX];

	if (file->path[0] == '/' && modules_other_name(ms->store, file->path, other))
		as.path = other;
	return resolve_as(ms, &as, out, err);
}

static void release(void *ctx, const struct attribute_target *target)
{
	struct modules *ms = ctx;

	free(target->own);
	blockindex_kept_trim(ms->kept);
}

/* A content of the module: at its path as last looked at, or, the original, where those are
 * kept. */
static int open_content(struct modules *ms, const struct store_module *m,
			const struct digest *content, struct err *err)
{
	const struct module_services *by = &ms->by;
	struct stat st;
	int fd;

	if (digest_equal(&m->present, content)) {
		fd = by->open(by->ctx, m->path, err);
		if (fd < 0)
			return -1;
		struct store_seen now =
			fstat(fd, &st) < 0 ? (struct store_seen){ 0 } : modules_seen_of(&st);
		if (modules_same_seen(&now, &m->seen))
			return fd;
		close(fd);
	} else if (digest_equal(&m->original, content) && by->open_original) {
		return by->open_original(by->ctx, &m->original, err);
	} else if (by->open_live) {
		return by->open_live(by->ctx, content, err);
	}
	return err_set(err, ERR_SYS, "'%s': what ran is not there any more", m->path);
}

static int run_interpreter(struct modules *ms, const struct loaded *l, struct bytes states,
			   struct wr *text, struct err *err)
{
	const struct module_services *by = &ms->by;

	if (!by->interpret)
		return err_set(err, ERR_SYS, "no interpreter");
	int fd = open_content(ms, &l->module, &l->content, err), original = -1, rc = 0;
	if (fd < 0)
		return -1;
	if (!digest_equal(&l->content, &l->module.original))
		rc = original = open_content(ms, &l->module, &l->module.original, err);
	if (rc >= 0)
		rc = by->interpret(by->ctx, fd, original, states, text, err);
	if (original >= 0)
		close(original);
	close(fd);
	return rc < 0 ? -1 : 0;
}

static int interpret(void *ctx, const struct attribute_target *target, struct bytes states,
		     struct edgecounts *out, struct err *err)
{
	const struct loaded *l = target->own;
	struct blocktable table = { 0 };
	struct modules *ms = ctx;
	struct wr text = { 0 };
	int rc = run_interpreter(ms, l, states, &text, err);

	if (rc == 0 && load_table(ms, &l->module, &table, err) == 1)
		rc = edgecounts_read(wr_bytes(&text), &table, out, err);
	else
		rc = -1;
	blocktable_free(&table);
	wr_free(&text);
	return rc;
}

static bool lacks(void *ctx, const struct attribute_target *target)
{
	const struct module_services *by = &((struct modules *)ctx)->by;
	const struct loaded *l = target->own;

	return !by->lacks || by->lacks(by->ctx, &l->module);
}

static void made(void *ctx, const struct madeset_question *q, struct madeset_answer *answer)
{
	const struct module_services *by = &((struct modules *)ctx)->by;

	if (by->made && by->allows(by->ctx, q->program))
		by->made(by->ctx, q, answer);
}

struct attribute_resolver modules_resolver(struct modules *ms)
{
	blockindex_kept_round(ms->kept);
	return (struct attribute_resolver){ .resolve = resolve, .release = release,
					    .interpret = interpret, .lacks = lacks,
					    .made = made, .ctx = ms };
}
