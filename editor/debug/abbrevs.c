/* abbrevs.c - abbreviations: what attributes entries have, and in which forms
 *
 * An entry that has one range of addresses gets a list of ranges, because its images may be in
 * several places.  The list's offset has 4 bytes and takes the place of one of the two old
 * attributes; what is left of them becomes DW_AT_MORPH_was, so that no entry changes its length
 * and all references to entries stay right:
 *
 *   low_pc addr/addrx, high_pc of 4 or 8 bytes   entry_pc, ranges sec_offset (, was data4)
 *   low_pc addr, high_pc of another form F       ranges sec_offset, was data4, was F
 *
 * The entry's address is for readers that do not take the first range for it.
 *
 * References of calls to the functions that are called become those to the whole section
 * (callees.c), if they have 4 bytes, or give way.
 *
 * Entries of the same abbreviation that have not moved get a list of one range.  Numbers of
 * views and their lists, which count lines that are now others, become DW_AT_MORPH_was as well.
 *
 * Tested by tests/unit/editor/debug/test_debugfile.c.
 */
#include "editor/debug/debug.h"

#include <stdlib.h>

#include "editor/debug/dwarfinfo.h"
#include "lib/err.h"
#include "lib/search.h"

static const struct debug_attr *find_attr(const struct debug_decl *decl, uint32_t name)
{
	for (uint32_t i = 0; i < decl->n; i++)
		if (decl->attr[i].name == name)
			return &decl->attr[i];
	return NULL;
}

enum debug_range_form debug_range_form(const struct debug_decl *decl)
{
	const struct debug_attr *low = find_attr(decl, DW_AT_low_pc);
	const struct debug_attr *high = find_attr(decl, DW_AT_high_pc);

	if (!low || !high)
		return DEBUG_NO_RANGE;
	if (find_attr(decl, DW_AT_ranges) || !debug_is_address(low->form))
		return DEBUG_RANGE_UNKNOWN;
	if (high->form == DW_FORM_data4 || high->form == DW_FORM_data8 ||
	    high->form == DW_FORM_addr)
		return DEBUG_AT_HIGH;
	return low->form == DW_FORM_addr ? DEBUG_AT_LOW : DEBUG_RANGE_UNKNOWN;
}

bool debug_has_entry(const struct debug_decl *decl)
{
	return debug_range_form(decl) == DEBUG_AT_HIGH && !find_attr(decl, DW_AT_entry_pc) &&
	       decl->tag != DW_TAG_compile_unit && decl->tag != DW_TAG_partial_unit;
}

struct writer {
	const struct debug *d;
	struct wr *out;
	uint16_t version;
	uint32_t nwas;			/* attributes of this entry that gave way */
};

static void write_attr(struct writer *w, uint32_t name, uint32_t form)
{
	wr_uleb(w->out, name);
	wr_uleb(w->out, form);
}

static void write_was(struct writer *w, const struct debug_attr *attr, uint32_t form)
{
	/* a reader may follow a reference whatever it is for */
	if (form == DW_FORM_sec_offset || form == DW_FORM_ref4 || form == DW_FORM_GNU_ref_alt ||
	    (form == DW_FORM_ref_addr && w->version > 2))
		form = DW_FORM_data4;
	if (form == DW_FORM_addrx)
		form = DW_FORM_udata;
	else if (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx2)
		form = form == DW_FORM_addrx1 ? DW_FORM_data1 : DW_FORM_data2;
	else if (form == DW_FORM_addrx3)
		form = DW_FORM_strx3;
	else if (form == DW_FORM_addrx4 || form == DW_FORM_loclistx)
		form = form == DW_FORM_addrx4 ? DW_FORM_data4 : DW_FORM_udata;
	write_attr(w, DW_AT_MORPH_was + w->nwas++, form);
	if (form == DW_FORM_implicit_const)
		wr_sleb(w->out, attr->implicit);
}

static void write_ranges(struct writer *w)
{
	write_attr(w, DW_AT_ranges, w->version < 4 ? DW_FORM_data4 : DW_FORM_sec_offset);
}

static bool gives_way(const struct writer *w, const struct debug_decl *decl,
		      const struct debug_attr *attr)
{
	switch (attr->name) {
	case DW_AT_low_pc: case DW_AT_high_pc:
		return debug_range_form(decl) != DEBUG_NO_RANGE;
	case DW_AT_entry_pc:
		return !debug_is_address(attr->form);	/* a distance from low_pc */
	case DW_AT_start_scope: case DW_AT_GNU_locviews: case DW_AT_GNU_entry_view:
		return true;
	case DW_AT_call_origin:
		return decl->tag == DW_TAG_call_site &&
		       !debug_names_callee(w->d, decl, attr, w->version);
	case DW_AT_abstract_origin:
		return decl->tag == DW_TAG_GNU_call_site &&
		       !debug_names_callee(w->d, decl, attr, w->version);
	default:
		return false;
	}
}

static void write_attrs(struct writer *w, const struct debug_decl *decl)
{
	enum debug_range_form range = debug_range_form(decl);

	for (uint32_t i = 0; i < decl->n; i++) {
		const struct debug_attr *attr = &decl->attr[i];
		uint32_t name = attr->name, form = attr->form;

		if (name == DW_AT_low_pc && range == DEBUG_AT_LOW) {
			write_ranges(w);
			write_was(w, attr, DW_FORM_data4);
		} else if (name == DW_AT_low_pc && debug_has_entry(decl)) {
			write_attr(w, DW_AT_entry_pc, form);
		} else if (name == DW_AT_high_pc && range == DEBUG_AT_HIGH) {
			write_ranges(w);
			if (form != DW_FORM_data4)
				write_was(w, attr, DW_FORM_data4);
		} else if (debug_names_callee(w->d, decl, attr, w->version)) {
			write_attr(w, name, DW_FORM_ref_addr);
		} else if (gives_way(w, decl, attr)) {
			write_was(w, attr, form == DW_FORM_addr ? DW_FORM_data8 : form);
		} else {
			write_attr(w, name, form);
			if (form == DW_FORM_implicit_const)
				wr_sleb(w->out, attr->implicit);
		}
	}
}

static void write_table(struct debug *d, struct debug_abbrevs *t)
{
	struct writer w = { d, &d->section[DEBUG_ABBREV].now, t->version, 0 };

	t->now = w.out->n;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct debug_decl *decl = &t->decl[i];

		wr_uleb(w.out, decl->code);
		wr_uleb(w.out, decl->tag);
		wr_u8(w.out, decl->children);
		w.nwas = 0;
		write_attrs(&w, decl);
		wr_u16(w.out, 0);
	}
	wr_u8(w.out, 0);
}

static int read_attrs(struct debug *d, struct rd *r, struct debug_decl *decl)
{
	VEC(struct debug_attr) attrs = { 0 };

	for (;;) {
		uint64_t name = rd_uleb(r), form = rd_uleb(r);
		struct debug_attr attr = { (uint32_t)name, (uint32_t)form, 0 };

		if (r->bad || name > UINT32_MAX || form > UINT32_MAX)
			return -1;
		if (form == DW_FORM_implicit_const)
			attr.implicit = rd_sleb(r);
		if (name == 0 && form == 0)
			break;
		vec_push(d->a, &attrs, attr);
	}
	decl->attr = attrs.v;
	decl->n = attrs.n;
	return debug_count(d, attrs.n + 1);
}

static int decl_cmp(const void *x, const void *y)
{
	const struct debug_decl *a = x, *b = y;

	return (a->code > b->code) - (a->code < b->code);
}

static int read_table(struct debug *d, struct debug_abbrevs *t)
{
	struct bytes all = d->section[DEBUG_ABBREV].was;
	struct rd r = rd_of(t->was <= all.n ? bytes_at(all, t->was, all.n - t->was) :
					      (struct bytes){ 0 });
	VEC(struct debug_decl) decls = { 0 };

	for (;;) {
		struct debug_decl decl = { .code = rd_uleb(&r) };

		if (decl.code == 0 && !r.bad)
			break;
		uint64_t tag = rd_uleb(&r);
		decl.tag = (uint32_t)tag;
		decl.children = rd_u8(&r) != 0;
		if (read_attrs(d, &r, &decl) < 0 || tag > UINT32_MAX)
			return debug_malformed(d, DEBUG_ABBREV, t->was, "a bad table");
		vec_push(d->a, &decls, decl);
	}
	if (decls.n > 1)
		qsort(decls.v, decls.n, sizeof(*decls.v), decl_cmp);
	for (uint32_t i = 1; i < decls.n; i++)
		if (decls.v[i].code == decls.v[i - 1].code)
			return debug_malformed(d, DEBUG_ABBREV, t->was, "a code twice");
	t->decl = decls.v;
	t->n = decls.n;
	return 0;
}

const struct debug_decl *debug_find_decl(const struct debug_abbrevs *t, uint64_t code)
{
	/* as a rule they are numbered from 1 */
	if (code - 1 < t->n && t->decl[code - 1].code == code)
		return &t->decl[code - 1];
	uint32_t i = search_first(k, 0, t->n, t->decl[k].code < code);

	return i < t->n && t->decl[i].code == code ? &t->decl[i] : NULL;
}

static int table_cmp(const void *x, const void *y)
{
	const struct debug_abbrevs *a = x, *b = y;

	if (a->was != b->was)
		return a->was < b->was ? -1 : 1;
	return (a->version > b->version) - (a->version < b->version);
}

/* Units of one version with the same offset share a table. */
static void collect_tables(struct debug *d)
{
	uint32_t n = 0;

	d->abbrevs = arena_array(d->a, d->unit.n, sizeof(*d->abbrevs));
	for (uint32_t i = 0; i < d->unit.n; i++)
		d->abbrevs[i] = (struct debug_abbrevs){
			.was = d->unit.v[i].abbrevs_off, .version = d->unit.v[i].version };
	if (d->unit.n > 1)
		qsort(d->abbrevs, d->unit.n, sizeof(*d->abbrevs), table_cmp);
	for (uint32_t i = 0; i < d->unit.n; i++)
		if (n == 0 || table_cmp(&d->abbrevs[n - 1], &d->abbrevs[i]) != 0)
			d->abbrevs[n++] = d->abbrevs[i];
	d->nabbrevs = n;
}

int debug_translate_abbrevs(struct debug *d)
{
	collect_tables(d);
	for (uint32_t i = 0; i < d->nabbrevs; i++) {
		if (read_table(d, &d->abbrevs[i]) < 0)
			return -1;
		write_table(d, &d->abbrevs[i]);
	}
	if (d->section[DEBUG_ABBREV].now.n > UINT32_MAX)
		return debug_malformed(d, DEBUG_ABBREV, 0, "too large");
	for (uint32_t i = 0; i < d->unit.n; i++) {
		struct debug_unit *u = &d->unit.v[i];
		struct debug_abbrevs key = { .was = u->abbrevs_off, .version = u->version };
		uint32_t k = search_first(j, 0, d->nabbrevs,
					  table_cmp(&d->abbrevs[j], &key) < 0);

		u->abbrevs = &d->abbrevs[k];
		wr_put_u32(&d->section[u->section].now, u->abbrevs_at,
			   (uint32_t)u->abbrevs->now);
	}
	return 0;
}
