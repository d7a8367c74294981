/* gainpoints.h - what the daemon measured of generations, from its history */
#ifndef MANAGER_PAGE_GAINPOINTS_H
#define MANAGER_PAGE_GAINPOINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"

struct table;

struct gainpoint {
	uint64_t time_ns;		/* since 1970 */
	const char *path;
	const char *event;		/* "faster", "slower", ... */
	/* how many times as fast as what was there before; an interval */
	double estimate, low, high;
};
typedef VEC(struct gainpoint) gainpoints;

/* Reads the sentence of a verdict (speedtest_text() or ratio_text(), in policy/); false: no
 * interval is in it. */
bool gainpoints_read(const char *detail, struct gainpoint *out);
/* Those of the rows of `history` that have one, oldest first, in the arena; texts are the
 * table's. */
void gainpoints_of(const struct table *history, struct arena *a, gainpoints *out);
/* They as a table; the caller's. */
struct table *gainpoints_table(const gainpoints *p);

#endif
