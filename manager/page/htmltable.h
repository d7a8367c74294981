/* htmltable.h - a table of a command, on a page */
#ifndef MANAGER_PAGE_HTMLTABLE_H
#define MANAGER_PAGE_HTMLTABLE_H

#include "lib/table.h"
#include "lib/wr.h"

/* Where a row leads. */
struct htmltable_links {
	/* Writes the name of an element of the page; false: it leads nowhere. */
	bool (*of_row)(void *ctx, const struct table *t, int row, char *id, size_t n);
	void *ctx;
	const char *column;		/* whose cells become links */
};

/* Cells are what people see in a terminal; those of numbers have the value that --json gives
 * as data-v, where that is another text.  `links` may be NULL. */
void htmltable_put(struct wr *w, const struct table *t, const struct htmltable_links *links);

#endif
