/* test_speedtest.c - is a new generation slower? on simulated use of a program
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policy/speedtest.h"
#include "tests/unit/speedtest_use.h"

static const struct use usual = { 0.5, 1.2, 0.2, 0.15, 0.02, 30 };
static const struct use even = { 0.5, 0.02, 0.005, 0.15, 0.02, 30 };
static const struct use alone = { 0.5, 0.02, 0.005, 0, 0, 30 };
/* a daemon: no job ever ends */
static const struct use lasting = { 0.5, 1.2, 0.2, 0.15, 0.02, 0 };

static void begin(struct speedtest *p, const struct use *u, uint32_t before)
{
	memset(p, 0, sizeof(*p));
	for (uint32_t i = 0; i < before; i++)
		use_observe(p, 1, u, 1);
	speedtest_swap(p, 1);
}

/* One swap; *observations: after how many the verdict came. */
static enum speedtest_verdict try(const struct use *u, const struct use *after, double slower,
			     uint32_t before, uint32_t *observations)
{
	struct speedtest p;

	begin(&p, u, before);
	for (*observations = 1; ; ++*observations) {
		use_observe(&p, 1, after, slower);
		if (speedtest_look(&p) && p.verdict != SPEEDTEST_OPEN)
			return p.verdict;
		assert_true(*observations < SPEEDTEST_MAX);
	}
}

/* Of `rounds` swaps, how many get that verdict. */
static unsigned count(const struct use *u, const struct use *after, double slower,
		      uint32_t before, unsigned rounds, enum speedtest_verdict verdict)
{
	uint32_t n;
	unsigned k = 0;

	for (unsigned i = 0; i < rounds; i++)
		k += try(u, after, slower, before, &n) == verdict;
	return k;
}

/* One in a thousand is allowed: of 1,500, more than 6 would come by chance once in 1,000
 * times. */
static void the_same_speed_is_hardly_ever_called_slower(void **state)
{
	(void)state;
	assert_in_range(count(&usual, &usual, 1, 32, 500, SPEEDTEST_SLOWER) +
			count(&even, &even, 1, 12, 500, SPEEDTEST_SLOWER) +
			count(&alone, &alone, 1, 6, 500, SPEEDTEST_SLOWER), 0, 6);
}

static void what_is_slower_is_found(void **state)
{
	(void)state;
	assert_in_range(count(&even, &even, 1.05, 32, 100, SPEEDTEST_SLOWER), 90, 100);
	assert_in_range(count(&alone, &alone, 1.05, 32, 100, SPEEDTEST_SLOWER), 95, 100);
	assert_in_range(count(&usual, &usual, 1.10, 32, 100, SPEEDTEST_SLOWER), 90, 100);
	assert_in_range(count(&lasting, &lasting, 1.10, 32, 100, SPEEDTEST_SLOWER), 90, 100);
}

static void what_is_faster_is_found(void **state)
{
	(void)state;
	assert_in_range(count(&even, &even, 0.95, 32, 100, SPEEDTEST_FASTER), 90, 100);
	assert_in_range(count(&usual, &usual, 0.90, 32, 100, SPEEDTEST_FASTER), 90, 100);
	assert_int_equal(count(&usual, &usual, 0.80, 32, 100, SPEEDTEST_SLOWER), 0);
}

/* Jobs that become larger have more of everything. */
static void larger_jobs_are_not_slower_ones(void **state)
{
	struct use larger = usual, larger_even = even;

	(void)state;
	larger.size_s *= 2;
	larger_even.size_s *= 1.5;
	assert_in_range(count(&usual, &larger, 1, 32, 300, SPEEDTEST_SLOWER), 0, 2);
	assert_in_range(count(&even, &larger_even, 1, 32, 300, SPEEDTEST_SLOWER), 0, 2);
}

static void observe(struct speedtest *p, uint32_t key, const struct use *u, int times)
{
	while (times--)
		use_observe(p, key, u, 1);
}

/* Six of one kind are what the second look, at twelve, needs to be certain: 1 in C(18, 6) is
 * less than its share of SPEEDTEST_ALPHA, 1 in C(17, 5) is not. */
static void what_the_next_one_is_compared_with_takes_six_observations(void **state)
{
	struct speedtest p = { 0 };

	(void)state;
	assert_false(speedtest_known(&p));
	observe(&p, 1, &usual, 5);
	assert_false(speedtest_known(&p));
	observe(&p, 1, &usual, 1);
	assert_true(speedtest_known(&p));
	speedtest_swap(&p, 1);		/* of that one nothing is known */
	assert_false(speedtest_known(&p));
	/* And so it is: twelve that are surely slower are known to be, with six before; not
	 * with five. */
	use_seed = 1;
	for (uint32_t before = 5; before <= 6; before++) {
		begin(&p, &alone, before);
		for (int i = 0; i < 12; i++)
			use_observe(&p, 1, &alone, 3);
		assert_true(speedtest_look(&p));
		assert_int_equal(p.verdict, before == 6 ? SPEEDTEST_SLOWER : SPEEDTEST_OPEN);
	}
	/* A daemon is known by what it does besides the module. */
	p = (struct speedtest){ 0 };
	observe(&p, 1, &lasting, 6);
	assert_true(speedtest_known(&p));
	/* Kinds are compared only with themselves, so it takes more of them. */
	p = (struct speedtest){ 0 };
	observe(&p, 1, &usual, 3);
	observe(&p, 2, &usual, 3);
	assert_false(speedtest_known(&p));
	observe(&p, 2, &usual, 3);
	assert_true(speedtest_known(&p));
}

static void the_interval_holds_the_truth(void **state)
{
	unsigned right = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct speedtest p;

		begin(&p, &even, 32);
		for (int k = 0; k < SPEEDTEST_MAX; k++)
			use_observe(&p, 1, &even, 1.08);
		assert_true(speedtest_look(&p));
		/* Of a whole run, 85 % of which are the module's, or of the module: the
		 * interval is of the one that is known better. */
		right += p.shift.low <= log(1.08) && p.shift.high >= log(1 + 0.85 * 0.08) &&
			 p.shift.estimate > 0.05 && p.shift.estimate < 0.11;
	}
	assert_in_range(right, 97, 100);
}

/* Kinds differ by far more than generations do. */
static void kinds_are_compared_with_themselves(void **state)
{
	struct use small = even, large = even;
	struct speedtest p = { 0 };

	(void)state;
	large.size_s *= 100;
	for (int i = 0; i < 20; i++)
		use_observe(&p, 1, &small, 1);
	for (int i = 0; i < 4; i++)
		use_observe(&p, 2, &large, 1);
	speedtest_swap(&p, 1);
	for (int i = 0; i < 4; i++)
		use_observe(&p, 1, &small, 1);
	for (int i = 0; i < 28; i++)
		use_observe(&p, 2, &large, 1);
	assert_true(speedtest_look(&p));
	assert_true(fabs(p.shift.estimate) < 0.03);
	assert_int_not_equal(p.verdict, SPEEDTEST_SLOWER);
}

static void what_was_never_seen_before_is_not_compared(void **state)
{
	struct speedtest p = { 0 };
	char text[SPEEDTEST_TEXT_MAX];
	uint32_t before;

	(void)state;
	observe(&p, 1, &even, 8);
	assert_false(speedtest_look(&p));		/* the original, instead of nothing */
	p = (struct speedtest){ 0 };
	speedtest_swap(&p, 1);
	for (int i = 1; i <= 100; i++) {
		use_observe(&p, 1, &even, 2);
		assert_true(speedtest_look(&p) == (i == 6));
		assert_int_equal(p.verdict, i < 6 ? SPEEDTEST_OPEN : SPEEDTEST_UNMEASURED);
	}
	speedtest_text(&p, text);
	assert_string_equal(text, "unmeasured, what was there before had not been observed");
	assert_int_equal(speedtest_observed(&p, &before), 0);
	/* But the next generation is compared with this one. */
	speedtest_swap(&p, 2);
	assert_int_equal(p.before, 1);
	for (int i = 0; i < 6; i++)
		use_observe(&p, 1, &even, 3);
	assert_true(speedtest_look(&p));
	assert_int_equal(p.verdict, SPEEDTEST_SLOWER);
}

/* One that was replaced before anything was seen of it. */
static void a_swap_in_passing_keeps_what_is_known(void **state)
{
	struct speedtest p;

	(void)state;
	begin(&p, &even, 20);
	speedtest_swap(&p, 2);
	assert_int_equal(p.before, 0);
	assert_int_equal(p.generation, 2);
	for (int i = 0; i < 6; i++)
		use_observe(&p, 1, &even, 2);
	assert_true(speedtest_look(&p));
	assert_int_equal(p.verdict, SPEEDTEST_SLOWER);
}

static void an_observation_needs_time_and_samples(void **state)
{
	struct speedtest_sums s = { .module_s = 0.4, .rest_s = 0.08, .run_s = 0.48, .runs = 1,
			       .samples = 120, .rest_samples = 20, .covered_s = 500 };
	struct speedtest p = { 0 };

	(void)state;
	speedtest_add(&p, 7, &s, 600);
	assert_int_equal(p.kind[0].now.n, 0);
	speedtest_add(&p, 7, &s, 600);
	assert_int_equal(p.kind[0].now.n, 1);
	assert_true(fabs(p.kind[0].now.per_rest[0] - log(0.8 / 0.16)) < 1e-6);
	assert_true(fabs(p.kind[0].now.per_run[0] - log(0.48)) < 1e-6);
	speedtest_add(&p, 7, &s, 0);
	assert_int_equal(p.kind[0].now.n, 1);	/* 120 samples */
	/* Samples enough, but in too little time. */
	struct speedtest_sums busy = { .module_s = 0.8,
				  .rest_s = 0.16, .samples = 240, .rest_samples = 40,
				  .covered_s = 300 };
	speedtest_add(&p, 9, &busy, 600);
	assert_int_equal(p.kind[1].now.n, 0);
	speedtest_add(&p, 9, &busy, 600);
	assert_int_equal(p.kind[1].now.n, 1);
	/* No job has ended, and hardly any samples of the rest: nothing is known. */
	struct speedtest_sums none = { .module_s = 8,
				  .rest_s = 0.04, .samples = 2001, .rest_samples = 10,
				  .covered_s = 600 };
	speedtest_add(&p, 8, &none, 600);
	assert_int_equal(p.nkind, 3);
	assert_int_equal(p.kind[2].now.n, 0);
}

/* Bounded, and busy ones come first. */
static void a_busier_kind_takes_the_place_of_one_of_which_nothing_is_known(void **state)
{
	struct speedtest_sums s = { .module_s = 1, .samples = 100 };
	struct speedtest p = { 0 };

	(void)state;
	for (uint32_t key = 1; key <= SPEEDTEST_KINDS; key++) {
		s.samples = 10 * key;
		speedtest_add(&p, key, &s, 600);
	}
	s.samples = 5;
	speedtest_add(&p, 100, &s, 600);
	assert_int_equal(p.kind[0].key, 1);
	s.samples = 50;
	speedtest_add(&p, 101, &s, 600);
	assert_int_equal(p.kind[0].key, 101);
	assert_int_equal(p.nkind, SPEEDTEST_KINDS);
	for (int i = 0; i < 100; i++)
		use_observe(&p, 101, &even, 1);
	assert_int_equal(p.kind[0].now.n, SPEEDTEST_MAX);
}

static void the_verdict_is_told(void **state)
{
	char text[SPEEDTEST_TEXT_MAX];
	struct speedtest p;

	(void)state;
	begin(&p, &even, 20);
	speedtest_text(&p, text);
	assert_string_equal(text, "not known yet, not observed so far");
	p.looks = 1;
	p.verdict = SPEEDTEST_FASTER;
	p.shift = (struct ranktest_shift){ log(0.9), log(0.85), log(0.95) };
	use_observe(&p, 1, &even, 1);
	speedtest_text(&p, text);
	assert_string_equal(text, "faster, time -10.0 % (-15.0 .. -5.0), observed 1 time, "
			    "before it 20 times");
}

static void observe_runs(struct speedtest *p, uint32_t key, unsigned runs, double run_s)
{
	struct speedtest_sums s = { .module_s = 30, .rest_s = 10, .run_s = run_s * runs,
				    .runs = runs, .covered_s = 1, .samples = 1000,
				    .rest_samples = 250 };

	speedtest_add(p, key, &s, 1);
}

static void the_longest_run_is_told_and_what_is_usual(void **state)
{
	struct speedtest p = { 0 };

	(void)state;
	assert_true(isnan(speedtest_run_s(&p, 300)) && isnan(speedtest_usual(&p, 1, false)));
	observe_runs(&p, 1, 10, 4);
	observe_runs(&p, 2, 10, 0.5);
	assert_true(fabs(speedtest_run_s(&p, 300) - 4) < 1e-5);
	observe_runs(&p, 1, 10, 1);		/* the newest tells */
	assert_true(fabs(speedtest_run_s(&p, 300) - 1) < 1e-5);
	assert_true(fabs(speedtest_usual(&p, 1, false) - 2) < 1e-5);	/* of 4 and 1 */
	assert_true(fabs(speedtest_usual(&p, 1, true) - 3) < 1e-5);
	assert_true(isnan(speedtest_usual(&p, 3, true)));
	observe_runs(&p, 1, 0, 0);	/* none ended in that while */
	assert_true(fabs(speedtest_run_s(&p, 300) - 1) < 1e-5);
	observe_runs(&p, 3, 0, 0);		/* none of these has ended, as yet */
	assert_true(fabs(speedtest_run_s(&p, 300) - 1) < 1e-5);
	observe_runs(&p, 3, 0, 0);
	assert_true(isinf(speedtest_run_s(&p, 300)));
	assert_true(fabs(speedtest_run_s(&p, 299) - 1) < 1e-5);
	assert_true(isnan(speedtest_usual(&p, 3, false)));
	observe_runs(&p, 4, 10, 7);
	assert_true(isinf(speedtest_run_s(&p, 300)));
	for (int i = 2; i < SPEEDTEST_MAX; i++)
		observe_runs(&p, 3, 0, 0);
	assert_true(isinf(speedtest_run_s(&p, 1)));
}

static void what_was_observed_too_shortly_tells_of_no_run(void **state)
{
	struct speedtest p = { 0 };

	(void)state;
	observe_runs(&p, 1, 0, 0);
	assert_true(isnan(speedtest_run_s(&p, 1)));
	assert_true(isinf(speedtest_run_s(&p, SPEEDTEST_LONG_RUN_S)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_speed_is_hardly_ever_called_slower),
		cmocka_unit_test(what_is_slower_is_found),
		cmocka_unit_test(what_is_faster_is_found),
		cmocka_unit_test(larger_jobs_are_not_slower_ones),
		cmocka_unit_test(what_the_next_one_is_compared_with_takes_six_observations),
		cmocka_unit_test(the_interval_holds_the_truth),
		cmocka_unit_test(kinds_are_compared_with_themselves),
		cmocka_unit_test(what_was_never_seen_before_is_not_compared),
		cmocka_unit_test(a_swap_in_passing_keeps_what_is_known),
		cmocka_unit_test(an_observation_needs_time_and_samples),
		cmocka_unit_test(
			a_busier_kind_takes_the_place_of_one_of_which_nothing_is_known),
		cmocka_unit_test(the_verdict_is_told),
		cmocka_unit_test(the_longest_run_is_told_and_what_is_usual),
		cmocka_unit_test(what_was_observed_too_shortly_tells_of_no_run),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
