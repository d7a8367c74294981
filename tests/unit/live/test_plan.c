/* test_plan.c - what morph-verify --live prints is read, and nothing else */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "lib/err.h"
#include "live/plan.h"

#define DIGEST "287a73cdb5070aca6241c070473ba72aebcb8727e5bba20db9769162afba73da"
#define FIRST "generation 3 of " DIGEST ": the same program (1 blocks)\n"

static int parse(const char *text, struct live_plan *p)
{
	char copy[2048];
	struct err err;

	(void)snprintf(copy, sizeof(copy), "%s", text);
	int rc = live_plan_parse(copy, p, &err);
	assert_true(rc == 0 || err.kind == ERR_INPUT);
	return rc;
}

static void a_plan_is_read(void **state)
{
	struct live_plan p;
	char hex[65];

	(void)state;
	assert_int_equal(parse(FIRST "text 49000 195000 49000 4a000\n"
			       "new 4a7000 1be000 3a1000 rx\nnew 665000 a0000 55f000 r\n",
			       &p), 0);
	digest_hex(&p.original, hex);
	assert_string_equal(hex, DIGEST);
	assert_true(p.text == 0x49000 && p.text_size == 0x195000);
	assert_true(p.original_offset == 0x49000 && p.generation_offset == 0x4a000);
	assert_int_equal(p.nfresh, 2);
	assert_true(p.fresh[0].exec && !p.fresh[1].exec && p.fresh[1].offset == 0x55f000);
	assert_true(live_plan_fresh_size(&p) == 0x665000 + 0xa0000 - 0x4a7000);
}

static void counters_come_first(void **state)
{
	struct live_plan p;

	(void)state;
	assert_int_equal(parse(FIRST "text 49000 195000 49000 49000\nnew 4a7000 8c000 0 rw\n"
			       "new 533000 201000 3a1000 rx\n", &p), 0);
	assert_int_equal(p.nfresh, 2);
	assert_true(p.fresh[0].counters && !p.fresh[0].exec && p.fresh[0].size == 0x8c000);
	assert_true(p.fresh[1].exec && !p.fresh[1].counters);
	assert_int_equal(parse(FIRST "text 49000 195000 49000 49000\nnew 4a7000 8c000 1000 rw\n"
			       "new 533000 201000 3a1000 rx\n", &p), -1);
	assert_int_equal(parse(FIRST "text 49000 195000 49000 49000\n"
			       "new 4a7000 1000 3a1000 rx\nnew 533000 1000 0 rw\n", &p), -1);
}

static void anything_else_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		FIRST,
		FIRST "text 49000 195000 49000 49000\n",
		"generation 3 of 28: the same\ntext 1000 1000 0 0\nnew 3000 1000 0 r\n",
		FIRST "new 4a7000 1be000 3a1000 rx\n",
		FIRST "text 49001 195000 49000 49000\nnew 4a7000 1000 0 r\n",
		FIRST "text 49000 195000 49000 49000 1\nnew 4a7000 1000 0 r\n",
		FIRST "text 49000 0 49000 49000\nnew 4a7000 1000 0 r\n",
		FIRST "text 49000 195000 49000 49000\nnew 4a7000 1000 0 rwx\n",
		FIRST "text 49000 195000 49000 49000\nnew 4a7000 1000 0 x\n",
		FIRST "text 49000 195000 49000 49000\nnew 4a000 1000 0 r\n",
		FIRST "text 49000 195000 49000 49000\nnew fffffffffffff000 1000 0 r\n",
		FIRST "text 49000 195000 49000 49000\nnew 7ffffffff000 2000 0 r\n",
		FIRST "text 1000 1000 0 0\nnew 9000 1000 0 r\nnew 8000 1000 0 r\n",
		FIRST "text 1000 1000 0 0\nnew 2000 1000 0 r\nnew 3000 1000 0 r\n"
		      "new 4000 1000 0 r\nnew 5000 1000 0 r\nnew 6000 1000 0 r\n",
		FIRST "text 1000 1000 0 0\nnew 2000 1000 0 r\nold 3000 1000 0 r\n",
	};
	struct live_plan p;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i], &p) == 0)
			fail_msg("read: %s", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_is_read),
		cmocka_unit_test(counters_come_first),
		cmocka_unit_test(anything_else_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
