/* work_bequeath.c - what of all that is known of a module passes on when its file is another
 * one
 *
 * Only one version passes on.  Of a module that has inherited itself that is both: its own
 * samples, and what is inherited as far as it counts just then.  A version that was there too
 * short for anything leaves what the one before it had left.
 *
 * Tested by tests/unit/manager/work/test_inherited.c and tests/e2e/inherit.sh.
 */
#include <stdlib.h>

#include "lib/err.h"
#include "manager/work/work.h"
#include "policy/policy.h"

static int set_aside_whose(struct work *w, const struct store_module *m,
			   const struct policy *p, struct store_legacy *out, struct err *err)
{
	struct work_whose all;

	if (!w->asks_whose)
		return 0;
	if (work_whose_all(w, m, p, &all, err) < 0)
		return -1;
	out->whose = all.use;
	out->nwhose = all.n;
	return 0;
}

static int set_aside_evidence(struct work *w, const struct store_module *m,
			      const struct policy *p, const struct work_evidence *e,
			      struct store_legacy *out, struct err *err)
{
	struct usage use = { 0 };
	char counted[WORK_COUNTED_MAX];

	out->original = m->original;
	out->samples = store_profile_samples(&e->profile);
	out->known = out->samples > 0
			     ? (e->own + e->inherited * e->matched) / (e->own + e->inherited)
			     : 0;
	if (work_usage(&e->profile, &use, err) < 0)
		return -1;
	out->unseen = e->inherited > 0 ? e->unseen : usage_unseen(&use);
	free(use.count);
	return work_evidence_text(w, m, p, &e->profile, &out->counted, counted, err) < 0
		       ? -1 : set_aside_whose(w, m, p, out, err);
}

/* 1: *out has it; 0: nothing that would be of use; -1 */
static int set_aside(struct work *w, const struct store_module *m, const struct policy *p,
		     struct store_legacy *out, struct err *err)
{
	struct work_evidence e = { 0 };
	int rc = m->text_bytes ? store_signature_get(w->store, &m->original, &out->signature,
						     err) : 0;

	if (rc <= 0)
		return rc;
	rc = work_profile(w, m, &e, &out->profile, err);
	if (rc == 0 && e.own + e.inherited >= decide_inherit_least(p->min_samples))
		rc = set_aside_evidence(w, m, p, &e, out, err) < 0 ? -1 : 1;
	work_evidence_free(&e);
	return rc;
}

enum module_passes work_bequeath(void *ctx, const struct store_module *m,
				 struct store_legacy *out)
{
	struct work *w = ctx;
	struct store_legacy former;
	struct policy policy;
	struct err err = { 0 };

	if (!work_inherits(w, m->path, &policy))
		return MODULE_PASSES_NOTHING;
	int rc = set_aside(w, m, &policy, out, &err);
	if (rc < 0)
		role_log("%s: nothing passes on: %s", m->path, err.text);
	if (rc > 0)
		return MODULE_PASSES_ON;
	/* It was there too short for anything. */
	rc = store_legacy_get(w->store, m->id, &former, &err);
	store_legacy_free(&former);
	return rc > 0 ? MODULE_PASSES_FORMER : MODULE_PASSES_NOTHING;
}
