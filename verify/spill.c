/* spill.c - bytes that are kept in the frame beside what differs between the two runs
 *
 * mov %eax, 8(%rsp) of a register that is UPPER is how compilers keep a byte.  Whoever loads
 * from there has a register that is UPPER again; anything else must read only what is the
 * same.  The places are told by their distance from the CFA, and hold for the whole function,
 * whatever is stored there besides.  That nobody reads them by other registers than rsp is left
 * aside.
 */
#include "verify/values.h"

int vspill_note(struct vtables *vt, const struct effect *e, uint8_t bits, vaddr addr)
{
	struct vspill spill = { .at = e->at - vt->depth, .bytes = e->span, .bits = bits };

	if (bits < 8 || vt->depth == 0)
		return vtables_misuse(vt, addr);
	for (uint32_t i = 0; i < vt->spills.n; i++) {
		struct vspill *o = &vt->spills.v[i];

		if (o->at != spill.at || o->bytes != spill.bytes)
			continue;
		if (bits < o->bits) {
			o->bits = bits;
			vt->spilled = true;
		}
		return 0;
	}
	vec_push(vt->a, &vt->spills, spill);
	vt->spilled = true;
	return 0;
}

uint32_t vspill_same_bits(const struct vtables *vt, const struct effect *e)
{
	uint32_t least = UINT32_MAX;

	if (!e->frame_read || vt->spills.n == 0)
		return UINT32_MAX;
	if (vt->depth == 0)
		return 0;
	int64_t at = e->at - vt->depth;
	for (uint32_t i = 0; i < vt->spills.n; i++) {
		const struct vspill *o = &vt->spills.v[i];

		if (o->at >= at + e->span || at >= o->at + o->bytes)
			continue;
		uint32_t same = at > o->at ? 0 : 8 * (uint32_t)(o->at - at) + o->bits;
		if (same < least)
			least = same;
	}
	return least;
}
