/* indexop.h - what one instruction means for a number that is followed backwards through it */
#ifndef VERIFY_INDEXOP_H
#define VERIFY_INDEXOP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/rd.h"

enum vplace_kind { PLACE_OTHER, PLACE_REG, PLACE_MEMORY };
enum { PLACE_NONE = 16, PLACE_RIP = 17 };	/* in place of a register's number */

struct vplace {			/* where a number is; no hidden padding */
	uint8_t kind;		/* enum vplace_kind; OTHER: no place that is followed */
	/* a register: its number; in memory: base and index, PLACE_NONE if there is none,
	 * PLACE_RIP: `at` is the address */
	uint8_t base, index, scale;
	uint32_t zero;
	int64_t at;
};

enum iop_kind {
	IOP_OTHER,		/* whatever it writes becomes unknown */
	IOP_MOVE,		/* to = from, extended */
	IOP_CONST,		/* to = value */
	IOP_MASK,		/* to is <= value: and with a constant */
	IOP_SHIFT,		/* to = to >> value: shr by a constant, less than its bits */
	IOP_CHOOSE,		/* to = to or from (cmov) */
	IOP_SCALE,		/* to = 4 * from */
	IOP_COMPARE,		/* flags tell `from` and `value` apart */
	IOP_CALL,		/* of a function or the kernel */
};

struct iop {
	uint8_t kind;			/* enum iop_kind */
	uint8_t from_bits, to_bits;	/* of IOP_COMPARE, IOP_MASK: from_bits counts */
	bool is_signed;			/* of IOP_MOVE: sign-extended */
	struct vplace from, to;
	uint64_t value;
	uint16_t writes;		/* general registers, or parts of them */
	uint16_t clears;		/* of these: written as 32 bits, the upper ones are 0 */
	bool writes_flags;		/* carry or zero */
	bool stores;			/* to memory: to `to`, if that is one, else anywhere */
};

/* What reads an entry of a jump table. */
struct vindex {
	struct vplace index;		/* a register */
	bool scaled;			/* that is 4 times the index */
};

/* Of what code begins with; false when Zydis does not know it. */
bool iop_decode(struct bytes code, vaddr addr, struct iop *out);
/* The operand of what code begins with that reads an entry by way of register `base`
 * (PLACE_NONE: at a constant address).  False: it has another form. */
bool iop_index(struct bytes code, uint8_t base, struct vindex *out);
/* The upper bound that a conditional jump of that opcode (its lowest four bits) shows when
 * taken. */
enum vlimit { LIMIT_NONE, LIMIT_AT_MOST, LIMIT_BELOW, LIMIT_EQUAL };
enum vlimit iop_limit(uint8_t condition);

bool vplace_same(const struct vplace *x, const struct vplace *y);
/* Bytes written to `to` leave alone what is in `memory`. */
bool vplace_apart(const struct vplace *memory, uint32_t bytes, const struct vplace *to,
		  uint32_t to_bytes);

#endif
