/* stacks.c - evidence as stacks: program, and functions with calls that were inlined; the
 * module where no caller is known
 *
 * Tested by tests/e2e/export.sh and tests/e2e/stacks.sh.
 */
#include "manager/report/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "manager/report/intern.h"

enum { DEPTH_FIRST = 64 };

struct maker {
	struct arena *arena;
	struct intern frame;	/* name, tab, file: neither has one */
	struct intern stack;
	VEC(double) count;
	VEC(uint32_t) now;	/* the stack at hand */
};

static uint32_t frame_of(struct maker *m, const char *name, const char *file)
{
	return intern_text(&m->frame, arena_printf(m->arena, "%s\t%s", name, file));
}

static void push(struct maker *m, const char *name, const char *file)
{
	uint32_t frame = frame_of(m, name, file);

	vec_push(m->arena, &m->now, frame);
}

static void push_place(struct maker *m, const struct evidence_place *p)
{
	for (uint32_t i = p->nframe; i-- > 0; )
		push(m, p->frame[i].name, p->frame[i].file);
}

/* With callers, where the code of each is from is not said: it would stand between them. */
static void push_places(struct maker *m, const struct evidence *e,
			const struct evidence_stack *s)
{
	if (s->cut)
		push(m, STACKS_CUT, "");
	for (uint32_t i = s->n; i-- > 0; ) {
		const struct evidence_place *p = &e->place.v[s->place[i]];

		if (!e->module.v[p->module].file || !p->nframe)
			push(m, evidence_module_name(e, p), "");
		push_place(m, p);
	}
}

static void add(struct maker *m, const struct evidence *e, const struct evidence_stack *s)
{
	const struct evidence_place *p = &e->place.v[s->place[0]];

	m->now.n = 0;
	if (p->program != EVIDENCE_NONE)
		push(m, evidence_base(e->program.v[p->program].shown), "");
	if (e->with_stacks) {
		push_places(m, e, s);
	} else {
		if (!evidence_is_program(e, p))
			push(m, evidence_base(e->module.v[p->module].shown), "");
		push_place(m, p);
	}
	uint32_t number = intern_key(&m->stack, m->now.v, m->now.n * sizeof(*m->now.v));
	if (number == m->count.n)
		vec_push(m->arena, &m->count, 0);
	m->count.v[number] += s->count;
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

	vec_reserve(m.arena, &m.now, DEPTH_FIRST);
	for (uint32_t i = 0; i < e->stack.n; i++)
		add(&m, e, &e->stack.v[i]);
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
