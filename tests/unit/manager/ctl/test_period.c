/* test_period.c - parts of all time as people type them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "lib/arena.h"
#include "lib/when.h"
#include "manager/ctl/period.h"

static struct arena *arena;

static int set_up(void **state)
{
	(void)state;
	/* the hour is set on the last Sundays of March and October */
	(void)setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	arena = arena_new();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static uint64_t ns_of(const char *text)
{
	uint64_t ns = 0;

	assert_true(when_parse(text, when_now_ns(), &ns));
	return ns;
}

static void a_day_ends_where_the_next_one_begins(void **state)
{
	static const char *const day[] = { "2024-03-30", "2024-03-31", "2024-04-01",
					   "2024-10-26", "2024-10-27", "2024-10-28" };
	struct period p;

	(void)state;
	for (int i = 0; i < 5; i++) {
		assert_true(period_parse(day[i], arena, &p));
		assert_string_equal(p.since, day[i]);
		if (i != 2)
			assert_int_equal(ns_of(p.until), ns_of(day[i + 1]));
	}
	assert_int_equal(ns_of("2024-10-28") - ns_of("2024-10-27"),
			 25 * 3600 * UINT64_C(1000000000));
}

static void one_of_two_bounds_will_do(void **state)
{
	struct period p;

	(void)state;
	assert_true(period_parse("2d..1d", arena, &p));
	assert_string_equal(p.since, "2d");
	assert_string_equal(p.until, "1d");
	assert_true(period_parse("2024-03-30..", arena, &p));
	assert_null(p.until);
	assert_true(period_parse("..@86400", arena, &p));
	assert_null(p.since);
}

static void what_is_none_is_told(void **state)
{
	static const char *const none[] = {
		"", "..", "...", "-", "1d", "@5", "2024-13-01", "2024-02-30", "2999-01-01",
		"2999-01-01..", "1d..2999-01-01", "../log", "1d..x", "x..1d", "1d..2d..3d",
		"2024-03-30 "
	};
	struct period p;

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (period_parse(none[i], arena, &p))
			fail_msg("'%s' is a period", none[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_day_ends_where_the_next_one_begins),
		cmocka_unit_test(one_of_two_bounds_will_do),
		cmocka_unit_test(what_is_none_is_told),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("period", tests, set_up, tear_down);
}
