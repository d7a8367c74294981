/* Messages between roles: what the table permits passes, every kind of lie does not. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/err.h"
#include "lib/msg.h"

static struct msg install(void)
{
	struct msg m = { .type = MSG_INSTALL, .serial = 77, .text = "/usr/bin/perl" };

	m.num[MSG_INSTALL_hard_links] = 1;
	m.num[MSG_INSTALL_memory_mib] = 64;
	m.num[MSG_INSTALL_cpu_s] = 86400;
	for (int i = 0; i < 3; i++)
		memset(m.digest[i].b, i + 1, 32);
	return m;
}

static int decode(struct bytes b, struct msg *out)
{
	struct err err;

	return msg_decode(b, MSG_ROLE_MANAGER, MSG_ROLE_PARENT, out, &err);
}

static void a_message_comes_back_as_it_was(void **state)
{
	struct msg m = install(), out = { 0 };
	struct wr w = { 0 };

	(void)state;
	msg_encode(&m, &w);
	assert_int_equal(decode(wr_bytes(&w), &out), 0);
	assert_memory_equal(&m, &out, sizeof(m));
	wr_free(&w);
}

static void every_length_but_the_right_one_is_refused(void **state)
{
	struct msg m = install(), out = { 0 };
	struct wr w = { 0 };

	(void)state;
	m.text[0] = '\0';		/* with a text, shorter ones are texts too */
	msg_encode(&m, &w);
	for (size_t n = 0; n < w.n; n++)
		assert_int_equal(decode((struct bytes){ w.p, n }, &out), -1);
	(void)wr_reserve(&w, MSG_MAX_TEXT + 1);
	memset(w.p + w.n - MSG_MAX_TEXT - 1, 'x', MSG_MAX_TEXT + 1);
	assert_int_equal(decode(wr_bytes(&w), &out), -1);
	assert_int_equal(decode((struct bytes){ w.p, w.n - 1 }, &out), 0);
	wr_free(&w);
}

static void numbers_out_of_range_are_refused(void **state)
{
	static const struct { int index; uint64_t value; } lie[] = {
		{ MSG_INSTALL_hard_links, 2 }, { MSG_INSTALL_memory_mib, 63 },
		{ MSG_INSTALL_memory_mib, 65537 }, { MSG_INSTALL_cpu_s, 0 },
		{ MSG_INSTALL_cpu_s, UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lie) / sizeof(lie[0]); i++) {
		struct msg m = install(), out = { .serial = 5 };
		struct wr w = { 0 };

		msg_encode(&m, &w);
		memcpy(w.p + 8 + 8 * lie[i].index, &lie[i].value, 8);
		assert_int_equal(decode(wr_bytes(&w), &out), -1);
		assert_int_equal(out.serial, 5);	/* untouched */
		wr_free(&w);
	}
}

static void a_nul_inside_the_text_is_refused(void **state)
{
	struct msg m = install(), out = { 0 };
	struct wr w = { 0 };

	(void)state;
	msg_encode(&m, &w);
	w.p[w.n - 3] = '\0';
	assert_int_equal(decode(wr_bytes(&w), &out), -1);
	wr_free(&w);
}

static void a_role_may_not_send_what_is_not_its_own(void **state)
{
	struct msg m = install(), out = { 0 };
	struct wr w = { 0 };
	struct err err;

	(void)state;
	msg_encode(&m, &w);
	assert_int_equal(
		msg_decode(wr_bytes(&w), MSG_ROLE_MONITOR, MSG_ROLE_PARENT, &out, &err), -1);
	assert_int_equal(
		msg_decode(wr_bytes(&w), MSG_ROLE_MANAGER, MSG_ROLE_MONITOR, &out, &err), -1);
	w.p[2] = MSG_VERSION + 1;
	assert_int_equal(decode(wr_bytes(&w), &out), -1);
	w.p[2] = MSG_VERSION;
	w.p[3] = NMSG;
	assert_int_equal(decode(wr_bytes(&w), &out), -1);
	wr_free(&w);
}

static void descriptors_travel_and_too_many_are_closed(void **state)
{
	struct msg m = install(), out = { 0 };
	struct err err = { 0 };
	int pair[2], p[2];
	char byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(pipe(p), 0);
	m.nfd = 1;
	m.fd[0] = memfd_create("test", MFD_CLOEXEC);
	assert_int_equal(msg_send(pair[0], &m, &err), 0);
	assert_int_equal(msg_receive(pair[1], MSG_ROLE_MANAGER, MSG_ROLE_PARENT, &out, &err),
			 1);
	assert_int_equal(out.nfd, 1);
	assert_int_equal(write(out.fd[0], "x", 1), 1);
	assert_int_equal(pread(m.fd[0], &byte, 1, 0), 1);
	msg_close_fds(&out);

	/* what the receiver would wait for is none */
	close(m.fd[0]);
	m.fd[0] = p[1];
	assert_int_equal(msg_send(pair[0], &m, &err), 0);
	assert_int_equal(msg_receive(pair[1], MSG_ROLE_MANAGER, MSG_ROLE_PARENT, &out, &err),
			 -1);
	assert_non_null(strstr(err.text, "no file"));
	assert_int_equal(err.kind, ERR_INPUT);

	/* The same bytes with a descriptor where none may be. */
	struct msg none = { .type = MSG_SYNC };
	struct wr w = { 0 };
	msg_encode(&none, &w);
	struct iovec iov = { w.p, w.n };
	union { struct cmsghdr h; char room[CMSG_SPACE(sizeof(int))]; } c = { .h = {
		.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS } };
	memcpy(CMSG_DATA(&c.h), &p[1], sizeof(int));
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c,
			    .msg_controllen = sizeof(c) };
	assert_true(sendmsg(pair[0], &h, 0) > 0);
	close(p[1]);
	assert_int_equal(msg_receive(pair[1], MSG_ROLE_MANAGER, MSG_ROLE_PARENT, &out, &err),
			 -1);
	assert_int_equal(out.nfd, 0);
	assert_int_equal(read(p[0], &byte, 1), 0);	/* the last writer is closed */
	wr_free(&w);
	close(p[0]);
	close(pair[0]);
	assert_int_equal(msg_receive(pair[1], MSG_ROLE_MANAGER, MSG_ROLE_PARENT, &out, &err),
			 -1);
	close(pair[1]);
}

/* --- the control socket's requests and answers --- */

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_comes_back_as_it_was),
		cmocka_unit_test(every_length_but_the_right_one_is_refused),
		cmocka_unit_test(numbers_out_of_range_are_refused),
		cmocka_unit_test(a_nul_inside_the_text_is_refused),
		cmocka_unit_test(a_role_may_not_send_what_is_not_its_own),
		cmocka_unit_test(descriptors_travel_and_too_many_are_closed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
