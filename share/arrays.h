/* arrays.h - evidence as arrays in the text form of PostgreSQL, and back */
#ifndef SHARE_ARRAYS_H
#define SHARE_ARRAYS_H

#include "lib/fleetfile.h"

struct arena;
struct err;

enum { ARRAYS = 9 };	/* as columns: block, count, edge_from, edge_to, edge_count, call_block,
			 * call_at, call_target, call_count */

/* Texts are in the arena. */
void arrays_write(const struct fleet_evidence *e, struct arena *a, const char *text[ARRAYS]);
/* What does not fit together, or is out of range or order, is an error; factor 0..1 is what the
 * counts are multiplied by.  Of e->kind, which is set, depends what becomes of those below 1:
 * samples are left out, executions stay 1. */
int arrays_read(const char *const text[ARRAYS], double factor, struct arena *a,
		struct fleet_evidence *e, struct err *err);

#endif
