/* originals.c - units for the originals of moved functions
 *
 * Control hardly runs there, but it may: an entry jump leads away from an original, and what
 * was not copied leads back into it.  A debugger that finds original and image in one function
 * sets a breakpoint at a line in only one of them, and takes what has a lower address than the
 * function's entry for a part of what prepares its frame.  So originals are functions of their
 * own, NAME.cold as in the symbol table, in a unit behind the others:
 *
 *   DW_TAG_compile_unit   name, comp_dir as in the original's unit; ranges, lines
 *     DW_TAG_subprogram   name, ranges without what the entry jump took the place of, frame
 *
 * They have no variables, and what is inlined in them has only its lines.
 *
 * Tested by tests/unit/editor/debug/test_debugfile.c.
 */
#include "editor/debug/debug.h"

#include "binary/decode.h"
#include "editor/debug/dwarfinfo.h"
#include "lib/err.h"

enum { JUMP_SIZE = 5, ENDBR_SIZE = 4, CODE_UNIT = 1, CODE_FUNCTION = 2 };

/* From the endbr64 in front of the jump, if there is one, to the first instruction behind what
 * the jump took the place of. */
static struct addresses_range jump_at(const struct addresses *ad, vaddr at)
{
	static const uint8_t endbr[ENDBR_SIZE] = { 0xf3, 0x0f, 0x1e, 0xfa };
	struct bytes front = image_at(ad->orig, at - ENDBR_SIZE, ENDBR_SIZE);
	struct bytes code = image_rest(ad->orig, at);
	struct addresses_range r = { at, at };
	struct insn insn;
	vaddr target;

	if (front.p && memcmp(front.p, endbr, ENDBR_SIZE) == 0)
		r.from -= ENDBR_SIZE;
	while (r.to < at + JUMP_SIZE &&
	       insn_decode(bytes_at(code, r.to - at, code.n - (r.to - at)), r.to, &insn,
			   &target))
		r.to += insn.len;
	if (r.to < at + JUMP_SIZE)
		r.to = at + JUMP_SIZE;
	return r;
}

int debug_find_jumps(struct debug *d)
{
	const struct blockmap *map = d->addresses.map;

	for (uint32_t i = 0; i < map->nentry; i++)
		vec_push(d->a, &d->jumps,
			 jump_at(&d->addresses, map->orig_base + map->entry[i]));
	addresses_merge(&d->jumps, 0);
	return 0;
}

void debug_collect_moved(struct debug *d)
{
	for (uint32_t i = 0; i < d->unit.n; i++)
		for (uint32_t k = 0; k < d->unit.v[i].moved.n; k++)
			vec_push(d->a, &d->moved, d->unit.v[i].moved.v[k]);
	addresses_merge(&d->moved, 0);
}

struct writer {
	struct debug *d;
	struct debug_unit *u;
	struct wr *out;
	const char *(*name)(void *ctx, vaddr at);
	void *ctx;
};

static void put_attr(struct wr *out, uint32_t name, uint32_t form)
{
	wr_uleb(out, name);
	wr_uleb(out, form);
}

static void put_decl(struct wr *out, uint32_t code, uint32_t tag, bool children)
{
	wr_uleb(out, code);
	wr_uleb(out, tag);
	wr_u8(out, children);
}

/* The forms of both kinds of entries; returns the table's offset. */
static uint64_t write_abbrevs(const struct writer *w)
{
	struct wr *out = &w->d->section[DEBUG_ABBREV].now;
	uint32_t offset = w->u->version < 4 ? DW_FORM_data4 : DW_FORM_sec_offset;
	uint64_t at = out->n;

	put_decl(out, CODE_UNIT, DW_TAG_compile_unit, true);
	if (w->u->name.form)
		put_attr(out, DW_AT_name, w->u->name.form);
	if (w->u->dir.form)
		put_attr(out, DW_AT_comp_dir, w->u->dir.form);
	put_attr(out, DW_AT_ranges, offset);
	if (w->u->lines != NO_LINES)
		put_attr(out, DW_AT_stmt_list, offset);
	wr_u16(out, 0);
	put_decl(out, CODE_FUNCTION, DW_TAG_subprogram, false);
	put_attr(out, DW_AT_name, DW_FORM_string);
	put_attr(out, DW_AT_entry_pc, DW_FORM_addr);
	put_attr(out, DW_AT_ranges, offset);
	put_attr(out, DW_AT_frame_base,
		 w->u->version < 4 ? DW_FORM_block1 : DW_FORM_exprloc);
	wr_u16(out, 0);
	wr_u8(out, 0);
	return at;
}

static int put_ranges(const struct writer *w, const addresses_ranges *ranges)
{
	uint64_t now;

	if (debug_write_ranges(w->d, w->u, ranges, &now) < 0)
		return -1;
	wr_u32(w->out, (uint32_t)now);
	return 0;
}

static int write_function(const struct writer *w, const struct debug_moved *f)
{
	const char *name = w->name(w->ctx, f->was.v[0].from);
	addresses_ranges now = { 0 };

	for (uint32_t i = 0; i < f->was.n; i++)
		addresses_outside(w->d->a, f->was.v[i], &w->d->jumps, &now);
	if (now.n == 0)
		return 0;
	wr_uleb(w->out, CODE_FUNCTION);
	wr_str(w->out, name ? arena_printf(w->d->a, "%s.cold", name) :
			      arena_printf(w->d->a, "0x%llx.cold",
					   (unsigned long long)f->was.v[0].from));
	wr_u64(w->out, now.v[0].from);
	if (put_ranges(w, &now) < 0)
		return -1;
	wr_u8(w->out, 1);		/* length of the expression */
	wr_u8(w->out, DW_OP_call_frame_cfa);
	return 0;
}

static void write_header(const struct writer *w, uint64_t abbrevs)
{
	wr_u32(w->out, 0);		/* length: write_unit() */
	wr_u16(w->out, w->u->version);
	if (w->u->version >= 5) {
		wr_u8(w->out, DW_UT_compile);
		wr_u8(w->out, sizeof(vaddr));
	}
	wr_u32(w->out, (uint32_t)abbrevs);
	if (w->u->version < 5)
		wr_u8(w->out, sizeof(vaddr));
}

static int write_unit(const struct writer *w, const struct debug_moved *f, uint32_t n)
{
	size_t at = w->out->n;

	write_header(w, write_abbrevs(w));
	wr_uleb(w->out, CODE_UNIT);
	if (w->u->name.form)
		wr_raw(w->out, w->u->name.value.p, w->u->name.value.n);
	if (w->u->dir.form)
		wr_raw(w->out, w->u->dir.value.p, w->u->dir.value.n);
	if (put_ranges(w, &w->u->moved) < 0)
		return -1;
	if (w->u->lines != NO_LINES) {
		struct debug_fix fix = { DEBUG_INFO, w->out->n, w->u->lines, true };

		vec_push(w->d->a, &w->d->line_fix, fix);
		wr_u32(w->out, 0);
	}
	for (uint32_t i = 0; i < n; i++)
		if (write_function(w, &f[i]) < 0)
			return -1;
	wr_u8(w->out, 0);
	wr_put_u32(w->out, at, (uint32_t)(w->out->n - at - 4));
	w->u->originals = at;
	return w->out->n > UINT32_MAX / 2 ?
		       err_set(w->d->err, ERR_REFUSED, "too much debug information") : 0;
}

int debug_add_originals(struct debug *d, const char *(*name)(void *ctx, vaddr at), void *ctx)
{
	for (uint32_t i = 0, n; i < d->function.n; i += n) {
		const struct debug_moved *f = &d->function.v[i];
		struct writer w = { d, &d->unit.v[f->unit], &d->section[DEBUG_INFO].now, name,
				    ctx };

		for (n = 1; i + n < d->function.n && f[n].unit == f->unit; n++)
			;
		if (w.u->section == DEBUG_INFO && write_unit(&w, f, n) < 0)
			return -1;
	}
	return 0;
}
