/* test_work_evidence.c - exact counts beside samples: used as long as both agree; what counts
 * and is too slow goes
 */
#include <math.h>

#include "policy/decide.h"
#include "tests/unit/manager/work/workscene.h"

/* Samples of blocks 1 and 2, in all 10,000. */
static struct store_profile *samples(unsigned of_one)
{
	static struct store_count count[2];
	static struct store_profile p;

	count[0] = (struct store_count){ 1, of_one * (uint64_t)STORE_UNIT };
	count[1] = (struct store_count){ 2, (10000 - of_one) * (uint64_t)STORE_UNIT };
	p = (struct store_profile){ .ncount = 2, .count = count };
	return &p;
}

static struct store_counting begin_counting(void)
{
	struct store_counting c = { .module = m.id, .generation = m.present,
				    .original = m.original, .begun_ns = store_now_ns(),
				    .runs = 8, .expected_s = 0.75, .most_s = 4 };
	struct err err;

	assert_int_equal(store_counting_put(w.store, &c, &err), 0);
	return c;
}

static void keep(const char *text)
{
	const struct store_counting c = begin_counting();
	struct wr profile = { 0 };
	struct err err;

	assert_int_equal(store_profile_put(w.store, m.id, samples(5000), 0, &err), 0);
	wr_text(&profile, text);
	assert_int_equal(work_evidence_keep(&w, &m, &c, &profile, &err), 0);
	wr_free(&profile);
}

/* Is there a file of them for this use? */
static bool given(const struct store_profile *now)
{
	char counted[WORK_COUNTED_MAX];
	struct err err = { 0 };
	int fd = work_evidence_file(&w, &m, w.policy, now, counted, &err);

	assert_int_equal(err.kind, ERR_NONE);
	assert_string_equal(counted, fd >= 0 ? "8 runs" : "");
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int holds(const struct store_profile *now)
{
	struct usage use;
	struct err err;

	assert_int_equal(work_usage(now, &use, &err), 0);
	int rc = work_evidence_holds(&w, &m, w.policy, &use, &err);
	free(use.count);
	return rc;
}

static void counts_are_used_while_samples_agree(void **state)
{
	(void)state;
	assert_false(given(samples(5000)));
	assert_int_equal(holds(samples(5000)), 0);
	keep("morph-profile 2");
	assert_true(given(samples(5000)));
	assert_true(given(samples(5300)));
	assert_int_equal(holds(samples(5300)), 1);
	assert_false(given(samples(9000)));
	assert_int_equal(holds(samples(9000)), 0);	/* and so it is counted again */
	w.policy->share_layouts = 2;
	assert_false(given(samples(5000)));
}

static void counts_that_are_old_are_not(void **state)
{
	struct err err;

	(void)state;
	keep("morph-profile 2");
	assert_int_equal(store_profile_fade(w.store, m.id, 0.5, NULL, &err), 0);
	assert_true(given(samples(5000)));
	assert_int_equal(store_profile_fade(w.store, m.id, 0.49, NULL, &err), 0);
	assert_false(given(samples(5000)));
	assert_int_equal(holds(samples(5000)), 0);
}

static void what_brought_nothing_is_not_tried_at_once(void **state)
{
	(void)state;
	keep("");
	assert_false(given(samples(5000)));
	assert_int_equal(holds(samples(5000)), 1);
	assert_int_equal(holds(samples(9000)), 0);
}

static void what_it_cost_is_told_and_remembered(void **state)
{
	struct store_counting c = begin_counting();
	char profile[256], hex[65];
	struct store_counted got;
	struct wr text = { 0 };
	struct err err;
	double spent;

	(void)state;
	digest_hex(&m.original, hex);
	(void)snprintf(profile, sizeof(profile),
		       "morph-profile 2\nmodule /p\nsha256 %s\nclock exact\noutside 0\n"
		       "block 0x1000 7\nblock 0x1010 9\nblock 0x1020 0\n", hex);
	wr_text(&text, profile);
	/* 22 s that usually take 20 s in the module */
	c.speed = (struct store_counting_speed){ .all_s = 33, .samples = 4000, .module_s = 22,
						 .usual_module_s = 20 };
	c.gain = 0.002;
	assert_int_equal(store_profile_put(w.store, m.id, samples(5000), 0, &err), 0);
	assert_int_equal(store_counting_end(w.store, m.id, &err), 0);
	assert_int_equal(work_evidence_keep(&w, &m, &c, &text, &err), 0);
	wr_free(&text);
	assert_string_equal(last_event(), "counted: 8 runs in 0 minutes, of 33.0 s in it, "
			    "about 3.0 s more than usual; 2 blocks ran, of 2 there were "
			    "samples");
	assert_int_equal(store_counting_spent(w.store, m.id, store_now_ns(), &spent, &err), 0);
	assert_true(fabs(spent - 3) < 1e-9);
	assert_int_equal(store_counted_get(w.store, m.id, &m.original, &got, &err), 1);
	assert_true(fabs(got.cost_s - 3) < 1e-9 && got.gain == 0.002);
	store_counted_free(&got);
}

static void what_a_process_counted_is_told_as_that(void **state)
{
	struct store_counting c = begin_counting();
	struct store_counted got;
	char counted[WORK_COUNTED_MAX];
	struct wr profile = { 0 };
	struct err err;

	(void)state;
	c.runs = 1;
	c.burst_s = 2.04;
	c.speed = (struct store_counting_speed){ .all_s = 1 };	/* 0.2 s more */
	assert_int_equal(store_profile_put(w.store, m.id, samples(5000), 0, &err), 0);
	wr_raw(&profile, "morph-profile 2", 15);
	assert_int_equal(work_evidence_keep(&w, &m, &c, &profile, &err), 0);
	wr_free(&profile);
	assert_string_equal(last_event(), "counted: a burst of 2.0 s, of 1.0 s in it, about "
			    "0.2 s more than usual; 0 blocks ran, of 2 there were samples");
	assert_int_equal(store_counted_get(w.store, m.id, &m.original, &got, &err), 1);
	assert_true(got.burst_s == 2.04);
	store_counted_free(&got);
	int fd = work_evidence_file(&w, &m, w.policy, samples(5000), counted, &err);
	assert_true(fd >= 0);
	close(fd);
	assert_string_equal(counted, "a burst of 2.0 s");
}

struct wanted {
	const char *text;
	bool found;
};

static bool is_wanted(void *ctx, const struct store_event *e)
{
	struct wanted *want = ctx;
	char text[256];

	(void)snprintf(text, sizeof(text), "%s: %.200s", e->event, e->detail);
	want->found |= strcmp(text, want->text) == 0;
	return true;
}

static bool has_event(const char *text)
{
	struct wanted want = { text, false };
	struct err err;

	assert_int_equal(store_history_each(w.store, path, 10, is_wanted, &want, &err), 0);
	return want.found;
}

/* It may be laid out, and be counted before. */
static void policy_says(const char *count)
{
	char text[128];
	struct err err;

	(void)snprintf(text, sizeof(text), "modules: {include: [\"/var/tmp/*\"]}\n"
		       "optimize: {automatic: true, count: %s}\n", count);
	const struct bytes all = { (const uint8_t *)text, strlen(text) };
	policy_free(w.policy);
	w.policy = policy_parse(all, "test", &err);
	assert_non_null(w.policy);
}

/* Counting has ended, and the module is yet to be laid out by it. */
static void is_to_be_laid_out(uint32_t runs)
{
	char at[PATH_MAX];
	struct store_counting c;
	struct store_counted got;
	struct err err = { 0 };

	assert_int_equal(now().generation, 0);
	assert_false(now().refusal[0]);
	assert_int_equal(store_counting_get(w.store, m.id, &c, &err), 1);
	assert_true(c.ended_ns >= c.begun_ns);
	uint32_t before = restores;
	work_count_end(&w);
	assert_int_equal(restores, before);	/* once is enough */
	assert_int_equal(work_count_overdue(&w, at, &err), 0);
	assert_int_equal(work_count_ready(&w, at, &err), 1);
	assert_string_equal(at, path);
	assert_int_equal(store_counted_get(w.store, m.id, &m.original, &got, &err), 1);
	assert_int_equal(got.runs, runs);
	store_counted_free(&got);
}

/* The runs took half of what so many usual ones do. */
static void counts(uint32_t runs, const struct store_counting_speed *speed)
{
	struct store_counting c = begin_counting();
	struct err err;

	policy_says("auto");
	c.runs = runs;
	c.took_s = runs / 8.0;
	c.speed = *speed;
	assert_int_equal(store_counting_put(w.store, &c, &err), 0);
}

/* `s` seconds in the module for what usually takes 10. */
static void take(double s)
{
	counts(0, &(struct store_counting_speed){ .all_s = s, .samples = 1000, .module_s = s,
						  .usual_module_s = 1 });
	work_count_end(&w);
}

static void what_counts_and_is_too_slow_goes(void **state)
{
	(void)state;
	work_count_end(&w);		/* it is no counting generation */
	take(1.1);
	assert_int_equal(restores, 0);
	take(4);		/* the first of its runs may be a longer one */
	assert_int_equal(restores, 0);
	take(4.2);
	assert_int_equal(restores, 1);
	assert_true(has_event("slower: the generation that counts took 4.2 s for what takes "
			      "1.0 s"));
	assert_string_equal(last_event(), "restored: original in the place of generation 1, "
			    "which has counted 0 runs");
	is_to_be_laid_out(0);
}

/* 4 s are what it may cost. */
static void what_counts_and_costs_too_much_goes(void **state)
{
	(void)state;
	counts(0, &(struct store_counting_speed){ .all_s = 19.9, .samples = 1000 });
	work_count_end(&w);
	assert_int_equal(restores, 0);
	/* a fifth of it */
	counts(0, &(struct store_counting_speed){ .all_s = 20.5, .samples = 1000 });
	work_count_end(&w);
	assert_int_equal(restores, 1);
	assert_true(has_event("slower: the generation that counts has cost 4.1 s, of 4.0 s "
			      "that it may"));
	is_to_be_laid_out(0);
}

static void what_counts_lacks_no_registers(void **state)
{
	struct err err = { 0 };

	(void)state;
	w.samples = 1000;
	m.samples = 500;
	m.states = 0;
	assert_true(work_lacks(&w, &m));
	(void)begin_counting();
	assert_false(work_lacks(&w, &m));
	assert_int_equal(work_counting_ends(&w, m.id, &err), 0);
	assert_true(work_lacks(&w, &m));
	keep("morph-profile 2");
	assert_false(work_lacks(&w, &m));
}

static void what_has_counted_enough_goes(void **state)
{
	char at[PATH_MAX];
	struct err err;

	(void)state;
	counts(DECIDE_COUNT_RUNS - 1, &(struct store_counting_speed){ .all_s = 1 });
	work_count_end(&w);
	assert_int_equal(restores, 0);
	counts(DECIDE_COUNT_RUNS, &(struct store_counting_speed){ .all_s = 1 });
	/* to solve the counts takes a while, in which it would count on */
	assert_int_equal(work_count_ready(&w, at, &err), 0);
	work_count_end(&w);
	assert_int_equal(restores, 1);
	assert_string_equal(last_event(), "restored: original in the place of generation 1, "
			    "which has counted 12 runs");
	is_to_be_laid_out(DECIDE_COUNT_RUNS);
}

static void what_has_counted_for_a_day_goes(void **state)
{
	const uint64_t day_ns = UINT64_C(86400) * 1000000000;
	struct store_counting c;
	char at[PATH_MAX];
	struct err err;

	(void)state;
	w.started_ms = role_now_ms() - 2 * day_ns / 1000000;
	counts(3, &(struct store_counting_speed){ .all_s = 1 });
	assert_int_equal(store_counting_get(w.store, m.id, &c, &err), 1);
	c.begun_ns -= day_ns - UINT64_C(60) * 1000000000;
	assert_int_equal(store_counting_put(w.store, &c, &err), 0);
	work_count_end(&w);
	assert_int_equal(restores, 0);
	c.begun_ns -= UINT64_C(60) * 1000000000;
	assert_int_equal(store_counting_put(w.store, &c, &err), 0);
	assert_int_equal(work_count_ready(&w, at, &err), 0);
	work_count_end(&w);
	assert_int_equal(restores, 1);
	is_to_be_laid_out(3);
}

/* 0.25 s are what a usual one takes, and 0.6 s have been spent. */
static void few_that_cost_much_are_enough(void **state)
{
	const struct store_counting_speed speed = { .all_s = 1.5, .samples = 1000,
						    .module_s = 1.5, .usual_module_s = 0.9 };

	(void)state;
	counts(DECIDE_COUNT_RUNS_LEAST - 1, &speed);
	work_count_end(&w);
	assert_int_equal(restores, 0);
	counts(DECIDE_COUNT_RUNS_LEAST, &speed);
	work_count_end(&w);
	assert_int_equal(restores, 1);
	is_to_be_laid_out(DECIDE_COUNT_RUNS_LEAST);
}

static void short_runs(uint32_t runs)
{
	struct store_counting c = begin_counting();
	struct err err;

	policy_says("auto");
	c.runs = runs;
	c.took_s = 1.4;
	assert_int_equal(store_counting_put(w.store, &c, &err), 0);
	work_count_end(&w);
}

/* 3 s are what twelve usual ones take. */
static void many_short_runs_go(void **state)
{
	(void)state;
	short_runs(DECIDE_COUNT_RUNS);
	short_runs(DECIDE_COUNT_RUNS_MOST - 1);
	assert_int_equal(restores, 0);
	short_runs(DECIDE_COUNT_RUNS_MOST);
	assert_int_equal(restores, 1);
	is_to_be_laid_out(DECIDE_COUNT_RUNS_MOST);
}

/* Nobody takes its runs any more. */
static void what_counted_for_another_daemon_goes(void **state)
{
	struct store_counting c;
	struct err err;

	(void)state;
	counts(3, &(struct store_counting_speed){ .all_s = 1 });
	assert_int_equal(store_counting_get(w.store, m.id, &c, &err), 1);
	w.started_ms = role_now_ms() - 10000;
	work_count_end(&w);
	assert_int_equal(restores, 0);
	c.begun_ns -= 60000000000;
	assert_int_equal(store_counting_put(w.store, &c, &err), 0);
	work_count_end(&w);
	assert_int_equal(restores, 1);
	is_to_be_laid_out(3);
}

static char stubborn[sizeof(path)];

static bool refuses_one(const struct msg *q, struct msg *r)
{
	if (q->type != MSG_RESTORE || strcmp(q->text, stubborn) != 0)
		return false;
	r->num[MSG_REPLY_status] = ERR_REFUSED;
	strcpy(r->text, "no");
	return true;
}

/* Another module counts as well; the first one's original cannot be put back. */
static void two_count(uint32_t runs)
{
	counts(runs, &(struct store_counting_speed){ .all_s = 1 });
	strcpy(stubborn, path);
	also = refuses_one;
	strcat(path, "2");
	strcat(original, "2");
	make_module();
	counts(runs, &(struct store_counting_speed){ .all_s = 1 });
}

static void what_cannot_go_does_not_keep_the_others(void **state)
{
	(void)state;
	two_count(DECIDE_COUNT_RUNS);
	work_count_end(&w);
	assert_int_equal(restores, 1);
	is_to_be_laid_out(DECIDE_COUNT_RUNS);
}

static void nor_does_it_where_the_policy_wants_none(void **state)
{
	(void)state;
	two_count(8);
	policy_says("off");
	work_count_drop(&w);
	assert_int_equal(restores, 1);
	assert_int_equal(now().generation, 0);
}

/* Its original is what the user wants to have. */
static void who_wants_the_original_keeps_it(void **state)
{
	struct store_counting c;
	struct store_use use;
	char at[PATH_MAX];
	struct err err = { 0 };

	(void)state;
	counts(8, &(struct store_counting_speed){ .all_s = 1 });
	work_count_end(&w);
	assert_int_equal(work_restore(&w, path, (struct work_restoring){ 0 }, NULL, &err), 0);
	assert_int_equal(restores, 1);
	assert_int_equal(store_counting_get(w.store, m.id, &c, &err), 0);
	assert_int_equal(work_count_ready(&w, at, &err), 0);
	assert_int_equal(store_use_get(w.store, m.id, &use, &err), 0);
	assert_string_equal(use.verdict, decide_put_back);
	store_profile_free(&use.recent);
}

/* Whether it is at the path or not, it is said what would be done, and it goes on. */
static void a_dry_run_changes_nothing(void **state)
{
	const struct work_restoring dry = { .dry_run = true };
	struct store_counting c;
	struct err err = { 0 };

	(void)state;
	counts(DECIDE_COUNT_RUNS, &(struct store_counting_speed){ .all_s = 1 });
	assert_int_equal(work_restore(&w, path, dry, NULL, &err), 0);
	assert_int_equal(restores, 0);
	assert_int_equal(now().generation, 1);
	refuses = true;
	assert_int_equal(work_restore(&w, path, dry, NULL, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	refuses = false;
	work_count_end(&w);
	assert_int_equal(restores, 1);
	assert_int_equal(work_restore(&w, path, dry, NULL, &err), 0);
	assert_int_equal(store_counting_get(w.store, m.id, &c, &err), 1);
}

/* Laid out it is not then, and what has been counted is no reason to. */
static void what_the_policy_does_not_want_is_over(void **state)
{
	struct store_counting c;
	char at[PATH_MAX];
	struct err err = { 0 };

	(void)state;
	counts(8, &(struct store_counting_speed){ .all_s = 1 });
	work_count_end(&w);
	policy_says("off");
	assert_int_equal(work_count_overdue(&w, at, &err), 1);
	assert_string_equal(at, path);
	put_file(path, "what a package brought");
	enum module_look how;
	assert_int_equal(modules_look(w.modules, path, &how, &m, &err), 0);
	assert_int_equal(work_count_ready(&w, at, &err), 0);
	assert_int_equal(store_counting_get(w.store, m.id, &c, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(counts_are_used_while_samples_agree),
		TEST(counts_that_are_old_are_not),
		TEST(what_brought_nothing_is_not_tried_at_once),
		TEST(what_it_cost_is_told_and_remembered),
		TEST(what_a_process_counted_is_told_as_that),
		TEST(what_counts_and_is_too_slow_goes),
		TEST(what_counts_and_costs_too_much_goes),
		TEST(what_counts_lacks_no_registers),
		TEST(what_has_counted_enough_goes),
		TEST(what_has_counted_for_a_day_goes),
		TEST(few_that_cost_much_are_enough),
		TEST(many_short_runs_go),
		TEST(what_counted_for_another_daemon_goes),
		TEST(what_cannot_go_does_not_keep_the_others),
		TEST(nor_does_it_where_the_policy_wants_none),
		TEST(who_wants_the_original_keeps_it),
		TEST(a_dry_run_changes_nothing),
		TEST(what_the_policy_does_not_want_is_over),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
