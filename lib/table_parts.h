/* table_parts.h - what the printed forms of a table share: for tableprint.c, tabletext.c
 * and pages (manager/page/) */
#ifndef LIB_TABLE_PARTS_H
#define LIB_TABLE_PARTS_H

#include <stdint.h>

#include "lib/table.h"

/* The number that a cell of that type holds, in *d of TABLE_REAL and TABLE_FIGURE, else in *u;
 * false: the cell does not hold one. */
bool table_number_of(const char *raw, enum table_type type, uint64_t *u, double *d);
/* What people see of a cell, malloc'd. */
char *table_text_cell(const char *raw, enum table_type type, int decimals);
/* Decimals that a column of real numbers needs: its largest has some four digits. */
int table_decimals(const struct table *t, int col);
/* For people, without the title. */
void table_text_print(const struct table *t, FILE *f, const struct table_look *look);

#endif
