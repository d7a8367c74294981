/* addressuse.h - follows what code does with an address that it has formed; internal to
 * PostMorph */
#ifndef POSTMORPH_REFS_ADDRESSUSE_H
#define POSTMORPH_REFS_ADDRESSUSE_H

#include <stdbool.h>

#include "postmorph/ir/text.h"

enum address_use {
	USE_NAME,	/* handed on, called, or compared for equality: it names a function */
	/* something is calculated from it, or memory accessed by it, perhaps by a callee */
	USE_CALCULATED,
	USE_SUBTRACTED,	/* the same: something else is subtracted from it */
	USE_ROUNDED,	/* the same: its low bits are cleared */
	USE_ORDERED,	/* something is asked to be above or below it, or how far */
};

/* The instruction in front of `at` has left the address of a function in general register
 * `reg` (0..15 in encoding order): what is done with it first, as far as straight line code
 * shows.  `call`, if not NULL: the first call before that which has it as an argument, 0 if
 * none has. */
enum address_use address_use(const struct text *t, vaddr at, uint8_t reg, vaddr *call);

/* The same for the address of a label, behind which `code` begins: true when it is copied and
 * stored, and nothing else is done with it until the line ends. */
bool address_is_only_kept(struct bytes code, uint8_t reg);

/* In front of `at` is a comparison with an address: does the code ask for more than whether
 * that is equal? */
bool address_is_ordered(const struct text *t, vaddr at);

enum jump_way {
	WAY_CALCULATED,	/* perhaps: to what no line below describes */
	WAY_BROUGHT,	/* to what a register held when the block began */
	/* to what the block, or the jump itself, took from memory as it was, from no frame */
	WAY_FETCHED,
	WAY_TABLE,  /* to an entry of a table plus the address by which the block read that */
};

/* `code` is that of a block that ends in an indirect jump: where that gets its target from;
 * `reg`: in which register; not set where that is memory. */
enum jump_way address_way(struct bytes code, uint8_t *reg);
/* Registers that the block has written; and those that hold in the end what was fetched. */
struct address_origins {
	uint16_t fetched, written;
};

struct address_origins address_origins(struct bytes code);
/* Where register `reg` got what it holds at the end of the block `code`. */
enum jump_way address_origin(struct bytes code, uint8_t reg);

#endif
