/* usedtables.c - the jump tables that one function uses, numbered for values.c
 *
 * A run of the data flow (flow.c) knows from the start the tables that have a new one
 * ("claimed").  It finds others when an instruction forms an address at which entries of the
 * function stand.
 *
 * Tested by tests/unit/verify/test_casetables.c and test_dataflow.c.
 */
#include "verify/lookup.h"
#include "verify/tableentries.h"
#include "verify/values.h"

bool vvalue_differs(const struct vtables *vt, struct value x)
{
	if (x.kind == SAME || x.kind == SCALED || x.kind == KEPT)
		return false;
	if (x.kind == UPPER || x.kind == DIRTY)
		return true;
	return vt->all.v[x.table].claimed;
}

/* A table ends where the next one begins, at the latest. */
static uint32_t max_entries(const struct vtables *vt, vaddr addr, uint32_t kind)
{
	enum { MAX_SCAN = 65536 };	/* bounds the work; chosen, not measured */
	uint64_t n = (verify_next_table(&vt->v->walk, addr) - addr) /
		     blockmap_entry_size(kind);

	return n < MAX_SCAN ? (uint32_t)n : MAX_SCAN;
}

bool vtables_find(struct vtables *vt, vaddr addr, uint32_t kind, uint32_t *number)
{
	vaddr to;
	bool own = false;
	uint32_t n = 0, max = max_entries(vt, addr, kind);

	for (uint32_t i = 0; i < vt->all.n; i++)
		if (vt->all.v[i].addr == addr && vt->all.v[i].kind == kind) {
			*number = i;
			return true;
		}
	if (verify_is_start(vt->v, addr))	/* code */
		return false;
	for (; n < max && verify_table_entry(&vt->v->orig, addr, kind, n, &to) &&
	       verify_may_be_case(vt->v, vt->group, to); n++)
		own |= verify_is_case(vt->v, vt->group, to);
	if (!own && !(kind == BLOCKMAP_TABLE_REL32 && verify_is_beside(&vt->v->uses, addr)))
		return false;
	struct vtable t = { .addr = addr, .kind = kind, .nentry = n };
	*number = vt->all.n;
	vec_push(vt->a, &vt->all, t);
	return true;
}

static void note_claim(struct vtables *vt, const struct blockmap_table *m)
{
	for (uint32_t i = 0; i < vt->claims.n; i++)
		if (vt->claims.v[i] == m)
			return;
	vec_push(vt->a, &vt->claims, m);
}

uint32_t vtables_claim(struct vtables *vt, const struct blockmap_table *m)
{
	uint32_t max = max_entries(vt, m->orig_addr, m->kind), number;
	struct vtable t = { .addr = m->orig_addr, .kind = m->kind, .claimed = true,
			    .nentry = m->nentry < max ? m->nentry : max };

	note_claim(vt, m);

	if (!vtables_find(vt, m->orig_addr, m->kind, &number)) {
		vec_push(vt->a, &vt->all, t);
		return vt->all.n - 1;
	}
	if (vt->all.v[number].nentry < t.nentry)
		vt->all.v[number].nentry = t.nentry;
	vt->all.v[number].claimed = true;
	return number;
}

int vtables_misuse(struct vtables *vt, vaddr addr)
{
	return refuse(vt->v, "the instruction at 0x%llx uses what comes from the address of a "
		      "replaced jump table for something else", ULL(addr));
}
