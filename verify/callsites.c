/* callsites.c - exceptions at each image go where they go at its original
 *
 * An LSDA is the personality routine's table for one FDE.  It has call sites (ranges of code,
 * each with a landing pad or none and the first of a chain of actions), actions (a filter,
 * which the landing pad gets in a register, and the next action), and types (what filters stand
 * for; those of exception specifications are lists).  All languages of GCC and Clang use this
 * form, Rust too.  verify_callsites() reads all LSDAs; unwindrows.c then asks for every
 * instruction and its image.
 *
 * SAME       An instruction and its image have the same site if both are in none; or if both
 *            are in one, either without landing pads or with landing pads of which the new one
 *            stands for the old one, and their chains have, record by record, the same filter
 *            and the same type.  No site differs from a site without landing pad, and an LSDA
 *            without sites from no LSDA: the former end the program, the latter let the
 *            exception pass.  Two types are the same if their encodings lead to the same
 *            address, and both are the type itself or both are a pointer to it.
 * BYTES      Unwinders look up return addresses less one, and faults at the first byte.  So a
 *            site that begins or ends inside an instruction is refused.
 * FORMS      A personality routine that may read few forms (personality.c) finds those of the
 *            original; and the original's table where that has landing pads, as it may remember
 *            tables by their addresses, too.
 * CONSTANT   An LSDA must not be in a writable segment.  Absolute addresses in it are known in
 *            programs linked to a fixed address only.
 * LIMITS     Sites of one LSDA ascend and do not overlap, as personality routines expect.  An
 *            LSDA of another form counts as not understood, and its function cannot have moved.
 *            A budget for the whole file bounds the work.
 */
#include "verify/lookup.h"

enum {
	OMIT = 0xff, ULEB = 0x01, UDATA4 = 0x03, ABSOLUTE = 0x00, FORMAT = 0x0f, BASE = 0x70,
	PCREL = 0x10, FUNCREL = 0x40, INDIRECT = 0x80,
};

struct type {
	vaddr addr;		/* 0: everything is caught */
	bool indirect;
};

static uint32_t value_size(uint8_t enc)
{
	switch (enc & FORMAT) {
	case 0x02: case 0x0a: return 2;
	case 0x03: case 0x0b: return 4;
	case 0x00: case 0x04: case 0x0c: return 8;
	default: return 0;
	}
}

/* A number in the format of `enc`. */
static uint64_t read_value(struct rd *r, uint8_t enc)
{
	switch (enc & FORMAT) {
	case 0x02: return rd_u16(r);
	case 0x0a: return (uint64_t)(int64_t)(int16_t)rd_u16(r);
	case 0x03: return rd_u32(r);
	case 0x0b: return (uint64_t)(int64_t)rd_s32(r);
	case 0x00: case 0x04: case 0x0c: return rd_u64(r);
	default: r->bad = true; return 0;
	}
}

/* An address: 0, or relative to where it stands, or (at fixed addresses) absolute. */
static vaddr read_address(const struct image *img, struct rd *r, uint8_t enc, vaddr here)
{
	uint64_t n = read_value(r, enc);

	if (n == 0)
		return 0;
	if ((enc & BASE) == PCREL)
		return here + n;
	if ((enc & BASE) != ABSOLUTE || img->eh.e_type != ET_EXEC)
		r->bad = true;
	return n;
}

/* Where landing pads count from. */
static vaddr read_start(const struct image *img, struct rd *r, uint8_t enc, vaddr here,
			vaddr fn)
{
	if ((enc & BASE) != FUNCREL)
		return read_address(img, r, enc, here);
	uint64_t distance = read_value(r, enc);

	r->bad |= distance == 0;	/* which some take for none at all */
	return fn + distance;
}

/* Type number `index`, from 1; false when it is not understood. */
static bool read_type(const struct image *img, const struct vlsda *l, uint64_t index,
		      struct type *out)
{
	uint32_t size = value_size(l->type_enc);

	if (l->type_enc == OMIT || size == 0 || index == 0 || index > l->types / size)
		return false;
	uint64_t at = l->types - index * size;
	struct rd r = rd_of(bytes_at(l->bytes, at, size));
	*out = (struct type){ read_address(img, &r, l->type_enc, l->addr + at),
			      l->type_enc & INDIRECT };
	return !r.bad;
}

/* From the LSDA's first byte to the end of its segment, which must be constant. */
static struct bytes constant_bytes(const struct image *img, vaddr addr)
{
	if (image_is_writable(img, addr))
		return (struct bytes){ NULL, 0 };
	return image_rest(img, addr);
}

struct sites {
	struct verify *v;
	VEC(struct vsite) all;
};

static uint64_t read_number(struct rd *r, uint8_t enc)
{
	return enc == ULEB ? rd_uleb(r) : rd_u32(r);
}

/* False when it is malformed or not sorted. */
static bool read_sites(struct sites *s, struct bytes table, uint8_t enc, vaddr pads,
		       const struct vfde *fde, bool *has_pads)
{
	struct rd r = rd_of(table);
	uint64_t at = 0;

	while (rd_left(&r)) {
		uint64_t start = read_number(&r, enc), len = read_number(&r, enc);
		uint64_t pad = read_number(&r, enc), action = rd_uleb(&r);

		if (r.bad || start < at || len > fde->len || start > fde->len - len ||
		    action > UINT32_MAX || s->v->lsda.budget == 0)
			return false;
		s->v->lsda.budget--;
		if (len == 0)
			continue;
		at = start + len;
		struct vsite site = { fde->addr + start, len, pad ? pads + pad : 0,
				      (uint32_t)action };
		*has_pads |= pad != 0;
		vec_push(s->v->a, &s->all, site);
	}
	return !r.bad;
}

static bool read_lsda(struct sites *s, const struct image *img, const struct vfde *fde,
		      struct vlsda *l)
{
	l->addr = fde->lsda;
	l->bytes = constant_bytes(img, fde->lsda);
	struct rd r = rd_of(l->bytes);
	vaddr pads = fde->addr;

	l->start_enc = rd_u8(&r);
	if (l->start_enc != OMIT) {
		if (l->start_enc & INDIRECT)
			return false;
		pads = read_start(img, &r, l->start_enc, l->addr + 1, fde->addr);
	}
	l->type_enc = rd_u8(&r);
	if (l->type_enc != OMIT) {
		uint64_t n = rd_uleb(&r);

		if (r.bad || n > rd_left(&r))
			return false;
		l->types = (uint64_t)(r.p - l->bytes.p) + n;
	}
	l->site_enc = rd_u8(&r);
	uint64_t n = rd_uleb(&r);
	if (r.bad || (l->site_enc != ULEB && l->site_enc != UDATA4))	/* of GCC and Clang */
		return false;
	struct bytes table = { r.p, n };
	if (!rd_skip(&r, n))
		return false;
	l->actions = (uint64_t)(r.p - l->bytes.p);
	return read_sites(s, table, l->site_enc, pads, fde, &l->pads);
}

/* Those of the original, or of new text only: copied FDEs have the original's. */
static int read_all(struct verify *v, const struct image *img, struct vcfi *cfi)
{
	struct sites s = { .v = v };
	VEC(struct vlsda) all = { 0 };

	for (uint32_t i = 0; i < cfi->nfde; i++) {
		struct vlsda l = { .site = s.all.n };

		if (!cfi->fde[i].lsda ||
		    (img == &v->gen && !verify_is_fresh(v, cfi->fde[i].addr)))
			continue;
		l.understood = read_lsda(&s, img, &cfi->fde[i], &l);
		if (v->lsda.budget == 0)
			return refuse(v, "too many call sites in exception tables");
		if (!l.understood)
			s.all.n = l.site;
		l.nsite = s.all.n - l.site;
		vec_push(v->a, &all, l);
		cfi->fde[i].exceptions = all.n;
	}
	cfi->lsda = all.v;
	cfi->nlsda = all.n;
	cfi->site = s.all.v;
	return 0;
}

int verify_callsites(struct verify *v)
{
	/* Bounds the work on malformed tables; chosen, not measured. */
	enum { STEPS_PER_BYTE = 4, STEPS_ALWAYS = 1 << 20 };

	v->lsda.budget = STEPS_PER_BYTE * (v->orig.file.n + v->gen.file.n) + STEPS_ALWAYS;
	if (verify_personality(v) < 0 || read_all(v, &v->orig, &v->ocfi) < 0)
		return err_wrap(v->err, "original");
	return read_all(v, &v->gen, &v->gcfi);
}

const struct vlsda *vlsda_of(const struct vcfi *cfi, uint32_t fde)
{
	uint32_t n = cfi->fde[fde].exceptions;

	return n ? &cfi->lsda[n - 1] : NULL;
}

const struct vsite *vlsda_site(const struct vcfi *cfi, uint32_t fde, vaddr addr)
{
	const struct vlsda *l = vlsda_of(cfi, fde);

	if (!l || l->nsite == 0)
		return NULL;
	uint32_t lo = l->site, hi = l->site + l->nsite;
	while (lo < hi) {			/* the first that begins behind addr */
		uint32_t mid = lo + (hi - lo) / 2;

		if (cfi->site[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == l->site || addr - cfi->site[lo - 1].addr >= cfi->site[lo - 1].len)
		return NULL;
	return &cfi->site[lo - 1];
}

/* Two LSDAs side by side: o the original's, g the generation's. */
struct both {
	struct verify *v;
	const struct vlsda *o, *g;
};

static bool spend(struct verify *v)
{
	if (v->lsda.budget)
		v->lsda.budget--;
	return v->lsda.budget != 0;
}

static bool same_type(const struct both *b, uint64_t o, uint64_t g)
{
	struct type x, y;

	return read_type(&b->v->orig, b->o, o, &x) && read_type(&b->v->gen, b->g, g, &y) &&
	       x.addr == y.addr && (x.addr == 0 || x.indirect == y.indirect);
}

static struct rd list_at(const struct vlsda *l, int64_t filter)
{
	uint64_t at = l->types + (uint64_t)(-(filter + 1));

	return rd_of(l->type_enc == OMIT || at > l->bytes.n ? (struct bytes){ NULL, 0 } :
		     bytes_at(l->bytes, at, l->bytes.n - at));
}

/* Exception specifications: the types in both lists. */
static bool same_list(const struct both *b, int64_t filter)
{
	struct rd o = list_at(b->o, filter), g = list_at(b->g, filter);

	while (spend(b->v)) {
		uint64_t x = rd_uleb(&o), y = rd_uleb(&g);

		if (o.bad || g.bad || !x != !y)
			return false;
		if (x == 0)
			return true;
		if (!same_type(b, x, y))
			return false;
	}
	return false;
}

struct action {
	int64_t filter;
	uint32_t next;			/* as in a call site; 0: the last one */
};

static bool read_action(const struct vlsda *l, uint32_t number, struct action *out)
{
	uint64_t at = l->actions + number - 1;
	struct rd r = rd_of(at < l->bytes.n ? bytes_at(l->bytes, at, l->bytes.n - at) :
			    (struct bytes){ NULL, 0 });

	out->filter = rd_sleb(&r);
	if (r.bad)
		return false;
	uint64_t here = (uint64_t)(r.p - l->bytes.p);
	int64_t step = rd_sleb(&r);
	if (r.bad)
		return false;
	uint64_t next = here + (uint64_t)step - l->actions + 1;
	out->next = step ? (uint32_t)next : 0;
	return step == 0 || (next != 0 && next <= UINT32_MAX);
}

static bool same_chain(const struct both *b, uint32_t o, uint32_t g)
{
	struct action x, y;

	for (; o && g; o = x.next, g = y.next) {
		if (!spend(b->v) || !read_action(b->o, o, &x) || !read_action(b->g, g, &y) ||
		    x.filter != y.filter)
			return false;
		if (x.filter > 0 && !same_type(b, (uint64_t)x.filter, (uint64_t)y.filter))
			return false;
		if (x.filter < 0 && !same_list(b, x.filter))
			return false;
	}
	return !o && !g;
}

static bool same_site(const struct both *b, const struct vsite *o, const struct vsite *g)
{
	if (!o || !g)
		return !o && !g;
	if (!o->pad != !g->pad || (o->pad && !verify_leads(b->v, o->pad, g->pad)))
		return false;
	return same_chain(b, o->action, g->action);
}

/* The routine takes the new table as it takes the old one. */
static bool serves(const struct verify *v, const struct vpair *c)
{
	const struct vlsda *o = vlsda_of(&v->ocfi, c->orig.fde);
	const struct vlsda *g = vlsda_of(&v->gcfi, c->gen.fde);
	bool from_start = g->start_enc != OMIT && (g->start_enc & BASE) == FUNCREL;

	if (o->addr == g->addr)
		return true;
	switch (v->ocfi.cie[v->ocfi.fde[c->orig.fde].cie].reads) {
	case READS_ALL:
		return !from_start;
	case READS_FROM_START:
		return from_start || g->start_enc == OMIT;
	case READS_ITS_OWN:
		break;
	}
	return !o->pads && o->start_enc == g->start_enc && o->site_enc == g->site_enc;
}

/* Remembers the last pair of sites that were the same: instructions of one come in a row. */
static bool agree(struct verify *v, const struct vpair *c, vaddr o, new_vaddr g)
{
	struct both b = { v, vlsda_of(&v->ocfi, c->orig.fde), vlsda_of(&v->gcfi, c->gen.fde) };
	const struct vsite *x = vlsda_site(&v->ocfi, c->orig.fde, o);
	const struct vsite *y = vlsda_site(&v->gcfi, c->gen.fde, g);

	if (!b.o->understood || !b.g->understood || !serves(v, c))
		return false;
	if (x && x == v->lsda.last_site[0] && y && y == v->lsda.last_site[1])
		return true;
	if (!same_site(&b, x, y))
		return false;
	v->lsda.last_site[0] = x;
	v->lsda.last_site[1] = y;
	return true;
}

bool verify_same_frame(struct verify *v, struct vpair at, vaddr o, new_vaddr g)
{
	if (vcfi_state(&at.orig, o) != vcfi_state(&at.gen, g) || at.orig.fde == NO_FDE ||
	    at.gen.fde == NO_FDE)
		return false;
	bool has = vlsda_of(&v->ocfi, at.orig.fde), wants = vlsda_of(&v->gcfi, at.gen.fde);
	return has == wants && (!has || agree(v, &at, o, g));
}

int verify_exceptions(struct verify *v, const struct vpair *c, vaddr o, uint32_t olen,
		      new_vaddr g, uint32_t glen)
{
	const struct vcfi *oc = &v->ocfi, *gc = &v->gcfi;
	bool has = vlsda_of(oc, c->orig.fde), wants = vlsda_of(gc, c->gen.fde);

	if (has != wants)
		return refuse(
			v,
			"the FDE of 0x%llx %s an exception table, that of its image 0x%llx %s",
			ULL(o), has ? "has" : "lacks", ULL(g), wants ? "has one" : "lacks it");
	if (!has)
		return 0;
	if (vlsda_site(oc, c->orig.fde, o) != vlsda_site(oc, c->orig.fde, o + olen - 1))
		return refuse(v, "the call site changes inside the instruction at 0x%llx",
			      ULL(o));
	if (vlsda_site(gc, c->gen.fde, g) != vlsda_site(gc, c->gen.fde, g + glen - 1))
		return refuse(v, "the call site changes inside the instruction at 0x%llx",
			      ULL(g));
	if (!serves(v, c))
		return refuse(v,
			      "the personality routine of 0x%llx may not take the exception "
			      "table of its image 0x%llx", ULL(o), ULL(g));
	if (!agree(v, c, o, g))
		return refuse(
			v,
			"exceptions at 0x%llx do not go where they go at its original 0x%llx",
			ULL(g), ULL(o));
	return 0;
}

int verify_exceptions_jump(struct verify *v, const struct vpair *c, vaddr last, vaddr dest,
			   new_vaddr g, uint32_t glen)
{
	const struct vcfi *gc = &v->gcfi;
	struct vpair there = *c;

	if (!vlsda_of(gc, c->gen.fde) && !vlsda_of(&v->ocfi, c->orig.fde))
		return 0;
	if (vlsda_site(gc, c->gen.fde, g) != vlsda_site(gc, c->gen.fde, g + glen - 1))
		return refuse(v, "the call site changes inside the instruction at 0x%llx",
			      ULL(g));
	there.orig.fde = vcfi_find(&v->ocfi, dest);
	if ((vlsda_of(&v->ocfi, c->orig.fde) && vlsda_of(gc, c->gen.fde) &&
	     agree(v, c, last, g)) ||
	    (there.orig.fde != NO_FDE && vlsda_of(&v->ocfi, there.orig.fde) &&
	     vlsda_of(gc, c->gen.fde) && agree(v, &there, dest, g)))
		return 0;
	return refuse(
		v, "exceptions at the jump 0x%llx do not go where they go at 0x%llx or 0x%llx",
		ULL(g), ULL(last), ULL(dest));
}
