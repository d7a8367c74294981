/* placement.c - what programs ask of the place of a function is as it was
 *
 * Of functions whose place matters by itself there is no image:
 *
 * SECTION   those in an executable section whose name is a C identifier: for these linkers
 *           define __start_NAME and __stop_NAME;
 * PAGE      those that begin a page, in a section that asks for pages, behind 16 bytes of
 *           padding and more or at its start: their protection may be changed.
 *
 * A redirected pointer (redirected.c) leads to a place that is as good:
 *
 * ALIGN     The image is aligned as the original is, up to a page, as far as the original's
 *           section is: no declaration aligns a function to more than its section.
 * FRONT     In front of the original there is nothing but NOPs and int3, back to the end of
 *           the FDE or the start of the section there: no data that callers could read.
 * STUBS     The original is not short and followed by a function of the same length and first
 *           byte to which nothing leads: one that is run by an address that is calculated.
 *           The same of code in the original itself that no jump of it could go to.
 * RANGE     No instruction compares or calculates with the end of the code, of its segment or
 *           of all segments (etext, _end; firstbytes.c), or has it as a distance from the GOT,
 *           and no data holds it.
 *
 * Tested by tests/unit/verify/test_placement.c.
 */
#include <ctype.h>

#include "verify/holders.h"
#include "verify/lookup.h"

enum { PAGE = 4096 };

static bool is_c_name(const char *s)
{
	for (uint32_t i = 0; s[i]; i++)
		if (!isalpha((unsigned char)s[i]) && s[i] != '_' &&
		    (i == 0 || !isdigit((unsigned char)s[i])))
			return false;
	return *s;
}

/* Where the gap in front of addr, at most back to the section's start, begins. */
static vaddr gap_start(const struct verify *v, const struct section *s, vaddr addr)
{
	const struct vcfi *cfi = &v->ocfi;
	uint32_t fde = vcfi_find(cfi, addr);
	vaddr from = s->h.sh_addr;

	if (fde != NO_FDE && fde > 0 && cfi->fde[fde - 1].addr + cfi->fde[fde - 1].len > from)
		from = cfi->fde[fde - 1].addr + cfi->fde[fde - 1].len;
	return from < addr ? from : addr;
}

static uint64_t alignment(vaddr addr, uint64_t section)
{
	uint64_t own = addr ? addr & -addr : PAGE;
	uint64_t max = section > PAGE ? PAGE : section;

	return max == 0 ? 1 : own < max ? own : max;
}

/* No image is of code in such a section, or of such a function. */
static int check_moved(struct verify *v, uint32_t i)
{
	vaddr addr = v->ocfi.fde[i].addr;
	const struct section *s = image_section_at(&v->orig, addr);

	if (!s || !blockmap_find_orig(&v->map, addr))
		return 0;
	if (is_c_name(s->name))
		return refuse(v,
			      "the function at 0x%llx was moved out of section %s, whose start "
			      "and end programs know",
			      ULL(addr), s->name);
	vaddr from = gap_start(v, s, addr);
	if (alignment(addr, s->h.sh_addralign) >= PAGE && verify_is_function(v, addr) &&
	    (addr - from >= 16 || from == s->h.sh_addr))
		return refuse(v, "the function at 0x%llx, which has a page, was moved",
			      ULL(addr));
	return 0;
}

static bool is_padded(const struct verify *v, const struct section *s, vaddr addr)
{
	vaddr at = gap_start(v, s, addr), target;
	struct insn insn;

	for (; at < addr; at += insn.len) {
		struct bytes code = image_at(&v->orig, at, addr - at);

		if (!code.p || !insn_decode(code, at, &insn, &target) ||
		    (insn.kind != INSN_NOP && code.p[0] != 0xcc))
			return false;
	}
	return true;
}

static bool is_stub(const struct verify *v, vaddr addr)
{
	enum { GAP = 64, SHORT = 64 };
	uint32_t i = vcfi_find(&v->ocfi, addr);

	if (i == NO_FDE || i + 1 >= v->ocfi.nfde)
		return false;
	const struct vfde *a = &v->ocfi.fde[i], *b = a + 1;
	struct bytes x = verify_orig_code(v, a->addr), y = verify_orig_code(v, b->addr);

	return a->len == b->len && a->len <= SHORT && b->addr - a->addr - a->len < GAP &&
	       x.p && y.p && x.p[0] == y.p[0] && verify_is_function(v, b->addr) &&
	       !verify_is_met(v, b->addr);
}

/* Code in the FDE at addr to which nothing leads, behind what ends the flow.  A function with
 * indirect jumps may go there by these. */
static bool has_unmet_code(const struct verify *v, vaddr addr, const bool *jumps)
{
	uint32_t i = vcfi_find(&v->ocfi, addr);
	bool live = true;
	struct insn insn;
	vaddr target;

	if (i == NO_FDE || jumps[verify_group(v, i)])
		return false;
	const struct vfde *fde = &v->ocfi.fde[i];
	struct bytes code = bytes_at(verify_orig_code(v, fde->addr), 0, fde->len);

	for (uint64_t off = 0; off < code.n; off += insn.len) {
		struct bytes rest = bytes_at(code, off, code.n - off);

		if (!insn_decode(rest, fde->addr + off, &insn, &target))
			return false;
		live |= verify_is_met(v, fde->addr + off);
		if (!live && insn.kind != INSN_NOP)
			return rest.p[0] != 0xcc;
		live = live && (!insn_ends_flow(&insn) || insn.kind == INSN_TRAP);
	}
	return false;
}

static int check_pointer(struct verify *v, const struct vredirect *r, const bool *jumps)
{
	const struct section *s = image_section_at(&v->orig, r->from);

	if (!s)
		return 0;
	if (v->walk.asks_end)
		return refuse(v,
			      "pointers to 0x%llx lead to 0x%llx, but the program asks where "
			      "its code ends",
			      ULL(r->from), ULL(r->to));
	if (r->to % alignment(r->from, s->h.sh_addralign))
		return refuse(v,
			      "pointers to 0x%llx lead to 0x%llx, which is aligned to less",
			      ULL(r->from), ULL(r->to));
	if (!is_padded(v, s, r->from))
		return refuse(v,
			      "pointers to 0x%llx lead to 0x%llx, but something stands in "
			      "front of the original",
			      ULL(r->from), ULL(r->to));
	if (is_stub(v, r->from))
		return refuse(v,
			      "pointers to 0x%llx lead to 0x%llx, but nothing leads to the "
			      "code of the same length behind the original",
			      ULL(r->from), ULL(r->to));
	if (has_unmet_code(v, r->from, jumps))
		return refuse(v,
			      "pointers to 0x%llx lead to 0x%llx, but nothing leads to some of "
			      "its code",
			      ULL(r->from), ULL(r->to));
	return 0;
}

static int note_held(struct verify *v, const struct vholder *h, void *ctx)
{
	(void)ctx;
	if (h->kind == HOLDS_LISTED)
		return 0;
	verify_note_met(v, h->value);
	v->walk.asks_end |= h->kind != HOLDS_FIXED && h->kind != HOLDS_SYMBOL &&
			    verify_is_end(v, h->value);
	return 0;
}

int verify_placement(struct verify *v)
{
	for (uint32_t i = 0; i < v->ocfi.nfde; i++)
		if (check_moved(v, i) < 0)
			return -1;
	if (verify_each_holder(v, note_held, NULL) < 0)
		return -1;
	if (v->pointers.redirects.n == 0)
		return 0;
	bool *jumps = arena_array(v->a, v->ocfi.nfde, sizeof(*jumps));
	for (uint32_t i = 0; i < v->refs.all.n; i++)
		if (v->refs.all.v[i].kind == REF_JUMP && v->refs.all.v[i].fde != NO_FDE)
			jumps[verify_group(v, v->refs.all.v[i].fde)] = true;
	for (uint32_t i = 0; i < v->pointers.redirects.n; i++)
		if (verify_is_function(v, v->pointers.redirects.v[i].from) &&
		    check_pointer(v, &v->pointers.redirects.v[i], jumps) < 0)
			return -1;
	return 0;
}
