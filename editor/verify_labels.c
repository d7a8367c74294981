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
 * STRAIGHT   The function has jumps that nothing is known of, and each of them goes to what a
 *            `mov` in the same block, or the jump, read from memory: it calculates no target as a
 *            distance from a label.  Jumps by tables that verify_flow.c has followed calculate;
 *            but in their own block, too.
 *
 * It does not matter whether original code of the function still runs: being at a label and being
 * at its image is the same.
 */
#include <stdlib.h>

#include "editor/verify_effect.h"
#include "editor/verify_parts.h"

enum { LOAD = 0x8b, REGISTER = 0xc0, REX_R = 4 };

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

static int jump_cmp(const void *x, const void *y)
{
	const struct vjump *a = x, *b = y;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

/* Each once, sorted; by a table only if it always went by one. */
static void sort_jumps(struct verify *v)
{
	struct vjump *j = v->jumps.v;
	uint32_t n = 0;

	if (v->jumps.n)
		qsort(j, v->jumps.n, sizeof(*j), jump_cmp);
	for (uint32_t i = 0; i < v->jumps.n; i++)
		if (n && j[n - 1].addr == j[i].addr)
			j[n - 1].by_table &= j[i].by_table;
		else
			j[n++] = j[i];
	v->jumps.n = n;
}

static bool goes_by_table(const struct verify *v, vaddr addr)
{
	const struct vjump key = { .addr = addr };
	const struct vjump *j = v->jumps.n == 0 ? NULL :
		bsearch(&key, v->jumps.v, v->jumps.n, sizeof(key), jump_cmp);

	return j && j->by_table;
}

struct origin {			/* registers, as masks */
	uint16_t loaded;	/* hold what a mov of 64 bits read from memory */
	uint16_t set;		/* were written in this block */
};

static void follow(struct origin *o, const struct effect *e, const uint8_t *code)
{
	bool copied = e->op == FX_COPY && (o->loaded >> e->b & 1);
	uint16_t written = e->kills | e->clobbers;

	if (e->kind == INSN_CALL || e->kind == INSN_ICALL)
		written |= VERIFY_CALLER_SAVED;
	o->loaded &= (uint16_t)~written;
	o->set |= written;
	if (copied)
		o->loaded |= (uint16_t)(1u << e->a);
	if (e->len > 2 && (code[0] & 0xf8) == 0x48 && code[1] == LOAD && code[2] < REGISTER)
		o->loaded |= (uint16_t)(1u << ((code[2] >> 3 & 7) | (code[0] & REX_R ? 8 : 0)));
}

static bool is_straight(const struct verify *v, vaddr jump, bool by_table)
{
	const struct blockmap_block *b = blockmap_find_orig(&v->map, jump);
	struct origin o = { 0 };
	struct effect e;

	if (!b)
		return false;
	for (vaddr at = v->map.orig_base + b->orig; at <= jump; at += e.len) {
		struct bytes code = verify_orig_code(v, at);

		if (!effect_decode(code, at, &e))
			return false;
		if (at < jump)
			follow(&o, &e, code.p);
		else if (e.op == FX_JUMP)
			return (by_table ? o.set : o.loaded) >> e.a & 1;
		else
			return e.kind == INSN_IJMP;
	}
	return false;
}

int verify_labels(struct verify *v)
{
	bool *computes = arena_array(v->a, v->ocfi.nfde, sizeof(*computes));

	sort_jumps(v);
	for (uint32_t i = 0; i < v->refs.n; i++) {
		const struct vref *r = &v->refs.v[i];

		if (r->kind == REF_JUMP) {
			bool by_table = goes_by_table(v, r->addr);

			if (r->fde == NO_FDE || !v->labelled[verify_group(v, r->fde)])
				continue;
			if (!is_straight(v, r->addr, by_table))
				return refuse(v, "the jump at 0x%llx may calculate its target, while "
					      "pointers to labels of its function were changed",
					      ULL(r->addr));
			computes[verify_group(v, r->fde)] |= !by_table;
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
