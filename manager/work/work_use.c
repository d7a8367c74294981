/* work_use.c - which module has earned a new generation?  The rule is policy/decide.h
 *
 * A module is judged once, at the end of each window of recent samples, so no sample is judged
 * twice.  Each judgement is kept in words with the module, for `morphctl list`.
 *
 * Tested by tests/e2e/daemon.sh.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/work/work.h"
#include "manager/work/work_next.h"
#include "policy/decide.h"
#include "policy/speedtest.h"
#include "policy/policy.h"
#include "policy/share.h"

/* Of the module's time for each unit that the Ext-TSP score rises, both being shares: what
 * perl, sqlite3, bash, sort and gzip gained for theirs lies between 0 and 0.5. */
static const double gain_of_score = 0.2;
static const double mib = 1 << 20;

/* Everything that a judgement needs, and frees in the end. */
struct case_file {
	struct store_module m;
	struct store_generation newest;		/* of the present original; id 0: none */
	struct store_use window;
	struct store_profile use, made;
	struct decide_module d;
	struct policy policy;			/* as it is for the module */
	double since_s;				/* that the window lasts */
	bool ends;				/* it is complete */
	/* others' evidence counts, and the window goes on if nothing comes of it */
	bool early;
	bool counts;				/* it is to be counted first */
	bool bursts;				/* in a process that does not end */
};

static double full_gain(const struct case_file *c)
{
	double before = work_figure(c->newest.stats, "exttsp_before");
	double after = work_figure(c->newest.stats, "exttsp_after");

	if (before < 0 || after < before)
		return DECIDE_FULL_GAIN;
	return fmin(1, gain_of_score * (after - before));	/* the Editor's word */
}

static int load_uses(struct work *w, struct case_file *c, struct err *err)
{
	if (store_profile_get(w->store, c->m.id, &c->use, err) < 0 ||
	    (c->newest.id && c->m.generation &&		/* it is at the path */
	     store_generation_made_from(w->store, c->newest.id, &c->made, err) < 0))
		return -1;
	if (work_usage(&c->use, &c->d.use, err) < 0 ||
	    work_usage(&c->made, &c->d.made, err) < 0)
		return -1;
	return work_usage(&c->window.recent, &c->d.recent, err);
}

/* What is older than the window loses weight as far as the use has changed. */
static int forget_old(struct work *w, struct case_file *c, struct err *err)
{
	double factor = decide_forget(&c->d.use, &c->d.recent);

	if (factor >= 1)
		return 0;
	if (store_profile_fade(w->store, c->m.id, factor, &c->window.recent, err) < 0)
		return -1;
	store_profile_free(&c->use);
	free(c->d.use.count);
	c->d.use.count = NULL;
	if (store_profile_get(w->store, c->m.id, &c->use, err) < 0)
		return -1;
	return work_usage(&c->use, &c->d.use, err);
}

/* What is inherited counts as if it had been sampled. */
static int add_inherited(struct work *w, struct case_file *c, struct err *err)
{
	struct work_evidence e = { .profile = c->use };
	int rc = work_inherited_add(w, &c->m, &c->policy, &e, err);

	c->use = e.profile;
	c->d.inherited = e.inherited;
	c->d.others_unseen = e.unseen;
	if (rc < 0 || e.inherited <= 0)
		return rc;
	free(c->d.use.count);
	return work_usage(&c->use, &c->d.use, err);
}

/* So does a fleet's, for a first layout. */
static int add_fleet(struct work *w, struct case_file *c, struct err *err)
{
	struct work_fleet_use f;

	if (c->newest.id || c->d.inherited > 0)
		return 0;
	int rc = work_fleet_add(w, &c->m, &c->policy, &c->use, &f, err);
	if (rc < 0 || f.weight < 1)
		return rc;
	c->d.fleet = f.weight;
	c->d.others_unseen = f.unseen;
	free(c->d.use.count);
	return work_usage(&c->use, &c->d.use, err);
}

static int fill_costs(struct work *w, struct case_file *c, uint64_t now_ns, struct err *err)
{
	uint64_t since_ns = store_day_before(now_ns);
	double bytes, own;

	if (store_use_share(w->store, &c->window, &c->d.time_share, err) < 0 ||
	    store_spent(w->store, 0, since_ns, &c->d.spent_cpu_s, &bytes, err) < 0 ||
	    store_spent(w->store, c->m.id, since_ns, &c->d.own_cpu_s, &own, err) < 0)
		return -1;
	c->d.own_disk_mib = own / mib;
	c->d.spent_disk_mib = bytes / mib;
	c->d.disk_mib = (double)c->m.seen.size / mib;
	c->d.job_cpu_s = c->newest.id ? c->newest.cpu_s : 0;
	c->d.since_s = c->newest.id ? decide_since_s(c->newest.made_ns, now_ns) : -1;
	c->d.full_gain = full_gain(c);
	return 0;
}

/* The time until the module is decided on again: its next window of samples. */
static double next_s(const struct case_file *c, uint64_t now_ns)
{
	double samples = store_profile_samples(&c->window.recent);
	double since_s = decide_since_s(c->window.begun_ns, now_ns);
	double least_s = 3600.0 * c->policy.cool_down_h;

	return samples > 0 ? fmax(least_s, c->policy.min_samples * since_s / samples) : least_s;
}

/* What is asked for counting alone; its runs: fill_speed(). */
static int fill_runs(struct work *w, struct case_file *c, uint64_t now_ns, struct err *err)
{
	struct decide_runs *r = &c->d.runs;

	r->next_s = next_s(c, now_ns);
	if (store_counting_spent(w->store, 0, now_ns, &r->spent_s, err) < 0 ||
	    store_counting_spent(w->store, c->m.id, now_ns, &r->own_spent_s, err) < 0)
		return -1;
	return store_generation_crashed(w->store, c->m.id, &r->crashed, err);
}

/* Is it known how fast what is at the path runs?  *observations: how often it was observed. */
static int fill_speed(struct work *w, struct case_file *c, uint64_t now_ns,
		     uint32_t *observations, struct err *err)
{
	struct speedtest p;

	*observations = 0;
	c->d.runs.run_s = NAN;
	c->d.known_s = decide_since_s(c->window.known_ns, now_ns);
	if (store_speed_get(w->store, c->m.id, &p, err) < 0)
		return -1;
	if (p.generation != c->m.generation)
		return 0;
	for (uint32_t i = 0; i < p.nkind; i++)
		*observations += p.kind[i].now.n;
	c->d.runs.run_s = speedtest_run_s(&p, c->policy.observe_s);
	c->d.observed = speedtest_known(&p);
	return 0;
}

/* The newest layout, and the window of recent samples. */
static int open_window(struct work *w, struct case_file *c, uint64_t now_ns, struct err *err)
{
	if (store_generation_newest_layout(w->store, c->m.id, &c->m.original, &c->newest, err) <
		    0 ||
	    store_use_get(w->store, c->m.id, &c->window, err) < 0)
		return -1;
	c->since_s = decide_since_s(c->window.begun_ns, now_ns);
	c->ends = decide_window_ends(&c->policy, !c->newest.id,
				     store_profile_samples(&c->window.recent), c->since_s);
	return 0;
}

/* What is decided by, when the uses are loaded. */
static int fill_facts(struct work *w, struct case_file *c, uint64_t now_ns,
		      uint32_t *observations, struct err *err)
{
	return add_inherited(w, c, err) < 0 || add_fleet(w, c, err) < 0 ||
	       fill_costs(w, c, now_ns, err) < 0 ||
	       fill_speed(w, c, now_ns, observations, err) < 0 ||
	       fill_runs(w, c, now_ns, err) < 0 ? -1 : 0;
}

/* Is it to be counted, and how?  *why tells that, or why not. */
static void look_at_counting(struct work *w, struct case_file *c, enum decide_count *why)
{
	double open = 1 - decide_quality(&c->d.use);
	enum decide_count burst = decide_burst(&c->policy, &c->d, open);

	*why = decide_counts(&c->policy, &c->d, open);
	c->bursts = burst == DECIDE_COUNT && work_burst_possible(w, &c->m, &c->policy);
	c->counts = c->bursts || *why == DECIDE_COUNT;
	*why = c->bursts ? burst : *why;
}

/* Not where the policy asks whose use it is: counts are everybody's.  Counts that do not hold
 * any more say too little. */
static int plan_counting(struct work *w, struct case_file *c, struct err *err)
{
	const struct usage *use = c->d.recent.n ? &c->d.recent : &c->d.use;

	if (c->policy.share_layouts > 1)
		return store_counted_delete(w->store, c->m.id, err);
	int rc = work_evidence_holds(w, &c->m, &c->policy, use, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	enum decide_count why;
	look_at_counting(w, c, &why);
	role_log("%s: %s%s", c->m.path, decide_count_text[why],
		 c->bursts ? ", for a while, in a process that goes on" : "");
	return store_counted_delete(w->store, c->m.id, err);
}

/* In words, with the figures that it rests on. */
static void say_decision(const struct case_file *c, const struct decision *d, const char *why,
			 uint32_t observations, char out[256])
{
	char drift[48] = "", more[96] = "";

	if (c->newest.id)
		(void)snprintf(drift, sizeof(drift), "use changed by %.0f %%, ",
			       100 * d->drift);
	if (d->reason == DECIDE_UNOBSERVED)
		(void)snprintf(more, sizeof(more), ", observed %" PRIu32 " times",
			       observations);
	if (c->d.inherited > 0)
		(void)snprintf(more + strlen(more), sizeof(more) - strlen(more),
			       ", %.0f of %.0f samples inherited", c->d.inherited,
			       usage_total(&c->d.use));
	if (c->d.fleet > 0)
		(void)snprintf(more + strlen(more), sizeof(more) - strlen(more),
			       ", %.0f of %.0f samples of a fleet", c->d.fleet,
			       usage_total(&c->d.use));
	(void)snprintf(out, 256, "%s (%sup to %.0f %% of its time not seen yet, %.0f ppm of "
		       "the machine's time to gain%s)", why, drift, 100 * d->unseen,
		       1e6 * d->gain, more);		/* all fit */
}

/* A window that was not complete goes on if nothing came of it. */
static int end_window(struct work *w, struct case_file *c, const char *verdict, bool act,
		      struct err *err)
{
	if (act || !c->early)
		return store_use_begin(w->store, c->m.id, verdict, err);
	if (strcmp(verdict, c->window.verdict) == 0)
		return 0;
	(void)snprintf(c->window.verdict, sizeof(c->window.verdict), "%s", verdict);
	return store_use_put(w->store, c->m.id, &c->window, err);
}

/* Because of where it is, or of a name of it: that is the verdict, and nothing is tried. */
static bool is_refused(struct work *w, const char *path, char verdict[256])
{
	struct names also;
	struct err why = { 0 };

	if (work_check(w, path, &also, &why) == 0 || why.kind != ERR_REFUSED)
		return false;
	(void)snprintf(verdict, 256, "%.255s", why.text);
	return true;
}

static int judge(struct work *w, struct case_file *c, uint64_t now_ns, struct err *err)
{
	char verdict[256];
	uint32_t observations;

	if (load_uses(w, c, err) < 0 || forget_old(w, c, err) < 0 ||
	    fill_facts(w, c, now_ns, &observations, err) < 0)
		return -1;
	struct decision d = decide(&c->policy, &c->d);
	struct share share;
	if (work_share(w, &c->m, &c->policy, &share, err) < 0)
		return -1;
	d.act = d.act && share.enough;
	bool before_counting = d.reason == DECIDE_UNSEEN && share.enough &&
			       decide_but_unseen(&c->policy, &c->d).act;
	say_decision(c, &d, share.enough ? decide_reason_text[d.reason]
					 : decide_few_people, observations, verdict);
	if ((d.act || before_counting) && is_refused(w, c->m.path, verdict))
		d.act = before_counting = false;
	if (end_window(w, c, verdict, d.act || before_counting, err) < 0)
		return -1;
	if (!d.act && !before_counting)
		return 0;
	role_log("%s: %s", c->m.path, verdict);
	if (plan_counting(w, c, err) < 0)
		return -1;
	return d.act || c->counts;
}

/* Does what is inherited count beside its own samples so far, or are they enough with a
 * fleet's?  1, 0, -1.  `again`: a fleet's are asked about even if that was so before. */
static int is_early(struct work *w, struct case_file *c, bool again, struct err *err)
{
	struct work_inherited i;
	struct work_fleet_use f;
	int rc = 0;

	if (c->newest.id || c->m.samples < decide_inherit_least(c->policy.min_samples))
		return 0;
	if (c->policy.inherit)
		rc = work_inherited(w, &c->m, &c->policy, &i, err);
	if (rc < 0 || (rc > 0 && i.counts_as > 0))
		return rc;
	if (!again && !work_fleet_is_news(w, &c->m))
		return 0;
	if (work_fleet_worth(w, &c->m, &c->policy, &f, err) < 0)
		return -1;
	return f.weight >= 1 && (double)c->m.samples + f.weight >= c->policy.min_samples;
}

/* 1 it is time, 0 not, -1 failed. */
static int consider(struct work *w, int64_t module, struct case_file *c, struct err *err)
{
	uint64_t now_ns = store_now_ns();
	struct store_counting counting;
	int rc = store_counting_get(w->store, module, &counting, err);

	if (rc)				/* it is being counted: then it is laid out */
		return rc < 0 ? -1 : 0;
	rc = store_module_by_id(w->store, module, &c->m, err);
	if (rc <= 0 || c->m.refusal[0] || !policy_allows(w->policy, c->m.path))
		return rc < 0 ? -1 : 0;
	const struct policy_rule *rule = work_rule(w, c->m.path, &c->policy);
	if ((rule && rule->refuse) || !c->policy.automatic)
		return 0;
	if (open_window(w, c, now_ns, err) < 0)
		return -1;
	if (!c->ends) {
		rc = is_early(w, c, false, err);
		if (rc <= 0)
			return rc;
		c->early = true;
	}
	return judge(w, c, now_ns, err);
}

static void case_free(struct case_file *c)
{
	store_profile_free(&c->use);
	store_profile_free(&c->made);
	store_profile_free(&c->window.recent);
	free(c->d.use.count);
	free(c->d.made.count);
	free(c->d.recent.count);
	free(c);
}

static int judge_one(struct work *w, int64_t module, struct err *err)
{
	struct case_file *c = calloc(1, sizeof(*c));

	if (!c)
		return err_set(err, ERR_SYS, "out of memory");
	int rc = consider(w, module, c, err);
	if (rc > 0) {
		(void)snprintf(w->again, sizeof(w->again), "%s", c->m.path);	/* fits */
		w->again_counts = c->counts && !c->bursts;
		w->again_bursts = c->bursts;
		w->again_facts = c->d;
		w->again_facts.use = w->again_facts.made = w->again_facts.recent =
			(struct usage){ 0 };
	}
	case_free(c);
	return rc;
}

/* --- without doing anything --- */

static int foresee(struct work *w, struct case_file *c, struct work_foresight *f,
		   struct err *err)
{
	uint64_t now_ns = store_now_ns();
	struct share share;
	uint32_t observations;

	(void)work_rule(w, c->m.path, &c->policy);
	if (open_window(w, c, now_ns, err) < 0)
		return -1;
	f->samples = store_profile_samples(&c->window.recent);
	f->least = c->policy.min_samples;
	f->since_s = c->since_s;
	f->last_s = c->newest.id ? 3600.0 * c->policy.cool_down_h : 0;
	(void)snprintf(f->verdict, sizeof(f->verdict), "%s", c->window.verdict);
	int early = c->ends ? 0 : is_early(w, c, true, err);
	f->ends = c->ends || early > 0;
	if (early < 0 || !f->ends)
		return early < 0 ? -1 : 0;
	if (load_uses(w, c, err) < 0 || fill_facts(w, c, now_ns, &observations, err) < 0 ||
	    work_share(w, &c->m, &c->policy, &share, err) < 0)
		return -1;
	f->d = decide(&c->policy, &c->d);
	enum decide_count why;
	look_at_counting(w, c, &why);
	f->counts = c->counts && f->d.reason == DECIDE_UNSEEN && c->policy.share_layouts <= 1 &&
		    decide_but_unseen(&c->policy, &c->d).act;
	f->enough_people = share.enough;
	f->gain_own = c->d.time_share > 0 ? f->d.gain / c->d.time_share : 0;
	return 0;
}

int work_foresee(struct work *w, const struct store_module *m, struct work_foresight *out,
		 struct err *err)
{
	struct case_file *c = memory_new(1, sizeof(*c));

	*out = (struct work_foresight){ .ends = false };
	c->m = *m;
	int rc = foresee(w, c, out, err);
	case_free(c);
	return rc;
}

int work_judge(struct work *w, struct err *err)
{
	/* with full windows; all that inherit; all without a layout that a fleet knows */
	int64_t *module[3] = { NULL };
	uint32_t n[3] = { 0 };
	int rc = store_use_full(w->store, policy_least_samples(w->policy), &module[0], &n[0],
				err);

	if (rc == 0)
		rc = store_inherited_ids(w->store, &module[1], &n[1], err);
	if (rc == 0)
		rc = store_fleet_first(w->store, &module[2], &n[2], err);
	for (int k = 0; k < 3; k++)
		for (uint32_t i = 0; i < n[k] && rc == 0; i++)
			rc = judge_one(w, module[k][i], err);
	for (int k = 0; k < 3; k++)
		free(module[k]);
	return rc;
}
