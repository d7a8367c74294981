/* test_lies_monitor.c - what a monitor that was taken over says to the real parent
 *
 * Both roles are played by the test (rolescene.h).  Whatever the monitor says, it is the one
 * that ends for it; the manager is told what the table permits, and goes on.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>

#include "lib/wr.h"
#include "tests/unit/manager/parent/rolescene.h"

static const struct msg usual = {
	.type = MSG_CONFIG,
	.num = { [MSG_CONFIG_clock] = 1, [MSG_CONFIG_rate_hz] = 97, [MSG_CONFIG_drain_s] = 3,
		 [MSG_CONFIG_spool_max_mib] = 64, [MSG_CONFIG_stack_bytes] = 512 },
};

static void begin(struct scene *s, struct played *manager, struct played *monitor)
{
	if (geteuid() != 0)
		skip();
	scene_open(s);
	scene_start(s);
	scene_meet(s, MSG_ROLE_MANAGER, manager);
	(void)played_hears(manager, MSG_ROLES);
	played_says(manager, &usual);
	scene_meet(s, MSG_ROLE_MONITOR, monitor);
	(void)played_hears(manager, MSG_ROLES);
}

static bool has_ended(const struct played *p)
{
	return scene_readable(p->told, 0);
}

static void finish(struct scene *s, struct played *manager, struct played *monitor)
{
	assert_false(has_ended(manager));
	played_end(monitor, 0);
	played_end(manager, 0);
	scene_close(s);
}

/* The bytes of *m with descriptors, whatever the table says. */
static void says_raw(const struct played *p, const struct msg *m, const int *fd, int nfd)
{
	struct wr body = { 0 };
	char control[CMSG_SPACE(8 * sizeof(int))] = { 0 };

	msg_encode(m, &body);
	struct iovec io = { body.p, body.n };
	struct msghdr h = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = CMSG_SPACE((size_t)nfd * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN((size_t)nfd * sizeof(int));
	memcpy(CMSG_DATA(c), fd, (size_t)nfd * sizeof(int));
	assert_true(sendmsg(p->sock, &h, 0) > 0);
	wr_free(&body);
}

/* The monitor ends for it, and another one comes; the manager goes on. */
static void is_a_lie(const struct msg *m, const int *fd, int nfd, const char *why)
{
	struct played manager, monitor;
	struct scene s;

	begin(&s, &manager, &monitor);
	if (nfd)
		says_raw(&monitor, m, fd, nfd);
	else
		played_says(&monitor, m);
	assert_true(scene_readable(monitor.told, SCENE_WAIT_MS));
	assert_true(scene_logs(&s, why));
	played_end(&monitor, 0);
	assert_int_equal(played_hears(&manager, MSG_ROLES).num[MSG_ROLES_monitor_pid], 0);
	scene_meet(&s, MSG_ROLE_MONITOR, &monitor);
	finish(&s, &manager, &monitor);
}

static void only_a_file_goes_with_an_answer(void **state)
{
	static const char no_file[] = "FLUSHED with a descriptor that is no file";
	struct msg flushed = { .type = MSG_FLUSHED }, counts = { .type = MSG_MONITOR_COUNTS };
	int pair[2], device, folder, socket_fd, file[5];

	(void)state;
	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	is_a_lie(&flushed, pair, 1, no_file);
	device = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	is_a_lie(&flushed, &device, 1, no_file);
	folder = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	is_a_lie(&flushed, &folder, 1, no_file);
	socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	is_a_lie(&flushed, &socket_fd, 1, no_file);
	for (int i = 0; i < 5; i++)
		file[i] = memfd_create("the-lie", MFD_CLOEXEC);
	is_a_lie(&flushed, file, 2, "FLUSHED with too many descriptors");
	is_a_lie(&flushed, file, 5, "message too long");
	is_a_lie(&counts, file, 1, "MONITOR_COUNTS with too many descriptors");
}

/* It is a line that systemd hears from root, and one of each profile. */
static void a_clock_is_a_word(void **state)
{
	static const char *const lie[] = { "tick\nMAINPID=1\nSTOPPING=1", "\033[2J", "a b", "A",
					   "tick\n" };
	struct msg counts = { .type = MSG_MONITOR_COUNTS };
	struct played manager, monitor;
	struct scene s;

	(void)state;
	for (size_t i = 0; i < sizeof(lie) / sizeof(lie[0]); i++) {
		strcpy(counts.text, lie[i]);
		is_a_lie(&counts, NULL, 0, "a clock of no known form");
	}
	begin(&s, &manager, &monitor);
	strcpy(counts.text, "cpu-clock");
	played_says(&monitor, &counts);
	(void)played_hears(&manager, MSG_ROLES);
	assert_string_equal(played_hears(&manager, MSG_COUNTS).text, "cpu-clock");
	finish(&s, &manager, &monitor);
}

static void an_answer_that_nobody_waits_for_is_none(void **state)
{
	struct msg sync = { .type = MSG_SYNC, .serial = 7 };
	struct msg flushed = { .type = MSG_FLUSHED, .num = { ERR_SYS }, .text = "\033\n%s" };
	struct played manager, monitor;
	struct scene s;

	(void)state;
	begin(&s, &manager, &monitor);
	for (int i = 0; i < 3; i++)
		played_says(&monitor, &flushed);
	played_says(&manager, &sync);
	(void)played_hears(&monitor, MSG_FLUSH);
	for (int i = 0; i < 3; i++)
		played_says(&monitor, &flushed);
	struct msg m = played_hears(&manager, MSG_REPLY);
	assert_int_equal(m.serial, 7);
	assert_string_equal(m.text, flushed.text);
	assert_false(scene_readable(manager.sock, 200));
	finish(&s, &manager, &monitor);
}

/* The manager is busy and reads nothing: neither he nor the parent has to suffer for that. */
static void a_flood_waits_at_its_source(void **state)
{
	struct msg counts = { .type = MSG_MONITOR_COUNTS, .text = "tick" };
	struct msg pause = { .type = MSG_PAUSE, .num = { 1 } }, m;
	struct played manager, monitor;
	struct err err = { 0 };
	struct scene s;
	int n = 0, told = 0;

	(void)state;
	begin(&s, &manager, &monitor);
	for (struct pollfd f = { monitor.sock, POLLOUT, 0 }; n < 5000; n++) {
		counts.num[0] = (uint64_t)n;
		if (poll(&f, 1, 300) != 1)
			break;
		played_says(&monitor, &counts);
	}
	assert_true(n > 10 && n < 5000);
	played_says(&manager, &pause);		/* the parent hears it at once */
	(void)played_hears(&monitor, MSG_SET_PAUSE);
	assert_false(has_ended(&manager));
	/* and when he reads, he hears all there was, to the last */
	do {
		m = (struct msg){ 0 };
		assert_true(scene_readable(manager.sock, SCENE_WAIT_MS));
		assert_int_equal(msg_receive(manager.sock, MSG_ROLE_PARENT, MSG_ROLE_MANAGER,
					     &m, &err), 1);
		told += m.type == MSG_COUNTS;
	} while (m.type != MSG_COUNTS || m.num[0] != (uint64_t)n - 1);
	assert_int_equal(told, n);
	finish(&s, &manager, &monitor);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_file_goes_with_an_answer),
		cmocka_unit_test(a_clock_is_a_word),
		cmocka_unit_test(an_answer_that_nobody_waits_for_is_none),
		cmocka_unit_test(a_flood_waits_at_its_source),
	};

	play_if_told(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
