/* test_input.c - what becomes of each kind of standard input */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/try/input.h"
#include "manager/try/interrupt.h"

enum { MOST = 1 << 20 };

/* By that descriptor, which is closed: the result. */
static int take(int from, int *fd, off_t *at, struct err *err)
{
	*err = (struct err){ 0 };
	assert_true(from >= 0);
	assert_int_equal(dup2(from, 0), 0);
	close(from);
	return input_take("/tmp", MOST, fd, at, err);
}

static void what_can_be_read_is_kept(void **state)
{
	char name[] = "/tmp/morph-input.XXXXXX", text[16] = "";
	int fd, end[2];
	struct err err;
	off_t at;

	(void)state;
	int file = mkstemp(name);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(write(file, "0123456789", 10), 10);
	assert_int_equal(lseek(file, 4, SEEK_SET), 4);
	assert_int_equal(take(file, &fd, &at, &err), 0);
	assert_true(fd >= 0);
	assert_int_equal(at, 4);
	close(fd);
	for (int socket = 0; socket < 2; socket++) {
		assert_int_equal(socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, end) :
					  pipe(end), 0);
		assert_int_equal(write(end[1], "abc", 3), 3);
		close(end[1]);
		assert_int_equal(take(end[0], &fd, &at, &err), 0);
		assert_int_equal(pread(fd, text, sizeof(text), at), 3);
		assert_memory_equal(text, "abc", 3);
		close(fd);
	}
}

static void what_is_nothing_is_so(void **state)
{
	struct err err;
	off_t at;
	int fd;

	(void)state;
	assert_int_equal(take(open("/dev/null", O_RDONLY), &fd, &at, &err), 0);
	assert_int_equal(fd, -1);
	/* as one is that was closed */
	assert_int_equal(take(open("/dev/null", O_WRONLY), &fd, &at, &err), 0);
	assert_int_equal(fd, -1);
	int side = posix_openpt(O_RDWR | O_NOCTTY);
	if (side >= 0 && unlockpt(side) == 0 &&
	    take(open(ptsname(side), O_RDONLY | O_NOCTTY), &fd, &at, &err) == 0)
		assert_int_equal(fd, -1);
}

static void refuse(int from, const char *why)
{
	struct err err;
	off_t at;
	int fd = 0;

	assert_int_equal(take(from, &fd, &at, &err), -1);
	assert_non_null(strstr(err.text, why));
	assert_int_equal(err.kind, ERR_USAGE);
	assert_int_equal(fd, -1);
}

static void what_cannot_be_kept_is_said(void **state)
{
	static const char many[65536];
	int end[2];

	(void)state;
	refuse(open("/dev/zero", O_RDONLY), "no end");
	refuse(open("/dev/urandom", O_RDONLY), "no end");
	refuse(open("/tmp", O_RDONLY | O_DIRECTORY), "a directory");
	assert_int_equal(pipe(end), 0);
	close(end[0]);
	refuse(end[1], "for writing only");
	assert_int_equal(pipe(end), 0);
	pid_t child = fork();
	if (child == 0) {
		close(end[0]);
		for (;;)	/* until nobody reads any more */
			if (write(end[1], many, sizeof(many)) < 0)
				_exit(0);
	}
	close(end[1]);
	refuse(end[0], "more than 1 MiB");
	close(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_can_be_read_is_kept),
		cmocka_unit_test(what_is_nothing_is_so),
		cmocka_unit_test(what_cannot_be_kept_is_said),
	};

	interrupt_begin();
	(void)cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
