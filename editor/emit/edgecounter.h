/* edgecounter.h - code that an instrumented generation has besides the original's: it counts
 *
 * A *tally* is a few instructions that add one to a counter, or that tell a routine where an
 * indirect call or jump goes.  It changes no register, no flag that is still read, and nothing
 * on the stack: where it needs room it goes below the red zone, and unwind rows say so.
 *
 * instrument.c decides where tallies are, edgecounter.c writes them, emit_*.c put them between
 * the instructions of the images.
 */
#ifndef EDITOR_EMIT_EDGECOUNTER_H
#define EDITOR_EMIT_EDGECOUNTER_H

#include <stdbool.h>

#include "lib/addr.h"
#include "binary/decode.h"

struct prog;
struct tallyroutine;

enum tally_at {			/* in this order where several are in one block */
	TALLY_BEFORE,		/* in front of an instruction */
	TALLY_TARGET,		/* likewise, of an indirect call or jump: tells its target */
	TALLY_TAKEN,		/* on the way of the taken branch */
	TALLY_FALL,		/* on the way to the next block */
	TALLY_ENTRY,		/* on the way from a jump table to a block */
};

struct tally {
	uint32_t block;
	uint8_t at;		/* enum tally_at */
	bool saved;		/* flags live: they are saved and restored; always for TARGET */
	/* BEFORE, TARGET: instruction of the block, from 0; ENTRY: block that it leads to;
	 * else 0 */
	uint32_t where;
	uint32_t counter;	/* TARGET: number of the call or jump */
	/* TARGET: jumps by itself, to the image if the target has one */
	bool jumps;
};

struct tally_fn {
	struct tally *v;	/* [n] ascending by block, at, where */
	uint32_t n;
	bool jumps;		/* some tally jumps: to images of pinned blocks */
	/* [ntable] block that jumps through the table; NO_BLOCK if several */
	uint32_t *table_user;
};

struct tallies {
	struct tally_fn *fn;	/* [nfn] */
	uint32_t nentry;	/* tallies TALLY_ENTRY of all functions */
	bool locked;		/* counters are changed by locked instructions */
	/* state + state_shift: the same with the stack TALLY_ROOM lower */
	uint32_t state_shift;
	uint32_t ncounter, nsite;
	uint64_t size;		/* of counters and slots in memory, whole pages */
	/* of counter 0; set when the place is known, as is what follows */
	new_vaddr counters;
	new_vaddr routine;	/* that is told targets ... */
	new_vaddr jump_routine;	/* ... and this one of those that jump */
	/* its and the start routine's; the caller fills what it knows */
	struct tallyroutine *code;
};

enum { TALLY_ROOM = 152, TALLY_ROOM_FROM = 8, TALLY_MAX = 128 };	/* bytes */

/* The one tally that is there, NULL if none. */
const struct tally *tally_look_up(const struct tallies *t, uint32_t fn, uint32_t block,
				  enum tally_at at, uint32_t where);
/* The same; `t` may be NULL, as it is for all generations that count nothing. */
static inline const struct tally *tally_find(const struct tallies *t, uint32_t fn,
					     uint32_t block, enum tally_at at, uint32_t where)
{
	return t ? tally_look_up(t, fn, block, at, where) : NULL;
}
/* The first of the TALLY_ENTRY of a block, *n of them; NULL if none. */
const struct tally *tally_entries(const struct tallies *t, uint32_t fn, uint32_t block,
				  uint32_t *n);

/* Writes at most TALLY_MAX bytes as they stand at `at`; returns how many.  The number does
 * not depend on the addresses, which are in reach (elfout_plan() looks).  `insn` is that of
 * TARGET, else NULL. Saved ones have the stack TALLY_ROOM lower from byte TALLY_ROOM_FROM to
 * their end. */
uint32_t tally_write(const struct tallies *t, const struct tally *tally,
		     const struct prog *prog, const struct insn *insn, new_vaddr at,
		     uint8_t *out);

#endif
