/* tableopen.c - is it certain where a table of addresses ends whose index nothing bounds?
 *
 * The first word that leads to no code is not always the end.  Arrays of labels have unused
 * entries, code may form the address of an array's middle, and of a place in front of a table
 * whose lowest index is not 0.  In each of these cases there are words near the new table's
 * entries that lead into the same function, or to where a part of it begins, which may look
 * like a function of its own.  If there are any, the end is in doubt.
 *
 * Tested by tests/unit/verify/test_casetables.c and tests/programs/openswitch.sh.
 */
#include "verify/flow.h"
#include "verify/lookup.h"
#include "verify/tableentries.h"

/* Words on either side, and those behind where the beginning of any function counts; chosen. */
enum { NEAR = 4096, NEXT = 32, SIZE = 8 };

static bool leads_in(const struct verify *v, uint32_t group, vaddr at, bool any)
{
	vaddr to;

	return verify_table_entry(&v->orig, at, BLOCKMAP_TABLE_ABS64, 0, &to) &&
	       (any ? verify_may_be_case(v, group, to) : verify_is_case(v, group, to));
}

bool verify_ends_in_doubt(const struct flow *f, const struct blockmap_table *m)
{
	const struct verify *v = f->v;
	const struct section *s = image_section_at(&v->orig, m->orig_addr);
	const vaddr start = m->orig_addr, end = start + SIZE * (vaddr)m->nentry;

	if (m->kind != BLOCKMAP_TABLE_ABS64)
		return false;
	for (vaddr at = start - SIZE * NEAR; at < end + SIZE * NEAR; at += SIZE) {
		if (at == start)
			at = end;
		if ((!s || at - s->h.sh_addr < s->h.sh_size) &&
		    leads_in(v, f->tables.group, at, at >= end && at < end + SIZE * NEXT))
			return true;
	}
	return false;
}
