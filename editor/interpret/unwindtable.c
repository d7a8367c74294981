/* unwindtable.c - the unwind rows of a file in a form that a look-up reads as it is
 *
 * Tested by tests/unit/editor/interpret/test_unwindwalk.c.
 */
#include "editor/interpret/unwindtable.h"

#include "binary/image.h"
#include "lib/err.h"
#include "lib/search.h"

enum { SEG_BYTES = 24, ROW_BYTES = 16, AT_BYTES = 4, BIT_SIGNAL = 1 };
#define UNWINDTABLE_NO_RULE UINT32_MAX

static const char magic[8] = "MUNWIND1";

/* --- writing --- */

static bool is_expr(uint8_t kind)
{
	return kind == CFI_EXPR || kind == CFI_VAL_EXPR;
}

static void put_expr(struct bytes e, struct wr *out)
{
	wr_uleb(out, e.n);
	if (e.n)
		wr_raw(out, e.p, (size_t)e.n);
}

static void put_rule(const struct cfi_state *s, struct wr *out)
{
	uint8_t n = 0;

	wr_u8(out, s->cfa_is_expr);
	if (s->cfa_is_expr) {
		put_expr(s->cfa_expr, out);
	} else {
		wr_u8(out, s->cfa_reg);
		wr_sleb(out, s->cfa_off);
	}
	for (int i = 0; i < CFI_NREG; i++)
		n += s->reg[i].kind != CFI_UNSPEC;
	wr_u8(out, n);
	for (int i = 0; i < CFI_NREG; i++) {
		const struct cfi_rule *rule = &s->reg[i];

		if (rule->kind == CFI_UNSPEC)
			continue;
		wr_u8(out, (uint8_t)i);
		wr_u8(out, rule->kind);
		if (is_expr(rule->kind))
			put_expr(rule->expr, out);
		else
			wr_sleb(out, rule->off);
	}
}

static void put_row(struct wr *out, vaddr addr, uint32_t rule, bool signal_frame)
{
	wr_u64(out, addr);
	wr_u32(out, rule);
	wr_u32(out, signal_frame ? BIT_SIGNAL : 0);
}

static void put_rows(const struct cfi *cfi, struct wr *out)
{
	for (uint32_t i = 0; i < cfi->nfde; i++) {
		const struct fde *f = &cfi->fde[i];
		bool signal_frame = cfi->cie[f->cie].signal_frame;
		vaddr end = f->addr + f->len;

		if (!f->understood)
			put_row(out, f->addr, UNWINDTABLE_NO_RULE, false);
		for (uint32_t k = 0; f->understood && k < f->nrow; k++) {
			const struct cfi_row *row = &cfi->rows[f->row + k];

			put_row(out, row->addr, row->state, signal_frame);
		}
		if (i + 1 == cfi->nfde || cfi->fde[i + 1].addr != end)
			put_row(out, end, UNWINDTABLE_NO_RULE, false);
	}
}

static uint32_t put_segments(const struct image *img, struct wr *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < img->nph; i++) {
		const Elf64_Phdr *ph = &img->ph[i];

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		wr_u64(out, ph->p_vaddr);
		wr_u64(out, ph->p_offset);
		wr_u64(out, ph->p_filesz);
		n++;
	}
	return n;
}

void unwindtable_write(const struct image *img, const struct cfi *cfi, struct wr *out)
{
	struct wr seg = { 0 }, row = { 0 }, at = { 0 }, rules = { 0 };
	uint32_t nseg = put_segments(img, &seg);

	put_rows(cfi, &row);
	for (uint32_t i = 0; i < cfi->nstate; i++) {
		wr_u32(&at, (uint32_t)rules.n);
		put_rule(&cfi->state[i], &rules);
	}
	wr_raw(out, magic, sizeof(magic));
	wr_u32(out, nseg);
	wr_u32(out, (uint32_t)(row.n / ROW_BYTES));
	wr_u32(out, cfi->nstate);
	wr_u32(out, (uint32_t)rules.n);
	struct wr *part[] = { &seg, &row, &at, &rules };
	for (int i = 0; i < 4; i++) {
		if (part[i]->n)
			wr_raw(out, part[i]->p, part[i]->n);
		wr_free(part[i]);
	}
}

/* --- reading --- */

static struct bytes take(struct rd *r, uint64_t n)
{
	return (struct bytes){ rd_skip(r, n), n };
}

int unwindtable_open(struct rd *r, struct unwindtable *out, struct err *err)
{
	const uint8_t *head = rd_skip(r, sizeof(magic));
	struct unwindtable t = { 0 };

	if (!head || memcmp(head, magic, sizeof(magic)) != 0)
		return err_set(err, ERR_INPUT, "no table of unwind rows");
	t.nseg = rd_u32(r);
	t.nrow = rd_u32(r);
	t.nrule = rd_u32(r);
	uint32_t rules = rd_u32(r);
	t.seg = take(r, (uint64_t)t.nseg * SEG_BYTES);
	t.row = take(r, (uint64_t)t.nrow * ROW_BYTES);
	t.at = take(r, (uint64_t)t.nrule * AT_BYTES);
	t.rules = take(r, rules);
	if (r->bad)
		return err_set(err, ERR_INPUT, "a table of unwind rows is cut short");
	*out = t;
	return 0;
}

static bool vaddr_of(const struct unwindtable *t, file_off off, vaddr *out)
{
	for (uint32_t i = 0; i < t->nseg; i++) {
		struct rd r = rd_of(bytes_at(t->seg, (uint64_t)i * SEG_BYTES, SEG_BYTES));
		uint64_t addr = rd_u64(&r), from = rd_u64(&r), size = rd_u64(&r);

		if (off >= from && off - from < size) {
			*out = addr + (off - from);
			return true;
		}
	}
	return false;
}

static struct rd row_at(const struct unwindtable *t, uint32_t i)
{
	return rd_of(bytes_at(t->row, (uint64_t)i * ROW_BYTES, ROW_BYTES));
}

static uint64_t row_addr(const struct unwindtable *t, uint32_t i)
{
	struct rd r = row_at(t, i);

	return rd_u64(&r);
}

static bool take_rule(struct rd *r, struct unwindtable_row *out)
{
	out->cfa_is_expr = rd_u8(r);
	if (out->cfa_is_expr) {
		out->cfa_expr = take(r, rd_uleb(r));
	} else {
		out->cfa_reg = rd_u8(r);
		out->cfa_off = rd_sleb(r);
	}
	uint8_t n = rd_u8(r);
	for (uint8_t i = 0; i < n && !r->bad; i++) {
		uint8_t reg = rd_u8(r), kind = rd_u8(r);

		if (reg >= CFI_NREG || kind > CFI_VAL_EXPR)
			return false;
		out->reg[reg].kind = kind;
		if (is_expr(kind))
			out->reg[reg].expr = take(r, rd_uleb(r));
		else
			out->reg[reg].off = rd_sleb(r);
	}
	return !r->bad;
}

bool unwindtable_find(const struct unwindtable *t, file_off off, struct unwindtable_row *out)
{
	vaddr addr;

	*out = (struct unwindtable_row){ 0 };
	if (!vaddr_of(t, off, &addr))
		return false;
	/* the first row behind it */
	uint32_t k = search_first(i, 0, t->nrow, row_addr(t, i) <= addr);
	if (k == 0)
		return false;
	struct rd row = row_at(t, k - 1);
	(void)rd_u64(&row);		/* its address */
	uint32_t rule = rd_u32(&row);
	out->signal_frame = rd_u32(&row) & BIT_SIGNAL;
	if (rule >= t->nrule)
		return false;
	struct rd at = rd_of(bytes_at(t->at, (uint64_t)rule * AT_BYTES, AT_BYTES));
	uint32_t from = rd_u32(&at);
	struct rd r = rd_of(from <= t->rules.n
				    ? (struct bytes){ t->rules.p + from, t->rules.n - from }
				    : (struct bytes){ NULL, 0 });
	return take_rule(&r, out);
}
