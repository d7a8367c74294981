/* When a job makes room for others: asked every quarter of a second, as the manager does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "manager/work/yield.h"

enum { STEP_MS = 250, START_MS = 1000000 };

/* Steps until something is to be done, at most `most_ms`; *now_ms goes on. */
static enum yield_act until_act(struct yield *y, enum yield_kind kind, bool calm, bool urgent,
				uint64_t *now_ms, uint64_t most_ms)
{
	for (uint64_t end = *now_ms + most_ms; *now_ms < end; ) {
		*now_ms += STEP_MS;
		enum yield_act act = yield_step(y, kind, calm, urgent, *now_ms);
		if (act != YIELD_NOTHING)
			return act;
	}
	return YIELD_NOTHING;
}

static void it_stops_at_once_and_goes_on_after_some_calm(void **state)
{
	struct yield y = { 0 };
	uint64_t now = START_MS;

	(void)state;
	assert_int_equal(until_act(&y, YIELD_ENDS, true, false, &now, 60000), YIELD_NOTHING);
	uint64_t from = now;
	assert_int_equal(until_act(&y, YIELD_ENDS, false, false, &now, 60000), YIELD_STOP);
	assert_int_equal(now - from, STEP_MS);
	assert_int_equal(until_act(&y, YIELD_ENDS, false, false, &now, 20000), YIELD_NOTHING);
	assert_int_equal(until_act(&y, YIELD_ENDS, true, false, &now, 4000), YIELD_NOTHING);
	assert_int_equal(until_act(&y, YIELD_ENDS, false, false, &now, STEP_MS), YIELD_NOTHING);
	from = now;
	assert_int_equal(until_act(&y, YIELD_ENDS, true, false, &now, 60000), YIELD_GO_ON);
	assert_int_equal(now - from, YIELD_CALM_MS);
	assert_int_equal(until_act(&y, YIELD_ENDS, false, false, &now, 60000), YIELD_STOP);
}

static void what_somebody_waits_for_never_stops(void **state)
{
	struct yield y = { 0 };
	uint64_t now = START_MS;

	(void)state;
	assert_int_equal(until_act(&y, YIELD_NEVER, false, false, &now, 60000), YIELD_NOTHING);
	assert_int_equal(until_act(&y, YIELD_ENDS, false, true, &now, 60000), YIELD_NOTHING);
}

static void when_somebody_waits_it_ends_or_hurries_once(void **state)
{
	struct yield y = { 0 };
	uint64_t now = START_MS;

	(void)state;
	assert_int_equal(until_act(&y, YIELD_ENDS, false, false, &now, 1000), YIELD_STOP);
	assert_int_equal(until_act(&y, YIELD_ENDS, false, true, &now, STEP_MS), YIELD_GIVE_UP);
	assert_int_equal(until_act(&y, YIELD_ENDS, false, true, &now, 60000), YIELD_NOTHING);
	y = (struct yield){ 0 };
	assert_int_equal(until_act(&y, YIELD_STOPS, false, false, &now, 1000), YIELD_STOP);
	assert_int_equal(until_act(&y, YIELD_STOPS, false, true, &now, STEP_MS), YIELD_HURRY);
	assert_int_equal(until_act(&y, YIELD_STOPS, false, false, &now, 60000), YIELD_NOTHING);
}

static void it_does_not_hold_its_memory_for_ever(void **state)
{
	struct yield y = { 0 };
	uint64_t now = START_MS;

	(void)state;
	assert_int_equal(until_act(&y, YIELD_ENDS, false, false, &now, 1000), YIELD_STOP);
	uint64_t from = now;
	assert_int_equal(until_act(&y, YIELD_ENDS, false, false, &now, 2 * YIELD_MOST_MS),
			 YIELD_GIVE_UP);
	assert_int_equal(now - from, YIELD_MOST_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_stops_at_once_and_goes_on_after_some_calm),
		cmocka_unit_test(what_somebody_waits_for_never_stops),
		cmocka_unit_test(when_somebody_waits_it_ends_or_hurries_once),
		cmocka_unit_test(it_does_not_hold_its_memory_for_ever),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
