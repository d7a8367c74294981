/* work_turns.c - keep or restore, of what runs in processes that do not end: by turns
 *
 * How long processes of a program run, which is what generations are judged by (work_speed.c),
 * tells nothing of one that does not end; and what it does in an hour is not what it did in the
 * hour before.  So a process that has a form of the generation (work_live.c) has it and has it
 * not in turns of a second, and CPU time for each unit of its work is compared: what differs
 * between two neighbouring turns, of which chance says which is first, the generation did.
 *
 * A few pairs are taken in each idle time, of the process that is at work most, until the
 * interval says something.  A generation that is slower goes, as one that is slower after a
 * swap.  Readings are in memory: a new Manager begins anew; verdicts are in the store.
 *
 * Tested by tests/e2e/liveturns.sh.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "lib/procstat.h"
#include "manager/store/ingest.h"
#include "manager/store/store_saved.h"
#include "manager/work/work.h"
#include "policy/policy.h"
#include "policy/ratio.h"
#include "policy/speedtest.h"
#include "policy/workcost.h"

enum {
	MODULES = 16,			/* that are judged at a time */
	TURN_MS = 1000, AT_ONCE = 2,	/* pairs in one idle time, of all modules */
	CHOICE = 8,			/* pairs by which it is chosen what is counted */
	IDLE_MOST = 8,			/* pairs in a row in which nothing was done */
	AGAIN_MS = 3600000,		/* then it is left alone for so long */
	FEW_PCT = 90,			/* of the pairs, that must tell of what is counted */
};

struct series {				/* module 0: free */
	int64_t module;
	uint32_t generation;		/* its number */
	int kind;			/* of work; -1: not chosen yet */
	unsigned pairs, idle;
	uint64_t again_ms;
	pid_t pid;			/* of the last one */
	uint32_t process_kind;		/* of all of them; 0: not known, or of several */
	struct ratio ratio[PROCWORK_KINDS];
};

struct turns {
	struct series series[MODULES];
};

void work_turns_free(struct work *w)
{
	free(w->turns);
	w->turns = NULL;
}

static struct series *find(struct work *w, const struct store_module *m)
{
	for (int i = 0; w->turns && i < MODULES; i++) {
		struct series *s = &w->turns->series[i];

		if (s->module == m->id && s->generation == m->generation)
			return s;
	}
	return NULL;
}

/* NULL: others are judged first. */
static struct series *find_or_begin(struct work *w, const struct store_module *m)
{
	struct series *s = find(w, m), *free = NULL;

	if (s)
		return s;
	if (!w->turns)
		w->turns = memory_new(1, sizeof(*w->turns));
	for (int i = 0; i < MODULES; i++) {
		struct series *at = &w->turns->series[i];

		if (at->module == m->id || (!at->module && !free))
			free = at;	/* of the generation before it, or of none */
	}
	if (!free)
		return NULL;
	s = free;
	*s = (struct series){ .module = m->id, .generation = m->generation, .kind = -1 };
	for (int k = 0; k < PROCWORK_KINDS; k++) {
		s->ratio[k].by_chance = true;
		s->ratio[k].alpha = SPEEDTEST_ALPHA / 2;
	}
	return s;
}

bool work_turns_decide(struct work *w, const struct store_module *m)
{
	const struct series *s = find(w, m);
	struct store_turns t;

	return (s && s->pairs) ||
	       store_turns_get(w->store, m->id, m->generation, &t, NULL) == 1;
}

/* --- a pair --- */

static bool read_said(const char *said, struct procwork done[2])
{
	double *a = done[0].work, *b = done[1].work;

	memset(done, 0, 2 * sizeof(*done));
	if (sscanf(said, "off %lf ns, %lf bytes, %lf calls, %lf wakes, on %lf ns, %lf bytes, "
		   "%lf calls, %lf wakes,", &done[0].cpu_s, &a[PROCWORK_BYTES],
		   &a[PROCWORK_CALLS], &a[PROCWORK_WAKES], &done[1].cpu_s, &b[PROCWORK_BYTES],
		   &b[PROCWORK_CALLS], &b[PROCWORK_WAKES]) != 8)
		return false;
	for (int i = 0; i < 2; i++)
		done[i].cpu_s /= 1e9;
	return true;
}

/* Which work to count: of what pairs enough tell of, the one whose cost without the generation
 * is the steadiest. */
static void choose(struct series *s)
{
	double spread[PROCWORK_KINDS];

	for (int k = 0; k < PROCWORK_KINDS; k++) {
		const struct ratio *r = &s->ratio[k];

		spread[k] = 100 * r->n >= FEW_PCT * s->pairs ?
			    workcost_spread(r->original, r->n) : INFINITY;
	}
	s->kind = workcost_steadiest(spread);
}

static void take_pair(struct series *s, const struct procwork done[2])
{
	const struct procwork none = { 0 };
	bool any = false;

	for (int k = 0; k < PROCWORK_KINDS; k++) {
		double off = workcost_enough(&none, &done[0], (enum procwork_kind)k);
		double on = workcost_enough(&none, &done[1], (enum procwork_kind)k);

		if (off <= 0 || on <= 0 || s->ratio[k].n == RATIO_PAIRS_MAX)
			continue;
		ratio_add(&s->ratio[k], off, on);
		any = true;
	}
	s->pairs += any;
	s->idle = any ? 0 : s->idle + 1;
	if (s->kind < 0 && s->pairs >= CHOICE)
		choose(s);
}

/* --- the verdict --- */

/* What it says of the time that was saved (work_saved.c). */
static int keep_measured(struct work *w, const struct store_module *m, const struct series *s,
			 struct err *err)
{
	const struct ratio *r = s->kind >= 0 ? &s->ratio[s->kind] : NULL;

	if (!r || !ratio_has_interval(r))
		return 0;
	const struct store_measured put = {
		.module = m->id, .generation = m->generation, .by = STORE_BY_TURNS,
		.kind = s->process_kind,
		.shift = { -log(r->estimate), -log(r->high), -log(r->low) },
	};
	return store_measured_put(w->store, &put, err);
}

static int conclude(struct work *w, struct store_module *m, const struct series *s,
		    enum speedtest_verdict verdict, struct err *err)
{
	struct store_turns t = { .module = m->id, .generation = m->generation,
				 .verdict = verdict };
	char ratio[64] = "nothing that it does can be counted";
	struct store_generation g;

	if (s->kind >= 0)
		ratio_text(&s->ratio[s->kind], ratio);
	(void)snprintf(t.text, sizeof(t.text), "in turns: %s, %s%s, %u pairs",
		       speedtest_verdict_name[verdict], ratio,
		       s->kind < 0 ? "" : " times as fast", s->pairs);	/* fits */
	if (store_turns_put(w->store, &t, err) < 0 ||
	    keep_measured(w, m, s, err) < 0)
		return -1;
	char why[384];
	(void)snprintf(why, sizeof(why), "generation %" PRIu32 " against the original, in "
		       "process %d, %s%s%s", m->generation, (int)s->pid, t.text,
		       s->kind < 0 ? "" : ", CPU time for each ",
		       s->kind < 0 ? "" : procwork_unit[s->kind]);
	if (verdict != SPEEDTEST_SLOWER) {
		work_history(w, m->path, speedtest_verdict_name[verdict], "%s", why);
		return 0;
	}
	int rc = store_generation_by_number(w->store, m->id, m->generation, &g, err);
	return rc <= 0 ? rc : work_take_back(w, m, &g, STATE_SLOWER, why, err);
}

/* 1: it is judged; 0: not yet; -1. */
static int judge(struct work *w, struct store_module *m, struct series *s, struct err *err)
{
	struct ratio *r = s->kind >= 0 ? &s->ratio[s->kind] : NULL;
	enum speedtest_verdict verdict = SPEEDTEST_UNMEASURED;
	bool over = s->pairs >= RATIO_PAIRS_MAX;

	if (r && ratio_due(r) && ratio_has_interval(r) && (r->high < 1 || r->low > 1)) {
		verdict = r->high < 1 ? SPEEDTEST_SLOWER : SPEEDTEST_FASTER;
		over = true;
	}
	if (s->idle >= IDLE_MOST) {
		s->idle = 0;
		s->again_ms = w->now_ms() + AGAIN_MS;
	}
	if (!over)
		return 0;
	int rc = conclude(w, m, s, verdict, err);
	s->module = 0;			/* free */
	return rc < 0 ? -1 : 1;
}

/* --- which process --- */

/* The one that is at work most, by CPU time for each second of its life. */
static const struct live_row *find_row(struct work *w, const struct store_module *m)
{
	const struct live_row *row, *best = NULL;
	struct store_generation g;
	struct procstat s;
	double most = 0;
	uint32_t n;

	row = work_live_rows(w, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (!row[i].path || strcmp(row[i].path, m->path) != 0 ||
		    !procstat_read(row[i].pid, &s) || s.start != row[i].start ||
		    s.state == 'Z' ||
		    store_live_generation(w->store, &row[i].generation, &g, NULL) != 1 ||
		    g.number != m->generation)
			continue;
		double busy = procstat_busy(&s);
		if (best && busy <= most)
			continue;
		most = busy;
		best = &row[i];
	}
	return best;
}

/* 1: a pair was taken; 0: none can be; -1: given up. */
static int one_pair(struct work *w, struct store_module *m, const struct policy *policy,
		    struct series *s, struct err *err)
{
	struct ask_limits limits = work_limits(policy);
	const struct live_row *row = find_row(w, m);
	struct procwork done[2];
	char said[256];

	if (!row)
		return 0;
	pid_t pid = row->pid;
	struct ask_live l = { .path = m->path, .installed = m->present,
			      .original = m->original, .generation = row->generation,
			      .pid = pid, .start = row->start, .ms = TURN_MS };
	s->pid = pid;
	uint32_t kind = w->ingest ? ingest_kind(w->ingest, (uint32_t)pid) : 0;
	s->process_kind = !s->pairs || s->process_kind == kind ? kind : 0;
	if (ask_live_turns(w->ask, &l, &limits, said, err) < 0) {
		work_live_forget(w, pid, m->path);	/* it may have its original now */
		if (w->ask->stop || w->ask->yield.done)
			return -1;
		role_warn("%s: process %d in turns: %s", m->path, (int)pid, err->text);
		s->idle++;
		return 1;
	}
	if (!read_said(said, done))
		return 0;		/* there is no room for it any more: next time */
	take_pair(s, done);
	return 1;
}

/* --- all of them --- */

struct round {
	struct work *w;
	int left;
};

static bool of_module(void *ctx, const struct store_module *found)
{
	struct store_module m = *found;
	struct round *r = ctx;
	struct work *w = r->w;
	struct policy policy;
	struct err err = { 0 };
	struct store_turns t;

	if (!m.generation || m.refusal[0] || !find_row(w, &m) ||
	    store_turns_get(w->store, m.id, m.generation, &t, NULL) != 0)
		return true;
	(void)work_rule(w, m.path, &policy);
	struct series *s = find_or_begin(w, &m);
	int rc = 1;
	while (s && policy.live && rc > 0 && r->left > 0 && w->now_ms() >= s->again_ms) {
		r->left--;
		rc = one_pair(w, &m, &policy, s, &err);
		int judged = rc > 0 ? judge(w, &m, s, &err) : 0;
		if (judged < 0)
			role_warn("%s: %s", m.path, err.text);
		if (judged)
			break;
	}
	return r->left > 0 && rc >= 0 && !w->ask->stop;
}

void work_turns(struct work *w)
{
	struct round r = { w, AT_ONCE };
	struct err err = { 0 };
	uint32_t n;

	(void)work_live_rows(w, &n);
	if (!n)
		return;
	w->ask->yields = YIELD_ENDS;
	w->ask->yield = (struct yield){ 0 };	/* of a question before these */
	if (store_module_each(w->store, of_module, &r, &err) < 0)
		role_log_err(&err);
	w->ask->yields = YIELD_NEVER;
}
