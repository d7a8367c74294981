/* store_use.c - stores the window of recent samples of each module (table `habit`)
 *
 * Decisions rest on the window (policy/decide.h).  It begins when the last decision was made,
 * and its samples are in the module's profile as well.
 *
 * The profile fades with the time that is sampled.  Samples are whole numbers of 1/STORE_UNIT,
 * so fading after every spool file would round many of them to where they were.  The sampled
 * time is added up instead, and the profile fades in steps of 1/32 of its half-life.
 *
 * Tested by tests/unit/manager/store/test_store_spool.c.
 */
#include <math.h>
#include <stdio.h>

#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/store/profile_code.h"
#include "manager/store/store_db.h"

static const double fading_step = 1.0 / 32;	/* of the half-life; chosen, not measured */

/* Samples of the whole machine, of which anything is known. */
static int machine_samples(struct store *s, uint64_t *out, struct err *err)
{
	uint64_t n[NCOUNTER];

	if (store_counters(s, n, err) < 0)
		return -1;
	*out = n[COUNTER_KNOWN] + n[COUNTER_OUTSIDE] + n[COUNTER_UNKNOWN] + n[COUNTER_ANON] +
	       n[COUNTER_VDSO] + n[COUNTER_KERNEL] + n[COUNTER_NOWHERE];
	return 0;
}

int store_use_get(struct store *s, int64_t module, struct store_use *out, struct err *err)
{
	sqlite3_stmt *q;
	int rc = store_row_with(s, SQL_USE_GET, module, &q, err);

	if (rc < 0)
		return -1;
	*out = (struct store_use){ .begun_ns = store_now_ns() };
	out->known_ns = out->begun_ns;
	if (rc == 0)
		return machine_samples(s, &out->machine_begun, err);
	out->begun_ns = (uint64_t)sqlite3_column_int64(q, 1);
	out->machine_begun = (uint64_t)sqlite3_column_int64(q, 2);
	out->known_ns = (uint64_t)sqlite3_column_int64(q, 5);
	bool ok = store_get_real(q, 3, &out->unfaded_s) &&
		  store_get_text(q, 4, out->verdict, sizeof(out->verdict)) &&
		  profile_decode(store_get_blob(q, 0), &out->recent) == 0;
	store_done(q);
	return ok ? 0 : store_damaged(s, "habit", err);
}

int store_use_put(struct store *s, int64_t module, const struct store_use *h,
		    struct err *err)
{
	struct wr w = { 0 };
	uint64_t budget = 0;

	if (store_module_budget(s, module, PROFILE_RECENT, &budget, err) < 0)
		return -1;
	sqlite3_stmt *q = store_sql(s, SQL_USE_PUT, err);
	if (!q)
		return -1;
	profile_encode(&h->recent, budget, &w);
	(void)sqlite3_bind_int64(q, 1, module);
	store_bind_blob(q, 2, wr_bytes(&w));
	(void)sqlite3_bind_int64(q, 3, (int64_t)h->begun_ns);
	(void)sqlite3_bind_int64(q, 4, (int64_t)h->machine_begun);
	(void)sqlite3_bind_double(q, 5, h->unfaded_s);
	store_bind_text(q, 6, h->verdict);
	(void)sqlite3_bind_double(q, 7, store_profile_samples(&h->recent));
	(void)sqlite3_bind_int64(q, 8, (int64_t)h->known_ns);
	int rc = store_run(s, q, err);
	wr_free(&w);
	return rc;
}

int store_use_add(struct store *s, const struct attribute_module *m,
		    const struct store_fading *fading, double *factor, struct err *err)
{
	struct store_use h;
	double step = fading_step * fading->half_life_s, unit = 1;

	if (store_use_get(s, (int64_t)m->module, &h, err) < 0)
		return -1;
	h.unfaded_s += fading->span_s;
	if (h.unfaded_s >= step) {
		unit = exp2(-h.unfaded_s / fading->half_life_s);
		h.unfaded_s = 0;
	}
	struct store_profile sum = store_profile_sum(&h.recent, m), old = h.recent;
	h.recent = sum;
	int rc = store_use_put(s, (int64_t)m->module, &h, err);
	store_profile_free(&sum);
	store_profile_free(&old);
	if (rc == 0)
		*factor = unit;
	return rc;
}

int store_use_begin(struct store *s, int64_t module, const char *verdict, struct err *err)
{
	struct store_use h;

	if (store_use_get(s, module, &h, err) < 0)
		return -1;
	store_profile_free(&h.recent);
	h.begun_ns = store_now_ns();
	/* a cut one still tells */
	(void)snprintf(h.verdict, sizeof(h.verdict), "%s", verdict);
	if (machine_samples(s, &h.machine_begun, err) < 0)
		return -1;
	return store_use_put(s, module, &h, err);
}

int store_use_share(struct store *s, const struct store_use *h, double *out,
		      struct err *err)
{
	uint64_t machine;

	if (machine_samples(s, &machine, err) < 0)
		return -1;
	machine -= h->machine_begun < machine ? h->machine_begun : machine;
	*out = machine > 0 ? fmin(1, store_profile_samples(&h->recent) / (double)machine) : 0;
	return 0;
}

int store_use_full(struct store *s, double samples, int64_t **module, uint32_t *n,
		     struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_USE_FULL, err);

	if (!q)
		return -1;
	(void)sqlite3_bind_double(q, 1, samples);
	return store_ids(s, q, module, n, err);
}
