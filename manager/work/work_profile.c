/* work_profile.c - a module's samples and edges of the store, what it has inherited, and what a
 * fleet's are worth beside them, as the block profile that the Editor reads
 *
 * Tested by tests/e2e/daemon.sh.
 */
#include "lib/arena.h"
#include "lib/err.h"
#include "lib/profile.h"
#include "manager/work/work.h"
#include "policy/policy.h"

static void fill(const struct store_profile *stored, const struct blocktable *t,
		 struct arena *a, struct profile *p)
{
	p->outside = (double)stored->outside / STORE_UNIT;
	p->block = arena_array(a, stored->ncount, sizeof(*p->block));
	for (uint32_t i = 0; i < stored->ncount; i++) {
		const struct store_count *c = &stored->count[i];
		double samples = (double)c->samples / STORE_UNIT;

		if (c->block >= t->nblock || !c->samples)
			continue;
		p->block[p->nblock++] =
			(struct profile_block){ t->base + t->block[c->block].off, samples };
		p->samples += samples;
	}
	edgecounts_to_profile(&stored->edges, STORE_UNIT, t, a, p);
}

/* Own samples and inherited ones; *policy becomes the one for the module. */
static int load(struct work *w, const struct store_module *m, struct policy *policy,
		struct work_evidence *e, struct err *err)
{
	if (store_profile_get(w->store, m->id, &e->profile, err) < 0)
		return -1;
	e->own = store_profile_samples(&e->profile);
	bool inherits = work_inherits(w, m->path, policy);
	(void)work_rule(w, m->path, policy);
	return inherits ? work_inherited_add(w, m, policy, e, err) : 0;
}

int work_profile(struct work *w, const struct store_module *m, struct work_evidence *e,
		 struct wr *text, struct err *err)
{
	struct blocktable t = { 0 };
	const char *clock = w->ask->counts.text[0] ? w->ask->counts.text : "tick";
	struct profile p = { .module = m->path, .original = m->original, .clock = clock };
	struct work_evidence all = { 0 };	/* with what a fleet adds */
	struct policy policy;

	int rc = work_table(w, m, &t, err);
	if (rc == 0)
		rc = load(w, m, &policy, e, err);
	if (rc == 0)
		rc = load(w, m, &policy, &all, err);
	if (rc == 0)
		rc = work_fleet_add(w, m, &policy, &all.profile, &e->fleet, err);
	if (rc == 0) {
		struct arena *a = arena_new();

		fill(&all.profile, &t, a, &p);
		profile_write(&p, text);
		arena_free(a);
	}
	work_evidence_free(&all);
	blocktable_free(&t);
	return rc;
}
