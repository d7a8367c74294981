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

		row->what = f->name;
		row->entry = f->entry;
		row->size = f->size;
	} else {
		row->what = m->file ? "[outside of all functions]" : m->shown;
	}
}

static void by_line(const struct evidence *e, const struct evidence_place *p, struct row *row)
{
	const struct evidence_frame *f = p->nframe ? &p->frame[0] : NULL;

	row->what = f && f->line ? arena_printf(e->arena, "%s:%u", f->file, f->line)
				 : "[no line known]";
	row->in = f ? f->name : evidence_name(e, p);
}

static void by_inlined(const struct evidence *e, const struct evidence_place *p,
		       struct row *row)
{
	row->what = p->nframe ? p->frame[0].name : evidence_name(e, p);
	for (uint32_t i = 1; i < p->nframe; i++)
		row->in = arena_printf(e->arena, "%s%s%s", row->in, i > 1 ? " < " : "",
				       p->frame[i].name);
}

static struct row row_of(const struct evidence *e, const struct evidence_place *p,
			 enum rows_by by)
{
	const struct evidence_module *m = &e->module.v[p->module];
	struct row row = { .module = m->shown, .what = "", .in = "" };

	switch (by) {
	case ROWS_MACHINE:
		row.module = "";
		row.what = m->file ? "programs and libraries" : m->shown;
		break;
	case ROWS_PROGRAM:
		row.module = "";
		row.what = p->program == EVIDENCE_NONE ? unknown_program
						       : e->program.v[p->program];
		break;
	case ROWS_MODULE:
		row.module = "";
		row.what = m->shown;
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

/* --- all --- */

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

void rows_make(const struct evidence *e, enum rows_by by, const char *module, struct rows *out)
{
	struct intern key = intern_new(e->arena);
	VEC(struct row) row = { 0 };

	*out = (struct rows){ .by = by };
	for (uint32_t i = 0; i < e->place.n; i++) {
		const struct evidence_place *p = &e->place.v[i];

		if (module && !rows_is_module(&e->module.v[p->module], module))
			continue;
		struct row one = row_of(e, p, by);
		uint32_t k = intern_text(&key,
					 arena_printf(e->arena, "%s\t%s\t%s\t%" PRIx64,
						      one.module, one.what, one.in, one.entry));

		if (k == row.n)
			vec_push(e->arena, &row, one);
		row.v[k].count += p->count;
		out->total += p->count;
	}
	out->at = row.v;
	out->n = row.n;
	if (row.n)
		qsort(row.v, row.n, sizeof(*row.v), by_count);
}
