/* test_perf_sysfs.c - numbers, lists of CPUs and ids of tracepoints */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "monitor/perf_sysfs.h"
#include "tests/unit/descriptors.h"

/* The number that TEXT begins with, and where it ends. */
static void a_number_is(const char *text, uint64_t max, int rc, uint64_t value,
			const char *rest)
{
	const char *p = text;
	uint64_t out = 77;

	assert_int_equal(sysfs_number(&p, max, &out), rc);
	assert_int_equal(out, value);
	assert_string_equal(p, rest);
}

static void numbers_have_bounds(void **state)
{
	(void)state;
	a_number_is("0", 9, 0, 0, "");
	a_number_is("1234567890,", UINT32_MAX, 0, 1234567890, ",");
	a_number_is("4294967295", UINT32_MAX, 0, UINT32_MAX, "");
	a_number_is("4294967296", UINT32_MAX, -1, 77, "4294967296");
	a_number_is("18446744073709551615-", UINT64_MAX, 0, UINT64_MAX, "-");
	a_number_is("18446744073709551616", UINT64_MAX, -1, 77, "18446744073709551616");
	a_number_is("8192", 8192, 0, 8192, "");
	a_number_is("8193", 8192, -1, 77, "8193");
	/* all but digits, with what stands beside them in ASCII */
	a_number_is("", 9, -1, 77, "");
	a_number_is("/1", 9, -1, 77, "/1");
	a_number_is(":1", 9, -1, 77, ":1");
	a_number_is("-1", 9, -1, 77, "-1");
	a_number_is("1/", 9, 0, 1, "/");
	a_number_is("9:", 9, 0, 9, ":");
}

static void cpus(const char *text, int n, const char *list)
{
	unsigned cpu[8] = { 0 };
	char got[128] = "";

	assert_int_equal(sysfs_cpus(text, cpu, 8), n);
	for (int i = 0; i < n; i++)
		(void)sprintf(got + strlen(got), "%u ", cpu[i]);
	assert_string_equal(got, n < 0 ? "" : list);
}

static void lists_of_cpus(void **state)
{
	(void)state;
	cpus("0", 1, "0 ");
	cpus("0-3", 4, "0 1 2 3 ");
	cpus("0-1,5,7-8", 5, "0 1 5 7 8 ");
	cpus("8190-8192", 3, "8190 8191 8192 ");
	cpus("", 0, "");
	cpus("0-7", 8, "0 1 2 3 4 5 6 7 ");
	cpus("0-8", 8, "0 1 2 3 4 5 6 7 ");	/* of more, the first */
	cpus("3-3", 1, "3 ");
	cpus("3-2", 0, "");
	cpus("8193", -1, "");
	cpus("0-8193", -1, "");
	cpus("0-", -1, "");
	cpus("0;1", -1, "");
	cpus(",1", -1, "");
	cpus("x", -1, "");
}

static void the_first_line_of_a_file(void **state)
{
	char name[] = "/tmp/morph-sysfs-XXXXXX", out[8];
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "ab\ncd\n", 6), 6);
	assert_int_equal(sysfs_line(name, out, sizeof(out)), 0);
	assert_string_equal(out, "ab");
	assert_int_equal(pwrite(fd, "0123456789", 10, 0), 10);
	assert_int_equal(sysfs_line(name, out, sizeof(out)), 0);
	assert_string_equal(out, "0123456");
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(sysfs_line(name, out, sizeof(out)), 0);
	assert_string_equal(out, "");
	close(fd);
	assert_int_equal(unlink(name), 0);
	strcpy(out, "kept");
	assert_int_equal(sysfs_line(name, out, sizeof(out)), -1);
	assert_int_equal(errno, ENOENT);
	assert_string_equal(out, "kept");
}

static void the_machines_own(void **state)
{
	static unsigned cpu[SYSFS_MAX_CPU];
	struct err err = { 0 };
	unsigned before = descriptors();
	int n = sysfs_online(cpu, SYSFS_MAX_CPU, &err);

	(void)state;
	assert_int_equal(n, sysconf(_SC_NPROCESSORS_ONLN));
	for (int i = 1; i < n; i++)
		assert_true(cpu[i] > cpu[i - 1]);
	assert_int_equal(descriptors(), before);	/* none stays open */
}

static void a_rate_is_one_that_the_kernel_takes(void **state)
{
	struct err err = { 0 };
	char text[32] = "";

	(void)state;
	assert_int_equal(sysfs_check_rate(0, 100, &err), -1);
	assert_string_equal(err.text, "sampling rate 0 is outside 1..100 1/s");
	assert_int_equal(err.kind, ERR_USAGE);
	assert_int_equal(sysfs_check_rate(101, 100, &err), -1);
	assert_string_equal(err.text, "sampling rate 101 is outside 1..100 1/s");
	assert_int_equal(sysfs_check_rate(1, 100, &err), 0);
	assert_int_equal(sysfs_check_rate(100, 100, &err), 0);
	if (sysfs_line("/proc/sys/kernel/perf_event_max_sample_rate", text, sizeof(text)) < 0)
		skip();
	unsigned most = (unsigned)strtoul(text, NULL, 10);
	assert_int_equal(sysfs_check_rate(most, most + 1, &err), 0);
	assert_int_equal(sysfs_check_rate(most + 1, most + 1, &err), -1);
	assert_non_null(strstr(err.text, "the kernel holds samples down to"));
}

/* Whatever mounts there are: the same id, none of what is no tracepoint, nothing left open. */
static void tracepoints_have_ids(void **state)
{
	struct err err = { 0 };
	uint64_t switched = 0, exec = 0;
	unsigned before = descriptors();

	(void)state;
	if (geteuid() != 0 || sysfs_tracepoint("sched/sched_switch", &switched, &err) < 0)
		skip();
	assert_int_equal(sysfs_tracepoint("sched/sched_process_exec", &exec, &err), 0);
	assert_true(switched > 0 && exec > 0 && switched != exec);
	assert_int_equal(sysfs_tracepoint("sched/no_such_thing", &exec, &err), -1);
	assert_int_equal(err.kind, ERR_SYS);
	assert_non_null(strstr(err.text, "no_such_thing"));
	assert_int_equal(descriptors(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_bounds),
		cmocka_unit_test(lists_of_cpus),
		cmocka_unit_test(the_first_line_of_a_file),
		cmocka_unit_test(the_machines_own),
		cmocka_unit_test(a_rate_is_one_that_the_kernel_takes),
		cmocka_unit_test(tracepoints_have_ids),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
