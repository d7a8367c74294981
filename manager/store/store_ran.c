/* store_ran.c - samples by hour, program and module; see store_ran.h
 *
 * Tested by tests/unit/manager/store/test_ran.c.
 */
#include "manager/store/store_ran.h"

#include <limits.h>
#include <stdlib.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/samples/attribute.h"
#include "manager/store/store_db.h"

static const uint64_t hour_ns = UINT64_C(3600000000000);

enum { DAY_H = 24, DAYS_AFTER_H = 8 * 24, MONTH_H = 30 * 24, MONTHS_AFTER_H = 60 * 24 };

static int run_with(struct store *s, enum store_sql which, int64_t x, int64_t y,
		    struct err *err)
{
	sqlite3_stmt *q = store_sql(s, which, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, x);
	(void)sqlite3_bind_int64(q, 2, y);
	return store_run(s, q, err);
}

/* --- adding --- */

int store_program_id(struct store *s, const char *path, int64_t *out, struct err *err)
{
	static const enum store_sql step[] = { SQL_PROGRAM_PUT, SQL_PROGRAM_GET };

	*out = 0;
	for (int i = 0; *path && i < 2; i++) {
		sqlite3_stmt *q = store_sql(s, step[i], err);

		if (!q)
			return -1;
		store_bind_text(q, 1, path);
		int rc = i ? store_step(s, q, err) : store_run(s, q, err);
		if (rc < 0)
			return -1;
		if (rc == 1) {
			*out = sqlite3_column_int64(q, 0);
			store_done(q);
		}
	}
	return 0;
}

static int add(struct store *s, const struct attribute_ran *r, struct err *err)
{
	int64_t program;

	if (store_program_id(s, r->program, &program, err) < 0)
		return -1;
	sqlite3_stmt *q = store_sql(s, SQL_RAN_ADD, err);
	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, r->hour);
	(void)sqlite3_bind_int64(q, 2, program);
	(void)sqlite3_bind_int64(q, 3, r->module);
	(void)sqlite3_bind_int64(q, 4, (int64_t)r->samples);
	return store_run(s, q, err);
}

/* The smallest rows of a period that has too many. */
static int fold(struct store *s, int64_t begin_h, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_RAN_LIMIT, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, begin_h);
	(void)sqlite3_bind_int64(q, 2, STORE_RAN_ROWS);
	int rc = store_step(s, q, err);
	if (rc != 1)
		return rc;
	int64_t samples = sqlite3_column_int64(q, 0);
	store_done(q);
	return run_with(s, SQL_RAN_FOLD, begin_h, samples, err) < 0 ||
	       run_with(s, SQL_RAN_FOLDED, begin_h, samples, err) < 0 ? -1 : 0;
}

static int by_hour(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* Each hour that has new rows, once: a clock that was set leaves years between two of them. */
static int fold_all(struct store *s, const struct attribution *a, struct err *err)
{
	uint32_t *hour = memory_new(a->nran, sizeof(*hour));
	int rc = 0;

	for (uint32_t i = 0; i < a->nran; i++)
		hour[i] = a->ran[i].hour;
	qsort(hour, a->nran, sizeof(*hour), by_hour);
	for (uint32_t i = 0; i < a->nran && rc == 0; i++)
		if (i == 0 || hour[i] != hour[i - 1])
			rc = fold(s, hour[i], err);
	free(hour);
	return rc;
}

int store_ran_add(struct store *s, const struct attribution *a, struct err *err)
{
	for (uint32_t i = 0; i < a->nran; i++)
		if (add(s, &a->ran[i], err) < 0)
			return -1;
	return a->nran ? fold_all(s, a, err) : 0;
}

int store_ran_forget(struct store *s, int64_t module, struct err *err)
{
	return run_with(s, SQL_RAN_NO_MODULE, module, -COUNTER_UNKNOWN, err) < 0 ||
	       store_do_with(s, SQL_RAN_FORGET, module, err) < 0 ? -1 : 0;
}

/* --- telling --- */

static uint64_t ns_of(int64_t hour)
{
	return hour > 0 && hour < UINT32_MAX ? (uint64_t)hour * hour_ns : 0;
}

int store_ran_each(struct store *s, const struct store_ran_span *span,
		   bool (*f)(void *ctx, const struct store_ran *r), void *ctx, struct err *err)
{
	enum store_sql which = span->programs ? SQL_RAN_PROGRAMS : SQL_RAN_MODULES;
	sqlite3_stmt *q = store_sql(s, which, err);
	char path[PATH_MAX];
	bool goes_on = true;
	int rc;

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, (int64_t)((span->since_ns + hour_ns - 1) / hour_ns));
	(void)sqlite3_bind_int64(q, 2, span->until_ns ? (int64_t)(span->until_ns / hour_ns)
						      : INT64_MAX);
	while (goes_on && (rc = store_step(s, q, err)) == 1) {
		struct store_ran r = { .program = path, .module = sqlite3_column_int64(q, 1),
				       .begin_ns = ns_of(sqlite3_column_int64(q, 3)),
				       .end_ns = ns_of(sqlite3_column_int64(q, 4)) };
		int64_t samples = sqlite3_column_int64(q, 2);

		if (samples < 0 || r.module <= -NCOUNTER ||
		    !store_get_text(q, 0, path, sizeof(path))) {
			store_done(q);
			return store_damaged(s, "ran", err);
		}
		r.samples = (uint64_t)samples;
		goes_on = f(ctx, &r);
	}
	if (!goes_on)
		store_done(q);
	return goes_on && rc < 0 ? -1 : 0;
}

/* --- growing old --- */

/* What ends at `now` less so many hours, or before, is kept by longer periods. */
static uint64_t coarse_until_ns(uint64_t now_ns, int after_h, int length_h)
{
	uint64_t after_ns = (uint64_t)after_h * hour_ns, unit_ns = (uint64_t)length_h * hour_ns;
	uint64_t before_ns = now_ns > after_ns ? now_ns - after_ns : 0;

	return before_ns - before_ns % unit_ns;
}

uint64_t store_ran_unit_ns(uint64_t at_ns, uint64_t now_ns)
{
	int length_h = at_ns < coarse_until_ns(now_ns, MONTHS_AFTER_H, MONTH_H)	   ? MONTH_H
		       : at_ns < coarse_until_ns(now_ns, DAYS_AFTER_H, DAY_H) ? DAY_H
										: 1;

	return (uint64_t)length_h * hour_ns;
}

static int merge(struct store *s, int length_h, uint64_t before_ns, struct err *err)
{
	int64_t before_h = (int64_t)(before_ns / hour_ns), *begin_h = NULL;
	uint32_t n = 0;
	int rc = run_with(s, SQL_RAN_SUM, length_h, before_h, err) < 0 ||
		 run_with(s, SQL_RAN_SUMMED, length_h, before_h, err) < 0 ? -1 : 0;

	if (rc == 0)
		rc = store_all_ids(s, SQL_RAN_LONG, &begin_h, &n, err);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = fold(s, begin_h[i], err);
	free(begin_h);
	return rc;
}

int store_ran_thin(struct store *s, uint64_t now_ns, struct err *err)
{
	if (store_begin(s, err) < 0)
		return -1;
	if (merge(s, DAY_H, coarse_until_ns(now_ns, DAYS_AFTER_H, DAY_H), err) < 0 ||
	    merge(s, MONTH_H, coarse_until_ns(now_ns, MONTHS_AFTER_H, MONTH_H), err) < 0 ||
	    store_do(s, SQL_PROGRAM_PRUNE, err) < 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}
