/* test_process.c - of which processes the state alone says that they are left alone, and which
 * pages were written to */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/err.h"
#include "live/maps.h"
#include "live/process.h"
#include "tests/unit/descriptors.h"

#define BEGIN "Name:\tState: Z\nUmask:\t0022\n"
#define IDS "Uid:\t5\t5\t5\t5\nGid:\t6\t6\t6\t6\n"

static const char *refusal(const char *status)
{
	static struct err err;

	return live_status_check(status, false, &err) < 0 ? err.text : NULL;
}

static void an_ordinary_one_is_not_refused(void **state)
{
	(void)state;
	assert_null(refusal(BEGIN "State:\tS (sleeping)\nTracerPid:\t0\n" IDS
			    "VmLck:\t       0 kB\nSeccomp:\t0\nx86_Thread_features:\t\n"));
	assert_null(refusal(BEGIN "State:\tR (running)\nTracerPid:\t0\n" IDS
			    "Seccomp:\t2\nSeccomp_filters:\t3\nx86_Thread_features:\t\n"
			    "x86_Thread_features_locked:\tshstk\n"));
}

static void others_are_with_the_reason(void **state)
{
	static const struct {
		const char *status, *reason;
	} all[] = {
		{ "State:\tZ (zombie)\n" IDS, "has ended" },
		{ "State:\tT (stopped)\n" IDS, "is stopped" },
		{ "State:\tt (tracing stop)\n" IDS, "tracer" },
		{ "State:\tS (sleeping)\nTracerPid:\t12\n" IDS, "tracer" },
		{ "State:\tS (sleeping)\n" IDS "Seccomp:\t1\n", "seccomp" },
		{ "State:\tS (sleeping)\n" IDS "VmLck:\t  4 kB\n", "locks memory" },
		{ "State:\tS (sleeping)\n" IDS "x86_Thread_features:\tshstk wrss\n",
		  "shadow stacks" },
		{ "State:\tS (sleeping)\nUid:\t5\t0\t5\t5\nGid:\t6\t6\t6\t6\n", "set-id" },
		{ "State:\tS (sleeping)\nUid:\t5\t5\t5\t5\nGid:\t6\t6\t7\t6\n", "set-id" },
		{ "State:\tS (sleeping)\nUid:\t5\n", "cannot be read" },
		{ "", "cannot be read" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const char *said = refusal(all[i].status);

		if (!said || !strstr(said, all[i].reason))
			fail_msg("%s: %s", all[i].status, said ? said : "not refused");
	}
}

/* What a process does later does not keep it from its original. */
static void back_it_is_asked_for_less(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(live_status_check("State:\tS (sleeping)\nVmLck:\t  4 kB\n" IDS, true,
					   &err), 0);
	assert_int_equal(live_status_check("State:\tS (sleeping)\nUid:\t5\t0\t5\t5\n"
					   "Gid:\t6\t6\t6\t6\n", true, &err), 0);
	assert_int_equal(live_status_check("State:\tT (stopped)\n" IDS, true, &err), -1);
	assert_int_equal(live_status_check("State:\tS (sleeping)\n" IDS "Seccomp:\t1\n", true,
					   &err), -1);
}

static void one_does_not_touch_oneself(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(live_process_check(getpid(), false, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_int_equal(live_process_check(1 << 30, false, &err), -1);
	assert_int_equal(err.kind, ERR_SYS);
}

/* A page that is the process's own: as the file has it, and not. */
static void what_was_written_is_compared_with_the_file(void **state)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("text", MFD_CLOEXEC);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	uint8_t *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_true(page != MAP_FAILED);
	const struct live_map m = { .start = (uintptr_t)page, .end = (uintptr_t)page + size };
	unsigned before = descriptors();
	assert_int_equal(live_process_unwritten(getpid(), &m, fd, &err), 0);
	((volatile uint8_t *)page)[7] = 0;
	assert_int_equal(live_process_unwritten(getpid(), &m, fd, &err), 0);
	page[7] = 0xcc;
	assert_int_equal(live_process_unwritten(getpid(), &m, fd, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, "breakpoint"));
	assert_int_equal(descriptors(), before);
	assert_int_equal(munmap(page, size), 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ordinary_one_is_not_refused),
		cmocka_unit_test(others_are_with_the_reason),
		cmocka_unit_test(back_it_is_asked_for_less),
		cmocka_unit_test(one_does_not_touch_oneself),
		cmocka_unit_test(what_was_written_is_compared_with_the_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
