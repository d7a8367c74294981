/* casetables.c - a new jump table leads where the old one leads
 *
 * ENTRIES   Each entry of the new table leads to the image of what the original's entry leads
 *           to, or to that address itself; in a counting generation perhaps by a stub, which
 *           counts.
 *           Entries behind the start of another table are not used, unless a comparison admits
 *           them, and may lead inside an entry jump.
 * PLACE     The original's entries are constant (not in a writable segment), and so are the new
 *           ones.
 *
 * The use of a new table is dataflow.c's matter, and so is its length.
 */
#include <stdlib.h>

#include "verify/flagsdead.h"
#include "verify/lookup.h"
#include "verify/tableentries.h"

/* A way that is counted goes by a stub, which changes flags. */
static bool leads_by_stub(struct verify *v, vaddr want, new_vaddr *have)
{
	const struct vstub *stub = verify_find_stub(v, *have);

	if (!stub)
		return true;
	*have = stub->to;
	return verify_flags_dead(v, want);
}

/* Where entry i of the new table leads. */
static bool new_entry(const struct verify *v, const struct blockmap_table *t, uint64_t i,
		      new_vaddr *to)
{
	if (!verify_table_entry(&v->gen, t->new_addr, t->kind, i, to))
		return false;
	if (t->kind == BLOCKMAP_TABLE_BESIDE32)		/* distances from another place */
		*to += t->orig_addr - t->new_addr;
	return true;
}

static int check_entries(struct verify *v, const struct blockmap_table *t)
{
	vaddr end = verify_next_table(&v->walk, t->orig_addr);
	uint64_t size = blockmap_entry_size(t->kind);

	for (uint32_t i = 0; i < t->nentry; i++) {
		bool used = t->orig_addr + i * size < end;
		vaddr want;
		new_vaddr have;

		if (!verify_table_entry(&v->orig, t->orig_addr, t->kind, i, &want))
			return refuse(v, "entry %u of the jump table at 0x%llx is not constant",
				      i, ULL(t->orig_addr));
		if (!verify_is_fresh(v, t->new_addr) ||
		    !new_entry(v, t, i, &have))
			return refuse(v, "the new jump table at 0x%llx is not in a new segment",
				      ULL(t->new_addr));
		if (!used && verify_is_cut(v, want))
			continue;
		if (!leads_by_stub(v, want, &have))
			return refuse(v, "what counts entry %u of the jump table at 0x%llx "
				      "changes flags that are read", i, ULL(t->orig_addr));
		if (!(used ? verify_leads : verify_may_lead)(v, want, have))
			return refuse(
				v,
				"entry %u of the jump table at 0x%llx leads to 0x%llx, in the "
				"new table at 0x%llx to 0x%llx",
				i, ULL(t->orig_addr), ULL(want), ULL(t->new_addr), ULL(have));
	}
	return 0;
}

int verify_casetables(struct verify *v)
{
	for (uint32_t i = 0; i < v->map.ntable; i++)
		if (check_entries(v, &v->map.table[i]) < 0)
			return -1;
	return 0;
}
