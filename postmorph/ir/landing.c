/* landing.c - finds landing pads: the places where the unwinder enters a function in its middle
 *
 * Nothing in the code leads to a landing pad; only exception tables tell of it.  A landing pad
 * begins a block, nothing is known of registers there, and it belongs to the function whose
 * calls it catches, also when it lies in a fragment that is reached in no other way.
 *
 * New exception tables are made from instructions, so a call site has to hold whole
 * instructions.
 */
#include "postmorph/ir/landing.h"

#include "binary/dwarf.h"

static bool is_boundary(const struct text *t, const struct piece *p, vaddr addr)
{
	return addr == p->addr + p->size || (*text_mark(t, addr) & MARK_INSN);
}

/* A new table would have a form that the old one may not have (emit_lsda.c), or its address may
 * matter. */
static bool needs_its_table(const struct text *t, uint32_t piece)
{
	struct lsda lsda;
	struct lsda_site site;

	if (!lsda_read(&t->prog->img, &t->prog->cfi, piece, &lsda))
		return false;
	for (struct lsda_iter it = lsda_iter(&lsda); lsda_next(&it, &site); )
		if (site.pad)
			return true;
	return lsda.site_enc != DW_EH_PE_uleb128;
}

static bool is_known(const struct text *t, uint32_t piece)
{
	const struct piece *p = &t->piece[piece];
	struct lsda lsda;

	if (p->ninsn == 0 || !lsda_read(&t->prog->img, &t->prog->cfi, piece, &lsda))
		return false;
	struct lsda_iter it = lsda_iter(&lsda);
	struct lsda_site site;

	while (lsda_next(&it, &site))
		if (!is_boundary(t, p, site.addr) || !is_boundary(t, p, site.addr + site.len))
			return false;
	return true;
}

void landing_each(const struct text *t, uint32_t piece, landing_visit *visit, void *ctx)
{
	const struct prog *prog = t->prog;
	struct lsda lsda;

	if (!prog->cfi.fde[piece].lsda || !lsda_read(&prog->img, &prog->cfi, piece, &lsda))
		return;
	struct lsda_iter it = lsda_iter(&lsda);
	struct lsda_site site;

	while (lsda_next(&it, &site))
		if (site.pad)
			visit(ctx, &site);
}

struct leaving {
	struct text *t;
	uint32_t piece;
};

static void add_jump(void *ctx, const struct lsda_site *site)
{
	const struct leaving *l = ctx;
	const struct piece *p = &l->t->piece[l->piece];

	if (site->pad < p->addr || site->pad - p->addr >= p->size)
		vec_push(l->t->scratch, &l->t->jumps,
			 ((struct text_jump){ l->piece, site->pad }));
}

void landing_decode(struct text *t, uint32_t piece)
{
	struct leaving l = { t, piece };

	if (!t->prog->cfi.fde[piece].lsda)
		return;
	if (!is_known(t, piece))
		piece_skip(&t->piece[piece], SKIP_LSDA);
	else if (t->prog->cfi.cie[t->prog->cfi.fde[piece].cie].reads == CFI_READS_ITS_OWN &&
		 needs_its_table(t, piece))
		piece_skip(&t->piece[piece], SKIP_PERSONALITY);
	landing_each(t, piece, add_jump, &l);
}

struct marking {
	struct text *t;
	uint32_t fn;
};

static void mark_pad(void *ctx, const struct lsda_site *site)
{
	struct marking *m = ctx;
	struct prog *prog = m->t->prog;

	if (text_holds(m->t, site->pad))
		*text_mark(m->t, site->pad) |= MARK_PAD;
	if (m->fn == NO_FN)		/* what throws is in no function and stays */
		return;
	if (text_holds(m->t, site->pad) && prog_find_fn(prog, site->pad) == m->fn &&
	    (*text_mark(m->t, site->pad) & MARK_INSN))
		return;
	if (prog->fn[m->fn].skip == SKIP_NONE)
		prog->fn[m->fn].skip = SKIP_LANDING_PAD;
}

void landing_mark(struct text *t)
{
	for (uint32_t i = 0; i < t->npiece; i++) {
		struct marking m = { t, t->piece[i].fn };

		landing_each(t, i, mark_pad, &m);
	}
}
