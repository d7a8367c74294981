/* test_store.c - what the store is told it tells again, exactly once, or says what is wrong */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/store/store.h"
#include "policy/speedtest.h"

static char dir[64];

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/var/tmp/morph-store-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static struct store *open_store(void)
{
	struct err err = { 0 };
	struct store *s = store_open(dir, &err);

	assert_string_equal(err.text, "");
	assert_non_null(s);
	return s;
}

static void sql(const char *text)
{
	char path[96];
	sqlite3 *db;

	(void)snprintf(path, sizeof(path), "%s/morph.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static struct digest digest_number(uint8_t n)
{
	struct digest d;

	memset(d.b, n, sizeof(d.b));
	return d;
}

static struct store_module module_at(const char *path, uint8_t n)
{
	struct store_module m = {
		.original = digest_number(n), .present = digest_number(n),
		.seen = { 1, UINT64_MAX, 3, 4, 5 }, .owner = UINT32_MAX, .text_bytes = 100000,
		.functions = 7, .movable = 6,
	};

	(void)snprintf(m.path, sizeof(m.path), "%s", path);
	return m;
}

static void modules_survive_closing(void **state)
{
	struct store *s = open_store();
	struct store_module m = module_at("/usr/bin/perl", 1), got;
	struct err err;

	(void)state;
	assert_int_equal(store_module_by_path(s, m.path, &got, &err), 0);
	assert_int_equal(store_module_put(s, &m, &err), 0);
	assert_true(m.id > 0);
	m.generation = 2;
	m.present = digest_number(9);
	(void)snprintf(m.refusal, sizeof(m.refusal), "no");
	assert_int_equal(store_module_put(s, &m, &err), 0);
	store_close(s);
	s = open_store();
	assert_int_equal(store_module_by_path(s, m.path, &got, &err), 1);
	assert_memory_equal(&got, &m, sizeof(m));
	assert_int_equal(store_module_by_id(s, m.id, &got, &err), 1);
	assert_string_equal(got.path, m.path);
	assert_int_equal(store_module_delete(s, m.id, &err), 0);
	assert_int_equal(store_module_by_path(s, m.path, &got, &err), 0);
	store_close(s);
}

/* --- profiles --- */

static bool same_counts(const struct store_profile *p, const struct store_count *c, uint32_t n)
{
	for (uint32_t i = 0; i < n && n == p->ncount; i++)
		if (p->count[i].block != c[i].block || p->count[i].samples != c[i].samples)
			return false;
	return n == p->ncount;
}

static const struct store_fading fading = { .span_s = 60, .half_life_s = 7 * 86400 };
static const struct bytes nothing;
static const struct store_fading still = { .span_s = 0, .half_life_s = 7 * 86400 };

static struct attribution two_blocks(int64_t module, struct blockcount count[2],
				     struct attribute_module *m)
{
	count[0] = (struct blockcount){ 3, 10 };
	count[1] = (struct blockcount){ 9, 4 };
	static struct edgecounts_edge edge = { 3, 9, 7 };
	static struct edgecounts_call call = { 9, 4, 3, 5 };

	*m = (struct attribute_module){ .module = (uint64_t)module, .samples = 14, .outside = 6,
					.ncount = 2, .count = count, .states = 12,
					.edges = { 1, 1, &edge, &call } };
	struct attribution a = { .nmodule = 1, .module = m };
	a.counter[COUNTER_KNOWN] = 14;
	a.counter[COUNTER_OUTSIDE] = 6;
	return a;
}

static void a_spool_file_counts_once(void **state)
{
	struct store *s = open_store();
	struct store_module m = module_at("/usr/bin/perl", 1);
	struct blockcount count[2];
	struct attribute_module am;
	struct store_profile p;
	struct wr spaces = { 0 };
	uint64_t counter[NCOUNTER];
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

	/* Faded by half, but for what is to be kept. */
	assert_int_equal(store_profile_fade(s, m.id, 0.5, NULL, &err), 0);
	assert_int_equal(store_profile_get(s, m.id, &p, &err), 1);
	assert_int_equal(p.count[0].samples, 5 << 8);
	assert_int_equal(p.outside, 6 << 8);
	assert_int_equal(p.states, 12 << 8);
	assert_int_equal(p.edges.edge[0].count, 7 << 8);
	assert_int_equal(p.edges.call[0].count, 5 << 8);
	store_profile_free(&p);
	assert_int_equal(store_profile_fade(s, m.id, 1.5, NULL, &err), -1);
	struct store_count some = { 5, 3 << 8 };
	struct store_profile keep = { .ncount = 1, .count = &some };
	assert_int_equal(store_profile_fade(s, m.id, 0.5, &keep, &err), 0);
	assert_int_equal(store_profile_get(s, m.id, &p, &err), 1);
	const struct store_count rest[] = { { 3, 640 }, { 5, 4 << 8 }, { 9, 2 << 8 } };
	assert_true(same_counts(&p, rest, 3));
	store_profile_free(&p);
	assert_int_equal(store_profile_fade(s, m.id, 0.0001, NULL, &err), 0);
	assert_int_equal(store_profile_get(s, m.id, &p, &err), 1);
	assert_int_equal(p.ncount + p.edges.nedge + p.edges.ncall, 0);
	store_profile_free(&p);

	/* A module forgotten meanwhile. */
	am.module = 4711;
	assert_int_equal(store_add_attribution(s, "3.spool", &a, sp, &fading, &err), 0);
	assert_int_equal(store_counters(s, counter, &err), 0);
	assert_int_equal(counter[COUNTER_KNOWN], 3 * 14);
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

/* --- the rest --- */

static bool count_generations(void *ctx, const struct store_generation *g)
{
	unsigned *n = ctx;

	assert_int_equal(g->number, ++*n);
	return true;
}

static void generations_are_found_by_digest_and_number(void **state)
{
	struct store *s = open_store();
	struct store_generation *g = calloc(2, sizeof(*g));
	struct store_count count[] = { { 2, 700 }, { 9, 3 << 8 } };
	struct store_profile made_from = { .outside = 256, .ncount = 2, .count = count }, got;
	double cpu_s, bytes;
	struct wr map = { 0 };
	struct err err;
	uint32_t next;

	(void)state;
	for (uint8_t i = 1; i <= 2; i++) {
		assert_int_equal(store_generation_next(s, 5, &next, &err), 0);
		assert_int_equal(next, i);
		*g = (struct store_generation){
			.module = 5, .number = next, .digest = digest_number(i),
			.original = digest_number(0), .state = STATE_MADE, .passes = "align",
			.stats = "moved 7\n", .samples = 12.5, .size_bytes = 99,
			.made_ns = 1000 * i, .cpu_s = 1.5,
		};
		struct bytes one = { &i, 1 };
		assert_int_equal(store_generation_add(s, g, one, &made_from, &err), 0);
	}
	assert_int_equal(store_generation_state(s, g->id, STATE_REFUSED, "why not", &err), 0);
	struct digest d = digest_number(2), none = digest_number(8);
	assert_int_equal(store_generation_by_digest(s, &d, &g[1], &err), 1);
	assert_int_equal(g[1].number, 2);
	assert_int_equal(g[1].state, STATE_REFUSED);
	assert_string_equal(g[1].reason, "why not");
	assert_string_equal(g[1].stats, "moved 7\n");
	assert_int_equal(store_generation_by_digest(s, &none, &g[1], &err), 0);
	assert_int_equal(store_generation_by_number(s, 5, 1, &g[1], &err), 1);
	assert_int_equal(store_generation_map(s, &d, &map, &err), 1);
	assert_int_equal(map.n, 1);
	assert_int_equal(map.p[0], 2);
	unsigned n = 0;
	assert_int_equal(store_generation_each(s, 5, count_generations, &n, &err), 0);
	assert_int_equal(n, 2);
	/* The newest of an original, and only of that one the profile. */
	struct digest original = digest_number(0);
	assert_int_equal(store_generation_newest(s, 5, &original, &g[1], &err), 1);
	assert_int_equal(g[1].number, 2);
	assert_int_equal(store_generation_newest(s, 5, &none, &g[1], &err), 0);
	assert_int_equal(store_generation_made_from(s, g->id, &got, &err), 1);
	assert_true(same_counts(&got, count, 2));
	store_profile_free(&got);
	assert_int_equal(store_generation_by_number(s, 5, 1, &g[1], &err), 1);
	assert_int_equal(store_generation_made_from(s, g[1].id, &got, &err), 1);
	assert_int_equal(got.ncount, 0);
	assert_int_equal(store_spent(s, 0, 1001, &cpu_s, &bytes, &err), 0);
	assert_true(cpu_s == 0 && bytes == 99);
	assert_int_equal(store_spent(s, 0, 0, &cpu_s, &bytes, &err), 0);
	assert_true(bytes == 198);
	assert_int_equal(store_spent(s, 5, 1001, &cpu_s, &bytes, &err), 0);
	assert_true(bytes == 99);
	assert_int_equal(store_spent(s, 6, 0, &cpu_s, &bytes, &err), 0);
	assert_true(bytes == 0);
	wr_free(&map);
	free(g);
	store_close(s);
}

static bool first_intent(void *ctx, const struct store_intent *i)
{
	*(struct store_intent *)ctx = *i;
	return false;
}

static bool add_event(void *ctx, const struct store_event *e)
{
	(void)strcat(ctx, e->event);
	return true;
}

static void intents_and_history_are_kept(void **state)
{
	struct store *s = open_store();
	struct store_intent i = { .what = "install", .path = "/p", .from = digest_number(1) };
	struct store_intent got;
	char events[64] = "";
	struct err err;

	(void)state;
	assert_int_equal(store_intent_begin(s, &i, &err), 0);
	memset(&got, 0, sizeof(got));
	assert_int_equal(store_intent_each(s, first_intent, &got, &err), 0);
	assert_int_equal(got.id, i.id);
	assert_string_equal(got.path, "/p");
	assert_int_equal(store_intent_end(s, i.id, &err), 0);
	memset(&got, 0, sizeof(got));
	assert_int_equal(store_intent_each(s, first_intent, &got, &err), 0);
	assert_int_equal(got.id, 0);

	assert_int_equal(store_history_add(s, "/a", "A", "detail", &err), 0);
	assert_int_equal(store_history_add(s, "/b", "B", "detail", &err), 0);
	assert_int_equal(store_history_add(s, "/a", "C", "detail", &err), 0);
	assert_int_equal(store_history_each(s, NULL, 10, add_event, events, &err), 0);
	assert_string_equal(events, "CBA");
	events[0] = '\0';
	assert_int_equal(store_history_each(s, "/a", 1, add_event, events, &err), 0);
	assert_string_equal(events, "C");
	store_close(s);
}

static void a_new_block_table_discards_the_profiles_of_the_old(void **state)
{
	struct store *s = open_store();
	struct store_module m = module_at("/usr/bin/perl", 1);
	struct blockcount count[2];
	struct attribute_module am;
	struct store_profile p;
	struct err err;

	(void)state;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	struct attribution a = two_blocks(m.id, count, &am);
	struct bytes one = { (const uint8_t *)"one", 3 }, two = { (const uint8_t *)"two", 3 };
	assert_int_equal(store_table_put(s, &m.original, one, &err), 0);
	assert_int_equal(store_add_attribution(s, "1", &a, one, &fading, &err), 0);
	assert_int_equal(store_table_put(s, &m.original, one, &err), 0);
	assert_int_equal(store_profile_get(s, m.id, &p, &err), 1);
	store_profile_free(&p);
	assert_int_equal(store_table_put(s, &m.original, two, &err), 0);
	assert_int_equal(store_profile_get(s, m.id, &p, &err), 0);
	store_close(s);
}

static void a_rollback_inside_takes_the_whole_back(void **state)
{
	struct store *s = open_store();
	char events[64] = "";
	struct err err;

	(void)state;
	assert_int_equal(store_begin(s, &err), 0);
	assert_int_equal(store_history_add(s, "/a", "A", "", &err), 0);
	assert_int_equal(store_begin(s, &err), 0);
	store_rollback(s);
	assert_int_equal(store_commit(s, &err), -1);
	assert_int_equal(store_history_each(s, NULL, 10, add_event, events, &err), 0);
	assert_string_equal(events, "");
	assert_int_equal(store_history_add(s, "/a", "B", "", &err), 0);
	assert_int_equal(store_history_each(s, NULL, 10, add_event, events, &err), 0);
	assert_string_equal(events, "B");
	store_close(s);
}

/* --- what is wrong with the database is said, and its name --- */

static void refused(const char *what)
{
	struct err err = { 0 };

	assert_null(store_open(dir, &err));
	assert_non_null(strstr(err.text, "morph.db"));
	if (!strstr(err.text, what))
		fail_msg("'%s' does not say '%s'", err.text, what);
}

static void others_cannot_read_the_database(void **state)
{
	char path[96];
	struct stat st;

	(void)state;
	store_close(open_store());
	(void)snprintf(path, sizeof(path), "%s/morph.db", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07, 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_null(store_open(dir, NULL));
}

/* Version 11 had profiles in another form: they are begun anew, all else is kept. */
static void a_database_before_edges_is_brought_up_to_date(void **state)
{
	struct store_module m = module_at("/usr/bin/perl", 1), got;
	struct store *s = open_store();
	struct err err;

	(void)state;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	store_close(s);
	sql("ALTER TABLE module DROP COLUMN owner; ALTER TABLE habit DROP COLUMN known_ns;"
	    "DROP TABLE spent; DROP TABLE contributor;"
	    "DROP TABLE pace; DROP TABLE crash; ALTER TABLE profile DROP COLUMN states;"
	    "PRAGMA user_version = 11;"
	    "INSERT INTO profile(module, samples, outside, updated_ns, data)"
	    " VALUES(1, 5, 0, 7, x'01')");
	s = open_store();
	assert_int_equal(store_module_by_path(s, "/usr/bin/perl", &got, &err), 1);
	assert_true(got.samples == 0 && got.states == 0);
	store_close(s);
}

static void a_newer_database_is_refused(void **state)
{
	char text[64];
	(void)state;
	store_close(open_store());
	(void)sprintf(text, "PRAGMA user_version = %d", store_schema_version() + 1);
	sql(text);
	refused("newer Morph");
}

static void a_damaged_database_is_refused(void **state)
{
	char path[96];

	(void)state;
	struct store *s = open_store();
	assert_int_equal(store_begin(s, NULL), 0);
	for (int i = 0; i < 2000; i++)
		assert_int_equal(store_history_add(s, "/some/path", "e", "detail", NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	store_close(s);
	(void)snprintf(path, sizeof(path), "%s/morph.db", dir);
	int fd = open(path, O_RDWR);
	char junk[8192];
	memset(junk, 0x5a, sizeof(junk));
	for (off_t at = 40960; at < 90000; at += 16384)
		assert_int_equal(pwrite(fd, junk, sizeof(junk), at), sizeof(junk));
	close(fd);
	refused("damaged");
	fd = open(path, O_RDWR | O_TRUNC);
	assert_int_equal(write(fd, junk, sizeof(junk)), sizeof(junk));
	close(fd);
	refused("damaged");
}

static void impossible_rows_are_refused(void **state)
{
	static const char *const change[] = {
		"UPDATE module SET original = x'00'", "UPDATE module SET generation = -1",
		"UPDATE module SET path = CAST(zeroblob(5000) AS TEXT)",
		"UPDATE module SET functions = 4294967296",
		"UPDATE module SET text_bytes = -5",
		"UPDATE profile SET samples = -1",
		"UPDATE profile SET samples = 9e999",
	};
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		struct store *s = open_store();
		struct store_module m = module_at("/m", 1);
		struct store_profile p = { 0 };

		assert_int_equal(store_module_put(s, &m, &err), 0);
		assert_int_equal(store_profile_put(s, m.id, &p, 0, &err), 0);
		store_close(s);
		sql(change[i]);
		s = open_store();
		assert_int_equal(store_module_by_id(s, m.id, &m, &err), -1);
		assert_int_equal(err.kind, ERR_INPUT);
		assert_non_null(strstr(err.text, "morph.db"));
		store_close(s);
		sql("DELETE FROM module; DELETE FROM profile");
	}
	struct store *s = open_store();
	struct store_profile p;
	sql("INSERT INTO profile VALUES(77, 1, 0, 0, x'02000000ffffffffffffffff', 0)");
	assert_int_equal(store_profile_get(s, 77, &p, &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
	struct speedtest pace = { .nkind = 1 };
	assert_int_equal(store_speed_put(s, 5, &pace, &err), 0);
	assert_int_equal(store_speed_get(s, 5, &pace, &err), 0);
	sql("INSERT INTO pace SELECT 10, substr(data, 1, length(data) - 1) FROM pace;"
	    "INSERT INTO pace SELECT 11, data || x'00' FROM pace WHERE module = 5;"
	    "INSERT INTO pace SELECT 12, x'02' || substr(data, 2) FROM pace WHERE module = 5;"
	    "INSERT INTO pace SELECT 13, substr(data, 1, 4) || x'04' || substr(data, 6) "
	    "FROM pace WHERE module = 5;"
	    "INSERT INTO pace SELECT 14, substr(data, 1, 29) || x'05' || substr(data, 31) "
	    "FROM pace WHERE module = 5");
	for (int64_t id = 10; id <= 14; id++) {
		assert_int_equal(store_speed_get(s, id, &pace, &err), -1);
		assert_int_equal(err.kind, ERR_INPUT);
	}
	store_close(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(modules_survive_closing),
		TEST(recent_samples_have_a_window),
		TEST(a_spool_file_counts_once),
		TEST(paces_are_observed_and_turn_with_a_swap),
		TEST(a_killed_writer_leaves_all_or_nothing),
		TEST(generations_are_found_by_digest_and_number),
		TEST(intents_and_history_are_kept),
		TEST(a_new_block_table_discards_the_profiles_of_the_old),
		TEST(a_rollback_inside_takes_the_whole_back),
		TEST(others_cannot_read_the_database),
		TEST(a_database_before_edges_is_brought_up_to_date),
		TEST(a_newer_database_is_refused),
		TEST(a_damaged_database_is_refused),
		TEST(impossible_rows_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
