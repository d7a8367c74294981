/* show_explained.c - one program in sentences: what runs, what it has brought, what is next,
 * what would change that, and what is left as it is
 *
 * Tested by tests/unit/manager/control/test_show_explained.c and tests/e2e/overview.sh.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/blockmap.h"
#include "lib/err.h"
#include "lib/table.h"
#include "manager/control/show.h"
#include "manager/work/work_next.h"
#include "manager/work/work_saved.h"

enum { SENTENCE_MAX = PATH_MAX + 512 };

static void say(struct table *t, const char *about, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void say(struct table *t, const char *about, const char *code, const char *fmt, ...)
{
	char text[SENTENCE_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);	/* a cut one still tells */
	va_end(ap);
	table_row(t, about, code, text);
}

/* A generation, by what the analysis says, that the store takes for an original, since it does
 * not know whose it is. */
static bool is_stray(const struct store_module *m, const char *misplaced)
{
	return !m->generation && (strstr(m->refusal, blockmap_refusal) ||
				  strstr(misplaced, blockmap_refusal));
}

static int say_now(struct work *w, const struct store_module *m, const char *misplaced,
		   struct table *t, struct err *err)
{
	struct store_generation g;
	char when[32] = "?";
	struct tm tm;

	if (is_stray(m, misplaced)) {
		say(t, "now", "stray", "A generation runs whose original is not known. Root's "
		    "`morphctl undo %s` puts that back if it is kept; else its package has it.",
		    m->path);
		return 0;
	}
	if (!m->generation) {
		say(t, "now", "original", "Its original runs; %.0f samples are known of it.",
		    m->samples);
		return 0;
	}
	int rc = store_generation_by_number(w->store, m->id, m->generation, &g, err);
	if (rc <= 0)
		return rc;
	time_t s = (time_t)(g.made_ns / 1000000000);
	if (localtime_r(&s, &tm))
		(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	say(t, "now", "generation", "Generation %" PRIu32 " runs, made %s from %.0f samples; "
	    "now %.0f are known.", m->generation, when, g.samples, m->samples);
	return 0;
}

static int say_speed(struct work *w, const struct store_module *m, struct table *t,
		     struct err *err)
{
	struct store_turns turns = { .text = "" };
	char text[SPEEDTEST_TEXT_MAX], fast[96] = "";
	struct show_times times;
	struct speedtest p;

	if (!m->generation)
		return 0;
	if (store_turns_get(w->store, m->id, m->generation, &turns, err) < 0 ||
	    store_speed_get(w->store, m->id, &p, err) < 0)
		return -1;
	if (p.generation != m->generation)
		speedtest_swap(&p, m->generation);		/* nothing came in since */
	speedtest_text(&p, text);
	show_times_of(w, m, &times);
	if (!isnan(times.as_fast))
		(void)snprintf(fast, sizeof(fast), "; times as fast: %.2f (%.2f .. %.2f)",
			       times.as_fast, times.low, times.high);	/* fits */
	say(t, "speed", speedtest_verdict_code[turns.text[0] ? turns.verdict : p.verdict],
	    "Compared with what was there before: %s%s.",
	    turns.text[0] ? turns.text : text, fast);
	return 0;
}

static int say_saved(struct work *w, const struct store_module *m, struct table *t,
		     struct err *err)
{
	struct work_saved s = { .n = 0 };
	struct saving sum = { 0, 0, 0 };
	double unmeasured_s = 0;
	bool measured = false;

	if (work_saved(w, m, 0, &s, err) < 0)
		return -1;
	for (uint32_t i = 0; i < s.n; i++) {
		measured = measured || s.use[i].why == WORK_MEASURED;
		unmeasured_s += s.use[i].why ? s.use[i].cpu_s : 0;
		saving_add(&sum, &s.use[i].saving);
	}
	if (measured)
		say(t, "saved", "measured", "Its generations have saved %.1f s of CPU time "
		    "(%.1f to %.1f)%s.", sum.estimate_s, sum.low_s, sum.high_s,
		    unmeasured_s > 0 ? ", as far as it is measured" : "");
	else if (s.n)
		say(t, "saved", work_unmeasured_name[s.use[s.n - 1].why],
		    "What its generations have saved is not measured: %s.",
		    work_unmeasured_text[s.use[s.n - 1].why]);
	work_saved_free(&s);
	return 0;
}

/* With its path for the word PATH. */
static void say_change(struct table *t, const char *path, enum work_next_code code)
{
	const char *change = work_next_change[code], *at = strstr(change, "PATH");

	if (at)
		say(t, "change", work_next_name[code], "%.*s%s%s", (int)(at - change), change,
		    path, at + strlen("PATH"));
	else
		say(t, "change", work_next_name[code], "%s", change);
}

static int say_next(struct work *w, const struct store_module *m, const char *misplaced,
		    struct table *t, struct err *err)
{
	struct work_next next;

	if (work_next(w, m, &next, err) < 0)
		return -1;
	/* what the parent says of the place is surer than what everybody sees */
	if (misplaced[0] && next.code != WORK_NEXT_EXCLUDED && next.code != WORK_NEXT_RULE) {
		next.code = WORK_NEXT_PLACE;
		(void)snprintf(next.text, sizeof(next.text), "left: %.360s", misplaced);
	}
	say(t, "next", work_next_name[next.code], "Next: %s.", next.text);
	say_change(t, m->path, next.code);
	return 0;
}

/* Of the table "reasons" (reason, functions, bytes): what can be moved, and why most of the
 * rest cannot. */
static void say_left(const struct table *reasons, struct table *t)
{
	uint64_t all = 0, left = 0, most = 0, movable = 0;
	const char *why = "";

	for (int row = 0; row < table_nrow(reasons); row++) {
		const char *reason = table_cell(reasons, row, 0);
		uint64_t n = strtoull(table_cell(reasons, row, 1), NULL, 10);

		all += n;
		if (strcmp(reason, "movable") == 0) {
			movable = n;
			continue;
		}
		left += n;
		if (n > most) {
			most = n;
			why = reason;
		}
	}
	if (movable && left)
		say(t, "left", "functions", "Of its %" PRIu64 " functions %" PRIu64 " can be "
		    "moved; %" PRIu64 " are left as they are, %" PRIu64 " of them: %s.", all,
		    movable, left, most, why);
	else if (movable)
		say(t, "left", "functions", "All of its %" PRIu64 " functions can be moved.",
		    all);
}

int show_explained(struct work *w, const struct store_module *m, const char *misplaced,
		   const struct table *reasons, struct table **out, struct err *err)
{
	static const struct table_column col[] = {
		{ "about", TABLE_TEXT }, { "code", TABLE_TEXT }, { "sentence", TABLE_TEXT },
	};
	struct table *t = NEW_TABLE("explained", col);

	if (say_now(w, m, misplaced, t, err) < 0 || say_speed(w, m, t, err) < 0 ||
	    say_saved(w, m, t, err) < 0 || say_next(w, m, misplaced, t, err) < 0) {
		table_free(t);
		return -1;
	}
	say_left(reasons, t);
	*out = t;
	return 0;
}
