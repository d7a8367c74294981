/* page_parts.h - the pieces of a page that are drawn, for page.c and daemonpage.c */
#ifndef MANAGER_PAGE_PAGE_PARTS_H
#define MANAGER_PAGE_PAGE_PARTS_H

#include <stdbool.h>

#include "lib/wr.h"
#include "manager/page/gainpoints.h"
#include "manager/page/pagemodule.h"

struct table;

/* Less than what any sample stands for is nothing. */
#define PAGE_LEAST 0.0005

/* Elements of module `m` are called by its number and an address. */
#define PAGE_ID_FN "f-%u-%llx"
#define PAGE_ID_INSN "i-%u-%llx"

/* page_heat.c: the text of a module, a cell for each line of 64 bytes, a row for each page. */
void page_heat(struct wr *w, const struct pagemodule *m);
/* How many lines and pages it takes, before and after; the caller's. */
struct table *page_heat_table(const struct pagemodule *m);

/* page_flow.c: the blocks that run in the order in which they lie, and what leads from one to
 * another. */
void page_flow(struct wr *w, const struct pagemodule_fn *fn, enum pagemodule_when when);
/* Is there an image of some block that runs? */
bool page_flow_moved(const struct pagemodule_fn *fn);
/* The edges as a table; the caller's. */
struct table *page_flow_table(const struct pagemodule_fn *fn);

/* page_gain.c: how much faster the module of that path was found to be, and when. */
void page_gain(struct wr *w, const gainpoints *p, const char *path);

/* page_code.c: the instructions that run, and where their cycles go. */
void page_code(struct wr *w, uint32_t module, const struct pagemodule_fn *fn);
struct table *page_code_causes(const struct pagemodule_fn *fn);	/* the caller's */

#endif
