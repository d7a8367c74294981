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
 *       cut must not be found any more.
 */
#include "manager/samples/space.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/samples/mapping.h"
#include "monitor/spool.h"

/* mapping.file; files from FILE_FIRST */
enum { FILE_ANON = 0, FILE_VDSO = 1, FILE_FIRST = 2 };

struct process {
	uint32_t pid;
	uint32_t threads;	/* seen to begin and not to end, besides the first one */
	bool used;
	bool headless;		/* its first thread has ended, others have not */
	struct space_run run;
	struct mappings *map;
};

struct spaces {
	struct spaces_limits limit;
	struct process *process;
	uint32_t nprocess, process_cap;
	uint64_t nmapping;
	struct space_file *file;
	uint32_t nfile, file_cap;
	uint32_t *file_hash;		/* index + 1; file_cap * 2 of them */
	uint64_t refused;
};

static void start_empty(struct spaces *s)
{
	s->process_cap = 1024;
	s->process = memory_new(s->process_cap, sizeof(*s->process));
	s->file_cap = 256;
	s->file = memory_new(s->file_cap, sizeof(*s->file));
	s->file_hash = memory_new(2 * (size_t)s->file_cap, sizeof(*s->file_hash));
	s->nprocess = s->nfile = 0;
	s->nmapping = 0;
}

static void clear(struct spaces *s)
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
	start_empty(s);
	return s;
}

void spaces_free(struct spaces *s)
{
	if (!s)
		return;
	clear(s);
	free(s);
}

/* --- processes --- */

static uint32_t home_of(const struct spaces *s, uint32_t pid)
{
	return (uint32_t)((pid * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (s->process_cap - 1);
}

/* The process's slot, or the free one where it would go. */
static struct process *slot_of(const struct spaces *s, uint32_t pid)
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
			*slot_of(s, old[i].pid) = old[i];
	free(old);
}

static void process_clear(struct spaces *s, struct process *p)
{
	s->nmapping -= mappings_count(p->map);
	mappings_drop(p->map);
	p->map = NULL;
}

static void process_leave(struct spaces *s, uint32_t pid)
{
	struct process *p = slot_of(s, pid);
	uint32_t mask = s->process_cap - 1;

	if (!p->used)
		return;
	process_clear(s, p);
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

	for (uint32_t i = 0; i < s->process_cap; i++)
		while (s->process[i].used && s->process[i].headless)
			process_leave(s, s->process[i].pid);	/* another one may move here */
	return s->nprocess < before;
}

/* The process, entered if it is new; NULL (and counted) when there is no room. */
static struct process *process_enter(struct spaces *s, uint32_t pid)
{
	struct process *p = slot_of(s, pid);

	if (p->used)
		return p;
	if (s->nprocess >= s->limit.processes && !sweep(s)) {
		s->refused++;
		return NULL;
	}
	p = slot_of(s, pid);		/* the sweep moves slots */
	if (2 * (s->nprocess + 1) > s->process_cap) {
		grow_processes(s);
		p = slot_of(s, pid);
	}
	*p = (struct process){ .pid = pid, .used = true };
	s->nprocess++;
	return p;
}

/* --- files --- */

static uint64_t hash_file(const struct space_file *f)
{
	uint64_t h = 0xcbf29ce484222325;

	for (const char *c = f->path; *c; c++)
		h = (h ^ (uint8_t)*c) * 0x100000001b3;
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

static void grow_files(struct spaces *s)
{
	s->file_cap *= 2;
	s->file = memory_grow(s->file, s->file_cap, sizeof(*s->file));
	free(s->file_hash);
	s->file_hash = memory_new(2 * (size_t)s->file_cap, sizeof(*s->file_hash));
	for (uint32_t i = 0; i < s->nfile; i++)
		*file_slot(s, &s->file[i]) = i + 1;
}

/* -1 (and counted) when there is no room. */
static int file_enter(struct spaces *s, const struct space_file *f, uint32_t *out)
{
	uint32_t *slot = file_slot(s, f);

	if (*slot) {
		*out = *slot - 1;
		return 0;
	}
	if (s->nfile >= s->limit.files) {
		s->refused++;
		return -1;
	}
	if (s->nfile == s->file_cap) {
		grow_files(s);
		slot = file_slot(s, f);
	}
	s->file[s->nfile] = *f;
	s->file[s->nfile].path = memory_need(strdup(f->path));
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

/* Enters a mapping; what does not fit or is no range is counted. */
static void map_enter(struct spaces *s, uint32_t pid, const struct mapping *m)
{
	struct process *p;

	if (m->start >= m->end || m->pgoff > UINT64_MAX - (m->end - m->start)) {
		s->refused++;
		return;
	}
	p = process_enter(s, pid);
	if (!p)
		return;
	/* One event adds at most two ranges. */
	if (s->nmapping + 2 > s->limit.mappings) {
		s->refused += 1 + mappings_count(p->map);
		process_clear(s, p);
		return;
	}
	s->nmapping -= mappings_count(p->map);
	p->map = mappings_put(p->map, m);
	s->nmapping += mappings_count(p->map);
}

static void take_mmap(struct spaces *s, const struct spool_event *ev)
{
	struct mapping m = {
		.start = ev->mmap.addr,
		.end = ev->mmap.addr + ev->mmap.len,
		.pgoff = ev->mmap.pgoff,
	};
	const char *path = ev->mmap.path ? ev->mmap.path : "";

	if (ev->mmap.inode == 0) {
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
		if (file_enter(s, &f, &m.file) < 0)
			m.file = FILE_ANON;
		else
			m.file += FILE_FIRST;
	}
	map_enter(s, ev->pid, &m);
	struct process *p = slot_of(s, ev->pid);
	if (p->used && !p->run.exe && m.file >= FILE_FIRST)
		p->run.exe = m.file - FILE_FIRST + 1;
}

static void take_fork(struct spaces *s, uint32_t pid, uint32_t parent_pid)
{
	struct process *parent = slot_of(s, parent_pid);

	if (pid == parent_pid) {	/* a thread */
		parent->threads += parent->used;
		return;
	}
	process_leave(s, pid);		/* a number used again whose exit was lost */
	parent = slot_of(s, parent_pid);
	if (!parent->used)
		return;
	uint32_t n = mappings_count(parent->map);
	if (s->nmapping + n > s->limit.mappings) {
		s->refused++;
		return;
	}
	struct process *child = process_enter(s, pid);
	if (!child)
		return;
	parent = slot_of(s, parent_pid);	/* it may have moved */
	child->run = (struct space_run){ .exe = parent->run.exe, .from = parent->run.from };
	child->map = mappings_share(parent->map);
	s->nmapping += n;
}

static void take_exec(struct spaces *s, uint32_t pid)
{
	struct process *p = process_enter(s, pid);

	if (!p)
		return;
	process_clear(s, p);
	p->run = (struct space_run){ .from = p->run.exe, .whole = true };
	p->threads = 0;			/* whichever thread did it is the only one now */
	p->headless = false;
}

static void take_exit(struct spaces *s, uint32_t pid, uint32_t tid)
{
	struct process *p = slot_of(s, pid);

	if (!p->used)
		return;
	if (pid == tid)
		p->headless = true;
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
	const struct process *p = slot_of(s, pid);

	if (!p->used)
		return pid ? SPACE_NOPROCESS : SPACE_ELSEWHERE;
	const struct mapping *m = mappings_find(p->map, pc);
	if (!m || m->file == FILE_ANON)
		return SPACE_ANON;
	if (m->file == FILE_VDSO)
		return SPACE_VDSO;
	*file = m->file - FILE_FIRST;
	*off = m->pgoff + (pc - m->start);
	return SPACE_FILE;
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

struct space_run *spaces_run(struct spaces *s, uint32_t pid)
{
	struct process *p = slot_of(s, pid);

	return p->used ? &p->run : NULL;
}

uint32_t spaces_files_of(struct spaces *s, uint32_t pid, uint32_t *file, uint32_t max)
{
	const struct process *p = slot_of(s, pid);
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

/* --- saving ---
 *
 *   "MORPHSPC" | u32 3 | uleb nfile | file: uleb dev_major dev_minor inode generation, str path
 *   | uleb nprocess | process: uleb pid threads headless exe from whole time_ns nmapping
 *   | mapping: uleb start length pgoff file
 */

static const char magic[8] = "MORPHSPC";

struct saving {
	struct wr *out;
	uint32_t *number;	/* in the saved files, 0 = not used; by file */
	uint32_t nused;
};

static void use_file(struct saving *sv, uint32_t file)
{
	if (!sv->number[file])
		sv->number[file] = ++sv->nused;
}

static void number_file(void *ctx, const struct mapping *m)
{
	if (m->file >= FILE_FIRST)
		use_file(ctx, m->file - FILE_FIRST);
}

static void number_process(struct saving *sv, const struct process *p)
{
	if (p->run.exe)
		use_file(sv, p->run.exe - 1);
	if (p->run.from)
		use_file(sv, p->run.from - 1);
	mappings_each(p->map, number_file, sv);
}

static void save_mapping(void *ctx, const struct mapping *m)
{
	struct saving *sv = ctx;

	wr_uleb(sv->out, m->start);
	wr_uleb(sv->out, m->end - m->start);
	wr_uleb(sv->out, m->pgoff);
	wr_uleb(sv->out, m->file < FILE_FIRST ? m->file
				: sv->number[m->file - FILE_FIRST] - 1 + FILE_FIRST);
}

static void save_files(const struct spaces *s, const struct saving *sv)
{
	uint32_t *by_number = memory_new(sv->nused + 1, sizeof(*by_number));

	for (uint32_t i = 0; i < s->nfile; i++)
		if (sv->number[i])
			by_number[sv->number[i] - 1] = i;
	wr_uleb(sv->out, sv->nused);
	for (uint32_t i = 0; i < sv->nused; i++) {
		const struct space_file *f = &s->file[by_number[i]];

		wr_uleb(sv->out, f->dev_major);
		wr_uleb(sv->out, f->dev_minor);
		wr_uleb(sv->out, f->inode);
		wr_uleb(sv->out, f->inode_generation);
		wr_str(sv->out, f->path);
	}
	free(by_number);
}

void spaces_save(const struct spaces *s, struct wr *out)
{
	struct saving sv = { out, memory_new(s->nfile + 1, sizeof(uint32_t)), 0 };

	wr_raw(out, magic, sizeof(magic));
	wr_u32(out, 3);
	for (uint32_t i = 0; i < s->process_cap; i++)
		if (s->process[i].used)
			number_process(&sv, &s->process[i]);
	save_files(s, &sv);
	wr_uleb(out, s->nprocess);
	for (uint32_t i = 0; i < s->process_cap; i++) {
		const struct process *p = &s->process[i];

		if (!p->used)
			continue;
		wr_uleb(out, p->pid);
		wr_uleb(out, p->threads);
		wr_uleb(out, p->headless);
		wr_uleb(out, p->run.exe ? sv.number[p->run.exe - 1] : 0);
		wr_uleb(out, p->run.from ? sv.number[p->run.from - 1] : 0);
		wr_uleb(out, p->run.whole);
		wr_uleb(out, p->run.time_ns);
		wr_uleb(out, mappings_count(p->map));
		mappings_each(p->map, save_mapping, &sv);
	}
	free(sv.number);
}

static void load_files(struct spaces *s, struct rd *r)
{
	uint64_t n = rd_uleb(r);

	for (uint64_t i = 0; i < n && !r->bad; i++) {
		struct space_file f;
		uint64_t major = rd_uleb(r), minor = rd_uleb(r);
		uint32_t index;

		f.inode = rd_uleb(r);
		f.inode_generation = rd_uleb(r);
		f.path = rd_str(r);
		if (major > UINT32_MAX || minor > UINT32_MAX)
			r->bad = true;
		if (r->bad)
			return;
		f.dev_major = (uint32_t)major;
		f.dev_minor = (uint32_t)minor;
		if (file_enter(s, &f, &index) < 0 || index != i)
			r->bad = true;		/* too many, or one twice */
	}
}

static void load_process(struct spaces *s, struct rd *r)
{
	uint64_t pid = rd_uleb(r), threads = rd_uleb(r), headless = rd_uleb(r),
		 exe = rd_uleb(r);
	uint64_t from = rd_uleb(r), whole = rd_uleb(r), time_ns = rd_uleb(r), n = rd_uleb(r);
	struct process *p = pid > UINT32_MAX ? NULL : process_enter(s, (uint32_t)pid);

	if (!p || exe > s->nfile || from > s->nfile || whole > 1 || threads > UINT32_MAX ||
	    headless > 1) {
		r->bad = true;
		return;
	}
	p->threads = (uint32_t)threads;
	p->headless = headless;
	p->run = (struct space_run){ (uint32_t)exe, (uint32_t)from, whole, time_ns };
	for (uint64_t i = 0; i < n && !r->bad; i++) {
		uint64_t start = rd_uleb(r), len = rd_uleb(r), pgoff = rd_uleb(r);
		uint64_t file = rd_uleb(r), refused = s->refused;

		if (r->bad || len > UINT64_MAX - start || file >= FILE_FIRST + s->nfile) {
			r->bad = true;
			return;
		}
		map_enter(s, (uint32_t)pid, &(struct mapping){ start, start + len, pgoff,
							       (uint32_t)file });
		if (s->refused != refused)
			r->bad = true;
	}
}

int spaces_load(struct spaces *s, struct bytes b, struct err *err)
{
	struct rd r = rd_of(b);
	uint64_t refused = s->refused;
	const uint32_t limit = s->limit.mappings;
	const uint8_t *m = rd_skip(&r, sizeof(magic));
	uint32_t version = rd_u32(&r);

	clear(s);
	start_empty(s);
	if (!m || memcmp(m, magic, sizeof(magic)) != 0 || version != 3)
		return err_set(err, ERR_INPUT, "saved address spaces: unknown format");
	load_files(s, &r);
	uint64_t n = rd_uleb(&r);
	s->limit.mappings = limit + 2;		/* as many as there were fit again */
	for (uint64_t i = 0; i < n && !r.bad; i++)
		load_process(s, &r);
	s->limit.mappings = limit;
	s->refused = refused;
	if (!r.bad && rd_left(&r) == 0)
		return 0;
	clear(s);
	start_empty(s);
	return err_set(err, ERR_INPUT, "saved address spaces: damaged");
}

void spaces_compact(struct spaces *s)
{
	struct wr w = { 0 };
	struct err err;

	spaces_save(s, &w);
	int rc = spaces_load(s, wr_bytes(&w), &err);
	assert(rc == 0);
	wr_free(&w);
}
