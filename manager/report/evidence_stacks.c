/* evidence_stacks.c - the callers of a log's samples, by confined jobs
 *
 * A job that reads a file may have been taken over by it, and lies about that file's rows; the
 * one that unwinds has them all, and its answer is addresses: it can name none that are not in
 * the process then, no more of them than there may be, and no stack of a sample that is not
 * there.
 *
 * Tested by tests/e2e/stacks.sh.
 */
#include "manager/report/evidence_stacks.h"

#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/search.h"
#include "manager/report/intern.h"
#include "manager/report/vdso.h"
#include "monitor/spool.h"

enum { BATCH_BYTES = 32 << 20 };	/* of samples and spaces for one job; chosen */
enum { WORD = 8 };

enum asked { NOT_YET, WANTED, NO_ROWS, HAS_ROWS };

struct rows_of {
	enum asked asked;
	uint32_t table;
	const char *note;
};

struct waiting {
	uint32_t space;
	bool kernel;
	struct stackwalker_given given;
};

/* A space's key is so many of them, without padding. */
struct range {
	uint64_t start, end, off;
	uint64_t file;
};

struct stackwalker {
	struct stackwalker_use use;
	struct arena *arena;
	VEC(struct range) now;		/* mappings of the sample at hand */
	VEC(struct rows_of) rows;	/* by file */
	struct rows_of vdso;
	struct wr tables;		/* one after the other */
	uint32_t ntable;
	struct arena *batch;		/* what is of one job */
	struct intern space;		/* of the batch, as all below */
	size_t space_bytes;
	struct wr samples;		/* as the job takes them, without spaces */
	VEC(struct waiting) waiting;	/* of the samples */
};

struct stackwalker *stackwalker_new(const struct stackwalker_use *use, struct arena *a)
{
	struct stackwalker *w = arena_alloc(a, sizeof(*w));

	w->use = *use;
	w->arena = a;
	w->batch = arena_new();
	w->space = intern_new(w->batch);
	w->samples.secret = true;
	return w;
}

void stackwalker_free(struct stackwalker *w)
{
	if (!w)
		return;
	wr_free(&w->tables);
	wr_free(&w->samples);
	arena_free(w->batch);
}

const char *stackwalker_note(const struct stackwalker *w, uint32_t file)
{
	return file < w->rows.n ? w->rows.v[file].note : NULL;
}

/* --- taking in --- */

static void add_range(void *ctx, const struct space_mapping *m)
{
	struct stackwalker *w = ctx;
	struct range r = { m->start, m->end, m->off, m->file };

	vec_push(w->arena, &w->now, r);
}

static const struct range *range_at(const struct range *range, uint32_t n, uint64_t addr)
{
	uint32_t k = search_first(i, 0, n, range[i].end <= addr);

	return k < n && addr >= range[k].start ? &range[k] : NULL;
}

/* NULL: it was never met. */
static struct rows_of *rows_of(struct stackwalker *w, uint64_t file)
{
	if (file == SPACE_MAPPING_VDSO)
		return w->use.this_boot ? &w->vdso : NULL;
	return file < w->rows.n ? &w->rows.v[file] : NULL;
}

/* Rows of the file that the address is in will be needed, if it is one of code. */
static void want(struct stackwalker *w, uint64_t addr)
{
	const struct range *r = range_at(w->now.v, w->now.n, addr);

	if (!r || r->file == SPACE_MAPPING_ANON)
		return;
	while (r->file != SPACE_MAPPING_VDSO && w->rows.n <= r->file)
		vec_push(w->arena, &w->rows, (struct rows_of){ 0 });
	struct rows_of *rows = rows_of(w, r->file);
	if (rows && rows->asked == NOT_YET)
		rows->asked = WANTED;
}

static void want_all(struct stackwalker *w, const struct spool_event *ev)
{
	struct rd r = rd_of((struct bytes){ ev->sample.state.stack,
					    ev->sample.state.stack_bytes });
	uint64_t lo = w->now.n ? w->now.v[0].start : UINT64_MAX;

	want(w, ev->sample.pc);
	while (rd_left(&r) >= WORD) {
		uint64_t word = rd_u64(&r);

		if (word >= lo)
			want(w, word - 1);
	}
}

int stackwalker_add(struct stackwalker *w, const struct spool_event *ev,
		    const struct stackwalker_given *given, struct err *err)
{
	struct callstack_sample s = {
		.kernel = ev->sample.kernel, .pc = ev->sample.pc,
		.stack = { ev->sample.state.stack, ev->sample.state.stack_bytes },
	};

	w->now.n = 0;
	spaces_each_mapping(w->use.spaces, ev->pid, add_range, w);
	uint32_t before = w->space.key.n;
	s.space = intern_key(&w->space, w->now.v, w->now.n * sizeof(*w->now.v));
	if (w->space.key.n > before)
		w->space_bytes += w->now.n * sizeof(*w->now.v);
	want_all(w, ev);
	memcpy(s.gpr, ev->sample.state.gpr, sizeof(s.gpr));
	callstack_write_sample(&s, &w->samples);
	vec_push(w->arena, &w->waiting,
		 ((struct waiting){ s.space, s.kernel, *given }));
	return w->samples.n + w->space_bytes < BATCH_BYTES ? 0 : stackwalker_end(w, err);
}

/* --- rows of files --- */

static int open_rows(const struct stackwalker *w, uint32_t file, struct err *err)
{
	if (file == SPACE_MAPPING_VDSO)
		return vdso_open(err);
	const struct space_file *f = spaces_file(w->use.spaces, file);
	return evidence_open_mapped(w->use.source, f->path, f->inode, err);
}

static int ask_rows(struct stackwalker *w, uint32_t file, struct bytes *out, struct err *err)
{
	int fd = open_rows(w, file, err);
	struct modulefile_job job = { .kind = JOB_UNWIND_ROWS, .nin = 1, .in = { fd } };

	if (fd < 0)
		return -1;
	int rc = modulefile_text(w->use.source->at.morph_edit, &job, w->batch, out, err);
	close(fd);
	return rc;
}

static void read_rows(struct stackwalker *w, uint32_t file)
{
	struct rows_of *rows = rows_of(w, file);
	struct bytes table;
	struct err why;

	if (!rows || rows->asked != WANTED)
		return;
	rows->asked = NO_ROWS;
	if (ask_rows(w, file, &table, &why) < 0) {
		rows->note = arena_printf(w->arena, "its unwind rows: %s", why.text);
		return;
	}
	rows->asked = HAS_ROWS;
	rows->table = w->ntable++;
	wr_raw(&w->tables, table.p, (size_t)table.n);
}

/* --- stacks --- */

static void write_space(struct stackwalker *w, uint32_t number, struct wr *out)
{
	const struct bytes *key = &w->space.key.v[number];
	/* arena memory is aligned */
	const struct range *range = (const struct range *)(const void *)key->p;
	uint32_t n = (uint32_t)(key->n / sizeof(*range));
	struct callstack_mapping *m = arena_array(w->batch, n, sizeof(*m));
	uint32_t k = 0;

	/* to who follows stacks, what is in no mapping is code made at run time */
	for (uint32_t i = 0; i < n; i++) {
		if (range[i].file == SPACE_MAPPING_ANON)
			continue;
		m[k] = (struct callstack_mapping){ range[i].start, range[i].end, range[i].off,
						   CALLSTACK_NO_TABLE };
		const struct rows_of *rows = rows_of(w, range[i].file);
		if (rows && rows->asked == HAS_ROWS)
			m[k].table = rows->table;
		k++;
	}
	callstack_write_space(m, k, out);
}

static int ask_stacks(struct stackwalker *w, struct bytes *out, struct err *err)
{
	struct modulefile_job job = { .kind = JOB_UNWIND, .nin = 2 };
	struct wr question = { .secret = true };
	int rc = -1;

	callstack_write_header(&question);
	for (uint32_t i = 0; i < w->space.key.n; i++)
		write_space(w, i, &question);
	wr_raw(&question, w->samples.p, w->samples.n);
	job.in[0] = io_memory_file(wr_bytes(&w->tables), err);
	job.in[1] = job.in[0] < 0 ? -1 : io_memory_file(wr_bytes(&question), err);
	if (job.in[1] >= 0)
		rc = modulefile_text(w->use.source->at.morph_edit, &job, w->batch, out, err);
	for (int i = 0; i < 2; i++)
		if (job.in[i] >= 0)
			close(job.in[i]);
	wr_free(&question);
	return rc;
}

static struct stackwalker_place place_of(const struct stackwalker *w, uint32_t space,
					 uint64_t addr)
{
	const struct bytes *key = &w->space.key.v[space];
	const struct range *range = (const struct range *)(const void *)key->p;
	const struct range *r = range_at(range, (uint32_t)(key->n / sizeof(*range)), addr);

	if (!r)
		return (struct stackwalker_place){ SPACE_NOWHERE, 0, 0 };
	if (r->file == SPACE_MAPPING_ANON)
		return (struct stackwalker_place){ SPACE_ANON, 0, addr };
	if (r->file == SPACE_MAPPING_VDSO)
		return (struct stackwalker_place){ SPACE_VDSO, 0, 0 };
	return (struct stackwalker_place){ SPACE_FILE, (uint32_t)r->file,
					   r->off + (addr - r->start) };
}

static int tell_all(struct stackwalker *w, struct bytes answer, struct err *err)
{
	struct stackwalker_place place[CALLSTACK_DEPTH_MAX];
	struct rd r = rd_of(answer);
	struct callstack c;

	for (uint32_t i = 0; i < w->waiting.n; i++) {
		const struct waiting *s = &w->waiting.v[i];

		if (!callstack_take(&r, &c))
			return err_set(err, ERR_INPUT, "what unwinds stacks says is malformed");
		for (uint32_t k = 0; k < c.n; k++)
			place[k] = place_of(w, s->space, c.addr[k]);
		w->use.told(w->use.ctx, &(struct stackwalker_stack){ s->given, s->kernel,
								     c.end, c.guessed,
								     c.n, place });
	}
	return 0;
}

int stackwalker_end(struct stackwalker *w, struct err *err)
{
	struct bytes answer;

	for (uint32_t i = 0; i < w->rows.n; i++)
		read_rows(w, i);
	read_rows(w, SPACE_MAPPING_VDSO);
	int rc = w->waiting.n ? ask_stacks(w, &answer, err) : 0;
	if (rc == 0 && w->waiting.n)
		rc = tell_all(w, answer, err);
	w->waiting.n = 0;
	wr_free(&w->samples);
	arena_reset(w->batch);
	w->space = intern_new(w->batch);
	w->space_bytes = 0;
	return rc;
}
