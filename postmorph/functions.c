/* functions.c - pieces become functions */
#include <string.h>

#include "postmorph/analyze.h"

enum { PATCH = 5, ENDBR64 = 4 };	/* bytes of the entry jump, of endbr64 */

static void add_range(struct fn *fn, const struct piece *p, uint32_t fde)
{
	fn->range[fn->nrange++] = (struct fn_range){ p->addr, p->size, fde };
	if (fn->skip == SKIP_NONE)
		fn->skip = p->skip;
}

/* 0 when a range of it does not decode. */
static uint32_t count_insns(const struct text *t, const struct fn *fn)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < fn->nrange; r++) {
		const struct piece *p = &t->piece[fn->range[r].fde];

		if (p->ninsn == 0)
			return 0;
		n += p->ninsn;
	}
	return n;
}

struct fn_scan fn_scan(const struct text *t, const struct fn *fn)
{
	return (struct fn_scan){ .text = t, .fn = fn,
				 .range = count_insns(t, fn) ? 0 : fn->nrange };
}

static struct insn insn_at(const struct short_insn *i, uint32_t off)
{
	return (struct insn){ .off = off,
			      .len = i->len, .kind = i->kind, .field = i->field,
			      .field_size = i->near    ? 4
					    : i->field ? 1
						       : 0,
			      .constants = i->constants };
}

/* Finds an instruction that is left, in the next range if there is none in this one. */
static bool scan_more(struct fn_scan *s)
{
	if (s->left > 0)
		return true;
	if (s->range == s->fn->nrange)
		return false;
	const struct fn_range *r = &s->fn->range[s->range++];
	const struct piece *p = &s->text->piece[r->fde];

	s->off = (uint32_t)(r->addr - s->text->prog->base);
	s->next = p->insn;
	s->left = p->ninsn;
	return true;
}

static void scan_pass(struct fn_scan *s)
{
	s->off += s->next++->len;
	s->left--;
}

bool fn_scan_next(struct fn_scan *s, struct insn *out)
{
	if (!scan_more(s))
		return false;
	*out = insn_at(s->next, s->off);
	scan_pass(s);
	return true;
}

bool fn_scan_next_value(struct fn_scan *s, struct insn *out)
{
	if (!scan_more(s))
		return false;
	while (s->left > 1 && !s->next->field && !s->next->constants)
		scan_pass(s);
	return fn_scan_next(s, out);
}

void fn_load(const struct text *t, struct arena *a, struct fn *fn)
{
	struct fn_scan scan = fn_scan(t, fn);

	fn->ninsn = count_insns(t, fn);
	fn->insn = arena_array(a, fn->ninsn, sizeof(*fn->insn));
	for (uint32_t i = 0; i < fn->ninsn; i++)
		(void)fn_scan_next(&scan, &fn->insn[i]);	/* there are that many */
}

void functions_make(struct text *t)
{
	struct prog *prog = t->prog;
	uint32_t *nrange = arena_array(t->scratch, t->npiece, sizeof(*nrange));

	for (uint32_t i = 0; i < t->npiece; i++) {
		nrange[t->piece[i].parent]++;
		if (t->piece[i].parent == i)
			prog->nfn++;
	}
	prog->fn = arena_array(prog->arena, prog->nfn, sizeof(*prog->fn));
	prog->fn_of_fde = arena_array(prog->arena, t->npiece, sizeof(*prog->fn_of_fde));
	t->called = arena_array(t->scratch, prog->nfn, sizeof(*t->called));
	t->noreturn = arena_array(t->scratch, prog->nfn, sizeof(*t->noreturn));
	t->clobbers = arena_array(t->scratch, prog->nfn, sizeof(*t->clobbers));
	struct fn *fn = prog->fn;
	for (uint32_t i = 0; i < t->npiece; i++) {
		struct piece *p = &t->piece[i];

		if (p->parent != i)
			continue;
		fn->entry = p->addr;
		fn->range = arena_array(prog->arena, nrange[i], sizeof(*fn->range));
		add_range(fn, p, i);
		p->fn = (uint32_t)(fn++ - prog->fn);
	}
	for (uint32_t i = 0; i < t->npiece; i++) {
		struct piece *p = &t->piece[i];

		if (p->parent != i) {
			p->fn = t->piece[p->parent].fn;
			add_range(&prog->fn[p->fn], p, i);
		}
		prog->fn_of_fde[i] = p->fn;
	}
}

static void settle(const struct text *t, struct fn *fn)
{
	static const uint8_t endbr64[ENDBR64] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const struct fn_range *r = &fn->range[0];
	struct bytes code = image_at(&t->prog->img, fn->entry, r->size);

	if (code.p && code.n >= ENDBR64 && memcmp(code.p, endbr64, ENDBR64) == 0)
		fn->patch_off = ENDBR64;
	if (fn->skip != SKIP_NONE)
		return;
	if (r->size < fn->patch_off + PATCH) {
		fn->skip = SKIP_SHORT;
		return;
	}
	for (uint32_t i = 1; i < PATCH; i++)
		if (*text_mark(t, fn->entry + fn->patch_off + i) &
		    (MARK_BRANCH | MARK_HELD | MARK_TABLE | MARK_PAD))
			fn->skip = SKIP_ENTRY_TARGET;
}

void functions_settle(struct text *t)
{
	for (uint32_t i = 0; i < t->prog->nfn; i++)
		settle(t, &t->prog->fn[i]);
}
