/* listed.c - functions that a section lists for tools that patch code
 *
 * Tracers write calls over NOPs while a program runs: at the entries of functions, in front of
 * them, or at returns.  Where these NOPs are, the compiler has written into a section of a name
 * that everybody knows (-fpatchable-function-entry, -mrecord-mcount, XRay).  What is patched in
 * the original has no effect in an image.  So every function that such a section names stays
 * where it is; where it names bytes in front of an entry, the function behind them.
 *
 * LLVM's stack maps tell collectors of garbage what stands where behind a call, and its fault
 * maps tell handlers where to go on: return addresses and faults are found by the function's
 * address and a distance from there.
 *
 * Tested by tests/unit/postmorph/test_analyze.c and tests/programs/knows_address.sh.
 */
#include <string.h>

#include "postmorph/refs/listed.h"

enum { IN_FRONT = 256 };	/* bytes that may be patched in front of an entry: chosen */

static bool is_list(const struct section *s)
{
	static const char *const lists[] = { "__patchable_function_entries", "__mcount_loc",
					     "xray_instr_map", "xray_fn_idx",
					     ".llvm_stackmaps", ".llvm_faultmaps" };

	for (uint32_t i = 0; s && i < sizeof(lists) / sizeof(lists[0]); i++)
		if (strcmp(s->name, lists[i]) == 0)
			return true;
	return false;
}

static void stay(const struct text *t, vaddr to)
{
	uint32_t fn = NO_FN;

	for (vaddr at = to; fn == NO_FN && at - to < IN_FRONT && text_holds(t, at); at++)
		fn = prog_find_fn(t->prog, at);
	if (fn != NO_FN && t->prog->fn[fn].skip == SKIP_NONE)
		t->prog->fn[fn].skip = SKIP_LISTED;
}

void listed_note(struct text *t, vaddr place, vaddr to)
{
	if (text_holds(t, to) && is_list(image_section_at(&t->prog->img, place)))
		stay(t, to);
}

static void note_section(struct text *t, const struct section *s)
{
	struct rd rd = rd_of(bytes_at(t->prog->img.file, s->h.sh_offset, s->h.sh_size));

	for (vaddr at = s->h.sh_addr; rd_left(&rd) >= 4; at += 4) {
		struct rd wide = rd;
		vaddr distance = (vaddr)(int64_t)rd_s32(&rd);

		if (text_holds(t, at + distance))
			stay(t, at + distance);
		if (rd_left(&wide) < 8)
			continue;
		uint64_t word = rd_u64(&wide);
		if (text_holds(t, at + word))
			stay(t, at + word);
		if (text_holds(t, word))
			stay(t, word);
	}
}

void listed_note_words(struct text *t)
{
	const struct image *img = &t->prog->img;

	for (uint32_t i = 0; i < img->nsh; i++)
		if ((img->sh[i].h.sh_flags & SHF_ALLOC) && img->sh[i].h.sh_type != SHT_NOBITS &&
		    is_list(&img->sh[i]))
			note_section(t, &img->sh[i]);
}
