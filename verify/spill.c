/* spill.c - registers of which only the lowest bits are the same, kept in the frame
 *
 * Compilers keep a byte in the frame by `mov %eax, 8(%rsp)`, and the other bits of the register
 * may differ between the two runs (UPPER).  A register loaded from there is UPPER again;
 * anything else must read only what is the same.  Places are known by their distance from the
 * CFA.  What is noted of a place holds for the whole function, whatever else is stored there.
 * That nobody reads it by another register than rsp is assumption A8 (verify.c).
 *
 * Tested by tests/unit/verify/test_values.c.
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
