/* layoutreport.h - layouts of one program, measured under one profile */
#ifndef EDITOR_MEASURE_LAYOUTREPORT_H
#define EDITOR_MEASURE_LAYOUTREPORT_H

#include <stdio.h>

#include "lib/profile.h"
#include "lib/rd.h"

struct arena;
struct err;

/* Prints the figures of `original`, and beside them those of `other`: a generation of it, or
 * what another tool made of it; other.p == NULL: none.  `name` heads the column of the other
 * one. */
int report_print(struct bytes original, const struct profile *profile, struct bytes other,
		 const char *name, bool json, struct arena *a, FILE *out, struct err *err);

#endif
