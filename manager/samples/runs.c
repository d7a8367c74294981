/* runs.c - adds up the CPU time of processes, by kind and by mapped file; see runs.h
 *
 * Two open hash tables, at most half full.  The first counts samples by process and file as
 * they come; when a process ends, or the spool file does, they go over into the second, by kind
 * and file.  The time of a process that has not ended is kept with it in the spaces, so that a
 * run may take days.
 *
 * INVARIANT  When a process has ended, its counts in the first table are 0, because its number
 *            may be used again; only counts of files that it no longer had mapped may be left.
 *            So no file is ever given more than all the time of a process.
 */
#include "manager/samples/runs.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/memory.h"
#include "manager/samples/space.h"
#include "monitor/spool.h"

enum { FREE = 0, TOTAL = 1, FILE_FIRST = 2, FILES_MAX = 256 };	/* FILES_MAX: chosen */

struct count {
	uint32_t pid, file;		/* FREE, TOTAL, or a file + FILE_FIRST */
	uint32_t n;
};

struct runs {
	struct spaces *spaces;
	struct count *count;
	uint32_t ncount, count_cap;
	struct runs_use *use;		/* samples and runs are 0: free */
	uint32_t nuse, use_cap;
};

struct runs *runs_new(struct spaces *spaces)
{
	struct runs *r = memory_new(1, sizeof(*r));

	r->spaces = spaces;
	return r;
}

void runs_clear(struct runs *r)
{
	free(r->count);
	free(r->use);
	*r = (struct runs){ .spaces = r->spaces };
}

void runs_free(struct runs *r)
{
	if (!r)
		return;
	runs_clear(r);
	free(r);
}

/* --- samples of processes --- */

static struct count *count_slot(const struct runs *r, uint32_t pid, uint32_t file)
{
	uint64_t h = ((uint64_t)pid << 32 | file) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t mask = r->count_cap - 1, i = (uint32_t)(h >> 32) & mask;

	while (r->count[i].file != FREE && (r->count[i].pid != pid || r->count[i].file != file))
		i = (i + 1) & mask;
	return &r->count[i];
}

static void grow_counts(struct runs *r)
{
	struct count *old = r->count;
	uint32_t n = r->count_cap;

	r->count_cap = n ? 2 * n : 1024;
	r->count = memory_new(r->count_cap, sizeof(*r->count));
	r->ncount = 0;
	for (uint32_t i = 0; i < n; i++)
		if (old[i].n) {		/* what was taken need not move */
			*count_slot(r, old[i].pid, old[i].file) = old[i];
			r->ncount++;
		}
	free(old);
}

static void count_one(struct runs *r, uint32_t pid, uint32_t file)
{
	if (2 * (r->ncount + 1) > r->count_cap)
		grow_counts(r);
	struct count *c = count_slot(r, pid, file);
	if (c->file == FREE) {
		*c = (struct count){ .pid = pid, .file = file };
		r->ncount++;
	}
	c->n++;
}

void runs_sample(struct runs *r, uint32_t pid, uint32_t file)
{
	count_one(r, pid, TOTAL);
	if (file != RUNS_NO_FILE)
		count_one(r, pid, file + FILE_FIRST);
}

static uint32_t take(struct runs *r, uint32_t pid, uint32_t file)
{
	struct count *c = r->count_cap ? count_slot(r, pid, file) : NULL;
	uint32_t n = c ? c->n : 0;

	if (n)
		c->n = 0;
	return n;
}

/* --- uses of files --- */

static struct runs_use *use_slot(const struct runs *r, const struct runs_use *key)
{
	uint64_t h = ((uint64_t)key->file << 32 | key->exe) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t mask = r->use_cap - 1;

	h = (h ^ key->from) * UINT64_C(0xff51afd7ed558ccd);
	for (uint32_t i = (uint32_t)(h >> 32) & mask; ; i = (i + 1) & mask) {
		struct runs_use *u = &r->use[i];

		if ((!u->samples && !u->runs) ||
		    (u->file == key->file && u->exe == key->exe && u->from == key->from))
			return u;
	}
}

static void grow_uses(struct runs *r)
{
	struct runs_use *old = r->use;
	uint32_t n = r->use_cap;

	r->use_cap = n ? 2 * n : 256;
	r->use = memory_new(r->use_cap, sizeof(*r->use));
	for (uint32_t i = 0; i < n; i++)
		if (old[i].samples || old[i].runs)
			*use_slot(r, &old[i]) = old[i];
	free(old);
}

/* `more` has samples or runs. */
static void add_use(struct runs *r, const struct runs_use *more)
{
	if (2 * (r->nuse + 1) > r->use_cap)
		grow_uses(r);
	struct runs_use *u = use_slot(r, more);
	if (!u->samples && !u->runs) {
		if (r->nuse == RUNS_USES_MAX)
			return;
		r->nuse++;
		*u = *more;
		return;
	}
	u->module_ns += more->module_ns;
	u->rest_ns += more->rest_ns;
	u->run_ns += more->run_ns;
	u->runs += more->runs;
	u->samples += more->samples;
	u->rest_samples += more->rest_samples;
}

/* What the process has had since the last time, to all files that it has mapped. */
static void enter_process(struct runs *r, uint32_t pid, bool ends, uint64_t period_ns)
{
	uint32_t file[FILES_MAX], n, total = take(r, pid, TOTAL);
	struct space_run *run = spaces_run(r->spaces, pid);

	n = run ? spaces_files_of(r->spaces, pid, file, FILES_MAX) : 0;
	if (run)
		run->time_ns += total * period_ns;
	bool whole = run && ends && run->whole;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t in = take(r, pid, file[i] + FILE_FIRST);

		in = in < total ? in : total;
		if (!run->exe || (!total && !whole))
			continue;
		add_use(r, &(struct runs_use){
			.file = file[i], .exe = run->exe - 1,
			.from = run->from ? run->from - 1 : RUNS_NO_FILE,
			.module_ns = in * period_ns, .rest_ns = (total - in) * period_ns,
			.run_ns = whole ? run->time_ns : 0, .runs = whole,
			.samples = total, .rest_samples = total - in });
	}
}

void runs_event(struct runs *r, const struct spool_event *ev, uint64_t period_ns)
{
	if (ev->kind == SPOOL_EXEC || (ev->kind == SPOOL_EXIT && ev->pid == ev->tid))
		enter_process(r, ev->pid, true, period_ns);
}

void runs_flush(struct runs *r, uint64_t period_ns)
{
	for (uint32_t i = 0; i < r->count_cap; i++)
		if (r->count[i].file == TOTAL && r->count[i].n)
			enter_process(r, r->count[i].pid, false, period_ns);
}

static int by_file(const void *a, const void *b)
{
	const struct runs_use *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->exe != y->exe)
		return x->exe < y->exe ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

void runs_sort(struct runs *r)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < r->use_cap; i++)
		if (r->use[i].samples || r->use[i].runs)
			r->use[k++] = r->use[i];
	r->nuse = k;
	if (k)
		qsort(r->use, k, sizeof(*r->use), by_file);
}

const struct runs_use *runs_of(const struct runs *r, uint32_t file, uint32_t *n)
{
	uint32_t lo = 0, hi = r->nuse, end;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (r->use[mid].file < file)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (end = lo; end < r->nuse && r->use[end].file == file; end++)
		;
	*n = end - lo;
	return r->use + lo;
}
