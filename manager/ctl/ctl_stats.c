/* ctl_stats.c - morphctl stats and diff: several recordings side by side, without a daemon, or
 * periods of what the daemon has
 *
 * Tested by tests/e2e/reports.sh; periods, by tests/e2e/periods.sh.
 */
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/say.h"
#include "manager/ctl/ctl_evidence.h"
#include "manager/ctl/period.h"
#include "manager/report/proportions.h"

enum { LIMIT = 40 };

/* One row of all recordings: what it is, and its count in each. */
struct joined {
	struct row row;
	double *count;		/* [n] */
	double sum, mean, deviation, min, max, range_pct, dispersion;	/* stats */
	double pct[2], change, p;					/* diff */
	int sign;	/* diff: it became more, 1, or less, -1, and not by chance */
};

struct set {
	struct arena *arena;
	struct rows *rows;	/* [n] */
	uint32_t n;
	bool executions;
	VEC(struct joined) at;
};

/* --- rows of several recordings --- */

static int by_row(const void *a, const void *b)
{
	const struct joined *x = a, *y = b;

	return rows_compare(&x->row, &y->row);
}

static void join(struct set *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < s->rows[i].n; k++) {
			struct joined j = { .row = s->rows[i].at[k] };

			j.count = arena_array(s->arena, s->n, sizeof(*j.count));
			j.count[i] = j.row.count;
			vec_push(s->arena, &s->at, j);
		}
	if (s->at.n)
		qsort(s->at.v, s->at.n, sizeof(*s->at.v), by_row);
	for (uint32_t i = 0; i < s->at.n; i++) {
		if (n && by_row(&s->at.v[n - 1], &s->at.v[i]) == 0)
			for (uint32_t k = 0; k < s->n; k++)
				s->at.v[n - 1].count[k] += s->at.v[i].count[k];
		else
			s->at.v[n++] = s->at.v[i];
	}
	s->at.n = n;
}

static int read_set(const struct ctl_evidence *o, char **path, uint32_t n, struct arena *a,
		    struct set *s)
{
	*s = (struct set){ .arena = a, .n = n, .rows = arena_array(a, n, sizeof(*s->rows)) };
	for (uint32_t i = 0; i < n; i++) {
		const char *one = path[i];
		struct evidence e;
		int code = ctl_evidence_read(o, &one, 1, a, &e);

		if (code)
			return code;
		if (i && e.executions != s->executions) {
			say_line(stderr, "morphctl: '%s': samples and executions do not "
				 "compare", one);
			return 2;
		}
		s->executions = e.executions;
		rows_make(&e, o->by, o->module, &s->rows[i]);
	}
	join(s);
	return ctl_evidence_nothing(o, s->at.n > 0);
}

/* How many are periods; *other is one that is none. */
static int find_periods(char **text, int n, struct arena *a, struct period *out,
			const char **other)
{
	int found = 0;

	for (int i = 0; i < n; i++)
		if (period_parse(text[i], a, &out[i]))
			found++;
		else
			*other = text[i];
	return found;
}

static int read_periods(const struct ctl *ctl, const struct ctl_evidence *o,
			const struct period *p, uint32_t n, struct arena *a, struct set *s)
{
	*s = (struct set){ .arena = a, .n = n, .rows = arena_array(a, n, sizeof(*s->rows)) };
	const char *wrong = o->by > ROWS_MODULE ? "--by is machine, program or module"
			    : o->source.since_ns || o->source.until_ns || o->source.nbinary
				    ? "--since, --until and --binary are for recordings"
				    : NULL;
	if (wrong) {
		say_line(stderr, "morphctl %s: of periods, %s", ctl->command->name, wrong);
		return 2;
	}
	for (uint32_t i = 0; i < n; i++) {
		int code = period_rows(ctl, &p[i], o->by, o->module, a, &s->rows[i]);

		if (code)
			return code;
	}
	join(s);
	return 0;
}

static int put_names(enum rows_by by, const struct row *row, const char **cell)
{
	int n = 0;

	if (by >= ROWS_PROCEDURE)
		cell[n++] = row->module;
	cell[n++] = row->what;
	if (by == ROWS_LINE || by == ROWS_INLINED)
		cell[n++] = row->in;
	return n;
}

static const char *real(struct set *s, double v)
{
	return arena_printf(s->arena, "%.6f", v);
}

/* --- stats --- */

enum stats_sort { BY_DISPERSION, BY_RANGE, BY_DEVIATION, BY_SUM, BY_MEAN, BY_NAME };
static const char *const stats_sort_name[] = { "dispersion", "range", "deviation", "sum",
					       "mean", "name", NULL };
static enum stats_sort stats_sort;	/* for qsort() */

static void describe(struct joined *j, uint32_t n)
{
	double squares = 0;

	j->min = j->max = j->count[0];
	for (uint32_t i = 0; i < n; i++) {
		j->sum += j->count[i];
		j->min = fmin(j->min, j->count[i]);
		j->max = fmax(j->max, j->count[i]);
	}
	j->mean = j->sum / n;
	for (uint32_t i = 0; i < n; i++)
		squares += (j->count[i] - j->mean) * (j->count[i] - j->mean);
	j->deviation = sqrt(squares / (n - 1));
	j->range_pct = ctl_evidence_percent(j->max - j->min, j->sum);
	j->dispersion = j->mean > 0 ? j->deviation * j->deviation / j->mean : 0;
}

/* Makes the recordings as long as they are on the average. */
static void make_alike(struct set *s)
{
	double mean = 0;

	for (uint32_t i = 0; i < s->n; i++)
		mean += s->rows[i].total / s->n;
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < s->at.n && s->rows[i].total > 0; k++)
			s->at.v[k].count[i] *= mean / s->rows[i].total;
}

static double stats_key(const struct joined *j)
{
	switch (stats_sort) {
	case BY_DISPERSION: return j->dispersion;
	case BY_RANGE: return j->range_pct;
	case BY_DEVIATION: return j->deviation;
	case BY_SUM: return j->sum;
	case BY_MEAN: return j->mean;
	case BY_NAME: break;
	}
	return 0;
}

static int by_stats(const void *a, const void *b)
{
	double x = stats_key(a), y = stats_key(b);

	return x != y ? (x < y ? 1 : -1) : by_row(a, b);
}

static struct table *stats_table(struct set *s, const struct ctl_evidence *o)
{
	static const char *const name[] = { "sum", "share_pct", "mean", "deviation", "min",
					    "max", "range_pct", "dispersion" };
	struct table_column col[12];
	const char *cell[12];
	int n = ctl_evidence_columns(o->by, col), first = n;
	double total = 0;

	for (int i = 0; i < 8; i++)
		col[n++] = (struct table_column){ name[i], TABLE_REAL };
	struct table *t = table_new("stats", n, col);
	for (uint32_t i = 0; i < s->n; i++)
		total += s->rows[i].total;
	for (uint32_t i = 0; i < s->at.n && i < o->limit; i++) {
		const struct joined *j = &s->at.v[i];
		const double v[] = { j->sum, ctl_evidence_percent(j->sum, total), j->mean,
				     j->deviation, j->min, j->max, j->range_pct,
				     j->dispersion };

		(void)put_names(o->by, &j->row, cell);	/* as many as columns */
		for (int k = 0; k < 8; k++)
			cell[first + k] = real(s, v[k]);
		table_row_text(t, cell);
	}
	return t;
}

static struct table *totals_table(const struct set *s, char **path)
{
	const struct table_column col[] = {
		{ "recording", TABLE_TEXT },
		{ s->executions ? "executions" : "samples", TABLE_REAL },
	};
	struct table *t = table_new("recordings", 2, col);

	for (uint32_t i = 0; i < s->n; i++)
		table_row(t, path[i], s->rows[i].total);
	return t;
}

static struct table *stats(struct set *s, const struct ctl_evidence *o, int sort)
{
	if (o->shares)
		make_alike(s);
	for (uint32_t i = 0; i < s->at.n; i++)
		describe(&s->at.v[i], s->n);
	stats_sort = (enum stats_sort)sort;
	if (s->at.n)
		qsort(s->at.v, s->at.n, sizeof(*s->at.v), by_stats);
	return stats_table(s, o);
}

/* --- diff --- */

enum diff_sort { BY_CHANGE, BY_BEFORE, BY_AFTER, BY_P, BY_DIFF_NAME };
static const char *const diff_sort_name[] = { "change", "before", "after", "p", "name", NULL };
static enum diff_sort diff_sort;	/* for qsort() */

/* 5 %: of all that is said to have changed, hardly ever is one row more than have. */
static const double ALPHA = 0.05;

static void compare(struct set *s)
{
	double *p = arena_array(s->arena, s->at.n, sizeof(*p));

	for (uint32_t i = 0; i < s->at.n; i++) {
		struct joined *j = &s->at.v[i];

		for (int k = 0; k < 2; k++)
			j->pct[k] = ctl_evidence_percent(j->count[k], s->rows[k].total);
		j->change = j->pct[1] - j->pct[0];
		p[i] = proportions_test(j->count[0], s->rows[0].total, j->count[1],
					s->rows[1].total);
	}
	proportions_adjust(p, s->at.n);
	for (uint32_t i = 0; i < s->at.n; i++) {
		struct joined *j = &s->at.v[i];

		j->p = p[i];
		if (s->executions || j->p < ALPHA)
			j->sign = j->change > 0 ? 1 : j->change < 0 ? -1 : 0;
	}
}

/* What did not change by chance comes first. */
static double diff_key(const struct joined *j)
{
	switch (diff_sort) {
	case BY_CHANGE: return fabs(j->change) + (j->sign ? 1000 : 0);
	case BY_BEFORE: return j->pct[0];
	case BY_AFTER: return j->pct[1];
	case BY_P: return -j->p;
	case BY_DIFF_NAME: break;
	}
	return 0;
}

static int by_diff(const void *a, const void *b)
{
	double x = diff_key(a), y = diff_key(b);

	return x != y ? (x < y ? 1 : -1) : by_row(a, b);
}

static struct table *diff_table(struct set *s, const struct ctl_evidence *o)
{
	static const char *const name[] = { "before", "after", "before_pct", "after_pct",
					    "change_points", "p_value" };
	struct table_column col[12];
	const char *cell[12];
	int n = ctl_evidence_columns(o->by, col), first = n, values = s->executions ? 5 : 6;

	for (int i = 0; i < values; i++)
		col[n++] = (struct table_column){ name[i], TABLE_REAL };
	col[n++] = (struct table_column){ "changed", TABLE_TEXT };
	struct table *t = table_new("diff", n, col);
	for (uint32_t i = 0; i < s->at.n && i < o->limit; i++) {
		const struct joined *j = &s->at.v[i];
		const double v[] = { j->count[0], j->count[1], j->pct[0], j->pct[1],
				     j->change };

		(void)put_names(o->by, &j->row, cell);	/* as many as columns */
		for (int k = 0; k < 5; k++)
			cell[first + k] = real(s, v[k]);
		if (!s->executions)
			cell[first + 5] = arena_printf(s->arena, "%.3g", j->p);
		cell[n - 1] = j->sign > 0 ? "more" : j->sign < 0 ? "less" : "";
		table_row_text(t, cell);
	}
	return t;
}

static struct table *diff(struct set *s, const struct ctl_evidence *o, int sort)
{
	compare(s);
	diff_sort = (enum diff_sort)sort;
	if (s->at.n)
		qsort(s->at.v, s->at.n, sizeof(*s->at.v), by_diff);
	return diff_table(s, o);
}

/* --- the commands --- */

struct command {
	const char *const *sort_name;
	int least, most;		/* recordings */
	struct table *(*table)(struct set *s, const struct ctl_evidence *o, int sort);
};

static int read_all(const struct ctl *ctl, struct ctl_evidence *o, char **given, int n,
		    struct arena *a, struct set *s)
{
	struct period *p = arena_array(a, (size_t)n, sizeof(*p));
	const char *other = NULL;
	int periods = find_periods(given, n, a, p, &other);

	if (!periods)
		return read_set(o, given, (uint32_t)n, a, s);
	if (other) {
		say_line(stderr, "morphctl %s: '%s' is not, as another one is, %s",
			 ctl->command->name, other, PERIOD_FORMS);
		return 2;
	}
	if (!o->by_given)
		o->by = ROWS_PROGRAM;
	return read_periods(ctl, o, p, (uint32_t)n, a, s);
}

static int run(const struct ctl *ctl, const struct command *c, int argc, char **argv)
{
	struct arena *a = NULL;
	struct ctl_tables t = { 0 };
	struct ctl_evidence o;
	struct set s;
	int code = ctl_evidence_options(ctl, argc, argv, LIMIT, &o);

	if (code)
		return code;
	int sort = ctl_evidence_sort(o.sort, c->sort_name), n = argc - optind;
	if (sort < 0)
		code = ctl_evidence_wrong_sort(ctl, o.sort, c->sort_name);
	else if (n < c->least || n > c->most) {
		say_line(stderr, "morphctl %s: %s recordings are compared, not %d",
			 ctl->command->name, c->most == 2 ? "two" : "two or more", n);
		code = ctl_usage(ctl);
	}
	if (code == 0) {
		a = arena_new();
		code = read_all(ctl, &o, argv + optind, n, a, &s);
	}
	if (code == 0) {
		t.at[t.n++] = totals_table(&s, argv + optind);
		t.at[t.n++] = c->table(&s, &o, sort);
		code = ctl_print(ctl, &t, 0);
	}
	arena_free(a);
	ctl_evidence_free(&o);
	return code;
}

int ctl_stats(const struct ctl *ctl, int argc, char **argv)
{
	static const struct command c = { stats_sort_name, 2, INT_MAX, stats };

	return run(ctl, &c, argc, argv);
}

int ctl_diff(const struct ctl *ctl, int argc, char **argv)
{
	static const struct command c = { diff_sort_name, 2, 2, diff };

	return run(ctl, &c, argc, argv);
}
