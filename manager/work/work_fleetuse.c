/* work_fleetuse.c - a fleet's evidence beside a module's own: how much of it counts
 *
 * Own samples decide what the fleet's are worth (policy/fleetweight.h); what they are worth is
 * added before inference, block by block: where there are many own ones it changes little,
 * where there are none it is all there is.
 *
 * Tested by tests/unit/manager/work/test_fleet.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/work/fleetwork.h"
#include "manager/work/work.h"
#include "policy/fleetweight.h"
#include "policy/policy.h"

static int weigh(const struct store_profile *own, const struct store_fleet *f,
		 struct work_fleet_use *out, struct err *err)
{
	struct usage mine = { 0 }, theirs = { 0 };
	int rc = work_usage(own, &mine, err) < 0 ||
		 work_usage(&f->profile, &theirs, err) < 0 ? -1 : 0;

	if (rc == 0) {
		out->contributors = f->contributors;
		out->samples = store_profile_samples(&f->profile);
		out->weight = fleet_weight(&mine, &theirs);
		out->unseen = usage_unseen(&theirs);
	}
	free(mine.count);
	free(theirs.count);
	return rc;
}

bool work_fleet_takes(const struct policy *p)
{
	return p->share_conninfo && p->share_conninfo[0] && p->share_take;
}

/* 1: there is something, *f is the caller's to free; 0; -1. */
static int look(struct work *w, const struct store_module *m, const struct policy *p,
		const struct store_profile *own, struct store_fleet *f,
		struct work_fleet_use *out, struct err *err)
{
	*out = (struct work_fleet_use){ 0 };
	*f = (struct store_fleet){ 0 };
	if (!work_fleet_takes(p))
		return 0;
	int rc = store_fleet_get(w->store, &m->original, 0, f, err);
	if (rc > 0 && weigh(own, f, out, err) < 0) {
		store_profile_free(&f->profile);
		rc = -1;
	}
	return rc;
}

/* What becomes nothing goes. */
static void scale(struct store_profile *p, double factor)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->ncount; i++) {
		p->count[n] = p->count[i];
		p->count[n].samples =
			(uint64_t)llround((double)p->count[i].samples * factor);
		n += p->count[n].samples > 0;
	}
	p->ncount = n;
	edgecounts_scale(&p->edges, factor);
}

int work_fleet_add(struct work *w, const struct store_module *m, const struct policy *p,
		   struct store_profile *own, struct work_fleet_use *out, struct err *err)
{
	struct store_fleet f;
	int rc = look(w, m, p, own, &f, out, err);

	if (rc <= 0)
		return rc;
	double factor = out->samples > 0 ? out->weight / out->samples : 0;
	if (factor > 0) {
		scale(&f.profile, factor);
		store_profile_mix(own, &f.profile, 1);
	}
	store_profile_free(&f.profile);
	return 0;
}

int work_fleet_worth(struct work *w, const struct store_module *m, const struct policy *p,
		     struct work_fleet_use *out, struct err *err)
{
	struct store_profile own = { 0 };
	struct store_fleet f;

	*out = (struct work_fleet_use){ 0 };
	if (store_profile_get(w->store, m->id, &own, err) < 0)
		return -1;
	int rc = look(w, m, p, &own, &f, out, err);
	if (rc > 0)
		store_profile_free(&f.profile);
	store_profile_free(&own);
	return rc < 0 ? -1 : 0;
}

bool work_fleet_is_news(struct work *w, const struct store_module *m)
{
	struct work_fleet *f = &w->fleet;
	struct work_fleet_judged *j = f->judged, *end = j + f->njudged;
	double samples = (double)m->samples;

	while (j != end && j->module != m->id)
		j++;
	if (j == end) {
		f->judged = memory_grow(f->judged, f->njudged + (size_t)1, sizeof(*j));
		j = &f->judged[f->njudged++];
		j->module = m->id;
	} else if (samples >= j->samples && samples < 1.1 * j->samples) {
		return false;
	}
	j->samples = samples;
	return true;
}

void work_fleet_is_new(struct work_fleet *f)
{
	free(f->judged);
	f->judged = NULL;
	f->njudged = 0;
}

void work_fleet_text(const struct work_fleet_use *u, char *out, size_t n)
{
	out[0] = '\0';
	if (u->contributors && u->weight >= 1)
		(void)snprintf(out, n, ", and %.0f of a fleet of %u", u->weight,
			       u->contributors);	/* fits */
}
