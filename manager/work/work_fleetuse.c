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
	}
	free(mine.count);
	free(theirs.count);
	return rc;
}

/* 1: there is something, *f is the caller's to free; 0; -1. */
static int look(struct work *w, const struct store_module *m, const struct policy *p,
		const struct store_profile *own, struct store_fleet *f,
		struct work_fleet_use *out, struct err *err)
{
	*out = (struct work_fleet_use){ 0 };
	*f = (struct store_fleet){ 0 };
	if (!p->share_conninfo || !p->share_conninfo[0] || !p->share_take)
		return 0;
	int rc = store_fleet_get(w->store, &m->original, 0, f, err);
	if (rc > 0 && weigh(own, f, out, err) < 0) {
		store_profile_free(&f->profile);
		rc = -1;
	}
	return rc;
}

/* Both are ascending by block. */
static void add_blocks(struct store_profile *own, const struct store_profile *f, double factor)
{
	size_t most = (size_t)own->ncount + f->ncount;
	struct store_count *sum = memory_new(most, sizeof(*sum));
	uint32_t n = 0;

	for (uint32_t i = 0, k = 0; i < own->ncount || k < f->ncount; ) {
		struct store_count c = { 0 };

		if (k == f->ncount ||
		    (i < own->ncount && own->count[i].block <= f->count[k].block))
			c = own->count[i++];
		else
			c.block = f->count[k].block;
		if (k < f->ncount && f->count[k].block == c.block)
			c.samples += (uint64_t)llround((double)f->count[k++].samples * factor);
		if (c.samples)
			sum[n++] = c;
	}
	free(own->count);
	own->count = sum;
	own->ncount = n;
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
		add_blocks(own, &f.profile, factor);
		edgecounts_scale(&f.profile.edges, factor);
		edgecounts_add(&own->edges, &f.profile.edges, 1);
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

void work_fleet_text(const struct work_fleet_use *u, char *out, size_t n)
{
	out[0] = '\0';
	if (u->contributors && u->weight >= 1)
		(void)snprintf(out, n, ", and %.0f of a fleet of %u", u->weight,
			       u->contributors);	/* fits */
}
