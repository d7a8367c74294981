/* guards.c - images that compare an index before they read a new jump table by it
 *
 * WHAT    Nothing in the original bounds the index; the image of the load bounds it itself:
 *             movslq (base,index,4), reg      cmp $n, index
 *                                             jae the original's load
 *                                             movslq shift(base,index,4), reg
 *
 * PROOF   Of all indexes n and above the original goes on, from the load that it had come to,
 *         in the same state but for the flags, and these are overwritten before anything looks
 *         at them.  So there control may go anywhere, as far as the images are concerned:
 *         flow.c lets no register differ in front of the load.  Below n the table has to have
 *         entries (tablelengths.c).
 *
 * Tested by tests/unit/verify/test_guards.c.
 */
#include <stdlib.h>

#include "verify/effect.h"
#include "verify/lookup.h"

/* Length of `cmp $n, index`, with the index of the load `o`; 0: it is something else. */
static uint32_t read_compare(struct bytes o, struct bytes g, uint32_t *n)
{
	enum { REX_W = 0x48, REX_X = 2, REX_B = 1, CMP8 = 0x83, CMP32 = 0x81, CMP_REG = 0xf8,
	       SCALE_4 = 0x80, SCALE = 0xc0 };
	bool rex = o.n > 0 && (o.p[0] & 0xf0) == 0x40;
	uint32_t sib = rex ? 3 : 2;
	struct rd r = rd_of(g);

	if (o.n <= sib || (o.p[sib] & SCALE) != SCALE_4)
		return 0;
	uint8_t high = rex && (o.p[0] & REX_X) ? REX_B : 0, low = o.p[sib] >> 3 & 7;
	if (!high && low == 4)		/* rsp is none */
		return 0;
	if (rd_u8(&r) != (REX_W | high))
		return 0;
	uint8_t opcode = rd_u8(&r);
	if ((opcode != CMP8 && opcode != CMP32) || rd_u8(&r) != (CMP_REG | low))
		return 0;
	*n = opcode == CMP8 ? rd_u8(&r) : rd_u32(&r);
	if (r.bad || *n == 0 || *n > (opcode == CMP8 ? INT8_MAX : INT32_MAX))
		return 0;
	return (uint32_t)(g.n - rd_left(&r));
}

/* Length of that and `jae` to `to` behind it; `at` is its address. */
static uint32_t read_guard(struct bytes o, struct bytes g, new_vaddr at, uint32_t *n,
			   new_vaddr *to)
{
	enum { ESCAPE = 0x0f, JAE = 0x83 };
	uint32_t compare = read_compare(o, g, n);
	struct rd r = rd_of(bytes_at(g, compare, g.n - compare));

	if (compare == 0 || rd_u8(&r) != ESCAPE || rd_u8(&r) != JAE)
		return 0;
	int32_t distance = rd_s32(&r);
	uint32_t len = (uint32_t)(g.n - rd_left(&r));

	*to = at + len + (vaddr)(int64_t)distance;
	return r.bad ? 0 : len;
}

/* At addr of the original all flags are overwritten, in the code that follows, before one is
 * read. */
static bool flags_are_dead(const struct verify *v, vaddr addr)
{
	enum { FEW = 8, ALL = 0x3f };
	uint8_t overwritten = 0;
	struct effect e;

	for (int i = 0; i < FEW; i++, addr += e.len) {
		if (!effect_decode(verify_orig_code(v, addr), addr, &e) ||
		    (e.kind != INSN_PLAIN && e.kind != INSN_NOP) || e.kernel ||
		    (e.flags_read & ~overwritten))
			return false;
		overwritten |= e.flags_written;
		if (overwritten == ALL)
			return true;
	}
	return false;
}

uint32_t vguard_read(const struct verify *v, struct bytes o, struct bytes g, new_vaddr at,
		     struct vshifted *out)
{
	uint32_t n = 0, guard;
	new_vaddr to;

	guard = read_guard(o, g, at, &n, &to);
	if (guard == 0)
		return vshift_read(o, g, &out->shift);
	uint32_t len = vshift_read(o, bytes_at(g, guard, g.n - guard), &out->shift);
	if (len == 0 || to != out->addr || !verify_leads(v, out->addr, to) ||
	    !flags_are_dead(v, out->addr))
		return 0;
	out->guard = n;
	return guard + len;
}
