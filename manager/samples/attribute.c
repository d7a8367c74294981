/* attribute.c - finds for each sample of a spool file the block of the original that it is in
 *
 *   sample --spaces--> (file, offset) --sample set--> sorted places of one file
 *          --places of that file--> block of the original
 *
 * The walk over the spool touches neither tables nor the store; each module is looked at once,
 * for all its distinct places.  Other results come out of the same walk:
 *
 *   sample --runs--> CPU time of processes by kind, inside and outside of each mapped file
 *
 *   state --spaces--> state set of one file --stream--> confined interpreter --text--> edges
 *
 *   sample --spaces--> (hour, program, file) --program set--> samples by what ran
 *
 *   sample --spaces--> (process, address) --made set--> names of code made at run time
 *
 *   branch stack --spaces--> branch set of one file --stream--> the same --text--> edges
 */
#include "manager/samples/attribute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/branchcounts.h"
#include "lib/err.h"
#include "lib/memory.h"
#include "lib/search.h"
#include "lib/statesample.h"
#include "manager/samples/branchstack.h"
#include "manager/samples/programset.h"
#include "manager/samples/runs.h"
#include "manager/samples/sampleset.h"
#include "manager/samples/statefeed.h"
#include "manager/samples/stateset.h"
#include "manager/samples/userset.h"
#include "monitor/spool.h"

/* Of one user in one spool file; chosen, further crashes are only counted. */
enum { CRASHES_MAX = 16 };

enum { CRASHED_LIVE = 4, CRASHED_FILES = 256 };

struct crashed_file {
	uint32_t pid, signal, uid, file;
	bool program;			/* not where the fault was */
	/* then: forms of generations for running processes (STORE/live) that it had mapped */
	uint32_t nlive, live[CRASHED_LIVE];
};

struct attribute {
	struct spaces *spaces;
	struct sampleset set;
	struct stateset states;
	struct branchset branches;
	struct programset programs;
	struct runs *runs;
	bool incomplete;			/* records were lost */
	struct statefeed *feed;
	struct userset *users;
	uint64_t counter[NCOUNTER];
	struct topnames kernel;			/* samples in it, by procedure */
	struct madeset made;
	uint64_t bad_blocks, newest_ns, until_ns;
	uint64_t placed;			/* samples in files */
	/* by place in user[], those of all others at the end */
	uint32_t *ncrash;
	const uint32_t *user;
	uint32_t nuser;
	uint32_t ncrashed;			/* files that are to blame, perhaps */
	struct crashed_file *crashed;
};

struct attribute *attribute_new(struct spaces *spaces)
{
	struct attribute *a = memory_new(1, sizeof(*a));

	a->spaces = spaces;
	a->runs = runs_new(spaces);
	a->ncrash = memory_new(1, sizeof(*a->ncrash));
	a->until_ns = UINT64_MAX;
	return a;
}

void attribute_until(struct attribute *a, uint64_t wall_ns)
{
	a->until_ns = wall_ns;
}

void attribute_users(struct attribute *a, const uint32_t *uid, uint32_t n)
{
	a->user = uid;
	a->nuser = n;
	free(a->ncrash);
	a->ncrash = memory_new(n + (size_t)1, sizeof(*a->ncrash));
}

static void collector_clear(struct attribute *a)
{
	sampleset_clear(&a->set);
	stateset_clear(&a->states);
	branchset_clear(&a->branches);
	programset_clear(&a->programs);
	runs_clear(a->runs);
	a->incomplete = false;
	if (a->users)
		userset_clear(a->users);
	memset(a->counter, 0, sizeof(a->counter));
	topnames_free(&a->kernel);
	madeset_clear(&a->made);
	a->bad_blocks = 0;
	a->newest_ns = a->placed = 0;
	free(a->crashed);
	a->crashed = NULL;
	a->ncrashed = 0;
	memset(a->ncrash, 0, (a->nuser + (size_t)1) * sizeof(*a->ncrash));
}

void attribute_free(struct attribute *a)
{
	if (!a)
		return;
	collector_clear(a);
	runs_free(a->runs);
	free(a->ncrash);
	free(a);
}

static uint32_t program_of(struct attribute *a, uint32_t pid)
{
	const struct space_run *run = spaces_run(a->spaces, pid);

	return run && run->exe ? run->exe - 1 : PROGRAMSET_UNKNOWN;
}

static void take_sample(struct attribute *a, const struct spool_event *ev, uint64_t wall_ns)
{
	static const enum counter counter_of[] = {
		[SPACE_VDSO] = COUNTER_VDSO,
		[SPACE_ANON] = COUNTER_ANON,
		[SPACE_NOPROCESS] = COUNTER_NOPROCESS,
		[SPACE_ELSEWHERE] = COUNTER_ELSEWHERE,
		[SPACE_NOWHERE] = COUNTER_NOWHERE,
	};
	const uint32_t hour = (uint32_t)(wall_ns / UINT64_C(3600000000000));
	uint32_t file, program = program_of(a, ev->pid);
	file_off off;

	if (ev->sample.kernel) {
		a->counter[COUNTER_KERNEL]++;
		programset_add(&a->programs, hour, program, -COUNTER_KERNEL);
		if (ev->sample.procedure)
			topnames_add(&a->kernel, ev->sample.procedure, 1);
		if (a->users)
			userset_sample(a->users, ev->pid, USERSET_NO_FILE, ev->time_ns);
		runs_sample(a->runs, ev->pid, RUNS_NO_FILE);
		return;
	}
	enum space_hit hit = spaces_find(a->spaces, ev->pid, ev->sample.pc, &file, &off);
	runs_sample(a->runs, ev->pid, hit == SPACE_FILE ? file : RUNS_NO_FILE);
	bool placed = hit == SPACE_FILE && sampleset_add(&a->set, file, off) == 0;
	if (a->users)
		userset_sample(a->users, ev->pid, placed ? file : USERSET_NO_FILE, ev->time_ns);
	a->placed += placed;
	enum counter none = hit == SPACE_FILE ? COUNTER_UNKNOWN : counter_of[hit];
	programset_add(&a->programs, hour, program, placed ? file + INT64_C(1) : -(int)none);
	if (!placed)
		a->counter[none]++;
	if (hit == SPACE_ANON && program != PROGRAMSET_UNKNOWN)
		madeset_add(&a->made, ev, program, spaces_file(a->spaces, program)->path,
			    wall_ns);
	if (ev->sample.has_state &&
	    (!placed ||
	     stateset_add(&a->states, file, off, ev->sample.pc, &ev->sample.state) < 0))
		a->counter[COUNTER_NOSTATES]++;
}

static uint32_t *crashes_of(struct attribute *a, uint32_t uid)
{
	uint32_t at = search_first(i, 0, a->nuser, a->user[i] < uid);

	return &a->ncrash[at < a->nuser && a->user[at] == uid ? at : a->nuser];
}

static struct crashed_file *add_crashed(struct attribute *a, const struct spool_event *ev,
					uint32_t file)
{
	a->crashed = memory_grow(a->crashed, a->ncrashed + (size_t)1, sizeof(*a->crashed));
	struct crashed_file *c = &a->crashed[a->ncrashed++];
	*c = (struct crashed_file){ .pid = ev->pid, .signal = ev->crash.signal,
				    .uid = ev->crash.uid, .file = file };
	return c;
}

/* A form is named by its digest. */
static bool is_live(const char *path)
{
	const char *at = strstr(path, "/live/");

	return at && strspn(at + 6, "0123456789abcdef") == 64;
}

/* The program of the process; one of the forms may be in the place of its text. */
static void add_program(struct attribute *a, const struct spool_event *ev, uint32_t exe)
{
	struct crashed_file *c = add_crashed(a, ev, exe);
	uint32_t file[CRASHED_FILES];
	uint32_t n = spaces_files_of(a->spaces, ev->pid, file, CRASHED_FILES);

	c->program = true;
	for (uint32_t i = 0; i < n && c->nlive < CRASHED_LIVE; i++)
		if (is_live(spaces_file(a->spaces, file[i])->path))
			c->live[c->nlive++] = file[i];
}

/* Where the fault was, and the program, which may have passed on what came to grief elsewhere;
 * what else was mapped says nothing.  A fork bomb that crashes is not told in full, and takes
 * nobody else's place. */
static void take_crash(struct attribute *a, const struct spool_event *ev)
{
	const struct space_run *run = spaces_run(a->spaces, ev->pid);
	uint32_t file = UINT32_MAX, *n = crashes_of(a, ev->crash.uid);
	file_off off;

	a->counter[COUNTER_CRASHES]++;
	if (*n == CRASHES_MAX) {
		a->counter[COUNTER_CRASHES_OVER]++;
		return;
	}
	++*n;
	if (spaces_find(a->spaces, ev->pid, ev->crash.pc, &file, &off) == SPACE_FILE)
		(void)add_crashed(a, ev, file);
	if (run && run->exe && run->exe - 1 != file)
		add_program(a, ev, run->exe - 1);
}

void attribute_states(struct attribute *a, struct statefeed *feed)
{
	a->feed = feed;
}

void attribute_whose(struct attribute *a, struct userset *users)
{
	a->users = users;
}

static uint64_t lost_records(const struct attribute *a)
{
	return a->counter[COUNTER_LOST] + a->counter[COUNTER_THROTTLED] +
	       a->counter[COUNTER_DROPPED] + a->counter[COUNTER_DAMAGED];
}

/* The beginning of a spool file, by both clocks, and the time after which nothing can be. */
struct clock {
	uint64_t start_ns, wall_ns, until_ns;
};

static uint64_t wall_ns(const struct clock *c, uint64_t time_ns)
{
	uint64_t since_ns = time_ns > c->start_ns ? time_ns - c->start_ns : 0;

	return c->wall_ns < c->until_ns && since_ns < c->until_ns - c->wall_ns
		       ? c->wall_ns + since_ns
		       : c->until_ns;
}

void attribute_spool(struct attribute *a, struct spool_reader *r)
{
	uint64_t period_ns = spool_reader_period_ns(r), lost = lost_records(a);
	const struct clock clock = { spool_reader_start_ns(r), spool_reader_start_wall_ns(r),
				     a->until_ns };
	struct spool_event ev;

	if (a->feed)
		statefeed_boot(a->feed, spool_reader_boot_id(r));
	while (spool_read(r, &ev) == 1) {
		if (ev.time_ns > a->newest_ns)
			a->newest_ns = ev.time_ns;
		switch (ev.kind) {
		case SPOOL_SAMPLE:
			if (a->feed)
				statefeed_match(a->feed, &ev);
			take_sample(a, &ev, wall_ns(&clock, ev.time_ns));
			break;
		case SPOOL_LOST:
			a->counter[COUNTER_LOST] += ev.lost;
			break;
		case SPOOL_THROTTLE:
			a->counter[COUNTER_THROTTLED] += ev.lost;
			break;
		case SPOOL_CRASH:
			take_crash(a, &ev);
			break;
		case SPOOL_BRANCHES:
			branchstack_take(&a->branches, a->spaces, &ev, a->counter);
			break;
		case SPOOL_GAP:
			a->counter[COUNTER_DROPPED] += ev.lost;
			break;
		default:
			runs_event(a->runs, &ev, period_ns);
			if (a->users)
				userset_event(a->users, &ev);
			madeset_event(&a->made, &ev);
			spaces_event(a->spaces, &ev);
			break;
		}
	}
	runs_flush(a->runs, period_ns);
	if (a->users)
		userset_flush(a->users);
	a->bad_blocks += spool_reader_bad_blocks(r);
	a->counter[COUNTER_DAMAGED] += spool_reader_bad_blocks(r);
	a->incomplete = a->incomplete || lost_records(a) != lost;
}

/* --- places to blocks --- */

/* It is kept which instructions had the samples of a block that has so many of those of one
 * spool file, and such a share of them: few blocks, so that it costs little; chosen. */
enum { PLACED_LEAST = 4, PLACED_SHARE = 4096 };

static void add_places(const struct attribute *a, struct attribute_module *m,
		       const struct blockindex *index, const struct sampleset_item *item,
		       uint32_t n, const struct blockcount *count, uint32_t ncount)
{
	uint64_t least = PLACED_LEAST + a->placed / PLACED_SHARE;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t block = blockindex_block(index, item[i].off);
		uint32_t k = search_first(at, 0, ncount, count[at].block < block);
		struct attribute_place p = { 0, block, item[i].samples };

		if (k < ncount && count[k].block == block && count[k].samples >= least &&
		    blockindex_place(index, item[i].off, &p.addr) == 0)
			attribution_place(m, &p);
	}
}

/* The places of one file, item[0 .. n), of a known module. */
static void add_file(struct attribution *r, const struct attribute *a,
		     const struct attribute_target *target, const struct sampleset_item *item,
		     uint32_t n)
{
	struct attribute_module *m = attribution_module(r, target->module);
	struct blockcount *count = memory_grow(NULL, n, sizeof(*count));
	uint32_t ncount = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t block = target->index ? blockindex_block(target->index, item[i].off)
						: UINT32_MAX;

		if (block == UINT32_MAX) {
			m->outside += item[i].samples;
			r->counter[COUNTER_OUTSIDE] += item[i].samples;
		} else {
			m->samples += item[i].samples;
			r->counter[COUNTER_KNOWN] += item[i].samples;
			count[ncount++] = (struct blockcount){ block, item[i].samples };
		}
	}
	ncount = blockcounts_sort(count, ncount);
	if (target->index)
		add_places(a, m, target->index, item, n, count, ncount);
	blockcounts_add(&m->count, &m->ncount, count, ncount);
	free(count);
}

/* --- states to edges --- */

/* Returns how many states went into the stream. */
static uint32_t write_states(const struct stateset *set, const struct blockindex *index,
			     const struct stateset_item *item, uint32_t n, struct wr *out)
{
	uint32_t written = 0;

	statesample_write_header(out);
	for (uint32_t i = 0; i < n; i++) {
		struct statesample s = { .pc = item[i].pc };
		uint64_t addr;

		if (blockindex_addr(index, item[i].off, &addr) < 0)
			continue;
		const struct spool_state state = stateset_state(set, &item[i]);
		s.bias = s.pc - addr;		/* how far the loader moved it */
		s.rflags = state.rflags;
		memcpy(s.gpr, state.gpr, sizeof(s.gpr));
		s.stack = (struct bytes){ state.stack, state.stack_bytes };
		s.memory = (struct bytes){ state.memory, state.memory_bytes };
		statesample_write(&s, out);
		written++;
	}
	return written;
}

/* The states of one file of a known module. */
static void add_states(struct attribution *r, const struct attribute *a, uint32_t file,
		       const struct attribute_resolver *resolver,
		       const struct attribute_target *target)
{
	struct wr stream = { .secret = true };
	struct edgecounts edges = { 0 };
	uint32_t n, written;
	struct err err;

	const struct stateset_item *item = stateset_of(&a->states, file, &n);
	r->counter[COUNTER_NOSTATES] += n;
	if (!n || !target->index || !resolver->interpret ||
	    (resolver->lacks && !resolver->lacks(resolver->ctx, target)))
		return;
	struct attribute_module *m = attribution_module(r, target->module);
	m->states += n;		/* also when it fails: it would again */
	written = write_states(&a->states, target->index, item, n, &stream);
	if (written &&
	    resolver->interpret(resolver->ctx, target, wr_bytes(&stream), &edges, &err) == 0) {
		r->counter[COUNTER_NOSTATES] -= written;
		r->counter[COUNTER_STATES] += written;
		r->counter[COUNTER_EDGES] += edgecounts_sum(&edges);
		edgecounts_add(&m->edges, &edges, 1);
		edgecounts_free(&edges);
	}
	wr_free(&stream);
}

/* --- branch stacks to edges --- */

static uint32_t write_branches(const struct blockindex *index,
			       const struct branchset_item *item, uint32_t n,
			       struct wr *out)
{
	uint32_t written = 0;

	branchcounts_write_header(out);
	for (uint32_t i = 0; i < n; i++) {
		struct branchcount b = { .count = item[i].count, .run = item[i].run };

		if (blockindex_addr(index, item[i].from, &b.from) < 0 ||
		    blockindex_addr(index, item[i].to, &b.to) < 0)
			continue;
		branchcounts_write(&b, out);
		written++;
	}
	return written;
}

static void leave_out(struct attribution *r, const struct branchset_item *item, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		r->counter[COUNTER_BRANCHES_UNKNOWN] += item[i].run ? 0 : item[i].count;
}

/* The branch stacks of one file of a known module. */
static void add_branches(struct attribution *r, const struct attribute *a, uint32_t file,
			 const struct attribute_resolver *resolver,
			 const struct attribute_target *target)
{
	struct edgecounts edges = { 0 };
	struct wr stream = { 0 };
	struct err err;
	uint32_t n;

	const struct branchset_item *item = branchset_of(&a->branches, file, &n);
	if (!n || !target->index || !resolver->interpret) {
		leave_out(r, item, n);
		return;
	}
	struct attribute_module *m = attribution_module(r, target->module);
	if (write_branches(target->index, item, n, &stream) &&
	    resolver->interpret(resolver->ctx, target, wr_bytes(&stream), &edges, &err) == 0) {
		r->counter[COUNTER_BRANCHES_IMPOSSIBLE] += edges.left_out;
		r->counter[COUNTER_BRANCH_EDGES] += edgecounts_sum(&edges);
		edgecounts_add(&m->edges, &edges, 1);
		edgecounts_free(&edges);
	}
	wr_free(&stream);
}

/* --- time of processes --- */

static uint32_t hash_text(uint32_t h, const char *text)
{
	do
		h = (h ^ (uint8_t)*text) * 16777619u;
	while (*text++);
	return h;
}

/* By paths: a kind stays what it is when its program is replaced. */
uint32_t attribute_kind(const struct spaces *s, uint32_t exe, uint32_t from)
{
	uint32_t h = hash_text(2166136261u, spaces_file(s, exe)->path);

	if (from != RUNS_NO_FILE)
		h = hash_text(h, spaces_file(s, from)->path);
	return h ? h : 1;
}

/* Of one file of a known module. */
static void add_uses(struct attribution *r, const struct attribute *a, uint32_t file,
		     const struct attribute_target *target)
{
	uint32_t n;
	const struct runs_use *u = runs_of(a->runs, file, &n);

	for (uint32_t i = 0; i < n && !a->incomplete; i++)
		attribution_use(r, &(struct attribute_use){
				   .module = target->module, .generation = target->generation,
				   .live = target->live,
				   .kind = attribute_kind(a->spaces, u[i].exe, u[i].from),
				   .sums = { .module_s = (double)u[i].module_ns / 1e9,
					     .rest_s = (double)u[i].rest_ns / 1e9,
					     .run_s = (double)u[i].run_ns / 1e9,
					     .runs = u[i].runs, .samples = u[i].samples,
					     .rest_samples = u[i].rest_samples } });
}

/* Of one file of a known module. */
static void add_users(struct attribution *r, const struct attribute *a, uint32_t file,
		      const struct attribute_target *target)
{
	uint32_t n = 0;
	const struct userset_use *u = a->users ? userset_of(a->users, file, &n) : NULL;

	for (uint32_t i = 0; i < n; i++)
		attribution_whose(r, &(struct attribute_whose){ target->module, u[i].uid,
							u[i].samples });
}

/* Module and generation of the file: 1, 0, -1. */
static int resolve_crashed(const struct attribute *a, uint32_t f,
			   const struct attribute_resolver *resolver,
			   struct attribute_crash *out, struct err *err)
{
	const struct space_file *file = spaces_file(a->spaces, f);
	struct attribute_target target = { 0 };
	int known = resolver->resolve(resolver->ctx, file, &target, err);

	if (known < 0)
		return err_wrap(err, "'%s'", file->path);
	out->module = target.module;
	out->generation = target.generation;
	if (known && resolver->release)
		resolver->release(resolver->ctx, &target);
	return known;
}

/* What ran of the program is the form that was in its place. */
static int find_live(const struct attribute *a, const struct crashed_file *c,
		     const struct attribute_resolver *resolver, struct attribute_crash *out,
		     struct err *err)
{
	for (uint32_t i = 0; i < c->nlive; i++) {
		struct attribute_crash form = { 0 };
		int known = resolve_crashed(a, c->live[i], resolver, &form, err);

		if (known < 0)
			return -1;
		if (known && form.module == out->module)
			out->generation = form.generation;
	}
	return 0;
}

static int resolve_crashes(const struct attribute *a, const struct attribute_resolver *resolver,
			   struct attribution *r, struct err *err)
{
	struct attribute_crash last = { 0 };

	for (uint32_t i = 0; i < a->ncrashed; i++) {
		const struct crashed_file *c = &a->crashed[i];
		struct attribute_crash crash = { 0, 0, c->pid, c->signal, c->uid };
		int known = resolve_crashed(a, c->file, resolver, &crash, err);

		if (known < 0 || (known && c->program &&
				  find_live(a, c, resolver, &crash, err) < 0))
			return -1;
		/* the fault was in the program's own form */
		bool again = c->program && i && !a->crashed[i - 1].program &&
			     last.pid == c->pid && last.module == crash.module &&
			     last.generation == crash.generation;
		if (known && !again)
			attribution_crash(r, &crash);
		last = known ? crash : (struct attribute_crash){ 0 };
	}
	return 0;
}

/* --- which programs ran --- */

/* What is there, in the module or (-counter) in none. */
static void add_ran(struct attribution *r, const struct attribute *a, int64_t where,
		    int64_t module)
{
	uint32_t n;
	const struct programset_item *item = programset_of(&a->programs, where, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t p = item[i].program;
		const struct attribute_ran ran = { item[i].hour, NULL, module,
						   item[i].samples };

		attribution_ran(r, p == PROGRAMSET_UNKNOWN
					   ? "" : spaces_file(a->spaces, p)->path, &ran);
	}
}

/* What was gathered of one file: item[0 .. n) of the sample set, perhaps none. */
static int resolve_file(const struct attribute *a, uint32_t f, uint32_t first, uint32_t n,
			const struct attribute_resolver *resolver, struct attribution *r,
			struct err *err)
{
	const struct space_file *file = spaces_file(a->spaces, f);
	const struct sampleset_item *item = a->set.item + first;
	struct attribute_target target = { 0 };
	int known = resolver->resolve(resolver->ctx, file, &target, err);
	uint32_t nstate, nbranch;

	if (known < 0)
		return err_wrap(err, "'%s'", file->path);
	if (known) {
		if (n)
			add_file(r, a, &target, item, n);
		add_uses(r, a, f, &target);
		add_users(r, a, f, &target);
		add_ran(r, a, f + INT64_C(1), (int64_t)target.module);
		add_states(r, a, f, resolver, &target);
		add_branches(r, a, f, resolver, &target);
		if (resolver->release)
			resolver->release(resolver->ctx, &target);
	} else {
		for (uint32_t k = 0; k < n; k++)
			r->counter[COUNTER_UNKNOWN] += item[k].samples;
		add_ran(r, a, f + INT64_C(1), -COUNTER_UNKNOWN);
		const struct branchset_item *branch = branchset_of(&a->branches, f, &nbranch);
		leave_out(r, branch, nbranch);
		(void)stateset_of(&a->states, f, &nstate);
		r->counter[COUNTER_NOSTATES] += nstate;
	}
	return 0;
}

/* Files with samples or branches, in ascending order. */
static int resolve_files(const struct attribute *a, const struct attribute_resolver *resolver,
			 struct attribution *r, struct err *err)
{
	const struct sampleset *set = &a->set;
	const struct branchset *branches = &a->branches;

	for (uint32_t i = 0, b = 0, end; i < set->n || b < branches->n; i = end) {
		uint32_t f = i < set->n ? set->item[i].file : UINT32_MAX;

		if (b < branches->n && branches->item[b].file < f)
			f = branches->item[b].file;
		end = search_first(k, i, set->n, set->item[k].file <= f);
		b = search_first(k, b, branches->n, branches->item[k].file <= f);
		if (resolve_file(a, f, i, end - i, resolver, r, err) < 0)
			return -1;
	}
	return 0;
}

int attribute_resolve(struct attribute *a, const struct attribute_resolver *resolver,
		      struct attribution *out, struct err *err)
{
	struct attribution r = { .bad_blocks = a->bad_blocks, .newest_ns = a->newest_ns };

	memcpy(r.counter, a->counter, sizeof(r.counter));
	topnames_add_all(&r.kernel, &a->kernel);
	if (a->users)
		userset_sum(a->users, &r.user);
	sampleset_sort(&a->set);
	stateset_sort(&a->states);
	branchset_sort(&a->branches);
	runs_sort(a->runs);
	programset_sort(&a->programs);
	for (int c = 1; c < NCOUNTER; c++)
		add_ran(&r, a, -c, -c);
	int rc = resolve_files(a, resolver, &r, err);
	if (rc == 0)
		rc = resolve_crashes(a, resolver, &r, err);
	if (rc == 0)
		madeset_resolve(&a->made, a->spaces, resolver, a->counter[COUNTER_ANON], &r);
	if (rc == 0)
		attribution_add(out, &r);
	attribution_free(&r);
	collector_clear(a);
	return rc;
}
