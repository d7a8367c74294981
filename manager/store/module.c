/* module.c - tells which module and which generation a file is, by path, inode and content
 *
 *   path --open, fstat--> seen as before?  same
 *                         else digest:     the original? a generation of it? somebody else's
 *                                          work
 *
 * Every digest taken is also noted for the inode (store_file_put), because processes go on
 * running an inode that a swap has taken from its path.  A sample of such an inode is
 * attributed through the content it had, as long as the module at the path still has the same
 * original.
 *
 * Device numbers of mappings differ from those of files on some file systems (btrfs,
 * overlayfs): then, and only for a file at the path that is on one, inode and path together
 * identify.  Elsewhere the same inode number and path on another device is another file: that
 * of a container.
 */
#include "manager/store/module.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/blockmap.h"
#include "lib/err.h"
#include "lib/memory.h"
#include "manager/store/module_change.h"

/* Of kept address-to-block indexes: chosen; they take 2 bytes a block, and 5 more where it is
 * in a generation. */
enum { KEPT_BYTES = 18 << 20 };

struct modules {
	struct store *store;
	struct blockindex_kept *kept;
	struct module_services by;
	uint64_t wait_ms;		/* of the last that has to wait */
};

/* What release() frees. */
struct loaded {
	struct store_module module;
	struct digest content;		/* of what was mapped */
};

struct modules *modules_new(struct store *s, const struct module_services *services)
{
	struct modules *ms = memory_new(1, sizeof(*ms));

	*ms = (struct modules){ .store = s, .kept = blockindex_kept_new(KEPT_BYTES),
				.by = *services };
	return ms;
}

void modules_free(struct modules *ms)
{
	if (!ms)
		return;
	blockindex_kept_free(ms->kept);
	free(ms);
}

/* --- looking --- */

static uint64_t ns_of(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct store_seen seen_of(const struct stat *st)
{
	return (struct store_seen){ st->st_dev, st->st_ino, (uint64_t)st->st_size,
				    ns_of(st->st_mtim), ns_of(st->st_ctim) };
}

static bool same_seen(const struct store_seen *a, const struct store_seen *b)
{
	return a->dev == b->dev && a->inode == b->inode && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

/* Notes which content the inode has. */
static int note_file(struct modules *ms, const char *path, int fd, const struct stat *st,
		     const struct digest *digest, struct err *err)
{
	struct store_file f = { .dev = st->st_dev, .inode = st->st_ino, .digest = *digest };
	int generation;

	if (ioctl(fd, FS_IOC_GETVERSION, &generation) == 0) {
		f.has_generation = true;
		f.inode_generation = (uint32_t)generation;
	}
	/* length checked by the caller */
	(void)snprintf(f.path, sizeof(f.path), "%s", path);
	return store_file_put(ms->store, &f, err);
}

/* What is at a module's path now. */
struct content {
	struct digest digest;
	bool made;			/* by us: a generation, `g` */
	struct store_generation g;
	/* what passes on to it of what was there before */
	enum module_passes passes;
	struct store_legacy legacy;
};

static const struct digest *original_of(const struct content *c)
{
	return c->made ? &c->g.original : &c->digest;
}

/* Before anything is written: whoever is asked may ask others.  What one user's file was used
 * for is not the affair of another. */
static void ask_what_passes(struct modules *ms, const struct store_module *m, uint32_t owner,
			    struct content *c)
{
	if (ms->by.bequeath && m->id && m->owner == owner &&
	    !digest_equal(&c->digest, &m->present) &&
	    !digest_equal(original_of(c), &m->original))
		c->passes = ms->by.bequeath(ms->by.ctx, m, &c->legacy);
}

/* Says what the content means for *m, and updates that. */
static int take_content(struct modules *ms, struct store_module *m, const struct content *c,
			enum module_look *look, struct err *err)
{
	if (!m->id) {
		*look = MODULE_NEW;
	} else if (digest_equal(&c->digest, &m->present)) {
		*look = MODULE_SAME;
	} else if (digest_equal(original_of(c), &m->original)) {
		*look = MODULE_SWAPPED;
		if (!c->made && module_change_put_back(ms->store, m, err) < 0)
			return -1;
	} else {
		*look = MODULE_CHANGED;
		if (module_change_discard(ms->store, m, c->passes, &c->legacy, err) < 0)
			return -1;
	}
	m->original = *original_of(c);
	m->present = c->digest;
	m->generation = c->made ? c->g.number : 0;
	if (store_module_put(ms->store, m, err) < 0)
		return -1;
	return *look == MODULE_CHANGED ? store_table_prune(ms->store, err) : 0;
}

/* A generation that the store has no record of, because it is older than its database.  One
 * that counts has begun long ago: nobody takes its counts. */
static int enter_adopted(struct modules *ms, const struct store_module *m,
			 struct store_generation *g, bool counts, struct bytes map,
			 struct err *err)
{
	static const struct store_profile none;
	const struct store_counting c = { .module = m->id, .generation = g->digest,
					  .original = g->original };

	g->module = m->id;
	if (store_generation_add(ms->store, g, map, &none, err) < 0 ||
	    (counts && store_counting_put(ms->store, &c, err) < 0))
		return -1;
	return store_history_add(ms->store, m->path, "found",
				 "a generation of which the store had no record", err);
}

/* Is `d` a generation?  -1, or enum module_made; adopted: *g is filled but for its module. */
static int find_made(struct modules *ms, const char *path, int fd, const struct digest *d,
		     struct store_generation *g, struct wr *map, struct err *err)
{
	int rc = store_generation_by_digest(ms->store, d, g, err);

	if (rc || !ms->by.adopt || !blockmap_may_be_in(fd))
		return rc;		/* MADE_KNOWN is 1 */
	*g = (struct store_generation){ .digest = *d, .state = STATE_INSTALLED };
	return (int)ms->by.adopt(ms->by.ctx, path, fd, &g->original, &g->number, map);
}

int modules_digest(struct modules *ms, int fd, struct digest *out, struct err *err)
{
	const struct digest_slices slices = { ms->by.go_on, ms->by.ctx };

	return digest_fd_slices(fd, ms->by.go_on ? &slices : NULL, out, err);
}

uint64_t modules_wait_ms(const struct modules *ms)
{
	return ms->wait_ms;
}

/* Somebody may have changed the file: its content, *st.  1: what it is is told later. */
static int look_into(struct modules *ms, const char *path, int fd, const struct stat *st,
		     struct store_module *m, enum module_look *look, struct err *err)
{
	struct content c = { 0 };
	struct wr map = { 0 };

	if (modules_digest(ms, fd, &c.digest, err) < 0)
		return -1;
	int made = find_made(ms, path, fd, &c.digest, &c.g, &map, err);
	bool counts = made == MADE_ADOPTED && !c.g.number;
	c.made = made > 0;
	if (made < 0 || made == MADE_LATER ||
	    (counts && store_generation_next(ms->store, m->id, &c.g.number, err) < 0)) {
		wr_free(&map);
		return made == MADE_LATER ? 1 : -1;
	}
	ask_what_passes(ms, m, st->st_uid, &c);
	int rc = store_begin(ms->store, err);
	if (rc == 0) {
		m->seen = seen_of(st);
		m->owner = st->st_uid;
		rc = take_content(ms, m, &c, look, err);
		if (rc == 0 && made == MADE_ADOPTED)
			rc = enter_adopted(ms, m, &c.g, counts, wr_bytes(&map), err);
		if (rc == 0)
			rc = note_file(ms, path, fd, st, &c.digest, err);
		if (rc < 0)
			store_rollback(ms->store);
		else
			rc = store_commit(ms->store, err);
	}
	store_legacy_free(&c.legacy);
	wr_free(&map);
	return rc;
}

static int look_at(struct modules *ms, const char *path, int fd, struct store_module *m,
		   enum module_look *look, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, ERR_SYS, "fstat: %s", strerror(errno));
	struct store_seen seen = seen_of(&st);
	if (m->id && same_seen(&seen, &m->seen)) {
		*look = MODULE_SAME;
		return 0;
	}
	/* Whose it is matters to who may see it, and need not be read. */
	if (m->id && m->owner != st.st_uid &&
	    module_change_owner(ms->store, m, st.st_uid, err) < 0)
		return -1;
	uint64_t wait = ms->by.wait_ms ? ms->by.wait_ms(ms->by.ctx, path, st.st_uid,
							seen.size) : 0;
	int rc = wait ? 1 : look_into(ms, path, fd, &st, m, look, err);
	if (rc <= 0)
		return rc;
	m->owner = st.st_uid;
	m->seen = seen;
	ms->wait_ms = wait ? wait : MODULES_LATER_MS;
	*look = MODULE_LATER;
	return 0;
}

int modules_look(struct modules *ms, const char *path, enum module_look *look,
		 struct store_module *out, struct err *err)
{
	struct store_module m = { 0 };
	enum module_look how = MODULE_GONE;
	struct stat st;

	if (strlen(path) >= sizeof(m.path))
		return err_set(err, ERR_REFUSED, "path too long");
	if (store_module_by_path(ms->store, path, &m, err) < 0)
		return -1;
	(void)snprintf(m.path, sizeof(m.path), "%s", path);	/* length checked */
	int fd = ms->by.open(ms->by.ctx, path, err);
	if (fd < 0) {
		if (lstat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR))
			return -1;
		*look = how;
		*out = m;
		return 0;
	}
	int rc = look_at(ms, path, fd, &m, &how, err);
	close(fd);
	if (rc < 0)
		return err_wrap(err, "'%s'", path);
	*look = how;
	*out = m;
	return 0;
}

struct look_all {
	struct modules *ms;
	void (*f)(void *ctx, enum module_look look, const struct store_module *m);
	void *ctx;
};

static bool look_one(void *ctx, const struct store_module *m)
{
	struct look_all *all = ctx;
	struct store_module now;
	enum module_look look;

	/* A file that cannot be opened just now keeps what is known of it. */
	if (modules_look(all->ms, m->path, &look, &now, NULL) == 0 && all->f)
		all->f(all->ctx, look, &now);
	return true;
}

int modules_look_all(struct modules *ms,
		     void (*f)(void *ctx, enum module_look look, const struct store_module *m),
		     void *ctx, struct err *err)
{
	struct look_all all = { ms, f, ctx };

	return store_module_each(ms->store, look_one, &all, err);
}

/* --- block tables --- */

/* Is it of the right original?  Else it is freed. */
static int check_original(const struct store_module *m, struct blocktable *out, struct err *err)
{
	if (digest_equal(&out->original, &m->original))
		return 0;
	blocktable_free(out);
	return err_set(err, ERR_INPUT, "block table of another file");
}

/* Range-checked and of the right original. */
static int read_table(const struct store_module *m, struct bytes b, struct blocktable *out,
		      struct err *err)
{
	return blocktable_read(b, out, err) < 0 ? -1 : check_original(m, out, err);
}

static int enter_table(struct modules *ms, struct store_module *m, struct bytes b,
		       const struct blocktable *t, struct err *err)
{
	m->text_bytes = t->text_size;
	m->functions = t->nfn;
	m->movable = 0;
	for (uint32_t i = 0; i < t->nfn; i++)
		m->movable += t->fn[i].reason == 0;
	m->refusal[0] = '\0';
	blockindex_kept_forget(ms->kept, &m->original);
	if (store_begin(ms->store, err) < 0)
		return -1;
	if (store_table_put(ms->store, &m->original, b, err) < 0 ||
	    store_module_put(ms->store, m, err) < 0) {
		store_rollback(ms->store);
		return -1;
	}
	return store_commit(ms->store, err);
}

static int make_table(struct modules *ms, const struct store_module *m, struct wr *out,
		      struct err *err)
{
	struct digest d;
	int rc = -1, fd = m->generation && ms->by.open_original
				  ? ms->by.open_original(ms->by.ctx, &m->original, err)
				  : ms->by.open(ms->by.ctx, m->path, err);

	if (fd < 0)
		return -1;
	if (modules_digest(ms, fd, &d, err) == 0) {
		if (digest_equal(&d, &m->original))
			rc = ms->by.analyze(ms->by.ctx, m->path, fd, out, err);
		else
			err_set(err, ERR_SYS, "its original is not at the path");
	}
	close(fd);
	return rc;
}

int modules_analyze(struct modules *ms, struct store_module *m, struct err *err)
{
	struct blocktable t = { 0 };
	struct wr w = { 0 };
	struct err why;
	int rc;

	if (m->refusal[0])
		return 0;
	rc = store_table_has(ms->store, &m->original, err);
	if (rc == 1 && m->text_bytes)
		return 1;
	if (rc == 1)
		rc = store_table_get(ms->store, &m->original, &w, err);
	if (rc == 0 && make_table(ms, m, &w, &why) < 0) {
		wr_free(&w);
		if (why.kind != ERR_REFUSED)
			return err_set(err, why.kind, "'%s': %s", m->path, why.text);
		(void)snprintf(m->refusal, sizeof(m->refusal), "%.*s", STORE_REFUSAL_MAX - 1,
			       why.text);		/* cut */
		return store_module_put(ms->store, m, err) < 0 ? -1 : 0;
	}
	if (rc >= 0 && (read_table(m, wr_bytes(&w), &t, err) < 0 ||
			enter_table(ms, m, wr_bytes(&w), &t, err) < 0))
		rc = err_wrap(err, "'%s'", m->path);
	blocktable_free(&t);
	wr_free(&w);
	return rc < 0 ? -1 : 1;
}

/* --- resolving mapped files --- */

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

	return rc == 1 && check_original(m, out, err) < 0 ? -1 : rc;
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
			fstat(fd, &st) < 0 ? (struct store_seen){ 0 } : seen_of(&st);
		if (same_seen(&now, &m->seen))
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
					    .interpret = interpret, .made = made, .ctx = ms };
}
