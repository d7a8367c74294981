/* emit_redirect.c - the changed bytes of relocations, pointers and dynamic symbols that lead to
 * images now
 *
 * A redirected symbol also gets the section of its image, and the size of the part of new text
 * that its image begins.  So a lookup by address (dladdr, a profiler) finds the function for
 * the addresses that run.
 *
 * Tested by tests/unit/editor/passes/test_redirect.c.
 */
#include "editor/emit/emit.h"

#include "editor/emit/elfout.h"
#include "lib/err.h"

new_vaddr emit_redirected(const struct emit_plan *plan, vaddr addr)
{
	uint32_t fn = emit_moved_entry(plan->prog, addr);

	if (fn == NO_FN || !plan->prog->fn[fn].redirected)
		return 0;
	return emit_place_addr(plan, plan->place_of[fn][0]);
}

/* Bytes from the image of the entry to the end of the part of the function that it is in. */
static uint64_t piece_size(const struct emit_plan *plan, uint32_t fn)
{
	uint32_t first = plan->place_of[fn][0], last = first;

	while (last + 1 < plan->nplace && !plan->place[last + 1].starts_part)
		last++;
	return emit_place_addr(plan, last) + emit_place_size(plan, last) -
	       emit_place_addr(plan, first);
}

static struct elfout_patch make_patch(const struct emit_plan *plan, const struct reference *r,
				      uint16_t section)
{
	uint32_t block = fn_find_block(&plan->prog->fn[r->fn], r->to);
	uint64_t to = emit_place_addr(plan, plan->place_of[r->fn][block]);
	struct elfout_patch patch = { .off = r->at, .size = sizeof(to) };

	if (r->kind == REFERENCE_ADDEND) {
		memcpy(patch.byte, &to, sizeof(to));
		return patch;
	}
	uint64_t size = piece_size(plan, r->fn);

	patch.off += offsetof(Elf64_Sym, st_shndx);
	patch.size = sizeof(section) + sizeof(to) + sizeof(size);
	memcpy(patch.byte, &section, sizeof(section));
	memcpy(patch.byte + sizeof(section), &to, sizeof(to));
	memcpy(patch.byte + sizeof(section) + sizeof(to), &size, sizeof(size));
	return patch;
}

static bool is_redirected(const struct fn *fn, const struct reference *r)
{
	return r->to == fn->entry ? fn->redirected : fn->threaded && !r->stays;
}

uint32_t emit_redirect_write(const struct emit_plan *plan, const struct elfout *eo,
			     struct elfout_patch *out)
{
	const struct prog *prog = plan->prog;
	uint32_t n = 0;

	for (uint32_t i = 0; i < prog->nref; i++) {
		const struct reference *r = &prog->ref[i];

		if (!is_redirected(&prog->fn[r->fn], r) || r->kind == REFERENCE_LEA)
			continue;
		bool hot = plan->place[plan->place_of[r->fn][0]].hot;
		out[n++] = make_patch(plan, r, elfout_text_section(eo, plan->hot_size, hot));
	}
	return n;
}
