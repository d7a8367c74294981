/* insntime.h - what a single instruction needs and how long it takes at best
 *
 * Latencies and throughputs are the smallest that processors of the last ten years have by the
 * tables of A. Fog and of uops.info, so that no time that is computed of them is more than the
 * processor needs: data are in the first-level cache, branches are predicted, and a divisor is
 * an easy one.
 */
#ifndef POSTMORPH_MACHINE_INSNTIME_H
#define POSTMORPH_MACHINE_INSNTIME_H

#include "postmorph/ir/ir.h"

enum insntime_class {
	INSNTIME_PLAIN, INSNTIME_MULTIPLY, INSNTIME_DIVIDE, INSNTIME_FLOAT, INSNTIME_LOAD,
	INSNTIME_STORE, INSNTIME_BRANCH, NINSNTIME_CLASS
};

/* Registers as bits: 0 to 15 general ones, 16 the flags, from 17 on vectors. */
enum { INSNTIME_FLAGS = 16, INSNTIME_VECTOR = 17, INSNTIME_REGISTERS = 49 };

struct insntime_memory {	/* an operand; the same registers mean the same address as long
				 * as nothing writes them */
	uint8_t base, index, scale, size;	/* registers; 255: none */
	int64_t disp;
};

struct insntime {
	uint64_t reads, writes;		/* registers; those of addresses are in `address` */
	uint64_t address;
	uint64_t moved;			/* not in `writes`: the stack pointer by push, pop,
					 * call and ret, in no time where they are decoded */
	bool load, store;
	struct insntime_memory memory;	/* of either */
	uint8_t class;			/* enum insntime_class */
	double latency;			/* from its operands to its result, without a load's */
	double busy;			/* cycles until the next one of its class can begin */
};

/* Cycles from an address to what is loaded from there. */
#define INSNTIME_LOAD_CYCLES 4.0

/* What does not decode needs nothing and takes one cycle. */
void insntime_of(const struct prog *prog, const struct insn *insn, struct insntime *out);

#endif
