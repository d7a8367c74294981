/* tableload.h - rewrites the instruction that reads a jump table's entry */
#ifndef POSTMORPH_TABLES_TABLELOAD_H
#define POSTMORPH_TABLES_TABLELOAD_H

#include "lib/rd.h"

enum { TABLELOAD_MAX = 8 };	/* bytes of the longest one with a displacement */

/* `code` is exactly movslq (base,index,scale), or mov of 32 bits, to a register, without a
 * displacement: how many bytes the same has with one of 32 bits.  0: it is something else,
 * or has an odd form. */
uint32_t tableload_size(struct bytes code);
/* Writes it, with the displacement `shift`. */
void tableload_write(struct bytes code, int32_t shift, uint8_t *out);

/* What may stand in front of that: `cmp $n, index; jae` to somewhere else. */
enum { TABLELOAD_GUARD_MAX = 13 };
/* Its bytes; 0: the index is none of its own, or picks no entries of 4 bytes. */
uint32_t tableload_guard_size(struct bytes code, uint32_t n);
/* Writes it; the last 4 bytes, where the jump goes to, are left to the caller. */
void tableload_guard_write(struct bytes code, uint32_t n, uint8_t *out);

#endif
