/* role_manager.c - the manager: works the spool off, decides, serves morphctl
 *
 * One thread.  Requests that are answered from what is known are answered where they come in;
 * those that take long wait in a queue (queue.h) and are worked off one at a time.  While one
 * of them waits for the parent, turn() goes on serving the others.
 *
 * Tested by tests/e2e/daemon.sh and bad_client.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/confine.h"
#include "lib/err.h"
#include "manager/work/answer.h"
#include "manager/control/command.h"
#include "manager/control/control.h"
#include "manager/control/role_manager.h"
#include "manager/parent/install_recover.h"
#include "manager/parent/role.h"
#include "manager/control/watch.h"
#include "manager/work/lookwait.h"
#include "manager/work/work.h"
#include "policy/sense.h"
#include "policy/policy.h"

/* A program that dies over and over must not keep the machine busy with looking at it. */
enum { CRASH_EVERY_MS = 1000 };
/* a request that waits its turn is worth so many others */
enum { SLOW_TOKENS = 10 };
/* What a millisecond of our own is worth in bytes that are read of a user's files: by
 * LOOKWAIT_PER_S he may have a sixteenth of our time in the long run, eight seconds at once. */
enum { REQUEST_OF_CPU_MS = 32 << 10 };

enum { KEPT_FREE_BYTES = 64 << 10 };

/* --- requests --- */

static bool may_ask(struct manager *m, const struct command *c, const struct client *cl,
		    struct err *err)
{
	if (control_trusted(cl))
		return true;
	unsigned s = quota_take(&m->quota, control_uid(cl), c->slow ? SLOW_TOKENS : 1,
				m->work.now_ms());
	if (!s && c->slow)
		s = (unsigned)((lookwait_debt_ms(m->work.lookwait, control_uid(cl),
						 m->work.now_ms()) + 999) / 1000);
	if (s)
		err_set(err, ERR_REFUSED, "%s: " ANSWER_TOO_MANY "; again in %u s", c->name, s);
	else if (c->who == FOR_TRUSTED)
		err_set(err, ERR_REFUSED,
			"%s: only root and the group of the daemon's user may "
			"do this",
			c->name);
	else
		return true;
	return false;
}

static void on_request(void *ctx, struct client *cl, int argc, const char *const *argv)
{
	struct manager *m = ctx;
	struct err err;
	const char *why;

	const struct command *c = command_find(argc, argv, &why);
	if (!c) {
		err_set(&err, ERR_USAGE, "%s: %s", argv[0], why);
		control_fail(cl, &err);
		return;
	}
	if (!may_ask(m, c, cl, &err)) {
		control_fail(cl, &err);
		return;
	}
	if (!c->slow) {
		m->ask.quick = true;	/* another question may be under way */
		int code = c->run(&m->work, cl, argc, argv);
		m->ask.quick = false;
		control_end(cl, code);
		return;
	}
	struct pending p = { .client = cl, .command = c, .trusted = control_trusted(cl),
			     .uid = control_uid(cl), .argc = argc };
	memcpy(p.argv, argv, sizeof(*argv) * (size_t)argc);
	if (m->queue.n || m->answering)
		answer_line(control_answer(cl), "waiting for other work to end");
	queue_put(&m->queue, &p);
	m->ask.trusted_waits = queue_has_trusted(&m->queue);
}

static uint64_t own_cpu_ms(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);	/* cannot fail for this one */
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The exit code.  What it takes us is the asker's, as reading his files is: who has files that
 * take us long to tell of waits for longer. */
static int run(struct manager *m, const struct pending *p)
{
	struct work *w = &m->work;
	struct err err;
	int code;

	if (!control_alive(p->client))
		return 1;
	uint32_t uid = control_trusted(p->client) ? 0 : control_uid(p->client);
	if (p->command->jobs && work_budget(w, uid, 0, &err) < 0) {
		err_wrap(&err, "%s", p->command->name);
		answer_error(control_answer(p->client), err.text);
		return err_exit_code(&err);
	}
	w->asked_by_trusted = p->trusted;
	work_charge(w, 0, 0, 0);	/* what others have left is not his */
	uint64_t begun_ms = own_cpu_ms();
	code = p->command->run(w, p->client, p->argc, p->argv);
	lookwait_pay(w->lookwait, uid, (own_cpu_ms() - begun_ms) * REQUEST_OF_CPU_MS,
		     w->now_ms());
	w->asked_by_trusted = false;
	work_charge(w, 0, uid, 0);
	return code;
}

static void run_next(struct manager *m)
{
	struct pending p;

	if (!queue_take(&m->queue, &p))
		return;
	m->ask.trusted_waits = queue_has_trusted(&m->queue);
	m->answering = true;
	m->asker = p.client;
	int code = run(m, &p);
	m->answering = false;
	m->asker = NULL;
	if (m->ask.stop && code)
		answer_error(control_answer(p.client), "morphd is stopping");
	control_end(p.client, code);
}

/* --- loop --- */

/* Waits until something happens, at most `timeout_ms`, and sees to it. */
static void turn(struct manager *m, int timeout_ms)
{
	struct pollfd f[2 + CONTROL_MAX_POLL];
	struct err err = { 0 };

	int n = m->serving ? control_poll(m->control, f + 2, &timeout_ms) : 0;
	f[0] = (struct pollfd){ m->ask.sock, POLLIN, 0 };
	f[1] = (struct pollfd){ m->watch ? watch_fd(m->watch) : -1, POLLIN, 0 };
	if (poll(f, (nfds_t)(2 + n), timeout_ms) < 0) {
		if (errno != EINTR)
			role_error("poll: %s", strerror(errno));
		return;
	}
	if (f[0].revents && ask_receive(&m->ask, &err) < 0)
		m->ask.stop = true;	/* the parent has ended; so do we */
	if (f[1].revents)
		watch_read(m->watch, m->work.now_ms());
	if (n)
		control_step(m->control, f + 2, n);
}

static void pass(void *ctx)
{
	turn(ctx, 0);
}

static void turn_for_ask(void *ctx)
{
	struct manager *m = ctx;

	turn(m, m->ask.yields == YIELD_NEVER ? 1000 : SENSE_LOOK_MS);
	if (m->asker && !control_alive(m->asker))
		ask_drop(&m->ask);
	work_yield(&m->work, m->queue.n || m->ask.crashed || m->ask.reload);
}

static void reload(struct manager *m)
{
	struct err err = { 0 };

	m->ask.reload = false;
	if (work_reload(&m->work, &err) < 0)
		role_error("the old policy stays: %s", err.text);
	else
		role_log("policy '%s' read anew", m->work.options->policy);
	m->looked_ms = 0;
}

static void tell_one_recovered(struct manager *m, const struct msg *r)
{
	static const char *const outcome[] = { "nothing", "undone", "finished", "overtaken",
					       "damaged", "stuck" };
	uint64_t what = r->num[MSG_RECOVERED_outcome];
	char kept[PATH_MAX + 32];

	(void)snprintf(kept, sizeof(kept), "%s/originals/%s", m->work.options->store, r->text);
	if (what == INSTALL_SET_ASIDE)
		work_history(
			&m->work, kept, outcome[what],
			"the journal of a swap could not be "
			"read; programs are whole, but a file .morph-* may be left beside one");
	else
		work_history(&m->work, r->text, outcome[what],
			     what == INSTALL_STUCK ?
				     "a swap that a kill had interrupted; cleaning up after it "
				     "fails, see the log, and is tried again" :
				     "a swap that a kill had interrupted");
}

static void tell_recovered(struct manager *m)
{
	for (int i = 0; i < m->ask.nrecovered; i++)
		tell_one_recovered(m, &m->ask.recovered[i]);
	m->ask.nrecovered = 0;
}

/* It may have to wait its turn. */
static void look_at(struct manager *m, const char *path)
{
	uint64_t wait = work_look(&m->work, path);

	if (wait)
		watch_later(m->watch, path, m->work.now_ms() + wait);
}

static bool watch_module(void *ctx, const struct store_module *module)
{
	struct manager *m = ctx;

	if (watch_add(m->watch, module->path))
		look_at(m, module->path);
	return !m->ask.stop && !m->ask.trusted_waits;
}

/* Modules that are new since the last time.  Watched first, then looked at: so nothing comes in
 * between. */
static void watch_new_modules(struct manager *m)
{
	struct err err = { 0 };

	if (!m->watch)
		return;
	m->work.gives_way = true;
	if (store_module_each(m->work.store, watch_module, m, &err) < 0)
		role_log_err(&err);
	m->work.gives_way = false;
}

/* Files that somebody else changed. */
static void look_at_changes(struct manager *m)
{
	char path[PATH_MAX];

	m->work.gives_way = true;
	while (!m->ask.stop && !m->ask.trusted_waits &&
	       watch_next(m->watch, m->work.now_ms(), path)) {
		(void)watch_add(m->watch, path);	/* looked at in any case */
		look_at(m, path);
	}
	m->work.gives_way = false;
}

/* By the policy as it is now. */
static uint64_t next_look_ms(const struct manager *m)
{
	return m->looked_ms ? m->looked_ms + m->work.policy->idle_check_s * 1000ull : 0;
}

/* Told by the parent while this round asked him something else: the next one sees to it. */
static bool was_told(const struct ask *a)
{
	return a->stop || a->reload || a->nrecovered || a->ncounted || a->shared.type;
}

static int wait_ms(const struct manager *m, uint64_t now)
{
	uint64_t next = was_told(&m->ask) ? 0 : next_look_ms(m);

	if (m->ask.crashed && m->next_crash_ms < next)
		next = m->next_crash_ms;
	if (m->watch && watch_due_ms(m->watch) < next)
		next = watch_due_ms(m->watch);
	return next > now ? (int)(next - now) : 0;
}

void manager_round(struct manager *m)
{
	uint64_t now = m->work.now_ms();

	if (m->ask.nrecovered)
		tell_recovered(m);
	if (m->ask.crashed && now >= m->next_crash_ms) {
		m->ask.crashed = false;
		work_crashed(&m->work);
		m->next_crash_ms = m->work.now_ms() + CRASH_EVERY_MS;
	}
	if (m->ask.ncounted) {
		work_counted(&m->work);
		work_count_end(&m->work);
	}
	if (m->ask.shared.type)
		work_fleet_answer(&m->work);
	if (m->ask.reload)
		reload(m);
	if (m->watch && watch_due_ms(m->watch) <= now)
		look_at_changes(m);
	if (m->queue.n) {
		run_next(m);
		watch_new_modules(m);
		(void)malloc_trim(KEPT_FREE_BYTES);	/* or there is nothing to give back */
	} else if (now >= next_look_ms(m)) {
		work_idle(&m->work);
		watch_new_modules(m);
		(void)malloc_trim(KEPT_FREE_BYTES);
		m->looked_ms = m->work.now_ms();
	} else {
		turn(m, wait_ms(m, now));
	}
}

void manager_end(struct manager *m)
{
	struct pending p;

	while (queue_take(&m->queue, &p)) {
		answer_error(control_answer(p.client),
			     m->ask.stop ? "morphd is stopping"
					 : "the database is damaged; it is begun anew");
		control_end(p.client, 1);
	}
	control_flush(m->control);
}

int manager_open(struct manager *m, const struct role_options *o, int parent_fd, int listen_fd,
		 uid_t user, gid_t group, struct err *err)
{
	m->ask = (struct ask){ .sock = parent_fd, .turn = turn_for_ask, .pass = pass,
			       .ctx = m };
	m->work = (struct work){ .options = o, .ask = &m->ask, .spool_dir = -1 };
	m->control = control_new(listen_fd, on_request, m);
	if (!m->control)
		return err_set(err, ERR_SYS, "out of memory");
	control_trust(m->control, user, group);
	if (work_open(&m->work, err) < 0 || work_recover(&m->work, err) < 0)
		return -1;
	m->watch = watch_new();
	m->serving = true;
	return 0;
}

void manager_close(struct manager *m)
{
	watch_free(m->watch);
	control_free(m->control);
	work_close(&m->work);
}

/* Tables of large modules come and go: what they took goes back at once, instead of staying
 * with the process. */
static void return_memory(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, 128 << 10);	/* else it would grow with them */
	(void)mallopt(M_TRIM_THRESHOLD, 256 << 10);
}

int role_manager(const struct role_options *o)
{
	struct manager m = { 0 };
	uid_t starter = geteuid();
	struct job_user user;
	struct err err = { 0 };
	int code = 0;

	return_memory();
	/* Open: the parent has done it.  Confine and drop at once. */
	if (fcntl(ROLE_FD_PARENT, F_SETFD, FD_CLOEXEC) < 0 ||
	    fcntl(ROLE_FD_LISTEN, F_SETFD, FD_CLOEXEC) < 0 ||
	    fcntl(ROLE_FD_PARENT, F_SETFL, O_NONBLOCK) < 0) {
		role_error("started without its parent");
		return 1;
	}
	if (role_user(o->user, &user, &err) < 0 || role_drop(&user, &err) < 0 ||
	    confine_role(CONFINE_MANAGER, o->store, *o->host ? o->host : NULL, &err) < 0) {
		role_log_err(&err);
		return err_exit_code(&err);
	}
	if (manager_open(&m, o, ROLE_FD_PARENT, ROLE_FD_LISTEN, starter,
			 user.change ? user.gid : (gid_t)-1, &err) < 0) {
		if (!m.ask.stop)
			role_log_err(&err);
		code = m.ask.stop ? 0 : err_exit_code(&err);
	} else {
		role_log("pid %d, as user %d: may read and write '%s', answer on '%s' and ask "
			 "the parent",
			 (int)getpid(), (int)geteuid(), o->store, o->socket);
		role_detach(o);
		while (!m.ask.stop && !store_is_damaged(m.work.store))
			manager_round(&m);
		manager_end(&m);
	}
	if (m.work.store && store_is_damaged(m.work.store)) {
		work_forget(&m.work);
		code = 1;		/* the parent starts the next one, which begins anew */
	}
	manager_close(&m);
	return code;
}
