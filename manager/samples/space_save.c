/* space_save.c - address spaces as bytes, by process, and back
 *
 * What changes with every spool file, times and threads, is small and one list; what a process
 * has mapped is large and mostly stays: that is a row for each process, with its own files:
 *
 *   list  "MORPHSPC" | u32 4 | uleb nprocess
 *         | process: uleb pid threads headless whole over time_ns
 *   row   uleb nfile | file: uleb dev_major dev_minor inode generation, str path
 *         | uleb exe from nmapping | mapping: uleb start length pgoff file
 *           (0: memory of no file, 1: the vdso, else the number of a file of the row and 2)
 *
 * Tested by tests/unit/manager/samples/test_space.c and test_space_save.c.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/samples/space_impl.h"

enum { VERSION = 4 };
static const char magic[8] = "MORPHSPC";

void spaces_save(const struct spaces *s, struct wr *out)
{
	wr_raw(out, magic, sizeof(magic));
	wr_u32(out, VERSION);
	wr_uleb(out, s->nprocess);
	for (uint32_t i = 0; i < s->process_cap; i++) {
		const struct process *p = &s->process[i];

		if (!p->used)
			continue;
		wr_uleb(out, p->pid);
		wr_uleb(out, p->threads);
		wr_uleb(out, p->headless);
		wr_uleb(out, p->run.whole);
		wr_uleb(out, p->over);
		wr_uleb(out, p->run.time_ns);
	}
}

/* --- a row --- */

struct saving {
	struct wr *out;
	uint32_t *number;	/* in the row, 0: not in it; by file */
	uint32_t *file, nfile;	/* in the row */
};

static void use_file(struct saving *sv, uint32_t file)
{
	if (sv->number[file])
		return;
	sv->file = memory_grow(sv->file, sv->nfile + (size_t)1, sizeof(*sv->file));
	sv->file[sv->nfile++] = file;
	sv->number[file] = sv->nfile;
}

static void use_mapped(void *ctx, const struct mapping *m)
{
	if (m->file >= FILE_FIRST)
		use_file(ctx, m->file - FILE_FIRST);
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

static uint32_t number_of(const struct saving *sv, uint32_t file_and_1)
{
	return file_and_1 ? sv->number[file_and_1 - 1] : 0;
}

/* sv->number is zero before and after. */
static void save_row(const struct spaces *s, const struct process *p, struct saving *sv)
{
	sv->nfile = 0;
	sv->out->n = 0;
	if (p->run.exe)
		use_file(sv, p->run.exe - 1);
	if (p->run.from)
		use_file(sv, p->run.from - 1);
	mappings_each(p->map, use_mapped, sv);
	wr_uleb(sv->out, sv->nfile);
	for (uint32_t i = 0; i < sv->nfile; i++) {
		const struct space_file *f = &s->file[sv->file[i]];

		wr_uleb(sv->out, f->dev_major);
		wr_uleb(sv->out, f->dev_minor);
		wr_uleb(sv->out, f->inode);
		wr_uleb(sv->out, f->inode_generation);
		wr_str(sv->out, f->path);
	}
	wr_uleb(sv->out, number_of(sv, p->run.exe));
	wr_uleb(sv->out, number_of(sv, p->run.from));
	wr_uleb(sv->out, mappings_count(p->map));
	mappings_each(p->map, save_mapping, sv);
	for (uint32_t i = 0; i < sv->nfile; i++)
		sv->number[sv->file[i]] = 0;
}

static bool has_row(const struct process *p)
{
	return mappings_count(p->map) || p->run.exe || p->run.from;
}

int spaces_changes(const struct spaces *s,
		   int (*f)(void *ctx, uint32_t pid, struct bytes row, struct err *err),
		   void *ctx, struct err *err)
{
	const struct bytes none = { NULL, 0 };
	struct wr row = { 0 };
	struct saving sv = { .out = &row,
			     .number = memory_new(s->nfile + (size_t)1, sizeof(uint32_t)) };
	int rc = s->anew ? f(ctx, 0, none, err) : 0;

	for (uint32_t i = 0; i < s->ngone && rc == 0; i++)
		rc = f(ctx, s->gone[i], none, err);
	for (uint32_t i = 0; i < s->process_cap && rc == 0; i++) {
		const struct process *p = &s->process[i];

		if (!p->used || !p->dirty || !(p->saved || has_row(p)))
			continue;
		save_row(s, p, &sv);
		rc = f(ctx, p->pid, wr_bytes(&row), err);
	}
	wr_free(&row);
	free(sv.number);
	free(sv.file);
	return rc;
}

void spaces_saved(struct spaces *s)
{
	s->anew = false;
	s->ngone = 0;
	for (uint32_t i = 0; i < s->process_cap; i++) {
		struct process *p = &s->process[i];

		p->saved |= p->used && p->dirty && has_row(p);
		p->dirty = false;
	}
}

/* --- loading --- */

static int damaged(struct spaces *s, struct err *err)
{
	space_clear(s);
	space_start_empty(s);
	return err_set(err, ERR_INPUT, "saved address spaces: damaged");
}

int spaces_load(struct spaces *s, struct bytes b, struct err *err)
{
	struct rd r = rd_of(b);
	uint64_t refused = s->refused;
	const uint8_t *m = rd_skip(&r, sizeof(magic));
	uint32_t version = rd_u32(&r);

	space_clear(s);
	space_start_empty(s);
	if (!m || memcmp(m, magic, sizeof(magic)) != 0 || version != VERSION)
		return err_set(err, ERR_INPUT, "saved address spaces: unknown format");
	uint64_t n = rd_uleb(&r);
	for (uint64_t i = 0; i < n && !r.bad; i++) {
		uint64_t pid = rd_uleb(&r), threads = rd_uleb(&r), headless = rd_uleb(&r),
			 whole = rd_uleb(&r), over = rd_uleb(&r), time_ns = rd_uleb(&r);

		if (r.bad || pid > UINT32_MAX || threads > UINT32_MAX || headless > 1 ||
		    whole > 1 || over > 1 || space_slot(s, (uint32_t)pid)->used) {
			r.bad = true;
			break;
		}
		struct process *p = space_enter(s, (uint32_t)pid);
		if (!p)
			break;		/* there were fewer allowed then */
		p->threads = (uint32_t)threads;
		p->headless = headless;
		p->over = over;
		p->dirty = false;
		p->run = (struct space_run){ .whole = whole, .time_ns = time_ns };
	}
	s->refused = refused;
	s->all_alive = false;
	if (r.bad || rd_left(&r))
		return damaged(s, err);
	s->anew = false;
	return 0;
}

/* The row's files are numbered; number[i] is the index of its i-th. */
static uint32_t *load_files(struct spaces *s, struct rd *r, uint64_t *n)
{
	uint32_t *number = NULL;

	*n = rd_uleb(r);
	for (uint64_t i = 0; i < *n && !r->bad; i++) {
		struct space_file f;
		uint64_t major = rd_uleb(r), minor = rd_uleb(r);
		uint32_t index = 0;

		f.inode = rd_uleb(r);
		f.inode_generation = rd_uleb(r);
		f.path = rd_str(r);
		if (r->bad || major > UINT32_MAX || minor > UINT32_MAX) {
			r->bad = true;
			break;
		}
		f.dev_major = (uint32_t)major;
		f.dev_minor = (uint32_t)minor;
		if (space_file_enter(s, &f, &index) < 0)
			r->bad = true;
		number = memory_grow(number, i + 1, sizeof(*number));
		number[i] = index;
	}
	return number;
}

static void load_mappings(struct spaces *s, struct rd *r, uint32_t pid, const uint32_t *number,
			  uint64_t nfile)
{
	uint64_t n = rd_uleb(r), refused = s->refused;

	for (uint64_t i = 0; i < n && !r->bad; i++) {
		uint64_t start = rd_uleb(r), len = rd_uleb(r), pgoff = rd_uleb(r);
		uint64_t file = rd_uleb(r);

		if (r->bad || len > UINT64_MAX - start || file >= FILE_FIRST + nfile) {
			r->bad = true;
			return;
		}
		uint32_t index = file < FILE_FIRST ? (uint32_t)file
						   : number[file - FILE_FIRST] + FILE_FIRST;
		space_map(s, pid, &(struct mapping){ start, start + len, pgoff, index });
		r->bad |= s->refused != refused;
	}
}

int spaces_load_row(struct spaces *s, uint32_t pid, struct bytes row, struct err *err)
{
	const struct spaces_limits limit = s->limit;
	struct rd r = rd_of(row);
	uint64_t nfile, refused = s->refused;
	struct process *p = space_slot(s, pid);

	if (!p->used || p->saved || p->map)
		return damaged(s, err);
	s->limit.mappings += 2;			/* as many as there were fit again */
	s->limit.process_mappings += 2;
	uint32_t *number = load_files(s, &r, &nfile);
	uint64_t exe = rd_uleb(&r), from = rd_uleb(&r);
	if (exe > nfile || from > nfile)
		r.bad = true;
	if (!r.bad) {
		p->run.exe = exe ? number[exe - 1] + 1 : 0;
		p->run.from = from ? number[from - 1] + 1 : 0;
		load_mappings(s, &r, pid, number, nfile);
	}
	free(number);
	s->limit = limit;
	s->refused = refused;
	if (r.bad || rd_left(&r))
		return damaged(s, err);
	p = space_slot(s, pid);
	p->saved = true;
	p->dirty = false;
	return 0;
}

/* --- files that nobody has mapped any more --- */

enum { COMPACT_MIN = 256 };

static void mark_mapped(void *ctx, const struct mapping *m)
{
	uint32_t *number = ctx;

	if (m->file >= FILE_FIRST)
		number[m->file - FILE_FIRST] = 1;
}

static void mark_used(const struct spaces *s, uint32_t *number)
{
	for (uint32_t i = 0; i < s->process_cap; i++) {
		const struct process *p = &s->process[i];

		if (!p->used)
			continue;
		if (p->run.exe)
			number[p->run.exe - 1] = 1;
		if (p->run.from)
			number[p->run.from - 1] = 1;
		mappings_each(p->map, mark_mapped, number);
	}
}

/* What is marked comes together at the beginning; number[] becomes where it is now. */
static void move_files(struct spaces *s, uint32_t *number)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->nfile; i++) {
		if (!number[i]) {
			s->path_bytes -= strlen(s->file[i].path);
			free((void *)(uintptr_t)s->file[i].path);
			continue;
		}
		number[i] = kept;
		s->file[kept++] = s->file[i];
	}
	s->nfile = s->nfile_compact = kept;
	space_hash_files(s);
}

void spaces_compact(struct spaces *s)
{
	bool short_of_room = s->path_bytes > s->limit.path_bytes / 2 ||
			     s->nfile > s->limit.files / 2;

	if (!short_of_room &&
	    (s->nfile < COMPACT_MIN || s->nfile < 2 * s->nfile_compact))
		return;
	uint32_t *number = memory_new(s->nfile, sizeof(*number));

	mark_used(s, number);
	move_files(s, number);
	s->round += s->round == UINT32_MAX ? 2 : 1;	/* 0 is what a new set has */
	for (uint32_t i = 0; i < s->process_cap; i++) {
		struct process *p = &s->process[i];

		if (!p->used)
			continue;
		if (p->run.exe)
			p->run.exe = number[p->run.exe - 1] + 1;
		if (p->run.from)
			p->run.from = number[p->run.from - 1] + 1;
		mappings_renumber(p->map, number, FILE_FIRST, s->round);
	}
	free(number);
}
