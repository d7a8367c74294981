/* test_perf_tick.c - ticks are told from other timers, where the kernel lets us */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/err.h"
#include "monitor/kernelnames.h"
#include "monitor/perf_sysfs.h"
#include "monitor/perf_tick.h"

static void filters_are_as_the_kernel_reads_them(void **state)
{
	const struct perf_tick all = { .id = 1 },
			       alone = { .id = 1, .handler = 0xffffffff814330e0 };
	char got[PERF_TICK_FILTER];

	(void)state;
	perf_tick_filter(&all, false, got);
	assert_string_equal(got, "");
	perf_tick_filter(&all, true, got);
	assert_string_equal(got, "common_pid != 0");
	perf_tick_filter(&alone, false, got);
	assert_string_equal(got, "function == 0xffffffff814330e0");
	perf_tick_filter(&alone, true, got);
	assert_string_equal(got, "common_pid != 0 && function == 0xffffffff814330e0");
}

static void without_names_all_timers_are_taken(void **state)
{
	struct perf_tick t = { .handler = 1 };
	struct err err;
	uint64_t id;

	(void)state;
	if (sysfs_tracepoint("irq_vectors/local_timer_entry", &id, &err) < 0)
		skip();
	assert_int_equal(perf_tick_find(NULL, &t, &err), 0);
	assert_int_equal(t.id, id);
	assert_int_equal(t.handler, 0);
	assert_string_equal(t.untold.text, "where the tick's handler is cannot be seen");
}

/* A procedure that is no timer's handler is never met: that is noticed. */
static void another_procedure_is_not_the_handler(void **state)
{
	const char text[] = "ffffffff81000000 t tick_nohz_handler\n"
			    "ffffffff81000010 t another\n";
	struct perf_tick t = { .handler = 1 };
	struct err err;
	uint64_t id;

	(void)state;
	if (geteuid() != 0 || sysfs_tracepoint("timer/hrtimer_expire_entry", &id, &err) < 0)
		skip();
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	struct kernelnames *names = kernelnames_read(fd, &err);
	assert_non_null(names);
	int rc = perf_tick_find(names, &t, &err);
	kernelnames_free(names);
	if (rc < 0)
		skip();
	assert_int_equal(t.handler, 0);
	assert_string_equal(t.untold.text, "the tick is not one timer of many here");
}

static void the_handler_of_this_kernel_is_met(void **state)
{
	struct perf_tick t = { .handler = 0 };
	struct err err;
	uint64_t id;

	(void)state;
	if (geteuid() != 0 || sysfs_tracepoint("timer/hrtimer_expire_entry", &id, &err) < 0)
		skip();
	int fd = kernelnames_open(&err);
	struct kernelnames *names = fd < 0 ? NULL : kernelnames_read(fd, &err);
	if (!names)
		skip();
	int rc = perf_tick_find(names, &t, &err);
	const char *of = t.handler ? kernelnames_at(names, t.handler) : "";
	print_message("%s %s\n", of, t.untold.text);
	assert_int_equal(rc, 0);
	assert_true(!t.handler || (t.id == id && strncmp(of, "tick_", 5) == 0));
	assert_true(t.handler || t.untold.text[0]);
	kernelnames_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_are_as_the_kernel_reads_them),
		cmocka_unit_test(without_names_all_timers_are_taken),
		cmocka_unit_test(another_procedure_is_not_the_handler),
		cmocka_unit_test(the_handler_of_this_kernel_is_met),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
