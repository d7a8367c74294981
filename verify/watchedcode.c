/* watchedcode.c - addresses inside of functions that other code knows have no image
 *
 * The handler of a signal compares where the program was interrupted with the addresses of
 * labels.  It knows nothing of images, so there must be none of these instructions.
 *
 * INSIDE    an instruction of another function, or one between FDEs, forms the address by a
 *           lea;
 * HELD      a relocation puts it into data, and its function has no indirect jump that could go
 *           there; the address of a symbol itself is taken for an entry;
 * RSEQ      a word of a section of restartable sequences holds it.
 *
 * Whether somebody asks for the order of a function's start and something else is not judged.
 */
#include <string.h>

#include "verify/holders.h"
#include "verify/lookup.h"

/* Where the FDE that holds it does not begin, or begins in the middle of a function. */
static bool is_inside(const struct verify *v, vaddr addr, uint32_t *fde)
{
	*fde = vcfi_find(&v->ocfi, addr);
	return *fde != NO_FDE && verify_is_start(v, addr) &&
	       (addr != v->ocfi.fde[*fde].addr || v->ocfi.fragment[*fde]);
}

static bool has_image(const struct verify *v, vaddr addr)
{
	return blockmap_find_orig(&v->map, addr) != NULL;
}

static int check_formed(struct verify *v)
{
	uint32_t fde;

	for (uint32_t i = 0; i < v->refs.formed.n; i++) {
		const struct vref *r = &v->refs.formed.v[i];

		if (!is_inside(v, r->to, &fde) || !has_image(v, r->to) ||
		    (r->fde != NO_FDE && verify_group(v, r->fde) == verify_group(v, fde)))
			continue;
		return refuse(
			v, "the code at 0x%llx was moved, but that at 0x%llx knows its address",
			ULL(r->to), ULL(r->addr));
	}
	return 0;
}

struct watch {
	bool *jumps;		/* [nfde] by group: it has an indirect jump */
	bool rseq;		/* there are sections of restartable sequences */
};

/* The word gets this value; by a symbol, if no other file has one of that name. */
static bool has_value(const struct vholder *h)
{
	switch (h->kind) {
	case HOLDS_RELATIVE: case HOLDS_RELR: case HOLDS_WORD:
		return true;
	case HOLDS_RELOCATED:
		return !h->symbol || h->section != SHN_UNDEF;
	default:
		return false;
	}
}

static bool is_rseq(const struct verify *v, vaddr place)
{
	const struct section *s = image_section_at(&v->orig, place);

	return s && strstr(s->name, "rseq");
}

static int check_held(struct verify *v, const struct vholder *h, void *ctx)
{
	const struct watch *w = ctx;
	uint32_t fde;

	if (!has_value(h))
		return 0;
	if (w->rseq && is_rseq(v, h->place) && has_image(v, h->value))
		return refuse(v, "the code at 0x%llx was moved, and has a restartable sequence",
			      ULL(h->value));
	if (h->kind == HOLDS_WORD || (h->symbol && !h->addend))
		return 0;
	if (!is_inside(v, h->value, &fde) || !has_image(v, h->value) ||
	    w->jumps[verify_group(v, fde)])
		return 0;
	return refuse(v,
		      "the code at 0x%llx was moved, but the word at 0x%llx holds its address",
		      ULL(h->value), ULL(h->place));
}

int verify_watchedcode(struct verify *v)
{
	struct watch w = { .jumps = arena_array(v->a, v->ocfi.nfde, sizeof(*w.jumps)) };

	for (uint32_t i = 0; i < v->refs.all.n; i++)
		if (v->refs.all.v[i].kind == REF_JUMP && v->refs.all.v[i].fde != NO_FDE)
			w.jumps[verify_group(v, v->refs.all.v[i].fde)] = true;
	for (uint32_t i = 0; i < v->orig.nsh; i++)
		w.rseq |= strstr(v->orig.sh[i].name, "rseq") != NULL;
	return check_formed(v) < 0 ? -1 : verify_each_holder(v, check_held, &w);
}
