/* test_worker.c - threads of the kernel are told from the program's, whatever their names */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "live/worker.h"

static const char runs[] = "running\n", is_new[] = "6.18.44-x";
/* what they were created in is there still, with no address */
static const char waits[] = "-1 0x0 0x0\n";
static const char created[] = "426 0x3 0x1 0x0 0x0 0x0 0x0 0x0 0x0\n";
static const char in_call[] = "232 0x3 0x7f10 0x10 0x0 0x0 0x0 0x7ffd10 0x7f20d0\n";
static const char in_page[] = "-1 0x7ffd10 0x401000\n";

static enum worker told(unsigned flags, const char *call, const char *release)
{
	char stat[256];

	(void)snprintf(stat, sizeof(stat), "7 (iou-wrk-7) S 3 4 5 6 7 %u 9 10 11 12 13 200 "
		       "15 16 17 18 19 20 5000 22 23\n", flags);
	return worker_told(stat, call, release);
}

static void flags_and_places_tell(void **state)
{
	enum { FORKED = 0x40, IO = 0x10, USER = 0x4000 };
	static const struct {
		unsigned flags;
		const char *call, *release;
		enum worker is;
	} cases[] = {
		{ FORKED, waits, is_new, WORKER_NOT },		/* by its name alone */
		{ FORKED, runs, is_new, WORKER_NOT },
		{ FORKED | IO | USER, waits, is_new, WORKER_IS },
		{ FORKED | IO | USER, created, is_new, WORKER_IS },
		{ FORKED | IO | USER, runs, is_new, WORKER_IS },
		{ FORKED | USER, waits, is_new, WORKER_IS },
		{ IO, in_call, is_new, WORKER_NOT },
		{ IO, in_page, is_new, WORKER_NOT },
		{ IO, "", is_new, WORKER_PERHAPS },
		{ IO, runs, "5.12.0", WORKER_IS },
		{ IO, runs, "5.11.22", WORKER_PERHAPS },
		{ IO, waits, "5.11.22", WORKER_IS },
		{ USER, runs, "6.4", WORKER_IS },
		{ USER, runs, "6.3.9", WORKER_PERHAPS },
		{ USER, runs, "", WORKER_PERHAPS },
		{ IO | USER, runs, "5.15.0-91-generic", WORKER_IS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(told(cases[i].flags, cases[i].call, cases[i].release),
				 cases[i].is);
	assert_int_equal(worker_told("", waits, is_new), WORKER_NOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_and_places_tell),
	};

	(void)cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
