/* callers.h - which procedures called which, of evidence with stacks or counted calls */
#ifndef MANAGER_REPORT_CALLERS_H
#define MANAGER_REPORT_CALLERS_H

#include "manager/report/evidence.h"

struct caller {
	const char *module, *procedure;		/* plain */
	const char *by_module, *by;
	/* samples with the call on their stack, each once, however often it is there: time of
	 * the procedure, and of all that it called, when it was called from there; or calls,
	 * where these were counted */
	double count;
};

struct callers {
	double whole;			/* of which counts are parts: all samples, or calls */
	uint32_t n;
	struct caller *at;		/* most first, equal ones by names */
};

/* `module`: only procedures that are in that one, by its path or file name; NULL: all.  Lives
 * in the evidence's arena. */
void callers_make(const struct evidence *e, const char *module, struct callers *out);

#endif
