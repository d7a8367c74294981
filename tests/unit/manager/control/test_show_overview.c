/* test_show_overview.c - what is next for programs, by what the store, the policy and the disk
 * say of them, and what a screen has
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/store/store_saved.h"
#include "manager/work/work.h"
#include "manager/work/work_next.h"
#include "tests/unit/daemon.h"

static const char policy[] =
	"modules:\n  include: [\"@/*\"]\nidle:\n  check_s: 3600\n"
	"optimize:\n  automatic: true\n  min_samples: 100\n  max_unseen_pct: 100\n"
	"  min_gain_ppm: 0\n  observe_first_h: 0\n  count: off\n"
	"rules:\n"
	"  - name: by hand\n    paths: [\"@/hand\"]\n    automatic: false\n"
	"  - name: never\n    paths: [\"@/never\"]\n    refuse: true\n"
	"  - name: greedy\n    paths: [\"@/little\"]\n    min_gain_ppm: 1000000\n"
	"  - name: observed\n    paths: [\"@/unobserved\"]\n    observe_first_h: 24\n"
	"  - name: seen\n    paths: [\"@/unseen\"]\n    max_unseen_pct: 1\n";

static struct daemon d;
static char key = 'a';

static void check_root(void)
{
	if (geteuid())
		skip();
}

/* A program at @/NAME, analysed, with so many samples in a window that began so long ago. */
static struct store_module add(const char *name, uint32_t samples, double since_s)
{
	struct store_module m = { .text_bytes = 100000, .functions = 7, .movable = 6 };
	bool spread = strcmp(name, "unseen") == 0;	/* each in a block of its own */
	struct blockcount count[512] = { { 3, samples } };
	struct attribution a = { .nmodule = 1 };
	struct store_fading fading = { .span_s = 1, .half_life_s = 1e9, .observe_s = 600 };
	const char file[] = { key++, 0 };
	struct store *s = d.m.work.store;
	struct store_use use;
	struct err err;

	if (name[0] == '/')
		(void)snprintf(m.path, sizeof(m.path), "%s", name);
	else
		(void)snprintf(m.path, sizeof(m.path), "%s/%s", d.dir, name);
	daemon_write(m.path, "x");
	memset(m.original.b, file[0], sizeof(m.original.b));
	m.present = m.original;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	struct attribute_module am = { .module = (uint64_t)m.id, .samples = samples,
				       .ncount = spread ? samples : 1, .count = count };
	for (uint32_t i = 0; spread && i < samples; i++)
		count[i] = (struct blockcount){ i, 1 };
	a.module = &am;
	a.counter[COUNTER_KNOWN] = samples;
	if (store_add_attribution(s, file, &a, (struct bytes){ 0 }, &fading, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(store_use_get(s, m.id, &use, &err), 0);
	use.begun_ns = store_now_ns() - (uint64_t)(since_s * 1e9);
	use.machine_begun = 0;
	assert_int_equal(store_use_put(s, m.id, &use, &err), 0);
	store_profile_free(&use.recent);
	return m;
}

static struct work_next next_of(const struct store_module *m)
{
	struct work_next next;
	struct store_module now;
	struct err err = { 0 };

	assert_int_equal(store_module_by_id(d.m.work.store, m->id, &now, &err), 1);
	if (work_next(&d.m.work, &now, &next, &err) < 0)
		fail_msg("%s", err.text);
	return next;
}

static void is(const struct store_module *m, enum work_next_code code, const char *text)
{
	struct work_next next = next_of(m);

	if (next.code != code || !strstr(next.text, text))
		fail_msg("%s: %s, not %s: %s", m->path, work_next_name[next.code],
			 work_next_name[code], next.text);
}

static void what_it_lacks_and_when_that_is_there(void **state)
{
	(void)state;
	daemon_open(&d, policy);
	struct store_module m = add("few", 40, 200);
	is(&m, WORK_NEXT_SAMPLES, "needs 60 more samples, about 5 min");
	struct work_next next = next_of(&m);
	assert_true(next.samples == 60 && fabs(next.wait_s - 300) < 5);
	m = add("fewer", 4, 200);		/* by so few nobody knows how fast they come */
	is(&m, WORK_NEXT_SAMPLES, "needs 96 more samples");
	assert_null(strchr(next_of(&m).text, ','));
	daemon_close(&d);
}

static void what_is_worth_it_is_ready(void **state)
{
	(void)state;
	daemon_open(&d, policy);
	struct store_module m = add("ready", 500, 200);
	is(&m, WORK_NEXT_READY, "ready, about 1.0");
	struct work_next next = next_of(&m);
	assert_true(next.times_as_fast > 1 && next.times_as_fast < 1.06);
	m = add("hand", 500, 200);
	is(&m, WORK_NEXT_BY_HAND, "nothing, unless you ask for it");
	m = add("little", 500, 200);
	is(&m, WORK_NEXT_LITTLE_GAIN, "too little to gain");
	m = add("unobserved", 500, 200);
	is(&m, WORK_NEXT_UNOBSERVED, "not known yet");
	m = add("unseen", 500, 200);
	is(&m, WORK_NEXT_UNSEEN, "blocks not seen yet");
	daemon_close(&d);
}

/* The window before has ended with that, and the next one begun, an hour ago. */
static void ended_with(const struct store_module *m, const char *verdict, unsigned samples)
{
	struct store *s = d.m.work.store;
	struct store_use use;
	struct err err;

	assert_int_equal(store_use_begin(s, m->id, verdict, &err), 0);
	assert_int_equal(store_use_get(s, m->id, &use, &err), 0);
	store_profile_free(&use.recent);
	struct store_count count = { 3, (uint64_t)samples * STORE_UNIT };
	use.begun_ns = store_now_ns() - 3600000000000;
	use.recent = (struct store_profile){ .ncount = samples > 0, .count = &count };
	assert_int_equal(store_use_put(s, m->id, &use, &err), 0);
}

static void what_was_decided_last_says_what_it_waits_for(void **state)
{
	(void)state;
	daemon_open(&d, policy);
	struct store_module m = add("unobserved", 500, 200);
	ended_with(&m, "how fast its original runs is not known yet (up to 3 % ...)", 43);
	is(&m, WORK_NEXT_UNOBSERVED, "waits: how fast its original runs is not known yet");
	assert_null(strstr(next_of(&m).text, "samples"));
	ended_with(&m, "too little to gain (up to 3 % ...)", 0);
	is(&m, WORK_NEXT_LITTLE_GAIN, "waits: too little to gain");
	ended_with(&m, "the use of too few people (up to 3 % ...)", 0);
	is(&m, WORK_NEXT_PEOPLE, "waits: the use of too few people");
	ended_with(&m, "too few samples (up to 3 % ...)", 43);
	is(&m, WORK_NEXT_SAMPLES, "needs 57 more samples");
	m = add("few", 40, 200);		/* then it is true */
	ended_with(&m, "too little to gain (up to 3 % ...)", 10);
	is(&m, WORK_NEXT_SAMPLES, "needs 90 more samples");
	daemon_close(&d);
}

static void what_is_left_says_why(void **state)
{
	struct err err;

	(void)state;
	check_root();
	daemon_open(&d, policy);
	struct store_module m = add("never", 500, 200);
	is(&m, WORK_NEXT_RULE, "left: rule 'never' of the policy");
	char outside[80];
	(void)snprintf(outside, sizeof(outside), "%s-outside", d.dir);
	m = add(outside, 500, 200);
	is(&m, WORK_NEXT_EXCLUDED, "left: not in the policy");
	(void)unlink(outside);
	m = add("setid", 500, 200);
	char why[PATH_MAX + 64];
	(void)snprintf(why, sizeof(why), "'%s': it has set-user-id", m.path);
	d.refusal = why;		/* as the parent says it */
	is(&m, WORK_NEXT_PLACE, "left: it has set-user-id");
	d.refusal = "'/another': its name";
	is(&m, WORK_NEXT_PLACE, "left: '/another': its name");
	d.refusal = NULL;
	is(&m, WORK_NEXT_READY, "ready");
	strcpy(m.refusal, "generation 1 crashed");
	assert_int_equal(store_module_put(d.m.work.store, &m, &err), 0);
	is(&m, WORK_NEXT_REFUSED, "left: generation 1 crashed");
	daemon_close(&d);
}

static void what_has_a_generation_is_watched(void **state)
{
	struct store_generation g = { .number = 1, .state = STATE_INSTALLED };
	struct err err;

	(void)state;
	daemon_open(&d, policy);
	struct store_module m = add("new", 500, 3600);
	const struct bytes map = { (const uint8_t *)"m", 1 };
	g.module = m.id;
	g.original = m.original;
	memset(g.digest.b, 'g', sizeof(g.digest.b));
	assert_int_equal(store_generation_add(d.m.work.store, &g, map,
					      &(struct store_profile){ 0 }, &err), 0);
	m.generation = 1;
	m.present = g.digest;
	assert_int_equal(store_module_put(d.m.work.store, &m, &err), 0);
	is(&m, WORK_NEXT_WINDOW, "its use is watched, about 23 h");
	ended_with(&m, "no generation yet (up to 3 % ...)", 50);	/* that was before it */
	is(&m, WORK_NEXT_WINDOW, "its use is watched, about 23 h");
	ended_with(&m, "no generation yet (up to 3 % ...)", 2);
	is(&m, WORK_NEXT_WINDOW, "its use is watched");
	assert_null(strchr(next_of(&m).text, ','));
	ended_with(&m, "used as its last generation was made for (use ...)", 50);
	is(&m, WORK_NEXT_SAME_USE, "waits: used as its last generation was made for");
	const struct store_counting c = { .module = m.id, .begun_ns = 1 };
	assert_int_equal(store_counting_put(d.m.work.store, &c, &err), 0);
	is(&m, WORK_NEXT_COUNTING, "counted");
	daemon_close(&d);
}

static char *overview(uid_t uid)
{
	const char *argv[] = { "overview" };
	int code;

	daemon_now_ms += 60000;
	char *text = daemon_ask(&d, uid, 1, argv, &code);
	assert_int_equal(code, 0);
	return text;
}

static void says(const char *text, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (!strstr(text, what))
		fail_msg("no '%s' in: %s", what, text);
}

static void a_screen_has_what_matters_in_its_order(void **state)
{
	(void)state;
	check_root();
	daemon_open(&d, policy);
	struct store_module few = add("few", 40, 200), much = add("much", 500, 200);
	struct store_measured s = { few.id, 1, 0, STORE_BY_RUNS, 0, { -0.1, -0.2, -0.01 } };
	struct err err;
	few.generation = 1;
	assert_int_equal(store_module_put(d.m.work.store, &few, &err), 0);
	assert_int_equal(store_measured_put(d.m.work.store, &s, &err), 0);
	d.m.work.paused = true;
	char *text = overview(0);
	assert_int_equal(strncmp(text, "table problems\nwarning\tsampling\t", 32), 0);
	char *watching = strstr(text, "table watching\n");
	char *programs = strstr(text, "table programs");
	char *all = strstr(text, "table in_all");
	assert_true(watching && programs > watching && all > programs);
	says(text, "92.592593\t%s\t0\t\t\t\tready, about 1.0", much.path);
	says(text, "7.407407\t%s\t1\t1.105171\t1.010050\t1.221403\t"
	     "needs 60 more samples", few.path);
	says(text, "samples\t60.000000\t");
	assert_true(strstr(text, much.path) < strstr(text, few.path));
	free(text);
	text = overview(DAEMON_NOBODY);		/* owns nothing */
	assert_null(strstr(text, much.path));
	says(text, "table in_all\nsaved\t0.000000\t");
	assert_null(strstr(text, "cost"));
	free(text);
	daemon_close(&d);
}

static void every_code_has_a_name_and_a_way_out(void **state)
{
	(void)state;
	for (int i = 0; i <= WORK_NEXT_BUDGET; i++) {
		assert_true(work_next_name[i][0] && work_next_change[i][0]);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(work_next_name[i], work_next_name[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_lacks_and_when_that_is_there),
		cmocka_unit_test(what_is_worth_it_is_ready),
		cmocka_unit_test(what_was_decided_last_says_what_it_waits_for),
		cmocka_unit_test(what_is_left_says_why),
		cmocka_unit_test(what_has_a_generation_is_watched),
		cmocka_unit_test(a_screen_has_what_matters_in_its_order),
		cmocka_unit_test(every_code_has_a_name_and_a_way_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
