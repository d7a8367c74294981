/* verify_watched.c - addresses inside of functions that other code knows have no image
 *
 * The handler of a signal compares where the program was interrupted with the addresses of labels.  It
 * knows nothing of images, so there must be none of these instructions.
 *
 * INSIDE    an instruction of another function, or one between FDEs, forms the address by a lea;
 * HELD      a relocation puts it into data, and its function has no indirect jump that could go there;
 * RSEQ      a relocated word of a section of restartable sequences holds it.
 *
 * Whether somebody asks for the order of a function's start and something else is not judged.
 */
#include <string.h>

#include "editor/verify_parts.h"

void verify_note_lea(struct verify *v, uint32_t fde, vaddr addr, vaddr to)
{
	if (image_is_exec(&v->orig, to))
		vec_push(v->a, &v->formed, ((struct vref){ addr, to, fde, REF_LEA }));
}

/* Where the FDE that holds it does not begin, or begins in the middle of a function. */
static bool is_inside(const struct verify *v, vaddr addr, uint32_t *fde)
{
	*fde = vcfi_find(&v->ocfi, addr);
	return *fde != NO_FDE && verify_is_start(v, addr) &&
	       (addr != v->ocfi.fde[*fde].addr || v->fragment[*fde]);
}

static bool has_image(const struct verify *v, vaddr addr)
{
	return blockmap_find_orig(&v->map, addr) != NULL;
}

static int check_formed(struct verify *v)
{
	uint32_t fde;

	for (uint32_t i = 0; i < v->formed.n; i++) {
		const struct vref *r = &v->formed.v[i];

		if (!is_inside(v, r->to, &fde) || !has_image(v, r->to) ||
		    (r->fde != NO_FDE && verify_group(v, r->fde) == verify_group(v, fde)))
			continue;
		return refuse(v, "the code at 0x%llx was moved, but that at 0x%llx knows its address",
			      ULL(r->to), ULL(r->addr));
	}
	return 0;
}

static bool is_rseq(const struct verify *v, vaddr place)
{
	const struct section *s = image_section_at(&v->orig, place);

	return s && strstr(s->name, "rseq");
}

static int check_held(struct verify *v, const struct vholder *h, void *ctx)
{
	const bool *jumps = ctx;
	uint32_t fde;

	if (h->kind != HOLDS_RELATIVE && h->kind != HOLDS_RELR)
		return 0;
	if (is_rseq(v, h->place) && has_image(v, h->value))
		return refuse(v, "the code at 0x%llx was moved, and has a restartable sequence",
			      ULL(h->value));
	if (!is_inside(v, h->value, &fde) || !has_image(v, h->value) || jumps[verify_group(v, fde)])
		return 0;
	return refuse(v, "the code at 0x%llx was moved, but the word at 0x%llx holds its address",
		      ULL(h->value), ULL(h->place));
}

int verify_watched(struct verify *v)
{
	bool *jumps = arena_array(v->a, v->ocfi.nfde, sizeof(*jumps));

	for (uint32_t i = 0; i < v->refs.n; i++)
		if (v->refs.v[i].kind == REF_JUMP && v->refs.v[i].fde != NO_FDE)
			jumps[verify_group(v, v->refs.v[i].fde)] = true;
	return check_formed(v) < 0 ? -1 : verify_each_holder(v, check_held, jumps);
}
