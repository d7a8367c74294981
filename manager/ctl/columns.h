/* columns.h - of large tables, what people ask for most */
#ifndef MANAGER_CTL_COLUMNS_H
#define MANAGER_CTL_COLUMNS_H

struct table;

/* The table with its usual columns alone, or without counters that are 0, in its place; as it
 * is if it is no such table. */
void columns_choose(struct table **t);

#endif
