/* test_store_spool.c - what spool files bring: profiles, windows of use and speed, each once */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/speedtest.h"
#include "tests/unit/storefixture.h"

static const struct store_fading fading = { .span_s = 60, .half_life_s = 7 * 86400 };
static const struct bytes nothing;
static const struct store_fading still = { .span_s = 0, .half_life_s = 7 * 86400 };

/* The module's samples as two_blocks() has them, taken in `n` times. */
static void take_in(struct store *s, struct store_module *m, int n)
{
	struct blockcount count[2];
	struct attribute_module am;
	struct err err;
	char name[32];

	assert_int_equal(store_module_put(s, m, &err), 0);
	struct attribution a = two_blocks(m->id, count, &am);
	for (int i = 1; i <= n; i++) {
		(void)snprintf(name, sizeof(name), "%d.spool", i);
		assert_int_equal(store_add_attribution(s, name, &a, nothing, &still, &err), 0);
	}
}

static void a_spool_file_counts_once(void **state)
{
	struct store *s = open_store();
	struct store_module m = module_at("/usr/bin/perl", 1);
	struct blockcount count[2];
	struct attribute_module am;
	struct store_profile p;
	struct wr spaces = { 0 };
	char last[256];
	struct err err;

	(void)state;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	struct attribution a = two_blocks(m.id, count, &am);
	struct bytes sp = { (const uint8_t *)"abc", 3 };
	assert_int_equal(store_add_attribution(s, "1.spool", &a, sp, &fading, &err), 0);
	assert_int_equal(store_add_attribution(s, "1.spool", &a, sp, &fading, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	count[0].block = 5;
	assert_int_equal(store_add_attribution(s, "2.spool", &a, sp, &fading, &err), 0);
	store_close(s);

	s = open_store();
	assert_int_equal(store_spool_last(s, last, sizeof(last), &err), 0);
	assert_string_equal(last, "2.spool");
	assert_int_equal(store_spaces_get(s, &spaces, &err), 1);
	assert_int_equal(spaces.n, 3);
	wr_free(&spaces);
	assert_int_equal(store_profile_get(s, m.id, &p, &err), 1);
	const struct store_count want[] = { { 3, 10 << 8 }, { 5, 10 << 8 }, { 9, 8 << 8 } };
	assert_true(same_counts(&p, want, 3));
	assert_int_equal(p.outside, 12 << 8);
	assert_int_equal(p.states, 24 << 8);
	assert_int_equal(p.edges.nedge, 1);
	assert_int_equal(p.edges.edge[0].count, 14 << 8);
	assert_int_equal(p.edges.ncall, 1);
	assert_int_equal(p.edges.call[0].count, 10 << 8);
	store_profile_free(&p);
	assert_int_equal(store_module_by_id(s, m.id, &m, &err), 1);
	assert_true(m.samples > 27.9 && m.samples < 28.1 && m.outside > 11.9);
	assert_true(m.states > 23.9 && m.states < 24.1);
	assert_true(m.updated_ns > 0);
	store_close(s);
}

static void a_profile_fades_but_for_what_is_kept(void **state)
{
	struct store *s = open_store();
	struct store_module m = module_at("/usr/bin/perl", 1);
	struct store_profile p;
	struct err err;

	(void)state;
	take_in(s, &m, 2);
	assert_int_equal(store_profile_fade(s, m.id, 0.5, NULL, &err), 0);
	assert_int_equal(store_profile_get(s, m.id, &p, &err), 1);
	const struct store_count half[] = { { 3, 10 << 8 }, { 9, 4 << 8 } };
	assert_true(same_counts(&p, half, 2));
	assert_int_equal(p.outside, 6 << 8);
	assert_int_equal(p.states, 12 << 8);
	assert_int_equal(p.edges.edge[0].count, 7 << 8);
	assert_int_equal(p.edges.call[0].count, 5 << 8);
	store_profile_free(&p);
	assert_int_equal(store_profile_fade(s, m.id, 1.5, NULL, &err), -1);

	struct store_count some = { 9, 3 << 8 };
	struct store_profile keep = { .ncount = 1, .count = &some };
	assert_int_equal(store_profile_fade(s, m.id, 0.5, &keep, &err), 0);
	assert_int_equal(store_profile_get(s, m.id, &p, &err), 1);
	const struct store_count kept[] = { { 3, 5 << 8 }, { 9, (3 << 8) + (1 << 7) } };
	assert_true(same_counts(&p, kept, 2));
	store_profile_free(&p);
	assert_int_equal(store_profile_fade(s, m.id, 0.0001, NULL, &err), 0);
	assert_int_equal(store_profile_get(s, m.id, &p, &err), 1);
	assert_int_equal(p.ncount + p.edges.nedge + p.edges.ncall, 0);
	store_profile_free(&p);
	store_close(s);
}

static void samples_of_a_module_forgotten_meanwhile_are_counted_as_such(void **state)
{
	struct store *s = open_store();
	struct blockcount count[2];
	struct attribute_module am;
	uint64_t counter[NCOUNTER];
	struct err err;

	(void)state;
	struct attribution a = two_blocks(4711, count, &am);
	assert_int_equal(store_add_attribution(s, "1.spool", &a, nothing, &fading, &err), 0);
	assert_int_equal(store_counters(s, counter, &err), 0);
	assert_int_equal(counter[COUNTER_KNOWN], 14);
	assert_int_equal(counter[COUNTER_CHANGED], 20);
	store_close(s);
}

/* A window collects what comes and says its share of the machine; what is older fades. */
static void recent_samples_have_a_window(void **state)
{
	struct store *s = open_store();
	struct store_module m = module_at("/usr/bin/gawk", 7);
	struct blockcount count[2];
	struct attribute_module am;
	struct store_fading week = { .span_s = 7 * 86400, .half_life_s = 7 * 86400 };
	struct store_use h;
	struct store_profile p;
	struct bytes none = { 0 };
	int64_t *full;
	uint32_t nfull;
	double share;
	struct err err;

	(void)state;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	struct attribution a = two_blocks(m.id, count, &am);
	assert_int_equal(store_add_attribution(s, "w1", &a, none, &fading, &err), 0);
	assert_int_equal(store_use_begin(s, m.id, "why", &err), 0);
	assert_int_equal(store_use_get(s, m.id, &h, &err), 0);
	assert_int_equal(h.recent.ncount, 0);
	assert_string_equal(h.verdict, "why");
	assert_true(h.known_ns < h.begun_ns);	/* since the first window */
	store_profile_free(&h.recent);

	assert_int_equal(store_add_attribution(s, "w2", &a, none, &week, &err), 0);
	assert_int_equal(store_use_get(s, m.id, &h, &err), 0);
	assert_int_equal(h.recent.ncount, 2);
	assert_int_equal(h.recent.count[0].samples, 10 << 8);
	assert_true(store_profile_samples(&h.recent) == 14);
	/* 14 samples in its blocks, of 14 + 6 that the machine had since the window began. */
	assert_int_equal(store_use_share(s, &h, &share, &err), 0);
	assert_true(share > 0.69 && share < 0.71);
	store_profile_free(&h.recent);
	/* The first lot faded by half, then the second one came: 15, not 20. */
	assert_int_equal(store_profile_get(s, m.id, &p, &err), 1);
	assert_int_equal(p.count[0].samples, 15 << 8);
	store_profile_free(&p);

	assert_int_equal(store_use_full(s, 14, &full, &nfull, &err), 0);
	assert_int_equal(nfull, 1);
	assert_true(full[0] == m.id);
	free(full);
	assert_int_equal(store_use_full(s, 15, &full, &nfull, &err), 0);
	assert_int_equal(nfull, 0);
	free(full);

	/* The week is faded: another minute is too little to fade again. */
	assert_int_equal(store_add_attribution(s, "w3", &a, none, &fading, &err), 0);
	assert_int_equal(store_profile_get(s, m.id, &p, &err), 1);
	assert_int_equal(p.count[0].samples, 25 << 8);
	store_profile_free(&p);
	store_close(s);
}

static struct attribute_use use_of(int64_t module, uint32_t generation, uint32_t kind)
{
	return (struct attribute_use){
		.module = (uint64_t)module, .generation = generation, .kind = kind,
		.sums = { .module_s = 3, .rest_s = 1, .run_s = 8, .runs = 2, .samples = 250,
			  .rest_samples = 60 },
	};
}

/* Of what is at the path; a swap makes it what the next one is compared with. */
static void paces_are_observed_and_turn_with_a_swap(void **state)
{
	struct store *s = open_store();
	struct store_module m = module_at("/usr/bin/gawk", 7);
	struct store_fading minutes = { .span_s = 350, .half_life_s = 86400, .observe_s = 600 };
	struct attribute_use use[3];
	struct attribution a = { .nuse = 3, .use = use };
	struct speedtest p;
	struct err err;

	(void)state;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	use[0] = use_of(m.id, 0, 77);
	use[1] = use_of(m.id, 1, 77);		/* not what is there now */
	use[2] = use_of(4711, 0, 77);		/* forgotten meanwhile */
	assert_int_equal(store_add_attribution(s, "1", &a, nothing, &minutes, &err), 0);
	assert_int_equal(store_speed_get(s, m.id, &p, &err), 0);
	assert_int_equal(p.nkind, 1);
	assert_int_equal(p.kind[0].now.n, 0);
	assert_int_equal(p.kind[0].now.open.samples, 250);
	assert_int_equal(store_add_attribution(s, "2", &a, nothing, &minutes, &err), 0);
	store_close(s);

	s = open_store();
	assert_int_equal(store_speed_get(s, m.id, &p, &err), 0);
	assert_int_equal(p.kind[0].key, 77);
	assert_int_equal(p.kind[0].now.n, 1);
	assert_true(fabs(p.kind[0].now.per_run[0] - log(4)) < 0.001);
	assert_true(fabs(p.kind[0].now.per_rest[0] - log(3)) < 0.001);

	m.generation = 1;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	assert_int_equal(store_add_attribution(s, "3", &a, nothing, &minutes, &err), 0);
	assert_int_equal(store_speed_get(s, m.id, &p, &err), 0);
	assert_int_equal(p.generation, 1);
	assert_int_equal(p.before, 0);
	assert_int_equal(p.kind[0].before.n, 1);
	assert_int_equal(p.kind[0].now.n, 0);
	assert_int_equal(p.kind[0].now.open.samples, 250);

	p.kind[0].now.n = 2;
	p.kind[0].now.per_run[0] = 100;		/* farther than can be told */
	p.kind[0].now.per_run[1] = -1.5F;
	p.kind[0].now.per_rest[0] = NAN;
	p.kind[0].now.per_rest[1] = 2;
	p.shift = (struct ranktest_shift){ 0.25, -INFINITY, 1 };
	p.looks = 2;
	p.verdict = SPEEDTEST_UNMEASURED;
	assert_int_equal(store_speed_put(s, m.id, &p, &err), 0);
	assert_int_equal(store_speed_get(s, m.id, &p, &err), 0);
	assert_true(p.kind[0].now.per_run[0] > 30 && p.kind[0].now.per_run[0] < 33);
	assert_true(p.kind[0].now.per_run[1] == -1.5F && p.kind[0].now.per_rest[1] == 2);
	assert_true(isnan(p.kind[0].now.per_rest[0]));
	assert_true(p.shift.estimate == 0.25 && p.shift.low == -INFINITY && p.looks == 2);
	assert_int_equal(p.verdict, SPEEDTEST_UNMEASURED);

	assert_int_equal(store_module_discard(s, m.id, &err), 0);
	assert_int_equal(store_speed_get(s, m.id, &p, &err), 0);
	assert_int_equal(p.nkind + p.looks, 0);
	store_close(s);
}

/* Its runs are told apart, also those that are known when its original is back. */
static void what_counts_has_a_pace_of_its_own(void **state)
{
	struct store *s = open_store();
	struct store_module m = module_at("/usr/bin/gawk", 7);
	struct store_generation g = { .number = 1, .state = STATE_INSTALLED };
	struct store_fading minutes = { .span_s = 350, .half_life_s = 86400, .observe_s = 600 };
	struct attribute_use use;
	struct attribution a = { .nuse = 1, .use = &use };
	struct store_counting c;
	struct speedtest p;
	struct err err;

	(void)state;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	use = use_of(m.id, 0, 77);
	assert_int_equal(store_add_attribution(s, "1", &a, nothing, &minutes, &err), 0);
	assert_int_equal(store_add_attribution(s, "2", &a, nothing, &minutes, &err), 0);

	g.module = m.id;
	memset(g.digest.b, 'g', sizeof(g.digest.b));
	const struct store_profile none = { 0 };
	assert_int_equal(store_generation_add(s, &g, nothing, &none, &err), 0);
	m.generation = 1;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	c = (struct store_counting){ .module = m.id, .generation = g.digest, .begun_ns = 1 };
	assert_int_equal(store_counting_put(s, &c, &err), 0);
	use = use_of(m.id, 1, 77);
	use.sums.module_s = 6;
	assert_int_equal(store_add_attribution(s, "3", &a, nothing, &minutes, &err), 0);
	assert_int_equal(store_counting_get(s, m.id, &c, &err), 1);
	/* 3 s in it for 1 s in all else are usual */
	assert_true(c.speed.all_s == 6 && fabs(c.speed.usual_module_s - 3) < 0.01);
	assert_int_equal(store_speed_get(s, m.id, &p, &err), 0);
	assert_true(p.generation == 0 && p.kind[0].now.n == 1);

	m.generation = 0;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	c.ended_ns = 2;
	assert_int_equal(store_counting_put(s, &c, &err), 0);
	assert_int_equal(store_add_attribution(s, "4", &a, nothing, &minutes, &err), 0);
	use = use_of(m.id, 0, 77);
	assert_int_equal(store_add_attribution(s, "5", &a, nothing, &minutes, &err), 0);
	assert_int_equal(store_add_attribution(s, "6", &a, nothing, &minutes, &err), 0);
	assert_int_equal(store_counting_get(s, m.id, &c, &err), 1);
	assert_true(c.speed.all_s == 12 && c.ended_ns == 2);
	assert_int_equal(store_speed_get(s, m.id, &p, &err), 0);
	assert_true(p.generation == 0 && p.before == 0 && p.kind[0].now.n == 2);
	store_close(s);
}

/* Killed while it writes: the file counts fully or not at all. */
static void a_killed_writer_leaves_all_or_nothing(void **state)
{
	struct store *s = open_store();
	struct store_module m = module_at("/usr/bin/perl", 1);
	uint64_t counter[NCOUNTER];
	struct err err;

	(void)state;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	store_close(s);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct blockcount count[2];
		struct attribute_module am;
		struct attribution a = two_blocks(m.id, count, &am);
		char name[32];

		s = store_open(dir, NULL);
		for (unsigned i = 1; ; i++) {
			(void)snprintf(name, sizeof(name), "%u", i);
			if (store_add_attribution(s, name, &a, nothing, &still, NULL) < 0)
				_exit(1);
		}
	}
	usleep(100000);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	s = open_store();
	char last[256];
	assert_int_equal(store_spool_last(s, last, sizeof(last), &err), 0);
	assert_int_equal(store_counters(s, counter, &err), 0);
	unsigned long n = strtoul(last, NULL, 10);
	assert_int_equal(counter[COUNTER_KNOWN], 14 * n);
	if (n) {
		assert_int_equal(store_module_by_id(s, m.id, &m, &err), 1);
		assert_int_equal((unsigned long)(m.samples + 0.5), 14 * n);
	}
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_spool_file_counts_once),
		TEST(a_profile_fades_but_for_what_is_kept),
		TEST(samples_of_a_module_forgotten_meanwhile_are_counted_as_such),
		TEST(recent_samples_have_a_window),
		TEST(paces_are_observed_and_turn_with_a_swap),
		TEST(what_counts_has_a_pace_of_its_own),
		TEST(a_killed_writer_leaves_all_or_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
