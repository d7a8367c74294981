/* show_fleet.c - what is shared with a fleet, as morphctl shows it
 *
 * Tested by tests/e2e/share.sh.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "lib/err.h"
#include "lib/table.h"
#include "manager/control/control.h"
#include "manager/control/show.h"
#include "policy/policy.h"

int show_share(struct work *w, struct client *cl, struct err *err)
{
	static const struct table_column col[] = {
		{ "database", TABLE_TEXT }, { "last", TABLE_TIME }, { "outcome", TABLE_TEXT },
		{ "given", TABLE_UINT }, { "refused", TABLE_UINT }, { "taken", TABLE_UINT },
		{ "left_out", TABLE_UINT }, { "waiting", TABLE_UINT },
		{ "queue_bytes", TABLE_BYTES }, { "dropped", TABLE_UINT },
	};
	const struct work_fleet *f = &w->fleet;
	const char *where = w->policy->share_conninfo;
	struct store_epochs queue;
	const char *outcome = f->under_way ? "under way" : !f->ended_ns ? "none yet"
			      : f->trouble[0] ? f->trouble : "succeeded";

	if (store_epoch_size(w->store, &queue, err) < 0)
		return -1;
	struct table *t = NEW_TABLE("share", col);
	table_row(t, where && where[0] ? where : "none: nothing is shared", f->ended_ns,
		  outcome, (uint64_t)f->taken, (uint64_t)f->refused, (uint64_t)f->fleet,
		  (uint64_t)f->left_out, queue.waiting, queue.bytes, f->dropped);
	show_give(cl, t);
	return 0;
}

static int worth(struct work *w, const struct store_module *m, struct work_fleet_use *out,
		 struct err *err)
{
	struct policy policy;

	*out = (struct work_fleet_use){ 0 };
	if (!w->policy->share_conninfo || !w->policy->share_conninfo[0])
		return 0;
	(void)work_rule(w, m->path, &policy);
	return work_fleet_worth(w, m, &policy, out, err);
}

int show_fleet_of(struct work *w, const struct store_module *m, struct show_fleet *out,
		  struct err *err)
{
	struct work_fleet_use u;

	*out = (struct show_fleet){ "", NAN, NAN, 0 };
	if (worth(w, m, &u, err) < 0)
		return -1;
	if (!u.contributors)
		return 0;
	(void)snprintf(out->text, sizeof(out->text), "%.0f of %.0f samples, of %" PRIu32,
		       u.weight, u.samples, u.contributors);	/* fits */
	out->counts_as = u.weight;
	out->samples = u.samples;
	out->machines = u.contributors;
	return 0;
}

struct table *show_fleet_table(struct work *w, const struct store_module *m)
{
	static const struct table_column col[] = {
		{ "evidence", TABLE_TEXT }, { "samples", TABLE_REAL },
		{ "counts_as", TABLE_REAL },
	};
	struct work_fleet_use u;
	struct err untold;
	char fleet[64];

	if (worth(w, m, &u, &untold) < 0 || !u.contributors)
		return NULL;
	struct table *t = NEW_TABLE("fleet", col);
	(void)snprintf(fleet, sizeof(fleet), "a fleet of %" PRIu32, u.contributors);
	table_row(t, "this machine's own", m->samples, m->samples);
	table_row(t, fleet, u.samples, u.weight);
	return t;
}
