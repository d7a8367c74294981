/* framerecords.c - finds and splits the records of .eh_frame; see frames.c */
#include <stdlib.h>

#include "verify/parts.h"

enum { OMIT = 0xff, PCREL = 0x10, INDIRECT = 0x80 };

struct reader {
	struct verify *v;
	const struct image *img;
	struct vcfi *out;
	struct bytes frame;
	VEC(struct vcie) cie;
	VEC(struct vfde) fde;
};

/* A pointer in encoding `enc` at the reader, which walks bytes that stand at `base`.
 * `size_only` takes the format alone.  Unknown encodings turn the reader bad. */
static vaddr read_pointer(struct rd *r, const uint8_t *start, vaddr base, uint8_t enc,
			  bool size_only)
{
	vaddr value;

	if (r->bad)
		return 0;
	vaddr at = base + (uint64_t)(r->p - start);
	switch (enc & 0x0f) {
	case 0x00: case 0x04: value = rd_u64(r); break;
	case 0x0c: value = rd_u64(r); break;
	case 0x03: value = rd_u32(r); break;
	case 0x0b: value = (vaddr)(int64_t)rd_s32(r); break;
	case 0x02: value = rd_u16(r); break;
	case 0x0a: value = (vaddr)(int64_t)(int16_t)rd_u16(r); break;
	default:
		r->bad = true;
		return 0;
	}
	if (size_only || value == 0)
		return value;
	if ((enc & 0x70) == PCREL)
		return value + at;
	if ((enc & 0x70) != 0)
		r->bad = true;
	return value;
}

/* Augmentation data of a CIE.  Leaves `understood` false for letters that it does not know. */
static void read_augmentation(struct reader *rd, struct rd *r, const char *letters,
			      struct vcie *cie)
{
	const uint8_t *start = rd->frame.p;
	vaddr base = rd->out->frame;

	cie->fde_enc = 0;
	cie->lsda_enc = OMIT;
	cie->understood = true;
	if (*letters == '\0')
		return;
	if (*letters != 'z') {
		cie->understood = false;
		return;
	}
	cie->has_augmentation = true;
	uint64_t n = rd_uleb(r);
	const uint8_t *data = rd_skip(r, n);
	struct rd a = rd_of((struct bytes){ data, n });

	for (const char *l = letters + 1; *l; l++) {
		if (*l == 'R') {
			cie->fde_enc = rd_u8(&a);
		} else if (*l == 'L') {
			cie->lsda_enc = rd_u8(&a);
		} else if (*l == 'S') {
			cie->signal_frame = true;
		} else if (*l == 'P') {
			uint8_t enc = rd_u8(&a);

			cie->personality = read_pointer(&a, start, base, enc, false);
			cie->indirect = enc & INDIRECT;
		} else {
			cie->understood = false;
			return;
		}
	}
	if (a.bad)
		cie->understood = false;
}

static int read_cie(struct reader *rd, struct rd r, uint64_t off)
{
	struct vcie cie = { .off = off };
	uint8_t version = rd_u8(&r);
	const char *letters = rd_str(&r);

	cie.code_align = rd_uleb(&r);
	cie.data_align = rd_sleb(&r);
	cie.ra_reg = version == 1 ? rd_u8(&r) : rd_uleb(&r);
	if (!r.bad && (version == 1 || version == 3))
		read_augmentation(rd, &r, letters, &cie);
	if (r.bad)
		return refuse(rd->v, ".eh_frame: CIE at offset 0x%llx is cut off", ULL(off));
	cie.program = (struct bytes){ r.p, rd_left(&r) };
	vec_push(rd->v->a, &rd->cie, cie);
	return 0;
}

/* CIEs are pushed in the order of their offsets. */
static const struct vcie *find_cie(const struct reader *rd, uint64_t off)
{
	uint32_t lo = 0, hi = rd->cie.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (rd->cie.v[mid].off < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < rd->cie.n && rd->cie.v[lo].off == off ? &rd->cie.v[lo] : NULL;
}

static int read_fde(struct reader *rd, struct rd r, uint64_t off, uint64_t cie_off)
{
	const struct vcie *cie = find_cie(rd, cie_off);
	const uint8_t *start = rd->frame.p;
	vaddr base = rd->out->frame;

	if (!cie)
		return refuse(rd->v,
			      ".eh_frame: FDE at offset 0x%llx belongs to no CIE before it",
			      ULL(off));
	struct vfde fde = { .record = base + off, .cie = (uint32_t)(cie - rd->cie.v) };

	/* Unwinders would take what stands at the address; nobody writes that. */
	r.bad |= (cie->fde_enc & INDIRECT) ||
		 (cie->lsda_enc != OMIT && (cie->lsda_enc & INDIRECT));
	fde.addr = read_pointer(&r, start, base, cie->fde_enc, false);
	fde.len = read_pointer(&r, start, base, cie->fde_enc & 0x0f, true);
	if (cie->has_augmentation) {
		uint64_t n = rd_uleb(&r);
		const uint8_t *data = rd_skip(&r, n);
		struct rd a = rd_of((struct bytes){ data, n });

		if (cie->lsda_enc != OMIT)
			fde.lsda = read_pointer(&a, start, base, cie->lsda_enc, false);
		r.bad |= a.bad;
	}
	if (r.bad || fde.len > UINT64_MAX - fde.addr)
		return refuse(rd->v, ".eh_frame: FDE at offset 0x%llx has an unknown form",
			      ULL(off));
	fde.program = (struct bytes){ r.p, rd_left(&r) };
	if (fde.len)
		vec_push(rd->v->a, &rd->fde, fde);
	return 0;
}

static int read_records(struct reader *rd)
{
	enum { SHORT = 24, MANY = 1 << 20 };	/* bytes: hardly a record has less */
	struct rd all = rd_of(rd->frame);
	uint64_t n = rd->frame.n / SHORT;

	vec_reserve(rd->v->a, &rd->fde, n < MANY ? (uint32_t)n : MANY);

	while (rd_left(&all)) {
		uint64_t off = (uint64_t)(all.p - rd->frame.p);
		uint32_t len = rd_u32(&all);

		if (len == 0 && !all.bad)
			break;
		uint64_t id_off = off + 4;
		const uint8_t *p = rd_skip(&all, len);
		struct rd r = rd_of((struct bytes){ p, len });
		uint32_t id = rd_u32(&r);

		if (len == UINT32_MAX || r.bad)
			return refuse(rd->v, ".eh_frame: record at offset 0x%llx is cut off",
				      ULL(off));
		if (id > id_off)
			return refuse(rd->v, ".eh_frame: FDE at offset 0x%llx has no CIE",
				      ULL(off));
		if ((id ? read_fde(rd, r, off, id_off - id) : read_cie(rd, r, off)) < 0)
			return -1;
	}
	rd->out->frame_size = (uint64_t)(all.p - rd->frame.p);
	return 0;
}

static int fde_cmp(const void *x, const void *y)
{
	const struct vfde *a = x, *b = y;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

/* .eh_frame: to the end of the section that begins there, of the segment if none does. */
static struct bytes find_frame(const struct image *img, vaddr addr)
{
	struct bytes b = image_rest(img, addr);

	for (uint32_t i = 0; i < img->nsh; i++) {
		const Elf64_Shdr *h = &img->sh[i].h;

		if ((h->sh_flags & SHF_ALLOC) && h->sh_addr == addr && h->sh_size &&
		    h->sh_size <= b.n)
			b.n = h->sh_size;
	}
	return b;
}

/* Fills out->frame and out->hdr.  A program that registers its unwind table itself has no
 * header for it, only the section; a generation must have both. */
static int find_header(struct verify *v, const struct image *img, struct vcfi *out)
{
	const Elf64_Phdr *ph = image_phdr(img, PT_GNU_EH_FRAME);
	const struct section *s = image_section(img, ".eh_frame");

	if (!ph && img == &v->orig && s && (s->h.sh_flags & SHF_ALLOC)) {
		out->frame = s->h.sh_addr;
		return 0;
	}
	if (!ph)
		return refuse(v, "no PT_GNU_EH_FRAME: nobody would find its unwind tables");
	out->hdr = ph->p_vaddr;
	struct bytes hdr = image_at(img, ph->p_vaddr, ph->p_filesz);
	struct rd r = rd_of(hdr);
	uint8_t version = rd_u8(&r), enc = rd_u8(&r);

	(void)rd_u16(&r);			/* encodings of the table: unwindrows.c */
	out->frame = read_pointer(&r, hdr.p, out->hdr, enc, false);
	if (r.bad || version != 1)
		return refuse(v, ".eh_frame_hdr at 0x%llx has an unknown form", ULL(out->hdr));
	return 0;
}

static uint64_t fde_addr(const void *ctx, uint32_t i)
{
	return ((const struct vfde *)ctx)[i].addr;
}

int vcfi_parse(struct verify *v, const struct image *img, struct vcfi *out)
{
	if (find_header(v, img, out) < 0)
		return -1;
	struct reader rd = { .v = v, .img = img, .out = out };

	rd.frame = find_frame(img, out->frame);
	if (!rd.frame.p)
		return refuse(v, "unwind tables at 0x%llx, where nothing is",
			      ULL(out->frame));
	if (read_records(&rd) < 0)
		return -1;
	if (rd.fde.n)
		qsort(rd.fde.v, rd.fde.n, sizeof(*rd.fde.v), fde_cmp);
	for (uint32_t i = 1; i < rd.fde.n; i++)
		if (rd.fde.v[i - 1].len > rd.fde.v[i].addr - rd.fde.v[i - 1].addr)
			return refuse(v, "FDEs at 0x%llx and 0x%llx overlap",
				      ULL(rd.fde.v[i - 1].addr), ULL(rd.fde.v[i].addr));
	out->cie = rd.cie.v;
	out->ncie = rd.cie.n;
	out->fde = rd.fde.v;
	out->nfde = rd.fde.n;
	bracket_make(&out->by_addr, arena_array(v->a, (size_t)out->nfde + 2, sizeof(uint32_t)),
		     out->nfde, fde_addr, out->fde);
	return 0;
}
