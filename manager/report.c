/* report.c - where the time goes: modules, procedures, blocks; and why functions stay put
 *
 * Names and the text of instructions come from confined morph-edit jobs, as text that is looked
 * at line by line: hostile programs may say strange things, but only as names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/table.h"
#include "manager/control.h"
#include "manager/show.h"

enum { NAME_MAX_BYTES = 256, REPORT_MODULES = 10, ANNOTATE_PIECES = 16 };

static const double sample_unit = 256;		/* store.h: fixed point */

#define NEW_TABLE(title, col) table_new(title, (int)(sizeof(col) / sizeof((col)[0])), col)

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* --- jobs that print text --- */

static int text_job(struct work *w, const struct ask_job *job, struct wr *out, struct err *err)
{
	struct ask_limits limits = work_limits(w);
	int fd;

	if (ask_run_job(w->ask, job, &limits, &fd, 1, err) < 0)
		return -1;
	int rc = work_read(fd, out, err);
	close(fd);
	return rc;
}

/* The next line as a text in `line`, cut if too long; false at the end. */
static bool next_line(struct bytes *b, char *line, size_t size)
{
	if (!b->n)
		return false;
	const uint8_t *nl = memchr(b->p, '\n', b->n);
	size_t n = nl ? (size_t)(nl - b->p) : b->n, keep = n < size ? n : size - 1;
	memcpy(line, b->p, keep);
	line[keep] = '\0';
	n += nl != NULL;
	b->p += n;
	b->n -= n;
	return true;
}

/* --- one module with its profile --- */

struct procedure {
	uint32_t fn;			/* index in the block table */
	double samples;
	char name[NAME_MAX_BYTES];
};

struct loaded {
	struct store_module m;
	struct wr bytes;
	struct blocktable t;
	struct store_profile profile;
	uint32_t nproc;
	struct procedure *proc;		/* those with samples, by samples, descending */
};

static void unload(struct loaded *l)
{
	if (!l)
		return;
	free(l->proc);
	store_profile_free(&l->profile);
	blocktable_free(&l->t);
	wr_free(&l->bytes);
	free(l);
}

static int by_samples(const void *a, const void *b)
{
	const struct procedure *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return (x->fn > y->fn) - (x->fn < y->fn);
}

static int sum_procedures(struct loaded *l, struct err *err)
{
	double *sum = calloc((size_t)l->t.nfn + 1, sizeof(*sum));

	if (!sum)
		return err_set(err, ERR_SYS, "out of memory");
	for (uint32_t i = 0; i < l->profile.ncount; i++) {
		const struct store_count *c = &l->profile.count[i];

		if (c->block < l->t.nblock)
			sum[l->t.block[c->block].fn] += (double)c->samples / sample_unit;
	}
	for (uint32_t i = 0; i < l->t.nfn; i++)
		l->nproc += sum[i] > 0;
	l->proc = calloc((size_t)l->nproc + 1, sizeof(*l->proc));
	if (!l->proc) {
		free(sum);
		return err_set(err, ERR_SYS, "out of memory");
	}
	l->nproc = 0;
	for (uint32_t i = 0; i < l->t.nfn; i++)
		if (sum[i] > 0) {
			struct procedure *p = &l->proc[l->nproc++];

			p->fn = i;
			p->samples = sum[i];
			(void)snprintf(p->name, sizeof(p->name), "fn_%" PRIx64, l->t.fn[i].entry);
		}
	free(sum);
	qsort(l->proc, l->nproc, sizeof(*l->proc), by_samples);
	return 0;
}

static struct loaded *load(struct work *w, const struct store_module *m, struct err *err)
{
	struct loaded *l = calloc(1, sizeof(*l));

	if (!l) {
		err_set(err, ERR_SYS, "out of memory");
		return NULL;
	}
	l->m = *m;
	if (work_table(w, m, &l->bytes, &l->t, err) == 0 &&
	    store_profile_get(w->store, m->id, &l->profile, err) >= 0 &&
	    sum_procedures(l, err) == 0)
		return l;
	unload(l);
	return NULL;
}

/* --- names --- */

/* The separate debug file that the symbols job's output points to; -1 if there is none. */
static int open_debug_file(struct work *w, const struct store_module *m, struct bytes text)
{
	char line[NAME_MAX_BYTES], path[PATH_MAX + 2 * NAME_MAX_BYTES], id[NAME_MAX_BYTES] = "";
	char link[NAME_MAX_BYTES] = "";
	struct err err;
	int fd = -1;

	while (next_line(&text, line, sizeof(line))) {
		if (strncmp(line, "build-id ", 9) == 0)
			(void)snprintf(id, sizeof(id), "%s", line + 9);
		else if (strncmp(line, "debuglink ", 10) == 0)
			(void)snprintf(link, sizeof(link), "%s", line + 10);
	}
	if (strlen(id) > 2 && strspn(id, "0123456789abcdef") == strlen(id)) {
		(void)snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", id,
			       id + 2);
		fd = ask_open_file(w->ask, path, &err);
	}
	if (fd < 0 && *link && !strchr(link, '/')) {
		int n = (int)(strrchr(m->path, '/') - m->path);

		(void)snprintf(path, sizeof(path), "/usr/lib/debug%.*s/%s", n, m->path, link);
		fd = strlen(path) < PATH_MAX ? ask_open_file(w->ask, path, &err) : -1;
	}
	return fd;
}

/* Appends what morph-edit knows of names: lines "ADDRESS NAME". */
static int symbols(struct work *w, const struct store_module *m, struct wr *out,
		   struct err *err)
{
	int file = work_open_pristine(w, m, err);

	if (file < 0)
		return -1;
	struct ask_job job = { .kind = JOB_SYMBOLS, .nin = 1, .in = { file } };
	int rc = text_job(w, &job, out, err);
	int debug = rc < 0 ? -1 : open_debug_file(w, m, wr_bytes(out));
	if (debug >= 0) {
		struct wr more = { 0 };
		struct err why;

		job.nin = 2;
		job.in[1] = debug;
		if (text_job(w, &job, &more, &why) == 0) {	/* else: what we have must do */
			wr_free(out);
			*out = more;
		} else {
			wr_free(&more);
		}
		close(debug);
	}
	close(file);
	return rc;
}

/* "ADDRESS NAME"; a symbol version is cut off. */
static bool parse_symbol(char *line, vaddr *addr, const char **name)
{
	char *end;

	*addr = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1])
		return false;
	*name = end + 1;
	char *version = strchr(end + 1, '@');
	if (version && strcmp(version, "@plt") != 0 && version != end + 1)
		*version = '\0';
	return true;
}

struct by_entry {
	vaddr entry;
	struct procedure *proc;
};

static int compare_entry(const void *a, const void *b)
{
	const struct by_entry *x = a, *y = b;

	return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Gives the first `n` procedures their names; without symbols they keep their numbers. */
static void name_procedures(struct work *w, struct loaded *l, uint32_t n)
{
	struct by_entry *sorted = calloc((size_t)n + 1, sizeof(*sorted));
	char line[NAME_MAX_BYTES + 32];
	struct wr text = { 0 };
	struct err err;

	if (!sorted || symbols(w, &l->m, &text, &err) < 0)
		goto out;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = (struct by_entry){ l->t.fn[l->proc[i].fn].entry, &l->proc[i] };
	qsort(sorted, n, sizeof(*sorted), compare_entry);
	struct bytes rest = wr_bytes(&text);
	while (next_line(&rest, line, sizeof(line))) {
		struct by_entry key = { 0 };
		const char *name;

		if (!parse_symbol(line, &key.entry, &name))
			continue;
		struct by_entry *hit = bsearch(&key, sorted, n, sizeof(*sorted), compare_entry);
		if (hit && strncmp(hit->proc->name, "fn_", 3) == 0)
			(void)snprintf(hit->proc->name, sizeof(hit->proc->name), "%.*s",
				       NAME_MAX_BYTES - 1, name);
	}
out:
	free(sorted);
	wr_free(&text);
}

/* --- report --- */

static const struct table_column procedure_column[] = {
	{ "module", TABLE_TEXT }, { "procedure", TABLE_TEXT }, { "samples", TABLE_REAL },
	{ "share_pct", TABLE_REAL }, { "entry", TABLE_HEX }, { "size_bytes", TABLE_UINT },
};

/* `whole`: the samples that are 100 %. */
static int add_procedures(struct work *w, const struct store_module *m, uint32_t limit,
			  double whole, struct table *t, struct err *err)
{
	struct loaded *l = load(w, m, err);

	if (!l)
		return -1;
	uint32_t n = l->nproc < limit ? l->nproc : limit;
	double rest = l->profile.outside / sample_unit;
	name_procedures(w, l, n);
	for (uint32_t i = 0; i < l->nproc; i++) {
		const struct procedure *p = &l->proc[i];
		const struct blocktable_fn *fn = &l->t.fn[p->fn];

		if (i < n)
			table_row(t, m->path, p->name, p->samples, percent(p->samples, whole),
				  (uint64_t)fn->entry, (uint64_t)fn->size);
		else
			rest += p->samples;
	}
	if (rest > 0)
		table_row(t, m->path, l->nproc > n ? "[all others]" : "[outside of all functions]",
			  rest, percent(rest, whole), (uint64_t)0, (uint64_t)0);
	unload(l);
	return 0;
}

struct gather {
	uint32_t n;
	double total;
	struct store_module *m;		/* [REPORT_MODULES] the first ones */
	struct table *t;		/* NULL: only count */
};

static bool gather_module(void *ctx, const struct store_module *m)
{
	struct gather *g = ctx;
	double all = m->samples + m->outside;

	if (!g->t) {
		g->total += all;
		return true;
	}
	if (all <= 0)
		return true;
	table_row(g->t, m->path, all, percent(all, g->total), (uint64_t)m->generation);
	if (g->n < REPORT_MODULES && m->samples > 0 && m->text_bytes)
		g->m[g->n++] = *m;
	return true;
}

/* Samples that are in no module, in a row of their own each. */
static const struct {
	enum counter counter;
	const char *name;
} elsewhere[] = {
	{ COUNTER_KERNEL, "[kernel]" }, { COUNTER_VDSO, "[vdso]" },
	{ COUNTER_ANON, "[code made at run time]" }, { COUNTER_UNKNOWN, "[other files]" },
	{ COUNTER_NOPROCESS, "[unknown processes]" },
};
enum { NELSEWHERE = sizeof(elsewhere) / sizeof(elsewhere[0]) };

static int report_all(struct work *w, uint32_t limit, struct client *cl, struct err *err)
{
	static const struct table_column col[] = {
		{ "module", TABLE_TEXT }, { "samples", TABLE_REAL }, { "share_pct", TABLE_REAL },
		{ "generation", TABLE_UINT },
	};
	struct gather g = { .m = calloc(REPORT_MODULES, sizeof(*g.m)) };
	uint64_t count[NCOUNTER];
	int rc = -1;

	struct table *modules = NEW_TABLE("modules", col);
	struct table *procedures = NEW_TABLE("procedures", procedure_column);
	if (!g.m) {
		err_set(err, ERR_SYS, "out of memory");
		goto out;
	}
	if (store_counters(w->store, count, err) < 0 ||
	    store_module_each(w->store, gather_module, &g, err) < 0)
		goto out;
	for (int i = 0; i < NELSEWHERE; i++)
		g.total += (double)count[elsewhere[i].counter];
	g.t = modules;
	if (store_module_each(w->store, gather_module, &g, err) < 0)
		goto out;
	for (int i = 0; i < NELSEWHERE; i++)
		table_row(modules, elsewhere[i].name, (double)count[elsewhere[i].counter],
			  percent((double)count[elsewhere[i].counter], g.total), (uint64_t)0);
	rc = 0;
	for (uint32_t i = 0; i < g.n && rc == 0; i++)
		rc = add_procedures(w, &g.m[i], limit, g.total, procedures, err);
	if (rc == 0) {
		control_table(cl, modules);
		control_table(cl, procedures);
	}
out:
	table_free(modules);
	table_free(procedures);
	free(g.m);
	return rc;
}

int show_report(struct work *w, const char *module, uint32_t limit, struct client *cl,
		struct err *err)
{
	struct store_module m = { 0 };

	if (!module)
		return report_all(w, limit, cl, err);
	if (work_find(w, module, &m, err) < 0)
		return -1;
	struct table *t = NEW_TABLE("procedures", procedure_column);
	int rc = add_procedures(w, &m, limit, m.samples + m.outside, t, err);
	if (rc == 0)
		control_table(cl, t);
	table_free(t);
	return rc;
}

/* --- annotate --- */

/* Index of the function: fn_HEX, 0xHEX or a name; UINT32_MAX if there is none. */
static uint32_t find_function(struct work *w, const struct loaded *l, const char *name)
{
	char line[NAME_MAX_BYTES + 32];
	struct wr text = { 0 };
	struct err err;
	vaddr addr = 0;
	bool found = true;

	if (strncmp(name, "fn_", 3) == 0 || strncmp(name, "0x", 2) == 0) {
		addr = strtoull(name + (name[0] == 'f' ? 3 : 2), NULL, 16);
	} else {
		const char *at;

		found = false;
		struct bytes rest = symbols(w, &l->m, &text, &err) < 0 ? (struct bytes){ 0 } :
				    wr_bytes(&text);
		while (!found && next_line(&rest, line, sizeof(line)))
			found = parse_symbol(line, &addr, &at) && strcmp(at, name) == 0;
		wr_free(&text);
	}
	for (uint32_t i = 0; found && i < l->t.nfn; i++)
		if (l->t.fn[i].entry == addr)
			return i;
	return UINT32_MAX;
}

static double block_samples(const struct loaded *l, uint32_t block)
{
	uint32_t lo = 0, hi = l->profile.ncount;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (l->profile.count[mid].block < block)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == l->profile.ncount || l->profile.count[lo].block != block)
		return 0;
	return (double)l->profile.count[lo].samples / sample_unit;
}

/* Instructions of [addr, addr + size), with the samples of the block that each begins. */
static void add_text(struct work *w, const struct loaded *l, int file, vaddr addr,
		     uint64_t size, struct table *t)
{
	struct ask_job job = { .kind = JOB_DISASSEMBLE, .nin = 1, .in = { file }, .a = addr,
			       .b = size };
	char line[NAME_MAX_BYTES];
	struct wr text = { 0 };
	struct err err;
	char *end;

	if (text_job(w, &job, &text, &err) < 0) {
		table_row(t, (uint64_t)addr, 0.0, err.text);
		goto out;
	}
	struct bytes rest = wr_bytes(&text);
	while (next_line(&rest, line, sizeof(line))) {
		vaddr at = strtoull(line, &end, 16);
		uint32_t block = blocktable_find(&l->t, at);

		if (end == line || *end != '\t')
			continue;
		bool begins = block != UINT32_MAX && l->t.base + l->t.block[block].off == at;
		table_row(t, (uint64_t)at, begins ? block_samples(l, block) : 0.0, end + 1);
	}
out:
	wr_free(&text);
}

static int annotate(struct work *w, const struct loaded *l, uint32_t fn, struct client *cl,
		    struct err *err)
{
	static const struct table_column block_column[] = {
		{ "block", TABLE_HEX }, { "size_bytes", TABLE_UINT },
		{ "instructions", TABLE_UINT }, { "samples", TABLE_REAL },
		{ "per_instruction", TABLE_REAL },
	}, text_column[] = {
		{ "address", TABLE_HEX }, { "samples", TABLE_REAL }, { "instruction", TABLE_TEXT },
	};
	int file = work_open_pristine(w, &l->m, err), pieces = 0;
	vaddr start = 0, end = 0;

	if (file < 0)
		return -1;
	struct table *blocks = NEW_TABLE("blocks", block_column);
	struct table *text = NEW_TABLE("instructions", text_column);
	for (uint32_t i = 0; i < l->t.nblock; i++) {
		const struct blocktable_block *b = &l->t.block[i];
		vaddr at = l->t.base + b->off;
		double samples = block_samples(l, i);

		if (b->fn != fn)
			continue;
		table_row(blocks, (uint64_t)at, (uint64_t)b->size, (uint64_t)b->ninsn, samples,
			  samples / b->ninsn);
		if (at != end && end && pieces++ < ANNOTATE_PIECES)
			add_text(w, l, file, start, end - start, text);
		if (at != end)
			start = at;
		end = at + b->size;
	}
	if (end)
		add_text(w, l, file, start, end - start, text);
	close(file);
	control_table(cl, blocks);
	control_table(cl, text);
	table_free(blocks);
	table_free(text);
	return 0;
}

int show_annotate(struct work *w, const char *module, const char *function, struct client *cl,
		  struct err *err)
{
	struct store_module m = { 0 };
	int rc;

	if (work_find(w, module, &m, err) < 0)
		return -1;
	struct loaded *l = load(w, &m, err);
	if (!l)
		return -1;
	uint32_t fn = find_function(w, l, function);
	if (fn == UINT32_MAX)
		rc = err_set(err, ERR_USAGE, "'%s' has no function '%s'", m.path, function);
	else
		rc = annotate(w, l, fn, cl, err);
	unload(l);
	return rc;
}

/* --- explain --- */

/* "REASON  FUNCTIONS  BYTES", as morph-edit prints it. */
static void add_reason(char *line, struct table *t)
{
	char *bytes = strrchr(line, ' ');

	if (!bytes)
		return;
	*bytes++ = '\0';
	for (char *c = bytes - 2; c >= line && *c == ' '; c--)
		*c = '\0';
	char *functions = strrchr(line, ' ');
	if (!functions)
		return;
	*functions++ = '\0';
	for (char *c = functions - 2; c >= line && *c == ' '; c--)
		*c = '\0';
	table_row(t, line, strtoull(functions, NULL, 10), strtoull(bytes, NULL, 10));
}

int show_explain(struct work *w, const char *module, struct client *cl, struct err *err)
{
	static const struct table_column col[] = {
		{ "reason", TABLE_TEXT }, { "functions", TABLE_UINT }, { "bytes", TABLE_BYTES },
	};
	char line[NAME_MAX_BYTES];
	struct store_module m = { 0 };
	struct wr text = { 0 };
	int seen = -1;

	if (work_find(w, module, &m, err) < 0)
		return -1;
	struct table *t = NEW_TABLE("reasons", col);
	if (m.refusal[0]) {
		table_row(t, m.refusal, (uint64_t)m.functions, m.text_bytes);
		goto done;
	}
	int file = work_open_pristine(w, &m, err);
	struct ask_job job = { .kind = JOB_EXPLAIN, .nin = 1, .in = { file } };
	int rc = file < 0 ? -1 : text_job(w, &job, &text, err);
	if (file >= 0)
		close(file);
	if (rc < 0) {
		table_free(t);
		return -1;
	}
	struct bytes rest = wr_bytes(&text);
	while (next_line(&rest, line, sizeof(line))) {
		if (seen >= 0 && ++seen >= 2)	/* the first line behind it is the heading */
			add_reason(line, t);
		else if (strcmp(line, "reasons") == 0)
			seen = 0;
	}
done:
	control_table(cl, t);
	table_free(t);
	wr_free(&text);
	return 0;
}
