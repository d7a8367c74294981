/* store_made.c - samples in code made at run time, by program, user and name; see store_made.h
 *
 * Program 0 is none that is known, user MADESET_NOBODY nobody who is, name "" none.  An older
 * store has a list of programs alone, which do not fade (state "makers"): it becomes samples
 * without names, once.
 *
 * Tested by tests/unit/manager/store/test_made.c.
 */
#include "manager/store/store_made.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/samples/attribute.h"
#include "manager/store/store_db.h"

enum { NAME_SIZE = 256 };
static_assert(STORE_MADE_ROWS == 256 && STORE_MADE_PROGRAMS == 64, "in store_sql.def");

/* --- adding --- */

static int add(struct store *s, int64_t program, uint32_t uid, const char *name, double samples,
	       struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_MADE_ADD, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, program);
	(void)sqlite3_bind_int64(q, 2, uid);
	store_bind_text(q, 3, name);
	(void)sqlite3_bind_double(q, 4, samples);
	return store_run(s, q, err);
}

static int fade(struct store *s, int64_t program, double factor, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_MADE_FADE, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, program);
	(void)sqlite3_bind_double(q, 2, factor);
	return store_run(s, q, err) < 0 ||
	       store_do_with(s, SQL_MADE_PRUNE, program, err) < 0 ? -1 : 0;
}

/* The sum that `which` asks of the program; then `then` takes what was summed away. */
static int take(struct store *s, enum store_sql which, enum store_sql then, int64_t program,
		double *sum, struct err *err)
{
	sqlite3_stmt *q;

	if (store_row_with(s, which, program, &q, err) != 1)
		return -1;
	*sum = sqlite3_column_double(q, 0);
	store_done(q);
	return *sum > 0 ? store_do_with(s, then, program, err) : 0;
}

/* The smallest ones of a program that has too many. */
static int fold_names(struct store *s, int64_t program, struct err *err)
{
	double sum;

	if (take(s, SQL_MADE_OVER, SQL_MADE_CUT, program, &sum, err) < 0)
		return -1;
	return sum > 0 ? add(s, program, MADESET_NOBODY, "", sum, err) : 0;
}

static int fold_programs(struct store *s, struct err *err)
{
	int64_t *program = NULL;
	uint32_t n = 0;
	double sum;
	int rc = store_all_ids(s, SQL_MADE_PROGRAMS_OVER, &program, &n, err);

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		rc = take(s, SQL_MADE_SUM, SQL_MADE_DELETE, program[i], &sum, err);
		if (rc == 0)
			rc = add(s, 0, MADESET_NOBODY, "", sum, err);
	}
	free(program);
	return rc;
}

/* Of each item its program; those of one come in a row. */
static int find_programs(struct store *s, const struct attribution *a, int64_t *program,
			 struct err *err)
{
	for (uint32_t i = 0; i < a->nmade; i++) {
		const char *path = a->made[i].program;

		if (i && strcmp(path, a->made[i - 1].program) == 0)
			program[i] = program[i - 1];
		else if (store_program_id(s, path, &program[i], err) < 0)
			return -1;
	}
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Each once, ascending; how many there are. */
static uint32_t distinct(int64_t *id, uint32_t n)
{
	uint32_t k = 0;

	if (n)
		qsort(id, n, sizeof(*id), by_id);
	for (uint32_t i = 0; i < n; i++)
		if (!k || id[k - 1] != id[i])
			id[k++] = id[i];
	return k;
}

static int add_all(struct store *s, const struct attribution *a, const int64_t *program,
		   const int64_t *each, uint32_t neach, double factor, struct err *err)
{
	for (uint32_t i = 0; i < neach; i++)
		if (fade(s, each[i], factor, err) < 0)
			return -1;
	for (uint32_t i = 0; i < a->nmade; i++)
		if (add(s, program[i], a->made[i].uid, a->made[i].name,
			(double)a->made[i].samples, err) < 0)
			return -1;
	for (uint32_t i = 0; i < neach; i++)
		if (fold_names(s, each[i], err) < 0)
			return -1;
	return fold_programs(s, err);
}

int store_made_add(struct store *s, const struct attribution *a,
		   const struct store_fading *fading, struct err *err)
{
	int64_t *program = memory_new(a->nmade, sizeof(*program));
	int64_t *each = memory_new(a->nmade, sizeof(*each));
	int rc = find_programs(s, a, program, err);

	if (rc == 0 && a->nmade) {
		memcpy(each, program, a->nmade * sizeof(*each));
		rc = add_all(s, a, program, each, distinct(each, a->nmade),
			     exp2(-fading->span_s / fading->half_life_s), err);
	}
	free(program);
	free(each);
	return rc;
}

int store_made_forget(struct store *s, int64_t module, struct err *err)
{
	return store_do_with(s, SQL_MADE_FORGET, module, err);
}

/* --- what an older store has --- */

static int add_makers(struct store *s, const struct topnames *makers, struct err *err)
{
	uint64_t count[NCOUNTER], rest;

	if (store_counters(s, count, err) < 0)
		return -1;
	rest = count[COUNTER_ANON];
	for (uint32_t i = 0; i < makers->n; i++) {
		uint64_t samples = makers->at[i].samples;
		int64_t program;

		samples = samples < rest ? samples : rest;
		rest -= samples;
		if (store_program_id(s, makers->at[i].name, &program, err) < 0 ||
		    (samples &&
		     add(s, program, MADESET_NOBODY, "", (double)samples, err) < 0))
			return -1;
	}
	return rest ? add(s, 0, MADESET_NOBODY, "", (double)rest, err) : 0;
}

int store_made_take_over(struct store *s, struct err *err)
{
	struct topnames makers = { 0 };
	struct wr w = { 0 };
	int rc = store_value_get(s, "makers", &w, err);

	if (rc <= 0)
		return rc;
	/* a damaged list is of nobody then: the sum is known */
	(void)topnames_read(wr_bytes(&w), &makers, NULL);
	wr_free(&w);
	rc = store_begin(s, err);
	if (rc == 0 && (add_makers(s, &makers, err) < 0 ||
			store_do(s, SQL_MADE_TAKEN_OVER, err) < 0)) {
		store_rollback(s);
		rc = -1;
	} else if (rc == 0) {
		rc = store_commit(s, err);
	}
	topnames_free(&makers);
	return rc;
}

/* --- telling --- */

int store_made_each(struct store *s, int64_t uid,
		    bool (*f)(void *ctx, const struct store_made *m), void *ctx,
		    struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_MADE_EACH, err);
	char path[PATH_MAX], name[NAME_SIZE];
	int rc;

	if (!q)
		return -1;
	(void)sqlite3_bind_int64(q, 1, uid);
	while ((rc = store_step(s, q, err)) == 1) {
		struct store_made m = { .program = path, .name = name };

		if (!store_get_text(q, 0, path, sizeof(path)) ||
		    !store_get_text(q, 1, name, sizeof(name)) ||
		    !store_get_real(q, 2, &m.samples)) {
			store_done(q);
			return store_damaged(s, "made", err);
		}
		if (!f(ctx, &m)) {
			store_done(q);
			return 0;
		}
	}
	return rc;
}
