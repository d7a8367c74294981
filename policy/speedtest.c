/* speedtest.c - collects how fast a module's processes are; compares that with before a swap */
#include "policy/speedtest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const speedtest_verdict_name[] = {
	[SPEEDTEST_OPEN] = "not known yet", [SPEEDTEST_SLOWER] = "slower",
	[SPEEDTEST_FASTER] = "faster",
	[SPEEDTEST_UNMEASURED] = "unmeasured",
};

const char *const speedtest_verdict_code[] = {
	[SPEEDTEST_OPEN] = "open", [SPEEDTEST_SLOWER] = "slower",
	[SPEEDTEST_FASTER] = "faster", [SPEEDTEST_UNMEASURED] = "unmeasured",
};

/* An observation ends when it covers its time and has SAMPLES_MIN samples, and either REST_MIN
 * of them outside of the module or SAMPLES_ENOUGH in all.  A count of n samples is off by 1 /
 * sqrt(n) by chance; the limits were chosen by that, not measured. */
enum { SAMPLES_MIN = 200, REST_MIN = 20, SAMPLES_ENOUGH = 2000, RUNS_MIN = 1 };

static const uint32_t look_at[SPEEDTEST_LOOKS] = { 6, 12, 20, SPEEDTEST_MAX };

/* Of one look at one number, one way. */
static const double alpha = SPEEDTEST_ALPHA / SPEEDTEST_LOOKS / 2;

static void push(struct speedtest_side *s, float per_run, float per_rest)
{
	if (s->n == SPEEDTEST_MAX) {
		s->n--;
		memmove(s->per_run, s->per_run + 1, s->n * sizeof(*s->per_run));
		memmove(s->per_rest, s->per_rest + 1, s->n * sizeof(*s->per_rest));
	}
	s->per_run[s->n] = per_run;
	s->per_rest[s->n++] = per_rest;
}

static void end_observation(struct speedtest_side *s)
{
	const struct speedtest_sums *o = &s->open;
	bool run = o->runs >= RUNS_MIN && o->run_s > 0;
	bool rest = o->rest_samples >= REST_MIN && o->module_s > 0;

	if (run || rest)
		push(s, run ? (float)log(o->run_s / o->runs) : NAN,
		     rest ? (float)log(o->module_s / o->rest_s) : NAN);
	s->open = (struct speedtest_sums){ 0 };
}

static bool is_full(const struct speedtest_sums *o, double observe_s)
{
	return o->covered_s >= observe_s && o->samples >= SAMPLES_MIN &&
	       (o->rest_samples >= REST_MIN || o->samples >= SAMPLES_ENOUGH);
}

static bool is_empty(const struct speedtest_kind *k)
{
	return !k->before.n && !k->now.n;
}

/* The kind's place; a kind of which nothing is known gives way to one that has more
 * samples.  NULL: there is no room. */
static struct speedtest_kind *kind_of(struct speedtest *p, uint32_t key, uint32_t samples)
{
	struct speedtest_kind *least = NULL;

	for (uint32_t i = 0; i < p->nkind; i++) {
		struct speedtest_kind *k = &p->kind[i];

		if (k->key == key)
			return k;
		if (is_empty(k) && (!least || k->now.open.samples < least->now.open.samples))
			least = k;
	}
	if (p->nkind < SPEEDTEST_KINDS)
		least = &p->kind[p->nkind++];
	else if (!least || least->now.open.samples >= samples)
		return NULL;
	*least = (struct speedtest_kind){ .key = key };
	return least;
}

void speedtest_add(struct speedtest *p, uint32_t key, const struct speedtest_sums *more,
		   double observe_s)
{
	struct speedtest_kind *k = kind_of(p, key, more->samples);

	if (!k)
		return;
	struct speedtest_sums *o = &k->now.open;
	o->module_s += more->module_s;
	o->rest_s += more->rest_s;
	o->run_s += more->run_s;
	o->runs += more->runs;
	o->samples += more->samples;
	o->rest_samples += more->rest_samples;
	o->covered_s += more->covered_s;
	if (is_full(o, observe_s))
		end_observation(&k->now);
}

static bool has_any(const struct speedtest *p)
{
	for (uint32_t i = 0; i < p->nkind; i++)
		if (p->kind[i].now.n)
			return true;
	return false;
}

/* One that was not there long enough to be observed is not what the next one is compared
 * with. */
void speedtest_swap(struct speedtest *p, uint32_t generation)
{
	bool moves = has_any(p);
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nkind; i++) {
		struct speedtest_kind *k = &p->kind[i];

		if (moves)
			k->before = k->now;
		k->before.open = (struct speedtest_sums){ 0 };
		k->now = (struct speedtest_side){ 0 };
		if (k->before.n)
			p->kind[n++] = *k;
	}
	p->nkind = n;
	if (moves)
		p->before = p->generation;
	p->generation = generation;
	p->looks = 0;
	p->verdict = SPEEDTEST_OPEN;
	p->shift = (struct ranktest_shift){ 0 };
	p->by = SPEEDTEST_BY_NOTHING;
}

/* --- comparing --- */

static uint32_t fill_side(const float *value, uint32_t n, double *out)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!isnan(value[i]))
			out[k++] = value[i];
	return k;
}

/* By one of the two numbers.  False: it cannot be compared. */
static bool compare(const struct speedtest *p, bool per_rest, struct ranktest_shift *out)
{
	struct ranktest_stratum s[SPEEDTEST_KINDS];

	for (uint32_t i = 0; i < p->nkind; i++) {
		const struct speedtest_side *b = &p->kind[i].before, *a = &p->kind[i].now;

		s[i].nbefore =
			fill_side(per_rest ? b->per_rest : b->per_run, b->n, s[i].before);
		s[i].nnow = fill_side(per_rest ? a->per_rest : a->per_run, a->n, s[i].now);
	}
	return ranktest_shift(s, p->nkind, alpha, out);
}

static struct ranktest_shift turned(const struct ranktest_shift *s)
{
	return (struct ranktest_shift){ -s->estimate, -s->high, -s->low };
}

/* Is there surely a rise?  `deciding` is the number with the narrower interval. */
static bool rises(const struct ranktest_shift *deciding, bool is_rest,
		  const struct ranktest_shift *other)
{
	if (!(deciding->low > 0))
		return false;
	if (!other)
		return true;
	return is_rest ? other->high >= deciding->estimate / 2 :
	       other->estimate >= deciding->estimate / 2;
}

static enum speedtest_verdict judge(struct speedtest *p)
{
	struct ranktest_shift run, rest;
	bool has_run = compare(p, false, &run), has_rest = compare(p, true, &rest);

	if (!has_run && !has_rest)
		return SPEEDTEST_OPEN;
	bool by_rest = has_rest && (!has_run || rest.high - rest.low <= run.high - run.low);
	const struct ranktest_shift *d = by_rest ? &rest : &run;
	const struct ranktest_shift *o = by_rest ? &run : &rest;
	bool both = has_run && has_rest;
	struct ranktest_shift down = turned(d), other_down = turned(o);
	p->shift = *d;
	p->by = by_rest ? SPEEDTEST_BY_REST : SPEEDTEST_BY_RUN;
	if (rises(d, by_rest, both ? o : NULL))
		return SPEEDTEST_SLOWER;
	return rises(&down, by_rest, both ? &other_down : NULL) ? SPEEDTEST_FASTER
								: SPEEDTEST_OPEN;
}

uint32_t speedtest_observed(const struct speedtest *p, uint32_t *before)
{
	uint32_t now = 0;

	*before = 0;
	for (uint32_t i = 0; i < p->nkind; i++) {
		const struct speedtest_kind *k = &p->kind[i];

		if (k->before.n && k->now.n) {
			now += k->now.n;
			*before += k->before.n;
		}
	}
	return now;
}

/* What was there before a swap was never observed, and cannot be any more. */
static bool has_nothing_to_compare(const struct speedtest *p, uint32_t *now)
{
	*now = 0;
	for (uint32_t i = 0; i < p->nkind; i++) {
		*now += p->kind[i].now.n;
		if (p->kind[i].before.n)
			return false;
	}
	return p->generation != p->before;
}

bool speedtest_look(struct speedtest *p)
{
	uint32_t before, now = speedtest_observed(p, &before), alone;

	if (p->verdict == SPEEDTEST_OPEN && has_nothing_to_compare(p, &alone) &&
	    alone >= look_at[0]) {
		p->verdict = SPEEDTEST_UNMEASURED;
		return true;
	}
	if (p->verdict != SPEEDTEST_OPEN || p->looks >= SPEEDTEST_LOOKS ||
	    now < look_at[p->looks])
		return false;
	while (p->looks < SPEEDTEST_LOOKS && now >= look_at[p->looks])
		p->looks++;		/* one look, though it is due for several */
	p->verdict = judge(p);
	if (p->verdict == SPEEDTEST_OPEN && p->looks == SPEEDTEST_LOOKS)
		p->verdict = SPEEDTEST_UNMEASURED;
	return true;
}

bool speedtest_measured(const struct speedtest *p)
{
	bool open = p->verdict != SPEEDTEST_SLOWER && p->verdict != SPEEDTEST_FASTER;

	if (!p->by || !isfinite(p->shift.low) || !isfinite(p->shift.high))
		return false;
	return !open || (p->shift.low <= 0 && p->shift.high >= 0);
}

/* --- before a swap --- */

static bool known_by(const struct speedtest *p, bool per_rest)
{
	struct ranktest_stratum s[SPEEDTEST_KINDS];
	uint32_t all = 0;

	for (uint32_t i = 0; i < p->nkind; i++) {
		const struct speedtest_side *now = &p->kind[i].now;

		s[i].nbefore = fill_side(per_rest ? now->per_rest : now->per_run, now->n,
					 s[i].before);
		all += s[i].nbefore;
	}
	for (uint32_t i = 0; i < p->nkind; i++)
		s[i].nnow = all ? look_at[1] * s[i].nbefore / all : 0;
	return all && ranktest_critical(s, p->nkind, alpha) >= 0;
}

bool speedtest_known(const struct speedtest *p)
{
	return known_by(p, false) || known_by(p, true);
}

/* --- what runs now --- */

double speedtest_usual(const struct speedtest *p, uint32_t key, bool per_rest)
{
	double value[SPEEDTEST_MAX], sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nkind; i++) {
		const struct speedtest_side *now = &p->kind[i].now;

		if (p->kind[i].key == key)
			n = fill_side(per_rest ? now->per_rest : now->per_run, now->n, value);
	}
	for (uint32_t i = 0; i < n; i++)
		sum += value[i];
	return n ? exp(sum / n) : NAN;
}

double speedtest_run_s(const struct speedtest *p, double observe_s)
{
	double value[SPEEDTEST_MAX], longest = NAN;

	for (uint32_t i = 0; i < p->nkind; i++) {
		const struct speedtest_side *now = &p->kind[i].now;
		uint32_t n = fill_side(now->per_run, now->n, value);

		if (n)
			longest = fmax(longest, exp(value[n - 1]));
		else if (now->n * observe_s >= SPEEDTEST_LONG_RUN_S || now->n == SPEEDTEST_MAX)
			return INFINITY;
	}
	return longest;
}

/* --- words --- */

static double percent(double shift)
{
	return 100 * expm1(shift);
}

void speedtest_text(const struct speedtest *p, char *out)
{
	uint32_t before, now = speedtest_observed(p, &before);
	char value[64] = "";

	if (p->verdict == SPEEDTEST_UNMEASURED && !p->looks) {
		(void)snprintf(out, SPEEDTEST_TEXT_MAX,
			       "%s, what was there before had not been observed",
			       speedtest_verdict_name[p->verdict]);	/* fits */
		return;
	}
	if (p->looks && isfinite(p->shift.low) && isfinite(p->shift.high))
		(void)snprintf(value, sizeof(value), ", time %+.1f %% (%+.1f .. %+.1f)",
			       percent(p->shift.estimate), percent(p->shift.low),
			       percent(p->shift.high));	/* fits: shifts are of CPU times */
	if (!now && !*value)
		(void)snprintf(out, SPEEDTEST_TEXT_MAX, "%s, not observed so far",
			       speedtest_verdict_name[p->verdict]);	/* fits */
	else
		(void)snprintf(out, SPEEDTEST_TEXT_MAX,
			       "%s%s, observed %u time%s, before it %u time%s",
			       speedtest_verdict_name[p->verdict], value, now,
			       now == 1 ? "" : "s", before,	/* fits */
			       before == 1 ? "" : "s");
}
