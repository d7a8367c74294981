/* gather.h - asks confined jobs what a page shows of the modules that take most */
#ifndef MANAGER_PAGE_GATHER_H
#define MANAGER_PAGE_GATHER_H

#include "manager/page/page.h"
#include "manager/page/pagemodule.h"
#include "manager/report/evidence.h"

struct gather_input {
	const struct evidence *evidence;
	const struct evidence_source *source;
	const struct page_counts *counts;	/* [ncounts] exact ones, besides samples */
	uint32_t ncounts;
	const char *profile;	/* of executions, where evidence is that; else NULL */
};

struct gathered {
	uint32_t functions;	/* that it may have */
	uint32_t told;		/* the first ones of them, that are on the page */
	struct pagemodule module;
	bool generated;		/* the other layout is that of the generation at its path */
	const char *failed;	/* why nothing is known of it; NULL: something is */
};

/* [*n] in the evidence's arena, most first.  One that cannot be had says why. */
struct gathered *gather_modules(const struct gather_input *in, uint32_t *n);

#endif
