/* work_restore.c - the original back: asked for, or in the place of what has counted enough
 *
 * Tested by tests/e2e/daemon.sh, counted.sh and upgrade.sh.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/work/answer.h"
#include "manager/work/work.h"
#include "policy/decide.h"

enum { UNDER_MAX = 256 };

/* Is it a generation that this store has no record of?  1, 0; -1 when the daemon stops. */
static int is_forgotten(struct work *w, const char *path, struct err *err)
{
	struct ask_limits limits = work_limits(w->policy);
	struct err why;
	int map, file = ask_open_file(w->ask, path, err);

	if (file < 0)
		return -1;
	struct ask_job job = { .kind = JOB_MAP, .nin = 1, .in = { file } };
	int rc = ask_run_job(w->ask, &job, &limits, &map, 1, &why);
	close(file);
	if (rc < 0)
		return w->ask->stop ? err_set(err, why.kind, "%s", why.text) : 0;
	close(map);
	return 1;
}

/* Nothing of ours is at the path.  0: *of is what it was before somebody edited it, which
 * `force` takes for reason enough; 1: there is nothing to do, and that is said; -1: refused
 * or failed. */
static int look_for_edited(struct work *w, const struct store_module *m, bool force,
			   struct answer *to, struct store_generation *of, struct err *err)
{
	int rc = work_derived(w, m, of, err);

	if (rc < 0)
		return -1;
	if (rc && force)
		return 0;
	if (rc)
		return err_set(
			err, ERR_REFUSED,
			"'%s': generation %" PRIu32 ", edited by somebody; "
			"restore --force puts its original back, without what they changed",
			m->path, of->number);
	uint32_t next;
	rc = store_generation_newest(w->store, m->id, &m->original, of, err);
	if (rc < 0 || store_generation_next(w->store, m->id, &next, err) < 0)
		return -1;
	bool original = rc > 0 || next == 1;
	rc = original ? is_forgotten(w, m->path, err) : 0;
	if (rc)
		return rc < 0 ? -1 : err_set(err, ERR_INPUT,
			"'%s': a generation, of which this store has no record; root's "
			"`morphctl undo` puts its original back", m->path);
	if (force && !original)
		return err_set(err, ERR_REFUSED,
			       "'%s': not shown to be a generation that somebody "
			       "edited; left as it is",
			       m->path);
	answer_line(to, "%s: %s", m->path, original ? "is the original already" :
		    "somebody else put there what it is; left as it is");
	return 1;
}

/* What the parent is asked; of == NULL: the generation itself is at the path, else that one,
 * edited.  r->map_fd is the caller's. */
static int make_request(struct work *w, const struct store_module *m,
			const struct store_generation *of, struct ask_restore *r,
			struct err *err)
{
	*r = (struct ask_restore){ .path = m->path, .expected = m->present,
				   .original = of ? of->original : m->original,
				   .generation = of ? of->digest : m->present,
				   .map_fd = -1 };
	return of && (r->map_fd = work_map_file(w, &of->digest, err)) < 0 ? -1 : 0;
}

/* What would be refused is refused. */
static int say_would(struct work *w, const struct store_module *m,
		     const struct store_generation *of, struct answer *to, struct err *err)
{
	struct ask_limits limits = work_limits(w->policy);
	struct ask_restore r;

	if (make_request(w, m, of, &r, err) < 0)
		return -1;
	r.dry_run = true;
	int rc = ask_restore(w->ask, &r, &limits, err);
	if (rc == 0)
		answer_line(to, "%s: would get its original back%s%s", m->path,
			    of ? ", and what somebody changed would be lost" : "",
			    w->ask->reply.text);
	if (r.map_fd >= 0)
		close(r.map_fd);
	return rc;
}

/* The swap.  under[]: what was done under other names. */
static int put_back(struct work *w, const struct store_module *m,
		    const struct store_generation *of, char under[UNDER_MAX], struct err *err)
{
	struct ask_limits limits = work_limits(w->policy);
	struct store_intent intent = { .what = "restore", .from = m->present };
	struct ask_restore r;
	struct err why = { 0 };

	if (make_request(w, m, of, &r, err) < 0)
		return -1;
	intent.to = r.original;
	/* looked at: fits */
	(void)snprintf(intent.path, sizeof(intent.path), "%s", m->path);
	/* A database that cannot be written, on a full disk, does not hold up the original. */
	bool noted = store_intent_begin(w->store, &intent, &why) == 0;
	if (!noted)
		role_log_err(&why);
	int rc = ask_restore(w->ask, &r, &limits, err);
	(void)snprintf(under, UNDER_MAX, "%.*s", UNDER_MAX - 1,
		       rc < 0 ? "" : w->ask->reply.text);
	if (rc < 0)
		work_live_forget(w, 0, m->path);
	/* else it is not known how it went: the next start finds out */
	if (noted && (rc == 0 || !w->ask->stop) &&
	    store_intent_end(w->store, intent.id, &why) < 0)
		role_log_err(&why);
	if (r.map_fd >= 0)
		close(r.map_fd);
	return rc;
}

/* `edited`: the generation that it was made of; NULL: it was the one with that digest. */
static int note_original(struct work *w, const char *path,
			 const struct store_generation *edited, const struct digest *from,
			 struct store_module *m, struct err *err)
{
	struct store_generation g = { 0 };
	int rc = edited ? 1 : store_generation_by_digest(w->store, from, &g, err);

	return rc < 0 || (rc > 0 && store_generation_state(w->store, edited ? edited->id : g.id,
							   STATE_RESTORED, "", err) < 0) ||
	       work_look_at_once(w, path, m, err) < 0 ? -1 : 0;
}

/* A window of use from here on, before it is laid out anew by itself. */
static int begin_anew(struct work *w, const struct store_module *m, struct err *err)
{
	return work_counting_ends(w, m->id, err) < 0 ||
	       store_use_begin(w->store, m->id, decide_put_back, err) < 0 ? -1 : 0;
}

/* The original is there, whether that can be noted or not. */
static void say_unnoted(const char *path, const struct err *why, struct answer *to)
{
	role_error("%s: restored, which cannot be noted: %s", path, why->text);
	answer_line(to, "%s: restored, which cannot be noted: %s", path, why->text);
}

/* Nothing of ours is at the path.  0: *of is what to put back all the same. */
static int not_ours(struct work *w, const struct store_module *m, struct work_restoring how,
		    struct answer *to, struct store_generation *of, struct err *err)
{
	struct store_counting c;
	int rc = look_for_edited(w, m, how.force, to, of, err);

	if (rc <= 0 || how.dry_run)
		return rc;
	/* What has been counted of it would be a reason to lay it out at the next idle time. */
	rc = store_counting_get(w->store, m->id, &c, err);
	return rc < 0 || (rc > 0 && begin_anew(w, m, err) < 0) ? -1 : 1;
}

int work_restore(struct work *w, const char *path, struct work_restoring how, struct answer *to,
		 struct err *err)
{
	struct store_generation g = { 0 };
	struct store_module m = { 0 };
	char under[UNDER_MAX];
	struct err why;

	if (work_find_known(w, path, &m, err) < 0 || work_look_at_once(w, path, &m, err) < 0)
		return -1;
	bool edited = !m.generation;
	int rc = edited ? not_ours(w, &m, how, to, &g, err) : 0;
	if (rc)
		return rc < 0 ? -1 : 0;
	if (how.dry_run)
		return say_would(w, &m, edited ? &g : NULL, to, err);
	struct digest from = m.present;
	uint32_t number = edited ? g.number : m.generation;
	answer_progress(to, "%s: putting its original back", path);
	if (put_back(w, &m, edited ? &g : NULL, under, err) < 0)
		return -1;
	if (note_original(w, path, edited ? &g : NULL, &from, &m, &why) < 0 ||
	    begin_anew(w, &m, &why) < 0) {
		say_unnoted(path, &why, to);
		return 0;
	}
	work_history_of(w, path, number, "restored", "original in the place of generation %"
			PRIu32 "%s%s", number, edited ? ", which somebody had edited" : "",
			under);
	answer_line(to, "%s: restored%s", path, under);
	work_live_look_again(w);
	return 0;
}

/* Why it does not count on, when there were too few runs. */
static void say_why(struct work *w, const struct store_module *m,
		    const struct store_counting *c)
{
	bool slow = work_counting_is_slow(c);

	if (work_counting_has_enough(c) || !(slow || work_counting_has_spent(c)))
		return;
	work_history(w, m->path, "slower", slow ?
		     "the generation that counts took %.1f s for what takes %.1f s" :
		     "the generation that counts has cost %.1f s, of %.1f s that it may",
		     slow ? c->speed.module_s : work_counting_cost_s(c),
		     slow ? c->speed.usual_module_s : c->most_s);
}

int work_counting_put_back(struct work *w, const char *path, struct err *err)
{
	char under[UNDER_MAX], counted[WORK_COUNTED_MAX];
	struct store_module m = { 0 };
	struct store_counting c;
	struct err why;

	if (work_find_known(w, path, &m, err) < 0 || work_look_at_once(w, path, &m, err) < 0)
		return -1;
	int rc = store_counting_get(w->store, m.id, &c, err);
	if (rc <= 0 || !digest_equal(&m.present, &c.generation))
		return rc < 0 ? -1 : 0;		/* somebody else was first */
	struct digest from = m.present;
	uint32_t number = m.generation;
	if (put_back(w, &m, NULL, under, err) < 0)
		return -1;
	c.ended_ns = store_now_ns();
	if (note_original(w, path, NULL, &from, &m, &why) < 0 ||
	    store_counting_put(w->store, &c, &why) < 0) {
		say_unnoted(path, &why, NULL);
		return 0;
	}
	say_why(w, &m, &c);
	work_say_counted(c.runs, c.burst_s, counted);
	work_history_of(w, path, number, "restored", "original in the place of generation %"
			PRIu32 ", which has counted %s%s", number, counted, under);
	work_live_look_again(w);
	return 0;
}
