/* cfi.c - reads .eh_frame: finds the section, its CIEs and FDEs
 *
 * The section is a sequence of records, each a CIE (id 0) or an FDE whose id is the distance
 * back to its CIE.  Every record is kept with its place and the places of its pointers, because
 * a generation carries copies of all of them at another address.  So a file with records that
 * we cannot copy (unknown pointer encodings or augmentations, 64-bit records) is refused,
 * whereas instructions that we cannot follow only keep their function from being moved.
 *
 * INVARIANTS
 *   I1  cie[] ascends by off; fde[] by addr, then off, and no FDE in it is empty;
 *   I2  an understood FDE has an understood CIE, and has at least one row;
 *   I3  FDEs are disjoint: no unwinder could tell which of two to use.
 */
#include <stdlib.h>

#include "lib/err.h"
#include "lib/search.h"
#include "postmorph/unwind/cfi_rows.h"
#include "binary/dwarf.h"
#include "binary/image.h"

struct parse {
	struct arena *a;
	vaddr base;		/* address of .eh_frame */
	bool absolute_ok;	/* pointers may be absolute: the file has fixed addresses */
	struct cfi_table *table;
	VEC(struct cie) cie;
	VEC(struct fde) fde;
	struct err *err;
};

struct record {
	uint64_t off, size;	/* whole record */
	uint32_t id;
	uint64_t id_off;	/* of the id field, from the start of .eh_frame */
	struct bytes whole;
	struct rd r;		/* behind the id field */
};

static vaddr reader_addr(const struct parse *p, const struct record *rec)
{
	return p->base + rec->off + (uint64_t)(rec->r.p - rec->whole.p);
}

static uint32_t reader_off(const struct record *rec)
{
	return (uint32_t)(rec->r.p - rec->whole.p);
}

static int malformed(struct parse *p, const struct record *rec, const char *what)
{
	return err_set(p->err, ERR_INPUT, ".eh_frame: record at offset 0x%llx: %s",
		       (unsigned long long)rec->off, what);
}

static int refused(struct parse *p, const struct record *rec, const char *what)
{
	return err_set(p->err, ERR_REFUSED, ".eh_frame: record at offset 0x%llx: %s",
		       (unsigned long long)rec->off, what);
}

static bool encoding_known(const struct parse *p, uint8_t enc)
{
	switch (enc & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata4:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata4:
	case DW_EH_PE_sdata8:
		break;
	default:
		return false;
	}
	return (enc & 0x70) == DW_EH_PE_pcrel || ((enc & 0x70) == 0 && p->absolute_ok);
}

/* The letters behind 'z', each with its data.  cie has defaults. */
static int parse_augmentation(struct parse *p, struct record *rec, struct cie *cie)
{
	uint64_t raw;

	for (const char *c = cie->augmentation + 1; *c; c++) {
		switch (*c) {
		case 'L':
			cie->lsda_enc = rd_u8(&rec->r);
			if (cie->lsda_enc != DW_EH_PE_omit &&
			    (!encoding_known(p, cie->lsda_enc) ||
			     (cie->lsda_enc & DW_EH_PE_indirect)))
				return refused(p, rec, "unknown LSDA pointer encoding");
			break;
		case 'R':
			cie->fde_enc = rd_u8(&rec->r);
			break;
		case 'S':
			cie->signal_frame = true;
			break;
		case 'P':
			cie->personality_enc = rd_u8(&rec->r);
			if (cie->personality_enc == DW_EH_PE_omit)
				break;
			cie->personality_off = reader_off(rec);
			if (!encoding_known(p, cie->personality_enc) ||
			    !cfi_read_pointer(&rec->r, cie->personality_enc & 0x7f,
					      reader_addr(p, rec), &raw, &cie->personality))
				return refused(p, rec, "unknown personality pointer encoding");
			if (raw == 0)
				cie->personality_off = 0;
			break;
		default:
			return refused(p, rec, "unknown augmentation");
		}
	}
	return 0;
}

static int parse_cie(struct parse *p, struct record *rec)
{
	struct cie cie = { .off = rec->off, .size = rec->size,
			   .lsda_enc = DW_EH_PE_omit, .personality_enc = DW_EH_PE_omit };
	uint8_t version = rd_u8(&rec->r);

	cie.augmentation = rd_str(&rec->r);
	if (!cie.augmentation)
		return malformed(p, rec, "augmentation string does not end");
	if (version != 1 && version != 3)
		return refused(p, rec, "unknown CIE version");
	if (*cie.augmentation && *cie.augmentation != 'z')
		return refused(p, rec, "unknown augmentation");
	cie.code_align = rd_uleb(&rec->r);
	cie.data_align = rd_sleb(&rec->r);
	uint64_t ra = version == 1 ? rd_u8(&rec->r) : rd_uleb(&rec->r);

	if (*cie.augmentation) {
		uint64_t n = rd_uleb(&rec->r);
		struct rd after = rec->r;

		(void)rd_skip(&after, n);	/* a short record shows in after.bad */
		if (parse_augmentation(p, rec, &cie) < 0)
			return -1;
		if (after.bad || rec->r.bad || rec->r.p > after.p)
			return malformed(p, rec, "CIE augmentation data runs over its end");
		rec->r = after;
	}
	if (rec->r.bad)
		return malformed(p, rec, "CIE is cut short");
	if (!encoding_known(p, cie.fde_enc) || (cie.fde_enc & DW_EH_PE_indirect))
		return refused(p, rec, "unknown code pointer encoding");

	struct bytes insns = { rec->r.p, rd_left(&rec->r) };

	cie.insn_off = reader_off(rec);
	cie.ra_reg = ra == CFI_RA ? CFI_RA : 0xff;
	cie.understood = ra == CFI_RA && cfi_run_cie(p->table, &cie, insns, &cie.initial);
	cie.has_address = !cie.understood && cfi_may_hold_address(insns);
	vec_push(p->a, &p->cie, cie);
	return 0;
}

static int find_cie(const struct parse *p, uint64_t off, uint32_t *index)
{
	uint32_t k = search_first(i, 0, p->cie.n, p->cie.v[i].off < off);

	if (k == p->cie.n || p->cie.v[k].off != off)
		return -1;
	*index = k;
	return 0;
}

static int parse_fde_lsda(struct parse *p, struct record *rec, const struct cie *cie,
			  struct fde *fde)
{
	uint64_t n = rd_uleb(&rec->r);
	struct rd after = rec->r;
	uint64_t raw;

	(void)rd_skip(&after, n);		/* a short record shows in after.bad */
	if (cie->lsda_enc != DW_EH_PE_omit) {
		fde->lsda_off = reader_off(rec);
		if (!cfi_read_pointer(&rec->r, cie->lsda_enc, reader_addr(p, rec), &raw,
				      &fde->lsda))
			return malformed(p, rec, "LSDA pointer is cut short");
		if (raw == 0)
			fde->lsda_off = 0;
	}
	if (after.bad || rec->r.bad || rec->r.p > after.p)
		return malformed(p, rec, "FDE augmentation data runs over its end");
	rec->r = after;
	return 0;
}

static int parse_fde(struct parse *p, struct record *rec)
{
	struct fde fde = { .off = rec->off, .size = rec->size };
	uint64_t raw, len;

	if (rec->id > rec->id_off || find_cie(p, rec->id_off - rec->id, &fde.cie) < 0)
		return malformed(p, rec, "FDE without its CIE");

	const struct cie *cie = &p->cie.v[fde.cie];

	fde.pc_off = reader_off(rec);
	if (!cfi_read_pointer(&rec->r, cie->fde_enc, reader_addr(p, rec), &raw, &fde.addr) ||
	    !cfi_read_pointer(&rec->r, cie->fde_enc & 0x0f, 0, &len, &fde.len))
		return malformed(p, rec, "FDE is cut short");
	if (fde.addr + fde.len < fde.addr)
		return malformed(p, rec, "FDE's range wraps around");
	if (*cie->augmentation && parse_fde_lsda(p, rec, cie, &fde) < 0)
		return -1;
	fde.insn_off = reader_off(rec);
	fde.understood = cie->understood;
	if (fde.len > 0)
		vec_push(p->a, &p->fde, fde);
	return 0;
}

/* All records up to the terminator or the end; *used becomes the length of what they fill. */
static int parse_records(struct parse *p, struct bytes b, uint64_t *used)
{
	/* bytes of a record, hardly fewer; most records to reserve room for: both chosen */
	enum { SHORT = 24, MANY = 1 << 20 };
	struct rd r = rd_of(b);

	vec_reserve(p->a, &p->fde, b.n / SHORT < MANY ? (uint32_t)(b.n / SHORT) : MANY);

	while (rd_left(&r)) {
		struct record rec = { .off = (uint64_t)(r.p - b.p) };
		uint32_t len = rd_u32(&r);

		*used = rec.off;
		if (r.bad)
			return malformed(p, &rec, "no room for a record");
		if (len == 0)
			return 0;
		if (len == UINT32_MAX)
			return refused(p, &rec, "64-bit record");
		rec.size = 4 + (uint64_t)len;
		rec.whole = bytes_at(b, rec.off, rec.size);
		if (!rec.whole.p || len < 4)
			return malformed(p, &rec, "length goes beyond the section");
		rec.r = rd_of(rec.whole);
		(void)rd_skip(&rec.r, 4);	/* inside, as just checked */
		rec.id_off = rec.off + 4;
		rec.id = rd_u32(&rec.r);
		if ((rec.id == 0 ? parse_cie(p, &rec) : parse_fde(p, &rec)) < 0)
			return -1;
		(void)rd_skip(&r, len);		/* inside, as just checked */
		*used = rec.off + rec.size;
	}
	return 0;
}

static int compare_fde(const void *x, const void *y)
{
	const struct fde *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->off < b->off ? -1 : a->off > b->off;
}

/* No FDE covers what another does, or what is behind the file's memory: there new text will
 * be. */
static int check_ranges(const struct image *img, const struct fde *fde, uint32_t nfde,
			struct err *err)
{
	vaddr lo, hi;

	image_span(img, &lo, &hi);
	if (nfde && fde[nfde - 1].addr + fde[nfde - 1].len > hi)
		return err_set(err, ERR_INPUT,
			       ".eh_frame: FDE at 0x%llx covers what is not loaded",
			       (unsigned long long)fde[nfde - 1].addr);
	for (uint32_t i = 1; i < nfde; i++)
		if (fde[i].addr - fde[i - 1].addr < fde[i - 1].len)
			return err_set(err, ERR_INPUT,
				       ".eh_frame: FDEs at 0x%llx and 0x%llx overlap",
				       (unsigned long long)fde[i - 1].addr,
				       (unsigned long long)fde[i].addr);
	return 0;
}

/* Where PT_GNU_EH_FRAME leads unwinders. */
static int find_by_header(const struct image *img, const Elf64_Phdr *ph, vaddr *addr,
			  struct bytes *b, struct err *err)
{
	struct bytes hdr = image_at(img, ph->p_vaddr, ph->p_filesz);
	struct rd r = rd_of(hdr);
	uint8_t version = rd_u8(&r), enc = rd_u8(&r);
	uint64_t raw;

	(void)rd_skip(&r, 2);			/* encodings of the table; end shows below */
	if (r.bad || version != 1 || (enc & DW_EH_PE_indirect) ||
	    !cfi_read_pointer(&r, enc, ph->p_vaddr + 4, &raw, addr))
		return err_set(err, ERR_INPUT, ".eh_frame_hdr: malformed");
	*b = image_rest(img, *addr);
	if (!b->p)
		return err_set(err, ERR_INPUT,
			       ".eh_frame_hdr: points to 0x%llx, which is in no segment",
			       (unsigned long long)*addr);
	return 0;
}

/* Where .eh_frame is: by the pointer in .eh_frame_hdr, by section, or by both, which then must
 * agree.  b->n == 0: there is none. */
static int find_eh_frame(const struct image *img, vaddr *addr, struct bytes *b, struct err *err)
{
	const struct section *s = image_section(img, ".eh_frame");
	const Elf64_Phdr *ph = image_phdr(img, PT_GNU_EH_FRAME);

	*b = (struct bytes){ NULL, 0 };
	if (ph && find_by_header(img, ph, addr, b, err) < 0)
		return -1;
	if (!s || !(s->h.sh_flags & SHF_ALLOC) || s->h.sh_type == SHT_NOBITS ||
	    s->h.sh_size == 0)
		return 0;
	if (ph && *addr != s->h.sh_addr)
		return err_set(err, ERR_INPUT,
			       ".eh_frame: the section is at 0x%llx, .eh_frame_hdr "
			       "leads to 0x%llx",
			       (unsigned long long)s->h.sh_addr, (unsigned long long)*addr);
	*addr = s->h.sh_addr;
	*b = image_at(img, s->h.sh_addr, s->h.sh_size);
	if (!b->p)
		return err_set(err, ERR_INPUT, ".eh_frame: section is not in a segment");
	return 0;
}

static uint64_t fde_addr(const void *ctx, uint32_t i)
{
	return ((const struct fde *)ctx)[i].addr;
}

int cfi_parse(const struct image *img, struct arena *a, struct cfi *out, struct err *err)
{
	struct cfi cfi = { 0 };
	struct parse p = { .a = a, .absolute_ok = !img->pie_or_dso, .err = err,
			   .table = cfi_table_new(a) };
	struct bytes b;
	uint64_t used = 0;

	if (find_eh_frame(img, &cfi.eh_frame, &b, err) < 0)
		return -1;
	/* The loader or the program may change it, and nobody would change the copy. */
	if (b.n > 0 && image_is_writable(img, cfi.eh_frame))
		return err_set(err, ERR_REFUSED, ".eh_frame: it can be written to");
	p.base = cfi.eh_frame;
	if (b.n > 0 && parse_records(&p, b, &used) < 0)
		return -1;
	cfi.bytes = (struct bytes){ b.p, used };
	cfi.cie = p.cie.v;
	cfi.ncie = p.cie.n;
	cfi.fde = p.fde.v;
	cfi.nfde = p.fde.n;
	if (cfi.nfde > 0)
		qsort(cfi.fde, cfi.nfde, sizeof(*cfi.fde), compare_fde);
	if (check_ranges(img, cfi.fde, cfi.nfde, err) < 0)
		return -1;
	cfi_table_reserve(p.table, used);
	for (uint32_t i = 0; i < cfi.nfde; i++) {
		struct fde *fde = &cfi.fde[i];
		uint64_t at = fde->off + fde->insn_off;
		struct bytes insns = bytes_at(b, at, fde->size - fde->insn_off);

		fde->understood = fde->understood &&
			cfi_run_fde(p.table, &cfi.cie[fde->cie], fde, insns, p.base + at);
		fde->has_address |= !fde->understood && cfi_may_hold_address(insns);
	}
	cfi_table_get(p.table, &cfi);
	bracket_make(&cfi.by_addr, arena_array(a, (size_t)cfi.nfde + 2, sizeof(uint32_t)),
		     cfi.nfde, fde_addr, cfi.fde);
	*out = cfi;
	return 0;
}

uint32_t cfi_find(const struct cfi *cfi, vaddr addr)
{
	uint32_t lo = 0, hi = cfi->nfde;

	bracket_narrow(&cfi->by_addr, addr, &lo, &hi);
	/* the first that begins after addr */
	lo = search_first(i, lo, hi, cfi->fde[i].addr <= addr);
	if (lo == 0 || addr - cfi->fde[lo - 1].addr >= cfi->fde[lo - 1].len)
		return UINT32_MAX;
	return lo - 1;
}

uint32_t cfi_state_at(const struct cfi *cfi, uint32_t fde, vaddr addr)
{
	const struct fde *f = &cfi->fde[fde];
	/* the first row that begins after addr */
	uint32_t k = search_first(i, f->row, f->row + f->nrow, cfi->rows[i].addr <= addr);

	return k == f->row ? 0 : cfi->rows[k - 1].state;
}

int64_t cfi_depth_in(const struct cfi *cfi, uint32_t fde, vaddr addr)
{
	enum { DWARF_RSP = 7 };
	const struct cfi_state *s = &cfi->state[cfi_state_at(cfi, fde, addr)];

	return !s->cfa_is_expr && s->cfa_reg == DWARF_RSP ? s->cfa_off : 0;
}

int64_t cfi_depth(const struct cfi *cfi, vaddr addr)
{
	uint32_t fde = cfi_find(cfi, addr);

	return fde == UINT32_MAX ? 0 : cfi_depth_in(cfi, fde, addr);
}
