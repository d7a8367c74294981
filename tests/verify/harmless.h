/* harmless.h - why a damaged generation that the Verifier has accepted does no harm
 *
 * Judged with the readers of PostMorph, which the Verifier does not use.
 */
#ifndef TESTS_VERIFY_HARMLESS_H
#define TESTS_VERIFY_HARMLESS_H

#include <string.h>

#include "binary/decode.h"
#include "binary/image.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "lib/err.h"
#include "postmorph/analyze.h"
#include "postmorph/ir/ir.h"
#include "postmorph/unwind/cfi.h"
#include "postmorph/unwind/lsda.h"

struct target {
	struct bytes original, pristine;
	uint8_t *gen;			/* the generation, damaged and mended again */
	struct image img;		/* of the pristine generation */
	struct blockmap map;
	struct cfi cfi;
	/* notes of probes: NULL if none */
	const Elf64_Shdr *map_section, *frame, *hdr, *notes;
	uint64_t map_section_header;	/* file offset of the section header of .morph.map */
	uint64_t notes_header;		/* the same of the notes */
	uint64_t seed;
};

static uint64_t offset_of(const struct target *t, new_vaddr addr)
{
	return (uint64_t)(image_rest(&t->img, addr).p - t->pristine.p);
}

/* Calls `same` for every instruction of every image with its address; false when one said
 * so. */
static bool every_insn(const struct target *t, const void *ctx,
		       bool (*same)(const struct target *, const void *, new_vaddr, uint32_t))
{
	for (uint32_t i = 0; i < t->map.nblock; i++) {
		const struct blockmap_block *b = &t->map.block[i];
		new_vaddr addr = t->map.gen_base + b->gen;
		struct bytes code = image_at(&t->img, addr, b->gen_size);
		struct insn insn;
		vaddr target;

		for (uint64_t off = 0; off < code.n; off += insn.len)
			if (!insn_decode(bytes_at(code, off, code.n - off), addr + off, &insn,
					 &target) || !same(t, ctx, addr + off, insn.len))
				return false;
	}
	return true;
}

/* File offsets of the exception table of a piece of new text; false: it has none. */
static bool exception_bytes(const struct target *t, uint32_t fde, uint64_t *from, uint64_t *to)
{
	struct lsda l;

	if (t->cfi.fde[fde].addr < t->map.gen_base || !t->cfi.fde[fde].lsda ||
	    !lsda_read(&t->img, &t->cfi, fde, &l))
		return false;
	const uint8_t *end = l.sites.p + l.sites.n;

	if (l.actions.n && l.actions.p + l.actions.n > end)
		end = l.actions.p + l.actions.n;
	if (l.types.n && l.types.p + l.types.n > end)
		end = l.types.p + l.types.n;
	if (l.specs.n && l.specs.p + l.specs.n > end)
		end = l.specs.p + l.specs.n;
	*from = offset_of(t, t->cfi.fde[fde].lsda);
	*to = (uint64_t)(end - t->pristine.p);
	return true;
}

static bool same_bytes(struct bytes x, struct bytes y)
{
	return x.n == y.n && (x.n == 0 || memcmp(x.p, y.p, x.n) == 0);
}

static bool same_state(const struct cfi_state *x, const struct cfi_state *y)
{
	if (x->cfa_is_expr != y->cfa_is_expr || x->args_size != y->args_size)
		return false;
	if (x->cfa_is_expr ? !same_bytes(x->cfa_expr, y->cfa_expr) :
	    x->cfa_reg != y->cfa_reg || x->cfa_off != y->cfa_off)
		return false;
	for (uint32_t i = 0; i < CFI_REG_END; i++) {
		const struct cfi_rule *a = cfi_rule_of(x, i), *b = cfi_rule_of(y, i);

		if (a->kind != b->kind || a->off != b->off || !same_bytes(a->expr, b->expr))
			return false;
	}
	return true;
}

static bool same_rows(const struct target *t, const void *ctx, new_vaddr addr, uint32_t len)
{
	const struct cfi *now = ctx;

	for (uint32_t k = 0; k < len; k++) {
		uint32_t x = cfi_find(&t->cfi, addr + k), y = cfi_find(now, addr + k);

		if (x == UINT32_MAX || y == UINT32_MAX ||
		    t->cfi.cie[t->cfi.fde[x].cie].personality !=
			    now->cie[now->fde[y].cie].personality ||
		    t->cfi.fde[x].lsda != now->fde[y].lsda ||
		    !same_state(&t->cfi.state[cfi_state_at(&t->cfi, x, addr + k)],
				&now->state[cfi_state_at(now, y, addr + k)]))
			return false;
	}
	return true;
}

/* The unwind tables say the same: at every image, and the same FDEs of the same ranges. */
static bool unwinds_alike(const struct target *t, struct bytes gen, struct arena *a)
{
	struct image img;
	struct cfi now;
	struct err err;

	if (image_parse(gen, a, &img, &err) < 0 || cfi_parse(&img, a, &now, &err) < 0 ||
	    now.nfde != t->cfi.nfde)
		return false;
	for (uint32_t i = 0; i < now.nfde; i++) {
		const struct fde *x = &t->cfi.fde[i], *y = &now.fde[i];

		if (x->addr != y->addr || x->lsda != y->lsda)
			return false;
		/* what else than images it covers is padding */
		if (x->addr >= t->map.gen_base)
			continue;
		if (x->len != y->len)
			return false;
		for (uint64_t k = 0; k < x->len; k++)
			if (!same_state(&t->cfi.state[cfi_state_at(&t->cfi, i, x->addr + k)],
					&now.state[cfi_state_at(&now, i, x->addr + k)]))
				return false;
	}
	return every_insn(t, &now, same_rows);
}

static bool same_place(const struct target *t, const void *ctx, new_vaddr addr, uint32_t len)
{
	const struct blockmap *now = ctx;
	const struct blockmap_block *x = blockmap_find_gen(&t->map, addr);
	const struct blockmap_block *y = blockmap_find_gen(now, addr);

	(void)len;
	return x && y && t->map.orig_base + x->orig == now->orig_base + y->orig &&
	       t->map.gen_base + x->gen == now->gen_base + y->gen;
}

/* The map takes every instruction back to the same block, whatever it says about the rest. */
static bool maps_alike(const struct target *t, struct bytes gen)
{
	struct blockmap now;
	struct err err;
	uint64_t size;

	memcpy(&size, gen.p + t->map_section_header + offsetof(Elf64_Shdr, sh_size), 8);
	if (blockmap_read(bytes_at(gen, t->map_section->sh_offset, size), &now, &err) < 0)
		return false;
	bool same = now.nentry == t->map.nentry && every_insn(t, &now, same_place);
	blockmap_free(&now);
	return same;
}

static bool in_section(const Elf64_Shdr *h, uint64_t off)
{
	return off >= h->sh_offset && off - h->sh_offset < h->sh_size;
}

/* From one of two addresses of the original NOPs and direct jumps lead to the other. */
static bool leads_to(struct bytes original, vaddr from, vaddr to)
{
	struct arena *a = arena_new();
	struct image img;
	struct insn insn;
	vaddr target;
	bool ok = image_parse(original, a, &img, NULL) == 0;

	for (int i = 0; ok && from != to && i < 100; i++) {
		struct bytes code = image_rest(&img, from);

		ok = code.p && insn_decode(code, from, &insn, &target) &&
		     (insn.kind == INSN_NOP || insn.kind == INSN_JMP);
		from = insn.kind == INSN_JMP ? target : from + insn.len;
	}
	arena_free(a);
	return ok && from == to;
}

/* The damaged byte is in the field of a jump that leads to the same place of the original, a
 * few NOPs earlier or later. */
static bool jumps_alike(const struct target *t, uint64_t off, struct bytes gen)
{
	for (uint32_t i = 0; i < t->map.nblock; i++) {
		const struct blockmap_block *b = &t->map.block[i];
		new_vaddr addr = t->map.gen_base + b->gen;
		struct bytes code = image_at(&t->img, addr, b->gen_size);
		uint64_t start = offset_of(t, addr);
		struct insn insn;
		vaddr before;

		if (off < start || off - start >= b->gen_size)
			continue;
		for (uint64_t k = 0; k < code.n; k += insn.len) {
			if (!insn_decode(bytes_at(code, k, code.n - k), addr + k, &insn,
					 &before))
				return false;
			if (off - start >= k + insn.len)
				continue;
			if (!insn.field || insn.kind == INSN_CALL || insn.kind == INSN_PLAIN)
				return false;
			vaddr now = insn_target(&insn, gen.p + start + k, addr + k);
			return leads_to(t->original, before, now) ||
			       leads_to(t->original, now, before);
		}
	}
	return false;
}

static bool is_nop(const struct target *t, new_vaddr addr)
{
	struct insn insn;
	vaddr target;

	return insn_decode(image_rest(&t->img, addr), addr, &insn, &target) &&
	       insn.kind == INSN_NOP;
}

/* Nobody looks for the table of section names by its name. */
static bool in_own_name(const struct target *t, uint64_t off)
{
	uint32_t i = t->img.eh.e_shstrndx;

	if (i >= t->img.nsh)
		return false;
	uint64_t name = t->img.sh[i].h.sh_offset + t->img.sh[i].h.sh_name;
	return off >= name && off - name < strlen(".shstrtab");
}

/* The damaged byte is in a NOP, which is one all the same. */
static bool nops_alike(const struct target *t, uint64_t off, struct bytes gen)
{
	for (uint32_t i = 0; i < t->map.nblock; i++) {
		const struct blockmap_block *b = &t->map.block[i];
		new_vaddr addr = t->map.gen_base + b->gen;
		uint64_t start = offset_of(t, addr);
		struct insn was, is;
		vaddr target;

		if (off < start || off - start >= b->gen_size)
			continue;
		for (uint64_t k = 0; k <= off - start; k += was.len) {
			struct bytes code = bytes_at(t->pristine, start + k, b->gen_size - k);

			if (!insn_decode(code, addr + k, &was, &target))
				return false;
			code.p = gen.p + start + k;
			if (off - start < k + was.len)
				return was.kind == INSN_NOP &&
				       insn_decode(code, addr + k, &is, &target) &&
				       is.kind == INSN_NOP && is.len == was.len;
		}
	}
	return false;
}

static const struct lsda_site *site_at(const struct lsda *l, new_vaddr addr,
				       struct lsda_site *out)
{
	struct lsda_iter it = lsda_iter(l);

	while (lsda_next(&it, out))
		if (addr - out->addr < out->len)
			return out;
	return NULL;
}

/* What type number `n` leads to, perhaps through a pointer. */
static vaddr type_of(const struct lsda *l, uint64_t n, bool *indirect)
{
	uint64_t at = l->types.n - n * l->type_size;
	struct rd r = rd_of(bytes_at(l->types, at, l->type_size));
	vaddr raw = l->type_size == 4 ? (vaddr)(int64_t)rd_s32(&r) : rd_u64(&r);

	*indirect = raw && (l->type_enc & 0x80);
	return raw && (l->type_enc & 0x70) ? raw + l->types_addr + at : raw;
}

static bool same_type(const struct lsda *x, uint64_t n, const struct lsda *y, uint64_t m)
{
	bool a, b;

	return type_of(x, n, &a) == type_of(y, m, &b) && a == b;
}

static bool same_specs(const struct lsda *x, const struct lsda *y, uint64_t at)
{
	struct rd r = rd_of(bytes_at(x->specs, at, x->specs.n - at));
	struct rd s = rd_of(bytes_at(y->specs, at, y->specs.n - at));

	while (!r.bad && !s.bad) {
		uint64_t n = rd_uleb(&r), m = rd_uleb(&s);

		if (n == 0 || m == 0)
			return n == m;
		if (!same_type(x, n, y, m))
			return false;
	}
	return false;
}

static bool same_actions(const struct lsda *x, uint64_t n, const struct lsda *y, uint64_t m)
{
	while (n && m) {
		struct rd r = rd_of(bytes_at(x->actions, n - 1, x->actions.n - (n - 1)));
		struct rd s = rd_of(bytes_at(y->actions, m - 1, y->actions.n - (m - 1)));
		int64_t f = rd_sleb(&r), g = rd_sleb(&s);
		const uint8_t *p = r.p, *q = s.p;
		int64_t i = rd_sleb(&r), k = rd_sleb(&s);

		if (r.bad || s.bad || f != g ||
		    (f > 0 && !same_type(x, (uint64_t)f, y, (uint64_t)g)) ||
		    (f < 0 && !same_specs(x, y, (uint64_t)-(f + 1))))
			return false;
		n = i ? (uint64_t)(p - x->actions.p + i) + 1 : 0;
		m = k ? (uint64_t)(q - y->actions.p + k) + 1 : 0;
	}
	return n == m;
}

struct landing {			/* two readings of one FDE's exception table */
	struct lsda before, now;
	const struct fde *fde;
};

static bool same_landing(const struct target *t, const void *ctx, new_vaddr addr, uint32_t len)
{
	const struct landing *l = ctx;
	struct lsda_site a, b;

	/* which throws nothing */
	if (addr - l->fde->addr >= l->fde->len || is_nop(t, addr))
		return true;
	for (uint32_t k = 0; k < len; k++) {
		const struct lsda_site *x = site_at(&l->before, addr + k, &a);
		const struct lsda_site *y = site_at(&l->now, addr + k, &b);

		if (!x != !y || (x && (x->pad != y->pad || !same_actions(&l->before, x->action,
									 &l->now, y->action))))
			return false;
	}
	return true;
}

/* The byte is where an action record says that it is the last one, and it says so in more
 * bytes now: nothing else is read behind them, whatever those belong to. */
static bool ends_alike(const struct target *t, const struct lsda *before, uint64_t off,
		       struct bytes gen)
{
	struct rd r = rd_of(before->actions);

	while (rd_left(&r)) {
		(void)rd_sleb(&r);
		uint64_t at = (uint64_t)(r.p - t->pristine.p);
		struct rd now = rd_of(bytes_at(gen, at, gen.n - at));

		if (rd_sleb(&r) == 0 && at == off && rd_sleb(&now) == 0)
			return !now.bad;
	}
	return false;
}

/* The byte is in a new exception table, and all such tables say the same at every image. */
static bool lands_alike(const struct target *t, uint64_t off, struct bytes gen, struct arena *a)
{
	struct image img;
	struct cfi now;
	struct err err;
	bool met = false;

	if (image_parse(gen, a, &img, &err) < 0 || cfi_parse(&img, a, &now, &err) < 0)
		return false;
	for (uint32_t i = 0; i < t->cfi.nfde; i++) {
		struct landing l = { .fde = &t->cfi.fde[i] };
		uint64_t from, to;

		if (!exception_bytes(t, i, &from, &to) || off < from || off >= to)
			continue;
		met = true;
		if (!lsda_read(&t->img, &t->cfi, i, &l.before))
			return false;
		if (!ends_alike(t, &l.before, off, gen) &&
		    (!lsda_read(&img, &now, i, &l.now) || !every_insn(t, &l, same_landing)))
			return false;
	}
	return met;
}

/* Why the one damaged byte at `off` can do no harm; NULL when that cannot be shown. */
static const char *harmless_byte(const struct target *t, uint64_t off, struct bytes gen,
				 struct arena *a)
{
	const Elf64_Phdr *p;

	if (in_section(t->map_section, off))
		return maps_alike(t, gen) ? "the map says the same" : NULL;
	if (in_section(t->frame, off))
		return unwinds_alike(t, gen, a) ? "the unwind rows are the same" : NULL;
	if (jumps_alike(t, off, gen))
		return "NOPs lead from one target to the other";
	if (in_own_name(t, off))
		return "what the table of names of sections is called";
	if (nops_alike(t, off, gen))
		return "a NOP is another NOP";
	if (lands_alike(t, off, gen, a))
		return "exceptions go the same ways";
	for (p = t->img.ph; p < t->img.ph + t->img.nph; p++) {
		uint64_t at = off - p->p_offset;

		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && at < p->p_filesz &&
		    p->p_vaddr >= t->map.gen_base - p->p_filesz &&
		    p->p_vaddr <= t->map.gen_base &&
		    !blockmap_find_gen(&t->map, p->p_vaddr + at))
			return "padding of new text, which nothing reaches";
	}
	for (uint32_t i = 0; i < t->img.nph; i++)
		if (off - (t->img.eh.e_phoff + i * sizeof(Elf64_Phdr) +
			   offsetof(Elf64_Phdr, p_align)) < 8 && t->img.ph[i].p_type == PT_LOAD)
			return "a larger alignment that the addresses have, too";
	return NULL;
}

/* Some image is of code that uses the table. */
static bool is_used(const struct target *t, const struct prog *prog, const struct fn *fn,
		    const struct jump_table *table)
{
	for (uint32_t i = 0; i < table->nuser; i++)
		if (blockmap_find_orig(&t->map,
				       prog_insn_addr(prog, &fn->insn[table->user[i]])))
			return true;
	return false;
}

/* Table i has that many entries: the Editor's proof of its bound wants no more. */
static bool long_enough(const struct target *t, uint32_t i, uint32_t nentry, struct arena *a)
{
	struct prog prog;
	struct err err;
	bool enough = true;

	if (prog_analyze(t->original, a, &prog, &err) < 0)
		return false;
	for (uint32_t f = 0; f < prog.nfn; f++)
		for (uint32_t k = 0; k < prog.fn[f].ntable; k++) {
			const struct jump_table *table = &prog.fn[f].table[k];

			if (table->addr == t->map.table[i].orig_addr)
				enough &= table->bound <= nentry ||
					  !is_used(t, &prog, &prog.fn[f], table);
		}
	return enough;
}

/* All that has changed is that a new table has fewer entries, as many as are used. */
static bool tables_are_long_enough(const struct target *t, struct bytes gen, struct arena *a)
{
	struct blockmap now;
	struct err err;
	uint32_t i = 0;

	if (blockmap_read(bytes_at(gen, t->map_section->sh_offset, t->map_section->sh_size),
			  &now, &err) < 0)
		return false;
	while (i < now.ntable && i < t->map.ntable &&
	       now.table[i].nentry == t->map.table[i].nentry)
		i++;
	uint32_t nentry = i < now.ntable ? now.table[i].nentry : 0;
	blockmap_free(&now);
	if (i == t->map.ntable || nentry == 0 || nentry >= t->map.table[i].nentry)
		return false;
	uint64_t size = blockmap_entry_size(t->map.table[i].kind);
	uint64_t at = offset_of(t, t->map.table[i].new_addr);
	for (uint64_t k = 0; k < gen.n; k++)
		if (gen.p[k] != t->pristine.p[k] && !in_section(t->map_section, k) &&
		    k - (at + nentry * size) >= (t->map.table[i].nentry - nentry) * size)
			return false;
	return long_enough(t, i, nentry, a);
}

static const char *harmless(const struct target *t, struct bytes gen, struct arena *a)
{
	const char *why = NULL;
	bool map_only = true;

	if (tables_are_long_enough(t, gen, a))
		return "entries that no image uses are gone";

	for (uint64_t i = 0; i < gen.n; i++) {
		if (gen.p[i] == t->pristine.p[i])
			continue;
		map_only &= in_section(t->map_section, i) ||
			    i - t->map_section_header < sizeof(Elf64_Shdr);
		why = harmless_byte(t, i, gen, a);
		if (!why && !map_only)
			return NULL;
	}
	return map_only && maps_alike(t, gen) ? "the map says the same" : why;
}

#endif
