/* functions.c - makes functions of the pieces (the code of one FDE each), and judges them
 *
 * Tested by tests/unit/postmorph/test_analyze.c.
 */
#include <string.h>

#include "postmorph/functions.h"

enum { PATCH = 5, ENDBR64 = 4 };	/* bytes of the entry jump, of endbr64 */

static void add_range(struct fn *fn, const struct piece *p, uint32_t fde)
{
	fn->range[fn->nrange++] = (struct fn_range){ p->addr, p->size, fde };
	if (fn->skip == SKIP_NONE)
		fn->skip = p->skip;
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
