/* test_role_parent.c - the parent's wiring: which role is told what, started when, ended how
 *
 * Both roles are played by the test (rolescene.h), the parent is the real one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pwd.h>
#include <sys/file.h>
#include <sys/mman.h>

#include "manager/parent/install.h"
#include "manager/parent/install_journal.h"
#include "manager/parent/rights.h"
#include "tests/unit/manager/parent/rolescene.h"

static const struct msg usual = {
	.type = MSG_CONFIG,
	.num = { [MSG_CONFIG_clock] = 1, [MSG_CONFIG_rate_hz] = 97, [MSG_CONFIG_drain_s] = 3,
		 [MSG_CONFIG_spool_max_mib] = 64, [MSG_CONFIG_stack_bytes] = 512 },
};

/* Roles, as they come: checks all numbers of ROLES. */
static void hears_roles(const struct scene *s, struct played *p, pid_t monitor,
			unsigned manager_starts, unsigned monitor_starts, bool watched)
{
	struct msg m = played_hears(p, MSG_ROLES);
	struct rights rights = rights_here();

	assert_int_equal(m.num[MSG_ROLES_parent_pid], s->parent);
	assert_int_equal(m.num[MSG_ROLES_monitor_pid], monitor);
	assert_int_equal(m.num[MSG_ROLES_manager_starts], manager_starts);
	assert_int_equal(m.num[MSG_ROLES_monitor_starts], monitor_starts);
	assert_int_equal(m.num[MSG_ROLES_crashes_watched], watched);
	assert_int_equal(m.num[MSG_ROLES_job_pid], 0);
	assert_int_equal(m.num[MSG_ROLES_job_namespaces], rights.namespaces);
	assert_int_equal(m.num[MSG_ROLES_all_attributes], rights.attributes);
}

static void is_silent(const struct played *p)
{
	assert_false(scene_readable(p->sock, 200));
}

/* The parent and the manager, before CONFIG. */
static void begin(struct scene *s, struct played *manager)
{
	scene_start(s);
	scene_meet(s, MSG_ROLE_MANAGER, manager);
	hears_roles(s, manager, 0, 1, 0, false);
}

static void begin_both(struct scene *s, struct played *manager, struct played *monitor)
{
	begin(s, manager);
	played_says(manager, &usual);
	scene_meet(s, MSG_ROLE_MONITOR, monitor);
	hears_roles(s, manager, monitor->pid, 1, 1, false);
}

/* SIGTERM: the monitor is told END, the manager STOP, once; then the parent ends with 0. */
static void finish(struct scene *s, struct played *manager, struct played *monitor)
{
	assert_int_equal(kill(s->parent, SIGTERM), 0);
	if (monitor)
		(void)played_hears(monitor, MSG_END);
	(void)played_hears(manager, MSG_STOP);
	assert_int_equal(kill(s->parent, SIGTERM), 0);
	is_silent(manager);
	if (monitor)
		played_end(monitor, 0);
	played_end(manager, 0);
	assert_int_equal(scene_exit_code(s), 0);
	assert_int_equal(access(s->socket, F_OK), -1);	/* the socket goes with it */
	scene_close(s);
}

static int needs_root(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	return 0;
}

static void the_manager_comes_first(void **state)
{
	struct scene s;
	struct played manager;
	struct stat st;
	int is_listening = 0;
	socklen_t len = sizeof(is_listening);

	needs_root(state);
	scene_open(&s);
	begin(&s, &manager);
	assert_true(manager.listen >= 0);
	assert_int_equal(getsockopt(manager.listen, SOL_SOCKET, SO_ACCEPTCONN, &is_listening,
				    &len), 0);
	assert_int_equal(is_listening, 1);
	assert_string_equal(manager.arg[0], "morphd: manager");
	assert_string_equal(manager.options.store, s.store);
	assert_string_equal(manager.options.policy, s.policy);
	assert_string_equal(manager.options.user, SCENE_USER);
	assert_true(manager.options.foreground);
	/* no monitor before its settings are known */
	assert_false(scene_readable(s.meet, 300));
	/* anybody may ask */
	assert_int_equal(stat(s.socket, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0666);
	finish(&s, &manager, NULL);
}

static void the_store_is_roots(void **state)
{
	struct scene s;
	struct played manager;
	struct stat st;
	struct passwd *pw = getpwnam(SCENE_USER);
	char path[128];

	needs_root(state);
	scene_open(&s);
	begin(&s, &manager);
	assert_int_equal(stat(s.store, &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 01770);
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(st.st_gid, pw->pw_gid);
	(void)snprintf(path, sizeof(path), "%s/spool", s.store);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
	assert_int_equal(st.st_uid, pw->pw_uid);
	assert_int_equal(st.st_gid, pw->pw_gid);
	/* another one is refused, and leaves the first one's socket */
	struct scene second = s;
	scene_start(&second);
	assert_int_equal(scene_exit_code(&second), 1);
	assert_true(scene_logs(&s, "another morphd uses this store"));
	assert_int_equal(access(s.socket, F_OK), 0);
	finish(&s, &manager, NULL);
}

/* What a parent that was killed had started holds its lock for a moment. */
static void a_lock_is_waited_for(void **state)
{
	struct scene s;
	struct played manager;
	char path[128];

	needs_root(state);
	scene_open(&s);
	begin(&s, &manager);
	assert_int_equal(kill(s.parent, SIGKILL), 0);
	(void)scene_exit_code(&s);
	played_end(&manager, 0);
	(void)snprintf(path, sizeof(path), "%s/originals", s.store);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	scene_start(&s);
	assert_false(scene_readable(s.meet, 500));
	assert_int_equal(kill(s.parent, 0), 0);
	assert_int_equal(flock(fd, LOCK_UN), 0);
	close(fd);
	scene_meet(&s, MSG_ROLE_MANAGER, &manager);
	hears_roles(&s, &manager, 0, 1, 0, false);
	finish(&s, &manager, NULL);
}

/* The exit code of a parent that cannot start, which says TEXT. */
static void cannot_start(struct scene *s, int code, const char *text)
{
	scene_start(s);
	assert_int_equal(scene_exit_code(s), code);
	assert_true(scene_logs(s, text));
	assert_false(scene_readable(s->meet, 0));
	assert_int_equal(truncate(s->log, 0), 0);
}

static void a_wrong_start_says_why(void **state)
{
	struct scene s;
	struct role_options good;
	char path[200], other[128];
	struct stat st;

	needs_root(state);
	scene_open(&s);
	good = s.options;
	s.options.user = "morph-nobody-at-all";
	cannot_start(&s, 2, "user 'morph-nobody-at-all' does not exist");
	s.options = good;
	s.options.job_user = "morph-nobody-at-all";
	cannot_start(&s, 2, "user 'morph-nobody-at-all' does not exist");
	s.options = good;
	s.options.morph_edit = "/nowhere/edit";
	cannot_start(&s, 2, "'/nowhere/edit': No such file or directory (--morph-edit");
	s.options = good;
	s.options.morph_verify = "/nowhere/verify";
	cannot_start(&s, 2, "'/nowhere/verify': No such file or directory (--morph-verify");
	s.options = good;
	(void)snprintf(path, sizeof(path), "%s/%0*d", s.dir, 108 - (int)strlen(s.dir) - 1, 0);
	s.options.socket = path;	/* 108 bytes and the end: one too many */
	cannot_start(&s, 2, "too long for a socket");
	s.options.socket = s.dir;
	cannot_start(&s, 1, "unlink: Is a directory");
	s.options = good;
	s.options.store = "/nowhere/at/all";
	cannot_start(&s, 1, "'/nowhere/at/all': mkdir: No such file or directory");
	/* no link is followed, neither for the store nor for the spool */
	s.options.store = path;
	(void)snprintf(other, sizeof(other), "%s/other", s.dir);
	assert_int_equal(mkdir(other, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/link", s.dir);
	assert_int_equal(symlink(other, path), 0);
	cannot_start(&s, 1, "open: Not a directory");
	s.options = good;
	(void)snprintf(path, sizeof(path), "%s/spool", s.store);
	assert_int_equal(unlink(path), -1);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink(other, path), 0);
	cannot_start(&s, 1, "set owner: Not a directory");
	assert_int_equal(stat(other, &st), 0);
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0755);
	scene_close(&s);
}

/* A monitor that is told to end comes back at once, as the parent now wants it. */
static void comes_again(const struct scene *s, struct played *manager, struct played *monitor,
			unsigned starts)
{
	(void)played_hears(monitor, MSG_END);
	uint64_t before = role_now_ms();
	played_end(monitor, 0);
	scene_meet(s, MSG_ROLE_MONITOR, monitor);
	assert_in_range(role_now_ms() - before, 0, 5000);
	hears_roles(s, manager, monitor->pid, 1, starts, false);
}

static void settings_reach_the_monitor(void **state)
{
	struct scene s;
	struct played manager, monitor;
	struct msg config = usual;
	unsigned starts = 1;

	needs_root(state);
	scene_open(&s);
	begin_both(&s, &manager, &monitor);
	assert_string_equal(monitor.arg[0], "morphd: monitor");
	assert_int_equal(monitor.listen, -1);
	assert_int_equal(monitor.options.clock, 1);
	assert_int_equal(monitor.options.rate_hz, 97);
	assert_int_equal(monitor.options.drain_s, 3);
	assert_int_equal(monitor.options.spool_max_mib, 64);
	assert_int_equal(monitor.options.stack_bytes, 512);
	assert_false(monitor.options.switched || monitor.options.memory ||
		     monitor.options.paused || monitor.options.registers);
	played_says(&manager, &usual);	/* the same: nothing to do */
	is_silent(&monitor);
	for (int i = 0; i < 7; i++) {
		config.num[i] = i == MSG_CONFIG_switched || i == MSG_CONFIG_memory ?
				1 : config.num[i] + 1;
		played_says(&manager, &config);
		comes_again(&s, &manager, &monitor, ++starts);
	}
	assert_int_equal(monitor.options.clock, 2);
	assert_int_equal(monitor.options.rate_hz, 98);
	assert_int_equal(monitor.options.drain_s, 4);
	assert_int_equal(monitor.options.spool_max_mib, 65);
	assert_int_equal(monitor.options.stack_bytes, 513);
	assert_true(monitor.options.switched && monitor.options.memory);
	assert_false(monitor.options.paused || monitor.options.registers);
	/* what the manager switches is told at once, and again to the next monitor */
	struct msg pause = { .type = MSG_PAUSE, .num = { 1 } };
	struct msg registers = { .type = MSG_REGISTERS, .num = { 1 } };
	played_says(&manager, &pause);
	assert_int_equal(played_hears(&monitor, MSG_SET_PAUSE).num[0], 1);
	played_says(&manager, &registers);
	assert_int_equal(played_hears(&monitor, MSG_SET_REGISTERS).num[0], 1);
	played_says(&manager, &usual);
	comes_again(&s, &manager, &monitor, ++starts);
	assert_true(monitor.options.paused && monitor.options.registers);
	pause.num[0] = registers.num[0] = 0;
	played_says(&manager, &pause);
	assert_int_equal(played_hears(&monitor, MSG_SET_PAUSE).num[0], 0);
	played_says(&manager, &registers);
	assert_int_equal(played_hears(&monitor, MSG_SET_REGISTERS).num[0], 0);
	finish(&s, &manager, &monitor);
}

static void what_the_monitor_says_reaches_the_manager(void **state)
{
	struct scene s;
	struct played manager, monitor;
	struct msg watching = { .type = MSG_WATCHING, .num = { 1 }, .text = "no clock\n\n" };
	struct msg counts = { .type = MSG_MONITOR_COUNTS, .text = "spool" };
	struct msg crashed = { .type = MSG_CRASHED }, m;

	needs_root(state);
	scene_open(&s);
	begin_both(&s, &manager, &monitor);
	played_says(&monitor, &watching);
	hears_roles(&s, &manager, monitor.pid, 1, 1, true);
	assert_string_equal(played_hears(&manager, MSG_LACKS).text, watching.text);
	for (int i = 0; i < 15; i++)
		counts.num[i] = i == MSG_COUNTS_paused || i == MSG_COUNTS_registers ?
				1 : 1000 + (uint64_t)i;
	played_says(&monitor, &counts);
	hears_roles(&s, &manager, monitor.pid, 1, 1, true);
	m = played_hears(&manager, MSG_COUNTS);
	assert_memory_equal(m.num, counts.num, 15 * sizeof(m.num[0]));
	assert_string_equal(m.text, "spool");
	played_says(&monitor, &crashed);
	(void)played_hears(&manager, MSG_CRASHED_TOLD);
	/* the next manager learns the latest of all of it */
	pid_t first = manager.pid;
	played_end(&manager, 0);
	scene_meet(&s, MSG_ROLE_MANAGER, &manager);
	assert_true(manager.pid != first);
	assert_true(scene_logs(&s, "ended by itself; starting it again"));
	assert_string_equal(played_hears(&manager, MSG_LACKS).text, watching.text);
	hears_roles(&s, &manager, monitor.pid, 2, 1, true);
	assert_int_equal(played_hears(&manager, MSG_COUNTS).num[0], 1000);
	is_silent(&manager);
	/* one that does not watch crashes */
	watching.num[0] = 0;
	played_says(&monitor, &watching);
	hears_roles(&s, &manager, monitor.pid, 2, 1, false);
	(void)played_hears(&manager, MSG_COUNTS);
	(void)played_hears(&manager, MSG_LACKS);
	finish(&s, &manager, &monitor);
}

/* The answer to a SYNC: its text. */
static struct msg synced(struct played *manager, int status, const char *text)
{
	struct msg m = played_hears(manager, MSG_REPLY);

	assert_int_equal(m.serial, 7);
	assert_int_equal(m.num[MSG_REPLY_status], status);
	assert_string_equal(m.text, text);
	return m;
}

static void a_sync_goes_to_the_monitor_and_back(void **state)
{
	struct scene s;
	struct played manager, monitor;
	struct msg sync = { .type = MSG_SYNC, .serial = 7 };
	struct msg flushed = { .type = MSG_FLUSHED, .nfd = 1 };
	char text[8] = "";

	needs_root(state);
	scene_open(&s);
	begin(&s, &manager);
	played_says(&manager, &sync);
	(void)synced(&manager, ERR_SYS, "the monitor is not running");
	played_says(&manager, &usual);
	scene_meet(&s, MSG_ROLE_MONITOR, &monitor);
	hears_roles(&s, &manager, monitor.pid, 1, 1, false);
	played_says(&manager, &sync);
	(void)played_hears(&monitor, MSG_FLUSH);
	is_silent(&manager);
	flushed.fd[0] = memfd_create("states", MFD_CLOEXEC);
	assert_int_equal(write(flushed.fd[0], "states", 6), 6);
	played_says(&monitor, &flushed);
	close(flushed.fd[0]);
	struct msg m = synced(&manager, ERR_NONE, "");
	assert_int_equal(m.nfd, 1);
	assert_int_equal(pread(m.fd[0], text, 7, 0), 6);
	assert_string_equal(text, "states");
	msg_close_fds(&m);
	/* it fails */
	played_says(&manager, &sync);
	(void)played_hears(&monitor, MSG_FLUSH);
	flushed = (struct msg){ .type = MSG_FLUSHED, .num = { ERR_SYS }, .text = "disk full" };
	played_says(&monitor, &flushed);
	assert_int_equal(synced(&manager, ERR_SYS, "disk full").nfd, 0);
	/* nobody has asked */
	played_says(&monitor, &flushed);
	is_silent(&manager);
	/* the monitor ends meanwhile */
	played_says(&manager, &sync);
	(void)played_hears(&monitor, MSG_FLUSH);
	played_end(&monitor, 0);
	(void)synced(&manager, ERR_SYS, "the monitor has ended");
	hears_roles(&s, &manager, 0, 1, 1, false);
	finish(&s, &manager, NULL);
}

/* The manager tells people by this number. */
static void how_a_monitor_ended_is_told(void **state)
{
	struct scene s;
	struct played manager, monitor;
	struct msg m;

	needs_root(state);
	scene_open(&s);
	begin_both(&s, &manager, &monitor);
	assert_int_equal(kill(monitor.pid, SIGKILL), 0);
	played_end(&monitor, 0);
	m = played_hears(&manager, MSG_ROLES);
	assert_int_equal(m.num[MSG_ROLES_monitor_ends], 1);
	assert_int_equal(m.num[MSG_ROLES_monitor_code], 128 + SIGKILL);
	finish(&s, &manager, NULL);
}

/* Half a minute: the parent's own patience. */
static void a_monitor_that_does_not_answer_is_killed(void **state)
{
	struct scene s;
	struct played manager, monitor;
	struct msg sync = { .type = MSG_SYNC, .serial = 7 };

	needs_root(state);
	scene_open(&s);
	begin_both(&s, &manager, &monitor);
	played_says(&manager, &sync);
	(void)played_hears(&monitor, MSG_FLUSH);
	assert_true(scene_readable(manager.sock, 90000));
	(void)synced(&manager, ERR_SYS, "the monitor does not answer");
	assert_true(scene_readable(monitor.told, SCENE_WAIT_MS));	/* it is gone */
	played_end(&monitor, 0);
	hears_roles(&s, &manager, 0, 1, 1, false);
	finish(&s, &manager, NULL);
}

static void descriptors_are_not_kept(void **state)
{
	struct scene s;
	struct played manager, monitor;
	struct msg sync = { .type = MSG_SYNC, .serial = 7 };
	struct msg flushed = { .type = MSG_FLUSHED, .nfd = 1 };
	char command[128];

	needs_root(state);
	scene_open(&s);
	begin_both(&s, &manager, &monitor);
	for (int i = 0; i < 3; i++) {
		played_says(&manager, &sync);
		(void)played_hears(&monitor, MSG_FLUSH);
		flushed.fd[0] = memfd_create("the-states", MFD_CLOEXEC);
		played_says(&monitor, &flushed);
		close(flushed.fd[0]);
		struct msg m = synced(&manager, ERR_NONE, "");
		msg_close_fds(&m);
	}
	is_silent(&manager);
	(void)snprintf(command, sizeof(command), "ls -l /proc/%d/fd | grep -q the-states",
		       (int)s.parent);
	assert_int_not_equal(system(command), 0);
	finish(&s, &manager, &monitor);
}

/* Later and later: 100 ms, then twice as long each time. */
static void a_role_that_dies_comes_back_later_and_later(void **state)
{
	struct scene s;
	struct played manager, monitor;
	uint64_t wait_ms = 100;

	needs_root(state);
	scene_open(&s);
	begin_both(&s, &manager, &monitor);
	for (unsigned i = 1; i <= 4; i++, wait_ms *= 2) {
		uint64_t before = role_now_ms();

		played_end(&monitor, i == 1 ? 3 : SCENE_SIGNAL + SIGUSR1);
		hears_roles(&s, &manager, 0, 1, i, false);
		scene_meet(&s, MSG_ROLE_MONITOR, &monitor);
		/* the upper bound is of a busy machine */
		assert_in_range(role_now_ms() - before, wait_ms - 1, wait_ms + 5000);
		hears_roles(&s, &manager, monitor.pid, 1, i + 1, false);
		assert_true(scene_logs(&s, i == 1 ? "ended by itself; starting it again"
						  : "ended by a signal; starting it again"));
	}
	finish(&s, &manager, &monitor);
}

static void a_liar_is_killed(void **state)
{
	struct scene s;
	struct played manager, monitor;
	static const char lie[] = "MM is no message of ours";

	needs_root(state);
	scene_open(&s);
	begin_both(&s, &manager, &monitor);
	pid_t liar = monitor.pid;
	assert_true(send(monitor.sock, lie, sizeof(lie), 0) > 0);
	hears_roles(&s, &manager, 0, 1, 1, false);	/* the process is gone */
	assert_int_equal(kill(liar, 0), -1);
	assert_int_equal(errno, ESRCH);
	assert_true(scene_logs(&s, "monitor (pid "));
	assert_true(scene_logs(&s, ") ended: "));
	played_end(&monitor, 0);
	scene_meet(&s, MSG_ROLE_MONITOR, &monitor);
	hears_roles(&s, &manager, monitor.pid, 1, 2, false);
	/* the manager as well; also before it has come up */
	liar = manager.pid;
	assert_true(send(manager.sock, lie, sizeof(lie), 0) > 0);
	struct played next;
	scene_meet(&s, MSG_ROLE_MANAGER, &next);
	assert_int_equal(kill(liar, 0), -1);
	assert_true(scene_logs(&s, "manager (pid "));
	hears_roles(&s, &next, monitor.pid, 2, 2, false);
	played_end(&manager, 0);
	finish(&s, &next, &monitor);
}

static void a_manager_that_cannot_start_ends_all(void **state)
{
	struct scene s;
	struct played manager;

	needs_root(state);
	scene_open(&s);
	begin(&s, &manager);
	played_end(&manager, 7);
	assert_int_equal(scene_exit_code(&s), 7);
	begin(&s, &manager);
	played_end(&manager, 0);
	assert_int_equal(scene_exit_code(&s), 1);
	begin(&s, &manager);
	played_end(&manager, SCENE_SIGNAL + SIGUSR1);
	assert_int_equal(scene_exit_code(&s), 1);
	assert_true(scene_logs(&s, "the manager ended by a signal while it started"));
	scene_close(&s);
}

static void a_hangup_reads_the_policy_again(void **state)
{
	struct scene s;
	struct played manager;

	needs_root(state);
	scene_open(&s);
	s.options.no_monitor = true;
	begin(&s, &manager);
	assert_int_equal(kill(s.parent, SIGHUP), 0);
	(void)played_hears(&manager, MSG_RELOAD);
	/* without a monitor there is none, and a sync says so */
	struct msg sync = { .type = MSG_SYNC, .serial = 7 };
	played_says(&manager, &usual);
	played_says(&manager, &sync);
	(void)synced(&manager, ERR_SYS, "sampling is off (--no-monitor)");
	assert_false(scene_readable(s.meet, 300));
	finish(&s, &manager, NULL);
}

static void the_starter_waits_until_it_is_up(void **state)
{
	struct scene s;
	struct played manager;
	struct msg m;
	int status;

	needs_root(state);
	scene_open(&s);
	s.options.foreground = false;
	s.options.no_monitor = true;
	scene_start(&s);
	scene_meet(&s, MSG_ROLE_MANAGER, &manager);
	m = played_hears(&manager, MSG_ROLES);
	pid_t daemon = (pid_t)m.num[MSG_ROLES_parent_pid];
	assert_true(daemon != s.parent && getsid(daemon) == daemon);
	assert_false(manager.options.foreground);
	(void)usleep(200000);
	assert_int_equal(waitpid(s.parent, &status, WNOHANG), 0);
	played_says(&manager, &usual);
	assert_int_equal(scene_exit_code(&s), 0);
	assert_int_equal(kill(daemon, SIGTERM), 0);
	(void)played_hears(&manager, MSG_STOP);
	played_end(&manager, 0);
	for (int i = 0; i < 500 && access(s.socket, F_OK) == 0; i++)
		(void)usleep(20000);
	assert_int_equal(access(s.socket, F_OK), -1);
	/* and gets the exit code of one that does not come up */
	scene_start(&s);
	scene_meet(&s, MSG_ROLE_MANAGER, &manager);
	played_end(&manager, 5);
	assert_int_equal(scene_exit_code(&s), 5);
	scene_close(&s);
}

static void a_job_is_told_while_it_runs(void **state)
{
	struct scene s;
	struct played manager;
	struct msg m, run = { .type = MSG_RUN_JOB, .serial = 7, .nfd = 1,
			      .num = { 0, 64, 1, 0, 0, 0 } };

	needs_root(state);
	scene_open(&s);
	s.options.no_monitor = true;
	begin(&s, &manager);
	run.num[MSG_RUN_JOB_kind] = JOB_SYMBOLS;
	run.num[MSG_RUN_JOB_memory_mib] = 256;
	run.num[MSG_RUN_JOB_cpu_s] = 10;
	run.fd[0] = open("/bin/true", O_RDONLY | O_CLOEXEC);
	played_says(&manager, &run);
	m = played_hears(&manager, MSG_ROLES);
	assert_true(m.num[MSG_ROLES_job_pid] > 0);
	assert_int_equal(played_hears(&manager, MSG_REPLY).serial, 7);
	hears_roles(&s, &manager, 0, 1, 0, false);	/* none any more */
	close(run.fd[0]);
	finish(&s, &manager, NULL);
}

static void what_was_recovered_is_told_once(void **state)
{
	struct scene s;
	struct played manager;
	struct install_journal j = { .owner = 0, .temporary = ".morph-000001" };
	struct err err = { 0 };
	struct msg m;

	needs_root(state);
	scene_open(&s);
	s.options.no_monitor = true;
	assert_int_equal(mkdir(s.store, 0700), 0);
	int originals = install_open_originals(s.store, &err);
	assert_true(originals >= 0);
	(void)snprintf(j.path, sizeof(j.path), "%s/gone/1", s.dir);
	memset(&j.from, 0x11, sizeof(j.from));
	memset(&j.to, 0x22, sizeof(j.to));
	assert_int_equal(install_journal_write(originals, &j, &err), 0);
	close(originals);
	scene_start(&s);
	scene_meet(&s, MSG_ROLE_MANAGER, &manager);
	m = played_hears(&manager, MSG_RECOVERED);
	assert_string_equal(m.text, j.path);
	hears_roles(&s, &manager, 0, 1, 0, false);
	played_says(&manager, &usual);
	played_end(&manager, 0);
	scene_meet(&s, MSG_ROLE_MANAGER, &manager);
	hears_roles(&s, &manager, 0, 2, 0, false);	/* the second is not told */
	finish(&s, &manager, NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_manager_comes_first),
		cmocka_unit_test(the_store_is_roots),
		cmocka_unit_test(a_lock_is_waited_for),
		cmocka_unit_test(a_wrong_start_says_why),
		cmocka_unit_test(settings_reach_the_monitor),
		cmocka_unit_test(what_the_monitor_says_reaches_the_manager),
		cmocka_unit_test(a_sync_goes_to_the_monitor_and_back),
		cmocka_unit_test(how_a_monitor_ended_is_told),
		cmocka_unit_test(a_monitor_that_does_not_answer_is_killed),
		cmocka_unit_test(descriptors_are_not_kept),
		cmocka_unit_test(a_role_that_dies_comes_back_later_and_later),
		cmocka_unit_test(a_liar_is_killed),
		cmocka_unit_test(a_manager_that_cannot_start_ends_all),
		cmocka_unit_test(a_hangup_reads_the_policy_again),
		cmocka_unit_test(the_starter_waits_until_it_is_up),
		cmocka_unit_test(a_job_is_told_while_it_runs),
		cmocka_unit_test(what_was_recovered_is_told_once),
	};

	play_if_told(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
