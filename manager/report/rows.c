/* rows.c - evidence added up
 *
 * Tested by tests/e2e/reports.sh.
 */
#include "manager/report/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "manager/report/intern.h"

const char *const rows_by_name[NROWS_BY + 1] = {
	"machine", "program", "module", "procedure", "line", "inlined", NULL,
};

static const char unknown_program[] = "[unknown program]";

/* --- one place --- */

static void by_procedure(const struct evidence *e, const struct evidence_place *p,
			 struct row *row)
{
	const struct evidence_module *m = &e->module.v[p->module];

	if (p->function != EVIDENCE_NONE) {
		const struct evidence_function *f = &m->function[p->function];

		row->what = evidence_plain(e, f->name);
		row->entry = f->entry;
		row->size = f->size;
	} else {
		row->what = m->file ? "[outside of all functions]" : m->path;
	}
}

static void by_line(const struct evidence *e, const struct evidence_place *p, struct row *row)
{
	const struct evidence_frame *f = p->nframe ? &p->frame[0] : NULL;

	row->what = f && f->line ? arena_printf(e->arena, "%s:%u", evidence_plain(e, f->file),
						f->line)
				 : "[no line known]";
	row->in = evidence_plain(e, f ? f->name : evidence_name(e, p));
}

static void by_inlined(const struct evidence *e, const struct evidence_place *p,
		       struct row *row)
{
	row->what = evidence_plain(e, p->nframe ? p->frame[0].name : evidence_name(e, p));
	for (uint32_t i = 1; i < p->nframe; i++)
		row->in = arena_printf(e->arena, "%s%s%s", row->in, i > 1 ? " < " : "",
				       evidence_plain(e, p->frame[i].name));
}

static struct row row_of(const struct evidence *e, const struct evidence_place *p,
			 enum rows_by by)
{
	const struct evidence_module *m = &e->module.v[p->module];
	struct row row = { .module = m->path, .what = "", .in = "" };

	switch (by) {
	case ROWS_MACHINE:
		row.module = "";
		row.what = m->file ? "programs and libraries" : m->path;
		break;
	case ROWS_PROGRAM:
		row.module = "";
		row.what = p->program == EVIDENCE_NONE ? unknown_program
						       : e->program.v[p->program].path;
		break;
	case ROWS_MODULE:
		row.module = "";
		row.what = m->path;
		break;
	case ROWS_PROCEDURE:
		by_procedure(e, p, &row);
		break;
	case ROWS_LINE:
		by_line(e, p, &row);
		break;
	case ROWS_INLINED:
		by_inlined(e, p, &row);
		break;
	case NROWS_BY:
		break;
	}
	return row;
}

/* --- comparing --- */

bool rows_is_module(const struct evidence_module *m, const char *name)
{
	return strcmp(m->path, name) == 0 || strcmp(evidence_base(m->path), name) == 0;
}

int rows_compare(const struct row *a, const struct row *b)
{
	int c = strcmp(a->module, b->module);

	if (c == 0)
		c = strcmp(a->what, b->what);
	if (c == 0)
		c = strcmp(a->in, b->in);
	return c ? c : a->entry < b->entry ? -1 : a->entry > b->entry;
}

static int by_count(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return rows_compare(x, y);
}

/* --- with callees --- */

/* Each sample counts once in each row that is on its stack, however often. */
static void add_callees(const struct evidence *e, const uint32_t *of_place, struct row *row,
			uint32_t n)
{
	uint32_t *last = arena_array(e->arena, n, sizeof(*last));	/* stack + 1 */

	for (uint32_t i = 0; i < e->stack.n; i++) {
		const struct evidence_stack *s = &e->stack.v[i];

		for (uint32_t k = 0; k < s->n; k++) {
			uint32_t at = of_place[s->place[k]];

			if (at == UINT32_MAX || last[at] == i + 1)
				continue;
			last[at] = i + 1;
			row[at].callees += s->count;
		}
	}
}

static int by_callees(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->callees != y->callees)
		return x->callees < y->callees ? 1 : -1;
	return by_count(a, b);
}

void rows_sort_by_callees(struct rows *rows)
{
	if (rows->n)
		qsort(rows->at, rows->n, sizeof(*rows->at), by_callees);
}

double rows_callees_of_rest(const struct evidence *e, const struct rows *rows, uint32_t from)
{
	bool *rest = arena_array(e->arena, rows->n, sizeof(*rest));
	double sum = 0;

	for (uint32_t i = from; i < rows->n; i++)
		rest[rows->at[i].key] = true;
	for (uint32_t i = 0; i < e->stack.n; i++) {
		const struct evidence_stack *s = &e->stack.v[i];

		for (uint32_t k = 0; k < s->n; k++) {
			uint32_t at = rows->of_place[s->place[k]];

			if (at != UINT32_MAX && rest[at]) {
				sum += s->count;
				break;
			}
		}
	}
	return sum;
}

/* --- all --- */

void rows_make(const struct evidence *e, enum rows_by by, const char *module, struct rows *out)
{
	bool callees = e->with_stacks && by >= ROWS_MODULE;
	uint32_t *of_place = arena_array(e->arena, e->place.n, sizeof(*of_place));
	struct intern key = intern_new(e->arena);
	VEC(struct row) row = { 0 };

	*out = (struct rows){ .by = by, .callees = callees };
	for (uint32_t i = 0; i < e->place.n; i++) {
		const struct evidence_place *p = &e->place.v[i];

		of_place[i] = UINT32_MAX;
		if ((module && !rows_is_module(&e->module.v[p->module], module)) ||
		    (p->count == 0 && !callees))
			continue;
		struct row one = row_of(e, p, by);
		uint32_t k = intern_text(&key,
					 arena_printf(e->arena, "%s\t%s\t%s\t%" PRIx64,
						      one.module, one.what, one.in, one.entry));

		one.key = of_place[i] = k;
		if (k == row.n)
			vec_push(e->arena, &row, one);
		row.v[k].count += p->count;
		out->total += p->count;
	}
	if (callees)
		add_callees(e, of_place, row.v, row.n);
	out->of_place = callees ? of_place : NULL;
	out->at = row.v;
	out->n = row.n;
	if (row.n)
		qsort(row.v, row.n, sizeof(*row.v), by_count);
}
