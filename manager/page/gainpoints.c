/* gainpoints.c - what the daemon measured of generations, from its history
 *
 * Tested by tests/unit/manager/page/test_gainpoints.c.
 */
#include "manager/page/gainpoints.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/table.h"

/* By how much less time it took, in percent: the other way round, and so is the interval. */
static bool read_time(const char *detail, struct gainpoint *out)
{
	const char *at = strstr(detail, ", time ");
	double t, low, high;

	if (!at || sscanf(at, ", time %lf %% (%lf .. %lf)", &t, &low, &high) != 3)
		return false;
	out->estimate = 1 / (1 + t / 100);
	out->low = 1 / (1 + high / 100);
	out->high = 1 / (1 + low / 100);
	return true;
}

static bool read_ratio(const char *detail, struct gainpoint *out)
{
	const char *at = strstr(detail, "in turns: ");

	at = at ? strstr(at, ", ") : NULL;
	return at && sscanf(at, ", %lf (%lf to %lf) times as fast", &out->estimate, &out->low,
			    &out->high) == 3;
}

bool gainpoints_read(const char *detail, struct gainpoint *out)
{
	struct gainpoint p = *out;

	if (!read_ratio(detail, &p) && !read_time(detail, &p))
		return false;
	if (!(p.low > 0) || !(p.low <= p.estimate) || !(p.estimate <= p.high) ||
	    !isfinite(p.high))
		return false;
	*out = p;
	return true;
}

void gainpoints_of(const struct table *history, struct arena *a, gainpoints *out)
{
	int time = table_column_of(history, "time"), path = table_column_of(history, "path");
	int event = table_column_of(history, "event");
	int detail = table_column_of(history, "detail");

	*out = (gainpoints){ 0 };
	if (time < 0 || path < 0 || event < 0 || detail < 0)
		return;
	for (int r = table_nrow(history); r-- > 0; ) {
		struct gainpoint p = { strtoull(table_cell(history, r, time), NULL, 10),
				       table_cell(history, r, path),
				       table_cell(history, r, event), 0, 0, 0 };

		if (gainpoints_read(table_cell(history, r, detail), &p))
			vec_push(a, out, p);
	}
}

struct table *gainpoints_table(const gainpoints *p)
{
	static const struct table_column col[] = {
		{ "time", TABLE_TIME }, { "path", TABLE_TEXT }, { "verdict", TABLE_TEXT },
		{ "times_as_fast", TABLE_REAL }, { "at_least", TABLE_REAL },
		{ "at_most", TABLE_REAL },
	};
	struct table *t = table_new("gains", 6, col);

	for (uint32_t i = 0; i < p->n; i++)
		table_row(t, p->v[i].time_ns, p->v[i].path, p->v[i].event, p->v[i].estimate,
			  p->v[i].low, p->v[i].high);
	return t;
}
