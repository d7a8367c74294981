/* emit_lsda.c - exception tables (LSDAs) of new text
 *
 * WHY      A call site says what happens when an instruction throws. In new text instructions
 *          have another order, so every span (one new FDE) gets a table of its own, made from
 *          the call sites of its instructions; actions, types and specifications are copied. A
 *          span whose code has no table gets none. A span whose code has one gets one even if
 *          it is empty: a call in no call site terminates the program, a call in a function
 *          without a table does not.
 *
 * PADS     Landing pads may lie in any part of new text. They are relative to an explicit start
 *          (LPStart) one byte below the lowest pad of the table, because 0 means that there is
 *          no pad. That is relative to its own address, or for Rust's routine to the span's.
 *
 * SITES    Adjacent call sites that say the same become one. What emit adds (a jmp, NOPs)
 *          throws nothing: it belongs to the call site of the instruction in front of it.
 *
 * ADDRESS  The address of the tables is known only when their size is. Fields that are relative
 *          to their own address are noted in `fixes`, and filled in by emit_lsda_place().
 *
 * Tested by tests/programs/unwinding.sh: programs that throw in every way, moved in many
 * orders.
 */
#include "editor/emit/emit.h"

#include "lib/err.h"
#include "postmorph/unwind/cfi_rows.h"
#include "binary/dwarf.h"
#include "postmorph/unwind/lsda.h"

struct new_site {
	uint64_t off, len;		/* from the start of the span */
	new_vaddr pad;			/* 0: none */
	uint64_t action;
};

struct fill {
	const struct emit_plan *plan;
	struct arena *a;
	struct emit_lsda *out;
	struct lsda lsda;		/* of the span at hand */
	VEC(struct lsda_site) old;
	VEC(struct new_site) sites;
	bool open;			/* the instruction in front is in the last of sites */
	new_vaddr start;		/* of the span */
	const struct fn *fn;
	struct err *err;
};

static int cannot(const struct fill *f, const char *what)
{
	return err_set(f->err, ERR_REFUSED, "%s: %s", emit_fn_text(f->plan->prog, f->fn), what);
}

static const struct lsda_site *find_site(const struct fill *f, vaddr addr)
{
	uint32_t lo = 0, hi = f->old.n;

	while (lo < hi) {		/* the first that begins behind addr */
		uint32_t mid = lo + (hi - lo) / 2;

		if (f->old.v[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || addr - f->old.v[lo - 1].addr >= f->old.v[lo - 1].len)
		return NULL;
	return &f->old.v[lo - 1];
}

static int find_pad(const struct fill *f, uint32_t fn, vaddr pad, new_vaddr *out)
{
	uint32_t id = fn_find_block(f->fn, pad);

	*out = 0;
	if (pad == 0)
		return 0;
	if (id == NO_BLOCK || f->fn->block[id].addr != pad ||
	    f->plan->place_of[fn][id] == NO_PLACE)
		return cannot(f, "a landing pad has no image");
	*out = emit_place_addr(f->plan, f->plan->place_of[fn][id]);
	return 0;
}

/* The image of instruction `insn` is [at, at + size). */
static int add_insn(struct fill *f, uint32_t fn, const struct insn *insn, new_vaddr at,
		    uint64_t size)
{
	vaddr orig = prog_insn_addr(f->plan->prog, insn);
	const struct lsda_site *old = find_site(f, orig + insn->len - 1);
	struct new_site site = { .off = at - f->start, .len = size };

	if (old != find_site(f, orig))
		return cannot(f, "an instruction is in two call sites");
	if (!old) {
		f->open = false;
		return 0;
	}
	site.action = old->action;
	if (find_pad(f, fn, old->pad, &site.pad) < 0)
		return -1;
	struct new_site *last = f->sites.n ? &f->sites.v[f->sites.n - 1] : NULL;

	if (f->open && last->pad == site.pad && last->action == site.action)
		last->len = site.off + size - last->off;
	else
		vec_push(f->a, &f->sites, site);
	f->open = true;
	return 0;
}

static int add_place(struct fill *f, uint32_t index)
{
	const struct emit_place *p = &f->plan->place[index];
	const struct block *b = &f->fn->block[p->block];
	new_vaddr at = emit_place_addr(f->plan, index);
	const struct insn *insn = &f->fn->insn[b->insn];
	new_vaddr end = at + emit_place_size(f->plan, index);
	new_vaddr branch_end = at + relax_size(&f->plan->item[p->item]);
	const struct insn *last = &insn[p->nkept ? p->nkept - 1 : 0];

	for (uint32_t i = 0; i < p->nkept; i++) {
		uint32_t size = emit_insn_size(f->plan, p, i);

		at += emit_counters_before(f->plan, p, i);
		if (add_insn(f, p->fn, &insn[i], at, size) < 0)
			return -1;
		at += size;
	}
	if (emit_ends_in_branch(f->fn, b))
		at += emit_counters_before(f->plan, p, b->ninsn - 1);
	if (insn[b->ninsn - 1].kind == INSN_JMP)	/* may be gone, but NOPs go by it */
		last = &insn[b->ninsn - 1];
	if (p->branched) {
		last = &insn[b->ninsn - 1];
		if (add_insn(f, p->fn, last, at, branch_end - at) < 0)
			return -1;
		at = branch_end;
	}
	return at < end ? add_insn(f, p->fn, last, at, end - at) : 0;
}

static void add_fix(struct fill *f, uint8_t enc, uint64_t value)
{
	struct emit_lsda_fix fix = { .at = f->out->bytes.n, .enc = enc, .value = value };

	vec_push(f->a, &f->out->fixes, fix);
}

static void put_types(struct fill *f)
{
	const struct lsda *l = &f->lsda;
	struct rd r = rd_of(l->types);

	for (uint64_t off = 0; off < l->types.n; off += l->type_size) {
		uint64_t raw, value;

		(void)cfi_read_pointer(&r, l->type_enc & 0x7f, l->types_addr + off, &raw,
				       &value);
		if (raw != 0 && (l->type_enc & 0x70) == DW_EH_PE_pcrel)
			add_fix(f, l->type_enc, value);
		wr_raw(&f->out->bytes, l->types.p + off, l->type_size);
	}
}

static uint64_t uleb_size(uint64_t v)
{
	uint64_t n = 1;

	while (v >>= 7)
		n++;
	return n;
}

/* The call sites, as they stand in the file. */
static void encode_sites(const struct fill *f, new_vaddr pad_base, struct wr *out)
{
	for (uint32_t i = 0; i < f->sites.n; i++) {
		const struct new_site *s = &f->sites.v[i];

		wr_uleb(out, s->off);
		wr_uleb(out, s->len);
		wr_uleb(out, s->pad ? s->pad - pad_base : 0);
		wr_uleb(out, s->action);
	}
}

/* Where landing pads count from, which says so.  False: too far away for that. */
static bool put_start(struct fill *f, bool from_start, new_vaddr base)
{
	struct wr *out = &f->out->bytes;
	int64_t distance = (int64_t)(base - f->start);

	if (!from_start) {
		wr_u8(out, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
		add_fix(f, DW_EH_PE_pcrel | DW_EH_PE_sdata4, base);
		wr_u32(out, 0);
		return true;
	}
	wr_u8(out, DW_EH_PE_funcrel | DW_EH_PE_sdata4);
	wr_u32(out, (uint32_t)distance);
	return distance == (int32_t)distance;
}

static int put_record(struct fill *f, uint32_t fde)
{
	struct wr *out = &f->out->bytes, sites = { 0 };
	const struct lsda *l = &f->lsda;
	const struct cfi *cfi = &f->plan->prog->cfi;
	bool from_start = cfi->cie[cfi->fde[fde].cie].reads == CFI_READS_FROM_START;
	bool acts = false, near = true;
	new_vaddr lowest = UINT64_MAX;

	for (uint32_t i = 0; i < f->sites.n; i++) {
		acts |= f->sites.v[i].action != 0;
		if (f->sites.v[i].pad && f->sites.v[i].pad < lowest)
			lowest = f->sites.v[i].pad;
	}
	new_vaddr base = lowest - 1;
	if (from_start && base == f->start)	/* a distance of 0 would be none */
		base--;
	encode_sites(f, base, &sites);
	if (lowest == UINT64_MAX)
		wr_u8(out, DW_EH_PE_omit);
	else
		near = put_start(f, from_start, base);
	if (acts && l->type_enc != DW_EH_PE_omit) {
		wr_u8(out, l->type_enc);
		wr_uleb(out, 1 + uleb_size(sites.n) + sites.n + l->actions.n + l->types.n);
	} else {
		wr_u8(out, DW_EH_PE_omit);
	}
	wr_u8(out, DW_EH_PE_uleb128);
	wr_uleb(out, sites.n);
	wr_raw(out, sites.p, sites.n);
	if (acts) {
		wr_raw(out, l->actions.p, l->actions.n);
		put_types(f);
		wr_raw(out, l->specs.p, l->specs.n);
	}
	wr_free(&sites);
	return near ? 0 : cannot(f, "a landing pad is too far away");
}

/* All spans without a call site share one record. */
static void put_empty(struct fill *f, uint64_t *at)
{
	static const uint8_t empty[] = { DW_EH_PE_omit, DW_EH_PE_omit, DW_EH_PE_uleb128, 0 };

	if (f->out->empty == EMIT_NO_LSDA) {
		f->out->empty = f->out->bytes.n;
		wr_raw(&f->out->bytes, empty, sizeof(empty));
	}
	*at = f->out->empty;
}

static int fill_span(struct fill *f, const struct emit_span *span, uint64_t *at)
{
	const struct prog *prog = f->plan->prog;
	struct lsda_site site;

	f->fn = &prog->fn[prog->fn_of_fde[span->fde]];
	if (!lsda_read(&prog->img, &prog->cfi, span->fde, &f->lsda))
		return cannot(f, "its exception table cannot be moved");
	f->old.n = f->sites.n = 0;
	f->open = false;
	f->start = emit_place_addr(f->plan, span->place);
	for (struct lsda_iter it = lsda_iter(&f->lsda); lsda_next(&it, &site); )
		vec_push(f->a, &f->old, site);
	for (uint32_t i = 0; i < span->nplace; i++)
		if (add_place(f, span->place + i) < 0)
			return -1;
	if (f->sites.n == 0) {
		put_empty(f, at);
		return 0;
	}
	*at = f->out->bytes.n;
	return put_record(f, span->fde);
}

int emit_lsda_fill(const struct emit_plan *plan, const struct emit_unwind *unwind,
		   struct emit_lsda *out, struct err *err)
{
	struct fill f = { .plan = plan, .a = plan->arena, .out = out, .err = err };

	out->empty = EMIT_NO_LSDA;
	out->off = arena_array(f.a, unwind->nspan, sizeof(*out->off));
	for (uint32_t i = 0; i < unwind->nspan; i++) {
		out->off[i] = EMIT_NO_LSDA;
		if (plan->prog->cfi.fde[unwind->span[i].fde].lsda &&
		    fill_span(&f, &unwind->span[i], &out->off[i]) < 0)
			return -1;
	}
	return 0;
}

static bool fits(int64_t d, uint8_t enc)
{
	switch (enc & 0x0f) {
	case DW_EH_PE_udata4:
		return d >= 0 && d <= UINT32_MAX;
	case DW_EH_PE_sdata4:
		return d >= INT32_MIN && d <= INT32_MAX;
	default:
		return true;
	}
}

int emit_lsda_place(struct emit_lsda *lsda, new_vaddr addr, struct emit_unwind *unwind,
		    struct err *err)
{
	for (uint32_t i = 0; i < lsda->fixes.n; i++) {
		const struct emit_lsda_fix *fix = &lsda->fixes.v[i];
		uint8_t form = fix->enc & 0x0f;
		int64_t d = (int64_t)(fix->value - (addr + fix->at));

		if (!fits(d, fix->enc))
			return err_set(err, ERR_REFUSED, "0x%llx is out of reach of its new "
				       "exception table", (unsigned long long)fix->value);
		memcpy(lsda->bytes.p + fix->at, &d,
		       form == DW_EH_PE_udata4 || form == DW_EH_PE_sdata4 ? 4 : 8);
	}
	for (uint32_t i = 0; i < unwind->nspan; i++)
		unwind->row_span[i].lsda = lsda->off[i] == EMIT_NO_LSDA ? 0 :
					    addr + lsda->off[i];
	return 0;
}
