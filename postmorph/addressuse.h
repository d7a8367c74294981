/* addressuse.h - what code does with an address that it has formed; internal to PostMorph */
#ifndef POSTMORPH_ADDRESSUSE_H
#define POSTMORPH_ADDRESSUSE_H

#include <stdbool.h>

#include "lib/rd.h"

/* `code` begins behind an instruction that left the address of a function in general register `reg`
 * (0..15 in encoding order).  True when something is calculated from it, or memory is read or
 * written by it, or it is compared with another address by order; false when it is only handed
 * on, called, or compared for equality, as far as straight line code shows. */
bool address_is_calculated_with(struct bytes code, uint8_t reg);

/* `code` is that of a block that ends in an indirect jump.  True when the jump goes to an address
 * that the block, or the jump itself, took from memory as it was; with `any` also to one that the
 * block got in another way, but not to one that it found in a register. */
bool address_is_fetched(struct bytes code, bool any);

#endif
