/* test_restart.c - which system calls a stop would change, and how they are made again */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
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
		{ SYS_io_uring_enter, 3, 1, 9, RESTART_EXACT },
		{ SYS_semop, NO, 0, 0, RESTART_EXACT },
		{ SYS_openat, NO, 0, 0, RESTART_EXACT },
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
		{ SYS_vfork, NO, 0, 0, RESTART_UNKNOWN },
		{ SYS_clone, NO, 0, 0, RESTART_UNKNOWN },
		{ SYS_close, NO, 0, 0, RESTART_UNKNOWN },
		{ 100000, NO, 0, 0, RESTART_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		uint64_t arg[6] = { 5, 5, 5, 5, 5, 5 };

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
		{ SYS_nanosleep, -516, false },	    { SYS_nanosleep, -EINTR, false },
		{ SYS_close, -EINTR, false },	    { -1, -EINTR, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
		struct user_regs_struct r = { .orig_rax = (unsigned long long)stops[i].nr,
					      .rax = (unsigned long long)stops[i].result,
					      .rip = 0x1000 };

		assert_int_equal(restart_fix(&r), stops[i].mended);
		assert_true((long)r.rax == (stops[i].mended ? -514 : stops[i].result));
		assert_true(r.rip == 0x1000 && (long)r.orig_rax == stops[i].nr);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_is_of_its_kind),
		cmocka_unit_test(half_a_message_is_not_lost),
		cmocka_unit_test(only_what_the_stop_has_broken_is_mended),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
