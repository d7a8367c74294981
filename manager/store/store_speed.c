/* store_speed.c - stores how fast each module's processes ran, for policy/speedtest.h
 *
 * A row is bounded: four kinds, 32 observations of two numbers before the last swap and as many
 * since, 16 bits each, are under 1,200 bytes.
 *
 * Tested by tests/unit/manager/store/test_store_spool.c.
 */
#include <math.h>
#include <string.h>

#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/store/store_db.h"

enum { FORM_OLD = 1, FORM = 2, NOT_KNOWN = -32768, MOST = 32767 };

static const double unit = 1024;	/* of a logarithm: a thousandth */

static void write_double(struct wr *w, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	wr_u64(w, bits);
}

static double read_double(struct rd *r)
{
	uint64_t bits = rd_u64(r);
	double v;

	memcpy(&v, &bits, sizeof(v));
	r->bad = r->bad || isnan(v);
	return v;
}

static double read_time(struct rd *r)
{
	double v = read_double(r);

	r->bad = r->bad || v < 0 || isinf(v);
	return v;
}

static uint32_t read_u32(struct rd *r, uint32_t max)
{
	uint64_t v = rd_uleb(r);

	r->bad = r->bad || v > max;
	return r->bad ? 0 : (uint32_t)v;
}

static void write_log(struct wr *w, float v)
{
	double n = isnan(v) ? NOT_KNOWN : fmax(-MOST, fmin(MOST, round(v * unit)));

	wr_u16(w, (uint16_t)(int16_t)n);
}

static float read_log(struct rd *r)
{
	int16_t n = (int16_t)rd_u16(r);

	return n == NOT_KNOWN ? NAN : (float)(n / unit);
}

static void write_side(struct wr *w, const struct speedtest_side *s)
{
	wr_uleb(w, s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		write_log(w, s->per_run[i]);
		write_log(w, s->per_rest[i]);
	}
}

static void read_side(struct rd *r, struct speedtest_side *s)
{
	s->n = read_u32(r, SPEEDTEST_MAX);
	for (uint32_t i = 0; i < s->n; i++) {
		s->per_run[i] = read_log(r);
		s->per_rest[i] = read_log(r);
	}
}

static void write_open(struct wr *w, const struct speedtest_sums *o)
{
	write_double(w, o->module_s);
	write_double(w, o->rest_s);
	write_double(w, o->run_s);
	write_double(w, o->covered_s);
	wr_uleb(w, o->runs);
	wr_uleb(w, o->samples);
	wr_uleb(w, o->rest_samples);
}

static void read_open(struct rd *r, struct speedtest_sums *o)
{
	o->module_s = read_time(r);
	o->rest_s = read_time(r);
	o->run_s = read_time(r);
	o->covered_s = read_time(r);
	o->runs = read_u32(r, UINT32_MAX);
	o->samples = read_u32(r, UINT32_MAX);
	o->rest_samples = read_u32(r, UINT32_MAX);
}

static void encode(const struct speedtest *p, struct wr *w)
{
	wr_u8(w, FORM);
	wr_uleb(w, p->generation);
	wr_uleb(w, p->before);
	wr_uleb(w, p->looks);
	wr_u8(w, (uint8_t)p->verdict);
	wr_u8(w, (uint8_t)p->by);
	write_double(w, p->shift.estimate);
	write_double(w, p->shift.low);
	write_double(w, p->shift.high);
	wr_uleb(w, p->nkind);
	for (uint32_t i = 0; i < p->nkind; i++) {
		wr_u32(w, p->kind[i].key);
		write_side(w, &p->kind[i].before);
		write_side(w, &p->kind[i].now);
		write_open(w, &p->kind[i].now.open);
	}
}

static int decode(struct bytes b, struct speedtest *p)
{
	struct rd r = rd_of(b);

	*p = (struct speedtest){ 0 };
	uint8_t form = rd_u8(&r);
	if (form != FORM && form != FORM_OLD)
		return -1;
	p->generation = read_u32(&r, UINT32_MAX);
	p->before = read_u32(&r, UINT32_MAX);
	p->looks = read_u32(&r, SPEEDTEST_LOOKS);
	uint8_t verdict = rd_u8(&r);
	p->verdict = (enum speedtest_verdict)verdict;
	uint8_t by = form == FORM ? rd_u8(&r) : SPEEDTEST_BY_NOTHING;
	p->by = (enum speedtest_by)by;
	p->shift.estimate = read_double(&r);
	p->shift.low = read_double(&r);
	p->shift.high = read_double(&r);
	p->nkind = read_u32(&r, SPEEDTEST_KINDS);
	for (uint32_t i = 0; i < p->nkind; i++) {
		p->kind[i].key = rd_u32(&r);
		read_side(&r, &p->kind[i].before);
		read_side(&r, &p->kind[i].now);
		read_open(&r, &p->kind[i].now.open);
	}
	return r.bad || rd_left(&r) || verdict > SPEEDTEST_UNMEASURED ||
	       by > SPEEDTEST_BY_REST ? -1 : 0;
}

int store_speed_get(struct store *s, int64_t module, struct speedtest *out, struct err *err)
{
	sqlite3_stmt *q;
	int rc = store_row_with(s, SQL_SPEED_GET, module, &q, err);

	if (rc < 0)
		return -1;
	*out = (struct speedtest){ 0 };
	if (rc == 0)
		return 0;
	rc = decode(store_get_blob(q, 0), out);
	store_done(q);
	return rc < 0 ? store_damaged(s, "pace", err) : 0;
}

int store_speed_put(struct store *s, int64_t module, const struct speedtest *p, struct err *err)
{
	sqlite3_stmt *q = store_sql(s, SQL_SPEED_PUT, err);
	struct wr w = { 0 };

	if (!q)
		return -1;
	encode(p, &w);
	(void)sqlite3_bind_int64(q, 1, module);
	store_bind_blob(q, 2, wr_bytes(&w));
	int rc = store_run(s, q, err);
	wr_free(&w);
	return rc;
}

/* What processes of the counting generation took, beside what is usual for their kinds. */
static void add_counting(struct store_counting_speed *out, const struct speedtest *before,
			 uint32_t generation, const struct attribute_use *use, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct speedtest_sums *o = &use[i].sums;
		double per_run = speedtest_usual(before, use[i].kind, false);
		double per_rest = speedtest_usual(before, use[i].kind, true);

		if (use[i].generation != generation)
			continue;
		out->all_s += o->module_s;
		out->samples += o->samples;
		if (o->runs && !isnan(per_run)) {
			out->run_s += o->run_s;
			out->usual_run_s += o->runs * per_run;
		}
		if (o->rest_s > 0 && !isnan(per_rest)) {
			out->module_s += o->module_s;
			out->usual_module_s += o->rest_s * per_rest;
		}
	}
}

/* Uses of one module, use[0 .. n). */
static int add_uses(struct store *s, const struct attribute_use *use, uint32_t n,
		    const struct store_fading *fading, struct err *err)
{
	int64_t id = (int64_t)use->module;
	struct store_module m;
	struct store_counting counting;
	struct store_generation counts;
	struct speedtest p;
	int rc = store_module_by_id(s, id, &m, err);

	if (rc <= 0)		/* forgotten while its samples were on the way */
		return rc;
	rc = store_counting_get(s, id, &counting, err);
	if (rc > 0)
		rc = store_generation_by_digest(s, &counting.generation, &counts, err);
	if (rc < 0 || store_speed_get(s, id, &p, err) < 0)
		return -1;
	/* A few runs, which say nothing of what comes before and after. */
	const uint32_t but = rc ? counts.number : 0;
	const bool counting_now = but && m.generation == but;
	uint64_t time_ns = fading->begun_ns ? fading->begun_ns : store_now_ns();
	if (!counting_now && p.generation != m.generation)
		speedtest_swap(&p, m.generation);
	if (store_used_add_all(s, &p, but, use, n, time_ns, err) < 0)
		return -1;
	if (but) {
		add_counting(&counting.speed, &p, but, use, n);
		if (store_counting_put(s, &counting, err) < 0)
			return -1;
	}
	if (counting_now)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		struct speedtest_sums more = use[i].sums;

		/* Processes that go on running what was there before are not like new ones. */
		if (use[i].generation != p.generation)
			continue;
		more.covered_s = fading->span_s;
		speedtest_add(&p, use[i].kind, &more, fading->observe_s);
	}
	return store_speed_put(s, id, &p, err);
}

int store_speed_add(struct store *s, const struct attribution *a,
		   const struct store_fading *fading, struct err *err)
{
	for (uint32_t i = 0, end; i < a->nuse; i = end) {
		for (end = i + 1; end < a->nuse; end++)
			if (a->use[end].module != a->use[i].module)
				break;
		if (add_uses(s, a->use + i, end - i, fading, err) < 0)
			return -1;
	}
	return 0;
}
