/* store_saved.c - use of generations, their speeds, and what Morph takes; see store_saved.h
 *
 * A period of use or costs has a begin and an end, multiples of its length.  To make periods
 * longer is to sum those that lie in a longer one, itself among them if it is there already.
 *
 * Tested by tests/unit/manager/store/test_saved.c.
 */
#include "manager/store/store_saved.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/samples/attribute.h"
#include "manager/store/store_db.h"

static const uint64_t hour_ns = UINT64_C(3600000000000);

enum { DAY_H = 24, DAYS_AFTER_H = 31 * 24, MONTH_H = 30 * 24, MONTHS_AFTER_H = 400 * 24 };

static void bind_hour(sqlite3_stmt *q, int at, uint64_t time_ns)
{
	uint64_t begin_ns = time_ns - time_ns % hour_ns;

	(void)sqlite3_bind_int64(q, at, (int64_t)begin_ns);
	(void)sqlite3_bind_int64(q, at + 1, (int64_t)(begin_ns + hour_ns));
}

/* --- use --- */

/* So many kinds of processes that got a generation while they ran are told apart. */
static int kind_of_live(struct store *s, int64_t module, const struct store_used *u,
			uint32_t *kind, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_USED_HAS_ROOM, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, u->generation);
	(void)sqlite3_bind_int64(q, 3, u->kind);
	if (store_step(s, q, err) != 1)
		return -1;
	*kind = sqlite3_column_int(q, 0) ? u->kind : STORE_KIND_OTHER;
	store_done(q);
	return 0;
}

int store_used_add(struct store *s, int64_t module, uint64_t time_ns,
		   const struct store_used *u, struct err *err)
{
	uint32_t kind = u->kind;

	if (u->live && kind_of_live(s, module, u, &kind, err) < 0)
		return -1;
	sqlite3_stmt *q = store_sql(s, SQL_USED_ADD, err);
	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, u->generation);
	(void)sqlite3_bind_int(q, 3, u->live);
	(void)sqlite3_bind_int64(q, 4, kind);
	bind_hour(q, 5, time_ns);
	(void)sqlite3_bind_double(q, 7, u->module_s);
	(void)sqlite3_bind_double(q, 8, u->rest_s);
	return store_run(s, q, err);
}

static bool read_used(sqlite3_stmt *q, struct store_used *u)
{
	uint32_t live;
	int64_t begin_ns = sqlite3_column_int64(q, 5);

	*u = (struct store_used){ .begin_ns = (uint64_t)begin_ns };
	bool ok = store_get_u32(q, 0, &u->generation) && store_get_u32(q, 1, &live) &&
		  store_get_u32(q, 2, &u->kind) && store_get_real(q, 3, &u->module_s) &&
		  store_get_real(q, 4, &u->rest_s) && begin_ns >= 0 && live <= 1;
	u->live = ok && live;
	return ok;
}

int store_used_get(struct store *s, int64_t module, uint64_t since_ns, struct store_used **out,
		   uint32_t *n, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_USED_GET, err);
	struct store_used *all = NULL, one;
	uint32_t k = 0;
	int rc;

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, (int64_t)since_ns);
	while ((rc = store_step(s, q, err)) == 1) {
		if (!read_used(q, &one)) {
			store_done(q);
			free(all);
			return store_damaged(s, "used", err);
		}
		all = memory_grow(all, k + (size_t)1, sizeof(*all));
		all[k++] = one;
	}
	if (rc < 0) {
		free(all);
		return -1;
	}
	*out = all;
	*n = k;
	return 0;
}

/* --- use that samples tell of --- */

static int by_key(const void *a, const void *b)
{
	const struct store_used *x = a, *y = b;

	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	if (x->live != y->live)
		return x->live ? 1 : -1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Those that are there now are compared with those before by kinds that were there before. */
static uint32_t kind_of(const struct speedtest *p, const struct attribute_use *use)
{
	if (use->live)
		return use->kind;
	for (uint32_t i = 0; i < p->nkind && use->generation == p->generation; i++)
		if (p->kind[i].key == use->kind && p->kind[i].before.n)
			return STORE_KIND_OBSERVED;
	return STORE_KIND_OTHER;
}

int store_used_add_all(struct store *s, const struct speedtest *p, uint32_t but,
		       const struct attribute_use *use, uint32_t n, uint64_t time_ns,
		       struct err *err)
{
	struct store_used *u = memory_new(n, sizeof(*u));
	uint32_t k = 0;
	int rc = 0;

	for (uint32_t i = 0; i < n; i++)
		if (use[i].generation && use[i].generation != but)
			u[k++] = (struct store_used){
				.generation = use[i].generation, .live = use[i].live,
				.kind = kind_of(p, &use[i]), .module_s = use[i].sums.module_s,
				.rest_s = use[i].sums.rest_s };
	if (k)
		qsort(u, k, sizeof(*u), by_key);
	for (uint32_t i = 0, end; i < k && rc == 0; i = end) {
		for (end = i + 1; end < k && by_key(&u[i], &u[end]) == 0; end++) {
			u[i].module_s += u[end].module_s;
			u[i].rest_s += u[end].rest_s;
		}
		if (u[i].module_s + u[i].rest_s > 0)
			rc = store_used_add(s, (int64_t)use->module, time_ns, &u[i], err);
	}
	free(u);
	return rc;
}

/* --- speeds --- */

int store_measured_put(struct store *s, const struct store_measured *m, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_MEASURED_PUT, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, m->module);
	(void)sqlite3_bind_int64(q, 2, m->generation);
	(void)sqlite3_bind_int(q, 3, m->by == STORE_BY_TURNS);
	(void)sqlite3_bind_int(q, 4, (int)m->by);
	(void)sqlite3_bind_int64(q, 5, m->before);
	(void)sqlite3_bind_int64(q, 6, m->kind);
	(void)sqlite3_bind_double(q, 7, m->shift.low);
	(void)sqlite3_bind_double(q, 8, m->shift.estimate);
	(void)sqlite3_bind_double(q, 9, m->shift.high);
	return store_run(s, q, err);
}

int store_measured_forget(struct store *s, int64_t module, uint32_t generation,
			  struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_MEASURED_FORGET, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, generation);
	return store_run(s, q, err);
}

/* Times differ by no more than that, whatever the database says. */
static bool read_shift(sqlite3_stmt *q, int col, double *out)
{
	*out = sqlite3_column_double(q, col);
	return isfinite(*out) && fabs(*out) < 64;
}

int store_measured_get(struct store *s, int64_t module, uint32_t generation, bool turns,
		       struct store_measured *out, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_MEASURED_GET, err);
	struct ranktest_shift *shift = &out->shift;
	uint32_t by;

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, module);
	(void)sqlite3_bind_int64(q, 2, generation);
	(void)sqlite3_bind_int(q, 3, turns);
	int rc = store_step(s, q, err);
	if (rc != 1)
		return rc;
	*out = (struct store_measured){ .module = module, .generation = generation };
	bool ok = store_get_u32(q, 0, &by) && by >= STORE_BY_RUNS && by <= STORE_BY_TURNS &&
		  store_get_u32(q, 1, &out->before) && out->before < generation &&
		  store_get_u32(q, 2, &out->kind) && read_shift(q, 3, &shift->low) &&
		  read_shift(q, 4, &shift->estimate) && read_shift(q, 5, &shift->high);
	store_done(q);
	out->by = ok ? (enum store_measured_by)by : STORE_BY_RUNS;
	return ok ? 1 : store_damaged(s, "measured", err);
}

/* --- costs --- */

int store_own_add(struct store *s, enum store_own what, uint64_t time_ns, double amount,
		  struct err *err)
{
	sqlite3_stmt *q = amount > 0 ? store_sql(s, SQL_OWN_ADD, err) : NULL;

	if (!q)
		return amount > 0 ? -1 : 0;
	(void)sqlite3_bind_int(q, 1, (int)what);
	bind_hour(q, 2, time_ns);
	(void)sqlite3_bind_double(q, 4, amount);
	return store_run(s, q, err);
}

int store_own_get(struct store *s, uint64_t since_ns, double out[STORE_NOWN],
		  uint64_t *begin_ns, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_OWN_GET, err);
	int rc;

	for (int i = 0; i < STORE_NOWN; i++)
		out[i] = 0;
	*begin_ns = 0;
	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, (int64_t)since_ns);
	while ((rc = store_step(s, q, err)) == 1) {
		int64_t begin = sqlite3_column_int64(q, 2);
		uint32_t what;
		double sum;

		if (!store_get_u32(q, 0, &what) || what >= STORE_NOWN ||
		    !store_get_real(q, 1, &sum) || begin < 0) {
			store_done(q);
			return store_damaged(s, "own", err);
		}
		out[what] = sum;
		if (!*begin_ns || (uint64_t)begin < *begin_ns)
			*begin_ns = (uint64_t)begin;
	}
	return rc < 0 ? -1 : 0;
}

int store_own_last(struct store *s, enum store_own what, char out[STORE_READING_MAX],
		   struct err *err)
{
	char name[32];
	struct wr w = { 0 };

	(void)snprintf(name, sizeof(name), "own %d", (int)what);	/* fits */
	int rc = store_value_get(s, name, &w, err);
	size_t n = rc == 1 && w.n < STORE_READING_MAX ? w.n : 0;
	if (n)
		memcpy(out, w.p, n);
	out[n] = 0;
	wr_free(&w);
	return rc < 0 ? -1 : 0;
}

int store_own_last_put(struct store *s, enum store_own what, const char *text, struct err *err)
{
	const struct bytes value = { (const uint8_t *)text, strlen(text) };
	char name[32];

	(void)snprintf(name, sizeof(name), "own %d", (int)what);	/* fits */
	return store_value_put(s, name, value, err);
}

/* --- growing old --- */

static int merge(struct store *s, enum store_sql sum, enum store_sql rest, int length_h,
		 uint64_t before_ns, struct err *err)
{
	const enum store_sql step[] = { sum, rest };
	const uint64_t unit_ns = (uint64_t)length_h * hour_ns;

	for (int i = 0; i < 2; i++) {
		sqlite3_stmt *q = store_sql(s, step[i], err);

		if (!q)
			return -1;
		(void)sqlite3_bind_int64(q, 1, (int64_t)unit_ns);
		(void)sqlite3_bind_int64(q, 2, (int64_t)(before_ns - before_ns % unit_ns));
		if (store_run(s, q, err) < 0)
			return -1;
	}
	return 0;
}

int store_saved_thin(struct store *s, uint64_t now_ns, struct err *err)
{
	static const struct {
		int length_h, after_h;
	} age[] = { { DAY_H, DAYS_AFTER_H }, { MONTH_H, MONTHS_AFTER_H } };
	int rc = 0;

	if (store_begin(s, err) < 0)
		return -1;
	for (int i = 0; i < 2 && rc == 0; i++) {
		uint64_t after_ns = (uint64_t)age[i].after_h * hour_ns;
		uint64_t before_ns = now_ns > after_ns ? now_ns - after_ns : 0;
		int length_h = age[i].length_h;

		rc = merge(s, SQL_USED_SUM, SQL_USED_SUMMED, length_h, before_ns, err);
		if (rc == 0)
			rc = merge(s, SQL_OWN_SUM, SQL_OWN_SUMMED, length_h, before_ns, err);
	}
	if (rc < 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}
