/* emit.c - from an annotated and laid out program to the bytes of a generation
 *
 * Needs: prog->order, fn->order, block->cold and warm.  The steps:
 *
 *   emit_plan_fill      what goes where and how each block ends; sizes of everything
 *   elfout_plan/place   addresses of new text, tables, unwind sections
 *   emit_*_write        bytes
 *   fill_symbols        names for new text, where the original has names
 *   emit_probes_write   notes of static probe points
 *   fill_map            the block map
 *   elfout_write        the file
 *
 * Results depend on nothing but the input: no addresses of our own, no hash order, no time.
 */
#include <stdlib.h>

#include "editor/emit/generation.h"
#include "editor/emit/elfout.h"
#include "editor/emit/emit.h"
#include "editor/emit/counterruntime.h"
#include "lib/blockmap.h"
#include "lib/err.h"

struct job {
	struct prog *prog;
	struct tallies *tallies;		/* NULL: nothing is counted */
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

/* The 5-byte jumps from the original entries to their images, and pointers that lead there. */
static int fill_patches(struct job *j)
{
	const struct prog *prog = j->prog;
	struct elfout_patch *patch =
		arena_array(prog->arena, (size_t)prog->norder + prog->nref + 1, sizeof(*patch));

	j->entry = arena_array(prog->arena, prog->norder, sizeof(*j->entry));

	for (uint32_t i = 0; i < prog->norder; i++) {
		const struct fn *fn = &prog->fn[prog->order[i]];
		vaddr at = fn->entry + fn->patch_off;
		new_vaddr to = emit_place_addr(&j->plan, j->plan.place_of[prog->order[i]][0]);
		int64_t d = (int64_t)(to - (at + 5));
		int32_t v = (int32_t)d;

		struct bytes code = image_at(&prog->img, at, 5);

		if (fn->range[0].size < fn->patch_off + 5 || !code.p)
			return err_set(j->err, ERR_REFUSED, "%s: too short for an entry jump",
				       emit_fn_text(prog, fn));
		if (d != v)
			return err_set(j->err, ERR_REFUSED, "%s: its image is out of reach",
				       emit_fn_text(prog, fn));
		patch[i] = (struct elfout_patch){ .off = (file_off)(code.p - prog->img.file.p),
						  .size = 5,
						  .byte = { 0xe9 } };
		memcpy(patch[i].byte + 1, &v, 4);
		j->entry[i] = (uint32_t)(at - prog->base);
	}
	qsort(j->entry, prog->norder, sizeof(*j->entry), compare_entry);
	j->parts.patch = patch;
	j->parts.npatch =
		prog->norder + emit_redirect_write(&j->plan, &j->eo, patch + prog->norder);
	if (!j->tallies)
		return 0;
	j->parts.entry = emit_start_entry(&j->plan, &j->eo);
	return emit_start_init(&j->plan, &j->eo, patch, &j->parts.npatch, j->err);
}

static int write_code(struct job *j)
{
	const struct emit_plan *plan = &j->plan;

	if (emit_unwind_fill(plan, j->rows, &j->unwind, j->err) < 0 ||
	    emit_lsda_fill(plan, &j->unwind, &j->lsda, j->err) < 0)
		return -1;
	struct ehframe_input frame = {
		.cfi = &j->prog->cfi, .piece = j->unwind.row_piece, .row = j->unwind.row,
		.npiece = j->unwind.npiece,
	};
	uint64_t text_size = plan->text_size;

	if (j->tallies) {
		frame.npiece += emit_routine_unwind(plan, j->rows, &j->unwind);
		frame.piece = j->unwind.row_piece;
		frame.row = j->unwind.row;
		text_size = emit_routine_off(plan) + tallyroutine_size(j->tallies->code);
	}
	elfout_place(&j->eo, text_size, plan->tables_size + j->lsda.bytes.n,
		     ehframe_hdr_size(&frame), &j->parts);
	j->plan.tables_addr = j->parts.tables_addr;
	if (emit_code_write(plan, &j->text, j->err) < 0 ||
	    emit_tables_write(plan, &j->rodata, j->err) < 0 || fill_patches(j) < 0 ||
	    emit_lsda_place(&j->lsda, j->parts.tables_addr + plan->tables_size, &j->unwind,
			    j->err) < 0)
		return -1;
	wr_raw(&j->rodata, j->lsda.bytes.p, j->lsda.bytes.n);
	if (j->tallies)
		emit_routine_write(plan, &j->text);
	if (ehframe_write(&frame, j->parts.hdr_addr, j->parts.frame_addr, &j->hdr, &j->frame,
			  j->err) < 0)
		return -1;
	arena_reset(j->rows);
	return 0;
}

static void fill_map_segments(struct job *j, struct arena *a, struct blockmap *map)
{
	const struct image *img = &j->prog->img;

	map->seg = arena_array(a, img->nph + 1, sizeof(*map->seg));
	for (uint32_t i = 0; i < img->nph; i++)
		if (img->ph[i].p_type == PT_LOAD && (img->ph[i].p_flags & PF_X))
			map->seg[map->nseg++] = (struct blockmap_seg){
				img->ph[i].p_vaddr, img->ph[i].p_offset + j->eo.lift,
				img->ph[i].p_filesz };
	map->seg[map->nseg++] = (struct blockmap_seg){
		j->eo.text_addr, j->eo.text_off, j->text.n };
}

static bool is_longer(const struct job *j, const struct emit_place *p, uint32_t k)
{
	const struct fn *fn = &j->prog->fn[p->fn];

	return emit_insn_size(&j->plan, p, k) != fn->insn[fn->block[p->block].insn + k].len;
}

/* Its instructions from `first` on begin at `gen`: a line of the map up to the instruction
 * `end`, or to the end of the image and of the original. */
static void add_map_line(const struct job *j, uint32_t index, uint32_t first, uint32_t end,
			 uint32_t gen, struct map_blocks *out)
{
	const struct emit_place *p = &j->plan.place[index];
	const struct fn *fn = &j->prog->fn[p->fn];
	const struct block *b = &fn->block[p->block];
	struct blockmap_block line = { .gen = gen, .orig = fn->insn[b->insn + first].off };

	line.called = first < p->nkept && fn->insn[b->insn + first].kind == INSN_CALL &&
		      is_longer(j, p, first);
	if (end < p->nkept) {
		for (uint32_t i = first; i < end; i++)
			line.gen_size += emit_insn_size(&j->plan, p, i);
		line.orig_size = fn->insn[b->insn + end].off - line.orig;
	} else {
		line.gen_size =
			(uint32_t)(emit_place_addr(&j->plan, index) - j->plan.text_addr +
				   emit_place_size(&j->plan, index)) -
			gen;
		line.orig_size = (uint32_t)(b->addr - j->prog->base) + b->size - line.orig;
	}
	vec_push(out->a, out, line);
}

/* One line of the map, or more: with a call whose image is longer a new one begins, so that
 * offsets within a line are the same on both sides but for that call and the branch at the
 * end.  Anything else whose image is longer is a line by itself.  Between instructions that
 * count offsets have no meaning. */
static void fill_map_place(const struct job *j, uint32_t index, struct map_blocks *out)
{
	const struct emit_plan *plan = &j->plan;
	const struct emit_place *p = &plan->place[index];
	const struct fn *fn = &j->prog->fn[p->fn];
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

		if (i > first && apart && !plan->tallies) {
			add_map_line(j, index, first, i, gen, out);
			first = i;
			gen = at;
		}
		behind_longer = size != insn->len && insn->kind != INSN_CALL;
		at += size;
	}
	add_map_line(j, index, first, UINT32_MAX, gen, out);
}

static void fill_map_blocks(struct job *j, struct arena *a, struct blockmap *map)
{
	struct map_blocks all = { .a = a };

	for (uint32_t i = 0; i < j->plan.nplace; i++)
		fill_map_place(j, i, &all);
	map->block = all.v;
	map->nblock = all.n;
}

/* The last that needs the plan. */
static void write_map(struct job *j, uint32_t generation)
{
	struct arena *a = arena_new();
	const struct emit_plan *plan = &j->plan;
	struct blockmap map = {
		.generation = generation, .original = j->prog->digest,
		.orig_base = j->prog->base, .gen_base = plan->text_addr,
		.hot_size = (uint32_t)plan->hot_size,
		.fluff_size = (uint32_t)(plan->text_size - plan->hot_size),
		.nentry = j->prog->norder, .entry = j->entry, .ntable = plan->ntable,
	};

	fill_map_segments(j, a, &map);
	fill_map_blocks(j, a, &map);
	map.table = arena_array(a, map.ntable, sizeof(*map.table));
	for (uint32_t i = 0; i < map.ntable; i++) {
		const struct emit_table *et = &plan->table[i];
		const struct jump_table *t = &j->prog->fn[et->fn].table[et->table];

		map.table[i] = (struct blockmap_table){
			.orig_addr = t->addr, .new_addr = plan->tables_addr + et->off,
			.nentry = t->nentry, .kind = t->kind,
		};
	}
	emit_plan_free(&j->plan);
	blockmap_write(&map, &j->map);
	arena_free(a);
}

/* Parts of functions that have a name: runs of places that begin with starts_piece. */
static void fill_symbols(struct job *j)
{
	const struct emit_plan *plan = &j->plan;
	VEC(struct elfout_symbol) symbol = { 0 };

	if (!elfout_has_symbols(&j->eo))
		return;
	for (uint32_t i = 0, n; i < plan->nplace; i = n) {
		const struct fn *fn = &j->prog->fn[plan->place[i].fn];
		struct elfout_symbol s = { .name = fn->symbol, .addr = emit_place_addr(plan, i),
					   .hot = plan->place[i].hot };

		for (n = i + 1; n < plan->nplace && !plan->place[n].starts_piece; )
			n++;
		s.size = emit_place_addr(plan, n - 1) + emit_place_size(plan, n - 1) - s.addr;
		if (s.name && s.size > 0)
			vec_push(j->prog->arena, &symbol, s);
	}
	j->parts.symbol = symbol.v;
	j->parts.nsymbol = symbol.n;
}

static int write_file(struct job *j, struct wr *out)
{
	j->parts.text = wr_bytes(&j->text);
	j->parts.hot_size = j->plan.hot_size;
	j->parts.tables = wr_bytes(&j->rodata);
	j->parts.hdr = wr_bytes(&j->hdr);
	j->parts.frame = wr_bytes(&j->frame);
	j->parts.map = wr_bytes(&j->map);
	j->parts.probes = wr_bytes(&j->probes);
	return elfout_write(&j->eo, &j->parts, out, j->err);
}

static void fill_stats(const struct job *j, const struct wr *out, struct edit_stats *stats)
{
	stats->functions_moved = j->prog->norder;
	stats->hot_bytes = j->plan.hot_size;
	stats->fluff_bytes = j->plan.text_size - j->plan.hot_size;
	stats->original_bytes = 0;
	stats->jump_tables = 0;
	stats->functions_redirected = stats->functions_threaded = 0;
	for (uint32_t i = 0; i < j->prog->norder; i++) {
		const struct fn *fn = &j->prog->fn[j->prog->order[i]];

		stats->jump_tables += fn->ntable;
		stats->functions_redirected += fn->redirected;
		stats->functions_threaded += fn->threaded;
		for (uint32_t k = 0; k < fn->nrange; k++)
			stats->original_bytes += fn->range[k].size;
	}
	stats->jump_tables_new = j->plan.ntable;
	stats->file_bytes_before = j->prog->img.file.n;
	stats->file_bytes_after = out->n;
	stats->layout = j->eo.layout;
}

static int emit(struct prog *prog, struct tallies *tallies, uint32_t number, struct wr *out,
		struct wr *map, struct edit_stats *stats, struct err *err)
{
	struct job j = { .prog = prog, .tallies = tallies, .rows = arena_new(), .err = err };
	struct wr file = { 0 };
	int rc = -1;

	if (emit_plan_fill(&j.plan, prog, tallies, err) < 0 ||
	    elfout_plan_counters(prog, tallies ? tallies->size : 0, &j.eo, err) < 0)
		goto out;
	j.plan.text_addr = j.eo.text_addr;
	if (tallies) {
		tallies->counters = j.eo.counters_addr;
		tallies->routine = j.plan.text_addr + emit_routine_off(&j.plan) +
				   tallyroutine_target();
		tallies->jump_routine = tallies->routine + tallyroutine_jump();
		emit_routine_moves(&j.plan);
	}
	if (write_code(&j) < 0)
		goto out;
	fill_symbols(&j);
	j.parts.probes_section = emit_probes_write(&j.plan, &j.probes);
	write_map(&j, number);
	if (write_file(&j, &file) < 0)
		goto out;
	fill_stats(&j, &file, stats);
	wr_move(out, &file);
	wr_move(map, &j.map);
	rc = 0;
out:
	emit_plan_free(&j.plan);
	arena_free(j.rows);
	wr_free(&file);
	wr_free(&j.text);
	wr_free(&j.rodata);
	wr_free(&j.lsda.bytes);
	wr_free(&j.hdr);
	wr_free(&j.frame);
	wr_free(&j.map);
	wr_free(&j.probes);
	return rc;
}

int emit_generation(struct prog *prog, uint32_t number, struct wr *out, struct wr *map,
		    struct edit_stats *stats, struct err *err)
{
	return emit(prog, NULL, number, out, map, stats, err);
}

int emit_instrumented(struct prog *prog, struct tallies *tallies, struct wr *out,
		      struct wr *map, struct edit_stats *stats, struct err *err)
{
	return emit(prog, tallies, 0, out, map, stats, err);
}
