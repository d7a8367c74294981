/* test_lookwait.c - files that change are read, but nobody can make it read without end */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "manager/work/lookwait.h"

enum { USER = 1000, HOUR_MS = 3600000, START_MS = 5000000 };
static const uint64_t mib = 1 << 20;

static struct lookwait *fresh(void)
{
	struct lookwait *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	return l;
}

/* Asks every `step_ms` for `span_ms`; how often it was allowed. */
static unsigned reads(struct lookwait *l, const char *path, uint32_t owner, uint64_t bytes,
		      uint64_t *now_ms, uint64_t span_ms, uint64_t step_ms)
{
	unsigned n = 0;

	for (uint64_t end = *now_ms + span_ms; *now_ms < end; *now_ms += step_ms)
		n += lookwait_ms(l, path, owner, bytes, *now_ms) == 0;
	return n;
}

static void what_changes_now_and_then_is_read_at_once(void **state)
{
	struct lookwait *l = fresh();
	uint64_t now = START_MS;

	(void)state;
	for (int i = 0; i < 100; i++) {
		assert_int_equal(lookwait_ms(l, "/usr/bin/perl", 0, 4 * mib, now), 0);
		assert_int_equal(lookwait_ms(l, "/home/me/tool", USER, 4 * mib, now), 0);
		now += 30000;			/* as somebody builds and tries */
	}
	free(l);
}

static void what_changes_over_and_over_waits_longer_and_longer(void **state)
{
	struct lookwait *l = fresh();
	uint64_t now = START_MS;

	(void)state;
	for (uint32_t owner = 0; owner <= USER; owner += USER) {
		/* at once, after 2, 4, 8, ... 512 s, then every 600 */
		assert_int_equal(reads(l, owner ? "/b" : "/a", owner, 1, &now, HOUR_MS, 500),
				 16);
		assert_int_equal(reads(l, owner ? "/b" : "/a", owner, 1, &now, HOUR_MS, 500),
				 6);
	}
	free(l);
}

static void it_is_told_how_long_to_wait(void **state)
{
	struct lookwait *l = fresh();
	uint64_t now = START_MS, wait;

	(void)state;
	for (int i = 0; i < 50; i++) {
		wait = lookwait_ms(l, "/a", USER, 600 * mib, now);
		if (wait) {
			assert_true(lookwait_ms(l, "/a", USER, 600 * mib, now + wait / 2) > 0);
			now += wait;
			assert_int_equal(lookwait_ms(l, "/a", USER, 600 * mib, now), 0);
		}
	}
	free(l);
}

/* However many files a user has. */
static void a_user_costs_so_many_bytes_in_the_long_run(void **state)
{
	struct lookwait *l = fresh();
	uint64_t now = START_MS, bytes = 0;
	char path[32];

	(void)state;
	for (int i = 0; i < 100000; i++, now += 36) {
		(void)snprintf(path, sizeof(path), "/home/me/%d", i);
		if (lookwait_ms(l, path, USER, 1000 * mib, now) == 0)
			bytes += 1000 * mib;
	}
	assert_true(bytes <= LOOKWAIT_MOST + 1000 * mib + 3600ull * LOOKWAIT_PER_S);
	assert_true(bytes >= 3600ull * LOOKWAIT_PER_S / 2);	/* nor is he starved */
	/* Root's files do not wait for his, nor those of another user. */
	assert_int_equal(lookwait_ms(l, "/usr/bin/new", 0, 1000 * mib, now), 0);
	assert_int_equal(lookwait_ms(l, "/home/other", USER + 1, mib, now), 0);
	assert_true(lookwait_debt_ms(l, USER, now) > 0);
	assert_int_equal(lookwait_debt_ms(l, USER + 1, now), 0);
	assert_int_equal(lookwait_debt_ms(l, 0, now), 0);
	free(l);
}

static void many_small_files_are_a_cost_too(void **state)
{
	struct lookwait *l = fresh();
	uint64_t now = START_MS;
	unsigned n = 0;
	char path[32];

	(void)state;
	for (int i = 0; i < 100000; i++) {
		(void)snprintf(path, sizeof(path), "/home/me/%d", i);
		n += lookwait_ms(l, path, USER, 10, now) == 0;
	}
	assert_in_range(n, 900, LOOKWAIT_MOST / LOOKWAIT_EACH);
	free(l);
}

/* One who has many uids is not many. */
static void all_users_together_have_a_limit(void **state)
{
	struct lookwait *l = fresh();
	uint64_t now = START_MS, bytes = 0;
	char path[32];

	(void)state;
	for (uint32_t i = 0; i < 65536; i++, now += 50) {
		(void)snprintf(path, sizeof(path), "/home/me/%u", i);
		if (lookwait_ms(l, path, 100000 + i, 200 * mib, now) == 0)
			bytes += 200 * mib;
	}
	assert_true(bytes <= LOOKWAIT_SHARE * (LOOKWAIT_MOST + 3300ull * LOOKWAIT_PER_S) +
			     200 * mib);
	free(l);
}

static void a_clock_that_goes_back_allows_nothing_and_breaks_nothing(void **state)
{
	struct lookwait *l = fresh();

	(void)state;
	assert_int_equal(lookwait_ms(l, "/a", USER, UINT64_MAX, START_MS), 0);
	assert_true(lookwait_ms(l, "/a", USER, 1, 10) > 0);
	assert_true(lookwait_ms(l, "/b", USER, 1, 10) > 0);
	assert_int_equal(lookwait_ms(l, "/b", USER, 1, UINT64_MAX / 2), 0);
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_changes_now_and_then_is_read_at_once),
		cmocka_unit_test(what_changes_over_and_over_waits_longer_and_longer),
		cmocka_unit_test(it_is_told_how_long_to_wait),
		cmocka_unit_test(a_user_costs_so_many_bytes_in_the_long_run),
		cmocka_unit_test(many_small_files_are_a_cost_too),
		cmocka_unit_test(all_users_together_have_a_limit),
		cmocka_unit_test(a_clock_that_goes_back_allows_nothing_and_breaks_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
