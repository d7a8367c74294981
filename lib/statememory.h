/* statememory.h - the memory that registers point to, as it comes with a sample
 *
 * For each general register there are the bytes around the place that it points to and, for the
 * first words at that place, the bytes that each of these points to, if it is a pointer.  These
 * are SLOTS slots; only slots that could be read without waiting come with a sample.  The
 * address of a slot follows from the registers and the slots before it, so addresses are not
 * stored:
 *
 *   u64 mask, bit i: slot i has come | the bytes of each slot that has come, ascending
 *
 * Register r, by its number in machine code, has the slots from r * PER_GPR on.  The first
 * holds REACH bytes from BACK below the place that r points to, which is rounded down to a
 * multiple of 8.  Slot w + 1 behind it holds CHASE bytes from the address in word w at that
 * place; it comes only if the first one does.
 *
 * The sizes were chosen together; as they are, branches told by a sample of perl rose from 0.9
 * to 5.6 and of cc1 from 1.5 to 5.8.  Other sizes were not measured.
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

/* The address of a register's first slot, and the offset in it of word w that is followed. */
static inline uint64_t statememory_at(uint64_t gpr)
{
	return (gpr & ~UINT64_C(7)) - STATEMEMORY_BACK;
}

static inline unsigned statememory_word_at(unsigned w)
{
	return STATEMEMORY_BACK + 8 * w;
}

/* How many bytes the mask and the slots at the start of `b` take; `b` may go on behind them.
 * 0: they are malformed. */
uint64_t statememory_bytes(struct bytes b);
/* Fills out[] with the slots that came, and returns how many, at most STATEMEMORY_SLOTS; -1
 * when `memory` is malformed. */
int statememory_pieces(const uint64_t gpr[STATEMEMORY_GPRS], struct bytes memory,
		       struct statememory_piece out[STATEMEMORY_SLOTS]);

#endif
