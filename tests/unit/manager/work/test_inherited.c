/* test_inherited.c - what passes from one version of a module to the next: set aside, made by
 * a job that the test plays, weighed, and used for a first layout
 */
#include "lib/blocktable.h"
#include "manager/work/lookwait.h"
#include "policy/setting.h"
#include "policy/share.h"
#include "tests/unit/manager/work/workscene.h"
#include "tests/unit/descriptors.h"

static struct lookwait waits;
static char profile_text[512];			/* what the job has to say */
static const char *matched_pct, *counted_pct;
static char executions_text[512];		/* the same of exact counts */
static unsigned jobs;
static enum err_kind job_fails;

/* Of a new version's profile, samples or exact counts, and how much was recognised. */
static void play_inherit(const struct msg *q, struct msg *r)
{
	char got[512] = "", figures[256];

	assert_int_equal(q->num[MSG_RUN_JOB_kind], JOB_INHERIT);
	assert_int_equal(q->nfd, 3);
	assert_int_equal(pread(q->fd[1], got, sizeof(got) - 1, 0), 13);
	assert_string_equal(got, "the signature");
	assert_true(pread(q->fd[2], got, sizeof(got) - 1, 0) > 0);
	assert_memory_equal(got, "morph-profile 2\n", 16);
	bool exact = strstr(got, "\nclock exact\n") != NULL;
	(void)snprintf(figures, sizeof(figures),
		       "inherited\nfile  functions  matched  weight  matched_pct  blocks_pct\n"
		       "fd:3          8        7  600.000      %s      80.000\n\nmatches\n",
		       exact ? counted_pct : matched_pct);
	r->fd[r->nfd++] = text_file(exact ? executions_text : profile_text);
	r->fd[r->nfd++] = text_file(figures);
}

static void play_job(const struct msg *q, struct msg *r)
{
	jobs++;
	if (job_fails) {
		r->num[MSG_REPLY_status] = job_fails;
		strcpy(r->text, "made of cheese");
	} else if (q->num[MSG_RUN_JOB_kind] == JOB_SIGNATURE) {
		assert_int_equal(q->nfd, 1);
		r->fd[r->nfd++] = text_file("the signature");
	} else {
		play_inherit(q, r);
	}
}

/* Three blocks of 16 bytes and 4 instructions at 0x401000. */
static void write_table(const struct digest *of, struct wr *out)
{
	static struct blockmap_seg seg = { 0x401000, 0x1000, 0x1000 };
	static struct blocktable_fn fn = { 0x401000, 0x30, 0 };
	static struct blocktable_block block[] = { { 0, 16, 4, 0 }, { 16, 16, 4, 0 },
						   { 32, 16, 4, 0 } };
	struct blocktable t = { .original = *of, .base = 0x401000,
				.text_size = 1 << 20, .nseg = 1, .nfn = 1, .nblock = 3,
				.seg = &seg, .fn = &fn, .block = block };

	blocktable_write(&t, out);
}

static int analyze(void *ctx, const char *at, int fd, struct wr *table, struct err *err)
{
	struct digest d;

	(void)ctx, (void)at;
	if (digest_fd(fd, &d, err) < 0)
		return -1;
	write_table(&d, table);
	return 0;
}

static int open_original(void *ctx, const struct digest *d, struct err *err)
{
	return ask_open_original(ctx, d, err);
}

/* Before another version is at the path, whoever looks asks here. */
static enum module_passes bequeath(void *ctx, const struct store_module *of,
				   struct store_legacy *out)
{
	(void)ctx;
	return work_bequeath(&w, of, out);
}

static uint64_t waits_ms;		/* a file that changed, until it is read */

static uint64_t wait_ms(void *ctx, const char *at, uint32_t owner, uint64_t bytes)
{
	(void)ctx, (void)at, (void)owner, (void)bytes;
	return waits_ms;
}

static enum module_look put_version(const char *content)
{
	enum module_look how;
	struct err err = { 0 };

	put_file(path, content);
	assert_int_equal(modules_look(w.modules, path, &how, &m, &err), 0);
	assert_int_equal(modules_analyze(w.modules, &m, &err), 1);
	return how;
}

static int begin(void **state)
{
	const struct module_services by = {
		.open = open_file, .open_original = open_original, .analyze = analyze,
		.allows = allows, .bequeath = bequeath, .wait_ms = wait_ms, .ctx = &ask,
	};

	if (setup(state) < 0)
		return -1;
	modules_free(w.modules);
	w.modules = modules_new(w.store, &by);
	waits = (struct lookwait){ 0 };
	w.lookwait = &waits;
	run_job = play_job;
	job_fails = ERR_NONE;
	jobs = 0;
	w.policy->inherit = 1;
	w.policy->min_samples = 1000;
	w.policy->observe_first_h = 0;
	w.policy->automatic = 1;
	for (unsigned i = 0; i < policy_nsetting; i++)
		if (strcmp(policy_setting[i].key, "include") == 0)
			(void)setting_add(&policy_setting[i], w.policy, "/var/tmp/*", NULL);
	return put_version("first") == MODULE_CHANGED ? 0 : -1;
}

static void put_samples(uint64_t a, uint64_t b)
{
	struct store_count count[] = { { 0, a * STORE_UNIT }, { 1, b * STORE_UNIT } };
	struct store_profile p = { .ncount = 2, .count = count };
	struct store_use use = { .begun_ns = store_now_ns(), .known_ns = 1 };
	struct err err;

	assert_int_equal(store_profile_put(w.store, m.id, &p, 0, &err), 0);
	use.recent = p;
	assert_int_equal(store_use_put(w.store, m.id, &use, &err), 0);
	m = now();
}

/* What the job says of the version that is at the path now. */
static const char lines[] = "block 0x401000 360\nblock 0x401008 7\nblock 0x401010 180\n"
			    "edge 0x401000 0x401010 2.5\nedge 0x401000 0x402000 9\n";

static void job_says(const char *text, const char *pct)
{
	char hex[65];
	struct digest d;
	struct err err;
	int fd = open(path, O_RDONLY);

	assert_int_equal(digest_fd(fd, &d, &err), 0);
	close(fd);
	digest_hex(&d, hex);
	(void)snprintf(profile_text, sizeof(profile_text),
		       "morph-profile 2\nmodule /p\nsha256 %s\nclock tick\noutside 60\n%s", hex,
		       text);
	(void)snprintf(executions_text, sizeof(executions_text),
		       "morph-profile 2\nmodule /p\nsha256 %s\nclock branches\noutside 0\n"
		       "block 0x401000 10\nblock 0x401010 30\nedge 0x401000 0x401010 16\n",
		       hex);
	matched_pct = counted_pct = pct;
}

static void replaced(void)
{
	put_samples(400, 200);
	work_inherit(&w);
	assert_int_equal(jobs, 1);		/* the signature */
	assert_int_equal(put_version("second"), MODULE_CHANGED);
	assert_string_equal(last_event(), "changed: content changed; 600 samples set aside for "
					  "the new version");
}

static struct work_inherited what(int rc)
{
	struct work_inherited i;
	struct err err = { 0 };

	assert_int_equal(work_inherited(&w, &m, w.policy, &i, &err), rc);
	return i;
}

static int nlegacy(void)
{
	struct store_legacy l;
	struct err err;
	int rc = store_legacy_get(w.store, m.id, &l, &err);

	store_legacy_free(&l);
	return rc;
}

static void a_new_version_inherits_what_is_recognised(void **state)
{
	struct store_inherited got;
	struct err err;

	(void)state;
	replaced();
	assert_int_equal(nlegacy(), 1);
	job_says(lines, "90.000");
	work_inherit(&w);
	assert_int_equal(jobs, 2);
	assert_string_equal(last_event(), "inherited: 600 samples of the version before, 90 % "
					  "recognised; 7 of 8 functions");
	assert_int_equal(nlegacy(), 0);
	assert_int_equal(store_inherited_get(w.store, m.id, &m.original, &got, &err), 1);
	/* what begins no block, or leads to none, is left out */
	assert_int_equal(got.profile.ncount, 2);
	assert_int_equal(got.profile.count[1].block, 1);
	assert_int_equal(got.profile.count[1].samples, 180 * STORE_UNIT);
	assert_int_equal(got.profile.edges.nedge, 1);
	assert_int_equal(got.profile.edges.edge[0].count, 2.5 * STORE_UNIT);
	assert_false(got.counted);
	store_inherited_free(&got);
	struct work_inherited i = what(1);
	assert_true(i.samples == 600 && i.matched == 0.9);
	assert_true(i.why == DECIDE_INHERIT && i.counts_as == 540);
	work_inherit(&w);
	assert_int_equal(jobs, 3);		/* its own signature, for the next one */
	work_inherit(&w);
	assert_int_equal(jobs, 3);
}

/* Neither of a job that succeeds nor of one that fails. */
static void nothing_stays_open(void **state)
{
	unsigned before = descriptors();

	(void)state;
	replaced();
	job_says(lines, "90.000");
	work_inherit(&w);
	assert_int_equal(jobs, 2);
	job_fails = ERR_REFUSED;
	work_inherit(&w);		/* no signature of the new version */
	assert_int_equal(jobs, 3);
	assert_int_equal(descriptors(), before);
}

static void put_counts(void)
{
	struct store_counted c = { .original = m.original, .runs = 8, .weight = 1 };
	char hex[65], text[256];
	struct err err;

	digest_hex(&m.original, hex);
	(void)snprintf(text, sizeof(text), "morph-profile 2\nmodule /p\nsha256 %s\n"
		       "clock exact\noutside 0\nblock 0x401000 7\n", hex);
	wr_text(&c.profile, text);
	assert_int_equal(store_profile_get(w.store, m.id, &c.use, &err), 1);
	assert_int_equal(store_counted_put(w.store, m.id, &c, &err), 0);
	store_counted_free(&c);
}

/* As much again as the samples, executions as the instructions that they take. */
static void exact_counts_are_inherited_with_the_samples(void **state)
{
	struct store_inherited got;
	struct err err;

	(void)state;
	put_samples(400, 200);
	put_counts();
	work_inherit(&w);
	assert_int_equal(put_version("second"), MODULE_CHANGED);
	job_says(lines, "90.000");
	work_inherit(&w);
	assert_int_equal(jobs, 3);
	assert_non_null(strstr(last_event(), "inherited: 600 samples and exact counts of"));
	assert_int_equal(store_inherited_get(w.store, m.id, &m.original, &got, &err), 1);
	assert_true(got.counted && got.profile.ncount == 2);
	assert_int_equal(got.profile.count[0].samples, (360 + 135) * STORE_UNIT);
	assert_int_equal(got.profile.count[1].samples, (180 + 405) * STORE_UNIT);
	/* 540 samples are 160 instructions: 16 times over the edge are 54 */
	assert_int_equal(got.profile.edges.edge[0].count, 56.5 * STORE_UNIT);
	store_inherited_free(&got);
	assert_true(what(1).counts_as == 540);
}

static void counts_that_are_hardly_recognised_are_left_out(void **state)
{
	(void)state;
	put_samples(400, 200);
	put_counts();
	work_inherit(&w);
	assert_int_equal(put_version("second"), MODULE_CHANGED);
	job_says(lines, "90.000");
	counted_pct = "69.9";
	work_inherit(&w);
	assert_non_null(strstr(last_event(), "inherited: 600 samples of"));
}

static void counts_of_everybody_are_not_inherited(void **state)
{
	(void)state;
	put_samples(400, 200);
	put_counts();
	work_inherit(&w);
	assert_int_equal(put_version("second"), MODULE_CHANGED);
	job_says(lines, "90.000");
	w.policy->share_layouts = 2;
	work_inherit(&w);
	assert_int_equal(jobs, 2);
	assert_non_null(strstr(last_event(), "inherited: 600 samples of"));
}

static bool has(const struct wr *text, const char *line)
{
	char *s = strndup((const char *)text->p, text->n);
	bool yes = s && strstr(s, line);

	free(s);
	return yes;
}

static void inherited_samples_stand_beside_own_ones(void **state)
{
	struct work_evidence e = { 0 };
	struct wr text = { 0 };
	struct err err;
	char from[256];

	(void)state;
	replaced();
	job_says(lines, "90.000");
	work_inherit(&w);
	put_samples(500, 250);
	assert_int_equal(work_profile(&w, &m, &e, &text, &err), 0);
	assert_true(e.own == 750 && e.inherited == 250 && e.matched == 0.9);
	work_inherited_text(&e, from, sizeof(from));
	assert_string_equal(from, " (250 inherited from the version before, 90 % recognised)");
	/* 250 of 540 as 360 to 180 */
	assert_true(has(&text, "block 0x401000 666.6") && has(&text, "block 0x401010 333.3"));
	assert_true(has(&text, "edge 0x401000 0x401010 1.15"));
	work_evidence_free(&e);
	wr_free(&text);
	w.policy->inherit = 0;
	assert_int_equal(work_profile(&w, &m, &e, &text, &err), 0);
	assert_true(e.own == 750 && e.inherited == 0);
	assert_true(has(&text, "block 0x401000 500.000"));
	work_evidence_free(&e);
	wr_free(&text);
	w.policy->inherit = 1;
	put_samples(700, 300);
	assert_int_equal(what(1).why, DECIDE_INHERIT_DISPLACED);
	work_inherit(&w);
	what(0);				/* forgotten for good */
}

static void what_is_hardly_recognised_is_not_used(void **state)
{
	struct work_evidence e = { 0 };
	struct wr text = { 0 };
	struct err err;

	(void)state;
	replaced();
	job_says(lines, "69.000");
	work_inherit(&w);
	assert_string_equal(last_event(), "not inherited: of 600 samples of the version before "
					  "69 % were recognised, the policy wants 70 % "
					  "(profile.inherit_least_pct); 7 of 8 functions");
	assert_int_equal(what(1).why, DECIDE_INHERIT_STRANGE);
	assert_int_equal(work_profile(&w, &m, &e, &text, &err), 0);
	assert_true(e.own == 0 && e.inherited == 0 && e.profile.ncount == 0);
	work_evidence_free(&e);
	wr_free(&text);
}

static void a_first_layout_need_not_wait_for_all_samples(void **state)
{
	struct store_use use;
	struct err err = { 0 };

	(void)state;
	replaced();
	job_says(lines, "90.000");
	work_inherit(&w);
	w.policy->min_samples = 600;		/* so that 540 and a few are enough */
	put_samples(39, 20);
	assert_int_equal(work_judge(&w, &err), 0);	/* less than a tenth */
	assert_int_equal(store_use_get(w.store, m.id, &use, &err), 0);
	assert_string_equal(use.verdict, "");
	store_profile_free(&use.recent);
	put_samples(42, 20);
	w.policy->min_gain_ppm = 1000000;
	assert_int_equal(work_judge(&w, &err), 0);
	assert_int_equal(store_use_get(w.store, m.id, &use, &err), 0);
	assert_non_null(strstr(use.verdict, "too little to gain (up to"));
	assert_non_null(strstr(use.verdict, "538 of 600 samples inherited"));
	assert_true(store_profile_samples(&use.recent) == 62);	/* and the window goes on */
	store_profile_free(&use.recent);
	w.policy->min_gain_ppm = 0;
	assert_int_equal(work_judge(&w, &err), 1);
	assert_string_equal(w.again, path);
	assert_true(w.again_facts.inherited == 538);
	assert_int_equal(store_use_get(w.store, m.id, &use, &err), 0);
	assert_true(store_profile_samples(&use.recent) == 0);
	store_profile_free(&use.recent);
}

static void nothing_passes_on_where_nobody_wants_it(void **state)
{
	(void)state;
	put_samples(400, 200);
	work_inherit(&w);
	assert_int_equal(jobs, 1);
	w.policy->inherit = 0;
	assert_int_equal(put_version("second"), MODULE_CHANGED);
	assert_string_equal(last_event(), "changed: content changed; 600 samples discarded");
	work_inherit(&w);
	assert_int_equal(jobs, 1);
	what(0);
	/* nor of few samples, nor without a signature */
	w.policy->inherit = 1;
	put_samples(99, 0);
	work_inherit(&w);
	assert_int_equal(jobs, 1);
	put_samples(101, 0);
	assert_int_equal(put_version("third"), MODULE_CHANGED);
	assert_string_equal(last_event(), "changed: content changed; 101 samples discarded");
	assert_int_equal(nlegacy(), 0);
}

static void what_was_set_aside_goes_when_nobody_wants_it_any_more(void **state)
{
	(void)state;
	replaced();
	w.policy->inherit = 0;
	assert_int_equal(put_version("third"), MODULE_CHANGED);
	assert_string_equal(last_event(), "changed: content changed; 0 samples discarded");
	assert_int_equal(nlegacy(), 0);
	/* nor are few samples worth it, whatever signature there is */
	w.policy->inherit = 1;
	put_samples(100, 0);
	work_inherit(&w);
	assert_int_equal(jobs, 2);
	put_samples(99, 0);
	assert_int_equal(put_version("fourth"), MODULE_CHANGED);
	assert_string_equal(last_event(), "changed: content changed; 99 samples discarded");
	assert_int_equal(nlegacy(), 0);
}

/* Whoever puts his own file in the place of another's learns nothing of that one's use. */
static void nothing_passes_on_to_another_owner(void **state)
{
	enum module_look how;
	struct err err = { 0 };

	(void)state;
	if (geteuid() != 0)
		skip();
	put_samples(400, 200);
	work_inherit(&w);
	put_file(path, "second");
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(modules_look(w.modules, path, &how, &m, &err), 0);
	assert_string_equal(last_event(), "changed: content changed; 0 samples discarded");
	/* nor when its turn to be read comes later */
	assert_int_equal(modules_analyze(w.modules, &m, &err), 1);
	put_samples(400, 200);
	work_inherit(&w);
	assert_int_equal(jobs, 2);
	put_file(path, "third");
	assert_int_equal(chown(path, 0, 0), 0);
	waits_ms = 1000;
	assert_int_equal(modules_look(w.modules, path, &how, &m, &err), 0);
	assert_int_equal(how, MODULE_LATER);
	waits_ms = 0;
	assert_int_equal(modules_look(w.modules, path, &how, &m, &err), 0);
	assert_int_equal(how, MODULE_CHANGED);
	assert_string_equal(last_event(), "changed: content changed; 0 samples discarded");
	assert_int_equal(nlegacy(), 0);
}

static void a_second_update_takes_what_there_is(void **state)
{
	struct store_legacy l;
	struct err err;

	(void)state;
	replaced();
	/* too soon for anything */
	assert_int_equal(put_version("third"), MODULE_CHANGED);
	assert_string_equal(last_event(), "changed: content changed; 0 samples discarded, "
					  "those of the version before are still set aside");
	job_says(lines, "90.000");
	work_inherit(&w);
	assert_true(what(1).counts_as == 540);
	work_inherit(&w);
	assert_int_equal(jobs, 3);
	put_samples(60, 30);
	assert_int_equal(put_version("fourth"), MODULE_CHANGED);
	assert_int_equal(store_legacy_get(w.store, m.id, &l, &err), 1);
	assert_true(l.samples > 629 && l.samples < 631);
	assert_true(l.known > 0.914 && l.known < 0.915);	/* (90 + 540 * 0.9) / 630 */
	store_legacy_free(&l);
	job_says(lines, "100.000");
	work_inherit(&w);
	struct work_inherited i = what(1);
	assert_true(i.matched > 0.914 && i.matched < 0.915);
	assert_true(i.counts_as > 575 && i.counts_as < 577);
}

static void what_a_job_says_wrongly_is_not_believed(void **state)
{
	static const char *const bad[] = { "101.000", "-1", "nan", "x" };

	(void)state;
	for (int i = 0; i < 4; i++) {
		char version[16];

		put_samples(400, 200);
		work_inherit(&w);		/* the signature */
		(void)snprintf(version, sizeof(version), "bad %d", i);
		assert_int_equal(put_version(version), MODULE_CHANGED);
		job_says(lines, bad[i]);
		work_inherit(&w);
		assert_non_null(strstr(last_event(), "not inherited: how much was recognised"));
		assert_int_equal(nlegacy(), 0);
		what(0);
	}
	put_samples(400, 200);
	work_inherit(&w);
	job_says(lines, "90.000");		/* of the version before */
	assert_int_equal(put_version("last"), MODULE_CHANGED);
	work_inherit(&w);
	assert_non_null(strstr(last_event(), "not inherited: edges of another file"));
}

static void what_a_job_refuses_is_not_tried_again(void **state)
{
	(void)state;
	replaced();
	job_fails = ERR_REFUSED;
	work_inherit(&w);
	assert_string_equal(last_event(), "not inherited: made of cheese");
	assert_int_equal(nlegacy(), 0);
	/* nor a signature */
	put_samples(400, 200);
	unsigned before = jobs;
	work_inherit(&w);
	work_inherit(&w);
	assert_int_equal(jobs, before + 1);
}

static void what_could_not_be_done_is_tried_a_few_times(void **state)
{
	(void)state;
	replaced();
	job_fails = ERR_SYS;
	for (int i = 0; i < 2; i++) {
		work_inherit(&w);
		assert_int_equal(nlegacy(), 1);
	}
	work_inherit(&w);
	assert_string_equal(last_event(), "not inherited: made of cheese");
	assert_int_equal(nlegacy(), 0);
}

/* Whoever's samples they were must be enough people with them, too. */
static void inherited_samples_are_somebody_s(void **state)
{
	struct share_use anna = { 50001, 300 };
	struct store_count count[] = { { 0, 360 * STORE_UNIT }, { 1, 180 * STORE_UNIT } };
	struct store_inherited i = { .original = m.original, .samples = 600, .matched = 0.9,
				     .weight = 1, .whose = &anna, .nwhose = 1,
				     .profile = { .ncount = 2, .count = count } };
	struct work_whose all;
	struct share share;
	struct err err;

	(void)state;
	put_samples(100, 50);
	w.policy->share_layouts = 2;
	assert_int_equal(store_inherited_put(w.store, m.id, &i, &err), 0);
	assert_int_equal(work_whose_all(&w, &m, w.policy, &all, &err), 0);
	assert_true(all.samples == 690 && all.n == 1);
	assert_true(all.use[0].uid == 50001 && all.use[0].samples == 270);
	free(all.use);
	assert_int_equal(work_share(&w, &m, w.policy, &share, &err), 0);
	assert_true(share.people == 1 && !share.enough);
	/* exact counts are everybody's */
	i.counted = true;
	assert_int_equal(store_inherited_put(w.store, m.id, &i, &err), 0);
	assert_int_equal(what(1).why, DECIDE_INHERIT_NOT);
	assert_true(what(1).counts_as == 0);
	w.policy->share_layouts = 1;
	assert_int_equal(what(1).why, DECIDE_INHERIT);
}

static void nothing_is_kept_when_nothing_inherits(void **state)
{
	struct wr signature = { 0 };
	struct err err;

	(void)state;
	replaced();
	assert_int_equal(work_apply_inherit(&w, &err), 0);
	assert_int_equal(nlegacy(), 1);
	w.policy->inherit = 0;
	assert_int_equal(work_apply_inherit(&w, &err), 0);
	assert_int_equal(nlegacy(), 0);
	assert_int_equal(store_signature_get(w.store, &m.original, &signature, &err), 0);
}

#undef TEST
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_version_inherits_what_is_recognised),
		TEST(nothing_stays_open),
		TEST(inherited_samples_stand_beside_own_ones),
		TEST(exact_counts_are_inherited_with_the_samples),
		TEST(counts_that_are_hardly_recognised_are_left_out),
		TEST(counts_of_everybody_are_not_inherited),
		TEST(what_is_hardly_recognised_is_not_used),
		TEST(a_first_layout_need_not_wait_for_all_samples),
		TEST(nothing_passes_on_where_nobody_wants_it),
		TEST(what_was_set_aside_goes_when_nobody_wants_it_any_more),
		TEST(nothing_passes_on_to_another_owner),
		TEST(a_second_update_takes_what_there_is),
		TEST(what_a_job_says_wrongly_is_not_believed),
		TEST(what_a_job_refuses_is_not_tried_again),
		TEST(what_could_not_be_done_is_tried_a_few_times),
		TEST(inherited_samples_are_somebody_s),
		TEST(nothing_is_kept_when_nothing_inherits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
