/* export_firefox.c - evidence in the Firefox Profiler's processed profile format, version 48
 *
 * Newer versions of the profiler read older ones.  One thread has all samples: each place of a
 * program, or each stack, once, with its count as its weight, one after the other in made-up
 * times, because only how often it was met is known.  Tables are columns; a stack is a chain of
 * entries of stackTable, a frame is a place of a function.
 *
 * Tested by tests/e2e/export.sh.
 */
#include <math.h>
#include <string.h>

#include "lib/memory.h"
#include "manager/report/export.h"
#include "manager/report/intern.h"
#include "manager/report/json.h"
#include "manager/report/stacks.h"

enum { VERSION = 48, GECKO_VERSION = 29, NO_PREFIX = -1, NO_LIB = -1, RESOURCE_LIBRARY = 1 };

/* Keys of tables; no padding. */
struct func {
	uint32_t name, file;	/* strings; UINT32_MAX: no file */
	int32_t lib;
};
struct frame {
	uint64_t addr;
	uint32_t func, line, depth;	/* line 0: not known */
	int32_t symbol;
};
struct node {
	int32_t prefix;
	uint32_t frame;
};
struct symbol {
	uint64_t addr, size;
	uint32_t name;
	int32_t lib;
};

struct writer {
	const struct evidence *e;
	struct intern text, func, frame, node, symbol;
	int32_t *lib;		/* [module.n] NO_LIB: none */
};

/* --- what a sample refers to --- */

static int32_t push(struct writer *w, int32_t prefix, const struct frame *frame)
{
	struct node node = { prefix, intern_key(&w->frame, frame, sizeof(*frame)) };

	return (int32_t)intern_key(&w->node, &node, sizeof(node));
}

static int32_t push_label(struct writer *w, int32_t prefix, const char *name)
{
	struct func func = { intern_text(&w->text, name), UINT32_MAX, NO_LIB };
	struct frame frame = { UINT64_MAX, intern_key(&w->func, &func, sizeof(func)), 0, 0,
			       NO_LIB };

	return push(w, prefix, &frame);
}

static int32_t symbol_of(struct writer *w, const struct evidence_place *p)
{
	const struct evidence_module *m = &w->e->module.v[p->module];

	if (p->function == EVIDENCE_NONE || !m->file)
		return NO_LIB;
	const struct evidence_function *f = &m->function[p->function];
	struct symbol s = { f->entry, f->size, intern_text(&w->text, f->name),
			    w->lib[p->module] };
	return (int32_t)intern_key(&w->symbol, &s, sizeof(s));
}

static int32_t push_place(struct writer *w, int32_t at, const struct evidence_place *p)
{
	int32_t symbol = symbol_of(w, p);

	for (uint32_t i = p->nframe; i-- > 0; ) {
		const struct evidence_frame *f = &p->frame[i];
		struct func func = { intern_text(&w->text, f->name),
				     *f->file ? intern_text(&w->text, f->file) : UINT32_MAX,
				     w->lib[p->module] };
		struct frame frame = { w->lib[p->module] == NO_LIB ? UINT64_MAX : p->addr,
				       intern_key(&w->func, &func, sizeof(func)),
				       f->line, p->nframe - 1 - i, symbol };

		at = push(w, at, &frame);
	}
	return at;
}

static int32_t stack_of(struct writer *w, const struct evidence_stack *s)
{
	const struct evidence *e = w->e;
	const struct evidence_place *p = &e->place.v[s->place[0]];
	int32_t at = NO_PREFIX;

	if (p->program != EVIDENCE_NONE)
		at = push_label(w, at, evidence_base(e->program.v[p->program].shown));
	if (!e->with_stacks) {
		if (!evidence_is_program(e, p))
			at = push_label(w, at, evidence_base(e->module.v[p->module].shown));
		return push_place(w, at, p);
	}
	if (s->cut)
		at = push_label(w, at, STACKS_CUT);
	for (uint32_t i = s->n; i-- > 0; ) {
		p = &e->place.v[s->place[i]];
		if (!e->module.v[p->module].file || !p->nframe)
			at = push_label(w, at, evidence_module_name(e, p));
		at = push_place(w, at, p);
	}
	return at;
}

static struct json_object *samples(struct writer *w)
{
	struct json_object *t = json_dict(), *stack = json_list(), *time = json_list(),
			   *weight = json_list();
	const struct evidence *e = w->e;
	double unit_ms = e->period_ns ? (double)e->period_ns / 1e6 : 1, at = 0;

	for (uint32_t i = 0; i < e->stack.n; i++) {
		json_add_int(stack, stack_of(w, &e->stack.v[i]));
		json_add_real(time, at);
		json_add_real(weight, e->stack.v[i].count);
		at += e->stack.v[i].count * unit_ms;
	}
	json_set(t, "stack", stack);
	json_set(t, "time", time);
	json_set(t, "weight", weight);
	json_set_text(t, "weightType", "samples");
	json_set_int(t, "length", e->stack.n);
	return t;
}

/* --- tables --- */

/* A number, or null where it is `none`. */
static void add_or_null(struct json_object *a, int64_t v, int64_t none)
{
	if (v == none)
		json_add(a, NULL);
	else
		json_add_int(a, v);
}

/* A table of so many rows: its columns are arrays that are empty so far. */
static struct json_object *table(uint32_t rows, const char *const *column,
				 struct json_object **out)
{
	struct json_object *t = json_dict();

	for (int i = 0; column[i]; i++) {
		out[i] = json_list();
		json_set(t, column[i], out[i]);
	}
	json_set_int(t, "length", rows);
	return t;
}

static struct json_object *stack_table(const struct writer *w)
{
	static const char *const name[] = { "prefix", "frame", "category", "subcategory",
					    NULL };
	struct json_object *col[4], *t = table(w->node.key.n, name, col);

	for (uint32_t i = 0; i < w->node.key.n; i++) {
		struct node n;

		memcpy(&n, w->node.key.v[i].p, sizeof(n));
		add_or_null(col[0], n.prefix, NO_PREFIX);
		json_add_int(col[1], n.frame);
		json_add_int(col[2], 0);
		json_add_int(col[3], 0);
	}
	return t;
}

static struct json_object *frame_table(const struct writer *w)
{
	static const char *const name[] = {
		"address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol",
		"line", "column", "innerWindowID", "implementation", NULL,
	};
	struct json_object *col[10], *t = table(w->frame.key.n, name, col);

	for (uint32_t i = 0; i < w->frame.key.n; i++) {
		struct frame f;

		memcpy(&f, w->frame.key.v[i].p, sizeof(f));
		json_add_int(col[0], f.addr == UINT64_MAX ? -1 : (int64_t)f.addr);
		json_add_int(col[1], f.depth);
		json_add_int(col[2], 0);
		json_add_int(col[3], 0);
		json_add_int(col[4], f.func);
		add_or_null(col[5], f.symbol, NO_LIB);
		add_or_null(col[6], f.line, 0);
		for (int k = 7; k < 10; k++)
			json_add(col[k], NULL);
	}
	return t;
}

static struct json_object *func_table(const struct writer *w)
{
	static const char *const name[] = { "name", "isJS", "relevantForJS", "resource",
					    "fileName", "lineNumber", "columnNumber", NULL };
	struct json_object *col[7], *t = table(w->func.key.n, name, col);

	for (uint32_t i = 0; i < w->func.key.n; i++) {
		struct func f;

		memcpy(&f, w->func.key.v[i].p, sizeof(f));
		json_add_int(col[0], f.name);
		json_add(col[1], json_object_new_boolean(0));
		json_add(col[2], json_object_new_boolean(0));
		json_add_int(col[3], f.lib);	/* libraries are the only resources */
		add_or_null(col[4], f.file, UINT32_MAX);
		json_add(col[5], NULL);
		json_add(col[6], NULL);
	}
	return t;
}

static struct json_object *symbol_table(const struct writer *w)
{
	static const char *const name[] = { "libIndex", "address", "name", "functionSize",
					    NULL };
	struct json_object *col[4], *t = table(w->symbol.key.n, name, col);

	for (uint32_t i = 0; i < w->symbol.key.n; i++) {
		struct symbol s;

		memcpy(&s, w->symbol.key.v[i].p, sizeof(s));
		json_add_int(col[0], s.lib);
		json_add_int(col[1], (int64_t)s.addr);
		json_add_int(col[2], s.name);
		add_or_null(col[3], (int64_t)s.size, 0);
	}
	return t;
}

/* Makes each module that is a file a library. */
static struct json_object *libs(struct writer *w)
{
	struct json_object *list = json_list();
	int32_t n = 0;

	w->lib = arena_array(w->e->arena, w->e->module.n + (size_t)1, sizeof(*w->lib));
	for (uint32_t i = 0; i < w->e->module.n; i++) {
		const struct evidence_module *m = &w->e->module.v[i];
		struct json_object *lib = m->file ? json_dict() : NULL;

		w->lib[i] = m->file ? n++ : NO_LIB;
		if (!lib)
			continue;
		json_set_text(lib, "name", evidence_base(m->shown));
		json_set_text(lib, "path", m->shown);
		json_set_text(lib, "debugName", evidence_base(m->shown));
		json_set_text(lib, "debugPath", m->shown);
		json_set_text(lib, "breakpadId", "");
		if (*m->build_id)
			json_set_text(lib, "codeId", m->build_id);
		else
			json_set(lib, "codeId", NULL);
		json_set_text(lib, "arch", "x86_64");
		json_add(list, lib);
	}
	return list;
}

static struct json_object *resource_table(struct writer *w)
{
	static const char *const name[] = { "lib", "name", "host", "type", NULL };
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->e->module.n; i++)
		n += w->lib[i] != NO_LIB;
	struct json_object *col[4], *t = table(n, name, col);
	for (uint32_t i = 0; i < w->e->module.n; i++) {
		if (w->lib[i] == NO_LIB)
			continue;
		json_add_int(col[0], w->lib[i]);
		json_add_int(col[1], intern_text(&w->text,
						 evidence_base(w->e->module.v[i].shown)));
		json_add(col[2], NULL);
		json_add_int(col[3], RESOURCE_LIBRARY);
	}
	return t;
}

/* --- the file --- */

static struct json_object *meta(const struct evidence *e)
{
	struct json_object *m = json_dict(), *categories = json_list(), *other = json_dict(),
			   *sub = json_list();

	json_add_text(sub, "Other");
	json_set_text(other, "name", "Other");
	json_set_text(other, "color", "grey");
	json_set(other, "subcategories", sub);
	json_add(categories, other);
	json_set_int(m, "version", GECKO_VERSION);
	json_set_int(m, "preprocessedProfileVersion", VERSION);
	json_set_text(m, "product", "Morph");
	json_set_text(m, "importedFrom", "morphctl " MORPH_VERSION);
	json_set_real(m, "interval", e->period_ns ? (double)e->period_ns / 1e6 : 1);
	json_set_real(m, "startTime", floor((double)e->start_ns / 1e6));
	json_set_int(m, "processType", 0);
	json_set_int(m, "stackwalk", 0);
	json_set(m, "debug", memory_need(json_object_new_boolean(0)));
	json_set(m, "symbolicated", memory_need(json_object_new_boolean(1)));
	json_set_text(m, "CPUName", "");
	json_set_text(m, "abi", "x86_64-gcc3");
	json_set(m, "categories", categories);
	json_set(m, "markerSchema", json_list());
	return m;
}

static struct json_object *no_markers(void)
{
	static const char *const name[] = { "data", "name", "startTime", "endTime", "phase",
					    "category", NULL };
	struct json_object *col[6];

	return table(0, name, col);
}

static struct json_object *thread(struct writer *w)
{
	struct json_object *t = json_dict(), *text = json_list();

	json_set_text(t, "processType", "default");
	json_set_text(t, "processName", "morphctl");
	json_set_int(t, "processStartupTime", 0);
	json_set(t, "processShutdownTime", NULL);
	json_set_int(t, "registerTime", 0);
	json_set(t, "unregisterTime", NULL);
	json_set(t, "pausedRanges", json_list());
	json_set_text(t, "name", w->e->executions ? "executions" : "samples");
	json_set(t, "isMainThread", memory_need(json_object_new_boolean(1)));
	json_set_text(t, "pid", "0");
	json_set_int(t, "tid", 0);
	json_set(t, "samples", samples(w));
	json_set(t, "markers", no_markers());
	json_set(t, "stackTable", stack_table(w));
	json_set(t, "frameTable", frame_table(w));
	json_set(t, "funcTable", func_table(w));
	json_set(t, "resourceTable", resource_table(w));
	json_set(t, "nativeSymbols", symbol_table(w));
	for (uint32_t i = 0; i < w->text.key.n; i++)
		json_add_text(text, intern_text_of(&w->text, i));
	json_set(t, "stringArray", text);
	return t;
}

int export_firefox(const struct evidence *e, struct wr *out, struct err *err)
{
	struct arena *a = e->arena;
	struct writer w = { e, intern_new(a), intern_new(a), intern_new(a), intern_new(a),
			    intern_new(a), NULL };
	struct json_object *file = json_dict(), *threads = json_list();

	(void)err;
	json_set(file, "meta", meta(e));
	json_set(file, "libs", libs(&w));
	json_add(threads, thread(&w));
	json_set(file, "threads", threads);
	json_set(file, "pages", json_list());
	json_set(file, "counters", json_list());
	json_finish(file, out);
	return 0;
}
