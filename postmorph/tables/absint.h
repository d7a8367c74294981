/* absint.h - what is known about registers at one point of a function; internal to PostMorph
 *
 * Just enough to prove a jump table: which registers hold the table's address, an entry of it
 * or the sum of both, and upper bounds of everything else.  Bounds come from comparisons, and
 * reach copies of the compared value through names (absvalue.h).
 *
 * The states form a lattice; joining only loses knowledge, so iteration ends.
 */
#ifndef POSTMORPH_TABLES_ABSINT_H
#define POSTMORPH_TABLES_ABSINT_H

#include "postmorph/tables/absop.h"
#include "postmorph/tables/absvalue.h"
#include "postmorph/tables/spills.h"

enum { ABS_NCELL = 4, ABS_NVALUE = ABS_NREG + ABS_NCELL };
static const uint16_t ABS_CALLER_SAVED = 0x0fc7;	/* rax rcx rdx rsi rdi r8-r11 */

struct abs_cell {		/* memory that a value in v[ABS_NREG + i] was seen in */
	int64_t disp;
	uint8_t base, index, scale, bytes;	/* bytes 0: cell not in use */
	uint32_t zero;
};

struct abs_compare {		/* what the flags say: value of that name and form against n */
	uint32_t name, n;
	uint8_t form, width, valid, zero;
};

struct abs_state {
	struct abs_value v[ABS_NVALUE];
	struct abs_cell cell[ABS_NCELL];
	struct abs_compare compare;
	uint16_t flags;		/* condition flags (bits as in struct op) that come from */
	uint16_t counts;	/* rcx is a constant other than 0 */
	uint64_t flags_may;	/* ... values of these groups: bit group % 64 */
};

struct absint {
	uint32_t ngroup;
	bool *escaped;		/* [ngroup] the address is used for something else as well */
	/* [ngroup] the address will be the original's: it may be used for anything, and only
	 * loads that are movable read an entry by it */
	bool *stays;
	struct arena *arena;
	struct spills spills;	/* of the function, as far as they have been seen */
	/* groups that what was pushed anywhere may depend on: bit group % 64 */
	uint64_t pushed_may;
	/* CFA less rsp before the instruction; 0 if that is not known */
	int64_t depth;
};

/* Nothing is known: a function's entry. */
void absint_top(struct abs_state *s);
/* What the instruction makes of the condition flags that it looks at; part of absint_step(). */
void absint_test(struct absint *ai, const struct abs_state *s, const struct op *op);
/* Effect of instruction number `insn`; not for jumps and calls. */
void absint_step(struct absint *ai, struct abs_state *s, const struct op *op, uint32_t insn);
/* A call, of the kernel too.  `clobbered`: registers that the callee is known to overwrite.
 * Other caller-saved ones may keep their value, and the caller may know that: a table's
 * address stays one, for whoever reads by it relies on that. */
void absint_call(struct absint *ai, struct abs_state *s, const struct op *op,
		 uint16_t clobbered);
/* A callee may look at its arguments: a table's address or an entry among them that no jump has
 * used is there for the callee.  What was left behind by a dispatch is not. */
void absint_pass(struct absint *ai, const struct abs_state *s);
/* Control has gone through a table. */
void absint_dispatch(struct abs_state *s);
/* A direct branch, where images and originals may take turns: an entry whose base no
 * register holds is worth nothing from here on, for one of the two may form another base
 * than it was read from. */
void absint_turn(struct abs_state *s);
/* What a landing pad gets to see of s when an instruction throws: nothing is known, but
 * registers that calls preserve still depend on what they depended on.  False when none
 * depends on a table. */
bool absint_throw(const struct abs_state *s, struct abs_state *out);
/* An indirect jump.  True: through the table of out->group. */
struct abs_jump {
	uint16_t group;
	uint32_t index;		/* it is used at an index <= that */
	bool masked;		/* no comparison says so, but the way the index was made */
};
bool absint_jump(struct absint *ai, struct abs_state *s, const struct op *op,
		 struct abs_jump *out);
/* Groups whose table some register other than `but` may depend on: bit group % 64. */
uint64_t absint_may(const struct abs_state *s, uint8_t but);
void absint_escape(struct absint *ai, uint64_t may);
/* Refines s by the outcome of a conditional jump. */
void absint_branch(struct abs_state *s, unsigned condition, bool taken);
/* s <- what holds in both, at the join point before instruction `insn`.  True if s changed. */
bool absint_join(struct abs_state *s, const struct abs_state *from, uint32_t insn);

/* Nothing is known of the place in memory of cell `k` any more.  For absint.c and absjoin.c. */
void absint_drop_cell(struct abs_state *s, unsigned k);

#endif
