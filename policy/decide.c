/* decide.c - decides whether a new generation of a module is worth its work now
 *
 * Tested by tests/unit/policy/test_decide.c.
 */
#include "policy/decide.h"

#include <math.h>
#include <string.h>

#include "policy/policy.h"
#include "policy/speedtest.h"

const double DECIDE_FULL_GAIN = 0.05;

const char *const decide_reason_text[] = {
	[DECIDE_FIRST] = "no generation yet",
	[DECIDE_BLINDLY] =
		"no generation yet, and how fast its original runs could not be observed",
	[DECIDE_AGAIN] = "its last generation is not at its path any more",
	[DECIDE_EVIDENCE] = "much more is known than when its last generation was made",
	[DECIDE_DRIFT] = "used otherwise than its last generation was made for",
	[DECIDE_FEW_SAMPLES] = "too few samples",
	[DECIDE_UNSEEN] = "too much of its time may be in blocks not seen yet",
	[DECIDE_LITTLE_GAIN] = "too little to gain",
	[DECIDE_SAME_USE] = "used as its last generation was made for",
	[DECIDE_UNOBSERVED] = "how fast its original runs is not known yet",
	[DECIDE_COOL_DOWN] = "its last generation is too new",
	[DECIDE_CPU_BUDGET] = "today's budget of CPU time is spent",
	[DECIDE_DISK_BUDGET] = "today's budget of disk writes is spent",
};

const char decide_few_people[] = "the use of too few people";
const char decide_put_back[] = "its original was put back";
const char decide_came_back[] = "its original came back";

static const struct {
	const char *code, *text;	/* text NULL: that of the reason */
} verdicts[] = {
	[DECIDE_FIRST] = { "first", NULL },
	[DECIDE_BLINDLY] = { "first_unobserved", NULL },
	[DECIDE_AGAIN] = { "gone", NULL },
	[DECIDE_EVIDENCE] = { "evidence", NULL },
	[DECIDE_DRIFT] = { "drift", NULL },
	[DECIDE_FEW_SAMPLES] = { "few_samples", NULL },
	[DECIDE_UNSEEN] = { "unseen", NULL },
	[DECIDE_LITTLE_GAIN] = { "little_gain", NULL },
	[DECIDE_SAME_USE] = { "same_use", NULL },
	[DECIDE_UNOBSERVED] = { "unobserved", NULL },
	[DECIDE_COOL_DOWN] = { "cool_down", NULL },
	[DECIDE_CPU_BUDGET] = { "cpu_budget", NULL },
	[DECIDE_DISK_BUDGET] = { "disk_budget", NULL },
	{ "few_people", decide_few_people },
	{ "put_back", decide_put_back },
	{ "came_back", decide_came_back },
};

const char *decide_code_of(const char *verdict)
{
	const char *code = *verdict ? "refused" : "";
	size_t longest = 0;

	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
		const char *text = verdicts[i].text ? verdicts[i].text : decide_reason_text[i];
		size_t n = strlen(text);

		if (n > longest && strncmp(verdict, text, n) == 0) {
			longest = n;
			code = verdicts[i].code;
		}
	}
	return code;
}

/* Four times the samples halve the error of each count. */
static const double more_evidence = 4;

/* A branch is known by the samples of its blocks, total / spread of them on the average, and
 * its error falls with their root.  The factor makes it fit what perl, python, gawk and
 * postgres gained at 5,000, 20,000 and 100,000 samples: 30..65, 50..80 and 75..85 % of the
 * full gain. */
double decide_quality(const struct usage *made_from)
{
	double n = usage_total(made_from);

	return n > 0 ? 1 / (1 + 1.7 * sqrt(usage_spread(made_from) / n)) : 0;
}

double decide_since_s(uint64_t then_ns, uint64_t now_ns)
{
	static const uint64_t day_ns = UINT64_C(86400) * 1000000000;

	if (then_ns <= now_ns)
		return (double)(now_ns - then_ns) / 1e9;
	return then_ns - now_ns < day_ns ? 0 : (double)now_ns / 1e9;
}

const char *const decide_inherit_text[] = {
	[DECIDE_INHERIT] = "used",
	[DECIDE_INHERIT_NOT] = "not used: the policy does not want it",
	[DECIDE_INHERIT_STRANGE] = "not used: too little was recognised",
	[DECIDE_INHERIT_DISPLACED] = "not used: there are enough samples of its own",
	[DECIDE_INHERIT_DRIFT] = "not used: its own samples show another use",
};

const char *const decide_inherit_code[] = {
	[DECIDE_INHERIT] = "used",
	[DECIDE_INHERIT_NOT] = "not_wanted",
	[DECIDE_INHERIT_STRANGE] = "not_recognised",
	[DECIDE_INHERIT_DISPLACED] = "displaced",
	[DECIDE_INHERIT_DRIFT] = "drift",
};

/* Enough to know a module's share of the time, and a use that is another one altogether;
 * chosen. */
double decide_inherit_least(double min_samples)
{
	return min_samples / 10;
}

enum decide_inherit decide_inherits(const struct policy *p, const struct decide_inherited *i,
				    const struct usage *own, double *samples)
{
	double lacking = p->min_samples - usage_total(own);

	*samples = 0;
	if (!p->inherit)
		return DECIDE_INHERIT_NOT;
	if (100 * i->matched < p->inherit_least_pct)
		return DECIDE_INHERIT_STRANGE;
	if (lacking <= 0)
		return DECIDE_INHERIT_DISPLACED;
	if (own->n && 100 * usage_drift(&i->use, own) >= p->min_drift_pct)
		return DECIDE_INHERIT_DRIFT;
	*samples = fmin(i->samples, lacking);
	return DECIDE_INHERIT;
}

bool decide_window_ends(const struct policy *p, bool first, double samples, double since_s)
{
	return samples >= p->min_samples && (first || since_s >= 3600.0 * p->cool_down_h);
}

double decide_forget(const struct usage *use, const struct usage *recent)
{
	double drift = usage_drift(use, recent);
	double young = usage_total(recent), old = usage_total(use) - young;

	/* young / (young + factor * old) == drift */
	return drift > 0 && old > 0 ? fmin(1, young * (1 - drift) / (drift * old)) : 1;
}

static double served(const struct usage *known, const struct usage *recent)
{
	return decide_quality(known) * usage_served(known, recent);
}

static enum decide_reason why_again(const struct policy *p, const struct decide_module *m,
				    double drift)
{
	if (!m->made.n && m->since_s >= 0)
		return DECIDE_AGAIN;
	if (!m->made.n)
		return m->observed || !p->observe_first_h ? DECIDE_FIRST : DECIDE_BLINDLY;
	if (100 * drift >= p->min_drift_pct)
		return DECIDE_DRIFT;
	return usage_total(&m->use) >= more_evidence * usage_total(&m->made) ?
	       DECIDE_EVIDENCE : DECIDE_SAME_USE;
}

bool decide_blames(unsigned deaths, double watched_s, unsigned deaths_before,
		   double watched_before_s)
{
	if (!deaths_before || watched_before_s <= 0)
		return true;
	double mean = deaths_before * watched_s / watched_before_s;
	double term = exp(-mean), fewer = 0;	/* probability of fewer than `deaths` */
	for (unsigned k = 0; k < deaths; k++) {
		fewer += term;
		term *= mean / (k + 1);
	}
	return 1 - fewer < 0.05;
}

const char *const decide_count_text[] = {
	[DECIDE_COUNT] = "counted first",
	[DECIDE_COUNT_NOT] = "the policy does not want it counted",
	[DECIDE_COUNT_CRASHED] = "not counted: a generation of it crashed",
	[DECIDE_COUNT_NO_RUNS] = "not counted: how long its runs take is not known",
	[DECIDE_COUNT_LONG_RUNS] = "not counted: its runs are long",
	[DECIDE_COUNT_LITTLE] = "not counted: samples leave too little open",
	[DECIDE_COUNT_COST] = "not counted: it would cost too much",
};

/* On an EPYC of family 25 model 17 builds of C and C++ took 12 and 16 % more CPU time while
 * both compilers counted (bench/results/machine_before.md), of which only a part is theirs:
 * more than that, chosen. */
static const double slow_down = 0.25;
/* run_s is the longest that was seen as the mean of a while, and runs vary; chosen. */
static const double least_of_usual = 0.5;
static const double day_s = 86400;
/* The runs that count may fill so much of the time until the next decision; chosen. */
static const double most_of_next = 0.2;
/* Half as slow again is more than counting was seen to cost; chosen.
 * As in speedtest.h, the other number must agree by half. */
static const double too_slow = 1.5;
static const double like_a_run_s = 60;		/* chosen */

double decide_open_gain(const struct decide_module *m, double open)
{
	return m->time_share * m->full_gain * open;
}

double decide_count_cost_s(const struct decide_runs *r)
{
	return DECIDE_COUNT_RUNS * r->run_s * slow_down;
}

bool decide_counted_enough(uint32_t runs, double took_s, double spent_s, double cost_s)
{
	const double usual_s = cost_s / slow_down / DECIDE_COUNT_RUNS;
	bool has_cost = usual_s > 0 && spent_s >= DECIDE_COUNT_WORTH * usual_s;

	return runs >= DECIDE_COUNT_RUNS_MOST ||
	       (runs >= DECIDE_COUNT_RUNS_LEAST && has_cost) ||
	       (runs >= DECIDE_COUNT_RUNS && took_s * slow_down >= least_of_usual * cost_s);
}

double decide_count_most_s(const struct policy *p, double gain)
{
	return p->module_count_cpu_per_day_s ? p->module_count_cpu_per_day_s : day_s * gain;
}

static bool costs_too_much(const struct policy *p, const struct decide_runs *r, double gain,
			   double cost_s)
{
	return r->own_spent_s + cost_s > decide_count_most_s(p, gain) ||
	       (p->count_cpu_per_day_s && r->spent_s + cost_s > p->count_cpu_per_day_s);
}

static enum decide_count is_worth_it(const struct policy *p, const struct decide_runs *r,
				     double gain, double cost_s)
{
	if (1e6 * gain < p->min_gain_ppm)
		return DECIDE_COUNT_LITTLE;
	return costs_too_much(p, r, gain, cost_s) ? DECIDE_COUNT_COST : DECIDE_COUNT;
}

static bool are_long(const struct decide_runs *r)
{
	return r->run_s > SPEEDTEST_LONG_RUN_S ||
	       DECIDE_COUNT_RUNS * r->run_s > most_of_next * r->next_s;
}

enum decide_count decide_counts(const struct policy *p, const struct decide_module *m,
				double open)
{
	const struct decide_runs *r = &m->runs;
	double gain = decide_open_gain(m, open);

	if (p->count == SWITCH_OFF)
		return DECIDE_COUNT_NOT;
	if (r->crashed)
		return DECIDE_COUNT_CRASHED;
	if (p->count == SWITCH_ON)
		return DECIDE_COUNT;
	if (isnan(r->run_s))
		return DECIDE_COUNT_NO_RUNS;
	if (are_long(r))
		return DECIDE_COUNT_LONG_RUNS;
	return is_worth_it(p, r, gain, decide_count_cost_s(r));
}

double decide_burst_cost_s(const struct policy *p)
{
	return p->count_burst_s * slow_down;
}

enum decide_count decide_burst(const struct policy *p, const struct decide_module *m,
			       double open)
{
	const struct decide_runs *r = &m->runs;

	if (!p->live || !p->count_burst_s || p->count == SWITCH_OFF ||
	    !(isnan(r->run_s) || are_long(r)))
		return DECIDE_COUNT_NOT;
	if (r->crashed)
		return DECIDE_COUNT_CRASHED;
	if (p->count == SWITCH_ON)
		return DECIDE_COUNT;
	return is_worth_it(p, r, decide_open_gain(m, open), decide_burst_cost_s(p));
}

bool decide_burst_tells(double counted_s, double cpu_s)
{
	return cpu_s > 0 && 100 * cpu_s >= DECIDE_BURST_LEAST_PCT * counted_s;
}

bool decide_count_is_slow(double slower, double more, uint32_t runs, double took_s)
{
	/* compilations take about as much more or less than their mean as that is */
	double by_chance = 1 / sqrt(fmax(fmax(runs, took_s / like_a_run_s), 1));
	double least = log(too_slow) / 2;

	if (isnan(slower) || isnan(more))
		return fmax(slower, more) > 2 * least + by_chance;
	return fmax(slower, more) > 2 * least + by_chance && fmin(slower, more) > least;
}

/* Fewer tell nothing; as for an observation of speedtest.c. */
static const double few_samples = 200;
/* Two half-lives: most of the samples that are known are of after the counts. */
static const double least_weight = 0.25;

double decide_count_slower(double s, double usual_s, double samples)
{
	return samples >= few_samples && s > 0 && usual_s > 0 ? log(s / usual_s) : NAN;
}

double decide_count_spent_s(double module_s, double slower, double more)
{
	double longer = isnan(more) ? slower : more;	/* the one that varies less */

	if (isnan(longer))
		longer = log(1 + slow_down);
	return longer > 0 ? module_s * -expm1(-longer) : 0;
}

bool decide_counts_last(double weight)
{
	return weight >= least_weight;
}

bool decide_counts_hold(const struct policy *p, double weight, const struct usage *counted,
			const struct usage *use)
{
	return decide_counts_last(weight) && 100 * usage_drift(counted, use) < p->min_drift_pct;
}

struct decision decide(const struct policy *p, const struct decide_module *m)
{
	const struct usage *recent = m->recent.n ? &m->recent : &m->use;
	bool others = m->inherited > 0 || m->fleet > 0;
	struct decision d = {
		.unseen = others ? m->others_unseen : usage_unseen(&m->use),
	};
	/* Others' fill up to the least number, but for what rounding takes. */
	double least = p->min_samples * (others ? 0.99 : 1);

	if (m->made.n)
		d.drift = usage_drift(&m->made, recent);
	d.gain = m->time_share * m->full_gain *
		 fmax(0, served(&m->use, recent) - served(&m->made, recent));
	d.reason = why_again(p, m, d.drift);
	if (usage_total(&m->use) < least)
		d.reason = DECIDE_FEW_SAMPLES;
	else if (100 * d.unseen > p->max_unseen_pct)
		d.reason = DECIDE_UNSEEN;
	else if (d.reason == DECIDE_SAME_USE)
		;
	else if (1e6 * d.gain < p->min_gain_ppm)
		d.reason = DECIDE_LITTLE_GAIN;
	else if (d.reason == DECIDE_BLINDLY && m->known_s < 3600.0 * p->observe_first_h)
		d.reason = DECIDE_UNOBSERVED;
	else if (m->since_s >= 0 && m->since_s < 3600.0 * p->cool_down_h)
		d.reason = DECIDE_COOL_DOWN;
	else if (m->spent_cpu_s + m->job_cpu_s > p->cpu_per_day_s ||
		 m->own_cpu_s + m->job_cpu_s > p->module_cpu_per_day_s)
		d.reason = DECIDE_CPU_BUDGET;
	else if (m->spent_disk_mib + m->disk_mib > p->disk_per_day_mib ||
		 m->own_disk_mib + m->disk_mib > p->module_disk_per_day_mib)
		d.reason = DECIDE_DISK_BUDGET;
	d.act = d.reason <= DECIDE_DRIFT;
	return d;
}

struct decision decide_but_unseen(const struct policy *p, const struct decide_module *m)
{
	struct policy any = *p;

	any.max_unseen_pct = 100;
	return decide(&any, m);
}
