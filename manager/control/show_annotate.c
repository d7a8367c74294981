/* show_annotate.c - a function's blocks and instructions with their samples; why functions stay
 * where they are
 *
 * Tested by tests/e2e/daemon.sh.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "lib/placed.h"
#include "lib/table.h"
#include "manager/control/access.h"
#include "manager/control/control.h"
#include "manager/work/annotation.h"
#include "manager/work/answer.h"
#include "manager/work/procedure.h"
#include "manager/control/show.h"
#include "policy/policy.h"
#include "manager/work/work.h"

enum { LINE_BYTES = 256 };

/* --- annotate --- */

/* What is not known of cycles is NAN here, and "". */
static void add_insn(struct table *t, vaddr at, double samples, const char *text)
{
	table_row(t, (uint64_t)at, samples, NAN, NAN, NAN, text, "", "", "");
}

/* Instructions of [addr, addr + size), with the samples of the block that each begins. */
static void add_text(struct work *w, const struct procedures *l, int file, vaddr addr,
		     uint64_t size, struct table *t)
{
	struct ask_job job = { .kind = JOB_DISASSEMBLE, .nin = 1, .in = { file }, .a = addr,
			       .b = size };
	char line[LINE_BYTES];
	struct wr text = { 0 };
	struct err err;
	char *end;

	if (procedures_text_job(w, &job, &text, &err) < 0) {
		add_insn(t, addr, 0, err.text);
		goto out;
	}
	struct bytes rest = wr_bytes(&text);
	while (procedures_next_line(&rest, line, sizeof(line))) {
		vaddr at = strtoull(line, &end, 16);
		uint32_t block = blocktable_find(&l->t, at);

		if (end == line || *end != '\t')
			continue;
		bool begins = block != UINT32_MAX && l->t.base + l->t.block[block].off == at;
		add_insn(t, at, begins ? procedures_block_samples(l, block) : 0, end + 1);
	}
out:
	wr_free(&text);
}

/* By the samples of blocks alone. */
static void annotate_blocks(struct work *w, const struct procedures *l, uint32_t fn, int file,
			    const struct show_annotate *r, struct client *cl)
{
	struct table *blocks = show_blocks_table(false);
	struct table *text = annotation_insns_table(false);
	vaddr start = 0, end = 0;
	int pieces = 0;

	for (uint32_t i = 0; i < l->t.nblock; i++) {
		const struct blocktable_block *b = &l->t.block[i];
		vaddr at = l->t.base + b->off;
		double samples = procedures_block_samples(l, i);

		if (b->fn != fn)
			continue;
		table_row(blocks, (uint64_t)at, (uint64_t)b->size, (uint64_t)b->ninsn, samples,
			  samples / b->ninsn, NAN, "", NAN, NAN);
		if (at != end && end && !r->blocks && pieces++ < SHOW_TEXT_PIECES)
			add_text(w, l, file, start, end - start, text);
		if (at != end)
			start = at;
		end = at + b->size;
	}
	if (end && !r->blocks)
		add_text(w, l, file, start, end - start, text);
	show_blocks(r, cl, blocks, text);
}

/* --- in the generation that is at the path --- */

static void put_block(const struct procedures *l, uint32_t block, new_vaddr addr,
		      struct table *blocks)
{
	const struct blocktable_block *b = &l->t.block[block];
	double samples = procedures_block_samples(l, block);

	table_row(blocks, (uint64_t)addr, (uint64_t)b->size, (uint64_t)b->ninsn, samples,
		  samples / b->ninsn, NAN, "", NAN, NAN, (uint64_t)(l->t.base + b->off));
}

/* The block that begins there; UINT32_MAX: none does. */
static uint32_t block_at(const struct procedures *l, vaddr addr)
{
	uint32_t block = blocktable_find(&l->t, addr);

	return block != UINT32_MAX && l->t.base + l->t.block[block].off == addr ? block
										: UINT32_MAX;
}

static void put_insn(const struct procedures *l, uint32_t block, const struct placed_line *p,
		     struct table *insns)
{
	char addr[24], samples[32] = "0", original[24] = "";
	const char *cell[] = { addr, samples, "", "", "", p->text, "", "", "", original };

	(void)snprintf(addr, sizeof(addr), "%" PRIu64, p->addr);
	if (block != UINT32_MAX)
		(void)snprintf(samples, sizeof(samples), "%.6f",
			       procedures_block_samples(l, block));
	if (p->original)
		(void)snprintf(original, sizeof(original), "%" PRIu64, p->original);
	table_row_text(insns, cell);
}

/* What the job says; `there`, by block: it has an image. */
static void put_placed(const struct procedures *l, char *text, bool *there,
		       struct table *blocks, struct table *insns)
{
	struct placed_line p;

	while (placed_next(&text, &p)) {
		uint32_t block = p.original ? block_at(l, p.original) : UINT32_MAX;

		if (!p.insn && block != UINT32_MAX) {
			put_block(l, block, p.addr, blocks);
			there[block] = true;
		}
		if (p.insn)
			put_insn(l, block, &p, insns);
	}
}

static int answer_placed(const struct procedures *l, uint32_t fn, char *text,
			 const struct show_annotate *r, struct client *cl, struct err *err)
{
	bool *there = memory_new(l->t.nblock, sizeof(*there));
	struct table *blocks = show_blocks_table(true);
	struct table *insns = annotation_insns_table(true);
	uint32_t number = placed_generation(&text);
	int rc = 0;

	put_placed(l, text, there, blocks, insns);
	if (!table_nrow(insns))
		rc = err_set(err, ERR_INPUT, "generation %" PRIu32 " of '%s' has left the "
			     "function where it was", number, l->m.path);
	for (uint32_t i = 0; i < l->t.nblock; i++)
		if (l->t.block[i].fn == fn && !there[i] && procedures_block_samples(l, i) > 0)
			put_block(l, i, l->t.base + l->t.block[i].off, blocks);
	free(there);
	if (rc == 0) {
		show_blocks(r, cl, blocks, insns);
	} else {
		table_free(blocks);
		table_free(insns);
	}
	return rc;
}

/* The function's blocks, a line for each; a descriptor. */
static int write_blocks(const struct procedures *l, uint32_t fn, struct err *err)
{
	struct wr lines = { 0 };
	char line[64];

	for (uint32_t i = 0; i < l->t.nblock; i++)
		if (l->t.block[i].fn == fn) {
			(void)snprintf(line, sizeof(line), "0x%" PRIx64 " %" PRIu32 "\n",
				       l->t.base + l->t.block[i].off, l->t.block[i].size);
			wr_text(&lines, line);
		}
	int fd = io_memory_file(wr_bytes(&lines), err);
	wr_free(&lines);
	return fd;
}

/* As the function lies there: what the job says, with a zero behind it. */
static int ask_placed(struct work *w, const struct procedures *l, uint32_t fn, int file,
		      struct wr *text, struct err *err)
{
	struct ask_job job = { .kind = JOB_PLACED, .nin = 3, .in = { file, -1, -1 } };
	int rc = -1;

	job.in[1] = ask_open_file(w->ask, l->m.path, err);
	if (job.in[1] >= 0)
		job.in[2] = write_blocks(l, fn, err);
	if (job.in[2] >= 0 && procedures_text_job(w, &job, text, err) == 0) {
		wr_u8(text, 0);
		rc = 0;
	}
	for (int i = 1; i < 3; i++)
		if (job.in[i] >= 0)
			close(job.in[i]);
	return rc;
}

static int annotate(struct work *w, const struct procedures *l, uint32_t fn,
		    const struct show_annotate *r, struct client *cl, struct err *err)
{
	struct wr text = { 0 };

	if (procedures_check_shown(l, fn, !r->blocks, err) < 0)
		return -1;
	int file = work_open_pristine(w, &l->m, err), rc = 0;
	if (file < 0)
		return -1;
	if (r->placed)
		rc = ask_placed(w, l, fn, file, &text, err);
	if (rc == 0)
		rc = show_cycles(w, l, fn, file, wr_bytes(&text), r, cl, err);
	if (rc == 0 && r->placed)
		rc = answer_placed(l, fn, (char *)text.p, r, cl, err);
	else if (rc == 0)
		annotate_blocks(w, l, fn, file, r, cl);
	wr_free(&text);
	close(file);
	return rc < 0 ? -1 : 0;
}

static int check_generation(const struct store_module *m, const struct show_annotate *r,
			    struct err *err)
{
	if (!m->generation)
		return err_set(err, ERR_INPUT, "'%s' has no generation: it is the original",
			       m->path);
	if (r->generation && r->generation != m->generation)
		return err_set(err, ERR_INPUT, "'%s' has generation %" PRIu32 ", not %" PRIu32,
			       m->path, m->generation, r->generation);
	return 0;
}

/* NAME=N with N from 1 on. */
static bool read_count(const char *arg, const char *name, uint32_t *out)
{
	size_t n = strlen(name);
	char *end;

	if (strncmp(arg, name, n) != 0 || arg[n] != '=' || arg[n + 1] < '0' || arg[n + 1] > '9')
		return false;
	unsigned long v = strtoul(arg + n + 1, &end, 10);
	*out = (uint32_t)v;
	return v && v <= UINT32_MAX && !*end;
}

int show_annotate_read(int argc, const char *const *argv, struct show_annotate *out,
		       struct err *err)
{
	bool limited = false;

	*out = (struct show_annotate){ .module = argv[1], .function = argv[2],
				       .limit = UINT32_MAX };
	for (int i = 3; i < argc; i++) {
		const char *arg = argv[i];

		if (strcmp(arg, "--blocks") == 0)
			out->blocks = true;
		else if (strcmp(arg, "--original") == 0)
			out->placed = false;
		else if (strcmp(arg, "--generation") == 0 ||
			 read_count(arg, "--generation", &out->generation))
			out->placed = true;
		else if (read_count(arg, "--limit", &out->limit))
			limited = true;
		else if (strncmp(arg, "--limit=", 8) == 0)
			return err_set(err, ERR_USAGE, "--limit: '%.80s' is not a number from "
				       "1 on", arg + 8);
		else if (strncmp(arg, "--generation=", 13) == 0)
			return err_set(err, ERR_USAGE, "--generation: '%.80s' is not a number "
				       "from 1 on", arg + 13);
		else
			return err_set(err, ERR_USAGE, arg[0] == '-' ? "unknown option '%s'"
				       : "unexpected argument '%s'", arg);
	}
	if (limited && !out->blocks)
		return err_set(err, ERR_USAGE, "--limit is for --blocks");
	return 0;
}

int show_annotate(struct work *w, const struct show_annotate *r, struct client *cl,
		  struct err *err)
{
	struct store_module m = { 0 };
	int rc;

	if (access_find(w, cl, r->module, &m, err) < 0 ||
	    (r->placed && check_generation(&m, r, err) < 0))
		return -1;
	struct procedures *l = procedures_load(w, &m, err);
	if (!l)
		return -1;
	uint32_t fn = procedures_find(w, l, r->function);
	if (fn == UINT32_MAX)
		rc = err_set(err, ERR_INPUT, "'%s' has no function '%s'", m.path, r->function);
	else
		rc = annotate(w, l, fn, r, cl, err);
	procedures_free(l);
	return rc;
}

/* --- explain --- */

/* Cuts the last word off a line and gives it; NULL if it is the only one. */
static char *last_word(char *line)
{
	char *word = strrchr(line, ' ');

	if (!word)
		return NULL;
	*word++ = '\0';
	for (char *c = word - 2; c >= line && *c == ' '; c--)
		*c = '\0';
	return word;
}

/* "REASON  FUNCTIONS  BYTES  CODE", as morph-edit prints it. */
static void add_reason(char *line, struct table *t)
{
	char *code = last_word(line), *bytes = code ? last_word(line) : NULL;
	char *functions = bytes ? last_word(line) : NULL;

	if (functions)
		table_row(t, line, strtoull(functions, NULL, 10), strtoull(bytes, NULL, 10),
			  code);
}

/* All of the module is left as it is. */
static void add_refusal(const struct store_module *m, const char *why, struct table *t)
{
	table_row(t, why, (uint64_t)m->functions, m->text_bytes, "refused");
}

static void add_line(char *line, struct table *t)
{
	table_row(t, line);
}

/* "CONFIDENCE  WORK  BRANCHES", in percent. */
static void add_confidence(char *line, struct table *t)
{
	char *branches = last_word(line), *work = branches ? last_word(line) : NULL;

	if (work)
		table_row(t, line, strtod(work, NULL), strtod(branches, NULL));
}

/* A title, a line of headings, and the rows up to an empty line. */
static void read_table(struct bytes text, const char *title, struct table *t,
		       void (*add)(char *line, struct table *t))
{
	char line[LINE_BYTES];
	bool found = false;

	while (!found && procedures_next_line(&text, line, sizeof(line)))
		found = strcmp(line, title) == 0;
	if (!procedures_next_line(&text, line, sizeof(line)))
		return;
	while (procedures_next_line(&text, line, sizeof(line)) && line[0])
		add(line, t);
}

/* What analysis says of the module, and if it has a profile inference of that, or why it
 * could not be attached: that of a module that is cut into other blocks now. */
static int ask_explain(struct work *w, const struct store_module *m, struct wr *text,
		       struct err *err)
{
	struct work_evidence known = { 0 };
	struct wr lines = { 0 };
	/* a profile that cannot be had is no reason to say nothing */
	struct err why;
	int file = work_open_pristine(w, m, err), profile = -1;
	struct ask_job job = { .kind = JOB_EXPLAIN, .nin = 1, .in = { file } };

	if (file < 0)
		return -1;
	if (work_profile(w, m, &known, &lines, &why) == 0 &&
	    store_profile_samples(&known.profile) > 0)
		profile = io_memory_file(wr_bytes(&lines), &why);
	if (profile >= 0)
		job.in[job.nin++] = profile;
	int rc = procedures_text_job(w, &job, text, err);
	if (profile >= 0)
		close(profile);
	close(file);
	work_evidence_free(&known);
	wr_free(&lines);
	return rc;
}

/* Of which versions its evidence is; no table when it is all its own. */
static int show_evidence(struct work *w, const struct store_module *m, struct client *cl,
			 struct err *err)
{
	static const struct table_column col[] = {
		{ "of", TABLE_TEXT }, { "samples", TABLE_REAL }, { "count_as", TABLE_REAL },
		{ "recognised_pct", TABLE_REAL }, { "functions", TABLE_TEXT },
		{ "note", TABLE_TEXT },
	};
	struct work_inherited i;
	struct policy policy;
	char functions[48];

	if (!work_inherits(w, m->path, &policy))
		return 0;
	int rc = work_inherited(w, m, &policy, &i, err);
	if (rc <= 0)
		return rc;
	struct table *t = NEW_TABLE("evidence", col);
	(void)snprintf(functions, sizeof(functions), "%" PRIu32 " of %" PRIu32, i.recognised,
		       i.functions);
	table_row(t, "this version", m->samples, m->samples, NAN, "", "");
	table_row(t, "the version before", i.samples, i.counts_as, 100 * i.matched, functions,
		  decide_inherit_text[i.why]);
	show_give(cl, t);
	return 0;
}

int show_explain(struct work *w, const char *module, struct client *cl, struct err *err)
{
	static const struct table_column reason_column[] = {
		{ "reason", TABLE_TEXT }, { "functions", TABLE_UINT }, { "bytes", TABLE_BYTES },
		{ "reason_code", TABLE_TEXT },
	}, confidence_column[] = {
		{ "confidence", TABLE_TEXT }, { "work_pct", TABLE_REAL },
		{ "branches_pct", TABLE_REAL },
	}, left_out_column[] = { { "left_out", TABLE_TEXT } };
	struct store_module m = { 0 };
	struct wr text = { 0 };
	int rc = 0;

	if (access_find(w, cl, module, &m, err) < 0)
		return -1;
	struct table *reasons = NEW_TABLE("reasons", reason_column);
	struct table *told = NEW_TABLE("confidence", confidence_column);
	struct table *left_out = NEW_TABLE("profile", left_out_column);
	struct err why = { 0 };		/* because of where it is, whatever is in it */

	struct names also;

	if (!m.refusal[0] && work_check(w, m.path, &also, &why) < 0 &&
	    why.kind == ERR_REFUSED)
		add_refusal(&m, why.text, reasons);
	if (m.refusal[0]) {
		add_refusal(&m, m.refusal, reasons);
	} else {
		rc = ask_explain(w, &m, &text, err);
		if (rc < 0 && err->kind == ERR_REFUSED) {	/* what keeps it out is said */
			rc = 0;
			if (why.kind != ERR_REFUSED)
				add_refusal(&m, err->text, reasons);
			why = *err;
		} else if (rc == 0) {
			read_table(wr_bytes(&text), "reasons", reasons, add_reason);
			read_table(wr_bytes(&text), "confidence", told, add_confidence);
			read_table(wr_bytes(&text), "profile", left_out, add_line);
		}
	}
	struct table *explained = NULL;
	if (rc == 0)
		rc = show_explained(w, &m, why.kind == ERR_REFUSED ? why.text : "", reasons,
				    &explained, err);
	if (rc == 0) {
		show_give(cl, explained);
		answer_table(control_answer(cl), reasons);
		if (table_nrow(told))
			answer_table(control_answer(cl), told);
		if (table_nrow(left_out))
			answer_table(control_answer(cl), left_out);
		struct table *fleet = show_fleet_table(w, &m);
		if (fleet)
			show_give(cl, fleet);
		rc = show_evidence(w, &m, cl, err);
	}
	table_free(reasons);
	table_free(told);
	table_free(left_out);
	wr_free(&text);
	return rc;
}
