/* lines.c - lines for images
 *
 * Each image of a block gets the rows of its original: one for the line that the block is in
 * when it begins, where that does not follow from the image in front, and one for each row
 * inside of the block.
 *
 * BREAKPOINTS   A debugger takes, of all places of a line in one function, inlined function or
 *               block, the one with the lowest address; as compilers lay code out, that is
 *               where the line begins.  Images have another order, so:
 *
 *     B1  rows of the originals are in a program of their own, for functions of their own
 *         (originals.c); those that an entry jump took the place of are no places for
 *         breakpoints (is_stmt) any more, as control goes on in the image;
 *     B2  what was left out of an image is done when the image ends: where nothing stands there
 *         in its place, the line begins at the instruction in front, which has a row of its own
 *         line behind that;
 *     B3  no place for breakpoints is a row with a lower address than the image of the place
 *         that a debugger would have taken in the original.
 *
 * Lines of addresses are not concerned: every instruction of the original and of images has
 * that of its original.
 *
 * Tested by tests/unit/editor/debug/test_debugfile.c, and by tests/programs/debugfile.sh with
 * debuggers.
 */
#include "editor/debug/debug.h"

#include <stdlib.h>

#include "binary/decode.h"
#include "editor/debug/dwarfinfo.h"
#include "editor/debug/lineprogram.h"
#include "lib/err.h"
#include "lib/search.h"

struct sequence {			/* rows [first, end) of the program, the last an end */
	uint32_t first, end;
	vaddr from, to;
};

struct part {				/* of a sequence, that a block has */
	const struct blockmap_block *block;
	uint32_t sequence;
};

struct stmt {				/* a place where a line can begin */
	uint32_t scope, file, line, row;
	vaddr was;
	new_vaddr now;
	bool outside;			/* now in another scope (B2) */
	vaddr begin;			/* where the line begins in the original */
};

struct lines {
	struct debug *d;
	uint64_t off;			/* of the unit */
	struct lineprogram p;
	VEC(struct sequence) sequence;
	VEC(struct part) part;
	lineprogram_rows out;
	uint32_t *scope;		/* [p.row.n], of the original's rows */
	vaddr *begin;			/* [p.row.n]: where their lines begin */
	VEC(struct stmt) stmt;
	new_vaddr end;			/* where the image in front ends; 0: there is none */
};

static int bad_lines(const struct lines *l, const char *why)
{
	return debug_malformed(l->d, DEBUG_LINE, l->off, why);
}

static int collect_sequences(struct lines *l)
{
	struct sequence s = { 0 };

	for (uint32_t i = 0; i < l->p.row.n; i++) {
		const struct lineprogram_row *row = &l->p.row.v[i];

		if (i > s.first && row->addr < row[-1].addr)
			return bad_lines(l, "a line program that goes back");
		if (!row->end)
			continue;
		s.end = i + 1;
		s.from = l->p.row.v[s.first].addr;
		s.to = row->addr;
		if (s.from < s.to)
			vec_push(l->d->a, &l->sequence, s);
		s.first = i + 1;
	}
	return debug_count(l->d, l->p.row.n);
}

static int part_cmp(const void *x, const void *y)
{
	const struct part *a = x, *b = y;

	if (a->block->gen != b->block->gen)
		return a->block->gen < b->block->gen ? -1 : 1;
	return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static int collect_parts(struct lines *l)
{
	const struct blockmap *map = l->d->addresses.map;

	for (uint32_t s = 0; s < l->sequence.n; s++) {
		vaddr from = l->sequence.v[s].from, to = l->sequence.v[s].to;
		uint32_t first = search_first(
			i, 0, map->nblock,
			map->orig_base + map->block[map->by_orig[i]].orig +
				map->block[map->by_orig[i]].orig_size <= from);

		for (uint32_t i = first; i < map->nblock; i++) {
			const struct blockmap_block *b = &map->block[map->by_orig[i]];

			if (map->orig_base + b->orig >= to)
				break;
			if (debug_count(l->d, 1) < 0)
				return bad_lines(l, "the same lines again and again");
			vec_push(l->d->a, &l->part, ((struct part){ b, s }));
		}
	}
	if (l->part.n > 1)
		qsort(l->part.v, l->part.n, sizeof(*l->part.v), part_cmp);
	return 0;
}

/* --- scopes of rows --- */

struct place {				/* a row by its address */
	vaddr addr;
	uint32_t row;
};

static int place_cmp(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Inner scopes come after outer ones and take their rows. */
static int find_scopes(struct lines *l)
{
	const struct debug *d = l->d;
	uint32_t n = l->p.row.n;
	struct place *place = arena_array(d->a, n, sizeof(*place));

	l->scope = arena_array(d->a, n, sizeof(*l->scope));
	for (uint32_t i = 0; i < n; i++)
		place[i] = (struct place){ l->p.row.v[i].addr, i };
	if (n > 1)
		qsort(place, n, sizeof(*place), place_cmp);
	uint32_t s = search_first(i, 0, d->scope.n, d->scope.v[i].lines < l->off);

	for (; s < d->scope.n && d->scope.v[s].lines == l->off; s++) {
		const struct debug_scope *scope = &d->scope.v[s];
		uint32_t i = search_first(k, 0, n, place[k].addr < scope->range.from);

		for (; i < n && place[i].addr < scope->range.to; i++) {
			l->scope[place[i].row] = scope->id;
			if (debug_count(l->d, 1) < 0)
				return bad_lines(l, "ranges in ranges without end");
		}
	}
	return 0;
}

static bool same_begin(const struct stmt *a, const struct stmt *b)
{
	return a->scope == b->scope && a->file == b->file && a->line == b->line;
}

/* Row `row` of the original has become out[out]. */
static void note_stmt(struct lines *l, uint32_t row, uint32_t out, new_vaddr now)
{
	const struct lineprogram_row *was = &l->p.row.v[row];
	struct stmt s = { l->scope[row], was->file, was->line, out, was->addr, now, false,
			  l->begin[row] };

	if (was->is_stmt && was->line)
		vec_push(l->d->a, &l->stmt, s);
}

static int stmt_cmp(const void *x, const void *y)
{
	const struct stmt *a = x, *b = y;

	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->was != b->was)
		return a->was < b->was ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* The row stands at nothing but a jump to code with an image: where a layout makes such a jump
 * superfluous, nothing takes its place.  In front of it there may be NOPs, of which compilers
 * put no more than a few. */
static bool is_lone_jump(const struct lines *l, vaddr at)
{
	enum { MOST_NOPS = 64 };
	const struct addresses *ad = &l->d->addresses;
	struct bytes code = image_rest(ad->orig, at);
	struct insn insn;
	vaddr target;

	for (int n = 0; n < MOST_NOPS && insn_decode(code, at, &insn, &target) &&
			insn.kind == INSN_NOP; n++) {
		code = bytes_at(code, insn.len, code.n - insn.len);
		at += insn.len;
	}
	return insn_decode(code, at, &insn, &target) && insn.kind == INSN_JMP &&
	       blockmap_find_orig(ad->map, target) && !blockmap_find_orig(ad->map, at);
}

/* Where the line of each row begins: at the first of its line and scope. */
static void find_begins(struct lines *l)
{
	uint32_t n = l->p.row.n;
	struct stmt *stmt = arena_array(l->d->a, n, sizeof(*stmt)), *first = stmt;
	uint32_t nstmt = 0;

	l->begin = arena_array(l->d->a, n, sizeof(*l->begin));
	for (uint32_t i = 0; i < n; i++) {
		const struct lineprogram_row *row = &l->p.row.v[i];

		if (row->is_stmt && row->line && !row->end)
			stmt[nstmt++] = (struct stmt){ l->scope[i], row->file, row->line, i,
						       row->addr, 0, false, 0 };
	}
	if (nstmt > 1)
		qsort(stmt, nstmt, sizeof(*stmt), stmt_cmp);
	for (struct stmt *s = stmt; s < stmt + nstmt; s++) {
		if (!same_begin(s, first) || is_lone_jump(l, first->was))
			first = s;
		l->begin[s->row] = first->was;
	}
}

/* B3.  If the begin is in another scope now, a debugger would take the next place as well; if
 * it has no image, all images. */
static void choose_first(struct lines *l)
{
	struct stmt *end = l->stmt.v + l->stmt.n, *next;

	if (l->stmt.n > 1)
		qsort(l->stmt.v, l->stmt.n, sizeof(*l->stmt.v), stmt_cmp);
	for (struct stmt *from = l->stmt.v; from < end; from = next) {
		const struct stmt *begin = NULL;

		for (next = from; next < end && same_begin(next, from); next++)
			if (!begin && next->was == next->begin)
				begin = next;
		for (struct stmt *s = from; s < next; s++)
			if (!begin || s->now < begin->now ||
			    (begin->outside && s->now > begin->now))
				l->out.v[s->row].is_stmt = false;
	}
}

/* --- rows --- */

/* The rows of the original: those of functions with images, or all others.  Of what entry jumps
 * took the place of, and of code outside of functions that has an image, none is a place for
 * breakpoints (B1). */
static int copy_rows(struct lines *l, bool of_moved)
{
	const struct debug *d = l->d;
	bool begun = false;
	new_vaddr image;

	for (uint32_t i = 0; i < l->p.row.n; i++) {
		struct lineprogram_row row = l->p.row.v[i];
		int moved = 0;

		if (row.end || addresses_has(&d->moved, row.addr) != of_moved) {
			if (begun)
				vec_push(d->a, &l->out, ((struct lineprogram_row){
							.addr = row.addr, .end = true }));
			begun = false;
			continue;
		}
		if (!of_moved)
			moved = addresses_start(&l->d->addresses, row.addr, &image, NULL,
						d->err);
		if (moved < 0)
			return -1;
		if (moved || addresses_has(&d->jumps, row.addr) ||
		    (of_moved && l->begin[i] != row.addr))
			row.is_stmt = false;
		else if (!of_moved)
			note_stmt(l, i, l->out.n, row.addr);
		vec_push(d->a, &l->out, row);
		begun = true;
	}
	return 0;
}

static bool same_line(const struct lineprogram_row *a, const struct lineprogram_row *b)
{
	return a->file == b->file && a->line == b->line && a->column == b->column &&
	       a->discriminator == b->discriminator && a->isa == b->isa;
}

static void end_image(struct lines *l)
{
	if (l->end)
		vec_push(l->d->a, &l->out,
			 ((struct lineprogram_row){ .addr = l->end, .end = true }));
	l->end = 0;
}

/* The line that goes on from the row in front into the image at `at`. */
static void go_on(struct lines *l, uint32_t row, new_vaddr at)
{
	struct lineprogram_row now = l->p.row.v[row];

	if (l->end && same_line(&l->out.v[l->out.n - 1], &now))
		return;
	now.addr = at;
	now.is_stmt = now.basic_block = now.prologue_end = now.epilogue_begin = false;
	vec_push(l->d->a, &l->out, now);
}

/* The last instruction of the block that has an image; false if there is none. */
static bool find_last(struct lines *l, const struct blockmap_block *b, vaddr *was,
		      new_vaddr *now)
{
	const struct blockmap *map = l->d->addresses.map;
	const struct addresses_block *block =
		&l->d->addresses.block[b - map->block];

	for (uint32_t i = block->n; i > 0; i--)
		if (block->insn[i - 1].gen < block->insn[i - 1].gen_end) {
			*was = map->orig_base + b->orig + block->insn[i - 1].orig;
			*now = map->gen_base + b->gen + block->insn[i - 1].gen;
			return true;
		}
	return false;
}

static bool begins_line(const struct lineprogram_row *row)
{
	return row->is_stmt && row->line;
}

/* The scope that an instruction of the sequence is in, in front of row `behind`. */
static uint32_t scope_in_front(const struct lines *l, uint32_t sequence, uint32_t behind,
			       vaddr at)
{
	uint32_t first = l->sequence.v[sequence].first;
	uint32_t k = search_first(i, first, behind + 1, l->p.row.v[i].addr <= at);

	return l->scope[k > first ? k - 1 : first];
}

/* Room for n rows in front of out[at]. */
static void insert_rows(struct lines *l, uint32_t at, uint32_t n)
{
	uint32_t behind = l->out.n - at;

	for (uint32_t i = 0; i < n; i++)
		vec_push(l->d->a, &l->out, (struct lineprogram_row){ 0 });
	memmove(&l->out.v[at + n], &l->out.v[at], behind * sizeof(*l->out.v));
	for (uint32_t i = l->stmt.n; i > 0 && l->stmt.v[i - 1].row >= at; i--)
		l->stmt.v[i - 1].row += n;
}

/* B2: rows [was, behind) of the original, at the end of the image that was begun with
 * out[first].  The last of them is the first there. */
static void begin_lines_before(struct lines *l, const struct part *part, uint32_t first,
			       uint32_t was, uint32_t behind)
{
	struct lineprogram_row on;
	new_vaddr at;
	vaddr in_front;
	uint32_t n = 0;

	for (uint32_t k = was; k < behind; k++)
		n += begins_line(&l->p.row.v[k]);
	if (n == 0 || !find_last(l, part->block, &in_front, &at))
		return;
	uint32_t i = search_first(k, first, l->out.n, l->out.v[k].addr < at);
	if (i == l->out.n) {		/* the line that the instruction is in */
		if (i == 0 || l->out.v[i - 1].end)
			return;
		on = l->out.v[i - 1];
		on.addr = at;
		on.is_stmt = on.basic_block = on.prologue_end = on.epilogue_begin = false;
		vec_push(l->d->a, &l->out, on);
	}
	insert_rows(l, i, n);
	for (; was < behind; was++) {
		struct lineprogram_row row = l->p.row.v[was];

		if (!begins_line(&row))
			continue;
		row.addr = at;
		l->out.v[i + --n] = row;
		note_stmt(l, was, i + n, at);
		l->stmt.v[l->stmt.n - 1].outside =
			scope_in_front(l, part->sequence, was, in_front) != l->scope[was];
	}
}

static int write_part(struct lines *l, const struct part *part)
{
	const struct blockmap *map = l->d->addresses.map;
	const struct blockmap_block *b = part->block;
	const struct sequence *s = &l->sequence.v[part->sequence];
	vaddr from = map->orig_base + b->orig, to = from + b->orig_size;
	new_vaddr at = map->gen_base + b->gen, end = at + b->gen_size;
	uint32_t i;

	if (s->from > from) {
		from = s->from;
		if (addresses_start(&l->d->addresses, from, &at, NULL, l->d->err) < 0)
			return -1;
	}
	if (s->to < to) {
		to = s->to;
		if (addresses_start(&l->d->addresses, to, &end, NULL, l->d->err) < 0)
			return -1;
	}
	if (at >= end)
		return 0;
	if (at != l->end)
		end_image(l);
	uint32_t first = l->out.n;
	i = search_first(k, s->first, s->end, l->p.row.v[k].addr < from);
	if (l->p.row.v[i].addr > from)		/* never the first: that is at s->from */
		go_on(l, i - 1, at);
	for (; i < s->end && l->p.row.v[i].addr < to; i++) {
		struct lineprogram_row row = l->p.row.v[i];
		bool left_out;

		if (addresses_start(&l->d->addresses, row.addr, &row.addr, &left_out,
				    l->d->err) < 0)
			return -1;
		if (left_out && row.addr >= end)
			break;			/* and so is all behind it */
		note_stmt(l, i, l->out.n, row.addr);
		vec_push(l->d->a, &l->out, row);
	}
	uint32_t behind = search_first(k, i, s->end, l->p.row.v[k].addr < to);
	begin_lines_before(l, part, first, i, behind);
	l->end = end;
	return 0;
}

static int read_program(struct lines *l)
{
	enum { MAX_ROWS = 1 << 26 };	/* of one unit; 40 times the largest known */

	if (lineprogram_run(&l->p, l->d->a, MAX_ROWS) < 0)
		return bad_lines(l, "a bad line program");
	if (collect_sequences(l) < 0 || collect_parts(l) < 0 || find_scopes(l) < 0)
		return -1;
	find_begins(l);
	return 0;
}

/* The program of the unit with the images. */
static int write_images(struct lines *l)
{
	if (copy_rows(l, false) < 0)
		return -1;
	for (uint32_t i = 0; i < l->part.n; i++)
		if (write_part(l, &l->part.v[i]) < 0)
			return -1;
	end_image(l);
	choose_first(l);
	lineprogram_write(&l->p, &l->out, &l->d->section[DEBUG_LINE].now);
	return 0;
}

/* The program of the unit with their originals, if it has rows. */
static int write_originals(struct lines *l)
{
	l->out.n = 0;
	if (copy_rows(l, true) < 0)
		return -1;
	if (l->out.n > 0)
		lineprogram_write(&l->p, &l->out, &l->d->section[DEBUG_LINE].now);
	return 0;
}

/* The unit at `off`; *end is where the next one begins. */
struct moved_unit {
	uint64_t was, now, originals;
};

static int translate_unit(struct debug *d, struct moved_unit *m, uint64_t *end)
{
	struct bytes all = d->section[DEBUG_LINE].was;
	struct lines l = { .d = d, .off = m->was };
	struct rd r = rd_of(bytes_at(all, l.off, all.n - l.off));
	struct bytes unit = bytes_at(all, l.off, 4 + (uint64_t)rd_u32(&r));
	struct wr *out = &d->section[DEBUG_LINE].now;

	if (!unit.p)
		return bad_lines(&l, "a line program without an end, or of the 64-bit form");
	*end = m->was + unit.n;
	m->now = m->originals = out->n;
	int known = lineprogram_read_header(unit, &l.p);
	if (known < 0)
		return bad_lines(&l, "a bad header of a line program");
	if (!known) {
		wr_raw(out, unit.p, unit.n);
		return 0;
	}
	if (read_program(&l) < 0 || write_images(&l) < 0)
		return -1;
	uint64_t at = out->n;
	if (write_originals(&l) < 0)
		return -1;
	if (out->n > at)
		m->originals = at;
	return 0;
}

static int scope_cmp(const void *x, const void *y)
{
	const struct debug_scope *a = x, *b = y;

	if (a->lines != b->lines)
		return a->lines < b->lines ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static void sort_scopes(struct debug *d)
{
	for (uint32_t i = 0; i < d->scope.n; i++) {
		d->scope.v[i].order = i;
		d->scope.v[i].id = d->belongs.v[d->scope.v[i].id];
	}
	if (d->scope.n > 1)
		qsort(d->scope.v, d->scope.n, sizeof(*d->scope.v), scope_cmp);
}

/* Blocks in blocks: outer ones have smaller numbers. */
static void settle_scopes(struct debug *d)
{
	for (uint32_t i = 0; i < d->belongs.n; i++)
		d->belongs.v[i] = d->belongs.v[d->belongs.v[i]];
}

int debug_translate_lines(struct debug *d)
{
	struct debug_section *s = &d->section[DEBUG_LINE];
	VEC(struct moved_unit) units = { 0 };
	uint64_t end = 0;

	settle_scopes(d);
	sort_scopes(d);
	for (uint64_t off = 0; off < s->was.n; off = end) {
		struct moved_unit m = { .was = off };

		if (translate_unit(d, &m, &end) < 0)
			return -1;
		vec_push(d->a, &units, m);
		if (s->now.n > UINT32_MAX / 2)
			return debug_malformed(d, DEBUG_LINE, off, "too many lines");
	}
	for (uint32_t i = 0; i < d->line_fix.n; i++) {
		const struct debug_fix *fix = &d->line_fix.v[i];
		uint32_t k = search_first(j, 0, units.n, units.v[j].was < fix->was);

		if (k == units.n || units.v[k].was != fix->was)
			return debug_malformed(d, fix->section, fix->at,
					       "a line program that is not there");
		wr_put_u32(&d->section[fix->section].now, fix->at,
			   (uint32_t)(fix->originals ? units.v[k].originals :
						       units.v[k].now));
	}
	return 0;
}
