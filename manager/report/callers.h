/* callers.h - which procedures called which, of evidence with stacks */
#ifndef MANAGER_REPORT_CALLERS_H
#define MANAGER_REPORT_CALLERS_H

#include "manager/report/evidence.h"

struct caller {
	const char *module, *procedure;		/* fit to show */
	const char *by_module, *by;
	/* with the call on their stack, each once, however often it is there: time of the
	 * procedure, and of all that it called, when it was called from there */
	double samples;
};

struct callers {
	uint32_t n;
	struct caller *at;		/* most first, equal ones by names */
};

/* `module`: only procedures that are in that one, by its path or file name; NULL: all.  Lives
 * in the evidence's arena. */
void callers_make(const struct evidence *e, const char *module, struct callers *out);

#endif
