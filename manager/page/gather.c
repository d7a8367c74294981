/* gather.c - asks confined jobs what a page shows of the modules that take most
 *
 * Tested by tests/e2e/page.sh.
 */
#include "manager/page/gather.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "manager/report/evidence_names.h"

/* How many modules and functions a page has, and what a module must have of all; chosen. */
enum { MODULES_MAX = 8, FUNCTIONS_MAX = 24 };
static const double LEAST_SHARE = 0.01;

/* --- which ones --- */

struct weight {
	uint32_t module, function;	/* EVIDENCE_NONE: the module as a whole */
	double count;
};

static int by_count(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static struct weight *modules_by_count(const struct evidence *e)
{
	struct weight *w = memory_new((size_t)e->module.n + 1, sizeof(*w));

	for (uint32_t i = 0; i < e->module.n; i++)
		w[i] = (struct weight){ i, EVIDENCE_NONE, 0 };
	for (uint32_t i = 0; i < e->place.n; i++)
		if (e->module.v[e->place.v[i].module].file)
			w[e->place.v[i].module].count += e->place.v[i].count;
	qsort(w, e->module.n, sizeof(*w), by_count);
	return w;
}

/* How many of the hottest functions of all are in each module; malloc'd. */
static uint32_t *hot_functions(const struct evidence *e)
{
	uint32_t *first = memory_new((size_t)e->module.n + 1, sizeof(*first));
	uint32_t *of = memory_new((size_t)e->module.n + 1, sizeof(*of)), n = 0;

	for (uint32_t i = 0; i < e->module.n; i++) {
		first[i] = n;
		n += e->module.v[i].nfunction;
	}
	struct weight *w = memory_new((size_t)n + 1, sizeof(*w));
	for (uint32_t i = 0; i < e->place.n; i++) {
		const struct evidence_place *p = &e->place.v[i];
		struct weight *at = w + first[p->module] + p->function;

		if (p->function == EVIDENCE_NONE)
			continue;
		at->module = p->module;
		at->function = p->function;
		at->count += p->count;
	}
	qsort(w, n, sizeof(*w), by_count);
	for (uint32_t i = 0; i < n && i < FUNCTIONS_MAX && w[i].count > 0; i++)
		of[w[i].module]++;
	free(w);
	free(first);
	return of;
}

/* --- the jobs --- */

static int write_samples(const struct evidence *e, uint32_t module, struct err *err)
{
	struct wr w = { 0 };

	for (uint32_t i = 0; i < e->place.n && !e->executions; i++) {
		const struct evidence_place *p = &e->place.v[i];

		if (p->module == module && p->addr)
			wr_text(&w, arena_printf(e->arena, "0x%" PRIx64 " %.0f\n", p->addr,
						 p->count));
	}
	int fd = io_memory_file(wr_bytes(&w), err);
	wr_free(&w);
	return fd;
}

static const char *counts_of(const struct gather_input *in, const struct evidence_module *m)
{
	for (uint32_t i = 0; i < in->ncounts; i++)
		if (strcmp(in->counts[i].module, m->path) == 0)
			return in->counts[i].profile;
	return in->profile;
}

/* The third input of the job: counts, else the generation; -1: neither.  *err is filled only
 * where counts cannot be had. */
static int open_other(const struct gather_input *in, uint32_t module, int generation,
		      struct err *err)
{
	const char *counts = counts_of(in, &in->evidence->module.v[module]);

	return counts ? modulefile_recording(counts, err)
		      : generation < 0 ? -1 : fcntl(generation, F_DUPFD_CLOEXEC, 0);
}

static int ask_picture(const struct gather_input *in, uint32_t module, const int fd[2],
		       struct gathered *g, struct err *err)
{
	struct modulefile_job job = { .kind = JOB_PICTURE, .nin = 2, .in = { fd[0], -1, -1 },
				      .a = g->functions };
	struct arena *a = in->evidence->arena;
	struct bytes b;
	int rc = -1;

	err->kind = ERR_NONE;
	job.in[2] = open_other(in, module, fd[1], err);
	if (err->kind != ERR_NONE)
		return -1;
	job.nin += job.in[2] >= 0;
	g->generated = job.nin == 3 && !counts_of(in, &in->evidence->module.v[module]);
	job.b = g->generated;
	job.in[1] = write_samples(in->evidence, module, err);
	if (job.in[1] >= 0)
		rc = modulefile_text(in->source->at.morph_edit, &job, a, &b, err);
	if (rc == 0) {
		char *text = arena_alloc(a, b.n + 1);

		memcpy(text, b.p, b.n);
		rc = strlen(text) == b.n
			     ? pagemodule_read(text, a, &g->module, err)
			     : err_set(err, ERR_INPUT, "what its reader draws has a NUL");
	}
	for (int i = 1; i < job.nin; i++)
		if (job.in[i] >= 0)
			close(job.in[i]);
	return rc;
}

static bool has_lines(const struct evidence *e, uint32_t module)
{
	for (uint32_t i = 0; i < e->place.n; i++)
		if (e->place.v[i].module == module && e->place.v[i].nframe &&
		    e->place.v[i].frame[0].line)
			return true;
	return false;
}

/* Source lines of all instructions that have a text. */
static void ask_sources(const struct gather_input *in, uint32_t module, int fd,
			struct arena *a, struct pagemodule *m)
{
	struct evidence_place p = { .function = EVIDENCE_NONE };
	VEC(struct pagemodule_insn *) insn = { 0 };
	struct wr places = { 0 };
	struct evidence names;
	struct err err;

	evidence_init(&names, a);
	p.module = evidence_module(&names, in->evidence->module.v[module].path, true);
	for (uint32_t f = 0; f < m->fn.n; f++)
		for (uint32_t i = 0; i < m->fn.v[f].insn.n; i++) {
			struct pagemodule_insn *at = &m->fn.v[f].insn.v[i];

			if (!*at->text)
				continue;
			wr_text(&places, arena_printf(a, "0x%" PRIx64 "\n", at->addr));
			vec_push(a, &names.place, p);
			vec_push(a, &insn, at);
		}
	if (insn.n && evidence_ask_names(&names, in->source->at.morph_edit, fd, &places, 0,
					 &err) == 0)
		for (uint32_t i = 0; i < insn.n; i++) {
			const struct evidence_place *q = &names.place.v[i];

			if (q->nframe && q->frame[0].line)
				insn.v[i]->source = arena_printf(
					a, "%s:%u",
					evidence_plain(&names, evidence_base(q->frame[0].file)),
					q->frame[0].line);
		}
	wr_free(&places);
}

static void name_functions(const struct evidence *e, const struct evidence_module *em,
			   struct pagemodule *m)
{
	for (uint32_t i = 0; i < m->fn.n; i++) {
		struct pagemodule_fn *fn = &m->fn.v[i];

		fn->name = arena_printf(e->arena, "fn_%" PRIx64, fn->entry);
		for (uint32_t k = 0; k < em->nfunction; k++)
			if (em->function[k].entry == fn->entry && em->function[k].size)
				fn->name = evidence_plain(e, em->function[k].name);
	}
}

static void gather_one(const struct gather_input *in, uint32_t module, struct gathered *out)
{
	const struct evidence_module *em = &in->evidence->module.v[module];
	struct arena *a = in->evidence->arena;
	struct err err;
	int fd[2];

	fd[0] = evidence_open_both(em, in->source, &fd[1], &err);
	if (fd[0] < 0 || ask_picture(in, module, fd, out, &err) < 0)
		out->failed = arena_printf(a, "%s", err.text);
	else if (has_lines(in->evidence, module))
		ask_sources(in, module, fd[0], a, &out->module);
	name_functions(in->evidence, em, &out->module);
	out->module.path = em->path;
	for (int i = 0; i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

struct gathered *gather_modules(const struct gather_input *in, uint32_t *n)
{
	const struct evidence *e = in->evidence;
	struct gathered *g = arena_array(e->arena, MODULES_MAX, sizeof(*g));
	struct weight *w = modules_by_count(e);
	uint32_t *functions = hot_functions(e);

	*n = 0;
	for (uint32_t i = 0; i < e->module.n && *n < MODULES_MAX; i++)
		if (w[i].count > 0 && w[i].count >= LEAST_SHARE * e->total) {
			g[*n].functions = functions[w[i].module];
			gather_one(in, w[i].module, &g[(*n)++]);
		}
	free(functions);
	free(w);
	return g;
}
