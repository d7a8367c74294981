/* columns.h - of wide tables, the columns that people ask for most */
#ifndef MANAGER_CTL_COLUMNS_H
#define MANAGER_CTL_COLUMNS_H

struct table;

/* The table with its usual columns alone, in its place; as it is if it has none such. */
void columns_choose(struct table **t);

#endif
