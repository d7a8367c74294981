/* work_crash.c - a process met a fault: was a generation to blame?
 *
 * The module that the fault was in is noted, and the program of the process, with who ran it;
 * originals too: they are what a generation is compared with.  Whose crashes decide is
 * policy/blame.h's matter.  A generation that is blamed is taken back at once, kept in
 * STORE/quarantine/ with its original and what is known of it, and its module is refused until
 * its original changes.
 *
 * Tested by tests/unit/manager/work/test_work_crash.c, tests/e2e/crash.sh, hostile/crashes.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/work/tar.h"
#include "manager/work/work.h"
#include "policy/blame.h"

static const double remember_s = 28 * 86400.0;

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0;
}

enum verdict { STAYS_AS_USUAL, STAYS_FOR_NOW, GOES };

/* What all have met so far, and `uid` just now; *n: how many blame it.  -1: failed. */
static int judge(struct work *w, const struct store_module *m, const struct store_generation *g,
		 uint32_t uid, struct blame_user *who, unsigned *n, struct err *err)
{
	uint64_t now_ns = store_now_ns(), born_ns;
	uint64_t first_ns = now_ns - (uint64_t)(remember_s * 1e9);
	struct blame_user *user;
	uint32_t nuser;
	bool goes;

	if (store_born(w->store, &born_ns, err) < 0 ||
	    store_crash_users(w->store, m->id, g->number, first_ns, &user, &nuser, err) < 0)
		return -1;
	double watched_s = seconds_between(g->made_ns, now_ns);
	double all_s = seconds_between(born_ns > first_ns ? born_ns : first_ns, now_ns);
	const struct blame_about about = { m->owner, watched_s, all_s - watched_s,
					   w->accounts.person, w->accounts.nperson };
	*n = blame_judge(user, nuser, &about, &goes);
	*who = (struct blame_user){ .uid = uid };
	for (uint32_t i = 0; i < nuser; i++)
		if (user[i].uid == uid)
			*who = user[i];
	free(user);
	return goes ? GOES : blame_by(who, &about) ? STAYS_FOR_NOW : STAYS_AS_USUAL;
}

/* --- quarantine: one archive for each original --- */

struct archive {
	struct work *w;
	const struct store_module *m;
	int fd;
	struct err *err;
	struct wr text;			/* scratch */
};

static int put_wr(struct archive *a, const char *name, struct wr *content, int rc)
{
	if (rc == 0)
		rc = tar_put(a->fd, name, wr_bytes(content), a->err);
	wr_free(content);
	return rc;
}

/* The content with this digest that `fd`, which is closed, holds. */
static int put_fd(struct archive *a, const char *name, int fd, const struct digest *expected)
{
	struct wr bytes = { 0 };
	struct digest d;

	if (fd < 0)
		return -1;
	int rc = work_read(fd, &bytes, a->err);
	if (rc == 0)
		rc = digest_fd(fd, &d, a->err);
	if (rc == 0 && !digest_equal(&d, expected))
		rc = err_set(a->err, ERR_INPUT, "'%s': changed just now", a->m->path);
	close(fd);
	return put_wr(a, name, &bytes, rc);
}

static int put_profile(struct archive *a)
{
	struct work_evidence known = { 0 };
	struct wr text = { 0 };
	int rc = work_profile(a->w, a->m, &known, &text, a->err);

	work_evidence_free(&known);
	return put_wr(a, "profile", &text, rc);
}

static bool add_event(void *ctx, const struct store_event *e)
{
	struct archive *a = ctx;
	char line[sizeof(e->event) + sizeof(e->detail) + 32];

	int n = snprintf(line, sizeof(line), "%" PRIu64 " %s: %s\n", e->time_ns, e->event,
			 e->detail);
	wr_raw(&a->text, line, (size_t)n);
	return true;
}

static int put_history(struct archive *a)
{
	int rc = store_history_each(a->w->store, a->m->path, 1000, add_event, a, a->err);

	return put_wr(a, "history", &a->text, rc);
}

/* What running processes have of it. */
static int put_forms(struct archive *a)
{
	uint32_t n;
	const struct live_row *row = work_live_rows(a->w, &n);

	for (uint32_t i = 0; i < n; i++) {
		char hex[65], name[80];
		bool again = !row[i].path || strcmp(row[i].path, a->m->path) != 0;

		for (uint32_t k = 0; k < i; k++)
			again |= digest_equal(&row[k].generation, &row[i].generation);
		digest_hex(&row[i].generation, hex);
		(void)snprintf(name, sizeof(name), "live-%.16s", hex);
		if (!again && put_fd(a, name, ask_live_open(a->w->ask, &row[i].generation,
							    a->err), &row[i].generation) < 0)
			return -1;
	}
	return 0;
}

static int put_all(struct archive *a, const struct store_generation *g)
{
	struct bytes stats = { (const uint8_t *)g->stats, strlen(g->stats) };
	char about[PATH_MAX + 128];
	struct wr map = { 0 };
	struct work *w = a->w;

	int n = snprintf(about, sizeof(about), "module %s\ngeneration %" PRIu32 "\npasses %s\n",
			 a->m->path, g->number, g->passes);
	if (tar_put(a->fd, "about", (struct bytes){ (const uint8_t *)about, (size_t)n },
		    a->err) < 0 ||
	    tar_put(a->fd, "stats", stats, a->err) < 0 || put_history(a) < 0 ||
	    put_fd(a, "generation", ask_open_file(w->ask, a->m->path, a->err), &a->m->present) <
		    0 ||
	    put_fd(a, "original", ask_open_original(w->ask, &a->m->original, a->err),
		   &a->m->original) < 0)
		return -1;
	if (put_forms(a) < 0)
		return -1;
	int rc = store_generation_map(w->store, &g->digest, &map, a->err);
	if (put_wr(a, "map", &map, rc < 0 ? -1 : 0) < 0 || put_profile(a) < 0)
		return -1;
	return tar_end(a->fd, a->err);
}

int work_bug_report(struct work *w, const struct digest *original, char path[PATH_MAX],
		    struct err *err)
{
	char hex[65];

	digest_hex(original, hex);
	if (snprintf(path, PATH_MAX, "%s/quarantine/%s.tar", w->options->store, hex) >=
	    PATH_MAX)
		return err_set(err, ERR_USAGE, "'%s': too long", w->options->store);
	return 0;
}

static int quarantine(struct work *w, const struct store_module *m,
		      const struct store_generation *g, struct err *err)
{
	char path[PATH_MAX];
	struct archive a = { .w = w, .m = m, .err = err };

	if (work_bug_report(w, &m->original, path, err) < 0)
		return -1;
	char *slash = strrchr(path, '/');
	*slash = '\0';
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set(err, ERR_SYS, "'%s': mkdir: %s", path, strerror(errno));
	*slash = '/';
	a.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (a.fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
	int rc = put_all(&a, g);
	if (close(a.fd) < 0 && rc == 0)
		rc = err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	if (rc < 0) {
		(void)unlink(path);		/* half a report is none */
		return err_wrap(err, "'%s'", path);
	}
	return 0;
}

/* --- crashes --- */

int work_take_back(struct work *w, struct store_module *m, const struct store_generation *g,
		   enum store_state state, const char *why, struct err *err)
{
	if (work_restore(w, m->path, (struct work_restoring){ 0 }, NULL, err) < 0 ||
	    store_generation_state(w->store, g->id, state, why, err) < 0 ||
	    store_module_by_id(w->store, m->id, m, err) < 0)
		return -1;
	if (!digest_equal(&m->original, &g->original))
		return 0;	/* a newer package is there by now, which is not to blame */
	(void)snprintf(m->refusal, sizeof(m->refusal), "%s", why);	/* fits */
	if (store_module_put(w->store, m, err) < 0)
		return -1;
	work_history_of(w, m->path, g->number, store_state_name[state],
			"%s; not again for this original", why);
	return 0;
}

static void name_crash(const struct store_generation *g, const struct attribute_crash *c,
		       char why[128])
{
	(void)snprintf(why, 128, "process %" PRIu32 " of generation %" PRIu32
		       " was killed by signal %" PRIu32 " (%s)", c->pid, g->number, c->signal,
		       strsignal((int)c->signal));
}

static int take_back(struct work *w, struct store_module *m, const struct store_generation *g,
		     const struct attribute_crash *c, struct err *err)
{
	char why[128];
	struct err trouble = { 0 };

	name_crash(g, c, why);
	/* The program comes first; what is lost with a full disk is the report. */
	if (quarantine(w, m, g, &trouble) < 0)
		role_log_err(&trouble);
	return work_take_back(w, m, g, STATE_CRASHED, why, err);
}

/* A generation that stays; the first one of each user is told. */
static void tell(struct work *w, const struct store_module *m, const struct attribute_crash *c,
		 int verdict, const struct blame_user *who, unsigned blamers)
{
	if (who->deaths > 1)
		return;
	if (verdict == STAYS_AS_USUAL)
		work_history(w, m->path, "crash", "signal %" PRIu32 " killed process %" PRIu32
			     "; its original died as often", c->signal, c->pid);
	else
		work_history(w, m->path, "crash", "signal %" PRIu32 " killed process %" PRIu32
			     " of user %" PRIu32 "; others decide too: %u of %d users so far",
			     c->signal, c->pid, c->uid, blamers, BLAME_USERS);
}

/* It was not at the path: a process counted for a while, which is not done again then. */
static int take_counting_crash(struct work *w, const struct store_module *m,
			       const struct store_generation *g,
			       const struct attribute_crash *c, struct err *err)
{
	char why[128];

	if (g->state != STATE_BURST)
		return 0;		/* told before; or one that was replaced */
	name_crash(g, c, why);
	if (store_generation_state(w->store, g->id, STATE_CRASHED, why, err) < 0)
		return -1;
	work_history(w, m->path, "crash", "%s, which had counted; it is not counted again",
		     why);
	return 0;
}

static int take_crash(struct work *w, const struct attribute_crash *c, struct err *err)
{
	struct store_generation g;
	struct store_module m;
	struct blame_user who;
	unsigned blamers;
	int64_t id = (int64_t)c->module;
	int rc = store_module_by_id(w->store, id, &m, err);

	if (rc <= 0)
		return rc;
	bool known = accounts_has(&w->accounts, c->uid) || c->uid == m.owner || c->uid == 0;
	uint32_t uid = known ? c->uid : BLAME_NOBODY;
	if (store_crash_add(w->store, id, c->generation, uid, err) < 0)
		return -1;
	if (!c->generation)
		return 0;		/* an original */
	rc = store_generation_by_number(w->store, id, c->generation, &g, err);
	if (rc <= 0)
		return rc;
	bool here = m.generation == c->generation;	/* else taken back before */
	if (!here && !digest_equal(&g.original, &m.original))
		return 0;		/* of another package */
	rc = judge(w, &m, &g, uid, &who, &blamers, err);
	if (!here)
		return rc == GOES ? take_counting_crash(w, &m, &g, c, err) : rc < 0 ? -1 : 0;
	if (rc == GOES)
		return take_back(w, &m, &g, c, err);
	if (rc >= 0)
		tell(w, &m, c, rc, &who, blamers);
	return rc < 0 ? -1 : 0;
}

void work_crashes(struct work *w, const struct attribution *a)
{
	struct err err = { 0 };

	for (uint32_t i = 0; i < a->ncrash; i++)
		if (take_crash(w, &a->crash[i], &err) < 0)
			role_log_err(&err);
}
