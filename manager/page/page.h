/* page.h - one page, as HTML that needs nothing else */
#ifndef MANAGER_PAGE_PAGE_H
#define MANAGER_PAGE_PAGE_H

#include "lib/wr.h"
#include "manager/report/evidence.h"

struct table;

struct page_counts {			/* exact counts of a module, besides samples */
	const char *module, *profile;	/* paths */
};

struct page_recording {
	const char *title;
	const char *const *log;		/* [nlog] */
	uint32_t nlog;
	const struct evidence *evidence;
	const struct evidence_source *source;
	const struct page_counts *counts;	/* [ncounts] */
	uint32_t ncounts;
	struct table *const *table;	/* [ntable], as commands print them */
	uint32_t ntable;
};

/* What recordings or a profile show: the tables, and of the modules that take most pictures of
 * the text and annotated functions.  What cannot be had is told on the page. */
void page_of_recording(const struct page_recording *in, struct wr *out);

#endif
