/* test_perftext.c - lines as versions of `perf script` write them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "tests/unit/told.h"

static struct told told;
static struct import_counts counts;
static struct err err;

static int read_text(const char *text)
{
	const struct import_sink sink = told_sink(&told);
	struct arena *a = arena_new();

	int rc = perftext_read((struct bytes){ (const uint8_t *)text, strlen(text) }, a, &sink,
			       &counts, &err);
	arena_free(a);
	return rc;
}

static void says(const char *text, const char *want)
{
	assert_int_equal(read_text(text), 0);
	assert_string_equal(told.text, want);
}

static void branches_with_their_flags(void **state)
{
	(void)state;
	says("  5595/5596  914937.301714:      5629ec742901 "
	     "0x5629ec7428f4/0x5629ec742901/P/-/-/19/  0x10/0x20/M/-/-/1  0x30/0x40/P/X/-/0/  "
	     "0x50/0x60/-/-/A/0 \n",
	     "914937301714000 5595/5596 sample 5629ec742901\n"
	     "914937301714000 5595/5596 stack 5629ec7428f4-5629ec742901 10-20m 30-40x "
	     "50-60a\n");
	assert_int_equal(counts.samples, 1);
	assert_int_equal(counts.stacks, 1);
	assert_int_equal(counts.unknown, 0);
	/* and what newer ones put behind */
	says("7 1.5: 0x10/0x20/P/-/-/4/COND/NON_SPEC_CORRECT_PATH/-\n",
	     "1500000000 7/7 stack 10-20\n");
}

static void names_processors_events_symbols_and_files_are_passed_over(void **state)
{
	(void)state;
	/* lines of mappings say that addresses are addresses */
	says("p 41 1.0: PERF_RECORD_MMAP2 41/41: [0x400000(0x2000) @ 0 08:01 9 0]: r-xp "
	     "/bin/p\n"
	     "a 12 name  41/42 [003]   12.000000001:     251003 cycles:u:      401000 "
	     "main+0x10 (/bin/p with 0x1/0x2)  0x401010(/bin/p)/0x401020(/bin/p)/P/-/-/0\n",
	     "1000000000 41/41 mmap 400000+2000@0 8:1 9 /bin/p\n"
	     "12000000001 41/42 sample 401000\n"
	     "12000000001 41/42 stack 401010-401020\n");
	says("p 41 12.0: cycles:  ffffffff81000000 [unknown] ([kernel.kallsyms])\n",
	     "12000000000 41/41 sample ffffffff81000000 kernel\n");
}

static void mappings_and_processes(void **state)
{
	(void)state;
	says("# a comment\n"
	     "p 5/5 1.0: PERF_RECORD_COMM exec: my prog:5/5\n"
	     "p 5/5 1.1: PERF_RECORD_COMM: thread:5/6\n"
	     "p 5/5 2.0: PERF_RECORD_MMAP2 5/5: [0x401000(0x1000) @ 0x1000 08:1f 2006 77]: "
	     "r-xp /bin/my prog\n"
	     "p 5/5 2.0: PERF_RECORD_MMAP2 5/5: [0x402000(0x1000) @ 0 08:1f 2006 77]: r--p "
	     "/bin/d\n"
	     "p 5/5 3.0: PERF_RECORD_FORK(6:6):(5:5)\n"
	     "p 5/5 4.0: PERF_RECORD_EXIT(6:6):(5:5)\n"
	     "p 5/5 5.0: 401000\n",
	     "1000000000 5/5 exec \n"
	     "2000000000 5/5 mmap 401000+1000@1000 8:31 2006 /bin/my prog\n"
	     "3000000000 6/6 fork of 5\n"
	     "4000000000 6/6 kind 5 0\n"
	     "5000000000 5/5 sample 401000\n");
	assert_int_equal(counts.unknown, 0);
}

static void offsets_need_no_mappings(void **state)
{
	(void)state;
	says("7 1.0: 401000 0x10(/bin/p)/0x20(/bin/p)/P/-/-/0 "
	     "0x30(/lib/l.so)/0x20(/bin/p)/P/-/-/0 0x40([unknown])/0x1(/bin/p)/P/-/-/0\n"
	     "7 2.0: 0x50(/bin/p)/0x60(/bin/p)/P/-/-/0\n",
	     "1000000000 2147483647/2147483647 mmap 1000000000000+100000000@0 4294967295:0 1 "
	     "/bin/p\n"
	     "1000000000 2147483647/2147483647 mmap 1000100000000+100000000@0 4294967295:0 1 "
	     "/lib/l.so\n"
	     "1000000000 7/7 sample 401000\n"
	     "1000000000 2147483647/2147483647 stack 1000000000010-1000000000020 "
	     "1000100000030-1000000000020 7fffffffffffffff-1000000000001\n"
	     "2000000000 2147483647/2147483647 stack 1000000000050-1000000000060\n");
}

static void offsets_stay_offsets_beside_mappings(void **state)
{
	(void)state;
	/* the first file is mapped elsewhere, the second where the addresses are */
	says("7 1.0: PERF_RECORD_MMAP 7/7: [0x5629ec742000(0x2000) @ 0]: x /bin/p\n"
	     "7 1.0: PERF_RECORD_MMAP2 7/7: [0x5629ec742000(0x2000) @ 0 08:01 9 0]: "
	     "r-xp /bin/p\n"
	     "7 1.0: PERF_RECORD_MMAP2 7/7: [0x400000(0x2000) @ 0 08:01 8 0]: r-xp /bin/q\n"
	     "7 2.0: 0x10(/bin/p)/0x20(/bin/p)/P/-/-/0\n"
	     "7 3.0: 0x401010(/bin/q)/0x401020(/bin/q)/P/-/-/0\n"
	     "7 4.0: 0x402010(/bin/q)/0x401020(/bin/q)/P/-/-/0\n",
	     "1000000000 7/7 mmap 5629ec742000+2000@0 4294967295:0 1 /bin/p\n"
	     "1000000000 7/7 mmap 5629ec742000+2000@0 8:1 9 /bin/p\n"
	     "1000000000 7/7 mmap 400000+2000@0 8:1 8 /bin/q\n"
	     "2000000000 2147483647/2147483647 mmap 1000000000000+100000000@0 4294967295:0 1 "
	     "/bin/p\n"
	     "2000000000 2147483647/2147483647 stack 1000000000010-1000000000020\n"
	     "3000000000 7/7 stack 401010-401020\n"
	     "4000000000 2147483647/2147483647 mmap 1000100000000+100000000@0 4294967295:0 1 "
	     "/bin/q\n"
	     "4000000000 2147483647/2147483647 stack 1000100402010-1000100401020\n");
}

static void events_may_have_slashes(void **state)
{
	(void)state;
	says("p 41 12.0: cpu/cycles/u:  401000 main (/bin/p)\n"
	     "p 41 12.0:   251003 cpu/cycles/u:  401000 0x10/0x20/P/-/-/0\n"
	     "p 41 12.0: cpu/cycles/u: 0x10/0x20/P/-/-/0\n",
	     "12000000000 41/41 sample 401000\n"
	     "12000000000 41/41 sample 401000\n"
	     "12000000000 41/41 stack 10-20\n"
	     "12000000000 41/41 stack 10-20\n");
	assert_int_equal(counts.unknown, 0);
}

static void what_is_no_such_text_is_an_error(void **state)
{
	static const char *const text[] = {
		"", "\n", "7\n", "7 1.0\n", "7 1.0:\n", "7 1.0: \n", "7 1.0: main\n", "x y z\n",
		"7 1.0: PERF_RECORD_MMAP2 5/5: [0x401000(0x1000) @ 0 08:01 1\n",
		"7 1.0: PERF_RECORD_MMAP2 5/5: [0xfffffffffffffffff(0x1000) @ 0]: r-xp /p\n",
		"7 1.0: PERF_RECORD_COMM exec:\n", "7 1.0: PERF_RECORD_FORK(\n",
		"7 1.0: 0x1/\n", "7 1.0: 0x1/0x\n", "7 1.0: 0x1(/0x2/P\n", "7 1.0: 0x1/0x2\n",
		"7 99999999999999999999.0: 401000\n", "99999999999 1.0: 401000\n",
		"7 1.1234567890: 401000\n",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		assert_int_equal(read_text(text[i]), -1);
		assert_string_equal(told.text, "");
		assert_int_equal(counts.unknown, strlen(text[i]) > 1);
		assert_non_null(strstr(err.text, "neither perf.data nor text"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branches_with_their_flags),
		cmocka_unit_test(names_processors_events_symbols_and_files_are_passed_over),
		cmocka_unit_test(mappings_and_processes),
		cmocka_unit_test(offsets_need_no_mappings),
		cmocka_unit_test(offsets_stay_offsets_beside_mappings),
		cmocka_unit_test(events_may_have_slashes),
		cmocka_unit_test(what_is_no_such_text_is_an_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
