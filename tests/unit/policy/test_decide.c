/* test_decide.c - how uses of a module compare, and when it is laid out anew */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <string.h>
#include <stdio.h>

#include "policy/decide.h"
#include "policy/policy.h"

#define USAGE(array) ((struct usage){ sizeof(array) / sizeof((array)[0]), array })

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void uses_compare_by_shares(void **state)
{
	struct usage_count a[] = { { 1, 30 }, { 2, 70 } }, b[] = { { 2, 7 }, { 5, 3 } };
	struct usage ua = USAGE(a), ub = USAGE(b), none = { 0 };

	(void)state;
	assert_true(near(usage_overlap(&ua, &ua), 1));
	assert_true(near(usage_overlap(&ua, &ub), 0.7));
	assert_true(near(usage_overlap(&ub, &ua), 0.7));
	assert_true(near(usage_overlap(&ua, &none), 0));
	/* Half of a share is as good as all of it, less counts in proportion. */
	struct usage_count known[] = { { 1, 50 }, { 2, 40 }, { 3, 10 } };
	struct usage_count use[] = { { 1, 100 }, { 3, 60 }, { 4, 40 } };
	struct usage uk = USAGE(known), uu = USAGE(use);
	assert_true(near(usage_served(&uk, &uu), 0.5 + 0.2 + 0));
	assert_true(near(usage_spread(&none), 0));
	struct usage_count even[] = { { 1, 5 }, { 2, 5 }, { 3, 5 }, { 4, 5 } };
	struct usage ue = USAGE(even);
	assert_true(near(usage_spread(&ue), 4));
}

/* 60 % of a full gain of 5 % is not known, of a module that has a fifth of the machine's time:
 * 0.6 % of the machine's time. */
static struct decide_module open_module(void)
{
	return (struct decide_module){ .time_share = 0.2, .full_gain = 0.05,
				       .runs = { .run_s = 1, .next_s = 86400 } };
}

static void what_is_left_open_is_counted_if_it_is_worth_it(void **state)
{
	struct policy p = { .min_gain_ppm = 50 };
	struct decide_module m = open_module();

	(void)state;
	assert_true(near(decide_open_gain(&m, 0.6), 0.006));
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT);
	m.time_share = 49e-6 / (0.05 * 0.6);		/* brings less than is wanted */
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT_LITTLE);
	m.time_share = 51e-6 / (0.05 * 0.6);
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT);
	assert_int_equal(decide_counts(&p, &m, 0.5), DECIDE_COUNT_LITTLE);
	assert_int_equal(decide_counts(&p, &m, 0), DECIDE_COUNT_LITTLE);
}

static void only_short_runs_are_counted(void **state)
{
	struct policy p = { .min_gain_ppm = 50, .module_count_cpu_per_day_s = 1800 };
	struct decide_module m = open_module();

	(void)state;
	m.runs.run_s = 600;
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT);
	m.runs.run_s = 601;			/* too long to be taken back */
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT_LONG_RUNS);
	m.runs.run_s = INFINITY;		/* of a process that goes on */
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT_LONG_RUNS);
	m.runs.run_s = NAN;
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT_NO_RUNS);
	m.runs = (struct decide_runs){ .run_s = 1, .next_s = 61 };
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT);
	m.runs.next_s = 59;		/* 12 of them are more than a fifth of it */
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT_LONG_RUNS);
}

/* Each run takes a quarter longer, and 0.6 % of a day are 518.4 s. */
static void counting_has_a_budget(void **state)
{
	struct policy p = { .min_gain_ppm = 50 };
	struct decide_module m = open_module();

	(void)state;
	assert_true(near(decide_count_cost_s(&m.runs), 3));
	m.runs.own_spent_s = 515;
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT);
	m.runs.own_spent_s = 516;
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT_COST);
	p.module_count_cpu_per_day_s = 519;	/* the policy grants more, to it */
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT);
	p.module_count_cpu_per_day_s = 518;
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT_COST);
	m.runs.own_spent_s = 0;
	p.count_cpu_per_day_s = 600;		/* to all */
	m.runs.spent_s = 597;
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT);
	m.runs.spent_s = 597.5;
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT_COST);
}

/* Twelve runs of 1 s each cost 3 s; half of their time, or many short ones, are enough. */
static void short_runs_tell_little(void **state)
{
	struct decide_module m = open_module();
	double cost_s = decide_count_cost_s(&m.runs);

	(void)state;
	assert_false(decide_counted_enough(11, 100, 0, cost_s));
	assert_true(decide_counted_enough(12, 6, 0, cost_s));
	assert_false(decide_counted_enough(12, 5.9, 0, cost_s));
	assert_false(decide_counted_enough(127, 5.9, 0, cost_s));
	assert_true(decide_counted_enough(128, 0, 0, cost_s));
	assert_true(decide_counted_enough(12, 0, 0, 0));	/* what is usual is not known */
	assert_false(decide_counted_enough(11, 0, 0, 0));
}

/* A usual run takes 1 s. */
static void fewer_runs_are_enough_where_they_cost_much(void **state)
{
	struct decide_module m = open_module();
	double cost_s = decide_count_cost_s(&m.runs);

	(void)state;
	assert_true(decide_counted_enough(6, 8, 2, cost_s));
	assert_false(decide_counted_enough(6, 8, 1.99, cost_s));
	assert_false(decide_counted_enough(5, 8, 3, cost_s));
	assert_false(decide_counted_enough(6, 8, 2, 0));	/* what is usual is not known */
}

static void the_policy_decides_and_a_crash_before_it(void **state)
{
	struct policy p = { .min_gain_ppm = 50, .count = SWITCH_ON };
	struct decide_module m = open_module();

	(void)state;
	m.runs.run_s = NAN;
	m.time_share = 0;
	assert_int_equal(decide_counts(&p, &m, 0), DECIDE_COUNT);
	m.runs.crashed = true;
	assert_int_equal(decide_counts(&p, &m, 0), DECIDE_COUNT_CRASHED);
	p.count = SWITCH_OFF;
	assert_int_equal(decide_counts(&p, &m, 0), DECIDE_COUNT_NOT);
	m = open_module();
	m.runs.crashed = true;
	p.count = SWITCH_AUTO;
	assert_int_equal(decide_counts(&p, &m, 0.6), DECIDE_COUNT_CRASHED);
}

/* 2 s cost 0.5 s, and 0.6 % of a day are 518.4 s. */
static void what_does_not_end_is_counted_in_bursts_if_it_may_be(void **state)
{
	struct policy p = { .min_gain_ppm = 50, .live = 1, .count_burst_s = 2 };
	struct decide_module m = open_module();

	(void)state;
	assert_int_equal(decide_burst(&p, &m, 0.6), DECIDE_COUNT_NOT);	/* runs tell more */
	m.runs.run_s = INFINITY;
	assert_int_equal(decide_burst(&p, &m, 0.6), DECIDE_COUNT);
	m.runs.run_s = NAN;
	assert_int_equal(decide_burst(&p, &m, 0.6), DECIDE_COUNT);
	p.live = 0;
	assert_int_equal(decide_burst(&p, &m, 0.6), DECIDE_COUNT_NOT);
	p.live = 1;
	p.count_burst_s = 0;
	assert_int_equal(decide_burst(&p, &m, 0.6), DECIDE_COUNT_NOT);
	p.count_burst_s = 2;
	p.count = SWITCH_OFF;
	assert_int_equal(decide_burst(&p, &m, 0.6), DECIDE_COUNT_NOT);
	p.count = SWITCH_AUTO;
	assert_true(near(decide_burst_cost_s(&p), 0.5));
	assert_int_equal(decide_burst(&p, &m, 0), DECIDE_COUNT_LITTLE);
	m.runs.own_spent_s = 517.8;
	assert_int_equal(decide_burst(&p, &m, 0.6), DECIDE_COUNT);
	m.runs.own_spent_s = 518.0;
	assert_int_equal(decide_burst(&p, &m, 0.6), DECIDE_COUNT_COST);
	m.runs.own_spent_s = 0;
	p.count_cpu_per_day_s = 10;
	m.runs.spent_s = 9.9;
	assert_int_equal(decide_burst(&p, &m, 0.6), DECIDE_COUNT_COST);
	p.count = SWITCH_ON;
	assert_int_equal(decide_burst(&p, &m, 0), DECIDE_COUNT);
	m.runs.crashed = true;
	assert_int_equal(decide_burst(&p, &m, 0), DECIDE_COUNT_CRASHED);
}

static void a_process_that_sleeps_tells_nothing(void **state)
{
	(void)state;
	assert_true(decide_burst_tells(2, 2));
	assert_true(decide_burst_tells(2, 0.1));
	assert_false(decide_burst_tells(2, 0.09));
	assert_false(decide_burst_tells(0, 0));
	assert_true(decide_burst_tells(2, 30));		/* of many threads */
}

static void what_counts_may_be_slow_but_not_that_slow(void **state)
{
	(void)state;
	assert_false(decide_count_is_slow(log(1.1), log(1.1), 0, INFINITY));
	assert_true(decide_count_is_slow(log(1.6), log(1.6), 0, INFINITY));
	/* jobs that became larger are so in all of their parts */
	assert_false(decide_count_is_slow(log(4), log(1.1), 0, INFINITY));
	assert_false(decide_count_is_slow(log(1.1), log(4), 0, INFINITY));
	assert_true(decide_count_is_slow(log(1.3), log(1.6), 0, INFINITY));
	assert_true(decide_count_is_slow(log(1.6), log(1.3), 0, INFINITY));
	assert_false(decide_count_is_slow(log(1.4), log(1.4), 0, INFINITY));
	/* where one is all there is */
	assert_true(decide_count_is_slow(NAN, log(1.6), 0, INFINITY));
	assert_true(decide_count_is_slow(log(1.6), NAN, 0, INFINITY));
	assert_false(decide_count_is_slow(NAN, log(1.4), 0, INFINITY));
	assert_false(decide_count_is_slow(NAN, NAN, 0, INFINITY));
	/* of a few runs it may be that these were longer ones */
	assert_false(decide_count_is_slow(log(2), log(2), 7, 5));
	assert_true(decide_count_is_slow(log(2), log(2), 16, 5));
	assert_false(decide_count_is_slow(log(2), NAN, 7, 5));
	assert_true(decide_count_is_slow(log(2.3), NAN, 7, 5));
	assert_false(decide_count_is_slow(log(1.4), log(1.4), 1000, 5));
	/* the samples of the first come before its counts, and may be of half of it */
	assert_false(decide_count_is_slow(log(3.9), log(3.9), 0, 5));
	assert_true(decide_count_is_slow(log(4.2), log(4.2), 0, 5));
	assert_false(decide_count_is_slow(log(3.9), log(3.9), 1, 5));
	/* one that does not end is no less slow */
	assert_true(decide_count_is_slow(log(2), log(2), 0, 1000));
	assert_false(decide_count_is_slow(log(1.4), log(1.4), 0, 1e6));
}

static void what_counting_took_is_told(void **state)
{
	(void)state;
	assert_true(isnan(decide_count_slower(11, 10, 199)));
	assert_true(isnan(decide_count_slower(11, 0, 200)));
	assert_true(near(decide_count_slower(11, 10, 200), log(1.1)));
	/* 11 s of what took 10 s */
	assert_true(near(decide_count_spent_s(11, NAN, log(1.1)), 1));
	assert_true(near(decide_count_spent_s(11, log(1.1), NAN), 1));
	assert_true(near(decide_count_spent_s(11, log(4), log(1.1)), 1));
	assert_true(near(decide_count_spent_s(10, NAN, NAN), 2));	/* usually */
	assert_true(decide_count_spent_s(11, NAN, log(0.9)) == 0);
}

static void counts_hold_as_long_as_the_use_is_the_same(void **state)
{
	struct policy p = { .min_drift_pct = 20 };
	struct usage_count a[] = { { 1, 5000 }, { 2, 5000 } };
	struct usage_count b[] = { { 1, 5300 }, { 2, 4700 } };
	struct usage_count c[] = { { 1, 2000 }, { 2, 8000 } };
	struct usage then = USAGE(a), same = USAGE(b), other = USAGE(c), none = { 0 };

	(void)state;
	assert_true(decide_counts_hold(&p, 1, &then, &then));
	assert_true(decide_counts_hold(&p, 1, &then, &same));
	assert_false(decide_counts_hold(&p, 1, &then, &other));
	assert_true(decide_counts_hold(&p, 0.25, &then, &same));
	assert_false(decide_counts_hold(&p, 0.24, &then, &same));	/* too long ago */
	assert_true(decide_counts_hold(&p, 1, &none, &same));	/* nothing says otherwise */
}

/* Good and Turing: 2 of 10 samples are the only ones of their block; Esty's variance. */
static void what_was_never_seen_is_bounded(void **state)
{
	struct usage_count c[] = { { 1, 1 }, { 2, 1 }, { 3, 2 }, { 4, 6 } };
	struct usage u = USAGE(c), none = { 0 };

	(void)state;
	assert_true(near(usage_unseen(&u), (2 + 1.645 * sqrt(2 + 2 * 1 - 4 / 10.0)) / 10));
	assert_true(near(usage_unseen(&none), 1));
}

static uint64_t seed = 1;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* `n` samples of blocks with shares falling like 1 / rank; `shift` turns the ranks around. */
static struct usage draw(struct usage_count *room, uint32_t nblock, unsigned n, uint32_t shift)
{
	struct usage u = { .count = room };
	double norm = 0;

	for (uint32_t i = 0; i < nblock; i++)
		norm += 1.0 / (i + 1);
	for (uint32_t i = 0; i < nblock; i++)
		room[i] = (struct usage_count){ i, 0 };
	for (unsigned k = 0; k < n; k++) {
		double x = uniform() * norm;
		uint32_t i = 0;

		while (i + 1 < nblock && (x -= 1.0 / (i + 1)) > 0)
			i++;
		room[(i + shift) % nblock].samples++;
	}
	for (uint32_t i = 0; i < nblock; i++) {
		if (room[i].samples > 0)
			room[u.n++] = room[i];
	}
	return u;
}

static void chance_is_no_drift(void **state)
{
	static struct usage_count room[3][400];

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct usage a = draw(room[0], 400, 5000, 0), b = draw(room[1], 400, 1000, 0);
		struct usage other = draw(room[2], 400, 1000, 200);

		/* The overlap alone would say that a tenth has changed. */
		assert_true(usage_overlap(&a, &b) < 0.9);
		assert_true(usage_drift(&a, &b) < 0.05);
		assert_true(usage_drift(&a, &other) > 0.4);
	}
}

static void old_samples_lose_as_much_as_changed(void **state)
{
	struct usage_count use[] = { { 1, 900 }, { 2, 100 } }, recent[] = { { 2, 100 } };
	struct usage_count same[] = { { 1, 90 }, { 2, 10 } };
	struct usage u = USAGE(use), r = USAGE(recent), s = USAGE(same);

	(void)state;
	double drift = usage_drift(&u, &r), factor = decide_forget(&u, &r);
	assert_true(drift > 0.8 && factor < 0.1);
	assert_true(near(100 / (100 + factor * 900), drift));
	assert_true(near(decide_forget(&u, &s), 1));
}

/* A module worth a generation, to be changed by one thing at a time. */
struct fixture {
	struct policy *policy;
	struct usage_count room[3][200];
	struct decide_module m;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->policy = policy_default();
	f->m.use = draw(f->room[0], 200, 20000, 0);
	f->m.recent = draw(f->room[2], 200, 6000, 0);
	f->m.time_share = 0.1;
	f->m.full_gain = DECIDE_FULL_GAIN;
	f->m.since_s = -1;
	f->m.observed = true;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	policy_free(f->policy);
	free(f);
	return 0;
}

static enum decide_reason reason(struct fixture *f)
{
	struct decision d = decide(f->policy, &f->m);

	assert_true(d.act == (d.reason == DECIDE_FIRST || d.reason == DECIDE_BLINDLY ||
			      d.reason == DECIDE_AGAIN ||
			      d.reason == DECIDE_EVIDENCE || d.reason == DECIDE_DRIFT));
	return d.reason;
}

static void the_first_one_needs_evidence_and_gain(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(reason(f), DECIDE_FIRST);
	f->m.time_share = 0.0001;
	assert_int_equal(reason(f), DECIDE_LITTLE_GAIN);
	f->m.time_share = 0.1;
	f->m.use = draw(f->room[0], 200, 4000, 0);
	assert_int_equal(reason(f), DECIDE_FEW_SAMPLES);
	f->policy->min_samples = 50;
	assert_int_equal(reason(f), DECIDE_FIRST);
	f->m.use = draw(f->room[0], 200, 100, 0);
	assert_int_equal(reason(f), DECIDE_UNSEEN);
	assert_int_equal(decide_but_unseen(f->policy, &f->m).reason, DECIDE_FIRST);
	f->policy->min_samples = 101;		/* all else holds */
	assert_int_equal(decide_but_unseen(f->policy, &f->m).reason, DECIDE_FEW_SAMPLES);
}

/* What a first generation is to be compared with has to be known, but nothing waits for
 * ever. */
static void the_first_one_waits_for_its_originals_speed(void **state)
{
	struct fixture *f = *state;

	f->m.observed = false;
	f->m.known_s = 3600.0 * f->policy->observe_first_h - 1;
	assert_int_equal(reason(f), DECIDE_UNOBSERVED);
	f->m.known_s++;
	assert_int_equal(reason(f), DECIDE_BLINDLY);
	f->m.known_s = 0;
	f->policy->observe_first_h = 0;
	assert_int_equal(reason(f), DECIDE_FIRST);
	f->policy->observe_first_h = 24;
	f->m.observed = true;
	assert_int_equal(reason(f), DECIDE_FIRST);
	/* What would not be done anyway is not said to wait for this. */
	f->m.observed = false;
	f->m.time_share = 0.0001;
	assert_int_equal(reason(f), DECIDE_LITTLE_GAIN);
	/* Later ones have something to be compared with, or never will. */
	f->m.time_share = 0.1;
	f->m.since_s = 30 * 86400;
	f->m.made = draw(f->room[1], 200, 20000, 100);
	assert_int_equal(reason(f), DECIDE_DRIFT);
}

static void another_one_needs_a_reason(void **state)
{
	struct fixture *f = *state;

	f->m.since_s = 30 * 86400;
	f->m.made = draw(f->room[1], 200, 20000, 0);
	assert_int_equal(reason(f), DECIDE_SAME_USE);
	f->m.made = draw(f->room[1], 200, 4000, 0);
	assert_int_equal(reason(f), DECIDE_EVIDENCE);
	f->m.made = draw(f->room[1], 200, 20000, 100);
	assert_int_equal(reason(f), DECIDE_DRIFT);
	/* ... which `use` must be able to serve. */
	f->m.use = draw(f->room[0], 200, 20000, 100);
	assert_int_equal(reason(f), DECIDE_LITTLE_GAIN);
}

/* Its original came back: by hand, with its package. */
static void one_that_is_gone_comes_again(void **state)
{
	struct fixture *f = *state;

	f->policy->observe_first_h = 24;
	f->m.observed = false;
	f->m.since_s = 30 * 86400;
	assert_int_equal(reason(f), DECIDE_AGAIN);
	f->m.since_s = 3600;
	assert_int_equal(reason(f), DECIDE_COOL_DOWN);
	f->m.time_share = 0.0001;
	assert_int_equal(reason(f), DECIDE_LITTLE_GAIN);
}

static void budgets_and_cool_down_hold_it_back(void **state)
{
	struct fixture *f = *state;

	f->m.made = draw(f->room[1], 200, 20000, 100);
	f->m.since_s = 3600;
	assert_int_equal(reason(f), DECIDE_COOL_DOWN);
	f->m.since_s = 3600.0 * f->policy->cool_down_h;
	assert_int_equal(reason(f), DECIDE_DRIFT);
	f->m.job_cpu_s = 2;
	f->m.spent_cpu_s = f->policy->cpu_per_day_s - 1;
	assert_int_equal(reason(f), DECIDE_CPU_BUDGET);
	f->m.spent_cpu_s = 0;
	f->m.disk_mib = 1;
	f->m.spent_disk_mib = f->policy->disk_per_day_mib;
	assert_int_equal(reason(f), DECIDE_DISK_BUDGET);
	f->m.spent_disk_mib = 5;
	assert_int_equal(reason(f), DECIDE_DRIFT);
	/* A module's own budgets, which a rule gives it. */
	f->policy->module_disk_per_day_mib = 5;
	assert_int_equal(reason(f), DECIDE_DRIFT);
	f->m.own_disk_mib = 5;
	assert_int_equal(reason(f), DECIDE_DISK_BUDGET);
	f->policy->module_cpu_per_day_s = 5;
	f->m.own_cpu_s = 4;
	assert_int_equal(reason(f), DECIDE_CPU_BUDGET);
}

static void a_window_lasts_unless_it_is_the_first(void **state)
{
	struct fixture *f = *state;

	assert_true(decide_window_ends(f->policy, true, 5000, 1));
	assert_false(decide_window_ends(f->policy, true, 4999, 1e9));
	assert_false(decide_window_ends(f->policy, false, 5000, 86399));
	assert_true(decide_window_ends(f->policy, false, 5000, 86400));
}

/* Better with more samples, worse the wider they spread, never more than all. */
static void quality_grows_with_samples(void **state)
{
	static struct usage_count room[300];
	double before = 0;

	(void)state;
	for (unsigned n = 1000; n <= 64000; n *= 4) {
		struct usage u = draw(room, 300, n, 0);
		double q = decide_quality(&u);

		assert_true(q > before && q < 1);
		before = q;
	}
	struct usage none = { 0 };
	assert_true(near(decide_quality(&none), 0));
}

static void a_generation_is_blamed_unless_it_died_before(void **state)
{
	(void)state;
	assert_true(decide_blames(1, 1, 0, 1e6));
	/* Once a day before, so once in a day is no news, and five times in an hour is. */
	assert_false(decide_blames(1, 86400, 10, 10 * 86400.0));
	assert_false(decide_blames(2, 86400, 10, 10 * 86400.0));
	assert_true(decide_blames(5, 3600, 10, 10 * 86400.0));
	/* Once in ten days before: once in the first minute is. */
	assert_true(decide_blames(1, 60, 1, 10 * 86400.0));
	assert_true(decide_blames(1, 60, 1, 0));
}

static void a_clock_that_was_set_back_holds_nothing_up(void **state)
{
	const uint64_t second = 1000000000, now = 1700000000 * second,
		       year = 365 * 86400 * second;

	(void)state;
	assert_true(decide_since_s(now - 7 * second, now) == 7);
	assert_true(decide_since_s(now, now) == 0);
	assert_true(decide_since_s(now + second, now) == 0);	/* set right by a second */
	assert_true(decide_since_s(now + 9 * year, now) > 40 * 365 * 86400.0);
}

/* A hundred blocks of the version before, each with 40 samples, 94 % of what there was. */
static struct decide_inherited inherited_from(struct usage_count count[100])
{
	for (uint32_t i = 0; i < 100; i++)
		count[i] = (struct usage_count){ i, 40 };
	return (struct decide_inherited){ .use = { 100, count }, .samples = 4000,
					  .matched = 0.94, .unseen = 0.02 };
}

static void inherited_samples_fill_up_what_own_ones_lack(void **state)
{
	struct policy p = { .inherit = 1, .inherit_least_pct = 70, .min_samples = 5000,
			    .min_drift_pct = 20 };
	struct usage_count old[100], few[100], other[] = { { 500, 600 } };
	struct decide_inherited i = inherited_from(old);
	struct usage own = { 0 }, another = USAGE(other);
	double n;

	(void)state;
	assert_int_equal(decide_inherits(&p, &i, &own, &n), DECIDE_INHERIT);
	assert_true(near(n, 4000));		/* never more than there were */
	for (uint32_t k = 0; k < 100; k++)
		few[k] = (struct usage_count){ k, 20 };
	own = (struct usage){ 100, few };
	assert_int_equal(decide_inherits(&p, &i, &own, &n), DECIDE_INHERIT);
	assert_true(near(n, 3000));		/* 2,000 have taken their places */
	p.min_samples = 2000;
	assert_int_equal(decide_inherits(&p, &i, &own, &n), DECIDE_INHERIT_DISPLACED);
	assert_true(n == 0);
	p.min_samples = 5000;
	assert_int_equal(decide_inherits(&p, &i, &another, &n), DECIDE_INHERIT_DRIFT);
	assert_true(n == 0);
	p.min_drift_pct = 100;
	assert_int_equal(decide_inherits(&p, &i, &own, &n), DECIDE_INHERIT);
	i.matched = 0.69;
	assert_int_equal(decide_inherits(&p, &i, &own, &n), DECIDE_INHERIT_STRANGE);
	assert_true(n == 0);
	p.inherit_least_pct = 69;
	assert_int_equal(decide_inherits(&p, &i, &own, &n), DECIDE_INHERIT);
	p.inherit = 0;
	assert_int_equal(decide_inherits(&p, &i, &own, &n), DECIDE_INHERIT_NOT);
	assert_true(n == 0);
	assert_true(near(decide_inherit_least(5000), 500));
}

/* What is inherited counts for a first layout; the blocks that the old version had not shown
 * hold it up as they did there, not the many of which there is only a part of a sample. */
static void inherited_evidence_makes_a_first_layout(void **state)
{
	struct policy p = { .min_samples = 5000, .max_unseen_pct = 10, .min_gain_ppm = 50,
			    .min_drift_pct = 20, .cpu_per_day_s = 600, .disk_per_day_mib = 2048,
			    .module_cpu_per_day_s = 600, .module_disk_per_day_mib = 2048 };
	struct usage_count use[10000], recent[] = { { 1, 300 }, { 2, 200 } };
	struct decide_module m = { .time_share = 0.5, .full_gain = 0.05, .since_s = -1,
				   .observed = true, .recent = USAGE(recent) };

	(void)state;
	for (uint32_t i = 0; i < 10000; i++)
		use[i] = (struct usage_count){ i, 0.4 };
	use[1].samples = use[2].samples = 300;
	m.use = (struct usage){ 10000, use };
	m.use.count[5].samples = 4975 - usage_total(&m.use);
	assert_int_equal(decide(&p, &m).reason, DECIDE_FEW_SAMPLES);
	m.inherited = 4475;
	m.others_unseen = 0.02;
	struct decision d = decide(&p, &m);
	assert_int_equal(d.reason, DECIDE_FIRST);
	assert_true(d.act && near(d.unseen, 0.02));
	m.others_unseen = 0.11;
	assert_int_equal(decide(&p, &m).reason, DECIDE_UNSEEN);
	m.others_unseen = 0.02;
	m.fleet = m.inherited;		/* a fleet's likewise */
	m.inherited = 0;
	assert_int_equal(decide(&p, &m).reason, DECIDE_FIRST);
	m.use.count[5].samples = 0.4;
	assert_int_equal(decide(&p, &m).reason, DECIDE_FEW_SAMPLES);
}

/* A text that begins like another one's has its own code. */
static void every_verdict_has_a_code_of_its_own(void **state)
{
	const char *seen[32];
	unsigned n = 0;
	char text[256];

	(void)state;
	for (int r = DECIDE_FIRST; r <= DECIDE_DISK_BUDGET; r++) {
		snprintf(text, sizeof(text), "%s (use changed by 3 %%)", decide_reason_text[r]);
		seen[n++] = decide_code_of(text);
	}
	seen[n++] = decide_code_of(decide_few_people);
	seen[n++] = decide_code_of(decide_put_back);
	seen[n++] = decide_code_of(decide_came_back);
	seen[n++] = decide_code_of("a set-id program");
	seen[n++] = decide_code_of("");
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(seen[i], seen[k]);
	assert_string_equal(seen[n - 2], "refused");
	assert_string_equal(seen[n - 1], "");
	assert_string_equal(decide_code_of(decide_reason_text[DECIDE_FEW_SAMPLES]),
			    "few_samples");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uses_compare_by_shares),
		cmocka_unit_test(what_is_left_open_is_counted_if_it_is_worth_it),
		cmocka_unit_test(only_short_runs_are_counted),
		cmocka_unit_test(counting_has_a_budget),
		cmocka_unit_test(short_runs_tell_little),
		cmocka_unit_test(fewer_runs_are_enough_where_they_cost_much),
		cmocka_unit_test(the_policy_decides_and_a_crash_before_it),
		cmocka_unit_test(what_does_not_end_is_counted_in_bursts_if_it_may_be),
		cmocka_unit_test(a_process_that_sleeps_tells_nothing),
		cmocka_unit_test(what_counts_may_be_slow_but_not_that_slow),
		cmocka_unit_test(what_counting_took_is_told),
		cmocka_unit_test(counts_hold_as_long_as_the_use_is_the_same),
		cmocka_unit_test(what_was_never_seen_is_bounded),
		cmocka_unit_test(chance_is_no_drift),
		cmocka_unit_test(old_samples_lose_as_much_as_changed),
		cmocka_unit_test(every_verdict_has_a_code_of_its_own),
		TEST(the_first_one_needs_evidence_and_gain),
		TEST(another_one_needs_a_reason),
		TEST(one_that_is_gone_comes_again),
		TEST(budgets_and_cool_down_hold_it_back),
		TEST(a_window_lasts_unless_it_is_the_first),
		TEST(the_first_one_waits_for_its_originals_speed),
		cmocka_unit_test(quality_grows_with_samples),
		cmocka_unit_test(a_generation_is_blamed_unless_it_died_before),
		cmocka_unit_test(a_clock_that_was_set_back_holds_nothing_up),
		cmocka_unit_test(inherited_samples_fill_up_what_own_ones_lack),
		cmocka_unit_test(inherited_evidence_makes_a_first_layout),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
