/* store_module.c - stores modules, the inodes that they were seen in, and their block tables
 *
 * Tested by tests/unit/manager/store/test_store.c.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "manager/store/store_db.h"
#include "manager/store/store_made.h"
#include "manager/store/store_ran.h"
#include "manager/store/table_code.h"

static int read_module(struct store *s, sqlite3_stmt *q, struct store_module *out,
		       struct err *err)
{
	struct store_module m = { .id = sqlite3_column_int64(q, 0) };
	bool ok = m.id > 0 && store_get_text(q, 1, m.path, sizeof(m.path)) &&
		  store_get_digest(q, 2, &m.original) && store_get_digest(q, 3, &m.present) &&
		  store_get_u32(q, 4, &m.generation) &&
		  store_get_text(q, 10, m.refusal, sizeof(m.refusal)) &&
		  store_get_u32(q, 12, &m.functions) && store_get_u32(q, 13, &m.movable) &&
		  store_get_real(q, 14, &m.samples) && store_get_real(q, 15, &m.outside) &&
		  store_get_real(q, 17, &m.states) && store_get_u32(q, 18, &m.owner);

	m.seen.dev = (uint64_t)sqlite3_column_int64(q, 5);
	m.seen.inode = (uint64_t)sqlite3_column_int64(q, 6);
	m.seen.size = (uint64_t)sqlite3_column_int64(q, 7);
	m.seen.mtime_ns = (uint64_t)sqlite3_column_int64(q, 8);
	m.seen.ctime_ns = (uint64_t)sqlite3_column_int64(q, 9);
	m.text_bytes = (uint64_t)sqlite3_column_int64(q, 11);
	m.updated_ns = (uint64_t)sqlite3_column_int64(q, 16);
	store_done(q);
	if (!ok || m.text_bytes > INT64_MAX)
		return store_damaged(s, "module", err);
	*out = m;
	return 1;
}

int store_module_by_path(struct store *s, const char *path, struct store_module *out,
			 struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_MODULE_BY_PATH, err);

	if (!q)
		return -1;
	store_bind_text(q, 1, path);
	int rc = store_step(s, q, err);
	return rc == 1 ? read_module(s, q, out, err) : rc;
}

int store_module_by_id(struct store *s, int64_t id, struct store_module *out, struct err *err)
{
	sqlite3_stmt *q;
	int rc = store_row_with(s, SQL_MODULE_BY_ID, id, &q, err);

	return rc == 1 ? read_module(s, q, out, err) : rc;
}

int store_module_put(struct store *s, struct store_module *m, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, m->id ? SQL_MODULE_UPDATE : SQL_MODULE_INSERT, err);

	if (!q)
		return -1;
	store_bind_digest(q, 1, &m->original);
	store_bind_digest(q, 2, &m->present);
	(void)sqlite3_bind_int64(q, 3, m->generation);
	(void)sqlite3_bind_int64(q, 4, (int64_t)m->seen.dev);
	(void)sqlite3_bind_int64(q, 5, (int64_t)m->seen.inode);
	(void)sqlite3_bind_int64(q, 6, (int64_t)m->seen.size);
	(void)sqlite3_bind_int64(q, 7, (int64_t)m->seen.mtime_ns);
	(void)sqlite3_bind_int64(q, 8, (int64_t)m->seen.ctime_ns);
	store_bind_text(q, 9, m->refusal);
	(void)sqlite3_bind_int64(q, 10, (int64_t)m->text_bytes);
	(void)sqlite3_bind_int64(q, 11, m->functions);
	(void)sqlite3_bind_int64(q, 12, m->movable);
	store_bind_text(q, 13, m->path);
	(void)sqlite3_bind_int64(q, 14, m->owner);
	if (m->id)
		(void)sqlite3_bind_int64(q, 15, m->id);
	if (store_run(s, q, err) < 0)
		return -1;
	if (!m->id)
		m->id = sqlite3_last_insert_rowid(s->db);
	return 0;
}

int store_module_discard(struct store *s, int64_t module, struct err *err)
{
	static const enum store_sql all[] = { SQL_PROFILE_DELETE, SQL_PLACE_DELETE,
					      SQL_USE_DELETE,
					      SQL_SPEED_DELETE, SQL_CONTRIBUTOR_DELETE,
					      SQL_COUNTING_DELETE, SQL_COUNTED_DELETE,
					      SQL_TURNS_DELETE, SQL_INHERITED_DELETE };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (store_do_with(s, all[i], module, err) < 0)
			return -1;
	return 0;
}

int store_module_delete(struct store *s, int64_t id, struct err *err)
{
	if (store_begin(s, err) < 0)
		return -1;
	if (store_module_discard(s, id, err) < 0 ||
	    store_do_with(s, SQL_LEGACY_DELETE, id, err) < 0 ||
	    store_do_with(s, SQL_USED_DELETE, id, err) < 0 ||
	    store_ran_forget(s, id, err) < 0 || store_made_forget(s, id, err) < 0 ||
	    store_do_with(s, SQL_MEASURED_DELETE, id, err) < 0 ||
	    store_do_with(s, SQL_GENERATION_DELETE, id, err) < 0 ||
	    store_do_with(s, SQL_MODULE_DELETE, id, err) < 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}

int store_module_each(struct store *s, bool (*f)(void *ctx, const struct store_module *m),
		      void *ctx, struct err *err)
{
	int64_t *id = NULL;
	uint32_t n = 0;
	int rc = store_all_ids(s, SQL_MODULE_IDS, &id, &n, err);

	for (uint32_t i = 0; i < n && rc >= 0; i++) {
		struct store_module m;

		rc = store_module_by_id(s, id[i], &m, err);
		if (rc == 1 && !f(ctx, &m))
			break;
	}
	free(id);
	return rc < 0 ? -1 : 0;
}

/* --- files --- */

static int file_insert(struct store *s, const struct store_file *f, struct err *err)
{
	const enum store_sql step[] = { SQL_FILE_DELETE, SQL_FILE_INSERT };

	for (int i = 0; i < 2; i++) {
		sqlite3_stmt *q = store_sql(s, step[i], err);

		if (!q)
			return -1;
		(void)sqlite3_bind_int64(q, 1, (int64_t)f->inode);
		(void)sqlite3_bind_int64(q, 2, (int64_t)f->dev);
		store_bind_text(q, 3, f->path);
		(void)sqlite3_bind_int64(q, 4, (int64_t)f->inode_generation);
		if (step[i] == SQL_FILE_INSERT) {
			(void)sqlite3_bind_int(q, 5, f->has_generation);
			store_bind_digest(q, 6, &f->digest);
		}
		if (store_run(s, q, err) < 0)
			return -1;
	}
	return store_do(s, SQL_FILE_PRUNE, err);
}

int store_file_put(struct store *s, const struct store_file *f, struct err *err)
{
	if (store_begin(s, err) < 0)
		return -1;
	if (file_insert(s, f, err) < 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}

int store_file_find(struct store *s, uint64_t dev, bool dev_any, uint64_t inode,
		    const char *path, struct store_file *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_FILE_FIND, err);
	struct store_file f;

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, (int64_t)inode);
	(void)sqlite3_bind_int64(q, 2, (int64_t)dev);
	(void)sqlite3_bind_int(q, 3, dev_any);
	store_bind_text(q, 4, path);
	int rc = store_step(s, q, err);
	if (rc != 1)
		return rc;
	f.dev = (uint64_t)sqlite3_column_int64(q, 0);
	f.inode = (uint64_t)sqlite3_column_int64(q, 1);
	f.inode_generation = (uint64_t)sqlite3_column_int64(q, 2);
	f.has_generation = sqlite3_column_int(q, 3) != 0;
	bool ok = store_get_text(q, 4, f.path, sizeof(f.path)) &&
		  store_get_digest(q, 5, &f.digest);
	store_done(q);
	if (!ok)
		return store_damaged(s, "file", err);
	*out = f;
	return 1;
}

/* --- block tables --- */

int store_table_prune(struct store *s, struct err *err)
{
	return store_do(s, SQL_TABLE_PRUNE, err) < 0 ? -1
						      : store_do(s, SQL_SIGNATURE_PRUNE, err);
}

int store_table_has(struct store *s, const struct digest *original, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_TABLE_HAS, err);

	if (!q)
		return -1;
	store_bind_digest(q, 1, original);
	int rc = store_step(s, q, err);
	if (rc == 1)
		store_done(q);
	return rc;
}

int store_table_load(struct store *s, const struct digest *original, struct blocktable *out,
		     struct err *err)
{
	struct wr w = { 0 };
	int rc = store_blob_of(s, SQL_TABLE_GET, original, &w, err);

	if (rc == 1 && (table_code_is(wr_bytes(&w)) ?
			table_code_read(wr_bytes(&w), original, out, err) :
			blocktable_read(wr_bytes(&w), out, err)) < 0)
		rc = -1;
	wr_free(&w);
	return rc;
}

int store_table_get(struct store *s, const struct digest *original, struct wr *out,
		    struct err *err)
{
	struct blocktable t;
	size_t start = out->n;
	int rc = store_blob_of(s, SQL_TABLE_GET, original, out, err);
	struct bytes b = wr_bytes(out);

	b = rc == 1 ? bytes_at(b, start, out->n - start) : b;
	if (rc != 1 || !table_code_is(b))
		return rc;
	if (table_code_read(b, original, &t, err) < 0)
		return -1;
	out->n = start;
	blocktable_write(&t, out);
	blocktable_free(&t);
	return 1;
}

/* The bytes to be stored: coded, if that gives back the very same. */
static struct bytes coded(const struct digest *original, struct bytes table, struct wr *code)
{
	struct blocktable t, again;
	struct wr back = { 0 };
	bool same = false;
	struct err ignored;

	if (blocktable_read(table, &t, &ignored) < 0)
		return table;
	if (table_code_write(&t, code) &&
	    table_code_read(wr_bytes(code), original, &again, &ignored) == 0) {
		blocktable_write(&again, &back);
		same = back.n == table.n && memcmp(back.p, table.p, back.n) == 0;
		blocktable_free(&again);
	}
	wr_free(&back);
	blocktable_free(&t);
	return same ? wr_bytes(code) : table;
}

int store_generation_map(struct store *s, const struct digest *d, struct wr *out,
			 struct err *err)
{
	return store_blob_of(s, SQL_GENERATION_MAP, d, out, err);
}

/* Block indices of the old table mean nothing in the new one. */
static int discard_profiles_of(struct store *s, const struct digest *original, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_MODULE_IDS_OF, err);
	int64_t *id = NULL;
	uint32_t n = 0;

	if (!q)
		return -1;
	store_bind_digest(q, 1, original);
	int rc = store_ids(s, q, &id, &n, err);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = store_module_discard(s, id[i], err);
	free(id);
	return rc;
}

static int table_replace(struct store *s, const struct digest *original, struct bytes table,
			 struct err *err)
{
	struct wr old = { 0 };
	int rc = store_table_get(s, original, &old, err);

	if (rc == 1 && old.n == table.n && memcmp(old.p, table.p, old.n) == 0) {
		wr_free(&old);
		return 0;
	}
	wr_free(&old);
	if (rc < 0 || (rc == 1 && discard_profiles_of(s, original, err) < 0))
		return -1;
	sqlite3_stmt *q = store_sql(s, SQL_TABLE_PUT, err);
	if (!q)
		return -1;
	struct wr code = { 0 };
	store_bind_digest(q, 1, original);
	store_bind_blob(q, 2, coded(original, table, &code));
	rc = store_run(s, q, err);
	wr_free(&code);
	return rc;
}

int store_table_put(struct store *s, const struct digest *original, struct bytes table,
		    struct err *err)
{
	if (store_begin(s, err) < 0)
		return -1;
	if (table_replace(s, original, table, err) < 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}

/* --- room for profiles --- */

/* Three fifths for the profile, one for the recent window, one for what a generation was
 * made from; chosen. */
int store_module_budget(struct store *s, int64_t module, enum store_budget what, uint64_t *out,
			 struct err *err)
{
	struct store_module m;
	int rc = store_module_by_id(s, module, &m, err);

	if (rc == 1)
		*out = m.text_bytes / 100 * (what == PROFILE_ALL ? 3 : 1);
	return rc;
}
