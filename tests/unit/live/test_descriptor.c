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
#include <sys/wait.h>
#include <unistd.h>

#include "live/descriptor.h"

static void what_the_kernel_has_itself_is_told_apart(void **state)
{
	int pair[2], ends[2], disk = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(live_descriptor(getpid(), (uint64_t)pair[0]), DESCRIPTOR_SOCKET);
	assert_int_equal(live_descriptor(getpid(), (uint64_t)ends[0]), DESCRIPTOR_OTHER);
	assert_int_equal(live_descriptor(getpid(), (uint64_t)disk), DESCRIPTOR_OTHER);
	assert_int_equal(live_descriptor(getpid(), 1000000), DESCRIPTOR_OTHER);
	assert_int_equal(live_descriptor(getpid(), UINT64_MAX), DESCRIPTOR_OTHER);
	for (int i = 0; i < 2; i++) {
		close(pair[i]);
		close(ends[i]);
	}
	close(disk);
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
		cmocka_unit_test(a_file_system_that_is_served_is_known_without_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
