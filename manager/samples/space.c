/* space.c - follows processes and their mappings, and gives mapped files short numbers
 *
 *   pid  --hash-->  struct mappings (shared after fork)  --file index-->  struct space_file
 *
 * Files are interned by (device, inode, inode generation, path), so that a sample is two small
 * numbers: file and offset.
 *
 * INVARIANTS
 *   I1  both hash tables are open with linear probing, at most half full, sizes powers of two;
 *   I2  nmapping is the sum of mappings_count() over all processes, shared sets counted for
 *       each;
 *   I3  the program of a process is the first file that is mapped after its exec, because the
 *       kernel maps it first;
 *   I4  the kernel does not tell of munmap: a stale range stays until a later mapping cuts it,
 *       exec or exit clears it.  No sample can fall into it meanwhile;
 *   I5  a mapping that cannot be entered takes those of its process with it: what it would have
 *       cut must not be found any more;
 *   I6  a process is `dirty` when its file, the one it was started from, or its mappings differ
 *       from its row, if it has one.
 */
#include "manager/samples/space.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/hash.h"
#include "lib/memory.h"
#include "manager/samples/space_impl.h"
#include "monitor/spool.h"

void space_start_empty(struct spaces *s)
{
	s->process_cap = 1024;
	s->process = memory_new(s->process_cap, sizeof(*s->process));
	s->file_cap = 256;
	s->file = memory_new(s->file_cap, sizeof(*s->file));
	s->file_hash = memory_new(2 * (size_t)s->file_cap, sizeof(*s->file_hash));
	s->nprocess = s->nfile = s->nfile_compact = s->ngone = 0;
	s->nmapping = s->path_bytes = 0;
	s->all_alive = false;
	s->anew = true;
}

void space_clear(struct spaces *s)
{
	for (uint32_t i = 0; i < s->process_cap; i++)
		if (s->process[i].used)
			mappings_drop(s->process[i].map);
	for (uint32_t i = 0; i < s->nfile; i++)
		free((void *)(uintptr_t)s->file[i].path);
	free(s->process);
	free(s->file);
	free(s->file_hash);
}

struct spaces *spaces_new(const struct spaces_limits *limits)
{
	struct spaces *s = memory_new(1, sizeof(*s));

	if (limits)
		s->limit = *limits;
	if (!s->limit.processes)
		s->limit.processes = 16384;
	if (!s->limit.mappings)
		s->limit.mappings = 1048576;
	if (!s->limit.files)
		s->limit.files = 65536;
	if (!s->limit.path_bytes)
		s->limit.path_bytes = 16 << 20;
	if (!s->limit.process_mappings)
		s->limit.process_mappings = 4096;
	if (!s->limit.user_mappings)
		s->limit.user_mappings = 32768;
	if (!s->limit.user_processes)
		s->limit.user_processes = 8192;
	space_start_empty(s);
	return s;
}

void spaces_free(struct spaces *s)
{
	if (!s)
		return;
	space_clear(s);
	free(s->gone);
	free(s);
}

/* --- processes --- */

static uint32_t home_of(const struct spaces *s, uint32_t pid)
{
	return (uint32_t)((pid * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (s->process_cap - 1);
}

/* The process's slot, or the free one where it would go. */
struct process *space_slot(const struct spaces *s, uint32_t pid)
{
	uint32_t i = home_of(s, pid);

	while (s->process[i].used && s->process[i].pid != pid)
		i = (i + 1) & (s->process_cap - 1);
	return &s->process[i];
}

static void grow_processes(struct spaces *s)
{
	struct process *old = s->process;
	uint32_t n = s->process_cap;

	s->process_cap *= 2;
	s->process = memory_new(s->process_cap, sizeof(*s->process));
	for (uint32_t i = 0; i < n; i++)
		if (old[i].used)
			*space_slot(s, old[i].pid) = old[i];
	free(old);
}

static void process_clear(struct spaces *s, struct process *p)
{
	s->nmapping -= mappings_count(p->map);
	mappings_drop(p->map);
	p->map = NULL;
	p->dirty = true;
}

/* Its row is to go when the rest is saved. */
static void forget_row(struct spaces *s, uint32_t pid)
{
	if (s->ngone == s->gone_cap) {
		s->gone_cap = s->gone_cap ? 2 * s->gone_cap : 64;
		s->gone = memory_grow(s->gone, s->gone_cap, sizeof(*s->gone));
	}
	s->gone[s->ngone++] = pid;
}

static void process_leave(struct spaces *s, uint32_t pid)
{
	struct process *p = space_slot(s, pid);
	uint32_t mask = s->process_cap - 1;

	if (!p->used)
		return;
	process_clear(s, p);
	if (p->saved)
		forget_row(s, pid);
	s->nprocess--;

	/* Move back those that would no longer be found because of the hole. */
	uint32_t hole = (uint32_t)(p - s->process);
	for (uint32_t i = (hole + 1) & mask; s->process[i].used; i = (i + 1) & mask) {
		if (((i - home_of(s, s->process[i].pid)) & mask) >= ((i - hole) & mask)) {
			s->process[hole] = s->process[i];
			hole = i;
		}
	}
	s->process[hole] = (struct process){ 0 };
}

/* Processes whose last thread's end was lost: makes room by forgetting them. */
static bool sweep(struct spaces *s)
{
	uint32_t before = s->nprocess;

	if (s->all_alive)
		return false;		/* else each of a flood would look at all */
	for (uint32_t i = 0; i < s->process_cap; i++)
		while (s->process[i].used && s->process[i].headless)
			process_leave(s, s->process[i].pid);	/* another one may move here */
	s->all_alive = s->nprocess == before;
	return !s->all_alive;
}

/* The process, entered if it is new; NULL (and counted) when there is no room. */
struct process *space_enter(struct spaces *s, uint32_t pid)
{
	struct process *p = space_slot(s, pid);

	if (p->used)
		return p;
	if (s->nprocess >= s->limit.processes && !sweep(s)) {
		s->refused++;
		return NULL;
	}
	p = space_slot(s, pid);		/* the sweep moves slots */
	if (2 * (s->nprocess + 1) > s->process_cap) {
		grow_processes(s);
		p = space_slot(s, pid);
	}
	*p = (struct process){ .pid = pid, .used = true, .dirty = true };
	s->nprocess++;
	return p;
}

/* --- files --- */

static uint64_t hash_file(const struct space_file *f)
{
	uint64_t h = hash_text(f->path);

	h = (h ^ f->inode) * 0x9e3779b97f4a7c15;
	h = (h ^ f->inode_generation) * 0x9e3779b97f4a7c15;
	h = (h ^ ((uint64_t)f->dev_major << 32 | f->dev_minor)) * 0x9e3779b97f4a7c15;
	return h ^ h >> 32;
}

static bool same_file(const struct space_file *a, const struct space_file *b)
{
	return a->inode == b->inode && a->inode_generation == b->inode_generation &&
	       a->dev_major == b->dev_major && a->dev_minor == b->dev_minor &&
	       strcmp(a->path, b->path) == 0;
}

static uint32_t *file_slot(const struct spaces *s, const struct space_file *f)
{
	uint32_t mask = 2 * s->file_cap - 1;
	uint32_t i = (uint32_t)hash_file(f) & mask;

	while (s->file_hash[i] && !same_file(&s->file[s->file_hash[i] - 1], f))
		i = (i + 1) & mask;
	return &s->file_hash[i];
}

void space_hash_files(struct spaces *s)
{
	free(s->file_hash);
	s->file_hash = memory_new(2 * (size_t)s->file_cap, sizeof(*s->file_hash));
	for (uint32_t i = 0; i < s->nfile; i++)
		*file_slot(s, &s->file[i]) = i + 1;
}

static void grow_files(struct spaces *s)
{
	s->file_cap *= 2;
	s->file = memory_grow(s->file, s->file_cap, sizeof(*s->file));
	space_hash_files(s);
}

/* -1 (and counted) when there is no room. */
int space_file_enter(struct spaces *s, const struct space_file *f, uint32_t *out)
{
	uint32_t *slot = file_slot(s, f);

	if (*slot) {
		*out = *slot - 1;
		return 0;
	}
	size_t n = strlen(f->path);

	if (s->nfile >= s->limit.files || n > s->limit.path_bytes - s->path_bytes) {
		s->refused++;
		return -1;
	}
	if (s->nfile == s->file_cap) {
		grow_files(s);
		slot = file_slot(s, f);
	}
	s->file[s->nfile] = *f;
	s->file[s->nfile].path = memory_need(strdup(f->path));
	s->path_bytes += n;
	*out = s->nfile++;
	*slot = s->nfile;
	return 0;
}

uint32_t spaces_nfile(const struct spaces *s)
{
	return s->nfile;
}

const struct space_file *spaces_file(const struct spaces *s, uint32_t file)
{
	assert(file < s->nfile);
	return &s->file[file];
}

/* --- events --- */

/* Memory of no file.  A runtime makes it executable a page at a time: what adjoins is one
 * mapping, and those of one process take at most half of the room that it has, so that they
 * never cost it its files; what is over is not known. */
static struct mappings *put_anon(const struct spaces *s, struct mappings *map,
				 const struct mapping *m)
{
	struct mapping all = { m->start, m->end, 0, FILE_ANON };
	const struct mapping *below = m->start ? mappings_find(map, m->start - 1) : NULL;
	const struct mapping *above = mappings_find(map, m->end);

	if (below && below->file == FILE_ANON)
		all.start = below->start;
	if (above && above->file == FILE_ANON)
		all.end = above->end;
	if (mappings_count(map) >= s->limit.process_mappings / 2)
		return mappings_cut(map, m->start, m->end);
	return mappings_put(map, &all);
}

/* Enters a mapping; what does not fit or is no range is counted. */
void space_map(struct spaces *s, uint32_t pid, const struct mapping *m)
{
	struct process *p;

	if (m->start >= m->end || m->pgoff > UINT64_MAX - (m->end - m->start)) {
		s->refused++;
		return;
	}
	p = space_enter(s, pid);
	if (!p)
		return;
	uint32_t n = mappings_count(p->map);
	/* One event adds at most two ranges. */
	if (p->over || s->nmapping + 2 > s->limit.mappings ||
	    n + 2 > s->limit.process_mappings) {
		p->over |= n + 2 > s->limit.process_mappings;
		s->refused += 1 + n;
		process_clear(s, p);
		return;
	}
	p->map = m->file == FILE_NONE	? mappings_cut(p->map, m->start, m->end)
		 : m->file == FILE_ANON ? put_anon(s, p->map, m)
					: mappings_put(p->map, m);
	s->nmapping += mappings_count(p->map);
	s->nmapping -= n;
	p->dirty = true;
}

/* Memory that has an inode and is nobody's file: what is mapped shared without one, and what
 * the runtime of .NET maps twice, to write to it and to run it. */
static bool is_memory(const struct spool_event *ev, const char *path)
{
	return ev->mmap.inode == 0 || strcmp(path, "/dev/zero (deleted)") == 0 ||
	       strcmp(path, "/memfd:doublemapper (deleted)") == 0;
}

static void take_mmap(struct spaces *s, const struct spool_event *ev)
{
	struct mapping m = {
		.start = ev->mmap.addr,
		.end = ev->mmap.addr + ev->mmap.len,
		.pgoff = ev->mmap.pgoff,
	};
	const char *path = ev->mmap.path ? ev->mmap.path : "";

	if (is_memory(ev, path)) {
		m.file = strcmp(path, "[vdso]") == 0 ? FILE_VDSO : FILE_ANON;
		m.pgoff = 0;
	} else {
		struct space_file f = {
			.dev_major = ev->mmap.dev_major,
			.dev_minor = ev->mmap.dev_minor,
			.inode = ev->mmap.inode,
			.inode_generation = ev->mmap.inode_generation,
			.path = path,
		};

		/* A file beyond the limit must still cut what was mapped there before. */
		if (space_file_enter(s, &f, &m.file) < 0)
			m.file = FILE_NONE;
		else
			m.file += FILE_FIRST;
	}
	space_map(s, ev->pid, &m);
	struct process *p = space_slot(s, ev->pid);
	if (p->used && !p->run.exe && m.file >= FILE_FIRST && m.file != FILE_NONE) {
		p->run.exe = m.file - FILE_FIRST + 1;
		p->dirty = true;
	}
}

static void take_fork(struct spaces *s, uint32_t pid, uint32_t parent_pid)
{
	struct process *parent = space_slot(s, parent_pid);

	if (pid == parent_pid) {	/* a thread */
		parent->threads += parent->used;
		return;
	}
	process_leave(s, pid);		/* a number used again whose exit was lost */
	parent = space_slot(s, parent_pid);
	if (!parent->used)
		return;
	uint32_t n = mappings_count(parent->map);
	if (s->nmapping + n > s->limit.mappings) {
		s->refused++;
		return;
	}
	struct process *child = space_enter(s, pid);
	if (!child)
		return;
	parent = space_slot(s, parent_pid);	/* it may have moved */
	child->run = (struct space_run){ .exe = parent->run.exe, .from = parent->run.from };
	child->map = mappings_share(parent->map);
	child->over = parent->over;
	child->dirty = true;
	s->nmapping += n;
}

static void take_exec(struct spaces *s, uint32_t pid)
{
	struct process *p = space_enter(s, pid);

	if (!p)
		return;
	process_clear(s, p);
	p->run = (struct space_run){ .from = p->run.exe, .whole = true };
	p->threads = 0;			/* whichever thread did it is the only one now */
	p->headless = false;
	p->over = p->asked = false;	/* it may be somebody else's program */
}

static void take_exit(struct spaces *s, uint32_t pid, uint32_t tid)
{
	struct process *p = space_slot(s, pid);

	if (!p->used)
		return;
	if (pid == tid)
		p->headless = true, s->all_alive = false;
	else if (p->threads)
		p->threads--;
	if (p->headless && !p->threads)
		process_leave(s, pid);
}

void spaces_event(struct spaces *s, const struct spool_event *ev)
{
	if (ev->pid == 0)
		return;
	switch (ev->kind) {
	case SPOOL_MMAP:
		take_mmap(s, ev);
		break;
	case SPOOL_EXEC:
		take_exec(s, ev->pid);
		break;
	case SPOOL_FORK:
		take_fork(s, ev->pid, ev->fork.parent_pid);
		break;
	case SPOOL_EXIT:
		take_exit(s, ev->pid, ev->tid);
		break;
	default:
		break;
	}
}

enum space_hit spaces_find(struct spaces *s, uint32_t pid, uint64_t pc, uint32_t *file,
			   file_off *off)
{
	const struct process *p = space_slot(s, pid);

	if (!p->used || p->over)
		return pid ? SPACE_NOPROCESS : SPACE_ELSEWHERE;
	const struct mapping *m = mappings_find(p->map, pc);
	if (!m)
		return SPACE_NOWHERE;
	if (m->file == FILE_ANON)
		return SPACE_ANON;
	if (m->file == FILE_VDSO)
		return SPACE_VDSO;
	*file = m->file - FILE_FIRST;
	*off = m->pgoff + (pc - m->start);
	return SPACE_FILE;
}

struct telling {
	void (*f)(void *ctx, const struct space_mapping *m);
	void *ctx;
};

static void tell_mapping(void *ctx, const struct mapping *m)
{
	const struct telling *t = ctx;
	struct space_mapping told = { m->start, m->end, m->pgoff, m->file - FILE_FIRST };

	if (m->file < FILE_FIRST)
		told.file = m->file == FILE_VDSO ? SPACE_MAPPING_VDSO : SPACE_MAPPING_ANON;
	t->f(t->ctx, &told);
}

void spaces_each_mapping(const struct spaces *s, uint32_t pid,
			 void (*f)(void *ctx, const struct space_mapping *m), void *ctx)
{
	const struct process *p = space_slot(s, pid);
	struct telling t = { f, ctx };

	if (p->used && !p->over)
		mappings_each(p->map, tell_mapping, &t);
}

/* --- limits of users --- */

/* A mapping of a file with a long name weighs as much as several. */
enum { NAME_WEIGHT = 128 };

struct share {
	uint32_t uid, pid, n;
	uint64_t weight;		/* of its n mappings */
};

/* The largest of a user first. */
static int by_user(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->pid < y->pid) - (x->pid > y->pid);
}

/* v[0 .. n) are a user's. */
static void limit_user(struct spaces *s, const struct share *v, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += v[i].weight;
	for (uint32_t i = 0; i < n && sum > s->limit.user_mappings; i++) {
		struct process *p = space_slot(s, v[i].pid);

		sum -= v[i].weight;
		s->refused += v[i].n;
		process_clear(s, p);
		p->over = true;
	}
	for (uint32_t i = 0; i + s->limit.user_processes < n; i++) {
		s->refused++;
		process_leave(s, v[i].pid);
	}
}

struct weighing {
	const struct spaces *s;
	uint64_t sum;
};

static void weigh(void *ctx, const struct mapping *m)
{
	struct weighing *w = ctx;

	w->sum++;
	if (m->file >= FILE_FIRST)
		w->sum += strlen(w->s->file[m->file - FILE_FIRST].path) / NAME_WEIGHT;
}

static uint64_t weight_of(const struct spaces *s, const struct process *p)
{
	struct weighing w = { s, 0 };

	mappings_each(p->map, weigh, &w);
	return w.sum;
}

void spaces_settle(struct spaces *s)
{
	struct share *v;
	uint32_t n = 0;

	if (!s->limit.owner || (s->nmapping <= s->limit.user_mappings &&
				s->path_bytes / NAME_WEIGHT <= s->limit.user_mappings / 2 &&
				s->nprocess <= s->limit.user_processes))
		return;
	v = memory_grow(NULL, s->nprocess, sizeof(*v));
	for (uint32_t i = 0; i < s->process_cap; i++) {
		struct process *p = &s->process[i];

		if (!p->used)
			continue;
		if (!p->asked)
			p->uid = s->limit.owner(p->pid);
		p->asked = true;
		v[n++] = (struct share){ p->uid, p->pid, mappings_count(p->map),
					 weight_of(s, p) };
	}
	qsort(v, n, sizeof(*v), by_user);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && v[end].uid == v[i].uid; end++)
			;
		if (v[i].uid != 0)
			limit_user(s, v + i, end - i);
	}
	free(v);
}

struct listing {
	uint32_t *file, n, max;
};

static void list_file(void *ctx, const struct mapping *m)
{
	struct listing *l = ctx;

	if (m->file < FILE_FIRST || l->n == l->max)
		return;
	for (uint32_t i = 0; i < l->n; i++)
		if (l->file[i] == m->file - FILE_FIRST)
			return;
	l->file[l->n++] = m->file - FILE_FIRST;
}

struct search {
	uint32_t file;
	bool found;
};

static void search_file(void *ctx, const struct mapping *m)
{
	struct search *x = ctx;

	x->found |= m->file >= FILE_FIRST && m->file - FILE_FIRST == x->file;
}

void spaces_each_of(const struct spaces *s, uint32_t file, void (*f)(void *ctx, uint32_t pid),
		    void *ctx)
{
	for (uint32_t i = 0; i < s->process_cap; i++) {
		struct search x = { file, false };

		if (!s->process[i].used)
			continue;
		mappings_each(s->process[i].map, search_file, &x);
		if (x.found)
			f(ctx, s->process[i].pid);
	}
}

struct space_run *spaces_run(struct spaces *s, uint32_t pid)
{
	struct process *p = space_slot(s, pid);

	return p->used ? &p->run : NULL;
}

uint32_t spaces_files_of(struct spaces *s, uint32_t pid, uint32_t *file, uint32_t max)
{
	const struct process *p = space_slot(s, pid);
	struct listing l = { file, 0, max };

	if (p->used)
		mappings_each(p->map, list_file, &l);
	return l.n;
}

void spaces_counts(const struct spaces *s, struct spaces_counts *out)
{
	*out = (struct spaces_counts){
		.processes = s->nprocess,
		.mappings = (uint32_t)s->nmapping,
		.files = s->nfile,
		.refused = s->refused,
	};
}
