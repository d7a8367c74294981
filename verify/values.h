/* values.h - registers of original and generation side by side, for flow.c
 *
 * VALUES    of a register:
 *   SAME      equal in both runs
 *   BASE t    the original has the address of table t, the generation that or the new one's, if
 *             t is claimed; `loose`: or both have something else that is the same
 *   LOADED t  an entry of that same table, read through register `r`, which still has the base
 *   WORD t    the same before it is sign-extended
 *   SCALED    equal in both runs, and a multiple of 4: the offset of an entry
 *   KEPT      equal in both runs, unless a call has kept what it seems to overwrite, the
 *             address of a new table or an entry: no jump goes by such a one.  `step`: 0 a
 *             base, 1 an entry, 2 their sum
 *   TARGET t  base plus entry, or the entry of an absolute table: may be jumped to, for the new
 *             entry leads where the old one leads (casetables.c)
 *   UPPER     may differ but for its lowest `bits`, 8 or 16 (sete %dl); those may be used
 *   DIRTY     may differ; must not be used any more
 * Images and original text of one function may take turns, so one base may be the old and
 * another the new one; within one register they cannot be mixed up.  LOADED and WORD end when
 * register `r` is written, at calls and at indirect jumps: so the base that is added is the one
 * that was read by.  When nothing holds that one any more, another instruction may form it anew
 * (see struct line).  TARGET is good wherever it gets to: either of its two values leads where
 * the other one leads.  A table of kind BESIDE32 has no BASE of its own: LOADED comes by way of
 * the original's address (shift.c), and does not depend on what else has that.
 * Tables that are not claimed have values of the same kinds; they are equal in both runs and
 * tell only where the jump goes.  Flags computed from differing values are followed, too.
 */
#ifndef VERIFY_VALUES_H
#define VERIFY_VALUES_H

#include "verify/effect.h"
#include "verify/parts.h"

enum value_kind { SAME, SCALED, KEPT, BASE, LOADED, WORD, TARGET, UPPER, DIRTY };
enum { NGPR = 16 };

/* Two instructions of one image, or of images that run straight on from one to the next as
 * their originals do, that form the address of one new table form the same one, as long as
 * control runs straight on: of both, the images are run, or of both the originals.  Two that
 * form the original's, in their images as well, do so anyway. */
enum { LINE_ORIGINAL = UINT32_MAX };
struct line {
	/* index in map.block[] of the first such image + 1, 0: not known, or control has
	 * branched */
	uint32_t image;
	uint32_t table;		/* index in map.table[] */
};

struct value {
	uint8_t kind;		/* enum value_kind */
	/* LOADED, WORD: the register with the base; BASE: 1 + a register that it is a copy
	 * of, 0 if none */
	uint8_t through;
	uint8_t bits;		/* UPPER: how many are the same */
	uint8_t step;		/* KEPT */
	bool loose;		/* BASE: a call may have overwritten it */
	/* no jump by a table has come since the base was formed, or the entry read */
	bool fresh;
	uint32_t table;		/* index in vtables.all[] */
	/* BASE: where it was formed; LOADED, WORD: its base was (`through` is NGPR then: no
	 * register holds it) */
	struct line line;
};

struct regs {
	struct value r[NGPR];
	uint8_t flags;		/* those that may differ */
	uint64_t pushed;	/* bit i: a register that differs was pushed to 8 * i(%rsp); the
				 * highest: to there or above */
	bool count;		/* rcx is a constant other than 0 */
	bool seen;
};

struct vtable {		/* a jump table of the original */
	vaddr addr;
	uint32_t kind;
	uint32_t nentry;
	bool claimed;
	bool shown;		/* comparisons admit more than it seemed to have */
};

struct vspill {			/* spill.c */
	int64_t at;		/* from the CFA */
	uint8_t bytes, bits;	/* bits: of the lowest ones, how many are the same */
};

struct vtables {		/* those that one function uses */
	struct verify *v;
	struct arena *a;	/* lifetime of one run */
	uint32_t group;
	VEC(struct vtable) all;
	VEC(const struct blockmap_table *) claims;	/* each once */
	VEC(struct vspill) spills;
	int32_t shift;		/* of the instruction at hand: vshift_at() */
	bool spilled;		/* there are more of them than there were */
	/* CFA less rsp before the instruction; 0 if that is not known */
	int64_t depth;
};

/* usedtables.c: the number of the table at addr; claimed ones are there from the beginning,
 * others are found by what they hold.  False: no table. */
bool vtables_find(struct vtables *vt, vaddr addr, uint32_t kind, uint32_t *number);
/* usedtables.c: two new tables may stand for one of the original.  The number. */
uint32_t vtables_claim(struct vtables *vt, const struct blockmap_table *m);
/* usedtables.c: the two runs may have different values. */
bool vvalue_differs(const struct vtables *vt, struct value x);
/* Perhaps what a call has kept: the address of a new table and an entry of it. */
bool vvalue_is_sum(struct value x);
/* usedtables.c: refuses the instruction at addr, which uses such a value; -1. */
int vtables_misuse(struct vtables *vt, vaddr addr);

/* Joins `from` into `to`; true when `to` has changed. */
bool vregs_join(const struct vtables *vt, struct regs *to, const struct regs *from);
/* Control branches: who is run from here on, images or originals, is open. */
void vregs_branch(const struct vtables *vt, struct regs *regs);
/* A transfer of control that is no direct branch: LOADED does not survive it. */
void vregs_transfer(const struct vtables *vt, struct regs *regs);
/* A call of the instruction at addr gets arguments: -1 when one is a base, an entry or a target
 * that no jump has used. */
int vregs_pass(struct vtables *vt, const struct regs *regs, vaddr addr);
/* Behind a call that seems to overwrite registers `written`, or at a landing pad. */
void vregs_return(const struct vtables *vt, uint16_t written, struct regs *regs);
/* Effect of the instruction at addr; `line` says where it forms a base.  -1 when it misuses
 * one. */
int vregs_apply(struct vtables *vt, const struct effect *e, struct line line, vaddr addr,
		struct regs *regs);
/* spill.c: a register that is the same in its lowest `bits` goes to the frame; -1: it may
 * not. */
int vspill_note(struct vtables *vt, const struct effect *e, uint8_t bits, vaddr addr);
/* spill.c: how many of the lowest bits that the instruction reads in the frame are the same;
 * UINT32_MAX: all. */
uint32_t vspill_same_bits(const struct vtables *vt, const struct effect *e);

/* shift.c: the entry or target is of a table of kind BESIDE32. */
bool vshift_is(const struct vtables *vt, struct value x);
/* Both runs have that table's address. */
bool vshift_is_base(const struct vtables *vt, struct value x, vaddr table);
/* The load at addr, whose image reads an entry at another displacement from `base`. */
int vshift_load(struct vtables *vt, enum value_kind kind, struct value base, vaddr addr,
		struct value *out);

#endif
