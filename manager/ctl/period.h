/* period.h - what the daemon has of a part of all time, as rows like those of a recording */
#ifndef MANAGER_CTL_PERIOD_H
#define MANAGER_CTL_PERIOD_H

#include "manager/ctl/ctl.h"
#include "manager/report/rows.h"

struct period {
	const char *since, *until;	/* as when_parse() takes them; NULL: no bound */
};

#define PERIOD_FORMS "a day, or FROM..TO, both of them times until now"

/* A day (2026-11-20), or FROM..TO, of which one may be missing.  False: it is none, or the name
 * of a file. */
bool period_parse(const char *text, struct arena *a, struct period *out);
/* By ROWS_MACHINE, ROWS_PROGRAM or ROWS_MODULE; programs also in one module alone, NULL: in
 * all.  The exit code; what is wrong has been said. */
int period_rows(const struct ctl *ctl, const struct period *p, enum rows_by by,
		const char *module, struct arena *a, struct rows *out);

#endif
