/* module_change.c - what is written when another file is at a module's path; see
 * module_change.h
 *
 * Tested by tests/unit/manager/store/test_module.c and
 * tests/unit/manager/work/test_inherited.c.
 */
#include "manager/store/module_change.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/err.h"
#include "manager/store/store_made.h"
#include "manager/store/store_ran.h"
#include "policy/decide.h"

static bool mark_replaced(void *ctx, const struct store_generation *g)
{
	/* A failure here shows again at the next write of the same transaction. */
	if (g->state == STATE_INSTALLED)
		(void)store_generation_state(ctx, g->id, STATE_REPLACED, "", NULL);
	return true;
}

/* What another version has set aside goes with it, unless it passes on. */
static int keep_legacy(struct store *s, int64_t module, enum module_passes passes,
		       const struct store_legacy *legacy, struct err *err)
{
	switch (passes) {
	case MODULE_PASSES_ON:
		return store_legacy_put(s, module, legacy, err);
	case MODULE_PASSES_FORMER:
		return 0;
	case MODULE_PASSES_NOTHING:
		break;
	}
	return store_legacy_delete(s, module, err);
}

int module_change_discard(struct store *s, struct store_module *m, enum module_passes passes,
			  const struct store_legacy *legacy, struct err *err)
{
	static const char *const fate[] = {
		[MODULE_PASSES_NOTHING] = "discarded",
		[MODULE_PASSES_ON] = "set aside for the new version",
		[MODULE_PASSES_FORMER] =
			"discarded, those of the version before are still set aside",
	};
	uint64_t lost = (uint64_t)(m->samples + m->outside);
	char detail[128];

	(void)snprintf(detail, sizeof(detail), "content changed; %llu samples %s",
		       (unsigned long long)lost, fate[passes]);		/* fits */
	if (store_module_discard(s, m->id, err) < 0 ||
	    keep_legacy(s, m->id, passes, legacy, err) < 0 ||
	    store_counter_add(s, COUNTER_CHANGED, lost, err) < 0 ||
	    store_generation_each(s, m->id, mark_replaced, s, err) < 0 ||
	    store_history_add(s, m->path, "changed", detail, err) < 0)
		return -1;
	m->samples = m->outside = 0;
	m->updated_ns = 0;
	m->refusal[0] = '\0';
	m->text_bytes = 0;
	m->functions = m->movable = 0;
	return 0;
}

int module_change_owner(struct store *s, struct store_module *m, uint32_t owner,
			struct err *err)
{
	uint64_t lost = (uint64_t)(m->samples + m->outside);
	struct store_module now = *m;
	char detail[128];

	now.samples = now.outside = 0;
	now.updated_ns = 0;
	now.owner = owner;
	(void)snprintf(detail, sizeof(detail), "belongs to user %" PRIu32 " now; %llu samples "
		       "discarded", owner, (unsigned long long)lost);	/* fits */
	if (store_begin(s, err) < 0)
		return -1;
	if (store_module_discard(s, m->id, err) < 0 ||
	    store_legacy_delete(s, m->id, err) < 0 ||
	    store_signature_delete(s, &m->original, err) < 0 ||
	    store_ran_forget(s, m->id, err) < 0 || store_made_forget(s, m->id, err) < 0 ||
	    store_counter_add(s, COUNTER_CHANGED, lost, err) < 0 ||
	    store_history_add(s, m->path, STORE_GIVEN_AWAY, detail, err) < 0 ||
	    store_module_put(s, &now, err) < 0) {
		store_rollback(s);
		return -1;
	}
	*m = now;
	return store_commit(s, err);
}

int module_change_put_back(struct store *s, const struct store_module *m, struct err *err)
{
	struct store_generation g;
	char detail[128];
	int rc = store_generation_by_digest(s, &m->present, &g, err);

	if (rc <= 0 || g.state != STATE_INSTALLED)
		return rc < 0 ? -1 : 0;
	(void)snprintf(detail, sizeof(detail), "the original is at its path again; generation "
		       "%u is not", g.number);			/* fits */
	if (store_generation_state(s, g.id, STATE_REPLACED, "", err) < 0 ||
	    store_use_begin(s, m->id, decide_came_back, err) < 0)
		return -1;
	return store_history_add(s, m->path, "put back", detail, err);
}
