/* lsda.c - reads exception tables (.gcc_except_table)
 *
 * A record, as the personality routines of C, C++, Rust, Ada and others read it:
 *
 *    u8 encoding, pointer      what landing pads count from; omitted: the FDE's start
 *    u8 encoding, uleb         of types, and the distance from here to the types' end; or
 *                              omitted
 *    u8 encoding, uleb         of call sites, and their length in bytes
 *    call sites                start, length, landing pad (0 = none), uleb action
 *    action records            sleb filter, sleb distance from this field to the next record (0
 *                              = none)
 *    types                     downwards from their end: filter n > 0 means type n
 *    specifications            upwards from there: filter n < 0 means the list at byte -n - 1,
 *                              uleb type numbers up to a 0
 *
 * Action records and types have no stated length: how far they reach follows from what refers
 * to them.  A generation carries copies, so everything that is reachable has to be found, and
 * found to be of a kind that means the same at another address.
 *
 * INVARIANTS
 *   I1  every action that a site or a record refers to begins at a record of a gapless row;
 *   I2  every type number and every list is inside `types` and `specs`, and every chain of
 *       records has an end;
 *   I3  sizes are bounded by the length of the code, so that many FDEs which share one hostile
 *       record cost no more than their code does.
 */
#include "postmorph/unwind/lsda.h"

#include "postmorph/unwind/cfi_rows.h"
#include "binary/dwarf.h"
#include "binary/image.h"

/* Bytes of action records and types: in all, and by the length of the code (I3).  Chosen, far
 * above what compilers make. */
enum { MAX_PART = 1 << 16, PART_BASE = 1024, PART_PER_BYTE = 32 };

struct reading {
	const struct image *img;
	struct lsda *out;
	struct rd r;
	const uint8_t *p;		/* the record */
	vaddr addr;			/* of the record */
	uint64_t fde_len;
	uint64_t limit;			/* bytes of actions, of types, of lists */
	struct bytes behind;		/* where actions and types are */
	bool has_types;
	uint64_t max_action;		/* of all sites */
	/* largest type number; farthest byte where a list begins, + 1 */
	uint64_t ntype, nspec;
};

static vaddr here(const struct reading *g)
{
	return g->addr + (uint64_t)(g->r.p - g->p);
}

static bool pointer_known(const struct image *img, uint8_t enc)
{
	switch (enc & 0x0f) {
	case DW_EH_PE_absptr: case DW_EH_PE_udata4: case DW_EH_PE_sdata4:
	case DW_EH_PE_udata8: case DW_EH_PE_sdata8:
		return (enc & 0x70) == DW_EH_PE_pcrel ||
		       ((enc & 0x70) == 0 && !img->pie_or_dso);
	default:
		return false;
	}
}

static bool read_header(struct reading *g, vaddr code)
{
	struct lsda *out = g->out;
	uint8_t enc = rd_u8(&g->r);
	uint64_t raw;

	out->start = out->pad_base = code;
	if (enc != DW_EH_PE_omit &&
	    (!pointer_known(g->img, enc) || (enc & DW_EH_PE_indirect) ||
	     !cfi_read_pointer(&g->r, enc, here(g), &raw, &out->pad_base)))
		return false;
	out->type_enc = rd_u8(&g->r);
	g->has_types = out->type_enc != DW_EH_PE_omit;
	struct bytes rest = { NULL, 0 };
	if (g->has_types) {
		uint64_t n = rd_uleb(&g->r);

		rest = (struct bytes){ g->r.p, n };
		if (n > rd_left(&g->r))
			return false;
	}
	out->site_enc = rd_u8(&g->r);
	uint64_t n = rd_uleb(&g->r);
	const uint8_t *sites = rd_skip(&g->r, n);
	if (!sites || (out->site_enc != DW_EH_PE_uleb128 && out->site_enc != DW_EH_PE_udata4))
		return false;
	out->sites = (struct bytes){ sites, n };
	if (!g->has_types)
		rest = (struct bytes){ g->r.p, rd_left(&g->r) };
	else if (g->r.p > rest.p + rest.n)
		return false;
	g->behind = (struct bytes){ g->r.p, (uint64_t)(rest.p + rest.n - g->r.p) };
	return true;
}

static uint64_t read_offset(struct rd *r, uint8_t enc)
{
	return enc == DW_EH_PE_udata4 ? rd_u32(r) : rd_uleb(r);
}

bool lsda_next(struct lsda_iter *it, struct lsda_site *out)
{
	const struct lsda *l = it->lsda;

	if (rd_left(&it->r) == 0)
		return false;
	out->addr = l->start + read_offset(&it->r, l->site_enc);
	out->len = read_offset(&it->r, l->site_enc);
	uint64_t pad = read_offset(&it->r, l->site_enc);
	out->pad = pad ? l->pad_base + pad : 0;
	out->action = rd_uleb(&it->r);
	return !it->r.bad;
}

static bool check_sites(struct reading *g)
{
	struct lsda_iter it = lsda_iter(g->out);
	struct lsda_site site;
	uint64_t end = 0;

	while (lsda_next(&it, &site)) {
		uint64_t off = site.addr - g->out->start;

		if (off < end || off > g->fde_len || site.len == 0 ||
		    site.len > g->fde_len - off)
			return false;
		end = off + site.len;
		if (site.action > g->max_action)
			g->max_action = site.action;
	}
	return !it.r.bad;
}

static bool bit(const uint8_t *set, uint64_t i)
{
	return set[i / 8] >> (i % 8) & 1;
}

/* One record; *next is the offset of the one that it leads to, or its own when it is the
 * last. */
static bool read_action(struct rd *r, const uint8_t *base, int64_t *filter, uint64_t *next)
{
	uint64_t at = (uint64_t)(r->p - base);
	int64_t distance;

	*filter = rd_sleb(r);
	*next = (uint64_t)(r->p - base);
	distance = rd_sleb(r);
	if (r->bad || distance < -MAX_PART || distance > MAX_PART)
		return false;
	if (distance && *next + (uint64_t)distance == at)
		return false;
	*next = distance ? *next + (uint64_t)distance : at;
	return *next <= MAX_PART;
}

/* From every record on, there is a last one. */
static bool chains_end(const struct lsda *l)
{
	uint8_t ends[MAX_PART / 8 + 1] = { 0 };
	struct rd all = rd_of(l->actions);

	while (rd_left(&all) > 0) {
		uint64_t start = (uint64_t)(all.p - l->actions.p), at = start, next = start,
			 n = 0;
		int64_t filter;

		(void)read_action(&all, l->actions.p, &filter, &next);	/* as before */
		for (; !bit(ends, at) && next != at; n++) {
			if (n > l->actions.n)
				return false;
			struct rd r = rd_of(l->actions);

			(void)rd_skip(&r, at = next);
			(void)read_action(&r, l->actions.p, &filter, &next);
		}
		ends[start / 8] |= (uint8_t)(1 << (start % 8));
	}
	return true;
}

/* Reads one record behind the other until all that is needed has been seen, then looks
 * whether what was needed are beginnings of records. */
static bool check_actions(struct reading *g)
{
	uint8_t begins[MAX_PART / 8 + 1] = { 0 };
	struct rd r = rd_of(g->behind);
	uint64_t need = g->max_action, next, at;
	int64_t filter;

	while ((at = (uint64_t)(r.p - g->behind.p)) < need) {
		if (at >= g->limit || !read_action(&r, g->behind.p, &filter, &next))
			return false;
		begins[at / 8] |= (uint8_t)(1 << (at % 8));
		if (next >= need)
			need = next + 1;
		if (filter > 0 && (uint64_t)filter > g->ntype)
			g->ntype = (uint64_t)filter;
		if (filter < 0 && -(uint64_t)filter > g->nspec)
			g->nspec = -(uint64_t)filter;
	}
	g->out->actions = (struct bytes){ g->behind.p, at };
	r = rd_of(g->out->actions);
	while (rd_left(&r) > 0)
		if (!read_action(&r, g->behind.p, &filter, &next) || !bit(begins, next))
			return false;
	struct lsda_iter it = lsda_iter(g->out);
	struct lsda_site site;

	while (lsda_next(&it, &site))
		if (site.action && !bit(begins, site.action - 1))
			return false;
	return chains_end(g->out);
}

/* The lists that filters lead to, and all before them.  A list begins behind the end of a
 * number. */
static bool check_specs(struct reading *g)
{
	const uint8_t *base = g->behind.p + g->behind.n;
	struct rd r = { base, g->r.end, false };
	bool inside = false;

	if (g->nspec == 0)
		return true;
	while (inside || (uint64_t)(r.p - base) < g->nspec) {
		uint64_t n = rd_uleb(&r);

		if (r.bad || (uint64_t)(r.p - base) > g->limit)
			return false;
		if (n > g->ntype)
			g->ntype = n;
		inside = n != 0;
	}
	g->out->specs = (struct bytes){ base, (uint64_t)(r.p - base) };
	r = rd_of(g->out->actions);
	while (rd_left(&r) > 0) {
		uint64_t next;
		int64_t filter;

		(void)read_action(&r, g->out->actions.p, &filter, &next);	/* as before */
		if (filter < -1 && (base[-filter - 2] & 0x80))
			return false;
	}
	return true;
}

/* Absolute types are copied as they are, so nothing must be going to relocate them. */
static bool check_types(struct reading *g)
{
	struct lsda *out = g->out;
	uint64_t size = (out->type_enc & 0x0f) == DW_EH_PE_udata4 ||
			(out->type_enc & 0x0f) == DW_EH_PE_sdata4 ? 4 : 8;

	if (!g->has_types)
		return g->ntype == 0 && g->nspec == 0;
	if (g->ntype == 0)
		return true;
	if (g->ntype > g->limit || g->ntype * size > g->behind.n - out->actions.n ||
	    !pointer_known(g->img, out->type_enc))
		return false;
	out->type_size = (uint8_t)size;
	out->types =
		(struct bytes){ g->behind.p + g->behind.n - g->ntype * size, g->ntype * size };
	out->types_addr = g->addr + (uint64_t)(out->types.p - g->p);
	return (out->type_enc & 0x70) == DW_EH_PE_pcrel ||
	       !image_is_writable(g->img, out->types_addr);
}

bool lsda_read(const struct image *img, const struct cfi *cfi, uint32_t fde, struct lsda *out)
{
	const struct fde *f = &cfi->fde[fde];
	struct bytes b = image_rest(img, f->lsda);
	struct reading g = { .img = img, .out = out, .r = rd_of(b), .p = b.p, .addr = f->lsda,
			     .fde_len = f->len };

	*out = (struct lsda){ 0 };
	g.limit = f->len < MAX_PART / PART_PER_BYTE ? PART_BASE + PART_PER_BYTE * f->len
						    : MAX_PART;
	if (g.limit > MAX_PART)
		g.limit = MAX_PART;
	return f->understood && f->lsda != 0 && read_header(&g, f->addr) && !g.r.bad &&
	       check_sites(&g) && g.max_action <= g.limit &&
	       (g.max_action == 0 || check_actions(&g)) && check_specs(&g) && check_types(&g);
}
