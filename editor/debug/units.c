/* units.c - walks the entries of all units, and translates what they say about addresses
 *
 * A value is written over where it stands (abbrevs.c makes room for lists of ranges).  On the
 * way the walk collects what the line programs need: which code belongs to which function,
 * inlined function or block, and who refers to which program.
 *
 * Tested by tests/unit/editor/debug/test_debugfile.c.
 */
#include "editor/debug/debug.h"

#include "editor/debug/dwarfinfo.h"
#include "lib/err.h"

enum { ADDRESS_SIZE = 8, MACRO_FLAGS = 2, MACRO_LINES = 3 };	/* offsets in .debug_macro */

static int read_header(struct debug *d, struct debug_unit *u, struct rd *r)
{
	struct bytes all = d->section[u->section].was;
	uint8_t kind = DW_UT_compile, address = 0;
	uint32_t length = rd_u32(r);

	if (length >= 0xfffffff0)
		return err_set(d->err, ERR_REFUSED, "its debug information has the 64-bit form "
			       "of DWARF, which Morph does not read");
	u->end = u->off + 4 + length;
	u->version = rd_u16(r);
	if (r->bad || u->end > all.n)
		return debug_malformed(d, u->section, u->off, "a unit without an end");
	if (u->version < 2 || u->version > 5)
		return err_set(d->err, ERR_REFUSED, "its debug information is of DWARF version "
			       "%u, which Morph does not read", u->version);
	if (u->version >= 5) {
		kind = rd_u8(r);
		address = rd_u8(r);
	}
	u->abbrevs_at = (uint64_t)(r->p - all.p);
	u->abbrevs_off = rd_u32(r);
	if (u->version < 5)
		address = rd_u8(r);
	if (kind > DW_UT_partial)
		return err_set(d->err, ERR_REFUSED, "its debug information is in files of its "
			       "own (-gsplit-dwarf)");
	if (kind == DW_UT_type || u->section == DEBUG_TYPES)
		(void)rd_skip(r, 8 + 4);	/* signature, offset of the type */
	u->first = (uint64_t)(r->p - all.p);
	if (r->bad || u->first > u->end || address != ADDRESS_SIZE)
		return debug_malformed(d, u->section, u->off, "a bad header of a unit");
	return 0;
}

static int read_section(struct debug *d, enum debug_section_id s)
{
	struct bytes all = d->section[s].was;
	struct debug_unit u = { .section = s, .lines = NO_LINES };

	while (u.off < all.n) {
		struct rd r = rd_of(bytes_at(all, u.off, all.n - u.off));

		if (read_header(d, &u, &r) < 0)
			return -1;
		vec_push(d->a, &d->unit, u);
		u.off = u.end;
	}
	return 0;
}

int debug_read_units(struct debug *d)
{
	return read_section(d, DEBUG_INFO) < 0 || read_section(d, DEBUG_TYPES) < 0 ? -1 : 0;
}

/* --- entries --- */

struct value {
	uint64_t at;			/* in the section */
	uint32_t form;			/* 0: the entry has no such attribute */
	uint64_t v;
};

struct open_entry {			/* one whose children are walked */
	uint32_t scope;			/* that its code belongs to */
	uint32_t around;		/* that it is in */
	bool block, variables;		/* a block; it has variables */
	bool moved;			/* in a function with images */
};

struct ranges_of {			/* values of an entry that say where its code is */
	struct value low, high, ranges;
};

struct walk {
	struct debug *d;
	struct debug_unit *u;
	struct rd r;
	const uint8_t *start;		/* of the section */
	VEC(struct open_entry) open;
	const struct debug_decl *unit_decl;	/* of the unit's entry, if it has ranges */
	struct ranges_of unit_ranges;
};

static int bad_entry(const struct walk *w, const char *why)
{
	return debug_malformed(w->d, w->u->section, (uint64_t)(w->r.p - w->start), why);
}

static int read_value(struct walk *w, const struct debug_attr *attr, struct value *out)
{
	out->at = (uint64_t)(w->r.p - w->start);
	out->form = attr->form;
	if (!debug_skip_value(&w->r, attr->form, w->u->version, &out->v) || w->r.bad)
		return bad_entry(w, "a value of unknown form, or no end of one");
	if (attr->form == DW_FORM_implicit_const)
		out->v = (uint64_t)attr->implicit;
	return 0;
}

static bool is_string_offset(uint32_t form)
{
	return form == DW_FORM_strp || form == DW_FORM_line_strp || form == DW_FORM_strp_sup ||
	       form == DW_FORM_GNU_strp_alt;
}

static bool is_string_number(uint32_t form)
{
	return form == DW_FORM_strx || (form >= DW_FORM_strx1 && form <= DW_FORM_strx4);
}

/* A string for the entry of another unit: one by number becomes an offset.  None where it
 * cannot be told which it is. */
static struct debug_string string_of(const struct walk *w, const struct value *v,
				     uint64_t base)
{
	struct bytes all = w->d->section[w->u->section].was;
	struct debug_string s = { .form = v->form };

	if (is_string_number(v->form) && base && v->v < UINT32_MAX) {
		s.form = DW_FORM_strp;
		s.value = bytes_at(w->d->str_offsets, base + 4 * v->v, 4);
	} else if (v->form == DW_FORM_string) {
		struct rd r = rd_of(bytes_at(all, v->at, w->u->end - v->at));
		const char *text = rd_str(&r);

		s.value = bytes_at(all, v->at, text ? strlen(text) + 1 : 0);
	} else if (is_string_offset(v->form)) {
		s.value = bytes_at(all, v->at, 4);
	}
	return s.value.p ? s : (struct debug_string){ 0 };
}

/* What must be known of a unit before its lists are read. */
static int read_bases(struct walk *w, const struct debug_decl *decl)
{
	struct value v, low = { 0 }, name = { 0 }, dir = { 0 };
	uint64_t str_base = 0;

	for (uint32_t i = 0; i < decl->n; i++) {
		if (read_value(w, &decl->attr[i], &v) < 0)
			return -1;
		switch (decl->attr[i].name) {
		case DW_AT_low_pc: low = v; break;
		case DW_AT_addr_base: w->u->addr_base = v.v; break;
		case DW_AT_rnglists_base: w->u->rnglists_base = v.v; break;
		case DW_AT_loclists_base: w->u->loclists_base = v.v; break;
		case DW_AT_stmt_list: w->u->lines = v.v; break;
		case DW_AT_str_offsets_base: str_base = v.v; break;
		case DW_AT_name: name = v; break;
		case DW_AT_comp_dir: dir = v; break;
		case DW_AT_dwo_name: case DW_AT_GNU_dwo_name:
			return err_set(w->d->err, ERR_REFUSED, "its debug information is in "
				       "files of its own (-gsplit-dwarf)");
		default: break;
		}
	}
	w->u->name = string_of(w, &name, str_base);
	w->u->dir = string_of(w, &dir, str_base);
	if (low.form == DW_FORM_addr)
		w->u->base = low.v;
	else if (low.form && debug_address(w->d, w->u, low.v, &w->u->base) < 0)
		return -1;
	return 0;
}

static struct wr *section_of(const struct walk *w)
{
	return &w->d->section[w->u->section].now;
}

static void put_u64(struct wr *out, uint64_t at, uint64_t v)
{
	wr_put_u32(out, at, (uint32_t)v);
	wr_put_u32(out, at + 4, (uint32_t)(v >> 32));
}

static int address_of(struct walk *w, const struct value *v, vaddr *out)
{
	*out = v->v;
	return v->form == DW_FORM_addr ? 0 : debug_address(w->d, w->u, v->v, out);
}

/* Slot `index` of .debug_addr gets the address.  Where one stands for the end of an instruction
 * and for the start of the next one, and these have come apart, it is the start: who looks up a
 * caller by the address that it returns to, and finds nothing there, says less; who stops at an
 * end in place of a start says something wrong. */
static void put_slot(struct walk *w, uint64_t index, new_vaddr now, bool is_end)
{
	struct debug *d = w->d;
	uint64_t at = w->u->addr_base + 8 * index, size = d->section[DEBUG_ADDR].was.n;

	if (!d->starts)
		d->starts = arena_array(d->a, size, sizeof(*d->starts));
	if (is_end && d->starts[at])
		return;
	d->starts[at] = !is_end;
	put_u64(&d->section[DEBUG_ADDR].now, at, now);
}

/* The address of an instruction, or of the end of one. */
static int translate_address(struct walk *w, const struct value *v, bool is_end)
{
	vaddr was;
	new_vaddr now;

	if (!debug_is_address(v->form))
		return 0;
	if (address_of(w, v, &was) < 0)
		return -1;
	int rc = is_end ? addresses_end(&w->d->addresses, was, &now, w->d->err) :
			  addresses_start(&w->d->addresses, was, &now, NULL, w->d->err);
	if (rc <= 0)
		return rc;
	if (v->form == DW_FORM_addr)
		put_u64(section_of(w), v->at, now);
	else
		put_slot(w, v->v, now, is_end);
	return 0;
}

static int translate_places(struct walk *w, const struct value *v)
{
	uint64_t now;

	if (v->form == DW_FORM_loclistx)
		return debug_translate_indexed(w->d, w->u, v->v);
	if (!debug_is_offset(v->form, w->u->version))
		return 0;
	if (debug_translate_list(w->d, w->u, v->v, &now) < 0)
		return -1;
	wr_put_u32(section_of(w), v->at, (uint32_t)now);
	return 0;
}

static int use_table(struct walk *w, struct debug_lists *l, const struct value *v)
{
	return v->form == DW_FORM_sec_offset ?
		       debug_use_table(w->d, l, w->u, v->v, v->at) : 0;
}

/* Macros name the line program whose file numbers they use. */
static void note_macros(struct walk *w, const struct value *v)
{
	struct bytes b = bytes_at(w->d->section[DEBUG_MACRO].was, v->v, MACRO_LINES + 4);
	struct debug_fix fix = { DEBUG_MACRO, v->v + MACRO_LINES, 0, false };

	if (!b.p || (b.p[MACRO_FLAGS] & 3) != 2)	/* not of 64 bits, names it */
		return;
	fix.was = bytes_first(bytes_at(b, MACRO_LINES, 4));
	vec_push(w->d->a, &w->d->line_fix, fix);
}

static int translate_attr(struct walk *w, uint32_t name,
			  const struct value *v, struct ranges_of *o)
{
	struct debug_fix fix = { w->u->section, v->at, v->v, false };

	if (debug_takes_location(name))
		return translate_places(w, v);
	switch (name) {
	case DW_AT_low_pc: o->low = *v; return 0;
	case DW_AT_high_pc: o->high = *v; return 0;
	case DW_AT_ranges: o->ranges = *v; return 0;
	case DW_AT_call_return_pc: return translate_address(w, v, true);
	case DW_AT_call_pc: case DW_AT_entry_pc: return translate_address(w, v, false);
	case DW_AT_rnglists_base: return use_table(w, &w->d->ranges, v);
	case DW_AT_loclists_base: return use_table(w, &w->d->locations, v);
	case DW_AT_macros: case DW_AT_GNU_macros: note_macros(w, v); return 0;
	case DW_AT_stmt_list:
		if (debug_is_offset(v->form, w->u->version))
			vec_push(w->d->a, &w->d->line_fix, fix);
		return 0;
	default:
		return 0;
	}
}

/* The entry of a call names a function; abbrevs.c made its offset one in the section. */
static void note_call(struct walk *w, const struct value *v)
{
	uint64_t unit = v->form == DW_FORM_ref4 ? w->u->off : 0;

	vec_push(w->d->a, &w->d->call,
		 ((struct debug_fix){ w->u->section, v->at, unit + v->v, false }));
}

/* The ranges of an entry that has one, before abbrevs.c made a list of it. */
static int one_range(struct walk *w, const struct ranges_of *o, struct addresses_range *out)
{
	if (address_of(w, &o->low, &out->from) < 0 || address_of(w, &o->low, &out->to) < 0)
		return -1;
	if (debug_is_address(o->high.form))
		return address_of(w, &o->high, &out->to);
	out->to += o->high.v;
	return 0;
}

/* All code of the entry, of the original. */
static int read_ranges(struct walk *w, const struct debug_decl *decl,
		       const struct ranges_of *o, addresses_ranges *was)
{
	struct addresses_range r;

	if (o->ranges.form)
		return debug_read_ranges(w->d, w->u, o->ranges.form, o->ranges.v, was);
	if (debug_range_form(decl) == DEBUG_RANGE_UNKNOWN)
		return err_set(w->d->err, ERR_REFUSED, "its debug information has ranges of "
			       "addresses in a form that Morph does not know");
	if (one_range(w, o, &r) < 0)
		return -1;
	if (r.from < r.to)
		vec_push(w->d->a, was, r);
	return 0;
}

/* The images of ranges; that of their start is the first, if it has one: debuggers take it for
 * the entry. */
static int images_of(struct walk *w, const addresses_ranges *was, addresses_ranges *out)
{
	struct addresses *ad = &w->d->addresses;
	new_vaddr entry = 0;

	for (uint32_t i = 0; i < was->n; i++)
		if (addresses_images(ad, was->v[i].from, was->v[i].to, out, w->d->err) < 0)
			return -1;
	if (was->n > 0 && addresses_start(ad, was->v[0].from, &entry, NULL, w->d->err) < 0)
		return -1;
	addresses_merge(out, entry);
	return 0;
}

static int write_ranges(struct walk *w, const struct debug_decl *decl,
			const struct ranges_of *o, const addresses_ranges *ranges)
{
	const struct value *at = &o->ranges;
	uint64_t now;

	if (at->form == DW_FORM_rnglistx)
		return debug_write_indexed(w->d, w->u, ranges, at->v);
	if (!at->form)
		at = debug_range_form(decl) == DEBUG_AT_LOW ? &o->low : &o->high;
	else if (!debug_is_offset(at->form, w->u->version))
		return bad_entry(w, "ranges in a form that is not known");
	if (debug_write_ranges(w->d, w->u, ranges, &now) < 0)
		return -1;
	wr_put_u32(section_of(w), at->at, (uint32_t)now);
	return 0;
}

static bool is_unit(const struct debug_decl *decl)
{
	return decl->tag == DW_TAG_compile_unit || decl->tag == DW_TAG_partial_unit;
}

/* The entry of a function with images, and what is in it, is where these are: the originals are
 * those of an entry of their own (originals.c). */
static int translate_ranges(struct walk *w, const struct debug_decl *decl, uint64_t off,
			    const struct ranges_of *o, addresses_ranges *was, bool *moved)
{
	struct debug_moved function = { .unit = (uint32_t)(w->u - w->d->unit.v), .off = off };
	addresses_ranges images = { 0 };

	if (!o->ranges.form && !(o->low.form && o->high.form))
		return o->low.form && !is_unit(decl) ?	/* a label, or behind a call */
			       translate_address(w, &o->low,
						 decl->tag == DW_TAG_GNU_call_site) : 0;
	if (read_ranges(w, decl, o, was) < 0)
		return -1;
	if (is_unit(decl)) {			/* close_unit() writes them */
		w->u->code = *was;
		w->unit_ranges = *o;
		w->unit_decl = decl;
		return 0;
	}
	if (images_of(w, was, &images) < 0 ||
	    (debug_has_entry(decl) && translate_address(w, &o->low, false) < 0))
		return -1;
	if (decl->tag == DW_TAG_subprogram)
		*moved = images.n > 0;
	if (decl->tag == DW_TAG_subprogram && *moved) {
		function.was = *was;
		vec_push(w->d->a, &w->d->function, function);
		for (uint32_t i = 0; i < was->n; i++)
			vec_push(w->d->a, &w->u->moved, was->v[i]);
	}
	return write_ranges(w, decl, o, *moved ? &images : was);
}

/* The code of a unit: images, and what is not an original of them. */
static int close_unit(struct walk *w)
{
	const addresses_ranges *code = &w->u->code;
	addresses_ranges now = { 0 };

	addresses_merge(&w->u->moved, 0);
	if (!w->unit_decl)
		return 0;
	if (images_of(w, code, &now) < 0)
		return -1;
	for (uint32_t i = 0; i < code->n; i++)
		addresses_outside(w->d->a, code->v[i], &w->u->moved, &now);
	return write_ranges(w, w->unit_decl, &w->unit_ranges, &now);
}

static bool is_scope(uint32_t tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_lexical_block;
}

/* Debuggers know no block without variables. */
static void note_variables(struct walk *w, uint32_t tag)
{
	if (w->open.n > 0 && !is_scope(tag) && tag != DW_TAG_call_site &&
	    tag != DW_TAG_GNU_call_site && tag != DW_TAG_label)
		w->open.v[w->open.n - 1].variables = true;
}

static void open_entry(struct walk *w, const struct debug_decl *decl,
		       const addresses_ranges *was, bool moved)
{
	struct debug *d = w->d;
	struct open_entry e = { .moved = moved, .block = decl->tag == DW_TAG_lexical_block };

	note_variables(w, decl->tag);
	e.around = e.scope = w->open.n > 0 ? w->open.v[w->open.n - 1].scope : 0;
	if (is_scope(decl->tag) && was->n > 0) {
		e.scope = d->belongs.n;
		vec_push(d->a, &d->belongs, e.scope);
	}
	for (uint32_t i = 0; e.scope != e.around && i < was->n; i++)
		vec_push(d->a, &d->scope,
			 ((struct debug_scope){ w->u->lines, was->v[i], e.scope, 0 }));
	if (decl->children)
		vec_push(d->a, &w->open, e);
}

static void close_entry(struct walk *w)
{
	if (w->open.n == 0)
		return;			/* zeros that fill the unit up */
	const struct open_entry *e = &w->open.v[--w->open.n];

	if (e->block && !e->variables && e->scope != e->around)
		w->d->belongs.v[e->scope] = e->around;
}

static int translate_entry(struct walk *w, const struct debug_decl *decl, uint64_t off)
{
	struct ranges_of o = { 0 };
	addresses_ranges was = { 0 };
	bool moved = w->open.n > 0 && w->open.v[w->open.n - 1].moved;
	struct value v;

	for (uint32_t i = 0; i < decl->n; i++) {
		const struct debug_attr *attr = &decl->attr[i];

		if (read_value(w, attr, &v) < 0 || translate_attr(w, attr->name, &v, &o) < 0)
			return -1;
		if (debug_names_callee(w->d, decl, attr, w->u->version))
			note_call(w, &v);
	}
	if (translate_ranges(w, decl, off, &o, &was, &moved) < 0)
		return -1;
	open_entry(w, decl, &was, moved);
	return 0;
}

static int translate_unit(struct debug *d, struct debug_unit *u)
{
	struct bytes all = d->section[u->section].was;
	struct walk w = { .d = d, .u = u, .start = all.p,
			  .r = rd_of(bytes_at(all, u->first, u->end - u->first)) };
	bool first = true;

	while (rd_left(&w.r) > 0) {
		uint64_t off = (uint64_t)(w.r.p - w.start), code = rd_uleb(&w.r);
		const struct debug_decl *decl = debug_find_decl(u->abbrevs, code);
		struct rd entry = w.r;

		if (code == 0 && !w.r.bad) {
			close_entry(&w);
			continue;
		}
		if (!decl || w.r.bad)
			return bad_entry(&w, "an entry of unknown abbreviation");
		if (first && read_bases(&w, decl) < 0)
			return -1;
		first = false;
		w.r = entry;
		if (translate_entry(&w, decl, off) < 0)
			return -1;
	}
	return close_unit(&w);
}

int debug_translate_units(struct debug *d)
{
	vec_push(d->a, &d->belongs, 0);	/* what is in none */
	for (uint32_t i = 0; i < d->unit.n; i++)
		if (translate_unit(d, &d->unit.v[i]) < 0)
			return -1;
	debug_collect_moved(d);
	return 0;
}
