/* layoutreport.h - measures layouts of one program under one profile, and prints the figures */
#ifndef EDITOR_MEASURE_LAYOUTREPORT_H
#define EDITOR_MEASURE_LAYOUTREPORT_H

#include <stdio.h>

#include "lib/profile.h"
#include "lib/rd.h"

struct arena;
struct err;

/* Prints to `out` the figures (measure.h) of `original` and, in a second column with head
 * `name`, those of `other`: a generation of it, or what another tool made of it; other.p ==
 * NULL: there is none.  -1 with a reason when a file or the profile is malformed or they do not
 * belong together.  Works in arena `a`. */
int report_print(struct bytes original, const struct profile *profile, struct bytes other,
		 const char *name, bool json, struct arena *a, FILE *out, struct err *err);

#endif
