/* reporttable.h - evidence added up, as the tables of report */
#ifndef MANAGER_CTL_REPORTTABLE_H
#define MANAGER_CTL_REPORTTABLE_H

#include "manager/ctl/ctl_evidence.h"

/* The words of --sort, in the order of ctl_evidence_sort(); ends with NULL. */
extern const char *const reporttable_sort[];
/* By samples with callees, which only recordings with stacks have? */
bool reporttable_is_by_callees(const struct ctl_evidence *o);

/* Clock, samples, length, losses; the caller's. */
struct table *reporttable_about(const struct evidence *e);
/* Most first, or as o->sort says; what is more than o->limit rows is the last one.  The
 * caller's. */
struct table *reporttable_by(const struct evidence *e, const struct ctl_evidence *o,
			     enum rows_by by);

/* Who called whom, most first, o->limit rows at most; the caller's. */
struct table *reporttable_callers(const struct evidence *e, const struct ctl_evidence *o);

#endif
