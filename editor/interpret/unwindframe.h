/* unwindframe.h - a frame of a stack that is unwound: what is known of its registers, and the
 * piece of the stack */
#ifndef EDITOR_INTERPRET_UNWINDFRAME_H
#define EDITOR_INTERPRET_UNWINDFRAME_H

#include <stdbool.h>

#include "lib/rd.h"

enum { UNWINDFRAME_SP = 7, UNWINDFRAME_BP = 6, UNWINDFRAME_PC = 16, UNWINDFRAME_NREG = 17 };

struct unwindframe {
	uint64_t reg[UNWINDFRAME_NREG];		/* by DWARF numbers; 16 is the PC */
	uint32_t known;				/* bit i: reg[i] is */
	uint64_t stack_at;			/* address of the piece */
	struct bytes stack;
};

/* A word of the stack piece; false: it is not in it. */
static inline bool unwindframe_word(const struct unwindframe *f, uint64_t addr, uint64_t *out)
{
	struct bytes b = bytes_at(f->stack, addr - f->stack_at, sizeof(*out));

	if (!b.p)
		return false;
	memcpy(out, b.p, sizeof(*out));		/* little-endian host */
	return true;
}

/* unwindexpr.c: what a DWARF expression gives, with `start` (a CFA) on its stack if it is not
 * NULL.  False: an operation that is not known, a register that is not, a word outside of the
 * piece, an error in the expression or too many steps. */
bool unwindexpr_value(const struct unwindframe *f, struct bytes expr, const uint64_t *start,
		      uint64_t *out);

#endif
