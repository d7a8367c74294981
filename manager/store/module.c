/* module.c - tells which module and which generation a file is, by path, inode and content
 *
 *   path --open, fstat--> seen as before?  same
 *                         else digest:     the original? a generation of it? somebody else's
 *                                          work
 *
 * Every digest taken is also noted for the inode (store_file_put), because processes go on
 * running an inode that a swap has taken from its path (module_resolve.c).
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
#include <unistd.h>

#include "lib/blockmap.h"
#include "lib/err.h"
#include "lib/memory.h"
#include "manager/store/module_change.h"
#include "manager/store/module_parts.h"

/* Of kept address-to-block indexes: chosen; they take 2 bytes a block, and 5 more where it is
 * in a generation. */
enum { KEPT_BYTES = 18 << 20 };

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

struct store_seen modules_seen_of(const struct stat *st)
{
	return (struct store_seen){ st->st_dev, st->st_ino, (uint64_t)st->st_size,
				    ns_of(st->st_mtim), ns_of(st->st_ctim) };
}

bool modules_same_seen(const struct store_seen *a, const struct store_seen *b)
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
		m->seen = modules_seen_of(st);
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
	struct store_seen seen = modules_seen_of(&st);
	if (m->id && modules_same_seen(&seen, &m->seen)) {
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
int modules_check_original(const struct store_module *m, struct blocktable *out,
			   struct err *err)
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
	return blocktable_read(b, out, err) < 0 ? -1 : modules_check_original(m, out, err);
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
