/* test_gainpoints.c - what was measured is read back from the sentences that tell it, and drawn
 * on the page of a machine */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "lib/table.h"
#include "manager/page/daemonpage.h"
#include "manager/page/gainpoints.h"
#include "policy/ratio.h"
#include "policy/speedtest.h"

/* As manager/work/work_speed.c and work_turns.c write them to the history. */
static void say_time(double estimate, double low, double high, char out[256])
{
	struct speedtest p = { .looks = 3, .verdict = SPEEDTEST_FASTER };
	char text[SPEEDTEST_TEXT_MAX];

	p.shift.estimate = log1p(estimate / 100);
	p.shift.low = log1p(low / 100);
	p.shift.high = log1p(high / 100);
	speedtest_text(&p, text);
	(void)snprintf(out, 256, "generation 2 against the original: %s", text);
}

static void say_turns(double estimate, double low, double high, char out[256])
{
	struct ratio r = { .n = 9, .estimate = estimate, .low = low, .high = high };
	char text[64];

	ratio_text(&r, text);
	(void)snprintf(out, 256, "generation 1 against the original, in process 7, in turns: "
		       "faster, %s times as fast, 40 pairs, CPU time for each request", text);
}

static bool near(double a, double b)
{
	return fabs(a - b) < 0.001;
}

static void a_verdict_is_read_back(void **state)
{
	struct gainpoint p = { 0 };
	char text[256];

	(void)state;
	say_time(-20, -25, -10, text);
	assert_true(gainpoints_read(text, &p));
	assert_true(near(p.estimate, 1.25) && near(p.low, 1 / 0.9) && near(p.high, 1 / 0.75));
	say_turns(1.08, 1.05, 1.11, text);
	assert_true(gainpoints_read(text, &p));
	assert_true(near(p.estimate, 1.08) && near(p.low, 1.05) && near(p.high, 1.11));
}

static void what_has_no_interval_is_none(void **state)
{
	static const char *const text[] = {
		"", "generation 1 from 504 samples",
		"in turns: unmeasured, not known times as fast, 3 pairs",
		"x, time -20.0 % (-10.0 .. -30.0)", "x, time -100.0 % (-100.0 .. -100.0)",
		"in turns: faster, 1.1 (nan to nan) times as fast",
		"in turns: faster, 1.1 (1.0 to inf) times as fast",
		"in turns: faster, 1.1 (-1 to 2) times as fast",
	};
	struct gainpoint p = { .estimate = 7 };

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		assert_false(gainpoints_read(text[i], &p));
	assert_true(near(p.estimate, 7));
}

static struct table *history(void)
{
	static const struct table_column col[] = {
		{ "time", TABLE_TIME }, { "path", TABLE_TEXT }, { "event", TABLE_TEXT },
		{ "detail", TABLE_TEXT },
	};
	struct table *t = table_new("history", 4, col);
	char text[256];

	say_turns(1.08, 1.05, 1.11, text);
	table_row(t, UINT64_C(3000000000), "/bin/<a>", "faster", text);
	table_row(t, UINT64_C(2500000000), "/bin/b", "refused", "it is <set-id>");
	say_time(-20, -25, -10, text);
	table_row(t, UINT64_C(2000000000), "/bin/b", "faster", text);
	say_time(+4, +2, +6, text);
	table_row(t, UINT64_C(1000000000), "/bin/<a>", "slower", text);
	return t;
}

static uint32_t times(const char *text, const char *word)
{
	uint32_t n = 0;

	for (const char *at = text; (at = strstr(at, word)); at++)
		n++;
	return n;
}

static void they_are_told_and_drawn_oldest_first(void **state)
{
	struct table *t = history();
	struct daemonpage_answer a = { .request = "history", .table = &t, .ntable = 1 };
	struct wr w = { 0 };

	(void)state;
	daemonpage_put(&a, 1, &w);
	wr_u8(&w, 0);
	const char *page = (const char *)w.p;
	assert_int_equal(times(page, "<svg class=\"chart\""), 2);
	assert_int_equal(times(page, "<circle class=\"point\""), 3);
	const char *gains = strstr(page, "data-title=\"gains\"");
	assert_non_null(gains);
	const char *first = strstr(gains, "data-v=\"0.961538\"");
	const char *last = strstr(gains, "data-v=\"1.08");
	assert_non_null(first);
	assert_true(first < last);
	assert_null(strstr(page, "<a>"));
	char *refused = strstr((char *)w.p, "data-title=\"refused\"");
	assert_non_null(refused);
	assert_non_null(strstr(refused, "it is &lt;set-id&gt;"));
	*strstr(refused, "</table>") = '\0';
	assert_int_equal(times(refused, "<td>"), 2 * 3);
	table_free(t);
	wr_free(&w);
}

static void without_a_daemon_s_history_there_is_a_page(void **state)
{
	struct daemonpage_answer a = { .request = "history", .failed = "it <failed>" };
	struct wr w = { 0 };

	(void)state;
	daemonpage_put(&a, 1, &w);
	wr_u8(&w, 0);
	assert_non_null(strstr((const char *)w.p, "it &lt;failed&gt;"));
	assert_non_null(strstr((const char *)w.p, "Nothing has been measured so far."));
	wr_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_verdict_is_read_back),
		cmocka_unit_test(what_has_no_interval_is_none),
		cmocka_unit_test(they_are_told_and_drawn_oldest_first),
		cmocka_unit_test(without_a_daemon_s_history_there_is_a_page),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
