/* columns.h - of large tables, what people ask for most */
#ifndef MANAGER_CTL_COLUMNS_H
#define MANAGER_CTL_COLUMNS_H

#include <stdbool.h>

struct table;

/* What is in it another table says to people. */
bool columns_for_programs(const struct table *t);
/* The table with its usual columns alone, or without rows that tell people nothing, in its
 * place; as it is if it is no such table. */
void columns_choose(struct table **t);
/* What people can do without where the terminal is narrow, the least needed first, with NULL
 * behind them; NULL: nothing. */
const char *const *columns_spare(const char *title);

#endif
