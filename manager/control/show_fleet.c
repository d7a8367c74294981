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

/* What a fleet knows of a module. */
struct known {
	struct work_fleet_use use;
	struct work_fleet_counts counts;
};

static int look(struct work *w, const struct store_module *m, struct known *out,
		struct err *err)
{
	struct store_profile own = { 0 };
	struct policy policy;

	*out = (struct known){ 0 };
	if (!w->policy->share_conninfo || !w->policy->share_conninfo[0])
		return 0;
	(void)work_rule(w, m->path, &policy);
	if (work_fleet_worth(w, m, &policy, &out->use, err) < 0 ||
	    store_profile_get(w->store, m->id, &own, err) < 0)
		return -1;
	/* own counts are not asked for: of what use the fleet's would be without them */
	int rc = work_fleet_counts(w, m, &policy, &own, (struct bytes){ NULL, 0 }, NULL,
				   &out->counts, err);
	store_profile_free(&own);
	return rc;
}

int show_fleet_of(struct work *w, const struct store_module *m, struct show_fleet *out,
		  struct err *err)
{
	struct known k;
	size_t n = 0;

	*out = (struct show_fleet){ "", NAN, NAN, 0, 0 };
	if (look(w, m, &k, err) < 0)
		return -1;
	out->machines = k.use.contributors;
	out->counting = k.counts.contributors;
	if (out->machines) {
		out->counts_as = k.use.weight;
		out->samples = k.use.samples;	/* all fit */
		n = (size_t)snprintf(out->text, sizeof(out->text),
				     "%.0f of %.0f samples, of %" PRIu32, out->counts_as,
				     out->samples, out->machines);
	}
	if (out->counting)
		(void)snprintf(out->text + n, sizeof(out->text) - n, "%scounts of %" PRIu32,
			       n ? "; " : "", out->counting);
	return 0;
}

struct table *show_fleet_table(struct work *w, const struct store_module *m)
{
	static const struct table_column col[] = {
		{ "evidence", TABLE_TEXT }, { "samples", TABLE_REAL },
		{ "counts_as", TABLE_REAL }, { "functions", TABLE_TEXT },
	};
	struct known k;
	struct err untold;
	char of[64], functions[48];

	if (look(w, m, &k, &untold) < 0 || (!k.use.contributors && !k.counts.contributors))
		return NULL;
	struct table *t = NEW_TABLE("fleet", col);
	table_row(t, "this machine's own", m->samples, m->samples, "");
	if (k.use.contributors) {
		(void)snprintf(of, sizeof(of), "a fleet of %" PRIu32, k.use.contributors);
		table_row(t, of, k.use.samples, k.use.weight, "");
	}
	if (k.counts.contributors) {
		(void)snprintf(of, sizeof(of), "exact counts of a fleet of %" PRIu32,
			       k.counts.contributors);
		(void)snprintf(functions, sizeof(functions), "%" PRIu32 " of %" PRIu32,
			       k.counts.taken, k.counts.functions);
		table_row(t, of, NAN, NAN, functions);
	}
	return t;
}
