/* test_restart.c - which system calls a stop would change, and how they are made again */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "live/restart.h"

static void each_call_is_of_its_kind(void **state)
{
	enum { NO = -1 };	/* argument that is the limit */
	static const struct {
		long nr;
		int limit;
		uint64_t none, some;
		enum restart kind;
	} calls[] = {
		{ SYS_epoll_wait, 3, UINT32_MAX, 100, RESTART_EXACT },
		{ SYS_epoll_pwait, 3, UINT64_MAX, 0, RESTART_EXACT },
		{ SYS_epoll_pwait2, 3, 0, 0x7fff0000, RESTART_EXACT },
		{ SYS_semtimedop, 3, 0, 0x7fff0000, RESTART_EXACT },
		{ SYS_rt_sigtimedwait, 2, 0, 0x7fff0000, RESTART_EXACT },
		{ SYS_io_getevents, 4, 0, 0x7fff0000, RESTART_EXACT },
		{ SYS_semop, NO, 0, 0, RESTART_EXACT },
		{ SYS_openat, NO, 0, 0, RESTART_EXACT },
		{ SYS_fallocate, NO, 0, 0, RESTART_EXACT },
		{ SYS_pread64, NO, 0, 0, RESTART_READ },
		{ SYS_newfstatat, NO, 0, 0, RESTART_EXACT },
		{ SYS_unlink, NO, 0, 0, RESTART_UNKNOWN },
		{ SYS_read, NO, 0, 0, RESTART_RECEIVE },
		{ SYS_accept4, NO, 0, 0, RESTART_RECEIVE },
		{ SYS_connect, NO, 0, 0, RESTART_CONNECT },
		{ SYS_write, NO, 0, 0, RESTART_PARTIAL },
		{ SYS_sendmsg, NO, 0, 0, RESTART_PARTIAL },
		{ SYS_recvmmsg, NO, 0, 0, RESTART_PARTIAL },
		{ SYS_poll, NO, 0, 0, RESTART_KERNEL },
		{ SYS_futex, NO, 0, 0, RESTART_KERNEL },
		{ 449, NO, 0, 0, RESTART_KERNEL },	/* futex_waitv */
		{ 455, NO, 0, 0, RESTART_KERNEL },	/* futex_wait */
		{ SYS_vfork, NO, 0, 0, RESTART_UNKNOWN },
		{ SYS_clone, NO, 0, 0, RESTART_UNKNOWN },
		{ SYS_close, NO, 0, 0, RESTART_UNKNOWN },
		{ 100000, NO, 0, 0, RESTART_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		uint64_t arg[6] = { 5, 1, 5, 5, 5, 5 };

		if (calls[i].limit >= 0)
			arg[calls[i].limit] = calls[i].none;
		assert_int_equal(restart_kind(calls[i].nr, arg), calls[i].kind);
		if (calls[i].limit < 0)
			continue;
		arg[calls[i].limit] = calls[i].some;
		assert_int_equal(restart_kind(calls[i].nr, arg), RESTART_LIMITED);
	}
}

/* MSG_WAITALL: what came so far would be all. */
static void half_a_message_is_not_lost(void **state)
{
	uint64_t arg[6] = { 0 };

	(void)state;
	assert_int_equal(restart_kind(SYS_recvfrom, arg), RESTART_RECEIVE);
	arg[3] = 0x100;
	assert_int_equal(restart_kind(SYS_recvfrom, arg), RESTART_PARTIAL);
	assert_int_equal(restart_kind(SYS_recvmsg, arg), RESTART_RECEIVE);
	arg[2] = 0x100;
	assert_int_equal(restart_kind(SYS_recvmsg, arg), RESTART_PARTIAL);
}

/* What was submitted, or has come, would be the result. */
static void half_of_the_events_are_not_lost(void **state)
{
	uint64_t uring[6] = { 5, 1, 1, 1, 0, 0 }, aio[6] = { 5, 2, 8, 0, 0, 0 };

	(void)state;
	assert_int_equal(restart_kind(SYS_io_uring_enter, uring), RESTART_PARTIAL);
	uring[2] = 0;		/* waits for none */
	assert_int_equal(restart_kind(SYS_io_uring_enter, uring), RESTART_EXACT);
	uring[2] = 2, uring[1] = 0;
	assert_int_equal(restart_kind(SYS_io_uring_enter, uring), RESTART_PARTIAL);
	uring[2] = 1;
	assert_int_equal(restart_kind(SYS_io_uring_enter, uring), RESTART_EXACT);
	uring[3] = 9;		/* with a limit */
	assert_int_equal(restart_kind(SYS_io_uring_enter, uring), RESTART_UNSEEN);
	assert_int_equal(restart_kind(SYS_io_getevents, aio), RESTART_PARTIAL);
	aio[4] = 4096;
	assert_int_equal(restart_kind(SYS_io_pgetevents, aio), RESTART_PARTIAL);
	aio[1] = 1;
	assert_int_equal(restart_kind(SYS_io_getevents, aio), RESTART_LIMITED);
}

static void what_counts_twice_is_not_made_twice(void **state)
{
	uint64_t arg[6] = { 5, 8 }, drain[6] = { 5, TCSBRK, 1 }, run[6] = { 5, 0xae80 };
	struct user_regs_struct r = { .orig_rax = SYS_fallocate, .rsi = 32,
				      .rax = (unsigned long long)-EINTR };

	(void)state;
	assert_int_equal(restart_kind(SYS_fallocate, arg), RESTART_UNKNOWN);
	assert_int_equal(restart_kind(SYS_ioctl, arg), RESTART_UNKNOWN);
	assert_int_equal(restart_kind(SYS_ioctl, drain), RESTART_EXACT);
	assert_int_equal(restart_kind(SYS_ioctl, run), RESTART_EXACT);
	for (uint64_t flag = 0; flag <= 128; flag += 128) {	/* FUTEX_PRIVATE_FLAG */
		uint64_t moved[6] = { 5, 11 | flag }, bits[6] = { 5, 9 | flag };

		assert_int_equal(restart_kind(SYS_futex, moved), RESTART_UNKNOWN);
		assert_int_equal(restart_kind(SYS_futex, bits), RESTART_KERNEL);
	}
	assert_false(restart_fix(&r, false));
	r.rsi = 1;
	assert_true(restart_fix(&r, false));
}

static void where_limits_are_written_is_known(void **state)
{
	uint64_t arg[6] = { 0, 10, 20, 30, 40, 50 };

	(void)state;
	assert_int_equal(restart_writes_left(SYS_select, arg), 40);
	assert_int_equal(restart_writes_left(SYS_pselect6, arg), 40);
	assert_int_equal(restart_writes_left(SYS_ppoll, arg), 20);
	assert_int_equal(restart_writes_left(SYS_nanosleep, arg), 10);
	assert_int_equal(restart_writes_left(SYS_poll, arg), 0);
	assert_true(restart_limits(SYS_ppoll));
	assert_false(restart_limits(SYS_nanosleep));
}

static void only_what_the_stop_has_broken_is_mended(void **state)
{
	static const struct {
		long nr, result;
		bool mended;
	} stops[] = {
		{ SYS_epoll_wait, -EINTR, true },   { SYS_semop, -EINTR, true },
		{ SYS_read, -EINTR, true },	    { SYS_rt_sigtimedwait, -EINTR, true },
		{ SYS_sendto, -EINTR, true },	    { SYS_epoll_wait, -EBADF, false },
		{ SYS_epoll_wait, 0, false },	    { SYS_epoll_wait, -514, false },
		{ SYS_pselect6, -EINTR, true },	    { SYS_ppoll, -EINTR, true },
		{ SYS_nanosleep, -516, false },	    { SYS_nanosleep, -EINTR, false },
		{ SYS_close, -EINTR, false },	    { -1, -EINTR, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
		struct user_regs_struct r = { .orig_rax = (unsigned long long)stops[i].nr,
					      .rax = (unsigned long long)stops[i].result,
					      .rip = 0x1000 };

		assert_int_equal(restart_fix(&r, false), stops[i].mended);
		assert_true((long)r.rax == (stops[i].mended ? -514 : stops[i].result));
		assert_true(r.rip == 0x1000 && (long)r.orig_rax == stops[i].nr);
	}
}

static void what_polls_for_ever_needs_no_other_number(void **state)
{
	struct user_regs_struct r = { .orig_rax = SYS_poll, .rdx = (uint32_t)-1,
				      .rax = (unsigned long long)-516 };

	(void)state;
	assert_true(restart_fix(&r, false));
	assert_true((long)r.rax == -514);
	r.rax = (unsigned long long)-516;
	r.rdx = 1000;
	assert_false(restart_fix(&r, false));
	assert_true((long)r.rax == -516);
}

static void what_may_end_by_its_limit_is_known(void **state)
{
	(void)state;
	assert_true(restart_has_limit(RESTART_LIMITED, SYS_epoll_wait));
	assert_true(restart_has_limit(RESTART_UNSEEN, SYS_recvfrom));
	assert_true(restart_has_limit(RESTART_PARTIAL, SYS_io_getevents));
	assert_false(restart_has_limit(RESTART_PARTIAL, SYS_write));
	assert_false(restart_has_limit(RESTART_UNKNOWN, SYS_unlink));
	assert_false(restart_has_limit(RESTART_EXACT, SYS_epoll_wait));
}

/* Who may not make restart_syscall() makes the call itself. */
static void who_is_filtered_needs_none_either(void **state)
{
	static const struct {
		long nr;
		uint64_t arg[4];
		bool by_another;
	} calls[] = {
		{ SYS_nanosleep, { 8, 0 }, true }, { SYS_clock_nanosleep, { 1, 0, 8 }, true },
		{ SYS_clock_nanosleep, { 1, 1, 8 }, false }, { SYS_poll, { 8, 1, 9 }, true },
		{ SYS_poll, { 8, 1, UINT32_MAX }, false }, { SYS_ppoll, { 8, 1, 8 }, false },
		{ SYS_futex, { 8, 128, 1, 8 }, true }, { SYS_futex, { 8, 128, 1, 0 }, false },
		{ SYS_futex, { 8, 137, 1, 8 }, false },
	};
	struct user_regs_struct r = { .orig_rax = SYS_nanosleep,
				      .rax = (unsigned long long)-516 };

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		uint64_t arg[6] = { 0 };

		memcpy(arg, calls[i].arg, sizeof(calls[i].arg));
		assert_int_equal(restart_is_by_another(calls[i].nr, arg), calls[i].by_another);
	}
	assert_true(restart_fix(&r, true));
	assert_true((long)r.rax == -514);
	assert_false(restart_fix(&r, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_is_of_its_kind),
		cmocka_unit_test(half_a_message_is_not_lost),
		cmocka_unit_test(half_of_the_events_are_not_lost),
		cmocka_unit_test(what_counts_twice_is_not_made_twice),
		cmocka_unit_test(where_limits_are_written_is_known),
		cmocka_unit_test(only_what_the_stop_has_broken_is_mended),
		cmocka_unit_test(what_polls_for_ever_needs_no_other_number),
		cmocka_unit_test(who_is_filtered_needs_none_either),
		cmocka_unit_test(what_may_end_by_its_limit_is_known),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
