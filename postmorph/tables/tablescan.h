/* tablescan.h - reads what may be a jump table; internal to PostMorph */
#ifndef POSTMORPH_TABLES_TABLESCAN_H
#define POSTMORPH_TABLES_TABLESCAN_H

#include "lib/blockmap.h"
#include "postmorph/ir/text.h"

struct tablescan {
	/* [nentry] where the words lead, as far as they look like entries */
	vaddr *target;
	uint32_t nentry;
	/* the first word leads inside, so that this is one for anybody */
	bool begins;
};

static inline uint32_t tablescan_entry_size(uint32_t kind)
{
	return kind == BLOCKMAP_TABLE_REL32 ? 4 : 8;
}

/* False when what stands at addr has no entry that leads into fn.  `kind` is an enum
 * blockmap_table_kind; the targets live in `a`. */
bool tablescan(const struct text *t, struct arena *a, const struct fn *fn, vaddr addr,
	       uint32_t kind, struct tablescan *out);
/* The table is known to have so many entries, more than its run: they become part of it,
 * wherever they lead.  False, and nothing done, when one leads to no instruction. */
bool tablescan_extend(const struct text *t, struct arena *a, const struct fn *fn, vaddr addr,
		      uint32_t kind, uint32_t nentry, struct tablescan *scan);
/* A lea of `user` forms that address: what stands there may be a table of that function, and
 * ends those of others.  Once all are noted, they are sorted. */
void tablescan_note(struct text *t, const struct fn *user, vaddr addr);
void tablescan_sort(struct text *t);
/* Whatever an instruction of fn forms the address of, what stands there might be taken for a
 * table of it.  Entries of that which lead inside the entry jump of a function are marked as
 * targets of tables: the function stays.  Needs t->pass. */
void tablescan_guard(const struct text *t, const struct fn *fn);
/* addr is exactly behind a part of fn: no case begins there. */
bool tablescan_is_filler(const struct text *t, const struct fn *fn, vaddr addr);

#endif
