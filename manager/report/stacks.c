/* stacks.c - evidence as stacks: program, module, function, calls that were inlined
 *
 * Tested by tests/e2e/export.sh.
 */
#include "manager/report/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "manager/report/intern.h"

enum { DEPTH_MAX = 2 + 64 };	/* program and module, and what evidence_names.c takes */

struct maker {
	struct arena *arena;
	struct intern frame;	/* name, tab, file: neither has one */
	struct intern stack;
	VEC(double) count;
};

static uint32_t frame_of(struct maker *m, const char *name, const char *file)
{
	return intern_text(&m->frame, arena_printf(m->arena, "%s\t%s", name, file));
}

static void add(struct maker *m, const struct evidence *e, const struct evidence_place *p)
{
	const struct evidence_module *module = &e->module.v[p->module];
	uint32_t frame[DEPTH_MAX], n = 0;

	if (p->program != EVIDENCE_NONE)
		frame[n++] = frame_of(m, evidence_base(e->program.v[p->program]), "");
	if (!evidence_is_program(e, p))
		frame[n++] = frame_of(m, evidence_base(module->shown), "");
	for (uint32_t i = p->nframe; i-- > 0 && n < DEPTH_MAX; )
		frame[n++] = frame_of(m, p->frame[i].name, p->frame[i].file);
	uint32_t number = intern_key(&m->stack, frame, n * sizeof(*frame));
	if (number == m->count.n)
		vec_push(m->arena, &m->count, 0);
	m->count.v[number] += p->count;
}

static int by_names(const void *a, const void *b, void *ctx)
{
	const struct stacks *s = ctx;
	const struct stacks_one *x = a, *y = b;

	for (uint32_t i = 0; i < x->n && i < y->n; i++) {
		const struct stacks_frame *f = &s->frame[x->frame[i]];
		const struct stacks_frame *g = &s->frame[y->frame[i]];
		int c = strcmp(f->name, g->name);

		if (c == 0)
			c = strcmp(f->file, g->file);
		if (c)
			return c;
	}
	return x->n < y->n ? -1 : x->n > y->n;
}

void stacks_make(const struct evidence *e, struct stacks *out)
{
	struct maker m = { .arena = e->arena, .frame = intern_new(e->arena),
			   .stack = intern_new(e->arena) };

	for (uint32_t i = 0; i < e->place.n; i++)
		add(&m, e, &e->place.v[i]);
	*out = (struct stacks){ m.frame.key.n, m.stack.key.n,
				arena_array(e->arena, m.frame.key.n, sizeof(*out->frame)),
				arena_array(e->arena, m.stack.key.n, sizeof(*out->at)) };
	for (uint32_t i = 0; i < out->nframe; i++) {
		const char *text = intern_text_of(&m.frame, i), *tab = strchr(text, '\t');

		out->frame[i] = (struct stacks_frame){
			arena_printf(e->arena, "%.*s", (int)(tab - text), text), tab + 1,
		};
	}
	for (uint32_t i = 0; i < out->n; i++) {
		const struct bytes *key = &m.stack.key.v[i];

		/* arena memory is aligned */
		out->at[i] = (struct stacks_one){ (const uint32_t *)(const void *)key->p,
						  (uint32_t)(key->n / sizeof(uint32_t)),
						  m.count.v[i] };
	}
	if (out->n)
		qsort_r(out->at, out->n, sizeof(*out->at), by_names, out);
}
