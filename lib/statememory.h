/* statememory.h - what came with a sample of the memory that the program's registers point to
 *
 * Of each general register the bytes around where it points, and of the first words there, if
 * they are pointers, the bytes where those point: SLOTS places, of which those come that could
 * be read without waiting.  Where a slot is follows from the registers and the slots before it,
 * so addresses are not told:
 *
 *   u64 mask, bit i: slot i has come | the bytes of each that has, ascending
 *
 * Register r, by its number in machine code, has the slots from r * PER_GPR on.  The first is
 * REACH bytes from BACK below where it points, that rounded down to a multiple of 8; w + 1
 * behind it is CHASE bytes from where word w at that place points, and comes only if the first
 * does.
 */
#ifndef LIB_STATEMEMORY_H
#define LIB_STATEMEMORY_H

#include "lib/rd.h"

enum {
	STATEMEMORY_GPRS = 16,
	STATEMEMORY_BACK = 32, STATEMEMORY_REACH = 160,		/* bytes, multiples of 8 */
	STATEMEMORY_CHASED = 3, STATEMEMORY_CHASE = 64,		/* words; bytes */
	STATEMEMORY_PER_GPR = 1 + STATEMEMORY_CHASED,
	STATEMEMORY_SLOTS = STATEMEMORY_GPRS * STATEMEMORY_PER_GPR,
	STATEMEMORY_SLOTS_BYTES =
		STATEMEMORY_GPRS * (STATEMEMORY_REACH + STATEMEMORY_CHASED * STATEMEMORY_CHASE),
	STATEMEMORY_MAX = 8 + STATEMEMORY_SLOTS_BYTES,
};

struct statememory_piece {
	uint64_t at;		/* run-time address of b.p[0] */
	struct bytes b;
};

/* Where the first slot of a register is, and where in it word w that is chased. */
static inline uint64_t statememory_at(uint64_t gpr)
{
	return (gpr & ~UINT64_C(7)) - STATEMEMORY_BACK;
}

static inline unsigned statememory_word_at(unsigned w)
{
	return STATEMEMORY_BACK + 8 * w;
}

/* The bytes of memory that begin at `b`, which may go on behind it; 0: they are malformed. */
uint64_t statememory_bytes(struct bytes b);
/* The pieces that came, their number, at most STATEMEMORY_SLOTS; -1 when `memory` is
 * malformed. */
int statememory_pieces(const uint64_t gpr[STATEMEMORY_GPRS], struct bytes memory,
		       struct statememory_piece out[STATEMEMORY_SLOTS]);

#endif
