/* test_perf_branches.c - what the kernel is asked for where branch stacks are wanted */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>
#include <cmocka.h>

#include "monitor/perf_branches.h"

static struct perf_event_attr attr_of(unsigned kind, unsigned hz, bool ip)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TIME, .exclude_idle = 1,
					.exclude_hv = 1 };

	perf_branches_attr(kind, hz, ip, &attr);
	assert_int_equal(attr.branch_sample_type,
			 PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY);
	assert_int_equal(attr.exclude_kernel, 1);
	return attr;
}

static void samples_have_the_mark_and_the_stack(void **state)
{
	const uint64_t asked = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK;

	(void)state;
	for (unsigned kind = 0; kind < PERF_BRANCHES_KINDS; kind++) {
		assert_int_equal(attr_of(kind, 10, false).sample_type, asked);
		assert_int_equal(attr_of(kind, 10, true).sample_type, asked | PERF_SAMPLE_IP);
	}
}

static void cycles_come_at_a_rate(void **state)
{
	struct perf_event_attr attr = attr_of(0, 50, false);

	(void)state;
	assert_int_equal(attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(attr.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(attr.freq, 1);
	assert_int_equal(attr.sample_freq, 50);
}

/* An odd period: it shares no factor with a loop of 2, 4, 8 branches. */
static void taken_branches_come_by_their_number(void **state)
{
	struct perf_event_attr attr = attr_of(1, 50, false);

	(void)state;
	assert_int_equal(attr.type, PERF_TYPE_RAW);
	assert_int_equal(attr.config, 0xc4);
	assert_int_equal(attr.freq, 0);
	assert_int_equal(attr.sample_period, 20000001);
	assert_int_equal(attr.exclude_idle, 0);
	assert_int_equal(attr.exclude_hv, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_have_the_mark_and_the_stack),
		cmocka_unit_test(cycles_come_at_a_rate),
		cmocka_unit_test(taken_branches_come_by_their_number),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
