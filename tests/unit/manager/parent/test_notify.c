/* test_notify.c - what systemd is told of the daemon, over a socket of the test's */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "manager/parent/notify.h"

static int listener(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	size_t n = strlen(name);

	memcpy(a.sun_path, name, n);
	if (name[0] == '@')
		a.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&a,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)), 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
	return fd;
}

static void hears(int fd, const char *want)
{
	char text[512];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	if (!want) {
		assert_true(n < 0);
		return;
	}
	assert_true(n > 0);
	text[n] = '\0';
	assert_string_equal(text, want);
}

static void readiness_and_status_are_told(const char *name)
{
	struct notify_sampling how = { .clock = "" };
	int fd = listener(name);

	notify_sampling("READY=1", &how);
	hears(fd, "READY=1\nSTATUS=Begins to sample\n");
	notify_sampling("", &how);
	hears(fd, NULL);			/* told already */
	how.runs = true;
	how.clock = "tick";
	notify_sampling("", &how);
	hears(fd, "STATUS=Samples by tick\n");
	how.clock = "x\nMAINPID=1\033\n";	/* no line more, whoever said it */
	notify_sampling("", &how);
	hears(fd, "STATUS=Samples by x\\x0aMAINPID=1\\x1b\\x0a\n");
	how.paused = true;
	notify_sampling("", &how);
	hears(fd, "STATUS=Sampling is paused\n");
	how.runs = how.paused = false;
	how.ends = 3;
	notify_sampling("", &how);
	hears(fd, "STATUS=Does not sample: the monitor has ended by itself 3 times\n");
	how.off = true;
	notify_sampling("", &how);
	hears(fd, "STATUS=Does not sample\n");
	notify_tell("STOPPING=1", "Stopping");
	hears(fd, "STOPPING=1\nSTATUS=Stopping\n");
	close(fd);
}

static void by_an_abstract_name(void **state)
{
	char name[64];

	(void)state;
	(void)snprintf(name, sizeof(name), "@morph-notify-%d", (int)getpid());
	readiness_and_status_are_told(name);
}

static void by_a_file(void **state)
{
	char name[64];

	(void)state;
	(void)snprintf(name, sizeof(name), "/tmp/morph-notify-%d", (int)getpid());
	readiness_and_status_are_told(name);
	(void)unlink(name);
}

static void nobody_need_listen(void **state)
{
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	notify_tell("READY=1", "x");
	setenv("NOTIFY_SOCKET", "/tmp/morph-notify-nobody", 1);
	notify_tell("READY=1", "x");
	setenv("NOTIFY_SOCKET", "no path", 1);
	notify_tell("READY=1", "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_an_abstract_name),
		cmocka_unit_test(by_a_file),
		cmocka_unit_test(nobody_need_listen),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
