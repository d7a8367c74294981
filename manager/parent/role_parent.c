/* role_parent.c - the privileged parent: starts the roles, serves the manager, ends with all
 *
 * What it holds: the directory of originals, the listening socket (so that clients wait rather
 * than fail while a killed manager comes back), and a socket to each role.  A role that dies is
 * started again, later and later if it keeps dying; a role that lies is killed first.  When the
 * parent itself is killed, its roles die with it and the next start finishes or undoes the
 * swap.
 *
 * The monitor's settings come from the manager (CONFIG), because reading a policy is parsing.
 *
 * WHAT PROTECTS THE PARENT from a manager or a monitor that was taken over and lies:
 *
 *	lib/msg.def, lib/msg.c	which role may send which message, with which ranges of
 *				numbers, how many descriptors and what text; anything else is
 *				a lie, and on_role() kills the role
 *	requests.c		what may be asked for, and what is checked first (its head
 *				has the list): files opened, jobs run, programs installed
 *	install_file.c		which paths may be touched, held by descriptors
 *	job.c			the cage of every job, before its program starts
 *
 * Shown by tests/unit/manager/parent/test_requests.c (lies are refused), test_races.c (paths
 * that change under its hands), test_cage.c (jobs that try), tests/e2e/trust.sh (roles that
 * try), tests/fuzz/fuzz_msg.c (any bytes) and tests/lint/parent.sh (nothing else runs as root).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/landlock.h"
#include "manager/parent/counting.h"
#include "manager/parent/install.h"
#include "manager/parent/ledger.h"
#include "manager/parent/listen.h"
#include "manager/parent/livework.h"
#include "manager/parent/notify.h"
#include "manager/parent/patience.h"
#include "manager/parent/private.h"
#include "manager/parent/requests.h"
#include "manager/parent/rights.h"
#include "manager/parent/role.h"
#include "manager/parent/sharing.h"
#include "manager/parent/upkeep.h"

enum {
	BACKOFF_FIRST_MS = 100, BACKOFF_MOST_MS = 30000,
	HEALTHY_MS = 60000,		/* a role that lived so long starts again at once */
	STOP_MS = 15000,		/* then roles that still run are killed */
};

struct role_state {
	struct role_child child;
	bool wanted;
	bool told_to_end;		/* to come back with other settings */
	uint64_t started_ms, restart_ms, backoff_ms;
};

struct parent {
	struct role_options options;
	struct requests requests;
	struct role_state manager, monitor;
	struct sharing sharing;
	int signal_fd, listen_fd;
	/* not in the foreground: who waits for our start; or -1 */
	int ready_fd;
	struct upkeep upkeep;
	struct msg counts, lacks;	/* the latest of the monitor */
	bool configured;		/* the manager has come up once */
	bool stopping;
	uint64_t stop_end_ms;
	bool crashes_watched;	/* by the monitor */
	uint32_t monitor_ends;	/* by itself */
	unsigned monitor_code;	/* its last one's: exit code, or 128 and the signal */
	struct rights rights;
	pid_t job_told;		/* of the job that the manager knows of; 0: none */
	int exit_code;
};

/* --- open --- */

/* By descriptor: its owner could have put a link to another file there, of either kind. */
static int prepare_spool(int store_fd, const struct job_user *user)
{
	if (mkdirat(store_fd, "spool", 0700) < 0 && errno != EEXIST)
		return -1;
	int fd = openat(store_fd, "spool", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	int rc = fchown(fd, user->uid, user->gid);
	close(fd);
	return rc;
}

/* DIR is root's and sticky: the daemon's user makes files in it, but cannot put another
 * folder in the place of `originals`. */
static int prepare_store(const struct parent *p, struct err *err)
{
	const char *dir = p->options.store;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return err_set(err, ERR_SYS, "'%s': mkdir: %s", dir, strerror(errno));
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", dir, strerror(errno));
	int rc = 0;
	if (p->requests.user.change &&
	    (fchown(fd, 0, p->requests.user.gid) < 0 || fchmod(fd, 01770) < 0 ||
	     prepare_spool(fd, &p->requests.user) < 0))
		rc = err_set(err, ERR_SYS, "'%s': set owner: %s", dir, strerror(errno));
	close(fd);
	return rc;
}

static int open_signals(struct err *err)
{
	sigset_t set;

	(void)sigemptyset(&set);	/* these cannot fail for valid signals */
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return err_set(err, ERR_SYS, "signalfd: %s", strerror(errno));
	return fd;
}

/* One daemon for each store.  A parent that was killed while it started a job leaves its lock
 * to that child until the child has closed what it inherited: we wait a moment for it. */
static int lock_store(int originals_fd, const char *store, struct err *err)
{
	enum { TRIES = 60 };
	const struct timespec pause = { .tv_nsec = 50 * 1000 * 1000 };

	for (int i = 0; flock(originals_fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_set(err, ERR_SYS, "'%s': lock: %s", store, strerror(errno));
		if (i == TRIES)
			return err_set(err, ERR_SYS, "'%s': another morphd uses this store",
				       store);
		(void)nanosleep(&pause, NULL);	/* cut short by a signal: one try more */
	}
	return 0;
}

/* Nothing else depends on it. */
static void open_live(struct parent *p)
{
	const char *program = p->options.morph_live;
	struct err err = { 0 };

	if (access(program, X_OK) == 0)
		p->requests.live = livework_new(p->options.store, program, &err);
	else
		err_set(&err, ERR_SYS, "'%s': %s", program, strerror(errno));
	if (!p->requests.live)
		role_warn("running processes are left alone: %s", err.text);
}

static int parent_open(struct parent *p, struct err *err)
{
	if (role_user(p->options.user, &p->requests.user, err) < 0)
		return -1;
	p->requests.job_user = p->requests.user;
	if (p->requests.user.change &&
	    role_user(p->options.job_user, &p->requests.job_user, err) < 0)
		return -1;
	if (!p->requests.user.change && !p->options.no_monitor)
		return err_set(err, ERR_USAGE,
			       "needs root to sample all processes; --no-monitor "
			       "does without samples");
	if (access(p->options.morph_edit, X_OK) < 0)
		return err_set(err, ERR_USAGE, "'%s': %s (--morph-edit names the Editor)",
			       p->options.morph_edit, strerror(errno));
	if (access(p->options.morph_verify, X_OK) < 0)
		return err_set(err, ERR_USAGE, "'%s': %s (--morph-verify names the Verifier)",
			       p->options.morph_verify, strerror(errno));
	p->signal_fd = open_signals(err);
	if (p->signal_fd < 0 || prepare_store(p, err) < 0)
		return -1;
	p->requests.originals_fd = install_open_originals(p->options.store, err);
	if (p->requests.originals_fd < 0)
		return -1;
	if (lock_store(p->requests.originals_fd, p->options.store, err) < 0)
		return -1;
	p->requests.ledger_fd = ledger_open(p->options.store, err);
	if (p->requests.ledger_fd < 0)
		return -1;
	open_live(p);
	/* Every program is whole, so sampling goes on whatever comes of it. */
	upkeep_begin(&p->upkeep, p->requests.originals_fd, p->requests.ledger_fd);
	p->listen_fd = listen_at(p->options.socket, err);
	return p->listen_fd < 0 ? -1 : 0;
}

/* --- roles --- */

/* A role that takes no messages any more is of no use; its end is then seen at its socket. */
static void give_up(struct role_state *r, const struct err *err)
{
	role_log_err(err);
	if (r->child.pid)
		(void)kill(r->child.pid, SIGKILL);	/* it may have ended by itself */
}

static void say(struct role_state *r, enum msg_type type, uint64_t num)
{
	struct msg m = { .type = type, .num = { num } };
	struct err err;

	if (r->child.pid && msg_send(r->child.sock, &m, &err) < 0)
		give_up(r, &err);
}

/* To systemd, if it asks. */
static void tell_status(const struct parent *p, const char *state)
{
	const struct notify_sampling how = {
		p->options.no_monitor, p->monitor.child.pid != 0, p->options.paused,
		p->monitor_ends, p->counts.text
	};

	notify_sampling(state, &how);
}

static void tell_roles(struct parent *p)
{
	struct msg m = { .type = MSG_ROLES };
	struct err err;

	if (p->configured)
		tell_status(p, "");
	p->job_told = requests_job_pid(&p->requests);
	if (!p->manager.child.pid)
		return;
	m.num[MSG_ROLES_job_pid] = (uint64_t)p->job_told;
	m.num[MSG_ROLES_parent_pid] = (uint64_t)getpid();
	m.num[MSG_ROLES_monitor_pid] = (uint64_t)p->monitor.child.pid;
	m.num[MSG_ROLES_manager_starts] = p->manager.child.starts;
	m.num[MSG_ROLES_monitor_starts] = p->monitor.child.starts;
	m.num[MSG_ROLES_crashes_watched] = p->monitor.child.pid && p->crashes_watched;
	m.num[MSG_ROLES_job_namespaces] = p->rights.namespaces;
	m.num[MSG_ROLES_all_attributes] = p->rights.attributes;
	m.num[MSG_ROLES_monitor_ends] = p->monitor_ends;
	m.num[MSG_ROLES_monitor_code] = p->monitor_code;
	if (msg_send(p->manager.child.sock, &m, &err) < 0 ||
	    (p->counts.type && msg_send(p->manager.child.sock, &p->counts, &err) < 0))
		give_up(&p->manager, &err);
}

/* What the monitor has to do without. */
static void tell_lacks(struct parent *p)
{
	struct err err;

	if (p->manager.child.pid && p->lacks.type &&
	    msg_send(p->manager.child.sock, &p->lacks, &err) < 0)
		give_up(&p->manager, &err);
}

static void tell_recovered(struct parent *p)
{
	struct upkeep *u = &p->upkeep;
	struct err err;

	for (int i = 0; i < u->nrecovered && p->manager.child.pid; i++) {
		const struct install_recovered *r = &u->recovered[i];
		struct msg m = { .type = MSG_RECOVERED, .digest = { r->from, r->to } };

		m.num[MSG_RECOVERED_outcome] = r->outcome;
		memcpy(m.text, r->path, strnlen(r->path, MSG_MAX_TEXT));
		if (msg_send(p->manager.child.sock, &m, &err) < 0) {
			give_up(&p->manager, &err);
			return;		/* the next one is told */
		}
	}
	if (p->manager.child.pid)
		u->nrecovered = 0;
}

static void tell_counted(struct parent *p)
{
	struct counting_taken t;
	struct err err;

	for (int i = 0; i < COUNTING_HELD && counting_step(p->requests.counting, &t); i++) {
		struct msg m = { .type = MSG_COUNTED, .digest = { t.generation }, .nfd = 1,
				 .fd = { t.fd } };

		m.num[MSG_COUNTED_uid] = t.uid;
		m.num[MSG_COUNTED_ms] = t.ms;
		if (p->manager.child.pid && msg_send(p->manager.child.sock, &m, &err) < 0)
			give_up(&p->manager, &err);
		close(t.fd);
	}
}

/* Of an exchange with the fleet's database that is over. */
static void tell_shared(struct parent *p, struct msg *m)
{
	struct err err;

	if (p->manager.child.pid && msg_send(p->manager.child.sock, m, &err) < 0)
		give_up(&p->manager, &err);
	msg_close_fds(m);
}

static void start_role(struct parent *p, struct role_state *r)
{
	bool manager = r == &p->manager;
	struct err err;

	r->started_ms = role_now_ms();
	r->told_to_end = false;
	if (manager)
		private_make_way(p->options.store);
	if (role_start(&r->child, &p->options, manager ? p->listen_fd : -1, &err) < 0) {
		role_log_err(&err);
		r->restart_ms = r->started_ms + BACKOFF_MOST_MS;
		return;
	}
	if (manager) {
		p->requests.reply_sock = r->child.sock;
		tell_recovered(p);
		tell_lacks(p);
	}
	tell_roles(p);
}

static void end_role(struct parent *p, struct role_state *r, const char *why)
{
	bool manager = r == &p->manager;
	uint64_t now = role_now_ms();
	struct err err;

	if (!r->child.pid)
		return;
	/* A role that has closed its socket is about to end: its own exit code tells more. */
	struct pollfd f = { r->child.pidfd, POLLIN, 0 };
	if (!why)
		(void)poll(&f, 1, 1000);
	pid_t pid = r->child.pid;
	int status = role_reap(&r->child);
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (manager) {
		requests_abort(&p->requests);
		sharing_end(&p->sharing);	/* who asked for it is no more */
	} else if (requests_synced(&p->requests, false, "the monitor has ended", -1,
				   &err) < 0) {
		give_up(&p->manager, &err);
	}
	if (p->stopping)
		return;
	if (manager && !p->configured && !why) {
		if (code < 0)
			role_error("the manager ended by a signal while it started");
		p->stopping = true;	/* it has said why it cannot start */
		p->stop_end_ms = now;
		p->exit_code = code > 0 ? code : 1;
		return;
	}
	if (r->told_to_end) {
		r->told_to_end = false;
		r->restart_ms = now;
		return;
	}
	role_error("%s (pid %d) ended%s%s; starting it again", manager ? "manager" : "monitor",
		 (int)pid,
		 why	     ? ": "
		 : code >= 0 ? " by itself"
			     : " by a signal",
		 why ? why : "");
	if (!manager) {
		p->monitor_ends++;
		p->monitor_code = code >= 0 ? (unsigned)code : 128 + (unsigned)WTERMSIG(status);
	}
	r->backoff_ms = now - r->started_ms >= HEALTHY_MS || !r->backoff_ms ? BACKOFF_FIRST_MS
			: r->backoff_ms * 2 > BACKOFF_MOST_MS		    ? BACKOFF_MOST_MS
									    : r->backoff_ms * 2;
	r->restart_ms = now + r->backoff_ms;
	tell_roles(p);
}

static void stop(struct parent *p)
{
	if (p->stopping)
		return;
	notify_tell("STOPPING=1", "Stopping");
	p->stopping = true;
	p->stop_end_ms = role_now_ms() + STOP_MS;
	say(&p->monitor, MSG_END, 0);
	say(&p->manager, MSG_STOP, 0);
	requests_abort(&p->requests);	/* the manager gets no answer, but has been told why */
}

/* --- loop --- */

static void on_signal(struct parent *p)
{
	struct signalfd_siginfo s;

	while (read(p->signal_fd, &s, sizeof(s)) == (ssize_t)sizeof(s)) {
		if (s.ssi_signo == SIGHUP)
			say(&p->manager, MSG_RELOAD, 0);
		else
			stop(p);
	}
}

static void configure(struct parent *p, const struct msg *m)
{
	struct role_options *o = &p->options;
	unsigned clock = (unsigned)m->num[MSG_CONFIG_clock];
	unsigned rate = (unsigned)m->num[MSG_CONFIG_rate_hz];
	unsigned drain = (unsigned)m->num[MSG_CONFIG_drain_s];
	unsigned spool = (unsigned)m->num[MSG_CONFIG_spool_max_mib];
	bool switched = m->num[MSG_CONFIG_switched] != 0;
	unsigned stack = (unsigned)m->num[MSG_CONFIG_stack_bytes];
	bool memory = m->num[MSG_CONFIG_memory] != 0;
	unsigned branches = (unsigned)m->num[MSG_CONFIG_branches_hz];
	bool same = o->clock == clock && o->rate_hz == rate && o->drain_s == drain &&
		    o->spool_max_mib == spool && o->switched == switched &&
		    o->stack_bytes == stack && o->memory == memory &&
		    o->branches_hz == branches;

	o->clock = clock;
	o->rate_hz = rate;
	o->drain_s = drain;
	o->spool_max_mib = spool;
	o->switched = switched;
	o->stack_bytes = stack;
	o->memory = memory;
	o->branches_hz = branches;
	if (!p->configured && p->ready_fd >= 0) {
		(void)write(p->ready_fd, "", 1);	/* who waited may have gone */
		close(p->ready_fd);
		p->ready_fd = -1;
		role_detach(o);
	}
	bool first = !p->configured;
	p->configured = true;
	p->monitor.wanted = !o->no_monitor;
	if (first)
		tell_status(p, "READY=1");
	if (!same && p->monitor.child.pid) {
		p->monitor.told_to_end = true;
		say(&p->monitor, MSG_END, 0);
	}
}

static int manager_message(struct parent *p, struct msg *m, struct err *err)
{
	struct msg shared;

	switch (m->type) {
	case MSG_CONFIG:
		configure(p, m);
		return 0;
	case MSG_PAUSE:
		p->options.paused = m->num[MSG_PAUSE_on] != 0;
		say(&p->monitor, MSG_SET_PAUSE, p->options.paused);
		return 0;
	case MSG_REGISTERS:
		p->options.registers = m->num[MSG_REGISTERS_on] != 0;
		say(&p->monitor, MSG_SET_REGISTERS, p->options.registers);
		return 0;
	case MSG_SHARE:
		if (sharing_begin(&p->sharing, &p->options, m, &shared) < 0)
			tell_shared(p, &shared);
		return 0;
	case MSG_YIELD:
		return requests_yield(&p->requests, m, err);
	default:
		if (requests_take(&p->requests, m, err) < 0)
			return -1;
	}
	if (p->requests.syncing && p->monitor.child.pid)
		say(&p->monitor, MSG_FLUSH, 0);
	else if (p->requests.syncing)
		return requests_synced(&p->requests, false, p->options.no_monitor ?
				   "sampling is off (--no-monitor)" :
				   "the monitor is not running", -1, err);
	return 0;
}

static int monitor_message(struct parent *p, struct msg *m, struct err *err)
{
	if (m->type == MSG_FLUSHED) {
		int rc = requests_synced(&p->requests, m->num[MSG_FLUSHED_status] == 0, m->text,
				     m->nfd ? m->fd[0] : -1, err);

		msg_close_fds(m);
		return rc;
	}
	if (m->type == MSG_CRASHED) {
		say(&p->manager, MSG_CRASHED_TOLD, 0);
		return 0;
	}
	if (m->type == MSG_WATCHING) {
		p->crashes_watched = m->num[MSG_WATCHING_crashes] != 0;
		p->lacks = (struct msg){ .type = MSG_LACKS };
		strcpy(p->lacks.text, m->text);		/* the same text */
		tell_roles(p);
		tell_lacks(p);
		return 0;
	}
	/* systemd hears it as a line, and profiles have it in one */
	if (m->text[strspn(m->text, "abcdefghijklmnopqrstuvwxyz-")])
		return err_set(err, ERR_INPUT, "a clock of no known form");
	p->counts = *m;
	p->counts.type = MSG_COUNTS;	/* the same numbers */
	tell_roles(p);
	return 0;
}

/* Has it read nearly all that it was told?  What the monitor says waits till then: or a flood
 * of it would fill the manager's socket, and he be given up for not reading. */
static bool manager_hears(const struct parent *p)
{
	struct pollfd f = { p->manager.child.sock, POLLOUT, 0 };

	return !p->manager.child.pid || (poll(&f, 1, 0) == 1 && (f.revents & POLLOUT));
}

static void on_role(struct parent *p, struct role_state *r)
{
	enum msg_role role = r->child.role;
	struct msg m = { 0 };
	struct err err = { 0 };

	for (int i = 0; i < 64 && r->child.pid && (r != &p->monitor || manager_hears(p)); i++) {
		int rc = msg_receive(r->child.sock, role, MSG_ROLE_PARENT, &m, &err);

		if (rc == 0)
			return;
		if (rc > 0)
			rc = role == MSG_ROLE_MANAGER ? manager_message(p, &m, &err)
						      : monitor_message(p, &m, &err);
		if (rc < 0) {
			end_role(p, r, err.kind == ERR_INPUT ? err.text : NULL);
			return;
		}
	}
}

static int until(uint64_t end_ms, int timeout_ms)
{
	uint64_t now = role_now_ms();

	return patience_earlier(end_ms > now ? (int)(end_ms - now) : 0, timeout_ms);
}

/* Starts what should run; milliseconds until the next start, -1 for none. */
static int keep_running(struct parent *p)
{
	struct role_state *all[] = { &p->manager, &p->monitor };
	int timeout = -1;

	for (int i = 0; i < 2; i++) {
		struct role_state *r = all[i];

		if (!r->wanted || r->child.pid || p->stopping)
			continue;
		if (role_now_ms() >= r->restart_ms)
			start_role(p, r);
		if (!r->child.pid)
			timeout = until(r->restart_ms, timeout);
	}
	return timeout;
}

static void turn(struct parent *p)
{
	struct pollfd f[6 + COUNTING_POLL];
	struct err err = { 0 };
	struct msg shared;
	int timeout = patience_earlier(keep_running(p), requests_poll(&p->requests, f + 3));
	bool may = !p->requests.busy && !p->stopping;

	timeout = patience_earlier(timeout, counting_poll(p->requests.counting, f + 6));
	timeout = patience_earlier(timeout, upkeep_poll(&p->upkeep, may));
	f[0] = (struct pollfd){ p->signal_fd, POLLIN, 0 };
	bool hears = manager_hears(p);
	f[1] = (struct pollfd){ p->manager.child.sock, hears ? POLLIN : POLLIN | POLLOUT, 0 };
	f[2] = (struct pollfd){ hears ? p->monitor.child.sock : -1, POLLIN, 0 };
	f[5] = (struct pollfd){ p->sharing.child.sock, POLLIN, 0 };
	if (p->sharing.child.pid)
		timeout = until(p->sharing.end_ms, timeout);
	if (p->stopping)
		timeout = until(p->stop_end_ms, timeout);
	if (poll(f, 6 + COUNTING_POLL, timeout) < 0 && errno != EINTR)
		role_error("poll: %s", strerror(errno));
	tell_counted(p);	/* first: who began a moment ago may end soon */
	on_signal(p);
	if (f[2].revents)
		on_role(p, &p->monitor);
	if (requests_step(&p->requests, &err) < 0)
		give_up(&p->manager, &err);
	if (p->requests.monitor_silent) {
		err_set(&err, ERR_SYS, "the monitor does not answer");
		give_up(&p->monitor, &err);
		p->requests.monitor_silent = false;
	}
	if (f[1].revents && p->manager.child.pid)
		on_role(p, &p->manager);
	if (sharing_step(&p->sharing, f[5].revents != 0, &shared))
		tell_shared(p, &shared);
	if (requests_job_pid(&p->requests) != p->job_told)
		tell_roles(p);
	if (p->requests.swap_failed)
		upkeep_soon(&p->upkeep);
	p->requests.swap_failed = false;
	if (!p->requests.busy && !p->stopping && upkeep_step(&p->upkeep))
		tell_recovered(p);
}

static int parent_loop(struct parent *p)
{
	p->manager.wanted = true;
	while (!p->stopping || ((p->manager.child.pid || p->monitor.child.pid) &&
				role_now_ms() < p->stop_end_ms))
		turn(p);
	(void)role_reap(&p->manager.child);	/* nothing is learned from how they ended */
	(void)role_reap(&p->monitor.child);
	sharing_end(&p->sharing);
	requests_abort(&p->requests);
	(void)unlink(p->options.socket);	/* the next start would remove it too */
	return p->exit_code;
}

/* Not in the foreground: the caller returns once the daemon is up, with its exit code if
 * not. */
static int background(void)
{
	int fd[2], status = 1;
	char byte;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		close(fd[0]);
		(void)setsid();		/* a fresh child is no group leader */
		return fd[1];
	}
	close(fd[1]);
	if (pid > 0 && read(fd[0], &byte, 1) == 1)
		_exit(0);
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	_exit(1);
}

int role_parent(const struct role_options *o)
{
	struct parent p = {
		.options = *o, .ready_fd = -1,
		.manager.child = { .role = MSG_ROLE_MANAGER, .pidfd = -1, .sock = -1 },
		.monitor.child = { .role = MSG_ROLE_MONITOR, .pidfd = -1, .sock = -1 },
		.sharing = SHARING_NONE,
	};
	struct err err = { 0 };

	p.requests.options = &p.options;
	p.requests.counting = counting_new();
	if (parent_open(&p, &err) < 0) {
		role_error("%s", err.text);
		return err_exit_code(&err);
	}
	if (!o->foreground) {
		int fd = background();	/* returns in the daemon only */
		if (fd < 0)
			return 1;
		p.ready_fd = fd;
	}
	role_log("pid %d, as user %d: may open programs, start morph-edit as user %d, and "
		 "replace "
		 "programs by proven ones",
		 (int)getpid(), (int)geteuid(), (int)p.requests.job_user.uid);
	p.rights = rights_here();
	rights_log(&p.rights);
	if (!landlock_version())
		role_warn("this kernel has no Landlock: a broken part of Morph could read what "
			 "everybody may read");
	return parent_loop(&p);
}
