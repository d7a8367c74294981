/* entries.c - entry jumps lead to images, and no instruction leads inside one
 *
 * An entry jump overwrites five bytes of the original.  Whoever arrives at its first byte goes
 * on in the image of the function's first block; nobody may arrive at the other four.  One walk
 * over all code of the original looks for arrivals by instructions: branches and rip-relative
 * operands (between FDEs too, as far as the bytes there decode), landing pads, and entries of
 * everything that looks like a jump table.  Addresses kept as data are holders.c's matter.
 *
 * The walk also notes where instructions begin, and which FDEs belong to one function.  A
 * fragment is an FDE that begins in the middle of a frame; a jump or an exception into it joins
 * it to the FDE where it came from.
 *
 * Tested by tests/unit/verify/test_casetables.c, and by tests/verify/mutate.c with damaged
 * entry jumps and missing entries.
 */
#include <stdlib.h>

#include "verify/lookup.h"
#include "verify/tableentries.h"

enum { JUMP = 5, ENDBR64 = 4 };

struct base {			/* address that an instruction forms, perhaps of a jump table */
	vaddr addr;
	uint32_t fde;
	uint32_t kind;		/* enum blockmap_table_kind: by `lea`, or as value(,index,8) */
};

struct walk {
	struct verify *v;
	VEC(struct base) bases;
	uint32_t fde;		/* being walked, NO_FDE between FDEs */
	/* of the original file, by one bit a byte: was decoded; a branch leads there */
	uint8_t *seen, *reached;
	bool hidden;		/* the instruction at hand begins inside of another one */
	uint8_t last;		/* kind of the last instruction, but for NOPs */
};

static int check_entry(struct verify *v, vaddr entry)
{
	static const uint8_t endbr64[ENDBR64] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint32_t i = vcfi_find(&v->ocfi, entry);

	if (i == NO_FDE)
		return refuse(v, "entry jump at 0x%llx is not in a function", ULL(entry));
	const struct vfde *fde = &v->ocfi.fde[i];
	struct bytes o = verify_orig_code(v, fde->addr);
	uint64_t off = entry - fde->addr;

	if (off != 0 && (off != ENDBR64 || o.n < ENDBR64 || memcmp(o.p, endbr64, ENDBR64) != 0))
		return refuse(v,
			      "entry jump at 0x%llx is not at the start of the function 0x%llx",
			      ULL(entry), ULL(fde->addr));
	if (fde->len < off + JUMP)
		return refuse(v, "entry jump at 0x%llx reaches out of its function",
			      ULL(entry));
	struct bytes g = image_at(&v->gen, entry, JUMP);
	if (!g.p || g.p[0] != 0xe9)
		return refuse(v, "no entry jump at 0x%llx", ULL(entry));
	struct rd r = rd_of(bytes_at(g, 1, 4));
	new_vaddr to = entry + JUMP + (vaddr)(int64_t)rd_s32(&r);
	if (!verify_is_fresh(v, to) || !verify_leads(v, fde->addr, to))
		return refuse(
			v, "entry jump at 0x%llx leads to 0x%llx, which is no image of 0x%llx",
			ULL(entry), ULL(to), ULL(fde->addr));
	uint64_t file = (uint64_t)(o.p - v->orig.file.p) + off;
	for (uint64_t k = file + 1; k < file + JUMP; k++)
		v->walk.cut[k / 8] |= (uint8_t)(1 << k % 8);
	return 0;
}

static int arrive(struct verify *v, vaddr from, vaddr to, const char *what)
{
	verify_note_met(v, to);
	if (!verify_is_cut(v, to))
		return 0;
	return refuse(v, "%s at 0x%llx leads to 0x%llx, inside an entry jump", what, ULL(from),
		      ULL(to));
}

/* An instruction of the FDE forms that address, or may. */
static void note_own(struct verify *v, uint32_t fde, vaddr addr)
{
	const struct vfde *f = fde != NO_FDE ? &v->ocfi.fde[fde] : NULL;

	if (f && addr != f->addr && addr - f->addr < f->len)
		v->walk.own_label[fde] = true;
}

/* A constant that is the address of what gave way to program headers, in code that is linked
 * to a fixed address. */
static int check_constants(struct verify *v, uint32_t fde, const struct insn *insn,
			   const uint8_t *code, vaddr addr)
{
	uint64_t c[INSN_MAX_CONSTANTS];

	if (!insn->constants)
		return 0;
	uint32_t n = insn_constants((struct bytes){ code, insn->len }, c);
	for (uint32_t i = 0; i < n; i++) {
		note_own(v, fde, c[i]);
		if (verify_may_be_in_front(v, c[i]))
			return refuse(
				v,
				"the instruction at 0x%llx refers to 0x%llx, which gave way "
				"to program headers",
				ULL(addr), ULL(c[i]));
	}
	verify_note_constants(v, fde, code, addr, c, n);
	return 0;
}

static void join(struct verify *v, uint32_t from, vaddr target)
{
	uint32_t to = vcfi_find(&v->ocfi, target);

	if (to == NO_FDE || (!v->ocfi.fragment[to] && v->ocfi.fde[to].addr == target) ||
	    verify_is_stub(v, target))
		return;
	v->walk.group[verify_group(v, to)] = verify_group(v, from);
}

/* An operand value(,index,8): ModRM with SIB, SIB without base, the value in the last 4
 * bytes. */
static void note_absolute(struct walk *w, const struct insn *insn, const uint8_t *code)
{
	struct rd r = rd_of((struct bytes){ code, insn->len });

	if (w->fde == NO_FDE || insn->len < 7)
		return;
	(void)rd_skip(&r, insn->len - 6u);
	uint8_t modrm = rd_u8(&r), sib = rd_u8(&r);
	if ((modrm & 0xc7) == 0x04 && (sib & 0xc7) == 0xc5)
		vec_push(w->v->a, &w->bases, ((struct base){ (vaddr)(int64_t)rd_s32(&r), w->fde,
							     BLOCKMAP_TABLE_ABS64 }));
}

static void note_reached(struct walk *w, vaddr addr)
{
	struct bytes b = verify_orig_code(w->v, addr);

	if (b.p)
		w->reached[(b.p - w->v->orig.file.p) / 8] |=
			(uint8_t)(1 << (b.p - w->v->orig.file.p) % 8);
}

static int walk_insn(struct walk *w, const struct insn *insn, const uint8_t *code, vaddr addr,
		     vaddr target)
{
	struct verify *v = w->v;

	uint64_t off = (uint64_t)(code - v->orig.file.p);

	w->seen[off / 8] |= (uint8_t)(1 << off % 8);
	if (w->fde != NO_FDE && !w->hidden)
		v->walk.start[off / 8] |= (uint8_t)(1 << off % 8);
	if (v->orig.eh.e_type == ET_EXEC && check_constants(v, w->fde, insn, code, addr) < 0)
		return -1;
	if (insn->kind != INSN_NOP)
		w->last = insn->kind;
	if (w->fde != NO_FDE && !w->hidden && verify_is_trap(insn, code))
		vec_push(v->a, &v->walk.traps, addr);
	verify_note_reference(v, w->fde, insn, code, addr, target);
	if (!insn->field) {
		note_absolute(w, insn, code);
		return 0;
	}
	if (arrive(v, addr, target, "the instruction") < 0)
		return -1;
	if (insn_is_branch(insn))
		note_reached(w, target);
	if (verify_in_front(&v->front, target))
		return refuse(v,
			      "the instruction at 0x%llx refers to 0x%llx, which gave way to "
			      "program headers",
			      ULL(addr), ULL(target));
	bool lea = insn_is_lea(insn, code);
	if (!insn_is_branch(insn) && verify_is_end(v, target))
		vec_push(v->a, &v->walk.ends,
			 ((struct vref){ addr, target, w->fde, lea ? REF_LEA : REF_OPERAND }));
	if (lea)
		verify_note_lea(v, w->fde, addr, target);
	if (w->fde == NO_FDE)
		return 0;
	const struct vfde *fde = &v->ocfi.fde[w->fde];
	if (!insn_is_branch(insn))
		note_own(v, w->fde, target);
	if (insn_is_branch(insn)) {
		if (insn->kind != INSN_CALL && target - fde->addr >= fde->len)
			join(v, w->fde, target);
	} else if (insn->field >= 2 && code[insn->field - 2] == 0x8d) {
		vec_push(v->a, &w->bases,
			 ((struct base){ target, w->fde, BLOCKMAP_TABLE_REL32 }));
	}
	return 0;
}

static int walk_range(struct walk *w, struct bytes code, vaddr addr)
{
	struct insn insn;
	vaddr target;

	for (uint64_t off = 0, step; off < code.n; off += step) {
		step = 1;
		if (!insn_decode(bytes_at(code, off, code.n - off), addr + off, &insn, &target))
			continue;
		step = insn.len;
		if (walk_insn(w, &insn, code.p + off, addr + off, target) < 0)
			return -1;
	}
	return 0;
}

/* Code between FDEs: of executable sections only, when there are sections. */
static int walk_gap(struct walk *w, vaddr from, vaddr to)
{
	const struct image *img = &w->v->orig;

	w->fde = NO_FDE;
	if (img->nsh == 0)
		return walk_range(w, image_at(img, from, to - from), from);
	for (uint32_t i = 0; i < img->nsh; i++) {
		const Elf64_Shdr *h = &img->sh[i].h;
		vaddr lo = h->sh_addr > from ? h->sh_addr : from;
		vaddr hi = h->sh_addr + h->sh_size < to ? h->sh_addr + h->sh_size : to;

		if ((h->sh_flags & SHF_ALLOC) && (h->sh_flags & SHF_EXECINSTR) && lo < hi &&
		    walk_range(w, image_at(img, lo, hi - lo), lo) < 0)
			return -1;
	}
	return 0;
}

static int walk_segment(struct walk *w, const Elf64_Phdr *p)
{
	const struct vcfi *cfi = &w->v->ocfi;
	vaddr at = p->p_vaddr, end = p->p_vaddr + p->p_filesz;

	for (uint32_t i = 0; i < cfi->nfde; i++) {
		const struct vfde *fde = &cfi->fde[i];

		if (fde->addr < at || fde->addr >= end || fde->len > end - fde->addr)
			continue;
		if (fde->addr > at && walk_gap(w, at, fde->addr) < 0)
			return -1;
		w->fde = i;
		if (walk_range(w, image_at(&w->v->orig, fde->addr, fde->len), fde->addr) < 0)
			return -1;
		at = fde->addr + fde->len;
		if (w->last == INSN_PLAIN || w->last == INSN_JCC)
			verify_note_way(w->v, i, at - 1, at);
	}
	return at < end ? walk_gap(w, at, end) : 0;
}

/* Code that begins where a branch leads, inside of what was taken for an instruction, or behind
 * what is none: up to where both are the same again. */
static int walk_hidden(struct walk *w, vaddr addr)
{
	struct verify *v = w->v;
	struct insn insn;
	vaddr target;

	for (;; addr += insn.len) {
		struct bytes code = verify_orig_code(v, addr);
		uint64_t off = code.p ? (uint64_t)(code.p - v->orig.file.p) : 0;

		if (!code.p || (w->seen[off / 8] >> off % 8 & 1) ||
		    !insn_decode(code, addr, &insn, &target))
			return 0;
		w->fde = vcfi_find(&v->ocfi, addr);
		if (walk_insn(w, &insn, code.p, addr, target) < 0)
			return -1;
		if (insn.kind == INSN_JMP || insn.kind == INSN_IJMP || insn.kind == INSN_RET)
			return 0;
	}
}

/* Bytes that are jumped over may swallow instructions when code is decoded one after the
 * other. */
static int walk_all_hidden(struct walk *w, const Elf64_Phdr *p)
{
	bool any = true;

	w->hidden = true;
	while (any) {
		any = false;
		for (uint64_t off = p->p_offset; off < p->p_offset + p->p_filesz; off++) {
			if (off % 8 == 0 && !(w->reached[off / 8] & ~w->seen[off / 8])) {
				off += 7;
				continue;
			}
			if (!((w->reached[off / 8] & ~w->seen[off / 8]) >> off % 8 & 1))
				continue;
			w->reached[off / 8] &= (uint8_t)~(1 << off % 8);
			any = true;
			if (walk_hidden(w, p->p_vaddr + (off - p->p_offset)) < 0)
				return -1;
		}
	}
	w->hidden = false;
	return 0;
}

/* Entry i of what would be a table at b->addr leads into the function that forms the
 * address; behind the first one, others may be among them. */
static bool is_entry(const struct verify *v, const struct base *b, uint64_t i, vaddr *to)
{
	return verify_table_entry(&v->orig, b->addr, b->kind, i, to) &&
	       (i ? verify_may_be_case : verify_is_case)(v, verify_group(v, b->fde), *to);
}

static int base_cmp(const void *x, const void *y)
{
	const struct base *a = x, *b = y;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

/* Of all addresses that the code forms, those that look like tables; ascending, each once. */
static void collect_tables(struct walk *w)
{
	struct verify *v = w->v;
	vaddr to;

	if (w->bases.n)
		qsort(w->bases.v, w->bases.n, sizeof(*w->bases.v), base_cmp);
	for (uint32_t i = 0; i < w->bases.n; i++) {
		const struct base *b = &w->bases.v[i];

		if (b->kind == BLOCKMAP_TABLE_REL32 &&
		    !(v->walk.bases.n && v->walk.bases.v[v->walk.bases.n - 1] == b->addr))
			vec_push(v->a, &v->walk.bases, b->addr);
		if (!is_entry(v, b, 0, &to))
			continue;
		v->walk.has_table[b->fde] = true;
		if (!(v->walk.tables.n && v->walk.tables.v[v->walk.tables.n - 1] == b->addr))
			vec_push(v->a, &v->walk.tables, b->addr);
	}
}

/* Everything from `base` on that is an entry, up to where another table begins. */
static int scan_base(struct walk *w, const struct base *b, uint64_t *budget)
{
	struct verify *v = w->v;
	vaddr to, end = verify_next_table(&v->walk, b->addr);

	uint64_t size = blockmap_entry_size(b->kind), i;

	for (i = 0; b->addr + size * i < end && is_entry(v, b, i, &to); i++) {
		if (arrive(v, b->addr + size * i, to, "the table entry") < 0)
			return -1;
		if ((*budget)-- == 0)
			return refuse(v, "too many tables that overlap each other");
	}
	if (i)
		vec_push(v->a, &v->walk.extents,
			 ((struct vextent){ b->addr, b->addr + size * i, b->kind,
					     b->fde }));
	return 0;
}

/* Landing pads; one in another FDE joins that to its function. */
static int walk_pads(struct verify *v)
{
	for (uint32_t i = 0; i < v->ocfi.nfde; i++) {
		const struct vfde *fde = &v->ocfi.fde[i];
		const struct vlsda *l = vlsda_of(&v->ocfi, i);

		for (uint32_t k = 0; l && k < l->nsite; k++) {
			const struct vsite *s = &v->ocfi.site[l->site + k];

			if (!s->pad)
				continue;
			if (arrive(v, s->addr, s->pad, "the exception") < 0)
				return -1;
			if (s->pad - fde->addr >= fde->len) {
				join(v, i, s->pad);
				verify_note_way(v, i, s->addr, s->pad);
			}
		}
	}
	return 0;
}

static int walk_original(struct verify *v)
{
	struct walk w = { .v = v };
	/* Table entries; bounds the work on tables that overlap.  Chosen, not measured. */
	uint64_t budget = v->orig.file.n + (1 << 20);

	w.seen = arena_alloc(v->a, v->orig.file.n / 8 + 1);
	w.reached = arena_alloc(v->a, v->orig.file.n / 8 + 1);
	v->walk.group = arena_array(v->a, v->ocfi.nfde, sizeof(*v->walk.group));
	for (uint32_t i = 0; i < v->ocfi.nfde; i++)
		v->walk.group[i] = i;
	for (uint32_t i = 0; i < v->orig.nph; i++)
		if (v->orig.ph[i].p_type == PT_LOAD && (v->orig.ph[i].p_flags & PF_X) &&
		    walk_segment(&w, &v->orig.ph[i]) < 0)
			return -1;
	for (uint32_t i = 0; i < v->orig.nph; i++)
		if (v->orig.ph[i].p_type == PT_LOAD && (v->orig.ph[i].p_flags & PF_X) &&
		    walk_all_hidden(&w, &v->orig.ph[i]) < 0)
			return -1;
	if (walk_pads(v) < 0)
		return -1;
	collect_tables(&w);
	for (uint32_t i = 0; i < w.bases.n; i++)
		if (scan_base(&w, &w.bases.v[i], &budget) < 0)
			return -1;
	return 0;
}

static void find_ends(struct verify *v)
{
	vaddr lo;

	image_span(&v->orig, &lo, &v->walk.end);
	for (uint32_t i = 0; i < v->orig.nsh; i++) {
		const Elf64_Shdr *h = &v->orig.sh[i].h;

		if ((h->sh_flags & SHF_ALLOC) && (h->sh_flags & SHF_EXECINSTR) &&
		    h->sh_addr + h->sh_size > v->walk.end_of_code)
			v->walk.end_of_code = h->sh_addr + h->sh_size;
	}
	for (uint32_t i = 0; i < v->orig.nph; i++) {
		const Elf64_Phdr *p = &v->orig.ph[i];

		if (p->p_type == PT_LOAD && (p->p_flags & PF_X))
			v->walk.end_of_exec = p->p_vaddr + p->p_memsz;
	}
}

static void sort_members(struct verify *v)
{
	struct vwalk *w = &v->walk;
	uint32_t at = 0;

	w->member = arena_array(v->a, v->ocfi.nfde, sizeof(*w->member));
	w->first_member = arena_array(v->a, v->ocfi.nfde, sizeof(*w->first_member));
	w->nmember = arena_array(v->a, v->ocfi.nfde, sizeof(*w->nmember));
	for (uint32_t i = 0; i < v->ocfi.nfde; i++)
		w->nmember[verify_group(v, i)]++;
	for (uint32_t i = 0; i < v->ocfi.nfde; i++) {
		w->first_member[i] = at;
		at += w->nmember[i];
		w->nmember[i] = 0;
	}
	for (uint32_t i = 0; i < v->ocfi.nfde; i++) {
		uint32_t group = verify_group(v, i);

		w->member[w->first_member[group] + w->nmember[group]++] = i;
	}
}

int verify_entries(struct verify *v)
{
	v->walk.cut = arena_alloc(v->a, v->orig.file.n / 8 + 1);
	v->walk.start = arena_alloc(v->a, v->orig.file.n / 8 + 1);
	v->walk.met = arena_alloc(v->a, v->orig.file.n / 8 + 1);
	find_ends(v);
	v->walk.has_table = arena_array(v->a, v->ocfi.nfde, sizeof(*v->walk.has_table));
	v->walk.own_label = arena_array(v->a, v->ocfi.nfde, sizeof(*v->walk.own_label));
	/* From here on there are ways into the original to be noted. */
	v->pointers.open = arena_array(v->a, v->ocfi.nfde, sizeof(*v->pointers.open));
	for (uint32_t i = 0; i < v->map.nentry; i++)
		if (check_entry(v, v->map.orig_base + v->map.entry[i]) < 0)
			return -1;
	verify_collect_slots(v);
	if (walk_original(v) < 0)
		return -1;
	sort_members(v);
	return 0;
}
