/* work_policy.c - the policy: read, put into force, and the last good one
 *
 * A copy of each policy that was right is kept, DIR/policy.good.  Where the policy is wrong,
 * or gone, when the daemon starts, the copy is in force: so a wrong line does not stop the
 * daemon, nor make it do what was never asked for.  It is said in the log and by `morphctl
 * status` until the file is right.  Without a copy there is nothing to go by, and the daemon
 * does not start.
 *
 * Tested with the whole daemon by tests/e2e/degraded.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "manager/store/ingest.h"
#include "manager/work/work.h"
#include "policy/mistakes.h"
#include "policy/policy.h"

static int good_path(const struct work *w, char out[PATH_MAX], struct err *err)
{
	int n = snprintf(out, PATH_MAX, "%s/policy.good", w->options->store);

	return n < PATH_MAX ? 0 : err_set(err, ERR_USAGE, "'%s': too long", w->options->store);
}

static void keep_good(struct work *w, int fd)
{
	struct arena *a = arena_new();
	char path[PATH_MAX];
	struct bytes text;
	struct err err;

	if (good_path(w, path, &err) < 0 ||
	    io_read_all(fd, POLICY_TEXT_MAX, a, &text, &err) < 0 ||
	    io_replace(path, 0600, text, &err) < 0)
		role_warn("the policy in force could not be kept: %s", err.text);
	arena_free(a);
}

static void log_mistake(void *ctx, const char *text)
{
	const struct work *w = ctx;

	role_warn("'%s': %s", w->options->policy, text);
}

static struct policy *read_policy(struct work *w, struct err *err)
{
	int fd = ask_open_policy(w->ask, err);

	if (fd < 0)
		return NULL;
	struct policy *p = policy_read(fd, w->options->policy, err);
	if (p)
		keep_good(w, fd);
	close(fd);
	if (p && p->note)
		role_warn("%s", p->note);
	if (p)
		policy_mistakes(p, "", false, log_mistake, w);
	w->policy_trouble[0] = '\0';
	return p;
}

static struct policy *read_good(const struct work *w, struct err *err)
{
	char path[PATH_MAX];

	if (good_path(w, path, err) < 0)
		return NULL;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
		return NULL;
	}
	struct policy *p = policy_read(fd, path, err);
	close(fd);
	return p;
}

int work_policy_first(struct work *w, struct err *err)
{
	struct err why;

	w->policy = read_policy(w, err);
	if (w->policy)
		return 0;
	if (w->ask->stop)
		return -1;
	w->policy = read_good(w, &why);
	if (!w->policy)
		return -1;		/* *err tells what is wrong with the policy itself */
	(void)snprintf(w->policy_trouble, sizeof(w->policy_trouble),
		       "%s; the last good one is in force", err->text);
	role_error("WRONG POLICY: %s ('%s/policy.good')", w->policy_trouble, w->options->store);
	err->kind = ERR_NONE;
	return 0;
}

int work_policy_apply(struct work *w, struct err *err)
{
	const struct policy *p = w->policy;

	ingest_half_life(w->ingest, 86400.0 * p->half_life_d);
	ingest_observe(w->ingest, p->observe_s);
	struct ask_config c = { p->clock, p->rate_hz, p->drain_s, p->spool_max_mib,
				p->registers != SWITCH_OFF, p->stack_bytes, p->memory,
				p->branches_hz };
	if (ask_config(w->ask, &c, err) < 0 || work_apply_share(w, err) < 0 ||
	    work_apply_inherit(w, err) < 0 || work_apply_fleet(w, err) < 0)
		return -1;
	return work_registers(w, err);
}

int work_reload(struct work *w, struct err *err)
{
	struct policy *p = read_policy(w, err);

	if (!p) {
		(void)snprintf(w->policy_trouble, sizeof(w->policy_trouble),
			       "%s; the one read before is in force", err->text);
		return -1;
	}
	policy_free(w->policy);
	w->policy = p;
	return work_policy_apply(w, err);
}
