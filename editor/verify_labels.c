/* verify_labels.c - pointers to labels that lead to images
 *
 * An interpreter keeps the addresses of its handlers, labels inside of one function, in tables and
 * jumps through those.  Such a pointer may be redirected like one to a function: found, and
 * changed together with all others to that label, by verify_redirect.c.  Here is what labels have
 * of their own:
 *
 * PLACE      An image begins exactly for the label: with its own first instruction, so with the
 *            same endbr64, if any, and the same unwind row.  verify_flow.c lets a computed jump
 *            arrive anywhere with no register that differs, so whoever knows the image's address
 *            may jump there.
 * ALL        Nothing else yields an address inside of the function (but its start): no other
 *            relocation, no symbol, no instruction's operand, and no pointer that stays.
 * STRAIGHT   No jump of the function calculates its target as a distance from a label.  It goes to
 *            what a `mov` in the same block, or the jump itself, read from memory, as some must; or
 *            to an entry of a table plus the address by which the block read that: the table's, for
 *            by labels nothing is read.
 *
 * It does not matter whether original code of the function still runs: being at a label and being
 * at its image is the same.
 */
#include <stdlib.h>

#include "editor/verify_effect.h"
#include "editor/verify_parts.h"

enum { NGPR = 16, LOAD = 0x8b, REGISTER = 0xc0, REX_R = 4 };

bool verify_is_function(const struct verify *v, vaddr addr)
{
	uint32_t fde = vcfi_find(&v->ocfi, addr);

	return fde != NO_FDE && v->ocfi.fde[fde].addr == addr && !v->fragment[fde];
}

int verify_label_place(struct verify *v, vaddr from, new_vaddr to)
{
	const struct blockmap_block *b = verify_image_of(v, from);
	uint32_t fde = vcfi_find(&v->ocfi, from);

	if (fde == NO_FDE)
		return refuse(v, "pointers to 0x%llx lead to 0x%llx, but that is in no function",
			      ULL(from), ULL(to));
	if (!b || v->map.gen_base + b->gen != to)
		return refuse(v, "pointers to 0x%llx lead to 0x%llx, which is no image of it",
			      ULL(from), ULL(to));
	v->labelled[verify_group(v, fde)] = true;
	return 0;
}

bool verify_is_labelled(const struct verify *v, vaddr addr)
{
	uint32_t fde = vcfi_find(&v->ocfi, addr);

	return fde != NO_FDE && v->labelled[verify_group(v, fde)] && !verify_is_function(v, addr);
}

struct origin {			/* of the values of registers, in one block */
	uint16_t loaded;	/* a mov of 64 bits read them from memory */
	uint16_t summed;	/* an entry of a jump table and the address by which it was read */
	uint8_t through[NGPR];	/* 1 + the register that holds that address; 0: no entry */
};

static void set(uint16_t *mask, uint8_t reg, bool to)
{
	*mask = (uint16_t)(to ? *mask | 1u << reg : *mask & ~(1u << reg));
}

static bool has(uint16_t mask, uint8_t reg)
{
	return mask >> reg & 1;
}

static void forget(struct origin *o, uint16_t written)
{
	o->loaded &= (uint16_t)~written;
	o->summed &= (uint16_t)~written;
	for (uint8_t i = 0; i < NGPR; i++)
		if (has(written, i) || (o->through[i] && has(written, o->through[i] - 1)))
			o->through[i] = 0;
}

static void follow(struct origin *o, const struct effect *e, const uint8_t *code)
{
	const struct origin was = *o;
	uint16_t written = e->kills | e->clobbers;

	if (e->kind == INSN_CALL || e->kind == INSN_ICALL)
		written |= VERIFY_CALLER_SAVED;
	forget(o, written);
	if (e->op == FX_COPY) {
		set(&o->loaded, e->a, has(was.loaded, e->b));
		set(&o->summed, e->a, has(was.summed, e->b));
	}
	if (e->op == FX_LOAD && e->a != e->b && !has(was.loaded, e->b))
		o->through[e->a] = e->b + 1;
	if (e->op == FX_ADD)
		set(&o->summed, e->a, was.through[e->a] == e->b + 1 || was.through[e->b] == e->a + 1);
	if (e->len > 2 && (code[0] & 0xf8) == 0x48 && code[1] == LOAD && code[2] < REGISTER)
		set(&o->loaded, (code[2] >> 3 & 7) | (code[0] & REX_R ? 8 : 0), true);
}

enum way { CALCULATED, FETCHED, BY_TABLE };

static enum way way_of(const struct verify *v, vaddr jump)
{
	const struct blockmap_block *b = blockmap_find_orig(&v->map, jump);
	struct origin o = { 0 };
	struct effect e;

	if (!b)
		return CALCULATED;
	for (vaddr at = v->map.orig_base + b->orig; at <= jump; at += e.len) {
		struct bytes code = verify_orig_code(v, at);

		if (!effect_decode(code, at, &e))
			return CALCULATED;
		if (at < jump)
			follow(&o, &e, code.p);
		else if (e.op == FX_JUMP)
			return has(o.loaded, e.a) ? FETCHED : has(o.summed, e.a) ? BY_TABLE : CALCULATED;
		else
			return e.kind == INSN_IJMP ? FETCHED : CALCULATED;
	}
	return CALCULATED;
}

int verify_labels(struct verify *v)
{
	bool *computes = arena_array(v->a, v->ocfi.nfde, sizeof(*computes));

	for (uint32_t i = 0; i < v->refs.n; i++) {
		const struct vref *r = &v->refs.v[i];

		if (r->kind == REF_JUMP) {
			if (r->fde == NO_FDE || !v->labelled[verify_group(v, r->fde)])
				continue;
			enum way way = way_of(v, r->addr);

			if (way == CALCULATED)
				return refuse(v, "the jump at 0x%llx may calculate its target, while "
					      "pointers to labels of its function were changed",
					      ULL(r->addr));
			computes[verify_group(v, r->fde)] |= way == FETCHED;
		} else if (r->kind != REF_BRANCH && verify_is_labelled(v, r->to)) {
			return refuse(v, "the instruction at 0x%llx refers to 0x%llx, inside a function "
				      "whose pointers to labels were changed", ULL(r->addr), ULL(r->to));
		}
	}
	for (uint32_t i = 0; i < v->ocfi.nfde; i++)
		if (v->labelled[i] && !computes[i])
			return refuse(v, "pointers lead inside the image of 0x%llx, which has no jump that "
				      "could go to labels", ULL(v->ocfi.fde[i].addr));
	return 0;
}
