/* test_work_burst.c - which process counts for a while, what becomes of that, and who is asked
 * next: with a parent made up here
 */
#include "tests/unit/manager/work/workscene.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "lib/countsfile.h"
#include "lib/procstat.h"
#include "manager/store/ingest.h"

enum { BUSY, LESS, ASLEEP, N };		/* three processes, by how much CPU time they take */
static pid_t process[N];
static struct procstat known[N];

/* What LIVE_COUNT of each says: a sentence with counters, or a refusal. */
static const char *counted[N], *refusal[N];
static pid_t asked[8], off[8];		/* in order */
static unsigned nasked, noff, ninstrument;
static uint64_t text_at;		/* of the last generation that was made */
static bool ends;			/* the first one that counts ends meanwhile */
static const char *figures;		/* of the generation that counts */

static const char profile[] = "morph-profile 2\nmodule /p\nsha256 %s\nclock exact\noutside 0\n"
			      "block 0x401000 7\nblock 0x401010 9\n";

static int bytes_file(const void *p, size_t n)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_int_equal(write(fd, p, n), n);
	return fd;
}

static int counts_file(void)
{
	struct countsfile f = { .original = m.original, .base = 0x401000, .ncounter = 4,
				.offset = countsfile_offset("/p"), .map = { (uint8_t *)"m", 1 },
				.size = countsfile_size(4, 0), .path = "/p" };
	const uint32_t version = COUNTSFILE_VERSION;
	struct wr out = { 0 };

	memcpy(f.head, "MORPHCNT", 8);
	memcpy(f.head + 8, &version, 4);
	countsfile_write(&f, &out);
	int fd = bytes_file(out.p, out.n);
	wr_free(&out);
	return fd;
}

static int counters(void)
{
	static uint8_t page[8192];
	const uint64_t n[4] = { 1, 0, 70, 90 };

	memcpy(page, n, sizeof(n));
	return bytes_file(page, countsfile_size(4, 0));
}

static bool play_job(const struct msg *q, struct msg *r)
{
	char text[512], hex[65];

	digest_hex(&m.original, hex);
	switch (q->num[MSG_RUN_JOB_kind]) {
	case JOB_INSTRUMENT:
		ninstrument++;
		text_at = q->num[MSG_RUN_JOB_b];
		(void)snprintf(text, sizeof(text), "generation at %" PRIx64, text_at);
		r->fd[r->nfd++] = text_file(text);
		r->fd[r->nfd++] = counts_file();
		r->fd[r->nfd++] = text_file(figures);
		return true;
	case JOB_MAP:
		r->fd[r->nfd++] = text_file("m");
		return true;
	case JOB_COUNTS:
		(void)snprintf(text, sizeof(text), profile, hex);
		r->fd[r->nfd++] = text_file(text);
		return true;
	default:
		return false;
	}
}

static bool count(const struct msg *q, struct msg *r)
{
	int i = 0;

	while (i < N && process[i] != (pid_t)q->num[MSG_LIVE_COUNT_pid])
		i++;
	assert_true(i < N && q->num[MSG_LIVE_COUNT_start] == known[i].start);
	assert_int_equal(q->num[MSG_LIVE_COUNT_ms], 2000);
	asked[nasked++] = process[i];
	if (ends) {
		(void)kill(process[i], SIGKILL);
		(void)waitpid(process[i], NULL, 0);
		r->num[MSG_REPLY_status] = ERR_SYS;
		strcpy(r->text, "it has ended");
	} else if (refusal[i]) {
		r->num[MSG_REPLY_status] = ERR_REFUSED;
		strcpy(r->text, refusal[i]);
	} else if (text_at != 0x1f000) {
		strcpy(r->text, "at 1f000");
	} else {
		strcpy(r->text, counted[i]);
		r->fd[r->nfd++] = counters();
	}
	return true;
}

static bool parent_says(const struct msg *q, struct msg *r)
{
	if (q->type == MSG_RUN_JOB)
		return play_job(q, r);
	if (q->type == MSG_LIVE_COUNT)
		return count(q, r);
	if (q->type != MSG_LIVE_OFF)
		return false;
	off[noff++] = (pid_t)q->num[MSG_LIVE_OFF_pid];
	return true;
}

/* Takes that much CPU time, then sleeps. */
static pid_t start(unsigned ms)
{
	pid_t pid = fork();
	struct timespec t = { 0 };

	if (pid)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 < ms)
		(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	for (;;)
		(void)pause();
}

static void add_table(void)
{
	static struct blockmap_seg seg = { 0x401000, 0x1000, 0x1000 };
	static struct blocktable_fn fn = { 0x401000, 0x20, 0 };
	static struct blocktable_block block[] = { { 0, 16, 4, 0 }, { 16, 16, 4, 0 } };
	struct blocktable t = { .original = m.original, .base = 0x401000,
				.text_size = 1 << 20, .nseg = 1, .nfn = 1, .nblock = 2,
				.seg = &seg, .fn = &fn, .block = block };
	struct wr table = { 0 };
	struct err err;

	blocktable_write(&t, &table);
	assert_int_equal(store_table_put(w.store, &m.original, wr_bytes(&table), &err), 0);
	wr_free(&table);
}

/* All have a form of generation 1, so that they are known. */
static void have_forms(void)
{
	static char text[2048];
	struct digest form = { .b = { 5 } };
	char hex[65], of[65];
	struct store_generation g;
	struct err err;
	int n = 0;

	assert_int_equal(store_generation_by_number(w.store, m.id, 1, &g, &err), 1);
	assert_int_equal(store_live_put(w.store, &form, g.id, (struct bytes){ 0 }, &err), 0);
	digest_hex(&form, hex);
	digest_hex(&m.original, of);
	for (int i = 0; i < N; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      "%d %" PRIu64 " %u %s %s %s\n", (int)process[i],
			      known[i].start, (unsigned)getuid(), hex, of, path);
	live_list = text;
	assert_int_equal(work_live_look(&w), 0);
}

static int begin(void **state)
{
	struct store_count c = { 0, 5000 * STORE_UNIT };
	struct store_profile p = { .ncount = 1, .count = &c };
	struct err err;

	if (setup(state) < 0)
		return -1;
	nasked = noff = ninstrument = 0;
	ends = false;
	figures = "open 0.5\n";
	also = parent_says;
	w.ingest = ingest_new(w.store, w.modules, &err);
	add_table();
	if (!w.ingest || store_profile_put(w.store, m.id, &p, 0, &err) < 0)
		return -1;
	w.policy->live = 1;
	w.policy->live_cpu_s = 0;
	w.policy->min_gain_ppm = 0;
	free(w.policy->include.glob[0]);
	w.policy->include.glob[0] = strdup("/var/tmp/*");
	w.again_facts = (struct decide_module){ .time_share = 0.2, .full_gain = 0.05,
						.runs = { INFINITY, 86400, false, 0, 0 } };
	for (int i = 0; i < N; i++) {
		counted[i] = "counted 2003 ms, CPU time 1100 ms, pause 700 us";
		refusal[i] = NULL;
		process[i] = start(i == BUSY ? 400 : i == LESS ? 100 : 0);
	}
	do {				/* until these have come to what they are to have */
		(void)usleep(10000);
		for (int i = 0; i < N; i++)
			assert_true(procstat_read(process[i], &known[i]));
	} while (known[BUSY].state != 'S' || known[LESS].state != 'S' ||
		 known[ASLEEP].state != 'S');
	have_forms();
	return 0;
}

static int end(void **state)
{
	for (int i = 0; i < N; i++) {
		(void)kill(process[i], SIGKILL);	/* it may have ended */
		(void)waitpid(process[i], NULL, 0);
	}
	ingest_free(w.ingest);
	return teardown(state);
}

static bool add_line(void *ctx, const struct store_event *e)
{
	strcat(strcat(strcat(strcat(ctx, e->event), ": "), e->detail), "\n");
	return true;
}

static bool history_has(const char *what)
{
	static char text[8192];
	struct err err;

	text[0] = '\0';
	assert_int_equal(store_history_each(w.store, path, 5, add_line, text, &err), 0);
	return strstr(text, what) != NULL;
}

static double spent_s(void)
{
	double s;

	assert_int_equal(store_counting_spent(w.store, m.id, store_now_ns(), &s, NULL), 0);
	return s;
}

static bool has_counts(struct store_counted *out)
{
	return store_counted_get(w.store, m.id, &m.original, out, NULL) == 1;
}

static void the_busiest_counts_and_that_is_evidence(void **state)
{
	struct store_counting none;
	struct store_counted got;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(work_burst(&w, path, &err), 1);
	/* where it comes to be, then where there is room; what it had goes before */
	assert_int_equal(ninstrument, 2);
	assert_int_equal(nasked, 2);
	assert_int_equal(asked[0], process[BUSY]);
	assert_int_equal(asked[1], process[BUSY]);
	assert_int_equal(noff, 1);
	assert_int_equal(off[0], process[BUSY]);
	assert_true(history_has("counted for 2.0 s what 5000 samples leave open, 50 %: 1.10 s "
				"of CPU time, stopped for 0.7 ms at most"));
	assert_true(history_has("counted: a burst of 2.0 s, of 1.1 s in it, about 0.2 s more "
				"than usual; 2 blocks ran, of 1 there were samples"));
	assert_true(fabs(spent_s() - 0.22) < 1e-9);
	assert_true(has_counts(&got));
	assert_true(got.burst_s == 2.003 && got.weight == 1 && got.profile.n > 0);
	store_counted_free(&got);
	assert_int_equal(store_counting_get(w.store, m.id, &none, &err), 0);
	assert_int_equal(w.burst_pid, 0);
}

static void the_next_one_is_asked(void **state)
{
	struct store_counted got;
	struct err err = { 0 };

	(void)state;
	refusal[BUSY] = "it may unwind its stack";
	counted[LESS] = "counted 2000 ms, CPU time 90 ms, pause 700 us";
	refusal[ASLEEP] = "another tracer is there";
	assert_int_equal(work_burst(&w, path, &err), 0);
	assert_int_equal(asked[0], process[BUSY]);
	assert_int_equal(asked[nasked - 2], process[LESS]);
	assert_int_equal(asked[nasked - 1], process[ASLEEP]);
	assert_true(history_has("it may unwind its stack"));
	assert_true(history_has("it did next to nothing while it counted"));
	assert_true(history_has("another tracer is there"));
	assert_false(has_counts(&got));
	assert_true(fabs(spent_s() - 0.09 / 5) < 1e-9);	/* it was slower all the same */
}

static void one_that_ends_is_the_last(void **state)
{
	struct err err = { 0 };

	(void)state;
	ends = true;
	assert_int_equal(work_burst(&w, path, &err), 0);
	assert_int_equal(nasked, 1);
	assert_non_null(strstr(last_event(), "it has ended"));
}

static void who_was_taken_out_of_by_hand_is_not_asked(void **state)
{
	const char *hand = strchr(live_list, '\n') + 1;		/* without the first */
	struct err err = { 0 };

	(void)state;
	live_list = hand;
	assert_int_equal(work_live_look(&w), 0);
	assert_true(work_live_leaves(&w, process[BUSY], known[BUSY].start, m.id));
	have_forms();
	assert_int_equal(work_burst(&w, path, &err), 1);
	assert_int_equal(asked[0], process[LESS]);
	/* by the next Manager neither */
	work_live_free(&w);
	assert_true(work_live_leaves(&w, process[BUSY], known[BUSY].start, m.id));
	assert_false(work_live_leaves(&w, process[BUSY], known[BUSY].start + 1, m.id));
	assert_false(work_live_leaves(&w, process[LESS], known[LESS].start, m.id));
}

static void the_policy_has_the_last_word(void **state)
{
	struct err err = { 0 };

	(void)state;
	w.policy->live = 0;
	assert_int_equal(work_burst(&w, path, &err), 0);
	w.policy->live = 1;
	w.policy->live_cpu_s = 1000;
	assert_false(work_burst_possible(&w, &m, w.policy));
	assert_int_equal(work_burst(&w, path, &err), 0);
	w.policy->live_cpu_s = 0;
	assert_true(work_burst_possible(&w, &m, w.policy));
	w.again_facts.runs.own_spent_s = 1e6;
	assert_int_equal(work_burst(&w, path, &err), 0);
	assert_int_equal(nasked, 0);
	assert_int_equal(now().generation, 1);		/* whatever it was */
}

/* The job was taken over: what it says would be a row that nobody can read again. */
static void a_share_that_is_none_is_believed_nowhere(void **state)
{
	static const char *const lie[] = { "open inf\n", "open -inf\n",
					   "open nan\n", "open 1e300\n", "open -1\n",
					   "open 1.5\n", "", "\n\n" };
	struct store_counting none;
	struct store_counted got;
	struct err err = { 0 };

	(void)state;
	w.policy->count = SWITCH_ON;
	for (size_t i = 0; i < sizeof(lie) / sizeof(lie[0]); i++) {
		figures = lie[i];
		assert_int_equal(work_burst(&w, path, &err), 0);
		assert_int_equal(nasked, 0);
		assert_int_equal(store_counting_get(w.store, m.id, &none, &err), 0);
		assert_false(has_counts(&got));
		assert_false(store_is_damaged(w.store));
	}
	figures = "open 1\n";
	assert_int_equal(work_burst(&w, path, &err), 1);
}

static void a_figure_is_a_plain_number(void **state)
{
	static const char all[] = "a 3.5\nb inf\nc nan\nd -2\ne 1e999\n";

	(void)state;
	assert_true(work_figure(all, "a") == 3.5);
	for (const char *name = "b\0c\0d\0e\0f\0"; *name; name += 2)
		assert_true(work_figure(all, name) == -1);
}

#undef TEST
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_busiest_counts_and_that_is_evidence),
		TEST(the_next_one_is_asked),
		TEST(one_that_ends_is_the_last),
		TEST(who_was_taken_out_of_by_hand_is_not_asked),
		TEST(the_policy_has_the_last_word),
		TEST(a_share_that_is_none_is_believed_nowhere),
		cmocka_unit_test(a_figure_is_a_plain_number),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
