/* edgecounter.h - the instructions that count in an instrumented generation
 *
 * An *edge counter* is a few instructions that an instrumented generation has besides the
 * original's.  They add one to a counter in memory, or they pass the target of an indirect call
 * or jump to the counter runtime (counterruntime.h), which counts by target.  They change no
 * register, no flag that is still read, and nothing on the stack: where they need room they
 * take it below the red zone, and unwind rows say so.
 *
 * instrument.c decides where edge counters stand, edgecounter.c writes the instructions of one,
 * emit_*.c put them between the instructions of the images.
 */
#ifndef EDITOR_EMIT_EDGECOUNTER_H
#define EDITOR_EMIT_EDGECOUNTER_H

#include <stdbool.h>

#include "lib/addr.h"
#include "binary/decode.h"

struct prog;
struct counterruntime;

enum edgecounter_at {		/* in this order where several are in one block */
	EDGECOUNTER_BEFORE,	/* in front of an instruction */
	EDGECOUNTER_TARGET,	/* likewise, of an indirect call or jump: records its target */
	EDGECOUNTER_TAKEN,	/* on the taken edge of the branch at the block's end */
	EDGECOUNTER_FALL,	/* on the fall-through edge */
	EDGECOUNTER_ENTRY,	/* on the edge from a jump table to a block */
};

struct edgecounter {
	uint32_t block;		/* that it counts in, or whose edge it counts */
	uint8_t at;		/* enum edgecounter_at */
	/* flags live here: they are saved and restored; always true for TARGET */
	bool saved;
	/* BEFORE, TARGET: instruction of the block, from 0; ENTRY: the block that the edge
	 * leads to; else 0 */
	uint32_t where;
	uint32_t number;	/* of the counter; TARGET: of the call or jump */
	/* TARGET: does the jump itself, to the image if the target has one */
	bool jumps;
};

struct edgecounter_fn {
	struct edgecounter *v;	/* [n] ascending by block, at, where */
	uint32_t n;
	uint32_t *first;	/* [nblock + 1] of each block's, in v; NULL if there are none */
	bool jumps;		/* some of them jump: to images of pinned blocks */
	/* [ntable] the block that jumps through the table; NO_BLOCK if several do */
	uint32_t *table_user;
};

/* All edge counters of a generation.  instrument.c fills it but for the addresses, which emit.c
 * sets when it has placed the new text. */
struct edgecounters {
	struct edgecounter_fn *fn;	/* [nfn] */
	uint32_t nentry;	/* edge counters EDGECOUNTER_ENTRY of all functions */
	bool locked;		/* counters are changed by locked instructions */
	/* cfi.state[i + state_shift] is cfi.state[i] with the stack EDGECOUNTER_ROOM lower */
	uint32_t state_shift;
	uint64_t size;		/* bytes of counters and slots in memory, whole pages */
	new_vaddr counter_addr;		/* of counter 0; each has 8 bytes */
	new_vaddr runtime_target;	/* where TARGET calls the counter runtime ... */
	new_vaddr runtime_jump;		/* ... and where it does so if it jumps */
	/* the counter runtime's data; instrument.c owns it and fills what it knows */
	struct counterruntime *runtime;
};

enum {				/* bytes */
	EDGECOUNTER_ROOM = 152,		/* the red zone, and 24 to save registers in */
	EDGECOUNTER_ROOM_FROM = 8,	/* size of the instruction that makes the room */
	EDGECOUNTER_MAX = 128,		/* of the instructions of one; asserted */
};

/* The edge counter at that place of block `block` of function `fn`, NULL if there is none.
 * `where` is as in struct edgecounter. */
const struct edgecounter *edgecounter_look_up(const struct edgecounters *all, uint32_t fn,
					      uint32_t block, enum edgecounter_at at,
					      uint32_t where);
/* The same; `all` may be NULL, as it is for all generations that count nothing. */
static inline const struct edgecounter *
edgecounter_find(const struct edgecounters *all, uint32_t fn, uint32_t block,
		 enum edgecounter_at at, uint32_t where)
{
	return all ? edgecounter_look_up(all, fn, block, at, where) : NULL;
}
/* The first EDGECOUNTER_ENTRY of a block, *n of them one after another; NULL if there are none.
 * `all` may be NULL. */
const struct edgecounter *edgecounter_entries(const struct edgecounters *all, uint32_t fn,
					      uint32_t block, uint32_t *n);

/* Writes the instructions of `counter` as they stand at address `at`; returns how many bytes,
 * at most EDGECOUNTER_MAX.  The size does not depend on the addresses, so that an address of 0
 * gives it before anything is placed; that all is in reach of 32 bits emit.c has checked.
 * `insn` is the call or jump of TARGET, else NULL.  If `saved`, the stack is EDGECOUNTER_ROOM
 * lower from byte EDGECOUNTER_ROOM_FROM to the end. */
uint32_t edgecounter_write(const struct edgecounters *all, const struct edgecounter *counter,
			   const struct prog *prog, const struct insn *insn, new_vaddr at,
			   uint8_t *out);

#endif
