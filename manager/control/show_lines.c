/* show_lines.c - lines of a report, most first, as tables
 *
 * Tested by tests/unit/manager/control/test_report.c.
 */
#include "manager/control/show_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/table.h"
#include "manager/control/show.h"

const char *lines_elsewhere(enum counter c)
{
	static const char *const name[NCOUNTER] = {
		[COUNTER_ANON] = "[code made at run time]", [COUNTER_VDSO] = "[vdso]",
		[COUNTER_KERNEL] = "[kernel]", [COUNTER_NOPROCESS] = "[unknown processes]",
		[COUNTER_ELSEWHERE] = "[other pid namespaces]",
		[COUNTER_NOWHERE] = "[no known mapping]",
	};

	return name[c] ? name[c] : "[other files]";
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

struct line *lines_add(struct lines *l, const char *module, const char *procedure,
		       double samples)
{
	l->at = memory_grow(l->at, l->n + (size_t)1, sizeof(*l->at));
	struct line *line = &l->at[l->n++];

	*line = (struct line){ .module = memory_need(strdup(module)), .samples = samples };
	if (procedure)
		line->procedure = memory_need(strdup(procedure));
	return line;
}

void lines_add_rest(struct lines *l, double samples)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->at[i].rest) {
			l->at[i].samples += samples;
			return;
		}
	lines_add(l, "[all others]", NULL, samples)->rest = true;
}

void lines_free(struct lines *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		free(l->at[i].module);
		free(l->at[i].procedure);
	}
	free(l->at);
}

static int by_name(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int c = strcmp(x->module, y->module);

	if (x->rest != y->rest)
		return x->rest ? 1 : -1;
	return c || !x->procedure || !y->procedure ? c : strcmp(x->procedure, y->procedure);
}

static int by_samples(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->rest != y->rest)
		return x->rest ? 1 : -1;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return by_name(a, b);
}

void lines_cut(struct lines *l, uint32_t limit)
{
	double rest = 0;

	if (l->n)
		qsort(l->at, l->n, sizeof(*l->at), by_samples);
	if (l->n > limit) {
		for (uint32_t i = limit; i < l->n; i++) {
			rest += l->at[i].samples;
			free(l->at[i].module);
			free(l->at[i].procedure);
		}
		l->n = limit;
		lines_add(l, "[all others]", NULL, rest)->rest = true;
	}
	if (l->n && l->by_name)
		qsort(l->at, l->n, sizeof(*l->at), by_name);
}

void lines_answer_modules(const struct lines *l, double whole, struct client *cl)
{
	static const struct table_column col[] = {
		{ "module", TABLE_TEXT },
		{ "samples", TABLE_REAL },
		{ "share_pct", TABLE_REAL },
		{ "cumulative_pct", TABLE_REAL },
		{ "generation", TABLE_UINT },
	};
	struct table *t = NEW_TABLE("modules", col);
	double sum = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		const struct line *line = &l->at[i];

		sum += line->samples;
		table_row(t, line->module, line->samples, percent(line->samples, whole),
			  percent(sum, whole), line->generation);
	}
	show_give(cl, t);
}

/* Where the kernel's are, and those made at run time, is not known. */
static void put_procedure(struct table *t, const struct line *line, double share, double sum)
{
	char samples[32], pct[32], all[32], at[32] = "", size[32] = "";
	const char *cell[] = { line->module, line->procedure, samples, pct, all, at, size };

	(void)snprintf(samples, sizeof(samples), "%.6f", line->samples);
	(void)snprintf(pct, sizeof(pct), "%.6f", share);
	(void)snprintf(all, sizeof(all), "%.6f", sum);
	if (line->entry) {
		(void)snprintf(at, sizeof(at), "%" PRIu64, (uint64_t)line->entry);
		(void)snprintf(size, sizeof(size), "%" PRIu64, line->size);
	}
	table_row_text(t, cell);
}

void lines_answer_procedures(const struct lines *l, double whole, struct client *cl)
{
	static const struct table_column col[] = {
		{ "module", TABLE_TEXT }, { "procedure", TABLE_TEXT },
		{ "samples", TABLE_REAL }, { "share_pct", TABLE_REAL },
		{ "cumulative_pct", TABLE_REAL }, { "entry", TABLE_HEX },
		{ "size_bytes", TABLE_UINT },
	};
	struct table *t = NEW_TABLE("procedures", col);
	double sum = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		sum += l->at[i].samples;
		put_procedure(t, &l->at[i], percent(l->at[i].samples, whole),
			      percent(sum, whole));
	}
	show_give(cl, t);
}

void lines_answer_shares(const char *title, const char *column, struct lines *l,
			 const struct show_report *r, struct client *cl)
{
	const struct table_column col[] = {
		{ column, TABLE_TEXT }, { "samples", TABLE_REAL },
		{ "share_pct", TABLE_REAL }, { "cumulative_pct", TABLE_REAL },
	};
	struct table *t = NEW_TABLE(title, col);
	double whole = 0, sum = 0;

	lines_cut(l, r->limited ? r->limit : UINT32_MAX);
	for (uint32_t i = 0; i < l->n; i++)
		whole += l->at[i].samples;
	for (uint32_t i = 0; i < l->n; i++) {
		sum += l->at[i].samples;
		table_row(t, l->at[i].module, l->at[i].samples,
			  percent(l->at[i].samples, whole), percent(sum, whole));
	}
	show_give(cl, t);
}
