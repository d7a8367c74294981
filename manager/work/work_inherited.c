/* work_inherited.c - inherited evidence: what it counts for beside a module's own samples, and
 * whose samples it has
 *
 * The rule is decide_inherits() (policy/decide.h): it fills up what own samples lack.
 *
 * Tested by tests/unit/manager/work/test_inherited.c and tests/e2e/inherit.sh.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/work/work.h"
#include "policy/policy.h"
#include "policy/share.h"

void work_evidence_free(struct work_evidence *e)
{
	store_profile_free(&e->profile);
	*e = (struct work_evidence){ 0 };
}

bool work_inherits(struct work *w, const char *path, struct policy *p)
{
	if (!policy_inherits(w->policy) || !policy_allows(w->policy, path))
		return false;
	const struct policy_rule *rule = work_rule(w, path, p);
	return p->inherit && !(rule && rule->refuse);
}

/* By the policy for the module and its own samples, *own. */
static int weigh(const struct policy *p, const struct store_inherited *i,
		 const struct store_profile *own, struct work_inherited *out, struct err *err)
{
	struct decide_inherited d = { .samples = i->samples * i->matched * i->weight,
				      .matched = i->matched, .unseen = i->unseen };
	struct usage use = { 0 };

	*out = (struct work_inherited){ .samples = i->samples, .matched = i->matched,
					.functions = i->functions,
					.recognised = i->recognised };
	/* Exact counts are everybody's: not told apart by users. */
	if (i->counted && p->share_layouts > 1) {
		out->why = DECIDE_INHERIT_NOT;
		return 0;
	}
	if (work_usage(&i->profile, &d.use, err) < 0 || work_usage(own, &use, err) < 0) {
		free(d.use.count);
		return -1;
	}
	out->why = decide_inherits(p, &d, &use, &out->counts_as);
	free(d.use.count);
	free(use.count);
	return 0;
}

int work_inherited(struct work *w, const struct store_module *m, const struct policy *p,
		   struct work_inherited *out, struct err *err)
{
	struct store_profile own = { 0 };
	struct store_inherited i;
	int rc = store_inherited_get(w->store, m->id, &m->original, &i, err);

	*out = (struct work_inherited){ 0 };
	if (rc <= 0)
		return rc;
	rc = store_profile_get(w->store, m->id, &own, err);
	if (rc >= 0)
		rc = weigh(p, &i, &own, out, err);
	store_profile_free(&own);
	store_inherited_free(&i);
	return rc < 0 ? -1 : 1;
}

int work_inherited_add(struct work *w, const struct store_module *m, const struct policy *p,
		       struct work_evidence *e, struct err *err)
{
	struct store_inherited i;
	struct work_inherited counts;

	e->own = store_profile_samples(&e->profile);
	if (!p->inherit)
		return 0;
	int rc = store_inherited_get(w->store, m->id, &m->original, &i, err);
	if (rc <= 0)
		return rc;
	double all = store_profile_samples(&i.profile);
	rc = weigh(p, &i, &e->profile, &counts, err);
	if (rc == 0 && counts.counts_as > 0 && all > 0) {
		store_profile_mix(&e->profile, &i.profile, counts.counts_as / all);
		e->inherited = counts.counts_as;
		e->matched = i.matched;
		e->unseen = i.unseen;
	}
	store_inherited_free(&i);
	return rc;
}

void work_inherited_text(const struct work_evidence *e, char *out, size_t n)
{
	out[0] = '\0';
	if (e->inherited > 0)
		(void)snprintf(out, n, " (%.0f inherited from the version before, %.0f %% "
			       "recognised)", e->inherited, 100 * e->matched);	/* fits */
}

/* --- whose it is --- */

/* Of the user, or a new one. */
static void add_whose(struct share_use *use, uint32_t *n, uint32_t uid, double samples)
{
	uint32_t i = 0;

	while (i < *n && use[i].uid != uid)
		i++;
	if (i == *n)
		use[(*n)++] = (struct share_use){ uid, 0 };
	use[i].samples += samples;
}

int work_whose_all(struct work *w, const struct store_module *m, const struct policy *p,
		   struct work_whose *out, struct err *err)
{
	struct store_inherited i;
	struct work_inherited counts;

	*out = (struct work_whose){ .samples = m->samples + m->outside };
	int rc = work_inherited(w, m, p, &counts, err);
	if (rc < 0 || store_whose_get(w->store, m->id, &out->use, &out->n, err) < 0)
		return -1;
	if (rc == 0 || counts.counts_as <= 0)
		return 0;
	rc = store_inherited_get(w->store, m->id, &m->original, &i, err);
	if (rc <= 0) {
		free(out->use);
		return -1;
	}
	/* Of what is not said here it is not known. */
	out->samples += counts.counts_as;
	out->use = memory_grow(out->use, out->n + (size_t)i.nwhose + 1, sizeof(*out->use));
	for (uint32_t k = 0; k < i.nwhose && i.samples > 0; k++)
		add_whose(out->use, &out->n, i.whose[k].uid,
			  i.whose[k].samples * counts.counts_as / i.samples);
	store_inherited_free(&i);
	return 0;
}
