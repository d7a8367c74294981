/* test_work_turns.c - what the Manager makes of turns without and with a generation: with a
 * parent made up here, which says what was done in them
 */
#include "tests/unit/manager/work/workscene.h"

#include <inttypes.h>

#include "lib/procstat.h"
#include "manager/store/store_saved.h"

/* This process has a form of generation 1. */
static void have_form(void)
{
	static char text[512];
	struct digest form = { .b = { 5 } };
	struct store_generation g;
	struct procstat self;
	char hex[65], of[65];
	struct err err;

	w.policy->live = 1;
	assert_int_equal(store_generation_by_number(w.store, m.id, 1, &g, &err), 1);
	assert_int_equal(store_live_put(w.store, &form, g.id, (struct bytes){ 0 }, &err), 0);
	assert_true(procstat_read(getpid(), &self));
	digest_hex(&form, hex);
	digest_hex(&m.original, of);
	(void)snprintf(text, sizeof(text), "%d %" PRIu64 " %u %s %s %s\n", (int)getpid(),
		       self.start, (unsigned)getuid(), hex, of, path);
	live_list = text;
	assert_int_equal(work_live_look(&w), 0);
}

/* So many milliseconds for each of 100 calls, without it and with it, or a bit more. */
static void say(double off_ms, double on_ms)
{
	static char text[256];
	static unsigned n;
	double more = 1 + 0.002 * (n++ % 5);

	(void)snprintf(text, sizeof(text), "off %.0f ns, 0 bytes, 100 calls, 3 wakes, on %.0f "
		       "ns, 0 bytes, 100 calls, 3 wakes, pause 5 us", off_ms * more * 1e8,
		       on_ms * 1e8);
	turns_said = text;
}

static bool has_verdict(struct store_turns *out)
{
	return store_turns_get(w.store, m.id, 1, out, NULL) == 1;
}

/* Until there is a verdict, or these rounds are over: how many pairs. */
static unsigned take(double off_ms, double on_ms, unsigned rounds)
{
	struct store_turns t;

	for (unsigned i = 0; i < rounds && !has_verdict(&t); i++) {
		say(off_ms, on_ms);
		work_turns(&w);
	}
	return turns;
}

static void what_is_slower_goes(void **state)
{
	struct store_turns t;

	(void)state;
	have_form();
	assert_false(work_turns_decide(&w, &m));
	(void)take(1, 1.1, 4);
	assert_true(work_turns_decide(&w, &m));		/* and nothing else any more */
	assert_int_equal(restores, 0);
	unsigned pairs = take(1, 1.1, 40);
	assert_int_equal(restores, 1);
	assert_in_range(pairs, 14, 20);		/* fewer could be chance in one of 10,000 */
	assert_true(has_verdict(&t));
	assert_int_equal(t.verdict, SPEEDTEST_SLOWER);
	assert_non_null(strstr(now().refusal, "in turns: slower, 0.91"));
	assert_non_null(strstr(now().refusal, "CPU time for each read or write"));
}

static void what_is_faster_stays(void **state)
{
	struct store_turns t;

	(void)state;
	have_form();
	unsigned pairs = take(1.1, 1, 40);
	assert_int_equal(restores, 0);
	assert_true(has_verdict(&t));
	assert_int_equal(t.verdict, SPEEDTEST_FASTER);
	struct store_measured kept;
	assert_int_equal(store_measured_get(w.store, m.id, 1, true, &kept, NULL), 1);
	assert_int_equal(kept.by, STORE_BY_TURNS);
	/* 1.1 times as fast */
	assert_true(kept.shift.estimate > -0.11 && kept.shift.estimate < -0.09);
	assert_true(kept.shift.low < kept.shift.estimate && kept.shift.high < 0);
	assert_non_null(strstr(last_event(), "faster: generation 1 against the original"));
	assert_true(work_turns_decide(&w, &m));
	work_turns(&w);
	assert_int_equal(turns, pairs);		/* it is known */
}

static void what_is_the_same_is_unmeasured_in_the_end(void **state)
{
	struct store_turns t;

	(void)state;
	have_form();
	for (unsigned i = 0; i < 100 && !has_verdict(&t); i++) {
		say(i % 2 ? 1.05 : 1, i % 2 ? 1 : 1.05);
		work_turns(&w);
	}
	assert_int_equal(turns, 64);
	assert_true(has_verdict(&t));
	assert_int_equal(t.verdict, SPEEDTEST_UNMEASURED);
	assert_int_equal(restores, 0);
}

static uint64_t clock_ms;

static uint64_t show_clock(void)
{
	return clock_ms;
}

static void who_does_nothing_is_left_alone_for_a_while(void **state)
{
	struct store_turns t;

	(void)state;
	have_form();
	w.now_ms = show_clock;
	turns_said = "off 0 ns, 0 bytes, 0 calls, 0 wakes, on 0 ns, 0 bytes, 0 calls, 0 wakes,";
	for (unsigned i = 0; i < 20; i++)
		work_turns(&w);
	assert_int_equal(turns, 8);
	assert_false(has_verdict(&t));
	assert_false(work_turns_decide(&w, &m));	/* others may know */
	clock_ms += 3600000;
	(void)take(1.1, 1, 40);
	assert_true(has_verdict(&t));
	assert_int_equal(t.verdict, SPEEDTEST_FASTER);
}

/* Enough CPU time, and nothing that it would be for. */
static void work_that_cannot_be_counted_is_told(void **state)
{
	/* of each work there is some, but never in two pairs */
	static const char *const said[] = {
		"off 9 ns, 9 bytes, 0 calls, 0 wakes, on 9 ns, 9 bytes, 0 calls, 0 wakes, ",
		"off 9 ns, 0 bytes, 9 calls, 0 wakes, on 9 ns, 0 bytes, 9 calls, 0 wakes, ",
		"off 9 ns, 0 bytes, 0 calls, 9 wakes, on 9 ns, 0 bytes, 0 calls, 9 wakes, ",
	};
	struct store_turns t;

	(void)state;
	have_form();
	for (unsigned i = 0; i < 100 && !has_verdict(&t); i++) {
		turns_said = said[i % 3];
		work_turns(&w);
	}
	assert_true(has_verdict(&t));
	assert_int_equal(t.verdict, SPEEDTEST_UNMEASURED);
	assert_non_null(strstr(t.text, "nothing that it does can be counted"));
}

static void only_what_the_policy_lets_run_is_judged(void **state)
{
	(void)state;
	have_form();
	w.policy->live = 0;
	assert_int_equal(take(1, 1.1, 5), 0);
	w.policy->live = 1;
	live_list = "";
	assert_int_equal(work_live_look(&w), 0);
	assert_int_equal(take(1, 1.1, 5), 0);		/* nobody has it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_slower_goes),
		TEST(what_is_faster_stays),
		TEST(what_is_the_same_is_unmeasured_in_the_end),
		TEST(who_does_nothing_is_left_alone_for_a_while),
		TEST(work_that_cannot_be_counted_is_told),
		TEST(only_what_the_policy_lets_run_is_judged),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
