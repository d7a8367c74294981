/* work_evidence.c - exact counts as evidence beside samples: what they are worth, and what they
 * cost
 *
 * Counts fade as samples do, and are used only as long as the samples agree that the module is
 * still used as it was when they were made.
 *
 * Tested by tests/unit/manager/work/test_work_evidence.c and tests/e2e/counted.sh.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/profile.h"
#include "manager/work/work.h"
#include "policy/decide.h"
#include "policy/policy.h"

/* 1: they hold; 0; -1 */
static int hold(const struct policy *p, const struct store_counted *c, const struct usage *use,
		struct err *err)
{
	struct usage then;

	if (work_usage(&c->use, &then, err) < 0)
		return -1;
	bool yes = decide_counts_hold(p, c->weight, &then, use);
	free(then.count);
	return yes;
}

int work_evidence_holds(struct work *w, const struct store_module *m, const struct policy *p,
			const struct usage *use, struct err *err)
{
	struct store_counted c;
	int rc = store_counted_get(w->store, m->id, &m->original, &c, err);

	if (rc <= 0)
		return rc;
	rc = hold(p, &c, use, err);
	store_counted_free(&c);
	return rc;
}

void work_say_counted(uint32_t runs, double burst_s, char out[WORK_COUNTED_MAX])
{
	if (burst_s > 0)		/* both fit */
		(void)snprintf(out, WORK_COUNTED_MAX, "a burst of %.1f s", burst_s);
	else
		(void)snprintf(out, WORK_COUNTED_MAX, "%" PRIu32 " runs", runs);
}

/* This machine's own. */
static int own_text(struct work *w, const struct store_module *m, const struct policy *p,
		    const struct store_profile *now, struct wr *out,
		    char counted[WORK_COUNTED_MAX], struct err *err)
{
	struct store_counted c;
	struct usage use = { 0 };

	counted[0] = '\0';
	/* Counts are everybody's: not told apart by users. */
	if (p->share_layouts > 1)
		return 0;
	int rc = store_counted_get(w->store, m->id, &m->original, &c, err);
	if (rc > 0)
		rc = !c.profile.n ? 0 : work_usage(now, &use, err) < 0 ? -1
		     : hold(p, &c, &use, err);
	if (rc > 0) {
		wr_raw(out, c.profile.p, c.profile.n);
		work_say_counted(c.runs, c.burst_s, counted);
	}
	free(use.count);
	store_counted_free(&c);
	return rc;
}

static void say_fleet(const struct work_fleet_counts *f, char counted[WORK_COUNTED_MAX])
{
	size_t n = strlen(counted);

	if (f->taken)			/* fits */
		(void)snprintf(counted + n, WORK_COUNTED_MAX - n, "%sa fleet of %" PRIu32
			       " in %" PRIu32 " functions", n ? ", and of " : "",
			       f->contributors, f->taken);
}

int work_evidence_text(struct work *w, const struct store_module *m, const struct policy *p,
		       const struct store_profile *now, struct wr *out,
		       char counted[WORK_COUNTED_MAX], struct err *err)
{
	struct work_fleet_counts fleet;
	struct wr own = { 0 };
	int rc = own_text(w, m, p, now, &own, counted, err);

	if (rc >= 0 && work_fleet_counts(w, m, p, now, wr_bytes(&own), out, &fleet, err) < 0)
		rc = -1;
	if (rc >= 0) {
		say_fleet(&fleet, counted);
		rc = counted[0] != '\0';
	}
	wr_free(&own);
	return rc;
}

int work_evidence_file(struct work *w, const struct store_module *m, const struct policy *p,
		       const struct store_profile *now, char counted[WORK_COUNTED_MAX],
		       struct err *err)
{
	struct wr text = { 0 };

	err->kind = ERR_NONE;
	int rc = work_evidence_text(w, m, p, now, &text, counted, err);
	int fd = rc > 0 ? io_memory_file(wr_bytes(&text), err) : -1;
	wr_free(&text);
	return fd;
}

/* --- what counting costs --- */

static void by_how_much(const struct store_counting_speed *s, double *slower, double *more)
{
	*slower = decide_count_slower(s->run_s, s->usual_run_s, (double)s->samples);
	*more = decide_count_slower(s->module_s, s->usual_module_s, (double)s->samples);
}

double work_counting_cost_s(const struct store_counting *c)
{
	double slower, more;

	by_how_much(&c->speed, &slower, &more);
	return decide_count_spent_s(c->speed.all_s, slower, more);
}

bool work_counting_has_enough(const struct store_counting *c)
{
	double spent_s = c->burst_s > 0 ? 0 : work_counting_cost_s(c);

	return decide_counted_enough(c->runs, c->took_s, spent_s, c->expected_s);
}

bool work_counting_has_spent(const struct store_counting *c)
{
	return c->most_s > 0 && work_counting_cost_s(c) > c->most_s;
}

bool work_counting_is_slow(const struct store_counting *c)
{
	double slower, more;

	by_how_much(&c->speed, &slower, &more);
	/* a burst is all in one process, which goes on as it did */
	return decide_count_is_slow(slower, more, c->runs,
				    c->burst_s > 0 ? INFINITY : c->speed.all_s);
}

/* Blocks that ran, by a profile. */
static uint32_t count_blocks(struct bytes text)
{
	struct arena *a = arena_new();
	struct profile p;
	struct err err;
	uint32_t n = 0;

	if (text.n && profile_read(text, a, &p, &err) == 0)
		for (uint32_t i = 0; i < p.nblock; i++)
			n += p.block[i].samples > 0;
	arena_free(a);
	return n;
}

/* What the fleet cannot be given is no less worth here. */
static int give(struct work *w, const struct store_module *m, struct bytes profile,
		struct err *err)
{
	if (work_fleet_counted(w, m, profile, err) == 0)
		return 0;
	if (err->kind != ERR_INPUT)
		return -1;
	role_log("%s: its counts are not given to the fleet: %s", m->path, err->text);
	return 0;
}

int work_evidence_keep(struct work *w, const struct store_module *m,
		       const struct store_counting *c, struct wr *profile, struct err *err)
{
	uint64_t now_ns = store_now_ns(), end_ns = c->ended_ns ? c->ended_ns : now_ns;
	struct store_counted out = { .original = c->original, .runs = c->runs, .weight = 1,
				     .cost_s = work_counting_cost_s(c), .gain = c->gain,
				     .burst_s = c->burst_s,
				     .profile = *profile };
	uint32_t blocks = count_blocks(wr_bytes(profile));
	char counted[WORK_COUNTED_MAX], in[32] = "";

	work_say_counted(c->runs, c->burst_s, counted);
	if (c->burst_s <= 0)
		(void)snprintf(in, sizeof(in), " in %.0f minutes",
			       decide_since_s(c->begun_ns, end_ns) / 60);	/* fits */
	int rc = store_profile_get(w->store, m->id, &out.use, err) < 0 ||
		 store_counted_put(w->store, m->id, &out, err) < 0 ||
		 store_counting_spend(w->store, m->id, now_ns, out.cost_s, err) < 0 ? -1 : 0;

	if (rc == 0)
		work_history(w, m->path, "counted",
			     "%s%s, of %.1f s in it, about %.1f s more than usual; %" PRIu32
			     " blocks ran, of %" PRIu32 " there were samples", counted, in,
			     c->speed.all_s, out.cost_s, blocks, out.use.ncount);
	if (rc == 0)
		rc = give(w, m, wr_bytes(profile), err);
	store_profile_free(&out.use);
	return rc;
}
