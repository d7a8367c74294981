/* test_descriptor.c - sockets, files that others serve, and all else are told apart */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "live/descriptor.h"

static void what_the_kernel_has_itself_is_told_apart(void **state)
{
	int pair[2], ends[2], disk = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(live_descriptor(getpid(), (uint64_t)pair[0]), DESCRIPTOR_SOCKET);
	assert_int_equal(live_descriptor(getpid(), (uint64_t)ends[0]), DESCRIPTOR_PIPE);
	assert_int_equal(live_descriptor(getpid(), (uint64_t)disk), DESCRIPTOR_OTHER);
	assert_int_equal(live_descriptor(getpid(), 1000000), DESCRIPTOR_OTHER);
	assert_int_equal(live_descriptor(getpid(), UINT64_MAX), DESCRIPTOR_OTHER);
	for (int i = 0; i < 2; i++) {
		close(pair[i]);
		close(ends[i]);
	}
	close(disk);
}

static enum descriptor of(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	enum descriptor d = live_descriptor(getpid(), (uint64_t)fd);

	assert_true(fd >= 0);
	close(fd);
	return d;
}

static void devices_are_told_apart(void **state)
{
	int opener = posix_openpt(O_RDWR | O_NOCTTY);

	(void)state;
	assert_int_equal(of("/dev/zero"), DESCRIPTOR_ENDLESS);
	assert_int_equal(of("/dev/urandom"), DESCRIPTOR_ENDLESS);
	assert_int_equal(of("/dev/null"), DESCRIPTOR_OTHER);
	if (opener < 0 || geteuid() != 0)
		skip();		/* only root is told which are terminals */
	assert_int_equal(grantpt(opener), 0);
	assert_int_equal(unlockpt(opener), 0);
	assert_int_equal(of(ptsname(opener)), DESCRIPTOR_TERMINAL);
	assert_int_equal(live_descriptor(getpid(), (uint64_t)opener), DESCRIPTOR_OTHER);
	close(opener);
}

static void settings_are_told(void **state)
{
	struct timeval limit = { 1, 0 };
	struct live_terminal t;
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0), pair[2];
	int opener = posix_openpt(O_RDWR | O_NOCTTY);
	struct termios raw;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_false(live_socket_limit(pidfd, (uint64_t)pair[0], SO_RCVTIMEO));
	assert_int_equal(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)),
			 0);
	assert_true(live_socket_limit(pidfd, (uint64_t)pair[0], SO_RCVTIMEO));
	assert_int_equal(live_socket_least(pidfd, (uint64_t)pair[0]), 1);
	assert_int_equal(setsockopt(pair[0], SOL_SOCKET, SO_RCVLOWAT, &(int){ 7 }, sizeof(int)),
			 0);
	assert_int_equal(live_socket_least(pidfd, (uint64_t)pair[0]), 7);
	assert_false(live_terminal(pidfd, (uint64_t)pair[0], &t));
	assert_int_equal(tcgetattr(opener, &raw), 0);
	cfmakeraw(&raw);
	raw.c_cc[VMIN] = 9, raw.c_cc[VTIME] = 3;
	assert_int_equal(tcsetattr(opener, TCSANOW, &raw), 0);
	assert_true(live_terminal(pidfd, (uint64_t)opener, &t));
	assert_true(!t.lines && t.least == 9 && t.limit == 3);
	for (int *p = (int[]){ pidfd, opener, pair[0], pair[1], -1 }; *p >= 0; p++)
		close(*p);
}

/* A descriptor of the folder itself; nobody answers for the file system, nor is asked. */
static int of_fuse(void)
{
	char folder[] = "/tmp/morph-descriptor.XXXXXX", options[96];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC), rc = 77;

	(void)snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0",
		       fd);
	if (fd < 0 || !mkdtemp(folder))
		return 77;
	if (unshare(CLONE_NEWNS) == 0 &&
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("morph", folder, "fuse", 0, options) == 0) {
		int opened = open(folder, O_PATH | O_CLOEXEC);

		rc = opened < 0 || live_descriptor(getpid(), (uint64_t)opened) !=
				   DESCRIPTOR_SERVED;
		(void)umount2(folder, MNT_DETACH);
	}
	(void)rmdir(folder);
	return rc;
}

static void a_file_system_that_is_served_is_known_without_it(void **state)
{
	int status = -1;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		(void)alarm(10);
		_exit(of_fuse());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();			/* none can be mounted here */
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_kernel_has_itself_is_told_apart),
		cmocka_unit_test(devices_are_told_apart),
		cmocka_unit_test(settings_are_told),
		cmocka_unit_test(a_file_system_that_is_served_is_known_without_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
