/* test_arrays.c - evidence as arrays of PostgreSQL and back; what a server could say instead */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "share/arrays.h"

static const char *good[ARRAYS] = { "{1,2,2147483647}", "{5,6,1125899906842624}", "{1,1}",
				    "{1,2}", "{7,8}", "{2}", "{3}", "{1}", "{9}" };

static int read_with(int at, const char *text, double factor, struct fleet_evidence *e)
{
	struct arena *a = arena_new();
	const char *all[ARRAYS];
	struct err err = { 0 };

	memcpy(all, good, sizeof(all));
	if (at >= 0)
		all[at] = text;
	int rc = arrays_read(all, factor, a, e, &err);
	assert_true(rc == 0 || err.text[0]);
	arena_free(a);
	return rc;
}

static void there_and_back(void **state)
{
	struct arena *a = arena_new();
	struct fleet_evidence e = { 0 };
	const char *text[ARRAYS];
	struct err err;

	(void)state;
	assert_int_equal(arrays_read(good, 1, a, &e, &err), 0);
	assert_int_equal(e.nblock, 3);
	arrays_write(&e, a, text);
	for (int i = 0; i < ARRAYS; i++)
		assert_string_equal(text[i], good[i]);
	arena_free(a);
}

static void counts_fade(void **state)
{
	const char *text[ARRAYS] = { "{1,2}", "{1,10}", "{1}", "{2}", "{1}", "{}", "{}", "{}",
				     "{}" };
	struct arena *a = arena_new();
	struct fleet_evidence e = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(arrays_read(text, 0.5, a, &e, &err), 0);
	assert_true(e.nblock == 1 && e.block[0].block == 2 && e.block[0].count == 5);
	assert_int_equal(e.nedge, 0);
	e.kind = FLEET_EXECUTIONS;		/* what was executed still was */
	assert_int_equal(arrays_read(text, 0.5, a, &e, &err), 0);
	assert_true(e.nblock == 2 && e.block[0].count == 1 && e.block[1].count == 5);
	assert_true(e.nedge == 1 && e.edge[0].count == 1);
	arena_free(a);
}

static void nonsense_is_refused(void **state)
{
	static const struct {
		int at;
		const char *text;
	} wrong[] = {
		{ 0, "" }, { 0, "{" }, { 0, "{1,2" }, { 0, "1,2,3" }, { 0, "{1,2,3}x" },
		{ 0, "{1,,2}" }, { 0, "{1,2,}" }, { 0, "{,1,2}" }, { 0, "{a,2,3}" },
		{ 0, "{-1,2,3}" }, { 0, "{1, 2,3}" }, { 0, "{1,NULL,3}" }, { 0, "{{1,2,3}}" },
		{ 0, "{1,2}" }, { 0, "{1,2,3,4}" }, { 0, "{}" }, { 0, "{2,1,3}" },
		{ 0, "{1,1,3}" }, { 0, "{1,2,2147483648}" },
		{ 0, "{1,2,99999999999999999999999}" }, { 1, "{5,6,1125899906842625}" },
		{ 1, "{5,6,99999999999999999999}" }, { 1, "{5,0,7}" }, { 1, "{5,1e3,7}" },
		{ 2, "{1,0}" }, { 3, "{2,1}" }, { 3, "{1,1}" }, { 4, "{7}" }, { 5, "{}" },
		{ 6, "{3,4}" }, { 7, "{1,2}" }, { 7, "{}" }, { 8, "{0}" },
	};
	struct fleet_evidence e;

	(void)state;
	assert_int_equal(read_with(-1, NULL, 1, &e), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (read_with(wrong[i].at, wrong[i].text, 1, &e) == 0)
			fail_msg("accepted: array %d is %s", wrong[i].at, wrong[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(counts_fade),
		cmocka_unit_test(nonsense_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
