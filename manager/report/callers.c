/* callers.c - which procedures called which; see callers.h
 *
 * Tested by tests/e2e/stacks.sh.
 */
#include "manager/report/callers.h"

#include <stdlib.h>
#include <string.h>

#include "manager/report/intern.h"
#include "manager/report/rows.h"

struct call {			/* a key: no padding */
	uint32_t procedure, by;
};

struct maker {
	const struct evidence *e;
	const char *module;
	struct intern procedure;	/* module, tab, name */
	struct intern call;
	VEC(double) count;		/* of calls */
	VEC(uint32_t) last;		/* of calls: stack + 1 */
	uint32_t *of_place;		/* of procedure[] */
};

static void number_places(struct maker *m)
{
	const struct evidence *e = m->e;

	m->of_place = arena_array(e->arena, e->place.n, sizeof(*m->of_place));
	for (uint32_t i = 0; i < e->place.n; i++) {
		const struct evidence_place *p = &e->place.v[i];

		m->of_place[i] = intern_text(
			&m->procedure, arena_printf(e->arena, "%s\t%s",
						    e->module.v[p->module].shown,
						    evidence_name(e, p)));
	}
}

static bool is_wanted(const struct maker *m, uint32_t place)
{
	const struct evidence *e = m->e;

	return !m->module ||
	       rows_is_module(&e->module.v[e->place.v[place].module], m->module);
}

/* The call's number. */
static uint32_t enter(struct maker *m, uint32_t procedure, uint32_t by)
{
	struct call c = { m->of_place[procedure], m->of_place[by] };
	uint32_t i = intern_key(&m->call, &c, sizeof(c));

	if (i == m->count.n) {
		vec_push(m->e->arena, &m->count, 0);
		vec_push(m->e->arena, &m->last, 0);
	}
	return i;
}

static void add_stack(struct maker *m, uint32_t number)
{
	const struct evidence_stack *s = &m->e->stack.v[number];

	for (uint32_t k = 0; k + 1 < s->n; k++) {
		if (!is_wanted(m, s->place[k]))
			continue;
		uint32_t i = enter(m, s->place[k], s->place[k + 1]);
		if (m->last.v[i] != number + 1)
			m->count.v[i] += s->count;
		m->last.v[i] = number + 1;
	}
}

/* All are counted calls. */
static double add_counted(struct maker *m)
{
	double whole = 0;

	for (uint32_t i = 0; i < m->e->call.n; i++) {
		const struct evidence_call *c = &m->e->call.v[i];

		whole += c->count;
		if (!is_wanted(m, c->procedure))
			continue;
		uint32_t k = enter(m, c->procedure, c->by);
		m->count.v[k] += c->count;
	}
	return whole;
}

static void split(const struct maker *m, uint32_t procedure, const char **module,
		  const char **name)
{
	const char *text = intern_text_of(&m->procedure, procedure), *tab = strchr(text, '\t');

	*module = evidence_plain(m->e, arena_printf(m->e->arena, "%.*s", (int)(tab - text),
						    text));
	*name = evidence_plain(m->e, tab + 1);
}

static int by_count(const void *a, const void *b)
{
	const struct caller *x = a, *y = b;
	int c = strcmp(x->module, y->module);

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (c == 0)
		c = strcmp(x->procedure, y->procedure);
	if (c == 0)
		c = strcmp(x->by_module, y->by_module);
	return c ? c : strcmp(x->by, y->by);
}

void callers_make(const struct evidence *e, const char *module, struct callers *out)
{
	struct maker m = { .e = e, .module = module, .procedure = intern_new(e->arena),
			   .call = intern_new(e->arena) };

	number_places(&m);
	double whole = e->total;
	for (uint32_t i = 0; i < e->stack.n; i++)
		add_stack(&m, i);
	if (e->executions)
		whole = add_counted(&m);
	*out = (struct callers){ whole, m.call.key.n,
				 arena_array(e->arena, m.call.key.n + (size_t)1,
					     sizeof(*out->at)) };
	for (uint32_t i = 0; i < out->n; i++) {
		struct caller *at = &out->at[i];
		struct call c;

		memcpy(&c, m.call.key.v[i].p, sizeof(c));
		at->count = m.count.v[i];
		split(&m, c.procedure, &at->module, &at->procedure);
		split(&m, c.by, &at->by_module, &at->by);
	}
	if (out->n)
		qsort(out->at, out->n, sizeof(*out->at), by_count);
}
