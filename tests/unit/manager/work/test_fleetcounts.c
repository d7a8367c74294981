/* test_fleetcounts.c - exact counts given to a fleet, and a fleet's beside a module's own */
#include <math.h>
#include <sys/mman.h>

#include "lib/arena.h"
#include "lib/blocktable.h"
#include "lib/fleetfile.h"
#include "lib/profile.h"
#include "manager/work/fleetwork.h"
#include "policy/setting.h"
#include "tests/unit/manager/work/workscene.h"

/* Two functions, the first with blocks 0..4, the second with 5..9. */
enum { BLOCKS = 10, BLOCK = 16, BASE = 0x401000, WHOLE = 1 << 30 };

static struct err err;

static void set(const char *key, const char *value)
{
	for (unsigned i = 0; i < policy_nsetting; i++)
		if (strcmp(policy_setting[i].key, key) == 0)
			(void)setting_add(&policy_setting[i], w.policy, value, NULL);
}

static void begin(void)
{
	struct blockmap_seg seg = { BASE, 0x1000, BLOCKS * BLOCK };
	struct blocktable_fn fn[] = { { BASE, 5 * BLOCK, 0 },
				      { BASE + 5 * BLOCK, 5 * BLOCK, 0 } };
	struct blocktable_block block[BLOCKS];
	struct blocktable t = { .original = m.original, .base = BASE, .text_size = 1 << 20,
				.nseg = 1, .nfn = 2, .nblock = BLOCKS, .seg = &seg, .fn = fn,
				.block = block };
	struct wr bytes = { 0 };

	for (uint32_t i = 0; i < BLOCKS; i++)
		block[i] = (struct blocktable_block){ i * BLOCK, BLOCK, 4, i / 5 };
	blocktable_write(&t, &bytes);
	assert_int_equal(store_table_put(w.store, &m.original, wr_bytes(&bytes), &err), 0);
	wr_free(&bytes);
	w.policy->share_conninfo = strdup("host=nowhere");
	set("include", "/var/tmp/*");
	set("send", "/var/tmp/*");
}

/* An exact profile of these lines. */
static struct wr profile_of(const char *lines)
{
	struct wr text = { 0 };
	char head[256], hex[65];

	digest_hex(&m.original, hex);
	(void)snprintf(head, sizeof(head),
		       "morph-profile 2\nmodule /p\nsha256 %s\nclock exact\noutside 0\n", hex);
	wr_text(&text, head);
	wr_text(&text, lines);
	return text;
}

static void counted(const char *lines)
{
	struct store_counting c = { .module = m.id, .original = m.original, .runs = 8 };
	struct wr text = profile_of(lines);

	assert_int_equal(work_evidence_keep(&w, &m, &c, &text, &err), 0);
	wr_free(&text);
}

static struct store_epoch waits;	/* the last that waits */

static bool keep_row(void *ctx, const struct store_epoch *e)
{
	const struct store_profile *p = &e->profile;

	(*(unsigned *)ctx)++;
	store_profile_free(&waits.profile);
	waits = *e;
	waits.profile = (struct store_profile){ 0 };
	store_profile_mix(&waits.profile, p, 1);
	return true;
}

static unsigned waiting(void)
{
	unsigned n = 0;

	assert_int_equal(store_epoch_each(w.store, keep_row, &n, &err), 0);
	return n;
}

static double count_of(uint32_t block)
{
	for (uint32_t i = 0; i < waits.profile.ncount; i++)
		if (waits.profile.count[i].block == block)
			return (double)waits.profile.count[i].samples;
	return 0;
}

static void end(void)
{
	store_profile_free(&waits.profile);
	work_fleet_free(&w);
}

/* As good as each other, whatever they ran; what ran once still did. */
static void counts_are_given_in_one_sum(void **state)
{
	const struct edgecounts *e = &waits.profile.edges;

	(void)state;
	begin();
	counted("block 0x401000 3000000000\nblock 0x401010 1000000000\nblock 0x401020 1\n"
		"edge 0x401000 0x401010 1000000000\ncall 0x401004 0x401050 3000000000\n");
	assert_int_equal(waiting(), 1);
	assert_int_equal(waits.kind, FLEET_EXECUTIONS);
	assert_int_equal(waits.epoch, work_fleet_epoch());
	assert_true(fabs(count_of(0) - 0.75 * WHOLE) < 2 && fabs(count_of(1) - WHOLE / 4.) < 2);
	assert_true(count_of(2) == 1);
	assert_true(e->nedge == 1 && fabs((double)e->edge[0].count - WHOLE / 4.) < 2);
	assert_true(e->ncall == 1 && e->call[0].at == 4 && e->call[0].target == 5);
	uint64_t sequence = waits.sequence;
	counted("block 0x401000 3\n");		/* takes its place */
	assert_int_equal(waiting(), 1);
	assert_true(waits.sequence > sequence && count_of(0) == WHOLE && count_of(1) == 0);
	end();
}

/* The database refuses edges and calls of more executions than their block. */
static void what_threads_lost_is_made_up_for(void **state)
{
	(void)state;
	begin();
	counted("block 0x401000 500\nblock 0x401050 500\n"
		"edge 0x401000 0x401010 400\nedge 0x401000 0x401020 200\n"
		"edge 0x401010 0x401030 300\nedge 0x401020 0x401030 200\n"
		"call 0x401054 0x401000 300\ncall 0x401054 0x401050 300\n"
		"call 0x401058 0x401050 1\n");
	assert_int_equal(waiting(), 1);
	assert_true(fabs(count_of(0) - 0.6 * WHOLE) < 2);	/* what goes out of it */
	assert_true(fabs(count_of(3) - 0.5 * WHOLE) < 2);	/* what comes in */
	assert_true(fabs(count_of(1) - 0.4 * WHOLE) < 2);
	assert_true(fabs(count_of(5) - 0.6 * WHOLE) < 2);	/* what is called there */
	end();
}

static void what_the_policy_keeps_is_kept(void **state)
{
	(void)state;
	begin();
	w.policy->share_layouts = 2;	/* nobody knows whose they are */
	counted("block 0x401000 3\n");
	w.policy->share_layouts = 1;
	w.policy->share_give = 0;
	counted("block 0x401000 3\n");
	w.policy->share_give = 1;
	assert_int_equal(work_apply_fleet(&w, &err), 0);	/* the policy is new */
	free(w.policy->share_conninfo);
	w.policy->share_conninfo = NULL;
	counted("block 0x401000 3\n");
	w.policy->share_conninfo = strdup("host=nowhere");
	counted("");				/* nothing ran */
	assert_int_equal(waiting(), 0);
	counted("block 0x401000 3\n");
	assert_int_equal(waiting(), 1);
	end();
}

/* --- the fleet's --- */

static struct fleet_block block[] = { { 0, 100 << 20 }, { 1, 90 << 20 }, { 2, 10 << 20 },
				      { 5, 50 << 20 },	{ 6, 50 << 20 } };
static struct fleet_edge edge[] = { { 0, 1, 90 << 20 }, { 0, 2, 10 << 20 },
				    { 5, 6, 50 << 20 } };
static struct fleet_call call[] = { { 1, 3, 5, 50 << 20 } };

static void fleet_has(uint32_t nedge)
{
	struct fleet_evidence e = { .digest = m.original, .kind = FLEET_EXECUTIONS,
				    .epoch = 2969, .sequence = 1, .contributors = 6,
				    .nblock = 5, .nedge = nedge, .ncall = 1,
				    .block = block, .edge = edge, .call = call };
	const struct fleet_answer q = { .nfleet = 1, .fleet = &e };
	struct wr file = { 0 };

	w.fleet.wanted = calloc(1, sizeof(*w.fleet.wanted));
	w.fleet.wanted->original = m.original;
	w.fleet.nwanted = 1;
	w.fleet.under_way = true;
	fleet_answer_write(&q, &file);
	ask.shared = (struct msg){ .type = MSG_SHARED, .nfd = 1,
				   .fd = { memfd_create("answer", MFD_CLOEXEC) } };
	assert_int_equal(write(ask.shared.fd[0], file.p, file.n), file.n);
	work_fleet_answer(&w);
	wr_free(&file);
	assert_int_equal(w.fleet.fleet, 1);
}

/* Own samples of four blocks. */
static struct store_profile *own(uint64_t b0, uint64_t b2, uint64_t b5, uint64_t b7)
{
	static struct store_count count[4];
	static struct store_profile p;
	const struct store_count all[] = { { 0, b0 }, { 2, b2 }, { 5, b5 }, { 7, b7 } };

	p = (struct store_profile){ .count = count };
	for (int i = 0; i < 4; i++)
		if (all[i].samples)
			count[p.ncount++] = (struct store_count){ all[i].block,
							all[i].samples * STORE_UNIT };
	return &p;
}

/* What the Editor gets beside these samples; what it is of in `said`. */
static char said[WORK_COUNTED_MAX];
static struct profile *evidence(struct arena *a, const struct store_profile *now)
{
	struct profile *p = arena_alloc(a, sizeof(*p));
	struct wr text = { 0 };
	int rc = work_evidence_text(&w, &m, w.policy, now, &text, said, &err);

	assert_true(rc >= 0);
	assert_int_equal(rc, said[0] != '\0');
	if (rc > 0)
		assert_int_equal(profile_read(wr_bytes(&text), a, p, &err), 0);
	wr_free(&text);
	return p;
}

static double executions(const struct profile *p, uint32_t of)
{
	for (uint32_t i = 0; i < p->nblock; i++)
		if (p->block[i].addr == BASE + of * BLOCK)
			return p->block[i].samples;
	return 0;
}

static void the_fleets_are_used_where_there_are_none(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	begin();
	(void)evidence(a, own(0, 0, 0, 0));
	assert_string_equal(said, "");
	fleet_has(3);
	struct profile *p = evidence(a, own(0, 0, 0, 0));
	assert_string_equal(said, "a fleet of 6 in 2 functions");
	assert_true(p->nblock == 5 && p->nedge == 3 && p->ncall == 1 && profile_is_exact(p));
	assert_true(fabs(executions(p, 1) / executions(p, 2) - 9) < 1e-6);
	assert_true(p->edge[1].to == BASE + 2 * BLOCK);
	assert_true(p->call[0].insn == BASE + BLOCK + 3 && p->call[0].target == BASE + 80);
	assert_true(fabs(executions(p, 0) - WHOLE / 3.) < 2);
	/* own ones of the second function take the place of the fleet's */
	assert_int_equal(store_profile_put(w.store, m.id, own(10, 0, 10, 0), 0, &err), 0);
	counted("block 0x401050 7\nblock 0x401070 7\nedge 0x401050 0x401070 7\n");
	p = evidence(a, own(10, 0, 10, 0));
	assert_string_equal(said, "8 runs, and of a fleet of 6 in 1 functions");
	assert_true(p->nblock == 5 && executions(p, 5) == 7 && executions(p, 6) == 0 &&
		    executions(p, 7) == 7);
	assert_true(p->nedge == 3 && p->edge[2].to == BASE + 7 * BLOCK);
	/* but not what the policy does not want */
	w.policy->share_take = 0;
	p = evidence(a, own(10, 0, 10, 0));
	assert_string_equal(said, "8 runs");
	assert_int_equal(p->nblock, 2);
	arena_free(a);
	end();
}

/* The Editor would refuse them, and there would be no layout. */
static void counts_without_edges_are_none(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	begin();
	fleet_has(0);
	(void)evidence(a, own(0, 0, 0, 0));
	assert_string_equal(said, "");
	arena_free(a);
	end();
}

static void own_samples_have_the_last_word(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	begin();
	fleet_has(3);
	/* time is not frequency: what runs longest here, runs */
	(void)evidence(a, own(70, 30, 60, 30));
	assert_string_equal(said, "a fleet of 6 in 2 functions");
	/* one sample is no word against them */
	(void)evidence(a, own(0, 1, 0, 1));
	assert_string_equal(said, "a fleet of 6 in 2 functions");
	/* here it runs what hardly ever runs there */
	struct profile *p = evidence(a, own(0, 100, 50, 0));
	assert_string_equal(said, "a fleet of 6 in 1 functions");
	assert_true(p->nblock == 2 && p->nedge == 1 && p->ncall == 0);
	/* or what never does */
	(void)evidence(a, own(0, 100, 0, 100));
	assert_string_equal(said, "");
	arena_free(a);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(counts_are_given_in_one_sum),
		TEST(what_threads_lost_is_made_up_for),
		TEST(what_the_policy_keeps_is_kept),
		TEST(the_fleets_are_used_where_there_are_none),
		TEST(counts_without_edges_are_none),
		TEST(own_samples_have_the_last_word),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
