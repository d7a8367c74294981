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
#include "lib/memory.h"
#include "lib/say.h"
#include "lib/table.h"
#include "lib/when.h"
#include "manager/work/answer.h"

enum { AGAIN_S = 3, TRIES = 40 };	/* chosen */

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

/* Who may ask for some things at once only, waits with the others for his turn. */
static int fetch(const struct ctl *ctl, int n, const char *const *request,
		 struct ctl_tables *out)
{
	struct ctl quiet = *ctl;
	bool again = true;
	int code = 0;

	for (int tries = 0; again; tries++) {
		char *why = NULL;
		size_t size = 0;

		quiet.errors = memory_need(open_memstream(&why, &size));
		code = ctl_fetch(&quiet, n, request, out);
		(void)fclose(quiet.errors);	/* memory */
		again = code && strstr(why, ANSWER_TOO_MANY) && tries < TRIES;
		if (!again)
			(void)fputs(why, ctl->errors ? ctl->errors : stderr);
		free(why);
		if (again) {
			if (!tries)
				say_line(stderr, "morphctl %s: more is asked for than "
					 "the daemon answers at once; waiting",
					 ctl->command->name);
			ctl_tables_free(out);
			(void)sleep(AGAIN_S);
		}
	}
	return code;
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
	int code = fetch(ctl, n, request, &t);

	for (int i = 0; i < t.n && code == 0; i++)
		take(t.at[i], a, out);
	ctl_tables_free(&t);
	return code;
}
