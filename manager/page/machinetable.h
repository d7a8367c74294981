/* machinetable.h - the machine that makes a page, and when */
#ifndef MANAGER_PAGE_MACHINETABLE_H
#define MANAGER_PAGE_MACHINETABLE_H

struct table;

struct table *machinetable_new(void);	/* the caller's */

#endif
