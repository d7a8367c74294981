/* test_work_saved.c - which use counts as measured, and what it has saved */
#include "tests/unit/manager/work/workscene.h"

#include <math.h>

#include "manager/store/store_saved.h"
#include "manager/work/work_saved.h"

static const uint64_t hour = UINT64_C(3600000000000);
static const uint64_t noon = UINT64_C(1795694400) * 1000000000;

static void use(uint32_t generation, bool live, uint32_t kind, double module_s, double rest_s)
{
	const struct store_used u = { generation, live, kind, module_s, rest_s, 0 };
	struct err err;

	assert_int_equal(store_used_add(w.store, m.id, noon, &u, &err), 0);
}

/* So many times as long as what was there before, with an interval. */
static void measured(uint32_t generation, uint32_t before, enum store_measured_by by,
		     uint32_t kind, double times)
{
	const struct store_measured put = {
		m.id, generation, before, by, kind,
		{ log(times), log(times * 0.8), log(times * 1.25) }
	};
	struct err err;

	assert_int_equal(store_measured_put(w.store, &put, &err), 0);
}

static struct work_saved saved(void)
{
	struct work_saved s = { .n = 0 };
	struct err err = { 0 };

	m = now();
	if (work_saved(&w, &m, noon, &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static void is_near(double got, double want)
{
	if (fabs(got - want) > 1e-6)
		fail_msg("%f, not %f", got, want);
}

static void what_was_never_compared_is_unmeasured(void **state)
{
	(void)state;
	struct work_saved s = saved();
	assert_int_equal(s.n, 0);
	assert_int_equal(s.begin_ns, 0);
	work_saved_free(&s);
	use(1, false, STORE_KIND_OBSERVED, 10, 30);
	s = saved();
	assert_int_equal(s.n, 1);
	assert_int_equal(s.use[0].why, WORK_UNMEASURED_OPEN);
	assert_true(s.use[0].cpu_s == 40 && s.use[0].saving.estimate_s == 0);
	assert_int_equal(s.begin_ns, noon - noon % hour);
	work_saved_free(&s);
}

static void speed_times_use_is_what_was_saved(void **state)
{
	(void)state;
	use(1, false, STORE_KIND_OBSERVED, 10, 30);
	use(1, false, STORE_KIND_OTHER, 5, 15);
	measured(1, 0, STORE_BY_RUNS, 0, 0.8);
	struct work_saved s = saved();
	assert_int_equal(s.n, 2);
	assert_int_equal(s.use[0].why, WORK_MEASURED);
	is_near(s.use[0].cpu_s, 40);
	is_near(s.use[0].saving.estimate_s, 10);	/* it would have taken 50 */
	is_near(s.use[0].saving.low_s, 0);
	is_near(s.use[0].saving.high_s, 40 / 0.64 - 40);
	assert_int_equal(s.use[1].why, WORK_UNMEASURED_OTHERS);
	is_near(s.use[1].cpu_s, 20);
	work_saved_free(&s);
	measured(1, 0, STORE_BY_SHARE, 0, 0.8);
	s = saved();
	is_near(s.use[0].cpu_s, 10);			/* in the module alone */
	is_near(s.use[0].saving.estimate_s, 2.5);
	work_saved_free(&s);
}

static void a_second_one_is_measured_if_the_first_is(void **state)
{
	(void)state;
	use(2, false, STORE_KIND_OBSERVED, 40, 40);
	measured(2, 1, STORE_BY_RUNS, 0, 0.8);
	struct work_saved s = saved();
	assert_int_equal(s.use[0].why, WORK_UNMEASURED_CHAIN);
	is_near(s.use[0].cpu_s, 80);
	work_saved_free(&s);
	measured(1, 0, STORE_BY_RUNS, 0, 0.5);
	s = saved();
	assert_int_equal(s.use[0].why, WORK_MEASURED);
	is_near(s.use[0].saving.estimate_s, 120);
	is_near(s.use[0].saving.low_s, 80 / (0.8 * 1.25) / (0.5 * 1.25) - 80);
	work_saved_free(&s);
}

static void turns_hold_for_processes_like_the_one_that_had_them(void **state)
{
	(void)state;
	use(1, true, 55, 20, 20);
	use(1, true, 56, 1, 1);
	struct work_saved s = saved();
	assert_int_equal(s.n, 1);
	assert_int_equal(s.use[0].why, WORK_UNMEASURED_LIVE);
	is_near(s.use[0].cpu_s, 42);
	work_saved_free(&s);
	measured(1, 0, STORE_BY_RUNS, 0, 0.5);		/* of others, that began with it */
	measured(1, 0, STORE_BY_TURNS, 55, 0.8);
	s = saved();
	assert_int_equal(s.n, 2);
	assert_int_equal(s.use[0].why, WORK_MEASURED);
	assert_int_equal(s.use[0].by, STORE_BY_TURNS);
	is_near(s.use[0].saving.estimate_s, 10);
	assert_int_equal(s.use[1].why, WORK_UNMEASURED_LIVE_OTHERS);
	is_near(s.use[1].cpu_s, 2);
	work_saved_free(&s);
	measured(1, 0, STORE_BY_TURNS, STORE_KIND_OTHER, 0.8);	/* of what is not known */
	s = saved();
	assert_int_equal(s.use[0].why, WORK_UNMEASURED_LIVE_OTHERS);
	work_saved_free(&s);
}

static void why_it_is_unmeasured_is_told(void **state)
{
	struct speedtest p = { .generation = 1, .verdict = SPEEDTEST_UNMEASURED };
	struct err err;

	(void)state;
	use(1, false, STORE_KIND_OBSERVED, 10, 30);
	assert_int_equal(store_speed_put(w.store, m.id, &p, &err), 0);
	struct work_saved s = saved();
	assert_int_equal(s.use[0].why, WORK_UNMEASURED_BEFORE_UNKNOWN);
	work_saved_free(&s);
	p.looks = SPEEDTEST_LOOKS;
	p.by = SPEEDTEST_BY_RUN;
	assert_int_equal(store_speed_put(w.store, m.id, &p, &err), 0);
	s = saved();
	assert_int_equal(s.use[0].why, WORK_UNMEASURED_CONTRADICTING);
	work_saved_free(&s);
	m.generation = 0;
	assert_int_equal(store_module_put(w.store, &m, &err), 0);
	s = saved();
	assert_int_equal(s.use[0].why, WORK_UNMEASURED_REPLACED);
	work_saved_free(&s);
	for (int i = WORK_UNMEASURED_OPEN; i <= WORK_UNMEASURED_LIVE_OTHERS; i++)
		assert_true(work_unmeasured_name[i][0] && work_unmeasured_text[i][0]);
}

/* --- what the observations say becomes what is kept --- */

enum { KIND = 77 };

/* Runs of `times` as long, after and before a swap, with some scatter. */
static void observe(uint32_t generation, unsigned n, double times)
{
	struct store_fading fading = { .span_s = 60, .half_life_s = 1e9, .observe_s = 10,
				       .begun_ns = noon };
	static unsigned key;
	struct err err;

	for (unsigned i = 0; i < n; i++) {
		double run_s = 10 * times * (1 + 0.01 * (i % 5));
		struct attribute_use u = {
			.module = (uint64_t)m.id, .generation = generation, .kind = KIND,
			.sums = { .module_s = run_s, .rest_s = 1e-3, .run_s = run_s, .runs = 1,
				  .samples = 4000, .rest_samples = 1 } };
		struct attribution a = { .nuse = 1, .use = &u };
		char name[32];

		(void)snprintf(name, sizeof(name), "%u", key++);
		assert_int_equal(store_add_attribution(w.store, name, &a, (struct bytes){ 0 },
						       &fading, &err), 0);
		work_speedtests(&w, &a);
	}
}

/* Before the swap and after it, each so often. */
static void is_observed(unsigned before, unsigned after, double longer)
{
	struct err err;

	m.generation = 0;
	assert_int_equal(store_module_put(w.store, &m, &err), 0);
	observe(0, before, 1);
	m.generation = 1;
	assert_int_equal(store_module_put(w.store, &m, &err), 0);
	observe(1, after, longer);
}

static void a_speed_that_is_found_out_is_kept(void **state)
{
	struct store_measured got;
	struct err err;

	(void)state;
	is_observed(12, 20, 0.8);
	assert_int_equal(store_measured_get(w.store, m.id, 1, false, &got, &err), 1);
	assert_int_equal(got.by, STORE_BY_RUNS);
	assert_int_equal(got.before, 0);
	assert_true(got.shift.low < log(0.8) && got.shift.high > log(0.8) &&
		    got.shift.high < 0);
	struct work_saved s = saved();
	assert_int_equal(s.n, 1);
	assert_int_equal(s.use[0].why, WORK_MEASURED);
	/* 8 s and a bit, 20 times, of 10 s and a bit */
	is_near(s.use[0].cpu_s, 20 * 8 * 1.02 + 0.02);
	assert_true(s.use[0].saving.low_s > 30 && s.use[0].saving.high_s < 50);
	work_saved_free(&s);
	assert_int_equal(restores, 0);
}

static void what_is_slower_has_its_loss_kept(void **state)
{
	(void)state;
	is_observed(12, 20, 1.25);
	assert_int_equal(restores, 1);
	struct work_saved s = saved();
	assert_int_equal(s.use[0].why, WORK_MEASURED);
	assert_true(s.use[0].saving.estimate_s < 0 && s.use[0].saving.high_s < 0);
	work_saved_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_never_compared_is_unmeasured),
		TEST(speed_times_use_is_what_was_saved),
		TEST(a_second_one_is_measured_if_the_first_is),
		TEST(turns_hold_for_processes_like_the_one_that_had_them),
		TEST(why_it_is_unmeasured_is_told),
		TEST(a_speed_that_is_found_out_is_kept),
		TEST(what_is_slower_has_its_loss_kept),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
