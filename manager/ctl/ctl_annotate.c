/* ctl_annotate.c - morphctl annotate: where the cycles of a function go, by the daemon, or by
 * recordings without it
 *
 * Tested by tests/e2e/annotate.sh; by the daemon, tests/e2e/daemon.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "lib/placed.h"
#include "lib/say.h"
#include "lib/search.h"
#include "manager/ctl/ctl_evidence.h"
#include "manager/report/evidence_names.h"

enum { WORDS = 9, COUNTS_MAX = 1 << 30 };

/* An instruction, and what several jobs say of it. */
struct line {
	vaddr addr;
	const char *word[WORDS];	/* annotate's */
	const char *text, *source;
};

struct annotation {
	const struct ctl_evidence *o;
	struct arena *arena;
	struct evidence e;
	uint32_t module, function;	/* in e */
	/* the original, what is at its path if that is a generation; -1: none */
	int fd, generation, counts;
	struct table *fn, *causes, *blocks;
	VEC(struct line) line;		/* ascending by addr */
	VEC(struct placed_line) placed;	/* in the generation that is asked for */
};

/* --- what is asked for --- */

/* All samples of the module, a line for each place. */
static int write_samples(const struct annotation *a, struct err *err)
{
	struct wr w = { 0 };

	for (uint32_t i = 0; i < a->e.place.n; i++) {
		const struct evidence_place *p = &a->e.place.v[i];

		if (p->module == a->module && p->addr)
			wr_text(&w, arena_printf(a->arena, "0x%" PRIx64 " %.0f\n", p->addr,
						 p->count));
	}
	int fd = io_memory_file(wr_bytes(&w), err);
	wr_free(&w);
	return fd;
}

/* Of this machine, as the kernel has it now; 0: not known. */
static double megahertz(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];
	double mhz = 0, v;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "cpu MHz : %lf", &v) == 1 && v > mhz)
			mhz = v;
	if (f)
		(void)fclose(f);	/* was read */
	return mhz;
}

/* --- the answers --- */

/* Cuts a line at its tabs; how many words there are, at most WORDS. */
static int split(char *line, const char **word)
{
	int n = 0;

	for (char *s = line; s && n < WORDS; ) {
		char *tab = strchr(s, '\t');

		if (tab)
			*tab++ = '\0';
		word[n++] = s;
		s = tab;
	}
	return n;
}

static void take_line(struct annotation *a, const char **word, int n)
{
	if (n == 5 && strcmp(word[0], "function") == 0)
		table_row_text(a->fn, word + 1);
	else if (n == 4 && strcmp(word[0], "cause") == 0)
		table_row_text(a->causes, word + 1);
	else if (n == 9 && strcmp(word[0], "block") == 0)
		table_row_text(a->blocks, word + 1);
	if (n != 8 || strcmp(word[0], "insn") != 0)
		return;
	struct line line = { .addr = strtoull(word[1], NULL, 16), .text = "", .source = "" };
	memcpy(line.word, word, sizeof(line.word));
	if (!a->line.n || line.addr > a->line.v[a->line.n - 1].addr)
		vec_push(a->arena, &a->line, line);
}

static struct line *line_at(const struct annotation *a, vaddr addr)
{
	uint32_t k = search_first(i, 0, a->line.n, a->line.v[i].addr < addr);

	return k < a->line.n && a->line.v[k].addr == addr ? &a->line.v[k] : NULL;
}

static char *next_line(char **text)
{
	char *line = *text, *nl = strchr(line, '\n');

	if (!nl)
		return NULL;
	*nl = '\0';
	*text = nl + 1;
	return line;
}

static char *text_of(const struct annotation *a, struct bytes b)
{
	char *text = arena_alloc(a->arena, b.n + 1);

	if (b.n)
		memcpy(text, b.p, b.n);
	return text;
}

static int ask_cycles(struct annotation *a, double cycles, struct err *err)
{
	struct modulefile_job job = {
		.kind = JOB_ANNOTATE, .nin = a->counts < 0 ? 2 : 3,
		.in = { a->fd, write_samples(a, err), a->counts },
		.a = a->e.module.v[a->module].function[a->function].entry,
		.b = (uint64_t)(cycles * 1000),
	};
	const char *word[WORDS] = { NULL };
	struct bytes b;

	if (job.in[1] < 0)
		return -1;
	int rc = modulefile_text(a->o->source.at.morph_edit, &job, a->arena, &b, err);
	close(job.in[1]);
	if (rc < 0)
		return -1;
	for (char *text = text_of(a, b), *line; (line = next_line(&text)); )
		take_line(a, word, split(line, word));
	return 0;
}

/* The text of instructions, a range of addresses at a time; what cannot be had is left out. */
static void ask_text(struct annotation *a)
{
	enum { GAP = 64, INSN_MAX = 15 };

	for (uint32_t i = 0, k; i < a->line.n; i = k) {
		struct modulefile_job job = { .kind = JOB_DISASSEMBLE, .nin = 1,
					      .in = { a->fd }, .a = a->line.v[i].addr };
		struct bytes b;
		struct err err;

		for (k = i + 1; k < a->line.n; k++)
			if (a->line.v[k].addr - a->line.v[k - 1].addr >= GAP)
				break;
		/* the last one may be so long; behind it there may be nothing */
		for (uint32_t len = INSN_MAX; len > 0; len = len == INSN_MAX ? 1 : 0) {
			job.b = a->line.v[k - 1].addr + len - job.a;
			b = (struct bytes){ NULL, 0 };
			if (modulefile_text(a->o->source.at.morph_edit, &job, a->arena, &b,
					    &err) == 0)
				break;
		}
		for (char *text = text_of(a, b), *line; (line = next_line(&text)); ) {
			char *end;
			struct line *at = line_at(a, strtoull(line, &end, 16));

			if (at && *end == '\t')
				at->text = end + 1;
		}
	}
}

static void ask_source(struct annotation *a)
{
	struct evidence_place p = { .function = EVIDENCE_NONE };
	struct evidence names;
	struct wr places = { 0 };
	struct err err;

	evidence_init(&names, a->arena);
	p.module = evidence_module(&names, a->e.module.v[a->module].path, true);
	for (uint32_t i = 0; i < a->line.n; i++) {
		wr_text(&places,
			arena_printf(a->arena, "0x%" PRIx64 "\n", a->line.v[i].addr));
		vec_push(a->arena, &names.place, p);
	}
	if (a->line.n && evidence_ask_names(&names, a->o->source.at.morph_edit, a->fd, &places,
					    0, &err) == 0)
		for (uint32_t i = 0; i < a->line.n; i++) {
			const struct evidence_place *q = &names.place.v[i];

			if (q->nframe && q->frame[0].line)
				a->line.v[i].source = arena_printf(
					a->arena, "%s:%u",
					evidence_plain(&names, evidence_base(q->frame[0].file)),
					q->frame[0].line);
		}
	wr_free(&places);
}

/* --- in a generation --- */

static vaddr block_at(const struct annotation *a, int row)
{
	return strtoull(table_cell(a->blocks, row, 0), NULL, 16);
}

/* The function's blocks, a line for each; a descriptor. */
static int write_blocks(const struct annotation *a, struct err *err)
{
	struct wr w = { 0 };

	for (int i = 0; i < table_nrow(a->blocks); i++)
		wr_text(&w, arena_printf(a->arena, "0x%" PRIx64 " %s\n", block_at(a, i),
					 table_cell(a->blocks, i, 1)));
	int fd = io_memory_file(wr_bytes(&w), err);
	wr_free(&w);
	return fd;
}

static int read_placed(struct annotation *a, char *text, struct err *err)
{
	uint32_t number = placed_generation(&text);
	struct placed_line line;

	if (a->o->generation && number != a->o->generation)
		return err_set(err, ERR_INPUT, "generation %" PRIu32 " is there, not %" PRIu32,
			       number, a->o->generation);
	while (placed_next(&text, &line))
		vec_push(a->arena, &a->placed, line);
	if (!a->placed.n)
		return err_set(err, ERR_INPUT, "generation %" PRIu32
			       " has left the function where it was", number);
	return 0;
}

static int ask_placed(struct annotation *a, struct err *err)
{
	struct bytes b;

	if (a->generation < 0)
		return err_set(err, ERR_INPUT, "no generation is there, but an original");
	struct modulefile_job job = { .kind = JOB_PLACED, .nin = 3,
				      .in = { a->fd, a->generation, write_blocks(a, err) } };
	if (job.in[2] < 0)
		return -1;
	int rc = modulefile_text(a->o->source.at.morph_edit, &job, a->arena, &b, err);
	close(job.in[2]);
	return rc < 0 ? -1 : read_placed(a, text_of(a, b), err);
}

/* Where the generation has the block; NULL: it runs in the original's place. */
static const struct placed_line *placed_block(const struct annotation *a, vaddr addr)
{
	for (uint32_t i = 0; i < a->placed.n; i++)
		if (!a->placed.v[i].insn && a->placed.v[i].original == addr)
			return &a->placed.v[i];
	return NULL;
}

/* An address of the original, in hexadecimal digits, as it is in the generation. */
static const char *image_of(const struct annotation *a, const char *original)
{
	vaddr addr = strtoull(original, NULL, 16);

	for (uint32_t i = 0; addr && i < a->placed.n; i++)
		if (a->placed.v[i].insn && a->placed.v[i].original == addr)
			return arena_printf(a->arena, "0x%" PRIx64, a->placed.v[i].addr);
	return original;
}

/* --- tables --- */

static void make_tables(struct annotation *a)
{
	static const struct table_column fn[] = {
		{ "entry", TABLE_HEX }, { "samples", TABLE_REAL }, { "entries", TABLE_REAL },
		{ "scale", TABLE_TEXT },
	}, cause[] = {
		{ "cause", TABLE_TEXT }, { "at_least_pct", TABLE_REAL },
		{ "at_most_pct", TABLE_REAL },
	}, block[] = {
		{ "block", TABLE_HEX }, { "size_bytes", TABLE_UINT },
		{ "instructions", TABLE_UINT }, { "samples", TABLE_REAL },
		{ "executions", TABLE_REAL }, { "confidence", TABLE_TEXT },
		{ "cycles", TABLE_REAL }, { "best_cycles", TABLE_REAL },
	};

	a->fn = table_new("function", 4, fn);
	a->causes = table_new("causes", 3, cause);
	a->blocks = table_new("blocks", 8, block);
}

enum { INSN_COLUMNS = 10 };

static const struct table_column insn_column[INSN_COLUMNS] = {
	{ "address", TABLE_HEX }, { "samples", TABLE_REAL }, { "executions", TABLE_REAL },
	{ "cycles", TABLE_REAL }, { "best_cycles", TABLE_REAL }, { "instruction", TABLE_TEXT },
	{ "culprit", TABLE_TEXT }, { "why", TABLE_TEXT }, { "source", TABLE_TEXT },
	{ "original", TABLE_HEX },	/* of a generation */
};

static struct table *insn_table(const struct annotation *a)
{
	struct table *t = table_new("instructions", INSN_COLUMNS - 1, insn_column);

	for (uint32_t i = 0; i < a->line.n; i++) {
		const struct line *l = &a->line.v[i];
		const char *cell[] = { l->word[1], l->word[2], l->word[3], l->word[4],
				       l->word[5], l->text, l->word[6], l->word[7],
				       l->source };

		table_row_text(t, cell);
	}
	return t;
}

static void put_placed(const struct annotation *a, const struct placed_line *p,
		       struct table *t)
{
	const struct line *l = p->original ? line_at(a, p->original) : NULL;
	const char *addr = arena_printf(a->arena, "0x%" PRIx64, p->addr);

	if (l) {
		const char *cell[] = { addr, l->word[2], l->word[3], l->word[4], l->word[5],
				       p->text, image_of(a, l->word[6]), l->word[7],
				       l->source, l->word[1] };

		table_row_text(t, cell);
	} else {		/* it was added */
		const char *cell[] = { addr, "0", "", "", "", p->text, "-", "", "", "" };

		table_row_text(t, cell);
	}
}

/* What has samples and no image runs in the original's place. */
static struct table *placed_table(const struct annotation *a)
{
	struct table *t = table_new("instructions", INSN_COLUMNS, insn_column);

	for (uint32_t i = 0; i < a->placed.n; i++)
		if (a->placed.v[i].insn)
			put_placed(a, &a->placed.v[i], t);
	for (uint32_t i = 0; i < a->line.n; i++) {
		const struct line *l = &a->line.v[i];
		const struct placed_line stays = { true, l->addr, l->addr, 0, l->text };

		if (strtod(l->word[2], NULL) > 0 && image_of(a, l->word[1]) == l->word[1])
			put_placed(a, &stays, t);
	}
	return t;
}

static void put_placed_block(const struct annotation *a, int row, const char *addr,
			     struct table *t)
{
	enum { COLUMNS = 9 };
	const char *cell[COLUMNS];

	cell[0] = addr;
	for (int c = 1; c < COLUMNS - 1; c++)
		cell[c] = table_cell(a->blocks, row, c);
	cell[COLUMNS - 1] = table_cell(a->blocks, row, 0);
	table_row_text(t, cell);
}

static int row_of(const struct annotation *a, vaddr block)
{
	for (int i = 0; i < table_nrow(a->blocks); i++)
		if (block_at(a, i) == block)
			return i;
	return -1;
}

/* The blocks in the order of the generation; behind them those that have samples and no
 * image. */
static struct table *placed_blocks(const struct annotation *a)
{
	struct table_column col[9];
	int n = table_ncol(a->blocks);

	memcpy(col, table_columns(a->blocks), (size_t)n * sizeof(*col));
	col[n] = (struct table_column){ "original", TABLE_HEX };
	struct table *t = table_new("blocks", n + 1, col);
	for (uint32_t i = 0; i < a->placed.n; i++) {
		const struct placed_line *p = &a->placed.v[i];
		int row = p->insn ? -1 : row_of(a, p->original);

		if (row >= 0)
			put_placed_block(a, row, arena_printf(a->arena, "0x%" PRIx64, p->addr),
					 t);
	}
	for (int i = 0; i < table_nrow(a->blocks); i++)
		if (strtod(table_cell(a->blocks, i, 3), NULL) > 0 &&
		    !placed_block(a, block_at(a, i)))
			put_placed_block(a, i, table_cell(a->blocks, i, 0), t);
	return t;
}

struct hot {
	int row;
	double samples;
};

static int by_samples(const void *x, const void *y)
{
	const struct hot *a = x, *b = y;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return a->row - b->row;
}

/* The blocks with samples, most first. */
static struct table *hottest(const struct table *blocks, uint32_t limit)
{
	enum { SAMPLES = 3 };
	struct table *t = table_new(table_title(blocks), table_ncol(blocks),
				    table_columns(blocks));
	int n = table_nrow(blocks), ncol = table_ncol(blocks);
	struct hot *hot = memory_new((size_t)n, sizeof(*hot));
	const char *cell[16];

	for (int i = 0; i < n; i++)
		hot[i] = (struct hot){ i, strtod(table_cell(blocks, i, SAMPLES), NULL) };
	if (n)
		qsort(hot, (size_t)n, sizeof(*hot), by_samples);
	for (int i = 0; i < n && (uint32_t)i < limit && hot[i].samples > 0; i++) {
		for (int c = 0; c < ncol; c++)
			cell[c] = table_cell(blocks, hot[i].row, c);
		table_row_text(t, cell);
	}
	free(hot);
	return t;
}

/* --- the command --- */

/* A pipe will do: it is read once. */
static int open_counts(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': open: %s", path, strerror(errno));
	if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode)))
		return fd;
	close(fd);
	return err_set(err, ERR_INPUT, "'%s': neither a regular file nor a pipe", path);
}

static int annotate(struct annotation *a, const char *module, const char *function,
		    struct err *err)
{
	double mhz = a->o->mhz ? a->o->mhz : megahertz();

	if (a->e.executions)
		return err_set(err, ERR_USAGE, "executions are no samples: --log takes logs, "
			       "--counts exact profiles");
	if (ctl_evidence_function(&a->e, module, function, &a->module, &a->function, err) < 0)
		return -1;
	a->fd = evidence_open_both(&a->e.module.v[a->module], &a->o->source, &a->generation,
				   err);
	if (a->fd < 0)
		return err_wrap(err, "'%s'", a->e.module.v[a->module].path);
	if (a->o->counts) {
		a->counts = open_counts(a->o->counts, err);
		if (a->counts < 0)
			return -1;
	}
	if (ask_cycles(a, (double)a->e.period_ns / 1e9 * mhz * 1e6, err) < 0 ||
	    (a->o->placed && ask_placed(a, err) < 0))
		return err_wrap(err, "'%s'", a->e.module.v[a->module].path);
	return 0;
}

static int show(const struct ctl *ctl, const struct ctl_evidence *o, const char *module,
		const char *function)
{
	struct annotation a = { .o = o, .arena = arena_new(), .fd = -1, .generation = -1,
				.counts = -1 };
	struct ctl_tables t = { 0 };
	struct err err = { 0 };
	int code = ctl_evidence_read(o, o->log, o->nlog, a.arena, &a.e);

	make_tables(&a);
	if (code == 0 && annotate(&a, module, function, &err) < 0) {
		say_line(stderr, "morphctl: %s", err.text);
		code = err_exit_code(&err);
	}
	if (code == 0) {
		t.at[t.n++] = a.fn;
		t.at[t.n++] = a.causes;
		struct table *blocks = o->placed ? placed_blocks(&a) : a.blocks;
		t.at[t.n++] = o->blocks ? hottest(blocks, o->limit) : blocks;
		if (!o->blocks) {
			ask_text(&a);
			ask_source(&a);
			t.at[t.n++] = o->placed ? placed_table(&a) : insn_table(&a);
		} else {
			table_free(blocks);
		}
		if (o->placed)
			table_free(a.blocks);
		code = ctl_print(ctl, &t, 0);
	} else {
		table_free(a.fn);
		table_free(a.causes);
		table_free(a.blocks);
	}
	if (a.fd >= 0)
		close(a.fd);
	if (a.generation >= 0)
		close(a.generation);
	if (a.counts >= 0)
		close(a.counts);
	arena_free(a.arena);
	return code;
}

int ctl_annotate(const struct ctl *ctl, int argc, char **argv)
{
	static const char *const not_its[] = { "--since=", "--until=", "--counts=", "--blocks",
					       "--mhz=", "--binary=", "--store=", NULL };
	struct ctl_evidence o;

	if (!ctl_evidence_find(argc, argv, "--log="))
		return ctl_evidence_only_logs(ctl, argc, argv, not_its)
			       ? 2
			       : ctl_ask_module(ctl, argc, argv);
	int code = ctl_evidence_options(ctl, argc, argv, UINT32_MAX, &o);
	if (code)
		return code;
	code = argc - optind == 2 ? show(ctl, &o, argv[optind], argv[optind + 1])
				  : ctl_usage(ctl);
	ctl_evidence_free(&o);
	return code;
}
