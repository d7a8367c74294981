/* test_rest.c - what is left of a system call that was cut short, by the registers it left */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "live/rest.h"

/* Where a thread of 64-bit code stands behind its call. */
static const uint8_t code[] = { 0x0f, 0x05, 0xc3 };
static char buffer[100];

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* Behind a call of which `done` was done. */
static struct user_regs_struct after(long nr, int64_t done, const uint64_t a[6])
{
	return (struct user_regs_struct){
		.orig_rax = (unsigned long long)nr, .rax = (unsigned long long)done,
		.rip = at(code + 2), .cs = 0x33, .rdi = a[0], .rsi = a[1], .rdx = a[2],
		.r10 = a[3], .r8 = a[4], .r9 = a[5], .rbx = 77 };
}

static void check_part(const struct user_regs_struct *regs, long nr, const uint64_t a[6],
		       uint64_t whole)
{
	struct rest_part p;

	assert_true(rest_may_be(regs));
	assert_true(rest_next(getpid(), regs, REST_ALL, &p));
	assert_int_equal(p.regs.rax, nr);
	assert_int_equal((int64_t)p.regs.orig_rax, -1);
	assert_int_equal(p.regs.rip, at(code));
	assert_int_equal(p.regs.rbx, 77);
	assert_int_equal(p.regs.rdi, a[0]);
	assert_int_equal(p.regs.rsi, a[1]);
	assert_int_equal(p.regs.rdx, a[2]);
	assert_int_equal(p.regs.r10, a[3]);
	assert_int_equal(p.whole, whole);
}

static void a_buffer_goes_on_where_it_was_left(void **state)
{
	uint64_t to = at(buffer);
	struct user_regs_struct r = after(SYS_write, 30, (uint64_t[6]){ 5, to, 100, 9 });

	(void)state;
	check_part(&r, SYS_write, (uint64_t[6]){ 5, to + 30, 70, 9 }, 70);
	r = after(SYS_getrandom, 30, (uint64_t[6]){ to, 100, 1 });
	check_part(&r, SYS_getrandom, (uint64_t[6]){ to + 30, 70, 1 }, 70);
	r = after(SYS_recvfrom, 30, (uint64_t[6]){ 5, to, 100, MSG_WAITALL });
	check_part(&r, SYS_recvfrom, (uint64_t[6]){ 5, to + 30, 70, MSG_WAITALL }, 70);
	/* nobody gets a signal for what was sent before */
	r = after(SYS_sendto, 30, (uint64_t[6]){ 5, to, 100, MSG_MORE });
	check_part(&r, SYS_sendto,
		   (uint64_t[6]){ 5, to + 30, 70, MSG_MORE | MSG_NOSIGNAL }, 70);
}

static void buffers_follow_each_other(void **state)
{
	struct iovec v[3] = { { buffer, 10 }, { buffer, 0 }, { buffer + 50, 40 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 3 };
	struct user_regs_struct r = after(SYS_writev, 4, (uint64_t[6]){ 5, at(v), 3 });
	struct rest_part p;

	(void)state;
	check_part(&r, SYS_write, (uint64_t[6]){ 5, at(buffer + 4), 6 }, 6);
	r.rax = 10;
	check_part(&r, SYS_write, (uint64_t[6]){ 5, at(buffer + 50), 40 }, 40);
	r.rax = 50;
	assert_false(rest_next(getpid(), &r, REST_ALL, &p));
	r = after(SYS_pwritev2, 4, (uint64_t[6]){ 5, at(v), 3, UINT64_MAX });
	check_part(&r, SYS_write, (uint64_t[6]){ 5, at(buffer + 4), 6, UINT64_MAX }, 6);
	r = after(SYS_preadv, 11, (uint64_t[6]){ 5, at(v), 3, 7 });
	check_part(&r, SYS_read, (uint64_t[6]){ 5, at(buffer + 51), 39, 7 }, 39);
	r = after(SYS_preadv2, 11, (uint64_t[6]){ 5, at(v), 3, 7 });
	check_part(&r, SYS_read, (uint64_t[6]){ 5, at(buffer + 51), 39, 7 }, 39);
	/* the number of read() is 0 */
	r = after(SYS_readv, 11, (uint64_t[6]){ 5, at(v), 3 });
	check_part(&r, SYS_read, (uint64_t[6]){ 5, at(buffer + 51), 39 }, 39);
	r = after(SYS_sendmsg, 11, (uint64_t[6]){ 5, at(&m), MSG_MORE });
	check_part(&r, SYS_sendto, (uint64_t[6]){ 5, at(buffer + 51), 39,
						  MSG_MORE | MSG_NOSIGNAL }, 39);
	r = after(SYS_recvmsg, 9, (uint64_t[6]){ 5, at(&m), MSG_WAITALL });
	check_part(&r, SYS_recvfrom, (uint64_t[6]){ 5, at(buffer + 9), 1, MSG_WAITALL }, 1);
	/* what cannot be read has no rest */
	r = after(SYS_writev, 4, (uint64_t[6]){ 5, 16, 3 });
	assert_false(rest_next(getpid(), &r, REST_ALL, &p));
	r = after(SYS_writev, 4, (uint64_t[6]){ 5, at(v), UINT64_MAX });
	assert_false(rest_next(getpid(), &r, REST_ALL, &p));
}

static void counts_become_less(void **state)
{
	uint64_t to = at(buffer);
	struct user_regs_struct r = after(SYS_sendfile, 30, (uint64_t[6]){ 5, 6, 7, 100 });

	(void)state;
	check_part(&r, SYS_sendfile, (uint64_t[6]){ 5, 6, 7, 70 }, 70);
	r = after(SYS_io_getevents, 2, (uint64_t[6]){ 5, 3, 8, to });
	check_part(&r, SYS_io_getevents, (uint64_t[6]){ 5, 1, 6, to + 64 }, 1);
	r = after(SYS_io_getevents, 3, (uint64_t[6]){ 5, 3, 8, to });
	assert_false(rest_may_be(&r));
	r = after(SYS_recvmmsg, 2, (uint64_t[6]){ 5, to, 8, MSG_WAITFORONE });
	check_part(&r, SYS_recvmmsg,
		   (uint64_t[6]){ 5, to + 2 * sizeof(struct mmsghdr), 6,
				  MSG_WAITFORONE | MSG_DONTWAIT }, 6);
	r = after(SYS_io_uring_enter, 2, (uint64_t[6]){ 5, 2, 1, 1 });
	check_part(&r, SYS_io_uring_enter, (uint64_t[6]){ 5, 0, 1, 1 }, 0);
	r = after(SYS_io_uring_enter, 2, (uint64_t[6]){ 5, 2, 1, 8 });
	assert_false(rest_may_be(&r));
	r = after(SYS_io_uring_enter, 0, (uint64_t[6]){ 5, 0, 1, 1 });
	assert_false(rest_may_be(&r));
	r = after(SYS_io_uring_enter, 0, (uint64_t[6]){ 5, 0, 2, 1 });
	check_part(&r, SYS_io_uring_enter, (uint64_t[6]){ 5, 0, 2, 1 }, 0);
	assert_false(rest_counts(SYS_io_uring_enter));
	assert_true(rest_counts(SYS_write));
}

static void what_is_whole_or_failed_has_no_rest(void **state)
{
	static const uint64_t a[6] = { 5, 4096, 100, 0, 0, 0 };
	struct user_regs_struct r = after(SYS_write, 100, a);
	struct rest_part p;

	(void)state;
	assert_false(rest_may_be(&r));
	r.rax = 0;
	assert_false(rest_may_be(&r));
	r.rax = (unsigned long long)-EINTR;
	assert_false(rest_may_be(&r));
	r = after(-1, 30, a);
	assert_false(rest_may_be(&r));
	r = after(SYS_close, 30, a);
	assert_false(rest_may_be(&r));
	r = after(SYS_write, 30, a);
	r.cs = 0x23;
	assert_false(rest_may_be(&r));
	r.cs = 0x33;
	r.rip--;		/* not behind the instruction of a call */
	assert_false(rest_next(getpid(), &r, REST_ALL, &p));
	for (int64_t result = -520; result < 1; result++)
		assert_int_equal(rest_interrupted(result),
				 result == -EINTR || (result >= -516 && result <= -512));
}

static uint64_t goal(long nr, int fd, uint64_t at_2, uint64_t at_3)
{
	uint64_t a[6] = { (uint64_t)fd, at(buffer), at_2, at_3 };
	struct user_regs_struct r = after(nr, 30, a);
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	uint64_t all = rest_goal(getpid(), pidfd, &r);

	close(pidfd);
	return all;
}

/* Where less than all may be all there is nothing is added. */
static void only_what_was_cut_short_is_made(void **state)
{
	int ends[2], pair[2], zero = open("/dev/zero", O_RDWR | O_CLOEXEC),
	    disk = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_true(goal(SYS_write, ends[1], 100, 0) == REST_ALL);
	assert_true(goal(SYS_read, ends[0], 100, 0) == 0);
	assert_true(goal(SYS_write, disk, 100, 0) == 0);
	assert_true(goal(SYS_read, disk, 100, 0) == 0);
	assert_true(goal(SYS_read, zero, 100, 0) == REST_ALL);
	assert_true(goal(SYS_write, pair[0], 100, 0) == REST_ALL);
	assert_true(goal(SYS_read, pair[0], 100, 0) == 0);
	assert_true(goal(SYS_recvfrom, pair[0], 100, 0) == 0);
	assert_true(goal(SYS_recvfrom, pair[0], 100, MSG_WAITALL) == REST_ALL);
	assert_true(goal(SYS_recvfrom, pair[0], 100, MSG_WAITALL | MSG_PEEK) == 0);
	assert_true(goal(SYS_sendto, pair[0], 100, 0) == REST_ALL);
	assert_true(goal(SYS_sendto, pair[0], 100, MSG_OOB) == 0);
	assert_true(goal(SYS_sendfile, ends[1], 0, 100) == 0);
	assert_true(goal(SYS_sendfile, pair[0], 0, 100) == REST_ALL);
	for (int i = 0; i < 2; i++) {
		close(ends[i]);
		close(pair[i]);
	}
	close(zero);
	close(disk);
}

static void a_message_is_whole(void **state)
{
	int pair[2];

	(void)state;
	for (const int *type = (const int[]){ SOCK_DGRAM, SOCK_SEQPACKET, 0 }; *type; type++) {
		assert_int_equal(socketpair(AF_UNIX, *type, 0, pair), 0);
		assert_int_equal(setsockopt(pair[0], SOL_SOCKET, SO_RCVLOWAT, &(int){ 50 },
					    sizeof(int)), 0);
		assert_true(goal(SYS_recvfrom, pair[0], 100, MSG_WAITALL) == 0);
		assert_true(goal(SYS_read, pair[0], 100, 0) == 0);
		close(pair[0]);
		close(pair[1]);
	}
}

/* What a descriptor is set to wait for is all that is waited for. */
static void the_least_is_enough(void **state)
{
	struct user_regs_struct r = after(SYS_read, 30, (uint64_t[6]){ 5, at(buffer), 100 });
	struct rest_part p;
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(setsockopt(pair[0], SOL_SOCKET, SO_RCVLOWAT, &(int){ 50 },
				    sizeof(int)), 0);
	assert_int_equal(goal(SYS_read, pair[0], 100, 0), 50);
	assert_int_equal(goal(SYS_recvfrom, pair[0], 100, 0), 50);
	assert_true(goal(SYS_recvfrom, pair[0], 100, MSG_WAITALL) == REST_ALL);
	assert_true(rest_next(getpid(), &r, 50, &p));
	assert_int_equal(p.regs.rdx, 20);
	assert_int_equal(p.whole, 20);
	assert_false(rest_next(getpid(), &r, 30, &p));
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_buffer_goes_on_where_it_was_left),
		cmocka_unit_test(buffers_follow_each_other),
		cmocka_unit_test(counts_become_less),
		cmocka_unit_test(what_is_whole_or_failed_has_no_rest),
		cmocka_unit_test(a_message_is_whole),
		cmocka_unit_test(the_least_is_enough),
		cmocka_unit_test(only_what_was_cut_short_is_made),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
