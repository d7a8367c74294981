/* ehframe.c - the unwind tables of a generation
 *
 * WHY      Unwinders find an FDE through the binary search table of .eh_frame_hdr, or by
 *          reading .eh_frame from its start.  So a generation has complete sections of both
 *          kinds: the records of the original, because its code is still there, and one FDE for
 *          every contiguous span of moved code.
 *
 * COPIES   Copied records keep their bytes except for pointers that are relative to their own
 *          address (to code, LSDA, personality) and the distance to the CIE.  A file is refused
 *          if an unwind program in it holds addresses, or may hold them because it could not be
 *          parsed: no compiler makes such programs.
 *
 * SPANS    The input of a new FDE is rows of complete states.  Its program is the differences
 *          from row to row, beginning with the state after the CIE's initial instructions; it
 *          uses no DW_CFA_remember_state.  It uses DW_CFA_restore only for registers that have
 *          no rule after those initial instructions: there libgcc, which drops the rule, and
 *          the standard, which goes back to the CIE's rule, agree.
 *
 * INVARIANTS
 *   I1  new records are a multiple of 8 bytes long, and no padding lies between records: four
 *       zero bytes would end the section;
 *   I2  the search table ascends strictly by address wherever the original's FDEs do.
 */
#include <stdlib.h>

#include "editor/emit/ehframe.h"
#include "lib/err.h"
#include "binary/dwarf.h"

struct entry {				/* of the search table */
	new_vaddr addr;
	uint64_t off;			/* of the FDE in the new .eh_frame */
};

struct writer {
	const struct cfi *cfi;
	new_vaddr base;			/* of the new .eh_frame */
	struct wr *out;
	uint64_t *cie_off;		/* [ncie] in the new .eh_frame */
	struct entry *entry;		/* [nentry] */
	uint32_t nentry;
	struct err *err;
};

static bool is_wide(uint8_t enc)
{
	return (enc & 0x0f) != DW_EH_PE_udata4 && (enc & 0x0f) != DW_EH_PE_sdata4;
}

static bool fits(int64_t v, uint8_t enc)
{
	if ((enc & 0x0f) == DW_EH_PE_udata4)
		return v >= 0 && v <= UINT32_MAX;
	return is_wide(enc) || (v >= INT32_MIN && v <= INT32_MAX);
}

/* Stores `value` at offset `at` of the new section in encoding `enc` (pcrel or absolute). */
static int put_pointer(struct writer *w, uint64_t at, uint8_t enc, vaddr value)
{
	uint64_t v = (enc & 0x70) == DW_EH_PE_pcrel ? value - (w->base + at) : value;

	if (!fits((int64_t)v, enc))
		return err_set(w->err, ERR_REFUSED,
			       ".eh_frame: 0x%llx is out of reach of its unwind record",
			       (unsigned long long)value);
	memcpy(w->out->p + at, &v, is_wide(enc) ? 8 : 4);	/* little-endian host */
	return 0;
}

static void add_entry(struct writer *w, new_vaddr addr, uint64_t off)
{
	w->entry[w->nentry++] = (struct entry){ addr, off };
}

static int copy_cie(struct writer *w, uint32_t index)
{
	const struct cie *cie = &w->cfi->cie[index];
	uint64_t at = w->out->n;

	w->cie_off[index] = at;
	wr_raw(w->out, w->cfi->bytes.p + cie->off, cie->size);
	if (cie->personality_off == 0)
		return 0;
	return put_pointer(w, at + cie->personality_off, cie->personality_enc,
			   cie->personality);
}

static int copy_fde(struct writer *w, const struct fde *fde)
{
	const struct cie *cie = &w->cfi->cie[fde->cie];
	uint64_t at = w->out->n;

	if (cie->has_address || fde->has_address)
		return err_set(w->err, ERR_REFUSED,
			       ".eh_frame: the unwind program of 0x%llx may hold "
			       "addresses",
			       (unsigned long long)fde->addr);
	wr_raw(w->out, w->cfi->bytes.p + fde->off, fde->size);
	wr_put_u32(w->out, at + 4, (uint32_t)(at + 4 - w->cie_off[fde->cie]));
	add_entry(w, fde->addr, at);
	if (put_pointer(w, at + fde->pc_off, cie->fde_enc, fde->addr) < 0)
		return -1;
	if (fde->lsda_off == 0)
		return 0;
	return put_pointer(w, at + fde->lsda_off, cie->lsda_enc, fde->lsda);
}

static int compare_off(const void *x, const void *y)
{
	const struct fde *const *a = x, *const *b = y;

	return (*a)->off < (*b)->off ? -1 : (*a)->off > (*b)->off;
}

/* All records in the order of the original section. */
static int copy_all(struct writer *w)
{
	const struct cfi *cfi = w->cfi;
	const struct fde **order =
		calloc(cfi->nfde ? cfi->nfde : 1, sizeof(const struct fde *));
	uint32_t next = 0;
	int rc = 0;

	if (!order)
		return err_set(w->err, ERR_SYS, "out of memory");
	for (uint32_t i = 0; i < cfi->nfde; i++)
		order[i] = &cfi->fde[i];
	qsort(order, cfi->nfde, sizeof(*order), compare_off);
	for (uint32_t i = 0; i < cfi->ncie && rc == 0; i++) {
		uint64_t end = i + 1 < cfi->ncie ? cfi->cie[i + 1].off : UINT64_MAX;

		rc = copy_cie(w, i);
		while (rc == 0 && next < cfi->nfde && order[next]->off < end)
			rc = copy_fde(w, order[next++]);
	}
	free(order);
	return rc;
}

static int put_advance(struct writer *w, uint64_t delta, uint64_t code_align)
{
	if (code_align == 0 || delta % code_align != 0 || delta / code_align > UINT32_MAX)
		return err_set(w->err, ERR_REFUSED, ".eh_frame: code alignment factor %llu",
			       (unsigned long long)code_align);
	delta /= code_align;
	if (delta < 0x40) {
		wr_u8(w->out, (uint8_t)(DW_CFA_advance_loc | delta));
	} else if (delta <= UINT8_MAX) {
		wr_u8(w->out, DW_CFA_advance_loc1);
		wr_u8(w->out, (uint8_t)delta);
	} else if (delta <= UINT16_MAX) {
		wr_u8(w->out, DW_CFA_advance_loc2);
		wr_u16(w->out, (uint16_t)delta);
	} else {
		wr_u8(w->out, DW_CFA_advance_loc4);
		wr_u32(w->out, (uint32_t)delta);
	}
	return 0;
}

static void put_expr(struct writer *w, struct bytes expr)
{
	wr_uleb(w->out, expr.n);
	wr_raw(w->out, expr.p, expr.n);
}

/* off / data_align, which must be exact. */
static int factor(struct writer *w, const struct cie *cie, int64_t off, int64_t *out)
{
	if (cie->data_align == 0 || (cie->data_align == -1 && off == INT64_MIN) ||
	    off % cie->data_align != 0)
		return err_set(w->err, ERR_REFUSED,
			       ".eh_frame: offset %lld with data alignment factor %lld",
			       (long long)off, (long long)cie->data_align);
	*out = off / cie->data_align;
	return 0;
}

static int put_cfa(struct writer *w, const struct cie *cie, const struct cfi_state *from,
		   const struct cfi_state *to)
{
	int64_t factored = 0;

	if (to->cfa_is_expr) {
		wr_u8(w->out, DW_CFA_def_cfa_expression);
		put_expr(w, to->cfa_expr);
	} else if (to->cfa_off < 0) {
		if (factor(w, cie, to->cfa_off, &factored) < 0)
			return -1;
		wr_u8(w->out, DW_CFA_def_cfa_sf);
		wr_uleb(w->out, to->cfa_reg);
		wr_sleb(w->out, factored);
	} else if (!from->cfa_is_expr && from->cfa_reg == to->cfa_reg) {
		wr_u8(w->out, DW_CFA_def_cfa_offset);
		wr_uleb(w->out, (uint64_t)to->cfa_off);
	} else if (!from->cfa_is_expr && from->cfa_off == to->cfa_off) {
		wr_u8(w->out, DW_CFA_def_cfa_register);
		wr_uleb(w->out, to->cfa_reg);
	} else {
		wr_u8(w->out, DW_CFA_def_cfa);
		wr_uleb(w->out, to->cfa_reg);
		wr_uleb(w->out, (uint64_t)to->cfa_off);
	}
	return 0;
}

/* An operation whose register stands in the opcode when it fits there. */
static void put_short(struct writer *w, uint8_t op, uint8_t extended, uint32_t reg)
{
	if (reg < 0x40) {
		wr_u8(w->out, (uint8_t)(op | reg));
		return;
	}
	wr_u8(w->out, extended);
	wr_uleb(w->out, reg);
}

static int put_offset_rule(struct writer *w, const struct cie *cie, uint32_t reg,
			   const struct cfi_rule *rule)
{
	int64_t factored = 0;

	if (factor(w, cie, rule->off, &factored) < 0)
		return -1;
	if (rule->kind == CFI_VAL_OFFSET) {
		wr_u8(w->out, DW_CFA_val_offset_sf);
		wr_uleb(w->out, reg);
		wr_sleb(w->out, factored);
	} else if (factored >= 0) {
		put_short(w, DW_CFA_offset, DW_CFA_offset_extended, reg);
		wr_uleb(w->out, (uint64_t)factored);
	} else {
		wr_u8(w->out, DW_CFA_offset_extended_sf);
		wr_uleb(w->out, reg);
		wr_sleb(w->out, factored);
	}
	return 0;
}

static bool equal_bytes(struct bytes x, struct bytes y)
{
	return x.n == y.n && (x.n == 0 || memcmp(x.p, y.p, x.n) == 0);
}

static bool equal_rule(const struct cfi_rule *x, const struct cfi_rule *y)
{
	return x->kind == y->kind && x->off == y->off && equal_bytes(x->expr, y->expr);
}

static bool equal_cfa(const struct cfi_state *x, const struct cfi_state *y)
{
	return x->cfa_is_expr == y->cfa_is_expr && x->cfa_reg == y->cfa_reg &&
	       x->cfa_off == y->cfa_off && equal_bytes(x->cfa_expr, y->cfa_expr);
}

static int put_rule(struct writer *w, const struct cie *cie, uint32_t reg,
		    const struct cfi_rule *rule)
{
	switch ((enum cfi_kind)rule->kind) {
	case CFI_UNSPEC:
		if (cfi_rule_of(&w->cfi->state[cie->initial], reg)->kind == CFI_UNSPEC) {
			put_short(w, DW_CFA_restore, DW_CFA_restore_extended, reg);
			return 0;
		}
		return err_set(w->err, ERR_REFUSED, ".eh_frame: rule of register %u cannot be "
			       "expressed with CIE 0x%llx", reg, (unsigned long long)cie->off);
	case CFI_OFFSET:
	case CFI_VAL_OFFSET:
		return put_offset_rule(w, cie, reg, rule);
	case CFI_UNDEFINED:
		wr_u8(w->out, DW_CFA_undefined);
		wr_uleb(w->out, reg);
		return 0;
	case CFI_SAME:
		wr_u8(w->out, DW_CFA_same_value);
		wr_uleb(w->out, reg);
		return 0;
	case CFI_REGISTER:
		wr_u8(w->out, DW_CFA_register);
		wr_uleb(w->out, reg);
		wr_uleb(w->out, (uint64_t)rule->off);
		return 0;
	case CFI_EXPR:
	case CFI_VAL_EXPR:
		wr_u8(w->out,
		      rule->kind == CFI_EXPR ? DW_CFA_expression : DW_CFA_val_expression);
		wr_uleb(w->out, reg);
		put_expr(w, rule->expr);
		return 0;
	}
	return 0;
}

static int put_difference(struct writer *w, const struct cie *cie, const struct cfi_state *from,
			  const struct cfi_state *to)
{
	if (!equal_cfa(from, to) && put_cfa(w, cie, from, to) < 0)
		return -1;
	for (uint32_t reg = 0; reg < CFI_NREG; reg++)
		if (!equal_rule(&from->reg[reg], &to->reg[reg]) &&
		    put_rule(w, cie, reg, &to->reg[reg]) < 0)
			return -1;
	uint32_t end = from->nother || to->nother ? CFI_REG_END : CFI_NREG;
	for (uint32_t reg = CFI_NREG; reg < end; reg++) {
		const struct cfi_rule *rule = cfi_rule_of(to, reg);

		if (!equal_rule(cfi_rule_of(from, reg), rule) &&
		    put_rule(w, cie, reg, rule) < 0)
			return -1;
	}
	if (from->args_size != to->args_size) {
		wr_u8(w->out, DW_CFA_GNU_args_size);
		wr_uleb(w->out, to->args_size);
	}
	return 0;
}

static int put_rows(struct writer *w, const struct ehframe_span *span,
		    const struct ehframe_row *row)
{
	const struct cie *cie = &w->cfi->cie[span->cie];
	uint32_t state = cie->initial;
	new_vaddr at = span->addr;

	for (uint32_t i = 0; i < span->nrow; i++) {
		if (row[i].state == state)
			continue;
		if (row[i].addr != at && put_advance(w, row[i].addr - at, cie->code_align) < 0)
			return -1;
		at = row[i].addr;
		if (put_difference(w, cie, &w->cfi->state[state],
				   &w->cfi->state[row[i].state]) < 0)
			return -1;
		state = row[i].state;
	}
	return 0;
}

static int put_span(struct writer *w, const struct ehframe_span *span,
		     const struct ehframe_row *row)
{
	const struct cie *cie = &w->cfi->cie[span->cie];
	uint64_t at = w->out->n, lsda_size = cie->lsda_enc == DW_EH_PE_omit ? 0 :
					     is_wide(cie->lsda_enc) ? 8 : 4;

	wr_u32(w->out, 0);
	wr_u32(w->out, (uint32_t)(at + 4 - w->cie_off[span->cie]));
	(void)wr_reserve(w->out, is_wide(cie->fde_enc) ? 8 : 4);
	if (put_pointer(w, at + 8, cie->fde_enc, span->addr) < 0)
		return -1;
	if (is_wide(cie->fde_enc))
		wr_u64(w->out, span->len);
	else
		wr_u32(w->out, (uint32_t)span->len);
	if (*cie->augmentation == 'z') {
		wr_uleb(w->out, lsda_size);
		uint64_t lsda = w->out->n;

		(void)wr_reserve(w->out, lsda_size);	/* zero: no LSDA */
		if (span->lsda && put_pointer(w, lsda, cie->lsda_enc, span->lsda) < 0)
			return -1;
	}
	if (put_rows(w, span, row + span->row) < 0)
		return -1;
	(void)wr_reserve(w->out, -(w->out->n - at) & 7);	/* zero is DW_CFA_nop */
	wr_put_u32(w->out, at, (uint32_t)(w->out->n - at - 4));
	add_entry(w, span->addr, at);
	return 0;
}

static int compare_entry(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->off < b->off ? -1 : a->off > b->off;
}

static int put_relative(struct wr *out, uint64_t v, uint64_t from, struct err *err)
{
	int64_t d = (int64_t)(v - from);

	if (d < INT32_MIN || d > INT32_MAX)
		return err_set(err, ERR_REFUSED, ".eh_frame_hdr: 0x%llx is out of reach",
			       (unsigned long long)v);
	wr_u32(out, (uint32_t)d);
	return 0;
}

static int write_hdr(const struct writer *w, new_vaddr hdr_addr, struct wr *hdr)
{
	wr_u8(hdr, 1);
	wr_u8(hdr, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	wr_u8(hdr, DW_EH_PE_udata4);
	wr_u8(hdr, DW_EH_PE_datarel | DW_EH_PE_sdata4);
	if (put_relative(hdr, w->base, hdr_addr + 4, w->err) < 0)
		return -1;
	wr_u32(hdr, w->nentry);
	qsort(w->entry, w->nentry, sizeof(*w->entry), compare_entry);
	for (uint32_t i = 0; i < w->nentry; i++) {
		if (put_relative(hdr, w->entry[i].addr, hdr_addr, w->err) < 0 ||
		    put_relative(hdr, w->base + w->entry[i].off, hdr_addr, w->err) < 0)
			return -1;
	}
	return 0;
}

uint64_t ehframe_hdr_size(const struct ehframe_input *in)
{
	return 12 + 8 * ((uint64_t)in->cfi->nfde + in->nspan);
}

int ehframe_write(const struct ehframe_input *in, new_vaddr hdr_addr, new_vaddr frame_addr,
		  struct wr *hdr, struct wr *frame, struct err *err)
{
	uint64_t nentry = (uint64_t)in->cfi->nfde + in->nspan;
	struct wr local = { 0 };		/* offsets count from the section's start */
	struct writer w = { .cfi = in->cfi, .base = frame_addr, .out = &local, .err = err };
	int rc = -1;

	w.cie_off = calloc((size_t)in->cfi->ncie + 1, sizeof(*w.cie_off));
	w.entry = calloc(nentry + 1, sizeof(*w.entry));
	if (!w.cie_off || !w.entry) {
		err_set(err, ERR_SYS, "out of memory");
		goto out;
	}
	if (copy_all(&w) < 0)
		goto out;
	for (uint32_t i = 0; i < in->nspan; i++)
		if (put_span(&w, &in->span[i], in->row) < 0)
			goto out;
	wr_u32(&local, 0);			/* the terminator */
	if (local.n > INT32_MAX) {
		err_set(err, ERR_REFUSED, ".eh_frame: over 2 GiB");
		goto out;
	}
	if (write_hdr(&w, hdr_addr, hdr) < 0)
		goto out;
	wr_raw(frame, local.p, local.n);
	rc = 0;
out:
	wr_free(&local);
	free(w.cie_off);
	free(w.entry);
	return rc;
}
