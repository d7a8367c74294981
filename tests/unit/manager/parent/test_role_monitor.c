/* test_role_monitor.c - the monitor's process around its loop: what it asks of the kernel, what
 * it may do then, and what its exit code says
 *
 * Each case is a process of its own, which ends as the role does.  The loop is one made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/msg.h"
#include "manager/parent/role.h"
#include "monitor/monitor.h"

/* --- what stands for the kernel, and for the loop --- */

struct perf_set {
	bool crashes, guards;
	struct lacks lacks;
};

static struct perf_set made;
static bool cannot_open;
static struct perf_options wanted;
static int (*loop)(const struct monitor_options *o, struct monitor_counts *counts,
		   struct err *err);
static char store[32];
static struct role_options options;

enum { ENDED, FAILED, CHECKED = 42 };	/* exit codes; the last one of a loop that is done */

struct perf_set *perf_open(const struct perf_options *o, struct err *err)
{
	wanted = *o;
	if (!cannot_open)
		return &made;
	(void)err_set(err, ERR_SYS, "no events here");
	return NULL;
}

void perf_close(struct perf_set *set)
{
	(void)set;
}

bool perf_tells_crashes(const struct perf_set *set)
{
	return set->crashes;
}

bool perf_guards(const struct perf_set *set)
{
	return set->guards;
}

const struct lacks *perf_lacks(const struct perf_set *set)
{
	return &set->lacks;
}

int monitor_tell_failure(int command_fd, const char *why, struct err *err)
{
	struct msg m = { .type = MSG_WATCHING };

	(void)snprintf(m.text, sizeof(m.text), "%s", why);
	return msg_send(command_fd, &m, err);
}

int monitor_run(struct perf_set *set, const struct monitor_options *o,
		struct monitor_counts *counts, struct err *err)
{
	if (set != &made)
		_exit(FAILED);
	return loop(o, counts, err);
}

/* In the child: a line, and its end. */
#define MUST(x) do { \
	if (!(x)) { \
		(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
		_exit(99); \
	} \
} while (0)

/* --- a role in a process of its own --- */

static int setup(void **state)
{
	char path[48];

	(void)state;
	strcpy(store, "/tmp/morph-store.XXXXXX");
	assert_non_null(mkdtemp(store));
	assert_int_equal(chmod(store, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/spool", store);
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(chmod(path, 0777), 0);
	memset(&made, 0, sizeof(made));
	cannot_open = false;
	loop = NULL;
	options = (struct role_options){
		.role = MSG_ROLE_MONITOR, .store = store, .user = "nobody", .foreground = true,
		.clock = MONITOR_CLOCK_TICK, .rate_hz = 211, .drain_s = 7, .spool_max_mib = 5,
		.stack_bytes = 1003, .branches_hz = 17, .memory = true,
	};
	return 0;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", store);
	return system(command);
}

/* Its exit code; what it said to the parent is in *said, if it said anything. */
static int role(struct msg *said)
{
	int pair[2], status;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(fcntl(pair[0], F_SETFL, O_NONBLOCK), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (dup2(pair[1], ROLE_FD_PARENT) != ROLE_FD_PARENT)
			_exit(98);
		_exit(role_monitor(&options));
	}
	close(pair[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	said->type = MSG_NONE;
	struct err err;
	(void)msg_receive(pair[0], MSG_ROLE_MONITOR, MSG_ROLE_PARENT, said, &err);
	close(pair[0]);
	return WEXITSTATUS(status);
}

/* --- what it asks for --- */

static int asked(const struct monitor_options *o, struct monitor_counts *counts,
		 struct err *err)
{
	(void)counts;
	(void)err;
	MUST(wanted.clock == MONITOR_CLOCK_TICK && wanted.rate_hz == 211);
	MUST(wanted.pid == PERF_PID_ALL && !wanted.user_only);
	MUST(wanted.stack_bytes == 1000 && wanted.branches_hz == 17);
	MUST(wanted.crashes && wanted.guard && wanted.kernel_pcs);
	MUST(o->command_fd == ROLE_FD_PARENT && o->drain_s == 7);
	MUST(fcntl(o->command_fd, F_GETFD) & FD_CLOEXEC);
	MUST(o->spool_max_bytes == 5 << 20 && o->states_max_bytes > 0);
	MUST(o->nown_pid == 1 && o->own_pid[0] == (uint32_t)getppid());
	MUST(o->confine != NULL);
	_exit(CHECKED);
}

static int asked_without_registers(const struct monitor_options *o,
				   struct monitor_counts *counts, struct err *err)
{
	MUST(wanted.state == PERF_STATE_NEVER && !wanted.memory);
	MUST(!o->switched && !o->registers && !o->paused);
	return asked(o, counts, err);
}

static int asked_with_registers(const struct monitor_options *o, struct monitor_counts *counts,
				struct err *err)
{
	MUST(wanted.state == PERF_STATE_SWITCHED && wanted.memory);
	MUST(o->switched && o->registers && o->paused);
	return asked(o, counts, err);
}

static void the_policy_reaches_the_kernel(void **state)
{
	struct msg said;

	(void)state;
	loop = asked_without_registers;
	assert_int_equal(role(&said), CHECKED);
	loop = asked_with_registers;
	options.switched = options.registers = options.paused = true;
	assert_int_equal(role(&said), CHECKED);
}

/* --- what it may do --- */

static int try_things(const struct monitor_options *o, struct monitor_counts *counts,
		      struct err *err)
{
	char elsewhere[64];

	(void)counts;
	(void)snprintf(elsewhere, sizeof(elsewhere), "%s/else", store);
	/* what is possible before, or its failure says nothing of the cage */
	int fd = open(elsewhere, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	MUST(fd >= 0 && close(fd) == 0 && unlink(elsewhere) == 0);
	MUST(geteuid() == 0);
	MUST(o->confine(o->confine_ctx, err) == 0);
	MUST(geteuid() != 0 && getuid() != 0 && setuid(0) < 0);
	MUST(open(elsewhere, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0);
	MUST(open("/etc/passwd", O_RDWR | O_CLOEXEC) < 0);
#ifndef MORPH_SANITIZED		/* who needs more system calls */
	MUST(socket(AF_INET, SOCK_STREAM, 0) < 0);
#endif
	fd = openat(o->spool_dirfd, "new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	MUST(fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0);
	_exit(CHECKED);
}

static void confined_it_writes_its_spool_alone(void **state)
{
	struct msg said;

	(void)state;
	if (geteuid() != 0)
		skip();
	loop = try_things;
	assert_int_equal(role(&said), CHECKED);
}

static int try_as_nobody(const struct monitor_options *o, struct monitor_counts *counts,
			 struct err *err)
{
	(void)counts;
	MUST(o->confine(o->confine_ctx, err) < 0);
	_exit(CHECKED);
}

static void without_its_user_it_is_not_confined(void **state)
{
	struct msg said;

	(void)state;
	loop = try_as_nobody;
	options.user = "no-such-user-anywhere";
	assert_int_equal(role(&said), CHECKED);
}

/* --- how it ends --- */

static int never(const struct monitor_options *o, struct monitor_counts *counts,
		 struct err *err)
{
	(void)o;
	(void)counts;
	(void)err;
	_exit(99);
}

static void without_events_the_parent_learns_why(void **state)
{
	struct msg said;

	(void)state;
	cannot_open = true;
	loop = never;
	assert_int_equal(role(&said), FAILED);
	assert_int_equal(said.type, MSG_WATCHING);
	assert_string_equal(said.text, "no events here");
}

static void without_a_spool_of_its_own_it_ends(void **state)
{
	char path[48], away[48];
	struct msg said;

	(void)state;
	loop = never;
	(void)snprintf(path, sizeof(path), "%s/spool", store);
	(void)snprintf(away, sizeof(away), "%s/away", store);
	assert_int_equal(rename(path, away), 0);
	assert_int_equal(role(&said), FAILED);
	assert_int_equal(symlink(away, path), 0);	/* nor through a link */
	assert_int_equal(role(&said), FAILED);
}

static int end_well(const struct monitor_options *o, struct monitor_counts *counts,
		    struct err *err)
{
	(void)o;
	(void)err;
	counts->cpu_came = true;
	return 0;
}

static int end_badly(const struct monitor_options *o, struct monitor_counts *counts,
		     struct err *err)
{
	(void)o;
	(void)counts;
	return err_set(err, ERR_SYS, "it cannot go on");
}

static void its_exit_code_is_how_the_loop_ended(void **state)
{
	struct msg said;

	(void)state;
	loop = end_well;
	assert_int_equal(role(&said), ENDED);
	loop = end_badly;
	assert_int_equal(role(&said), FAILED);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_policy_reaches_the_kernel),
		T(confined_it_writes_its_spool_alone),
		T(without_its_user_it_is_not_confined),
		T(without_events_the_parent_learns_why),
		T(without_a_spool_of_its_own_it_ends),
		T(its_exit_code_is_how_the_loop_ended),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
