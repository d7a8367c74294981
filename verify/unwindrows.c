/* unwindrows.c - unwinding through an image is unwinding through its original
 *
 * AT IMAGES    code.c asks for every instruction and its image.  Unwinders look up return
 *              addresses less one, so the row must hold for every byte of an instruction.
 * ADDED JUMPS  stand for being at their destination in the original, so the row there is right.
 *              The row of the instruction before is right as well if that one leaves the frame
 *              as it is (a branch, or a call that has come back).  Compilers end functions with
 *              calls that never come back, and what follows those is another function's.
 *              So does what counts, which no exception comes from.
 * FDES         Each FDE of the original is there with the same rows, personality and LSDA.  The
 *              others describe new text only, and the FDE of an image has the personality of
 *              its original's.
 * SEARCH TABLE .eh_frame_hdr lists exactly the FDEs of .eh_frame, ascending.
 */
#include "verify/lookup.h"

static int differ(struct verify *v, vaddr o, uint32_t want, new_vaddr g, uint32_t have)
{
	if (want == ROW_NONE || have == ROW_NONE)
		return refuse(v, "no unwind row at 0x%llx for its image 0x%llx",
			      ULL(want == ROW_NONE ? o : g), ULL(g));
	return refuse(v, "the unwind row at 0x%llx is not that of its original 0x%llx", ULL(g),
		      ULL(o));
}

/* The FDEs under both cursors agree in what is not a row. */
static int check_frame_kind(struct verify *v, const struct vpair *c)
{
	const struct vfde *o = &v->ocfi.fde[c->orig.fde], *g = &v->gcfi.fde[c->gen.fde];
	const struct vcie *oc = &v->ocfi.cie[o->cie], *gc = &v->gcfi.cie[g->cie];

	if (oc->personality != gc->personality || oc->indirect != gc->indirect ||
	    oc->ra_reg != gc->ra_reg || oc->signal_frame != gc->signal_frame)
		return refuse(
			v, "the FDE at 0x%llx is of another kind than its original at 0x%llx",
			ULL(g->addr), ULL(o->addr));
	return 0;
}

int verify_row(struct verify *v, struct vpair *c, vaddr o, uint32_t olen, new_vaddr g,
	       uint32_t glen)
{
	uint32_t ofde = c->orig.fde, gfde = c->gen.fde;
	uint32_t want = vcfi_state(&c->orig, o), have = vcfi_state(&c->gen, g);

	if (want == ROW_NONE || want != have)
		return differ(v, o, want, g, have);
	if (vcfi_state(&c->orig, o + olen - 1) != want)
		return refuse(v, "the unwind row changes inside the instruction at 0x%llx",
			      ULL(o));
	if (vcfi_state(&c->gen, g + glen - 1) != have)
		return refuse(v, "the unwind row changes inside the instruction at 0x%llx",
			      ULL(g));
	v->stats->unwind_rows++;
	if ((c->gen.fde != gfde || c->orig.fde != ofde) && check_frame_kind(v, c) < 0)
		return -1;
	return verify_exceptions(v, c, o, olen, g, glen);
}

int verify_row_counter(struct verify *v, struct vpair *c, vaddr last, bool last_transfers,
		       vaddr dest, new_vaddr g, uint32_t glen)
{
	uint32_t ofde = c->orig.fde, gfde = c->gen.fde;
	uint32_t want = vcfi_state(&c->orig, last), have = vcfi_state(&c->gen, g);
	struct vcursor at = c->orig;
	uint32_t there = vcfi_state(&at, dest);

	if (want == ROW_NONE)
		return differ(v, last, want, g, have);
	if (have == ROW_NONE || vcfi_state(&c->gen, g + glen - 1) != have)
		return differ(v, dest, want, g, ROW_NONE);
	if (have != there && !(have == want && (last_transfers || there == ROW_NONE)))
		return differ(v, dest, there, g, have);
	v->stats->unwind_rows++;
	return (c->gen.fde != gfde || c->orig.fde != ofde) ? check_frame_kind(v, c) : 0;
}

int verify_row_jump(struct verify *v, struct vpair *c, vaddr last, bool last_transfers,
		    vaddr dest, new_vaddr g, uint32_t glen)
{
	if (verify_row_counter(v, c, last, last_transfers, dest, g, glen) < 0)
		return -1;
	return verify_exceptions_jump(v, c, last, dest, g, glen);
}

static bool same_cie(const struct vcie *o, const struct vcie *g)
{
	return o->code_align == g->code_align && o->data_align == g->data_align &&
	       o->ra_reg == g->ra_reg && o->personality == g->personality &&
	       o->indirect == g->indirect && o->signal_frame == g->signal_frame &&
	       o->understood && g->understood && verify_same_bytes(o->program, g->program) &&
	       vcfi_is_free(o->program);
}

static bool same_rows(const struct verify *v, const struct vfde *o, const struct vfde *g)
{
	return o->understood && g->understood && o->nrow == g->nrow &&
	       memcmp(v->ocfi.row + o->row, v->gcfi.row + g->row,
		      o->nrow * sizeof(struct vrow)) == 0;
}

/* Programs that hold no addresses mean the same wherever they stand. */
static bool same_program(const struct verify *v, const struct vfde *o, const struct vfde *g)
{
	if (o->understood || g->understood)
		return same_rows(v, o, g);
	return verify_same_bytes(o->program, g->program) && vcfi_is_free(o->program);
}

static int check_original_fde(struct verify *v, const struct vfde *o)
{
	uint32_t i = vcfi_find(&v->gcfi, o->addr);

	if (i == NO_FDE || v->gcfi.fde[i].addr != o->addr || v->gcfi.fde[i].len != o->len)
		return refuse(v, "the FDE of 0x%llx is missing from the new .eh_frame",
			      ULL(o->addr));
	const struct vfde *g = &v->gcfi.fde[i];
	if (!same_cie(&v->ocfi.cie[o->cie], &v->gcfi.cie[g->cie]) || o->lsda != g->lsda ||
	    !same_program(v, o, g))
		return refuse(v, "the FDE of 0x%llx says something else in the new .eh_frame",
			      ULL(o->addr));
	return 0;
}

static int check_fdes(struct verify *v)
{
	uint32_t old = 0;

	for (uint32_t i = 0; i < v->ocfi.nfde; i++)
		if (check_original_fde(v, &v->ocfi.fde[i]) < 0)
			return -1;
	for (uint32_t i = 0; i < v->gcfi.nfde; i++) {
		const struct vfde *g = &v->gcfi.fde[i];

		if (!verify_is_fresh(v, g->addr))
			old++;
		else if (!verify_is_fresh(v, g->addr + g->len - 1))
			return refuse(v, "the FDE of 0x%llx reaches out of new text",
				      ULL(g->addr));
	}
	if (old != v->ocfi.nfde)
		return refuse(v,
			      "the new .eh_frame describes %u places of the original, not %u",
			      old, v->ocfi.nfde);
	return 0;
}

static int check_search_table(struct verify *v)
{
	/* pcrel, udata4, datarel sdata4 */
	static const uint8_t form[4] = { 1, 0x1b, 0x03, 0x3b };
	const Elf64_Phdr *ph = image_phdr(&v->gen, PT_GNU_EH_FRAME);
	struct rd r = rd_of(image_at(&v->gen, ph->p_vaddr, ph->p_filesz));
	const uint8_t *head = rd_skip(&r, sizeof(form));

	if (!head || memcmp(head, form, sizeof(form)) != 0)
		return refuse(v, "the new .eh_frame_hdr has an unknown form");
	(void)rd_s32(&r);			/* read by vcfi_parse() */
	uint32_t n = rd_u32(&r);
	if (r.bad || n != v->gcfi.nfde || rd_left(&r) != (uint64_t)n * 8)
		return refuse(v,
			      "the new .eh_frame_hdr lists %u FDEs in %llu bytes; there are %u",
			      n, ULL(rd_left(&r)), v->gcfi.nfde);
	for (uint32_t i = 0; i < n; i++) {
		vaddr addr = v->gcfi.hdr + (vaddr)(int64_t)rd_s32(&r);
		vaddr record = v->gcfi.hdr + (vaddr)(int64_t)rd_s32(&r);

		if (addr != v->gcfi.fde[i].addr || record != v->gcfi.fde[i].record)
			return refuse(
				v, "entry %u of the new .eh_frame_hdr is not the FDE of 0x%llx",
				i, ULL(v->gcfi.fde[i].addr));
	}
	return 0;
}

/* What debuggers find by name is what the program's unwinder finds through the headers, and
 * it is new: the original's sections stay as they are. */
static int check_places(struct verify *v)
{
	static const char *const name[] = { ".eh_frame", ".eh_frame_hdr" };
	const vaddr addr[] = { v->gcfi.frame, v->gcfi.hdr };

	for (int i = 0; i < 2; i++) {
		const struct section *s = image_section(&v->gen, name[i]);

		if (!s || s->h.sh_addr != addr[i])
			return refuse(
				v, "section %s is not what PT_GNU_EH_FRAME leads to at 0x%llx",
				name[i], ULL(addr[i]));
		if (!verify_is_fresh(v, addr[i]))
			return refuse(v, "%s at 0x%llx is not in a new segment", name[i],
				      ULL(addr[i]));
	}
	return 0;
}

int verify_unwindrows(struct verify *v)
{
	if (check_places(v) < 0 || check_fdes(v) < 0)
		return -1;
	return check_search_table(v);
}
