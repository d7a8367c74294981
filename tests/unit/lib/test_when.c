/* test_when.c - moments as people type them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "lib/when.h"

static const uint64_t second = 1000000000, now = UINT64_C(1764158400) * 1000000000;

static uint64_t parsed(const char *text)
{
	uint64_t ns = 1;

	if (!when_parse(text, now, &ns))
		fail_msg("'%s' is not taken", text);
	return ns;
}

static void an_age_is_before_now(void **state)
{
	(void)state;
	assert_int_equal(parsed("1s"), now - second);
	assert_int_equal(parsed("90m"), now - 5400 * second);
	assert_int_equal(parsed("12h"), now - 43200 * second);
	assert_int_equal(parsed("7d"), now - 604800 * second);
	assert_int_equal(parsed("2w"), now - 1209600 * second);
	assert_int_equal(parsed("0h"), now);
	assert_int_equal(parsed("99999999999999999w"), 0);	/* all there is */
}

static void a_date_is_of_the_place_where_it_is_typed(void **state)
{
	(void)state;
	assert_int_equal(parsed("2025-11-20"), UINT64_C(1763607600) * second);
	assert_int_equal(parsed("2025-11-20T14:30"), UINT64_C(1763659800) * second);
	assert_int_equal(parsed("2025-11-20 14:30:05"), UINT64_C(1763659805) * second);
	assert_int_equal(parsed("@1763638205"), UINT64_C(1763638205) * second);
	assert_int_equal(parsed("1970-01-02"), UINT64_C(97200) * second);
}

static void what_is_no_moment_or_to_come_is_not_taken(void **state)
{
	static const char *const bad[] = {
		"", "7", "h", "-1h", "+1h", " 1h", "1 h", "1hh", "1.5h", "7y", "yesterday",
		"2025-11-20x", "2025-02-30", "2025-13-01", "2025-11-20T25:00", "@", "@x",
		"@-1", "@1763638205x", "@99999999999999999999", "99999999999999999999h",
		"2099-01-01", "@1764158401",
	};
	uint64_t ns = 5;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (when_parse(bad[i], now, &ns) || ns != 5)
			fail_msg("'%s' is taken", bad[i]);
}

static void ages_begin_with_the_full_hour_or_day(void **state)
{
	const uint64_t at = UINT64_C(1763638205) * second + 7;

	(void)state;
	assert_int_equal(when_full("3h", at), UINT64_C(1763636400) * second);
	assert_int_equal(when_full("3d", at), UINT64_C(1763596800) * second);
	assert_int_equal(when_full("2w", at), UINT64_C(1763596800) * second);
	assert_int_equal(when_full("3m", at), at);
	assert_int_equal(when_full("@3", at), at);
	assert_int_equal(when_full("2025-11-20", at), at);
	assert_int_equal(when_full("d", at), at);
	assert_true(when_now_ns() > at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_age_is_before_now),
		cmocka_unit_test(a_date_is_of_the_place_where_it_is_typed),
		cmocka_unit_test(what_is_no_moment_or_to_come_is_not_taken),
		cmocka_unit_test(ages_begin_with_the_full_hour_or_day),
	};

	(void)setenv("TZ", "MID+3", 1);		/* three hours behind Greenwich */
	tzset();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
