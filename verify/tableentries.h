/* tableentries.h - what the bytes of a jump table say */
#ifndef VERIFY_TABLEENTRIES_H
#define VERIFY_TABLEENTRIES_H

#include "verify/parts.h"

/* Where entry i of the table leads; false when it is not in constant file bytes. */
bool verify_table_entry(const struct image *img, vaddr table, uint32_t kind, uint64_t i,
			vaddr *target);
/* An entry of a table of this group of FDEs may lead to `addr`: an instruction of it, or
 * exactly behind one of its ranges, where fillers for cases that cannot be lead. */
bool verify_is_case(const struct verify *v, uint32_t group, vaddr addr);
/* Or to the start of what looks like another function: a part of this one whose frame is
 * gone, perhaps.  Where it is not known how long a table is, it goes on behind such entries. */
bool verify_may_be_case(const struct verify *v, uint32_t group, vaddr addr);
/* Where the next jump table behind addr begins, as far as the code that uses it shows;
 * UINT64_MAX if there is none. */
vaddr verify_next_table(const struct vwalk *walk, vaddr addr);
/* The claimed table with these two addresses; NULL if there is none. */
const struct blockmap_table *verify_find_table(const struct blockmap *map, vaddr orig,
					       new_vaddr gen, uint32_t kind);
/* A new table stands for that one which has distances from the old one. */
bool verify_is_beside(const struct vtableuses *uses, vaddr table);

#endif
