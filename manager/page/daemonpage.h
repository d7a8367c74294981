/* daemonpage.h - one page of what the daemon says, as HTML that needs nothing else */
#ifndef MANAGER_PAGE_DAEMONPAGE_H
#define MANAGER_PAGE_DAEMONPAGE_H

#include <stdint.h>

#include "lib/wr.h"

struct table;

struct daemonpage_answer {
	const char *request;		/* "status", "list", "history", "report", "explain" */
	const char *module;		/* of explain; else NULL */
	const char *failed;		/* why there is none; NULL: there is */
	struct table *const *table;	/* [ntable] */
	int ntable;
};

void daemonpage_put(const struct daemonpage_answer *answer, uint32_t n, struct wr *out);

#endif
