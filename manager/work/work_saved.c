/* work_saved.c - what generations have saved: their sampled use, times how fast they are
 *
 * A generation that was compared by runs or shares of time is measured in processes of the
 * kinds that were observed before the swap, and in no others; one that was compared in turns,
 * in processes of the kind that had the turns.  Everything else is use of which nothing is
 * known, and says why.  A generation that came after another one is measured if that one is.
 *
 * Tested by tests/unit/manager/work/test_work_saved.c.
 */
#include "manager/work/work_saved.h"

#include <math.h>
#include <stdlib.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/work/work.h"

const char *const work_unmeasured_name[] = {
	[WORK_MEASURED] = "",
	[WORK_UNMEASURED_OPEN] = "open",
	[WORK_UNMEASURED_BEFORE_UNKNOWN] = "before_unknown",
	[WORK_UNMEASURED_CONTRADICTING] = "contradicting",
	[WORK_UNMEASURED_REPLACED] = "replaced",
	[WORK_UNMEASURED_CHAIN] = "chain",
	[WORK_UNMEASURED_OTHERS] = "other_programs",
	[WORK_UNMEASURED_LIVE] = "no_turns",
	[WORK_UNMEASURED_LIVE_OTHERS] = "other_processes",
};

const char *const work_unmeasured_text[] = {
	[WORK_MEASURED] = "",
	[WORK_UNMEASURED_OPEN] = "not observed often enough so far",
	[WORK_UNMEASURED_BEFORE_UNKNOWN] = "what was there before had not been observed",
	[WORK_UNMEASURED_CONTRADICTING] = "runs and shares of time contradict each other",
	[WORK_UNMEASURED_REPLACED] = "not observed often enough while it was there",
	[WORK_UNMEASURED_CHAIN] = "the generation before it was not measured",
	[WORK_UNMEASURED_OTHERS] = "in programs that were not observed before the swap, or "
				   "in processes that outlived it",
	[WORK_UNMEASURED_LIVE] = "mapped into running processes, and not compared in turns",
	[WORK_UNMEASURED_LIVE_OTHERS] = "mapped into running processes of other programs than "
					"the one that had it in turns",
};

static void append(struct work_saved *s, const struct work_saved_use *u)
{
	s->use = memory_grow(s->use, s->n + (size_t)1, sizeof(*s->use));
	s->use[s->n++] = *u;
}

/* Rows of one generation and one outcome are one. */
static void add(struct work_saved *s, const struct work_saved_use *u)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct work_saved_use *to = &s->use[i];

		if (to->generation != u->generation || to->why != u->why || to->by != u->by)
			continue;
		to->cpu_s += u->cpu_s;
		saving_add(&to->saving, &u->saving);
		return;
	}
	append(s, u);
}

/* Of a generation that was not compared, or not with certainty. */
static int reason_of(struct work *w, const struct store_module *m, uint32_t generation,
		     enum work_unmeasured *out, struct err *err)
{
	struct speedtest p;

	*out = WORK_UNMEASURED_REPLACED;
	if (store_speed_get(w->store, m->id, &p, err) < 0)
		return -1;
	if (m->generation != generation)
		return 0;
	bool known = p.generation == generation && p.by && isfinite(p.shift.low) &&
		     isfinite(p.shift.high);
	*out = known ? WORK_UNMEASURED_CONTRADICTING : WORK_UNMEASURED_OPEN;
	if (p.generation == generation && p.verdict == SPEEDTEST_UNMEASURED && !p.looks)
		*out = WORK_UNMEASURED_BEFORE_UNKNOWN;
	return 0;
}

struct chain {
	struct saving_link link[SAVING_LINKS];
	uint32_t n;
	enum store_measured_by by;	/* of the newest */
};

/* What the generation was compared with, down to the original. */
static int follow(struct work *w, const struct store_module *m, uint32_t generation,
		  struct chain *c, enum work_unmeasured *why, struct err *err)
{
	struct store_measured s = { .before = generation };

	*c = (struct chain){ .n = 0 };
	*why = WORK_MEASURED;
	while (s.before) {
		int rc = c->n < SAVING_LINKS
				 ? store_measured_get(w->store, m->id, s.before, false, &s, err)
				 : 0;

		if (rc < 0)
			return -1;
		if (rc == 0 && c->n) {
			*why = WORK_UNMEASURED_CHAIN;
			return 0;
		}
		if (rc == 0)
			return reason_of(w, m, generation, why, err);
		c->by = c->n ? c->by : s.by;
		c->link[c->n++] = (struct saving_link){ s.by == STORE_BY_SHARE, s.shift.low,
							s.shift.estimate, s.shift.high };
	}
	return 0;
}

static int follow_live(struct work *w, const struct store_module *m, const struct store_used *u,
		       struct chain *c, enum work_unmeasured *why, struct err *err)
{
	struct store_measured s;
	int rc = store_measured_get(w->store, m->id, u->generation, true, &s, err);

	*why = rc == 0 ? WORK_UNMEASURED_LIVE
	       : s.kind == u->kind && s.kind != STORE_KIND_OTHER ? WORK_MEASURED
								  : WORK_UNMEASURED_LIVE_OTHERS;
	if (rc > 0)
		*c = (struct chain){ { { false, s.shift.low, s.shift.estimate, s.shift.high } },
				     1, STORE_BY_TURNS };
	return rc < 0 ? -1 : 0;
}

static int add_use(struct work *w, const struct store_module *m, const struct store_used *u,
		   struct work_saved *out, struct err *err)
{
	struct work_saved_use use = { .generation = u->generation };
	double all_s = u->module_s + u->rest_s;
	struct chain c = { .n = 0 };
	int rc = 0;

	if (u->live)
		rc = follow_live(w, m, u, &c, &use.why, err);
	else if (u->kind == STORE_KIND_OBSERVED)
		rc = follow(w, m, u->generation, &c, &use.why, err);
	else
		use.why = WORK_UNMEASURED_OTHERS;
	if (rc < 0)
		return -1;
	use.cpu_s = all_s;
	if (use.why == WORK_MEASURED) {
		use.by = c.by;
		use.cpu_s = c.by == STORE_BY_SHARE ? u->module_s : all_s;
		use.saving = saving_of(all_s, u->module_s, c.link, c.n);
	}
	add(out, &use);
	return 0;
}

static int by_generation(const void *a, const void *b)
{
	const struct work_saved_use *x = a, *y = b;

	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	if (x->why != y->why)
		return x->why < y->why ? -1 : 1;
	return (x->by > y->by) - (x->by < y->by);
}

int work_saved(struct work *w, const struct store_module *m, uint64_t since_ns,
	       struct work_saved *out, struct err *err)
{
	struct store_used *used;
	uint32_t n;
	int rc = 0;

	if (store_used_get(w->store, m->id, since_ns, &used, &n, err) < 0)
		return -1;
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		if (!out->begin_ns || used[i].begin_ns < out->begin_ns)
			out->begin_ns = used[i].begin_ns;
		rc = add_use(w, m, &used[i], out, err);
	}
	free(used);
	if (out->n)
		qsort(out->use, out->n, sizeof(*out->use), by_generation);
	return rc;
}

void work_saved_free(struct work_saved *s)
{
	free(s->use);
	*s = (struct work_saved){ 0 };
}
