/* role_manager.c - the manager: works the spool off, decides, serves morphctl
 *
 * One thread.  Requests that are answered from what is known are answered where they come in;
 * those that take long wait in a queue and are worked off one at a time.  While one of them
 * waits for the parent, turn() goes on serving the others.
 *
 * Tested by tests/e2e/daemon.sh and bad_client.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/confine.h"
#include "lib/err.h"
#include "manager/work/answer.h"
#include "manager/control/command.h"
#include "manager/control/control.h"
#include "manager/parent/install.h"
#include "manager/control/quota.h"
#include "manager/parent/role.h"
#include "manager/control/watch.h"
#include "manager/work/work.h"
#include "policy/sense.h"
#include "policy/policy.h"

struct pending {
	struct client *client;
	const struct command *command;
	int argc;
	const char *argv[ANSWER_MAX_ARGS];	/* texts live as long as the client is busy */
};

struct manager {
	struct ask ask;
	struct work work;
	struct control *control;
	/* NULL: changes are noticed when a module is looked at */
	struct watch *watch;
	bool serving;			/* all is open: clients are let in */
	struct quota quota;		/* of those who are not trusted */
	struct pending queue[CONTROL_MAX_CLIENTS];	/* a client has at most one request */
	int nqueue;
	bool answering;			/* the first of the queue is being worked off */
	uint64_t next_idle_ms, next_crash_ms;
};

/* A program that dies over and over must not keep the machine busy with looking at it. */
enum { CRASH_EVERY_MS = 1000 };
/* a request that waits its turn is worth so many others */
enum { SLOW_TOKENS = 10 };

/* --- requests --- */

static bool may_ask(struct manager *m, const struct command *c, const struct client *cl,
		    struct err *err)
{
	if (control_trusted(cl))
		return true;
	unsigned s = quota_take(&m->quota, control_uid(cl), c->slow ? SLOW_TOKENS : 1,
				role_now_ms());
	if (s)
		err_set(err, ERR_REFUSED, "%s: too many requests; again in %u s", c->name, s);
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
		control_end(cl, c->run(&m->work, cl, argc, argv));
		return;
	}
	struct pending *p = &m->queue[m->nqueue++];
	*p = (struct pending){ cl, c, argc, { 0 } };
	memcpy(p->argv, argv, sizeof(*argv) * (size_t)argc);
	if (m->nqueue > 1)
		answer_line(control_answer(cl), "waiting for other work to end");
}

/* The exit code. */
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
	w->trusted = uid == 0;
	code = p->command->run(w, p->client, p->argc, p->argv);
	w->trusted = false;
	work_charge(w, 0, uid, 0);
	return code;
}

static void run_next(struct manager *m)
{
	struct pending p = m->queue[0];

	/* It stays first in the queue, so that later ones know that they wait. */
	m->answering = true;
	int code = run(m, &p);
	m->answering = false;
	memmove(m->queue, m->queue + 1, sizeof(m->queue[0]) * (size_t)--m->nqueue);
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
			role_log("poll: %s", strerror(errno));
		return;
	}
	if (f[0].revents && ask_receive(&m->ask, &err) < 0)
		m->ask.stop = true;	/* the parent has ended; so do we */
	if (f[1].revents)
		watch_read(m->watch);
	if (n)
		control_step(m->control, f + 2, n);
}

static void turn_for_ask(void *ctx)
{
	struct manager *m = ctx;

	turn(m, m->ask.yields == YIELD_NEVER ? 1000 : SENSE_LOOK_MS);
	work_yield(&m->work, m->nqueue > m->answering || m->ask.crashed || m->ask.reload);
}

static void reload(struct manager *m)
{
	struct err err = { 0 };

	m->ask.reload = false;
	if (work_reload(&m->work, &err) < 0)
		role_log("the old policy stays: %s", err.text);
	else
		role_log("policy '%s' read anew", m->work.options->policy);
	m->next_idle_ms = 0;
}

static void tell_recovered(struct manager *m)
{
	static const char *const outcome[] = { "nothing", "undone", "finished", "overtaken",
					       "damaged" };
	const struct msg *r = &m->ask.recovered;
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
			     "a swap that a kill had interrupted");
	m->ask.recovered.type = MSG_NONE;
}

static bool watch_module(void *ctx, const struct store_module *module)
{
	struct manager *m = ctx;

	if (watch_add(m->watch, module->path))
		work_look(&m->work, module->path);
	return !m->ask.stop;
}

/* Files that somebody else changed, and modules that are new since the last time.  Watched
 * first, then looked at: so nothing comes in between. */
static void look_at_changes(struct manager *m)
{
	char path[PATH_MAX];
	struct err err = { 0 };

	while (!m->ask.stop && watch_next(m->watch, path)) {
		(void)watch_add(m->watch, path);	/* looked at in any case */
		work_look(&m->work, path);
	}
	if (store_module_each(m->work.store, watch_module, m, &err) < 0)
		role_log("%s", err.text);
}

static int wait_ms(const struct manager *m, uint64_t now)
{
	uint64_t next = m->next_idle_ms;

	if (m->ask.crashed && m->next_crash_ms < next)
		next = m->next_crash_ms;
	return next > now ? (int)(next - now) : 0;
}

static void manager_loop(struct manager *m)
{
	while (!m->ask.stop) {
		uint64_t now = role_now_ms();

		if (m->ask.recovered.type)
			tell_recovered(m);
		if (m->ask.crashed && now >= m->next_crash_ms) {
			m->ask.crashed = false;
			work_crashed(&m->work);
			m->next_crash_ms = role_now_ms() + CRASH_EVERY_MS;
		}
		if (m->ask.reload)
			reload(m);
		if (m->watch && watch_pending(m->watch))
			look_at_changes(m);
		if (m->nqueue) {
			run_next(m);
			if (m->watch)
				look_at_changes(m);	/* there may be modules by now */
		} else if (now >= m->next_idle_ms) {
			work_idle(&m->work);
			if (m->watch)
				look_at_changes(m);
			m->next_idle_ms =
				role_now_ms() + m->work.policy->idle_check_s * 1000ull;
		} else {
			turn(m, wait_ms(m, now));
		}
	}
	while (m->nqueue) {
		answer_error(control_answer(m->queue[0].client), "morphd is stopping");
		control_end(m->queue[0].client, 1);
		memmove(m->queue, m->queue + 1, sizeof(m->queue[0]) * (size_t)--m->nqueue);
	}
	control_flush(m->control);
}

int role_manager(const struct role_options *o)
{
	struct manager m = { 0 };
	uid_t starter = geteuid();
	struct job_user user;
	struct err err = { 0 };
	int code = 0;

	/* Open: the parent has done it.  Confine and drop at once. */
	if (fcntl(ROLE_FD_PARENT, F_SETFD, FD_CLOEXEC) < 0 ||
	    fcntl(ROLE_FD_LISTEN, F_SETFD, FD_CLOEXEC) < 0 ||
	    fcntl(ROLE_FD_PARENT, F_SETFL, O_NONBLOCK) < 0) {
		role_log("started without its parent");
		return 1;
	}
	if (role_user(o->user, &user, &err) < 0 || role_drop(&user, &err) < 0 ||
	    confine_role(CONFINE_MANAGER, o->store, *o->host ? o->host : NULL, &err) < 0) {
		role_log("%s", err.text);
		return err_exit_code(&err);
	}
	m.ask = (struct ask){ .sock = ROLE_FD_PARENT, .turn = turn_for_ask, .ctx = &m };
	m.work = (struct work){ .options = o, .ask = &m.ask };
	m.control = control_new(ROLE_FD_LISTEN, on_request, &m);
	if (m.control)
		control_trust(m.control, starter, user.change ? user.gid : (gid_t)-1);
	if (!m.control || work_open(&m.work, &err) < 0 || work_recover(&m.work, &err) < 0) {
		if (!m.ask.stop)
			role_log("%s", err.text);
		code = m.ask.stop ? 0 : err_exit_code(&err);
		goto out;
	}
	m.watch = watch_new();
	role_log("pid %d, as user %d: may read and write '%s', answer on '%s' and ask the "
		 "parent",
		 (int)getpid(), (int)geteuid(), o->store, o->socket);
	role_detach(o);
	m.serving = true;
	manager_loop(&m);
out:
	watch_free(m.watch);
	control_free(m.control);
	work_close(&m.work);
	return code;
}
