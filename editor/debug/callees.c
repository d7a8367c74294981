/* callees.c - calls name functions that have moved by symbols
 *
 * A debugger that knows which function a call leads to can tell, by what the caller has left,
 * values that arguments had at the callee's entry, and frames of tail calls.  gdb 13 writes
 * behind its memory when the entry of that function has more than two ranges.  So such a
 * function is declared anew, by the name of its symbol, in a unit behind the others, and calls
 * lead there, as they do to functions of other files:
 *
 *   DW_TAG_compile_unit   language: gdb takes that of the caller's unit where there is none
 *     DW_TAG_subprogram   linkage_name, declaration
 *
 * A name that several functions have says nothing: their calls lead to a name that none has.
 * References of 4 bytes within a unit become those of 4 bytes to the section (abbrevs.c); not
 * beside .debug_types, whose units gdb 13 mistakes for those of .debug_info at such an offset.
 *
 * Tested by tests/programs/debugfile.sh.
 */
#include "editor/debug/debug.h"

#include <stdlib.h>

#include "editor/debug/dwarfinfo.h"
#include "lib/err.h"
#include "lib/search.h"

enum { VERSION = 4, CODE_UNIT = 1, CODE_FUNCTION = 2 };

struct callee {				/* a function with images */
	uint64_t off;			/* of its entry in .debug_info */
	vaddr at;
	uint64_t now;			/* of its declaration; 0: none yet */
};

bool debug_names_callee(const struct debug *d, const struct debug_decl *decl,
			const struct debug_attr *attr, uint16_t version)
{
	bool callee = (decl->tag == DW_TAG_call_site && attr->name == DW_AT_call_origin) ||
		      (decl->tag == DW_TAG_GNU_call_site &&
		       attr->name == DW_AT_abstract_origin);

	return callee && version > 2 && d->section[DEBUG_TYPES].was.n == 0 &&
	       (attr->form == DW_FORM_ref4 || attr->form == DW_FORM_ref_addr);
}

static int callee_cmp(const void *x, const void *y)
{
	const struct callee *a = x, *b = y;

	return (a->off > b->off) - (a->off < b->off);
}

static struct callee *collect_callees(const struct debug *d)
{
	struct callee *callee = arena_array(d->a, d->function.n, sizeof(*callee));

	for (uint32_t i = 0; i < d->function.n; i++) {
		const struct debug_moved *f = &d->function.v[i];
		bool in_info = d->unit.v[f->unit].section == DEBUG_INFO;

		callee[i] = (struct callee){ in_info ? f->off : UINT64_MAX, f->was.v[0].from,
					     0 };
	}
	if (d->function.n > 1)
		qsort(callee, d->function.n, sizeof(*callee), callee_cmp);
	return callee;
}

static void put_attr(struct wr *out, uint32_t name, uint32_t form)
{
	wr_uleb(out, name);
	wr_uleb(out, form);
}

static uint64_t write_abbrevs(struct wr *out)
{
	uint64_t at = out->n;

	wr_uleb(out, CODE_UNIT);
	wr_uleb(out, DW_TAG_compile_unit);
	wr_u8(out, true);
	put_attr(out, DW_AT_language, DW_FORM_data1);
	wr_u16(out, 0);
	wr_uleb(out, CODE_FUNCTION);
	wr_uleb(out, DW_TAG_subprogram);
	wr_u8(out, false);
	put_attr(out, DW_AT_linkage_name, DW_FORM_string);
	put_attr(out, DW_AT_declaration, DW_FORM_flag_present);
	wr_u16(out, 0);
	wr_u8(out, 0);
	return at;
}

static void begin_unit(struct debug *d, struct wr *out)
{
	uint64_t abbrevs = write_abbrevs(&d->section[DEBUG_ABBREV].now);

	wr_u32(out, 0);			/* length: debug_name_callees() */
	wr_u16(out, VERSION);
	wr_u32(out, (uint32_t)abbrevs);
	wr_u8(out, sizeof(vaddr));
	wr_uleb(out, CODE_UNIT);
	wr_u8(out, DW_LANG_C99);
}

/* Offset of the declaration of a function with images. */
static uint64_t declare(struct debug *d, struct callee *callee, struct wr *out,
			const char *(*name)(void *ctx, vaddr at), void *ctx)
{
	const char *symbol = name(ctx, callee->at);

	if (callee->now)
		return callee->now;
	callee->now = out->n;
	wr_uleb(out, CODE_FUNCTION);
	wr_str(out, symbol ? symbol : arena_printf(d->a, "0x%llx (ambiguous)",
						   (unsigned long long)callee->at));
	return callee->now;
}

int debug_name_callees(struct debug *d, const char *(*name)(void *ctx, vaddr at), void *ctx)
{
	struct wr *out = &d->section[DEBUG_INFO].now;
	struct callee *callee = collect_callees(d);
	size_t start = out->n;

	if (d->call.n == 0)
		return 0;
	begin_unit(d, out);
	for (uint32_t i = 0; i < d->call.n; i++) {
		const struct debug_fix *call = &d->call.v[i];
		uint64_t to = call->was;
		uint32_t k = search_first(j, 0, d->function.n, callee[j].off < to);

		if (k < d->function.n && callee[k].off == to)
			to = declare(d, &callee[k], out, name, ctx);
		wr_put_u32(&d->section[call->section].now, call->at, (uint32_t)to);
	}
	wr_u8(out, 0);
	wr_put_u32(out, start, (uint32_t)(out->n - start - 4));
	return out->n > UINT32_MAX / 2 ?
		       err_set(d->err, ERR_REFUSED, "too much debug information") : 0;
}
