/* shift.c - loads that read an entry of a new jump table by the address of the old one
 *
 * WHAT    Where registers with the address of a table T are used for anything else than the
 *         dispatch, T stays in them, and the image of the load has a displacement that the
 *         original has not:
 *             movslq (base,index,4), reg      movslq shift(base,index,4), reg
 *         The new table at T + shift has distances from T to where its entries lead.
 *
 * PROOF   dataflow.c shows that the base is T whenever such a load is run, whichever table T
 *         is.  So it must see every way into the images of a function: direct branches from one
 *         FDE into the middle of another make one group of both; table entries are followed;
 *         what else leads there are entry jumps and redirected pointers, where all registers
 *         are unknown.  From the original's code there is no other way back.
 *         Elsewhere a base may be what a call has left in a register; here that is not enough:
 *         a base in a register that callees may overwrite is LOOSE after a call, and no such
 *         load may use it.
 */
#include <stdlib.h>

#include "verify/lookup.h"
#include "verify/tableentries.h"
#include "verify/values.h"

uint32_t vshift_read(struct bytes o, struct bytes g, int32_t *shift)
{
	enum { MOVSXD = 0x63, MOV = 0x8b, SIB_ONLY = 4, NO_BASE = 5, MOD = 0xc0, DISP8 = 0x40,
	       DISP32 = 0x80 };
	uint32_t at = o.n > 0 && (o.p[0] & 0xf0) == 0x40 ? 1 : 0;	/* of the opcode */
	bool zero = o.n == at + 4 && (o.p[at + 1] & MOD) == DISP8 && o.p[at + 3] == 0;

	if (o.n != at + 3 && !zero)
		return 0;
	uint8_t modrm = o.p[at + 1], sib = o.p[at + 2];
	if ((o.p[at] != MOVSXD && o.p[at] != MOV) || (modrm & 7) != SIB_ONLY ||
	    (!zero && ((modrm & MOD) != 0 || (sib & 7) == NO_BASE)))
		return 0;
	if (g.n < at + 7 || memcmp(o.p, g.p, at + 1) != 0 || g.p[at + 2] != sib ||
	    g.p[at + 1] != (DISP32 | (modrm & ~MOD)))
		return 0;
	memcpy(shift, g.p + at + 3, sizeof(*shift));
	return at + 7;
}

static int shifted_cmp(const void *x, const void *y)
{
	const struct vshifted *a = x, *b = y;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

void vshift_sort(struct verify *v)
{
	for (uint32_t i = 0; i < v->map.ntable; i++)
		if (v->map.table[i].kind == BLOCKMAP_TABLE_BESIDE32)
			vec_push(v->a, &v->uses.beside, v->map.table[i].orig_addr);
	verify_sort_addrs(v->uses.beside.v, v->uses.beside.n);
	if (v->uses.shifted.n)
		qsort(v->uses.shifted.v, v->uses.shifted.n, sizeof(*v->uses.shifted.v),
		      shifted_cmp);
	for (uint32_t i = 0; i < v->pointers.redirects.n; i++) {
		vaddr from = v->pointers.redirects.v[i].from;
		uint32_t fde = vcfi_find(&v->ocfi, from);

		if (fde != NO_FDE && (from != v->ocfi.fde[fde].addr || v->ocfi.fragment[fde]))
			vec_push(v->a, &v->uses.inner, from);
	}
	verify_sort_addrs(v->uses.inner.v, v->uses.inner.n);
}

uint32_t vshift_first_inner(const struct vtableuses *uses, vaddr addr)
{
	uint32_t lo = 0, hi = uses->inner.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (uses->inner.v[mid] < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct vshifted *vshift_at(const struct vtableuses *uses, vaddr addr)
{
	const struct vshifted key = { .addr = addr };

	return uses->shifted.n ? bsearch(&key, uses->shifted.v, uses->shifted.n, sizeof(key),
					 shifted_cmp) : NULL;
}

bool vshift_is(const struct vtables *vt, struct value x)
{
	return vt->all.v[x.table].kind == BLOCKMAP_TABLE_BESIDE32;
}

bool vshift_is_base(const struct vtables *vt, struct value x, vaddr table)
{
	return x.kind == BASE && !x.loose && !vt->all.v[x.table].claimed &&
	       vt->all.v[x.table].addr == table;
}

int vshift_load(struct vtables *vt, enum value_kind kind, struct value base, vaddr addr,
		struct value *out)
{
	const struct vtable *t = base.kind == BASE ? &vt->all.v[base.table] : NULL;

	if (!t || !vshift_is_base(vt, base, t->addr))
		return refuse(
			vt->v,
			"the image of the load at 0x%llx reads at another displacement, and "
			"it is not certain by which address",
			ULL(addr));
	vaddr table = t->addr;
	const struct blockmap_table *m = verify_find_table(&vt->v->map, table,
							   table + (vaddr)(int64_t)vt->shift,
							   BLOCKMAP_TABLE_BESIDE32);
	if (!m)
		return refuse(
			vt->v,
			"the image of the load at 0x%llx reads another displacement from the "
			"jump table at 0x%llx than a new one is at",
			ULL(addr), ULL(table));
	*out = (struct value){ .kind = (uint8_t)kind, .through = NGPR, .fresh = true,
			       .table = vtables_claim(vt, m) };
	return 0;
}
