/* emit.c - from a program with counts and a layout to the bytes of a generation
 *
 * Needs the layout in prog->order, fn->order, block->cold and block->warm.  The steps:
 *
 *   emit_plan_fill      what goes where and how each block ends; sizes of everything
 *   elfout_plan/place   addresses of new text, tables, unwind sections
 *   emit_dynsyms_fill   names for parts of exported functions
 *   emit_*_write        bytes
 *   fill_symbols        names for new text, where the original has names
 *   emit_probes_write   notes of static probe points
 *   fill_map            the block map
 *   elfout_write        the file
 *
 * The same input gives the same bytes: the result does not depend on addresses in our memory,
 * on the order of a hash table, or on time.
 */
#include <stdlib.h>

#include "editor/emit/generation.h"
#include "editor/emit/elfout.h"
#include "editor/emit/emit.h"
#include "editor/emit/counterruntime.h"
#include "lib/blockmap.h"
#include "lib/err.h"

struct emitter {			/* one generation in the making */
	struct prog *prog;
	struct edgecounters *counters;		/* NULL: nothing is counted */
	struct emit_plan plan;
	struct elfout eo;
	struct elfout_parts parts;
	struct arena *rows;			/* of unwind */
	struct emit_unwind unwind;
	struct emit_lsda lsda;
	/* rodata: jump tables, exception tables */
	struct wr text, rodata, hdr, frame, map, probes;
	/* [norder] of entry jumps, ascending, from prog->base */
	uint32_t *entry;
	struct err *err;
};

struct map_blocks {			/* VEC, in an arena */
	struct blockmap_block *v;
	uint32_t n, cap;
	struct arena *a;
};

static int compare_entry(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* What changes in the bytes of the original: the 5-byte jumps from the entries of functions to
 * their images, and the pointers that lead to images now. */
static int fill_patches(struct emitter *e)
{
	const struct prog *prog = e->prog;
	struct elfout_patch *patch =
		arena_array(prog->arena, (size_t)prog->norder + prog->nref + 1, sizeof(*patch));

	e->entry = arena_array(prog->arena, prog->norder, sizeof(*e->entry));

	for (uint32_t i = 0; i < prog->norder; i++) {
		const struct fn *fn = &prog->fn[prog->order[i]];
		vaddr at = fn->entry + fn->patch_off;
		new_vaddr to = emit_place_addr(&e->plan, e->plan.place_of[prog->order[i]][0]);
		int64_t d = (int64_t)(to - (at + 5));
		int32_t v = (int32_t)d;

		struct bytes code = image_at(&prog->img, at, 5);

		if (fn->range[0].size < fn->patch_off + 5 || !code.p)
			return err_set(e->err, ERR_REFUSED, "%s: too short for an entry jump",
				       emit_fn_text(prog, fn));
		if (d != v)
			return err_set(e->err, ERR_REFUSED, "%s: its image is out of reach",
				       emit_fn_text(prog, fn));
		patch[i] = (struct elfout_patch){ .off = (file_off)(code.p - prog->img.file.p),
						  .size = 5,
						  .byte = { 0xe9 } };
		memcpy(patch[i].byte + 1, &v, 4);
		e->entry[i] = (uint32_t)(at - prog->base);
	}
	qsort(e->entry, prog->norder, sizeof(*e->entry), compare_entry);
	e->parts.patch = patch;
	e->parts.npatch =
		prog->norder + emit_redirect_write(&e->plan, &e->eo, patch + prog->norder);
	if (!e->counters)
		return 0;
	e->parts.entry = emit_runtime_entry(&e->plan, &e->eo);
	return emit_runtime_init(&e->plan, &e->eo, patch, &e->parts.npatch, e->err);
}

static int write_code(struct emitter *e)
{
	const struct emit_plan *plan = &e->plan;

	if (emit_unwind_fill(plan, e->rows, &e->unwind, e->err) < 0 ||
	    emit_lsda_fill(plan, &e->unwind, &e->lsda, e->err) < 0)
		return -1;
	struct ehframe_input frame = {
		.cfi = &e->prog->cfi, .span = e->unwind.row_span, .row = e->unwind.row,
		.nspan = e->unwind.nspan,
	};
	uint64_t text_size = plan->text_size;

	if (e->counters) {
		frame.nspan += emit_runtime_unwind(plan, e->rows, &e->unwind);
		frame.span = e->unwind.row_span;
		frame.row = e->unwind.row;
		text_size = emit_runtime_off(plan) + emit_runtime_size(plan);
	}
	elfout_place(&e->eo, text_size, plan->tables_size + e->lsda.bytes.n,
		     ehframe_hdr_size(&frame), &e->parts);
	e->plan.tables_addr = e->parts.tables_addr;
	if (emit_code_write(plan, &e->text, e->err) < 0 ||
	    emit_tables_write(plan, &e->rodata, e->err) < 0 || fill_patches(e) < 0 ||
	    emit_lsda_place(&e->lsda, e->parts.tables_addr + plan->tables_size, &e->unwind,
			    e->err) < 0)
		return -1;
	wr_raw(&e->rodata, e->lsda.bytes.p, e->lsda.bytes.n);
	if (e->counters)
		emit_runtime_write(plan, &e->text);
	if (ehframe_write(&frame, e->parts.hdr_addr, e->parts.frame_addr, &e->hdr, &e->frame,
			  e->err) < 0)
		return -1;
	arena_reset(e->rows);
	return 0;
}

static void fill_map_segments(struct emitter *e, struct arena *a, struct blockmap *map)
{
	const struct image *img = &e->prog->img;

	map->seg = arena_array(a, img->nph + 1, sizeof(*map->seg));
	for (uint32_t i = 0; i < img->nph; i++)
		if (img->ph[i].p_type == PT_LOAD && (img->ph[i].p_flags & PF_X))
			map->seg[map->nseg++] = (struct blockmap_seg){
				img->ph[i].p_vaddr, img->ph[i].p_offset + e->eo.lift,
				img->ph[i].p_filesz };
	map->seg[map->nseg++] = (struct blockmap_seg){
		e->eo.text_addr, e->eo.text_off, e->text.n };
}

static bool is_longer(const struct emitter *e, const struct emit_place *p, uint32_t k)
{
	const struct fn *fn = &e->prog->fn[p->fn];

	return emit_insn_size(&e->plan, p, k) != fn->insn[fn->block[p->block].insn + k].len;
}

/* Adds a line of the map for the instructions [first, end) of a place's block, whose images
 * begin at `gen`; with end == UINT32_MAX up to the end of the image and of the block. */
static void add_map_line(const struct emitter *e, uint32_t index, uint32_t first, uint32_t end,
			 uint32_t gen, struct map_blocks *out)
{
	const struct emit_place *p = &e->plan.place[index];
	const struct fn *fn = &e->prog->fn[p->fn];
	const struct block *b = &fn->block[p->block];
	struct blockmap_block line = { .gen = gen, .orig = fn->insn[b->insn + first].off };

	line.called = first < p->nkept && fn->insn[b->insn + first].kind == INSN_CALL &&
		      is_longer(e, p, first);
	if (end < p->nkept) {
		for (uint32_t i = first; i < end; i++)
			line.gen_size += emit_insn_size(&e->plan, p, i);
		line.orig_size = fn->insn[b->insn + end].off - line.orig;
	} else {
		line.gen_size =
			(uint32_t)(emit_place_addr(&e->plan, index) - e->plan.text_addr +
				   emit_place_size(&e->plan, index)) -
			gen;
		line.orig_size = (uint32_t)(b->addr - e->prog->base) + b->size - line.orig;
	}
	vec_push(out->a, out, line);
}

/* Adds the lines of one place to the map.  A call whose image is longer begins a new line, so
 * that offsets within a line are the same on both sides except in that call and in the branch
 * at the end.  Any other instruction whose image is longer is a line by itself.  With edge
 * counters a block is one line, in which offsets are not the same on both sides. */
static void fill_map_place(const struct emitter *e, uint32_t index, struct map_blocks *out)
{
	const struct emit_plan *plan = &e->plan;
	const struct emit_place *p = &plan->place[index];
	const struct fn *fn = &e->prog->fn[p->fn];
	const struct block *b = &fn->block[p->block];
	uint32_t first = 0, gen = (uint32_t)(emit_place_addr(plan, index) - plan->text_addr);
	uint32_t at = gen;
	bool behind_longer = false;	/* one that is no call */

	if (emit_place_size(plan, index) == 0)
		return;
	for (uint32_t i = 0; i < p->nkept; i++) {
		const struct insn *insn = &fn->insn[b->insn + i];
		uint32_t size = emit_insn_size(plan, p, i);
		bool apart = size != insn->len || behind_longer;

		if (i > first && apart && !plan->counters) {
			add_map_line(e, index, first, i, gen, out);
			first = i;
			gen = at;
		}
		behind_longer = size != insn->len && insn->kind != INSN_CALL;
		at += size;
	}
	add_map_line(e, index, first, UINT32_MAX, gen, out);
}

static void fill_map_blocks(struct emitter *e, struct arena *a, struct blockmap *map)
{
	struct map_blocks all = { .a = a };

	for (uint32_t i = 0; i < e->plan.nplace; i++)
		fill_map_place(e, i, &all);
	map->block = all.v;
	map->nblock = all.n;
}

/* The last step that needs the plan, which is freed here: its memory is free again when the
 * file is put together. */
static void write_map(struct emitter *e, uint32_t generation)
{
	struct arena *a = arena_new();
	const struct emit_plan *plan = &e->plan;
	struct blockmap map = {
		.generation = generation, .original = e->prog->digest,
		.orig_base = e->prog->base, .gen_base = plan->text_addr,
		.hot_size = (uint32_t)plan->hot_size,
		.fluff_size = (uint32_t)(plan->text_size - plan->hot_size),
		.nentry = e->prog->norder, .entry = e->entry, .ntable = plan->ntable,
	};

	fill_map_segments(e, a, &map);
	fill_map_blocks(e, a, &map);
	map.table = arena_array(a, map.ntable, sizeof(*map.table));
	for (uint32_t i = 0; i < map.ntable; i++) {
		const struct emit_table *et = &plan->table[i];
		const struct jump_table *t = &e->prog->fn[et->fn].table[et->table];

		map.table[i] = (struct blockmap_table){
			.orig_addr = t->addr, .new_addr = plan->tables_addr + et->off,
			.nentry = t->nentry, .kind = t->kind,
		};
	}
	emit_plan_free(&e->plan);
	blockmap_write(&map, &e->map);
	arena_free(a);
}

/* Moved functions, in the order of their originals; index[] of each of prog->fn[]. */
static uint32_t *fill_moved(struct emitter *e)
{
	const struct emit_plan *plan = &e->plan;
	const struct prog *prog = e->prog;
	uint32_t *index = arena_array(prog->arena, prog->nfn, sizeof(*index));

	e->parts.moved = arena_array(prog->arena, prog->norder, sizeof(*e->parts.moved));
	for (uint32_t i = 0; i < prog->nfn; i++) {
		const struct fn *fn = &prog->fn[i];

		if (!fn->moved)
			continue;
		uint32_t place = plan->place_of[i][0];

		index[i] = e->parts.nmoved;
		e->parts.moved[e->parts.nmoved++] = (struct elfout_moved){
			.name = fn->symbol, .from = fn->entry, .old_size = fn->range[0].size,
			.to = emit_place_addr(plan, place),
			.size = emit_part_size(plan, place), .hot = plan->place[place].hot,
		};
	}
	return index;
}

/* Parts of functions that have a name: runs of places that begin with starts_part. */
static void fill_symbols(struct emitter *e)
{
	const struct emit_plan *plan = &e->plan;
	VEC(struct elfout_symbol) symbol = { 0 };

	if (!elfout_has_symbols(&e->eo))
		return;
	const uint32_t *index = fill_moved(e);
	for (uint32_t i = 0, n; i < plan->nplace; i = n) {
		uint32_t f = plan->place[i].fn;
		const struct fn *fn = &e->prog->fn[f];
		struct elfout_symbol s = { .name = fn->symbol, .addr = emit_place_addr(plan, i),
					   .hot = plan->place[i].hot };

		for (n = i + 1; n < plan->nplace && !plan->place[n].starts_part; )
			n++;
		s.size = emit_part_size(plan, i);
		s.begins = plan->place_of[f][0] == i ? index[f] : ELFOUT_INNER;
		if (s.name && s.size > 0)
			vec_push(e->prog->arena, &symbol, s);
	}
	e->parts.symbol = symbol.v;
	e->parts.nsymbol = symbol.n;
}

static int write_file(struct emitter *e, struct wr *out)
{
	e->parts.text = wr_bytes(&e->text);
	e->parts.hot_size = e->plan.hot_size;
	e->parts.tables = wr_bytes(&e->rodata);
	e->parts.hdr = wr_bytes(&e->hdr);
	e->parts.frame = wr_bytes(&e->frame);
	e->parts.map = wr_bytes(&e->map);
	e->parts.probes = wr_bytes(&e->probes);
	return elfout_write(&e->eo, &e->parts, out, e->err);
}

static void fill_stats(const struct emitter *e, const struct wr *out, struct edit_stats *stats)
{
	stats->functions_moved = e->prog->norder;
	stats->hot_bytes = e->plan.hot_size;
	stats->fluff_bytes = e->plan.text_size - e->plan.hot_size;
	stats->original_bytes = 0;
	stats->jump_tables = 0;
	stats->functions_redirected = stats->functions_threaded = 0;
	for (uint32_t i = 0; i < e->prog->norder; i++) {
		const struct fn *fn = &e->prog->fn[e->prog->order[i]];

		stats->jump_tables += fn->ntable;
		stats->functions_redirected += fn->redirected;
		stats->functions_threaded += fn->threaded;
		for (uint32_t k = 0; k < fn->nrange; k++)
			stats->original_bytes += fn->range[k].size;
	}
	stats->jump_tables_new = e->plan.ntable;
	stats->file_bytes_before = e->prog->img.file.n;
	stats->file_bytes_after = out->n;
	stats->layout = e->eo.layout;
}

/* Where counters and the counter runtime's entries are, which edge counters lead to. */
static int place_counters(struct emitter *e)
{
	struct edgecounters *c = e->counters;

	if (!c)
		return 0;
	new_vaddr runtime = e->plan.text_addr + emit_runtime_off(&e->plan);
	if (runtime - e->eo.counters_addr > INT32_MAX)
		return err_set(e->err, ERR_REFUSED,
			       "new text and counters would be over 2 GiB");
	c->counter_addr = e->eo.counters_addr;
	c->runtime_target = runtime + counterruntime_target();
	c->runtime_jump = runtime + counterruntime_jump();
	emit_runtime_moves(&e->plan);
	return 0;
}

static int emit(struct prog *prog, struct edgecounters *counters, uint32_t number,
		struct wr *out, struct wr *map, struct edit_stats *stats, struct err *err)
{
	struct emitter e = {
		.prog = prog, .counters = counters, .rows = arena_new(), .err = err };
	struct wr file = { 0 };
	int rc = -1;

	if (emit_plan_fill(&e.plan, prog, counters, err) < 0 ||
	    elfout_plan_counters(prog, counters ? counters->size : 0, &e.eo, err) < 0)
		goto out;
	e.plan.text_addr = e.eo.text_addr;
	e.parts.ndynsym = elfout_make_dynsym_room(
		&e.eo, emit_dynsyms_fill(&e.plan, &e.parts.dynsym));
	if (place_counters(&e) < 0 || write_code(&e) < 0)
		goto out;
	fill_symbols(&e);
	e.parts.probes_section = emit_probes_write(&e.plan, &e.probes);
	write_map(&e, number);
	if (write_file(&e, &file) < 0)
		goto out;
	fill_stats(&e, &file, stats);
	wr_move(out, &file);
	wr_move(map, &e.map);
	rc = 0;
out:
	emit_plan_free(&e.plan);
	arena_free(e.rows);
	wr_free(&file);
	wr_free(&e.text);
	wr_free(&e.rodata);
	wr_free(&e.lsda.bytes);
	wr_free(&e.hdr);
	wr_free(&e.frame);
	wr_free(&e.map);
	wr_free(&e.probes);
	return rc;
}

int emit_generation(struct prog *prog, uint32_t number, struct wr *out, struct wr *map,
		    struct edit_stats *stats, struct err *err)
{
	return emit(prog, NULL, number, out, map, stats, err);
}

int emit_instrumented(struct prog *prog, struct edgecounters *counters, struct wr *out,
		      struct wr *map, struct edit_stats *stats, struct err *err)
{
	return emit(prog, counters, 0, out, map, stats, err);
}
