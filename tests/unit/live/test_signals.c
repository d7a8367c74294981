/* test_signals.c - what the process ignores, what waits, and what a call holds off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/signals.h"

static uint64_t bit(int signal_no)
{
	return UINT64_C(1) << (signal_no - 1);
}

static void nothing(int signal_no)
{
	(void)signal_no;
}

static void what_is_ignored_is_known(void **state)
{
	(void)state;
	(void)signal(SIGUSR1, SIG_IGN);
	(void)signal(SIGWINCH, nothing);
	uint64_t ignored = signals_ignored(getpid());
	assert_true(ignored & bit(SIGUSR1));
	assert_true(ignored & bit(SIGCHLD));
	assert_true(ignored & bit(SIGURG));
	assert_true(ignored & bit(SIGCONT));
	assert_false(ignored & bit(SIGWINCH));
	assert_false(ignored & bit(SIGUSR2));
}

static void what_waits_is_known(void **state)
{
	sigset_t usr2, term;

	(void)state;
	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &usr2, NULL);
	(void)sigprocmask(SIG_BLOCK, &term, NULL);
	assert_int_equal(signals_waiting(getpid(), gettid()), 0);
	(void)raise(SIGUSR2);		/* for the thread */
	(void)kill(getpid(), SIGTERM);	/* for the process */
	assert_int_equal(signals_waiting(getpid(), gettid()), bit(SIGUSR2) | bit(SIGTERM));
	(void)signal(SIGUSR2, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
}

/* Its arguments are 0 but for the one that leads to the mask. */
static struct user_regs_struct in_call(long nr, int at, const void *leads)
{
	uint64_t a[6] = { 0 };

	a[at] = (uint64_t)(uintptr_t)leads;
	return (struct user_regs_struct){
		.orig_rax = (unsigned long long)nr, .rax = (unsigned long long)-514,
		.cs = 0x33, .rdi = a[0], .rsi = a[1], .rdx = a[2], .r10 = a[3], .r8 = a[4],
		.r9 = a[5] };
}

static void each_call_has_its_mask(void **state)
{
	static const uint64_t held = 0x204;
	static const uint64_t with_all = 0x204 | 1 << (SIGKILL - 1) | 1 << (SIGSTOP - 1);
	static const struct { const uint64_t *mask; size_t size; } far = { &held, 8 },
		none = { NULL, 8 };
	static const struct { long nr; int at; const void *leads; } calls[] = {
		{ SYS_ppoll, 3, &held }, { SYS_pselect6, 5, &far },
		{ SYS_rt_sigsuspend, 0, &with_all }, { SYS_epoll_pwait, 4, &held },
		{ SYS_epoll_pwait2, 4, &held }, { SYS_io_pgetevents, 5, &far },
	};
	struct user_regs_struct r;
	uint64_t mask;

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		r = in_call(calls[i].nr, calls[i].at, calls[i].leads);
		assert_true(signals_may_be_held(&r));
		assert_true(signals_held(getpid(), &r, &mask));
		assert_int_equal(mask, held);
		r = in_call(calls[i].nr, calls[i].at, NULL);
		assert_false(signals_may_be_held(&r));
		assert_false(signals_held(getpid(), &r, &mask));
	}
	r = in_call(SYS_pselect6, 5, &none);
	assert_false(signals_held(getpid(), &r, &mask));
	r = in_call(SYS_io_uring_enter, 4, &held);
	assert_false(signals_may_be_held(&r));
	r.r10 = 1;			/* it waits */
	assert_true(signals_held(getpid(), &r, &mask));
	assert_int_equal(mask, held);
	r = in_call(SYS_io_uring_enter, 4, &far);
	r.r10 = 1 | 8;			/* more arguments */
	assert_true(signals_held(getpid(), &r, &mask));
	assert_int_equal(mask, held);
}

static void nobody_else_has_one(void **state)
{
	static const uint64_t held = 0x204;
	struct user_regs_struct r = in_call(SYS_ppoll, 3, &held);

	(void)state;
	r.rax = 1;			/* it is over */
	assert_false(signals_may_be_held(&r));
	r = in_call(SYS_ppoll, 3, &held);
	r.cs = 0x23;
	assert_false(signals_may_be_held(&r));
	r = in_call(SYS_poll, 3, &held);
	assert_false(signals_may_be_held(&r));
	r.orig_rax = (unsigned long long)-1;
	assert_false(signals_may_be_held(&r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_ignored_is_known),
		cmocka_unit_test(what_waits_is_known),
		cmocka_unit_test(each_call_has_its_mask),
		cmocka_unit_test(nobody_else_has_one),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
