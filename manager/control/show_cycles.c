/* show_cycles.c - where the cycles of a function go, by instruction, and what they wait for
 *
 * Which instructions had a block's samples is kept for the blocks that have most of them
 * (manager/store/store_place.c); a confined job says the rest (editor/annotate/annotate.h).
 *
 * Tested by tests/unit/manager/control/test_report.c and tests/e2e/annotate.sh.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/table.h"
#include "manager/control/control.h"
#include "manager/control/show.h"
#include "manager/work/annotation.h"
#include "manager/work/answer.h"
#include "manager/work/procedure.h"
#include "policy/policy.h"

struct cycles {
	struct work *w;
	const struct procedures *l;
	uint32_t fn;
	int file;			/* the original */
	struct wr samples;		/* of the whole module, as the job reads them */
	double placed;			/* of the function */
	char counted[WORK_COUNTED_MAX];	/* what was counted beside them; "": nothing */
	struct annotation said;
};

/* Those of other functions tell how often this one is called. */
static void add_place(void *ctx, const struct store_place *p)
{
	struct cycles *c = ctx;
	double samples = round(p->samples);
	const struct blocktable *t = &c->l->t;

	if (p->block >= t->nblock || samples < 1)
		return;
	wr_text(&c->samples,
		arena_printf(c->said.arena, "0x%" PRIx64 " %.0f\n", p->addr, samples));
	if (t->block[p->block].fn == c->fn)
		c->placed += samples;
}

int show_open_counted(struct work *w, const struct store_module *m,
		      const struct store_profile *now, char counted[WORK_COUNTED_MAX])
{
	struct policy policy;
	struct err err = { 0 };

	(void)work_rule(w, m->path, &policy);
	return work_evidence_file(w, m, &policy, now, counted, &err);
}

void show_counted(struct client *cl, const char *counted)
{
	if (*counted)
		answer_line(control_answer(cl), "executions are also by the counts of %s",
			    counted);
}

static int ask_cycles(struct cycles *c, struct err *err)
{
	struct ask_job job = { .kind = JOB_ANNOTATE, .nin = 2, .in = { c->file },
			       .a = c->l->t.fn[c->fn].entry };
	struct wr answer = { 0 };

	job.in[1] = io_memory_file(wr_bytes(&c->samples), err);
	if (job.in[1] < 0)
		return -1;
	job.in[2] = show_open_counted(c->w, &c->l->m, &c->l->profile, c->counted);
	if (job.in[2] >= 0) {
		job.nin = 3;
		job.b = JOB_COUNTED_BESIDE;
	}
	int rc = procedures_text_job(c->w, &job, &answer, err);
	for (int i = 1; i < job.nin; i++)
		close(job.in[i]);
	if (rc == 0)
		annotation_take(&c->said, wr_bytes(&answer));
	wr_free(&answer);
	return rc;
}

/* Up to the end of the block that the last instruction of a range is in. */
static void ask_text(struct cycles *c)
{
	const struct blocktable *t = &c->l->t;
	const struct annotation *said = &c->said;

	for (uint32_t i = 0, k, pieces = 0; i < said->line.n && pieces < SHOW_TEXT_PIECES;
	     i = k, pieces++) {
		struct ask_job job = { .kind = JOB_DISASSEMBLE, .nin = 1, .in = { c->file },
				       .a = said->line.v[i].addr };
		struct wr answer = { 0 };
		struct err err;

		k = annotation_range(said, i);
		uint32_t last = blocktable_find(t, said->line.v[k - 1].addr);
		if (last == UINT32_MAX)
			continue;
		job.b = t->base + t->block[last].off + t->block[last].size - job.a;
		if (procedures_text_job(c->w, &job, &answer, &err) == 0)
			annotation_take_text(&c->said, wr_bytes(&answer));
		wr_free(&answer);
	}
}

/* What stands at the instructions, by the file or by its debug file, which it names. */
static void ask_source(struct cycles *c)
{
	struct ask_job job = { .kind = JOB_PLACES, .nin = 2, .in = { c->file, -1, -1 } };
	char id[PROCEDURE_NAME_BYTES] = "";
	struct wr places = { 0 }, answer = { 0 };
	struct err err;

	annotation_write_places(&c->said, &places);
	job.in[1] = io_memory_file(wr_bytes(&places), &err);
	wr_free(&places);
	if (job.in[1] >= 0 && procedures_text_job(c->w, &job, &answer, &err) == 0 &&
	    !annotation_take_source(&c->said, wr_bytes(&answer))) {
		struct bytes rest = wr_bytes(&answer);

		if (procedures_next_line(&rest, id, sizeof(id)) &&
		    strncmp(id, "build-id\t", 9) == 0)
			job.in[2] = procedures_open_debug(c->w, id + 9, c->l->m.owner);
	}
	wr_free(&answer);
	job.nin = 3;
	if (job.in[2] >= 0 && procedures_text_job(c->w, &job, &answer, &err) == 0)
		(void)annotation_take_source(&c->said, wr_bytes(&answer));
	wr_free(&answer);
	for (int i = 1; i < 3; i++)
		if (job.in[i] >= 0)
			close(job.in[i]);
}

struct table *show_blocks_table(bool placed)
{
	enum { COLUMNS = 10 };
	static const struct table_column col[COLUMNS] = {
		{ "block", TABLE_HEX }, { "size_bytes", TABLE_UINT },
		{ "instructions", TABLE_UINT }, { "samples", TABLE_REAL },
		{ "per_instruction", TABLE_REAL }, { "executions", TABLE_REAL },
		{ "confidence", TABLE_TEXT }, { "cycles", TABLE_REAL },
		{ "best_cycles", TABLE_REAL }, { "original", TABLE_HEX },
	};

	return table_new("blocks", placed ? COLUMNS : COLUMNS - 1, col);
}

/* The job's, with one column more. */
static struct table *blocks_of(const struct annotation *said)
{
	enum { INSTRUCTIONS = 2, SAMPLES = 3, COLUMNS = 10 };
	struct table *t = show_blocks_table(said->placed.n > 0);
	const char *cell[COLUMNS];

	for (int row = 0; row < table_nrow(said->blocks); row++) {
		double n = strtod(table_cell(said->blocks, row, INSTRUCTIONS), NULL);
		double samples = strtod(table_cell(said->blocks, row, SAMPLES), NULL);

		for (int i = 0; i < table_ncol(said->blocks); i++)
			cell[i + (i > SAMPLES)] = table_cell(said->blocks, row, i);
		cell[SAMPLES + 1] = arena_printf(said->arena, "%.6f",
						 n > 0 ? samples / n : 0);
		table_row_text(t, cell);
	}
	return t;
}

void show_blocks(const struct show_annotate *r, struct client *cl, struct table *blocks,
		 struct table *insns)
{
	if (!r->blocks) {
		show_give(cl, blocks);
		show_give(cl, insns);
		return;
	}
	show_give(cl, annotation_hottest(blocks, r->limit));
	table_free(blocks);
	table_free(insns);
}

static void answer(struct cycles *c, const struct show_annotate *r, struct client *cl)
{
	double all = 0;

	for (uint32_t i = 0; i < c->l->nproc; i++)
		if (c->l->proc[i].fn == c->fn)
			all = c->l->proc[i].samples;
	answer_line(control_answer(cl), "of %.0f samples of the function, %.0f are known by "
		    "instruction; the others are left out", all, c->placed);
	show_counted(cl, c->counted);
	if (!r->blocks) {
		ask_text(c);
		ask_source(c);
	}
	show_give(cl, c->said.fn);
	show_give(cl, c->said.causes);
	show_blocks(r, cl, blocks_of(&c->said), annotation_insns(&c->said));
	table_free(c->said.blocks);
}

/* In the order of a generation, if it is asked for: false when the function is not in it. */
static bool lie_as(struct cycles *c, struct bytes placed)
{
	uint32_t n = 1;

	if (placed.n)
		(void)annotation_take_placed(&c->said, placed, &n);
	return n > 0;
}

int show_cycles(struct work *w, const struct procedures *l, uint32_t fn, int file,
		struct bytes placed, const struct show_annotate *r, struct client *cl,
		struct err *err)
{
	struct cycles c = { .w = w, .l = l, .fn = fn, .file = file };
	struct arena *arena = arena_new();
	struct err why;

	annotation_begin(&c.said, arena);
	int rc = store_place_each(w->store, l->m.id, add_place, &c, err);
	int shown = 0;

	if (rc == 0 && c.placed > 0 && ask_cycles(&c, &why) < 0)
		answer_line(control_answer(cl), "what they wait for cannot be said: %s",
			    why.text);
	else if (rc == 0 && c.placed > 0)
		shown = lie_as(&c, placed);
	if (shown) {
		answer(&c, r, cl);
	} else {
		table_free(c.said.fn);
		table_free(c.said.causes);
		table_free(c.said.blocks);
	}
	wr_free(&c.samples);
	arena_free(arena);
	return rc < 0 ? -1 : shown;
}
