/* store_inherit.c - stores what passes from one version of a module to the next: signatures of
 * the versions that are there, what is set aside of one that was replaced, and what its
 * successor has inherited
 *
 * A signature is kept by original, as block tables are.  The other two are of a module, and
 * each replaces the former one: only one version passes on.  Signatures and profiles as text
 * are packed.
 *
 * Tested by tests/unit/manager/store/test_inherited.c.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/store/packed.h"
#include "manager/store/profile_code.h"
#include "manager/store/store_db.h"
#include "policy/share.h"

enum { WHOSE_BYTES = 12 };		/* of one user */
static const uint64_t text_max = (uint64_t)1 << 30;

/* --- by digest: signatures --- */

int store_signature_put(struct store *s, const struct digest *original, struct bytes signature,
			struct err *err)
{
	struct wr packed = { 0 };
	int64_t kept = 0;

	sqlite3_stmt *q = store_sql(s, SQL_SIGNATURE_BYTES, err);
	if (!q || store_step(s, q, err) != 1)
		return -1;
	kept = sqlite3_column_int64(q, 0);
	store_done(q);
	if (signature.n <= STORE_SIGNATURE_MAX)
		packed_write(signature, &packed);
	/* What there is no room for is as one that could not be made. */
	if (kept < 0 || (uint64_t)kept + packed.n > STORE_SIGNATURES_MAX)
		wr_free(&packed);
	q = store_sql(s, SQL_SIGNATURE_PUT, err);
	if (!q) {
		wr_free(&packed);
		return -1;
	}
	store_bind_digest(q, 1, original);
	store_bind_blob(q, 2, wr_bytes(&packed));
	int rc = store_run(s, q, err);
	bool none = signature.n && !packed.n;
	wr_free(&packed);
	return rc < 0 ? -1 : !none;
}

int store_signature_get(struct store *s, const struct digest *original, struct wr *out,
			struct err *err)
{
	struct wr packed = { 0 };
	int rc = store_blob_of(s, SQL_SIGNATURE_GET, original, &packed, err);

	if (rc > 0 && !packed_read(wr_bytes(&packed), STORE_SIGNATURE_MAX, out))
		rc = store_damaged(s, "signature", err);
	if (rc > 0)
		rc = packed.n > 0;
	wr_free(&packed);
	return rc;
}

int store_signature_delete(struct store *s, const struct digest *original, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_SIGNATURE_DELETE, err);

	if (!q)
		return -1;
	store_bind_digest(q, 1, original);
	return store_run(s, q, err);
}

int store_signature_lacking(struct store *s, double samples, int64_t **module, uint32_t *n,
			    struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_SIGNATURE_LACKING, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_double(q, 1, samples);
	return store_ids(s, q, module, n, err);
}

/* --- whose it is --- */

static void write_whose(const struct share_use *use, uint32_t n, struct wr *out)
{
	for (uint32_t i = 0; i < n; i++) {
		wr_u32(out, use[i].uid);
		store_write_double(out, use[i].samples);
	}
}

static bool read_whose(struct bytes b, struct share_use **out, uint32_t *n)
{
	struct rd r = rd_of(b);

	if (b.n % WHOSE_BYTES || b.n / WHOSE_BYTES > UINT32_MAX / 2)
		return false;
	*n = (uint32_t)(b.n / WHOSE_BYTES);
	*out = memory_new(*n + (size_t)1, sizeof(**out));
	for (uint32_t i = 0; i < *n; i++) {
		(*out)[i].uid = rd_u32(&r);
		(*out)[i].samples = store_read_double(&r);
	}
	return !r.bad;
}

/* --- what was set aside --- */

void store_legacy_free(struct store_legacy *l)
{
	wr_free(&l->signature);
	wr_free(&l->profile);
	wr_free(&l->counted);
	free(l->whose);
	*l = (struct store_legacy){ 0 };
}

int store_legacy_put(struct store *s, int64_t module, const struct store_legacy *l,
		     struct err *err)
{
	const struct wr *text[] = { &l->signature, &l->profile, &l->counted };
	sqlite3_stmt *q = store_sql(s, SQL_LEGACY_PUT, err);
	struct wr packed[3] = { { 0 } }, whose = { 0 };

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	store_bind_digest(q, 2, &l->original);
	(void)sqlite3_bind_int64(q, 3, l->tries);
	(void)sqlite3_bind_double(q, 4, l->samples);
	(void)sqlite3_bind_double(q, 5, l->known);
	(void)sqlite3_bind_double(q, 6, l->unseen);
	for (int i = 0; i < 3; i++) {
		packed_write(wr_bytes(text[i]), &packed[i]);
		store_bind_blob(q, 7 + i, wr_bytes(&packed[i]));
	}
	write_whose(l->whose, l->nwhose, &whose);
	store_bind_blob(q, 10, wr_bytes(&whose));
	int rc = store_run(s, q, err);
	for (int i = 0; i < 3; i++)
		wr_free(&packed[i]);
	wr_free(&whose);
	return rc;
}

static bool read_legacy(sqlite3_stmt *q, struct store_legacy *l)
{
	return store_get_digest(q, 0, &l->original) && store_get_u32(q, 1, &l->tries) &&
	       store_get_real(q, 2, &l->samples) && store_get_real(q, 3, &l->known) &&
	       store_get_real(q, 4, &l->unseen) && l->known <= 1 && l->unseen <= 1 &&
	       packed_read(store_get_blob(q, 5), STORE_SIGNATURE_MAX, &l->signature) &&
	       packed_read(store_get_blob(q, 6), text_max, &l->profile) &&
	       packed_read(store_get_blob(q, 7), text_max, &l->counted) &&
	       read_whose(store_get_blob(q, 8), &l->whose, &l->nwhose);
}

int store_legacy_get(struct store *s, int64_t module, struct store_legacy *out, struct err *err)
{
	sqlite3_stmt *q;
	int rc = store_row_with(s, SQL_LEGACY_GET, module, &q, err);

	*out = (struct store_legacy){ 0 };
	if (rc != 1)
		return rc;
	bool ok = read_legacy(q, out);
	store_done(q);
	if (ok)
		return 1;
	store_legacy_free(out);
	return store_damaged(s, "legacy", err);
}

int store_legacy_try(struct store *s, int64_t module, uint32_t tries, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_LEGACY_TRY, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, tries);
	return store_run(s, q, err);
}

int store_legacy_delete(struct store *s, int64_t module, struct err *err)
{
	return store_do_with(s, SQL_LEGACY_DELETE, module, err);
}

int store_legacy_ids(struct store *s, int64_t **module, uint32_t *n, struct err *err)
{
	return store_all_ids(s, SQL_LEGACY_IDS, module, n, err);
}

/* --- what was inherited --- */

void store_inherited_free(struct store_inherited *i)
{
	store_profile_free(&i->profile);
	free(i->whose);
	*i = (struct store_inherited){ 0 };
}

int store_inherited_put(struct store *s, int64_t module, const struct store_inherited *i,
			struct err *err)
{
	struct wr profile = { 0 }, whose = { 0 };
	uint64_t budget = 0;

	if (store_module_budget(s, module, PROFILE_ALL, &budget, err) < 0)
		return -1;
	sqlite3_stmt *q = store_sql(s, SQL_INHERITED_PUT, err);
	if (!q)
		return -1;
	profile_encode(&i->profile, budget, &profile);
	write_whose(i->whose, i->nwhose, &whose);
	(void)sqlite3_bind_int64(q, 1, module);
	store_bind_digest(q, 2, &i->original);
	store_bind_digest(q, 3, &i->from);
	(void)sqlite3_bind_double(q, 4, i->samples);
	(void)sqlite3_bind_double(q, 5, i->matched);
	(void)sqlite3_bind_double(q, 6, i->unseen);
	(void)sqlite3_bind_double(q, 7, i->weight);
	(void)sqlite3_bind_int(q, 8, i->counted);
	(void)sqlite3_bind_int64(q, 9, i->functions);
	(void)sqlite3_bind_int64(q, 10, i->recognised);
	store_bind_blob(q, 11, wr_bytes(&profile));
	store_bind_blob(q, 12, wr_bytes(&whose));
	int rc = store_run(s, q, err);
	wr_free(&profile);
	wr_free(&whose);
	return rc;
}

static bool read_inherited(sqlite3_stmt *q, struct store_inherited *i)
{
	i->counted = sqlite3_column_int(q, 6) != 0;
	return store_get_digest(q, 0, &i->original) && store_get_digest(q, 1, &i->from) &&
	       store_get_real(q, 2, &i->samples) && store_get_real(q, 3, &i->matched) &&
	       store_get_real(q, 4, &i->unseen) && store_get_real(q, 5, &i->weight) &&
	       i->matched <= 1 && i->unseen <= 1 && i->weight <= 1 &&
	       store_get_u32(q, 7, &i->functions) && store_get_u32(q, 8, &i->recognised) &&
	       profile_decode(store_get_blob(q, 9), &i->profile) == 0 &&
	       read_whose(store_get_blob(q, 10), &i->whose, &i->nwhose);
}

int store_inherited_get(struct store *s, int64_t module, const struct digest *original,
			struct store_inherited *out, struct err *err)
{
	sqlite3_stmt *q;
	int rc = store_row_with(s, SQL_INHERITED_GET, module, &q, err);

	*out = (struct store_inherited){ 0 };
	if (rc != 1)
		return rc;
	bool ok = read_inherited(q, out);
	store_done(q);
	if (ok && digest_equal(&out->original, original))
		return 1;
	store_inherited_free(out);
	return ok ? 0 : store_damaged(s, "inherited", err);
}

int store_inherited_delete(struct store *s, int64_t module, struct err *err)
{
	return store_do_with(s, SQL_INHERITED_DELETE, module, err);
}

int store_inherited_ids(struct store *s, int64_t **module, uint32_t *n, struct err *err)
{
	return store_all_ids(s, SQL_INHERITED_IDS, module, n, err);
}

int store_inherit_clear(struct store *s, struct err *err)
{
	return store_do(s, SQL_SIGNATURE_CLEAR, err) < 0 ||
	       store_do(s, SQL_LEGACY_CLEAR, err) < 0 ||
	       store_do(s, SQL_INHERITED_CLEAR, err) < 0 ? -1 : 0;
}
