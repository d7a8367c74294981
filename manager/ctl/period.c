/* period.c - parts of all time, for stats and diff; see period.h
 *
 * Tested by tests/unit/manager/ctl/test_period.c and tests/e2e/periods.sh.
 */
#include "manager/ctl/period.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/table.h"
#include "lib/when.h"

static bool is_time(const char *text)
{
	uint64_t ns;

	return when_parse(text, when_now_ns(), &ns);
}

/* Days are of 23 and of 25 hours, too. */
static uint64_t next_day_s(uint64_t s)
{
	time_t t = (time_t)s;
	struct tm tm;

	if (!localtime_r(&t, &tm))
		return UINT64_MAX;
	tm.tm_mday++;
	tm.tm_isdst = -1;
	return (uint64_t)mktime(&tm);
}

/* To the next one, or to now. */
static bool parse_day(const char *text, struct arena *a, struct period *out)
{
	uint64_t now_ns = when_now_ns(), ns, end_s;

	if (strspn(text, "0123456789-") != strlen(text) || !when_parse(text, now_ns, &ns))
		return false;
	end_s = next_day_s(ns / 1000000000);
	*out = (struct period){ text, end_s < now_ns / 1000000000
					      ? arena_printf(a, "@%" PRIu64, end_s) : NULL };
	return true;
}

bool period_parse(const char *text, struct arena *a, struct period *out)
{
	const char *dots = strstr(text, "..");

	if (access(text, F_OK) == 0)
		return false;
	if (!dots)
		return parse_day(text, a, out);
	const char *from = arena_printf(a, "%.*s", (int)(dots - text), text), *to = dots + 2;
	*out = (struct period){ *from ? from : NULL, *to ? to : NULL };
	return (*from || *to) && (!*from || is_time(from)) && (!*to || is_time(to));
}

static const char *bound(const char *option, const char *text, struct arena *a)
{
	uint64_t ns = 0;

	if (!text)
		return NULL;
	(void)when_parse(text, when_now_ns(), &ns);	/* period_parse() did */
	return arena_printf(a, "%s%" PRIu64, option, when_full(text, ns));
}

/* A table whose rows begin with what they are, and its samples. */
static void take(const struct table *t, struct arena *a, struct rows *out)
{
	int samples = table_column_of(t, "samples");

	if (samples < 0)
		return;			/* the period */
	out->at = arena_array(a, (size_t)table_nrow(t), sizeof(*out->at));
	for (int i = 0; i < table_nrow(t); i++) {
		struct row *row = &out->at[out->n++];

		*row = (struct row){ .module = "", .in = "",
				     .what = arena_printf(a, "%s", table_cell(t, i, 0)),
				     .count = strtod(table_cell(t, i, samples), NULL) };
		out->total += row->count;
	}
}

int period_rows(const struct ctl *ctl, const struct period *p, enum rows_by by,
		const char *module, struct arena *a, struct rows *out)
{
	static const char *const by_what[NROWS_BY] = { [ROWS_MACHINE] = "--by=machine",
						       [ROWS_PROGRAM] = "--by=program",
						       [ROWS_MODULE] = "--by=module" };
	const char *optional[] = { bound("--since=", p->since, a),
				   bound("--until=", p->until, a), module };
	const char *request[6] = { "report", by_what[by] };
	struct ctl_tables t;
	int n = 2;

	for (int i = 0; i < 3; i++)
		if (optional[i])
			request[n++] = optional[i];
	*out = (struct rows){ .by = by };
	int code = ctl_fetch(ctl, n, request, &t);

	for (int i = 0; i < t.n && code == 0; i++)
		take(t.at[i], a, out);
	ctl_tables_free(&t);
	return code;
}
