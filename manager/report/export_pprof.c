/* export_pprof.c - evidence as pprof's profile.proto, by libprotobuf-c
 *
 * One location for each place of a module, one sample for each place of a program or each
 * stack, with the program as its label.  Addresses are those of the original file, as `objdump`
 * shows them.
 * Counts are whole numbers there, so those of profiles that have faded are rounded.
 *
 * Tested by tests/e2e/export.sh.
 */
#include <math.h>
#include <string.h>

#include "lib/err.h"
#include "manager/report/export.h"
#include "manager/report/intern.h"
#include "manager/report/pprof.pb-c.h"
#include "manager/report/stacks.h"

struct writer {
	const struct evidence *e;
	struct arena *arena;
	struct intern text, function, location;
	VEC(Pprof__Function *) functions;
	VEC(Pprof__Location *) locations;
	VEC(Pprof__Sample *) samples;
	Pprof__Mapping **mapping;
};

/* Keys; no padding. */
struct function_key {
	uint32_t name, file;
};
struct location_key {
	uint64_t addr;
	uint32_t module, number;	/* of the place, where its address is not known */
};

static int64_t text(struct writer *w, const char *s)
{
	return intern_text(&w->text, s);
}

static Pprof__ValueType *value_type(struct writer *w, const char *type, const char *unit)
{
	Pprof__ValueType *v = arena_alloc(w->arena, sizeof(*v));

	pprof__value_type__init(v);
	v->type = text(w, type);
	v->unit = text(w, unit);
	return v;
}

static uint64_t function_of(struct writer *w, const char *name, const char *file)
{
	struct function_key key = { (uint32_t)text(w, name), (uint32_t)text(w, file) };
	uint32_t number = intern_key(&w->function, &key, sizeof(key));

	if (number == w->functions.n) {
		Pprof__Function *f = arena_alloc(w->arena, sizeof(*f));

		pprof__function__init(f);
		f->id = number + (uint64_t)1;
		f->name = f->system_name = key.name;
		f->filename = key.file;
		vec_push(w->arena, &w->functions, f);
	}
	return number + (uint64_t)1;
}

static Pprof__Line *line_of(struct writer *w, const char *name, const char *file,
			    uint32_t number)
{
	Pprof__Line *line = arena_alloc(w->arena, sizeof(*line));

	pprof__line__init(line);
	line->function_id = function_of(w, name, file);
	line->line = number;
	return line;
}

static void add_location(struct writer *w, const struct evidence_place *p)
{
	Pprof__Location *l = arena_alloc(w->arena, sizeof(*l));
	Pprof__Mapping *m = w->mapping[p->module];
	uint32_t n = p->nframe ? p->nframe : 1;

	pprof__location__init(l);
	l->id = w->locations.n + (uint64_t)1;
	l->mapping_id = m->id;
	l->address = p->addr;
	l->line = arena_array(w->arena, n, sizeof(*l->line));
	l->n_line = n;
	if (!p->nframe)
		l->line[0] = line_of(w, evidence_name(w->e, p), "", 0);
	for (uint32_t i = 0; i < p->nframe; i++) {
		const struct evidence_frame *f = &p->frame[i];

		l->line[i] = line_of(w, f->name, f->file, f->line);
		m->has_functions = true;
		m->has_filenames |= *f->file != '\0';
		m->has_line_numbers |= f->line != 0;
	}
	m->has_inline_frames |= p->nframe > 1;
	if (p->addr >= m->memory_limit)
		m->memory_limit = p->addr + 1;
	vec_push(w->arena, &w->locations, l);
}

static uint64_t location_of(struct writer *w, const struct evidence_place *p)
{
	struct location_key key = { p->addr, p->module, 0 };
	uint32_t number = intern_key(&w->location, &key, sizeof(key));

	if (number == w->locations.n)
		add_location(w, p);
	return number + (uint64_t)1;
}

/* Callers that are missing: a location of no module. */
static uint64_t location_of_cut(struct writer *w)
{
	struct location_key key = { 0, UINT32_MAX, 0 };
	uint32_t number = intern_key(&w->location, &key, sizeof(key));

	if (number == w->locations.n) {
		Pprof__Location *l = arena_alloc(w->arena, sizeof(*l));

		pprof__location__init(l);
		l->id = number + (uint64_t)1;
		l->n_line = 1;
		l->line = arena_array(w->arena, 1, sizeof(*l->line));
		l->line[0] = line_of(w, STACKS_CUT, "", 0);
		vec_push(w->arena, &w->locations, l);
	}
	return number + (uint64_t)1;
}

static void add_sample(struct writer *w, const struct evidence_stack *stack)
{
	const struct evidence *e = w->e;
	const struct evidence_place *p = &e->place.v[stack->place[0]];
	bool cut = e->with_stacks && stack->cut;
	Pprof__Sample *s = arena_alloc(w->arena, sizeof(*s));

	pprof__sample__init(s);
	s->location_id = arena_array(w->arena, stack->n + (size_t)1, sizeof(*s->location_id));
	for (uint32_t i = 0; i < stack->n; i++)
		s->location_id[s->n_location_id++] =
			location_of(w, &e->place.v[stack->place[i]]);
	if (cut)
		s->location_id[s->n_location_id++] = location_of_cut(w);
	s->n_value = e->period_ns ? 2 : 1;
	s->value = arena_array(w->arena, s->n_value, sizeof(*s->value));
	s->value[0] = llround(stack->count);
	if (e->period_ns)
		s->value[1] = llround(stack->count * (double)e->period_ns);
	if (p->program != EVIDENCE_NONE) {
		Pprof__Label *label = arena_alloc(w->arena, sizeof(*label));

		pprof__label__init(label);
		label->key = text(w, "program");
		label->str = text(w, e->program.v[p->program].shown);
		s->n_label = 1;
		s->label = arena_dup(w->arena, &label, sizeof(label));
	}
	vec_push(w->arena, &w->samples, s);
}

static void make_mappings(struct writer *w)
{
	uint32_t n = w->e->module.n;

	w->mapping = arena_array(w->arena, n + (size_t)1, sizeof(*w->mapping));
	for (uint32_t i = 0; i < n; i++) {
		Pprof__Mapping *m = arena_alloc(w->arena, sizeof(*m));

		pprof__mapping__init(m);
		m->id = i + (uint64_t)1;
		m->filename = text(w, w->e->module.v[i].shown);
		m->build_id = text(w, w->e->module.v[i].build_id);
		w->mapping[i] = m;
	}
}

/* What could not be had of modules is a comment. */
static void add_notes(struct writer *w, Pprof__Profile *p)
{
	p->comment = arena_array(w->arena, w->e->module.n + (size_t)1, sizeof(*p->comment));
	for (uint32_t i = 0; i < w->e->module.n; i++) {
		const struct evidence_module *m = &w->e->module.v[i];

		if (m->note)
			p->comment[p->n_comment++] = text(
				w, arena_printf(w->arena, "%s: %s", m->shown, m->note));
	}
}

static void put_texts(struct writer *w, Pprof__Profile *p)
{
	p->n_string_table = w->text.key.n;
	p->string_table = arena_array(w->arena, p->n_string_table, sizeof(*p->string_table));
	for (uint32_t i = 0; i < w->text.key.n; i++)
		p->string_table[i] = (char *)(uintptr_t)intern_text_of(&w->text, i);
}

static void put_types(struct writer *w, Pprof__Profile *p)
{
	bool timed = w->e->period_ns != 0;

	p->n_sample_type = timed ? 2 : 1;
	p->sample_type = arena_array(w->arena, 2, sizeof(*p->sample_type));
	p->sample_type[0] = value_type(w, w->e->executions ? "executions" : "samples", "count");
	if (timed) {
		p->sample_type[1] = value_type(w, "cpu", "nanoseconds");
		p->period_type = value_type(w, "cpu", "nanoseconds");
		p->period = (int64_t)w->e->period_ns;
	}
	p->time_nanos = (int64_t)w->e->start_ns;
	p->duration_nanos = (int64_t)w->e->length_ns;
}

int export_pprof(const struct evidence *e, struct wr *out, struct err *err)
{
	struct arena *a = e->arena;
	struct writer w = { .e = e, .arena = a, .text = intern_new(a),
			    .function = intern_new(a), .location = intern_new(a) };
	Pprof__Profile p = PPROF__PROFILE__INIT;

	(void)text(&w, "");
	put_types(&w, &p);
	make_mappings(&w);
	for (uint32_t i = 0; i < e->stack.n; i++)
		add_sample(&w, &e->stack.v[i]);
	add_notes(&w, &p);
	put_texts(&w, &p);
	p.mapping = w.mapping;
	p.n_mapping = e->module.n;
	p.function = w.functions.v;
	p.n_function = w.functions.n;
	p.location = w.locations.v;
	p.n_location = w.locations.n;
	p.sample = w.samples.v;
	p.n_sample = w.samples.n;
	size_t n = pprof__profile__get_packed_size(&p);
	if (n > UINT32_MAX / 2)		/* what readers of the form take at most */
		return err_set(err, ERR_INPUT, "the profile would be larger than 2 GiB");
	(void)pprof__profile__pack(&p, wr_reserve(out, n));	/* n bytes */
	return 0;
}
