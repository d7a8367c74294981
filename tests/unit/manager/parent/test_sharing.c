/* test_sharing.c - a manager that was taken over and has no network, a share role that was
 * taken over by a server: what the parent does for the one, and hands on of the other
 *
 * The role is this program again, by what the word `play` in its conninfo says.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/err.h"
#include "manager/parent/sharing.h"

static char dir[64], policy[96], self[4096];
static struct role_options options = { .policy = policy, .morph_share = self };
static struct sharing s = SHARING_NONE;
static struct msg told;

/* --- the role --- */

/* Bit by bit: what is open beside the socket, and no way to nowhere. */
static int leftovers(void)
{
	struct stat st;
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		if (fd != ROLE_FD_PARENT && fstat(fd, &st) == 0)
			n += fd > 2 || !S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 3);
	return n;
}

static int play(void)
{
	struct msg m = { 0 }, said = { .type = MSG_EXCHANGED };
	struct err err;
	int p[2], open_fds = leftovers();

	if (msg_receive(ROLE_FD_PARENT, MSG_ROLE_PARENT, MSG_ROLE_SHARE, &m, &err) != 1)
		return 99;
	if (strstr(m.text, "play=exit"))
		return 7;
	if (strstr(m.text, "play=compute"))
		return raise(SIGXCPU);
	if (strstr(m.text, "play=deaf")) {
		close(ROLE_FD_PARENT);
		return pause();
	}
	(void)snprintf(said.text, 100, "%d leftovers, user %d", open_fds, getuid() == 0);
	said.nfd = 1;
	said.fd[0] = memfd_create("answer", 0);
	if (strstr(m.text, "play=pipe") && pipe(p) == 0)
		said.fd[0] = p[0];
	if (msg_send(ROLE_FD_PARENT, &said, &err) < 0)
		return 98;
	return pause();		/* it need not end by itself */
}

/* --- the manager --- */

static void write_policy(const char *text)
{
	FILE *f = fopen(policy, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Its status. */
static int share(const char *conninfo)
{
	struct msg m = { .type = MSG_SHARE, .nfd = 1, .fd = { memfd_create("request", 0) } };

	(void)snprintf(m.text, 1024, "%s", conninfo);
	told = (struct msg){ 0 };
	if (sharing_begin(&s, &options, &m, &told) == 0) {
		struct pollfd f = { s.child.sock, POLLIN, 0 };

		assert_int_equal(poll(&f, 1, 20000), 1);
		assert_true(sharing_step(&s, true, &told));
	}
	assert_int_equal(m.nfd, 0);
	assert_int_equal(s.child.pid, 0);
	assert_int_equal(told.type, MSG_SHARED);
	return (int)told.num[MSG_SHARED_status];
}

static void says(const char *text)
{
	if (!strstr(told.text, text))
		fail_msg("'%s' does not say '%s'", told.text, text);
}

static void the_policys_database_is_asked(void **state)
{
	static const char *const form[] = {
		"share:\n  conninfo: host=a play=x\n  give: on\n",
		"share:\n  conninfo: \"host=a play=x\"   # ours\n",
		"share:\n\tconninfo: 'host=a play=x'",
		"share:\n  conninfo:    host=a play=x # ours\r\n",
		"other: 1\nshare:\n  conninfo: host=b\n  conninfo: host=a play=x\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		write_policy(form[i]);
		assert_int_equal(share("host=a play=x"), ERR_NONE);
		says("0 leftovers");
		assert_int_equal(told.nfd, 1);
		msg_close_fds(&told);
	}
}

static void no_other_is(void **state)
{
	static const char *const form[] = {
		"share:\n  conninfo: \"\"\n",
		"share:\n  conninfo: host=a play=x sslmode=verify-full\n",
		"share:\n  conninfo: \"host=a play=x sslmode=verify-full\"\n",
		"share:\n  conninfo: \"host=a play=x\" sslmode=verify-full\n",
		"share:\n  conninfo: host=a play=x#y\n",
		"share:\n  # conninfo: host=a play=x\n",
		"share:\n  conninfo: \"\"  # conninfo: host=a play=x\n",
		"share:\n  conninfo: bhost=a play=x\n",
		"share:\n  myconninfo: host=a play=x\n",
		"share:\n  comments: host=a play=x\n",
		"rules:\n  - paths: [host=a play=x]\n",
		"share:\n  conninfo: \"host=a play=x\n",
		"conninfo:",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		write_policy(form[i]);
		if (share("host=a play=x") != ERR_REFUSED)
			fail_msg("asked by '%s'", form[i]);
		says("the policy has no line");
		assert_int_equal(told.nfd, 0);
	}
	write_policy("share:\n  conninfo: \"a\"\n  conninfo: \"\"\n");
	assert_int_equal(share(""), ERR_REFUSED);	/* libpq would ask a usual one */
	assert_int_equal(share("a\"\n  conninfo: \""), ERR_REFUSED);
	(void)unlink(policy);
	assert_int_equal(share("a"), ERR_SYS);
}

/* What the manager would wait for is not handed on; who lies or stays is ended. */
static void what_it_hands_back_is_a_file(void **state)
{
	(void)state;
	write_policy("conninfo: play=pipe\nconninfo: play=exit\nconninfo: play=deaf\n"
		     "conninfo: play=compute\n");
	assert_int_equal(share("play=pipe"), ERR_INPUT);
	says("no file");
	assert_int_equal(told.nfd, 0);
	assert_int_equal(share("play=exit"), ERR_SYS);
	says("exit code 7");
	assert_int_equal(share("play=compute"), ERR_SYS);
	says("asks for more computing");
	assert_int_equal(share("play=deaf"), ERR_SYS);
	says("signal 9");
}

static void it_is_another_user(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	write_policy("conninfo: a\n");
	assert_int_equal(share("a"), ERR_NONE);
	says("user 0");
	msg_close_fds(&told);
}

static void one_at_a_time(void **state)
{
	struct msg m = { .type = MSG_SHARE, .nfd = 1, .text = "a" };

	(void)state;
	write_policy("conninfo: a\n");
	m.fd[0] = memfd_create("request", 0);
	assert_int_equal(sharing_begin(&s, &options, &m, &told), 0);
	m.nfd = 1;
	m.fd[0] = memfd_create("request", 0);
	assert_int_equal(sharing_begin(&s, &options, &m, &told), -1);
	says("under way");
	assert_int_equal(m.nfd, 0);
	m.nfd = 0;
	sharing_end(&s);
	assert_int_equal(sharing_begin(&s, &options, &m, &told), -1);
	says("without a descriptor");
}

static void another_user_that_is_not_there_is_named(void **state)
{
	const char *user = options.share_user;

	(void)state;
	write_policy("conninfo: a\n");
	options.share_user = "no such user";
	assert_int_equal(share("a"), ERR_USAGE);
	options.share_user = user;
	says("no such user");
}

/* What it would write to our log goes nowhere, or it does not begin. */
static void without_a_way_to_nowhere_it_does_not_begin(void **state)
{
	(void)state;
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		skip();
	write_policy("conninfo: a\n");
	assert_int_equal(mount("none", "/dev", "tmpfs", 0, NULL), 0);
	told.text[0] = '\0';
	/* the request may come too late for it */
	for (int i = 0; i < 1000 && !strstr(told.text, "exit code"); i++)
		assert_int_equal(share("a"), ERR_SYS);
	assert_int_equal(umount("/dev"), 0);
	says("ended with exit code 1");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_policys_database_is_asked),
		cmocka_unit_test(no_other_is),
		cmocka_unit_test(what_it_hands_back_is_a_file),
		cmocka_unit_test(it_is_another_user),
		cmocka_unit_test(one_at_a_time),
		cmocka_unit_test(another_user_that_is_not_there_is_named),
		cmocka_unit_test(without_a_way_to_nowhere_it_does_not_begin),
	};
	char command[96];

	if (argc == 2 && strcmp(argv[1], "exchange") == 0)
		return play();
	(void)argv;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	strcpy(dir, "/tmp/morph-sharing-XXXXXX");
	if (n < 0 || !mkdtemp(dir))
		return 1;
	options.share_user = geteuid() == 0 ? "nobody" : getenv("USER");
	(void)snprintf(policy, sizeof(policy), "%s/policy.yaml", dir);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command) || rc;
}
