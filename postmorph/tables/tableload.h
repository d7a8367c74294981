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

#endif
