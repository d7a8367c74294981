/* unwindwalk.c - the callers on a piece of a stack
 *
 * Where the code has an unwind row, that says where the frame ends (CFA), and where the return
 * address and the caller's registers are.  Where it has none, the frame pointer does, if it
 * points into the piece: code without rows mostly keeps one.  Where such code was interrupted
 * it may not have set it up (leaves often never do), and its caller is passed over: that is
 * told.
 *
 * WHOLE    is a stack that ends in code whose row says that nobody called it (start of a
 *          program or a thread), at a return address of 0, or in code of a file without rows
 *          that was called with a frame pointer of 0, which by the ABI marks the outermost
 *          frame.  In all other cases it is cut off.
 * SIGNALS  A frame that a signal made has rows that find the registers of the interrupted code
 *          where the kernel put them; its PC is that of an instruction, not behind a call.
 *
 * INVARIANTS
 *   I1  only the piece of the stack, known registers and the tables are read;
 *   I2  the stack pointer grows with each frame, so it ends, and besides after
 *       CALLSTACK_DEPTH_MAX of them.
 *
 * Tested by tests/unit/editor/interpret/test_unwindwalk.c.
 */
#include "editor/interpret/unwindwalk.h"

#include "editor/interpret/unwindframe.h"

enum { GPRS = 16, WORD = 8, ENCODED_CX = 1, ENCODED_SP = 4 };
/* rbx rbp r12..r15: by the ABI the caller's, unless a row says where they are */
enum { CALLEE_SAVED = 0xf048 };
#define USER_END (UINT64_C(1) << 47)

/* DWARF numbers to encoding order. */
static const uint8_t encoded[GPRS] = { 0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };

struct walk {
	const struct unwindwalk *w;
	struct bytes space;
	struct unwindframe f;
	bool exact;		/* the PC is where it goes on, else what a call returns to */
	bool called;		/* f is the frame of a caller */
	bool guessed;
};

/* One frame outwards: ON, or how it ends. */
enum { ON = -1 };

/* --- by a row --- */

static bool value_of(const struct unwindframe *f, const struct cfi_rule *rule, int reg,
		     uint64_t cfa, uint64_t *out)
{
	uint64_t at;

	switch ((enum cfi_kind)rule->kind) {
	case CFI_UNSPEC:
		*out = f->reg[reg];
		return CALLEE_SAVED >> reg & f->known >> reg & 1;
	case CFI_SAME:
		*out = f->reg[reg];
		return f->known >> reg & 1;
	case CFI_OFFSET:
		return unwindframe_word(f, cfa + (uint64_t)rule->off, out);
	case CFI_VAL_OFFSET:
		*out = cfa + (uint64_t)rule->off;
		return true;
	case CFI_REGISTER:
		if (rule->off < 0 || rule->off >= UNWINDFRAME_NREG)
			return false;
		*out = f->reg[rule->off];
		return f->known >> rule->off & 1;
	case CFI_EXPR:
		return unwindexpr_value(f, rule->expr, &cfa, &at) &&
		       unwindframe_word(f, at, out);
	case CFI_VAL_EXPR:
		return unwindexpr_value(f, rule->expr, &cfa, out);
	case CFI_UNDEFINED:
		break;
	}
	return false;
}

static bool cfa_of(const struct unwindframe *f, const struct unwindtable_row *row,
		   uint64_t *out)
{
	if (row->cfa_is_expr)
		return unwindexpr_value(f, row->cfa_expr, NULL, out);
	if (row->cfa_reg >= UNWINDFRAME_NREG || !(f->known >> row->cfa_reg & 1))
		return false;
	*out = f->reg[row->cfa_reg] + (uint64_t)row->cfa_off;
	return true;
}

static int by_row(struct walk *k, const struct unwindtable_row *row)
{
	struct unwindframe *f = &k->f, to = *f;
	const struct cfi_rule *ra = &row->reg[CFI_RA];
	uint64_t cfa;

	if (ra->kind == CFI_UNDEFINED)
		return CALLSTACK_WHOLE;
	if (!cfa_of(f, row, &cfa))
		return CALLSTACK_NO_ROW;
	if (ra->kind == CFI_UNSPEC || ra->kind == CFI_SAME)
		return CALLSTACK_NO_ROW;
	to.known = 0;
	for (int i = 0; i < UNWINDFRAME_NREG; i++)
		if (value_of(f, &row->reg[i], i, cfa, &to.reg[i]))
			to.known |= UINT32_C(1) << i;
	if (row->reg[UNWINDFRAME_SP].kind == CFI_UNSPEC) {
		to.reg[UNWINDFRAME_SP] = cfa;
		to.known |= UINT32_C(1) << UNWINDFRAME_SP;
	}
	/* mostly it is just below the CFA */
	if (!(to.known >> UNWINDFRAME_PC & 1))
		return cfa > f->stack_at && cfa - f->stack_at > f->stack.n ? CALLSTACK_SHORT
									   : CALLSTACK_NO_ROW;
	if (!(to.known >> UNWINDFRAME_SP & 1))
		return CALLSTACK_NO_ROW;
	*f = to;
	k->exact = row->signal_frame;
	return ON;
}

/* --- by the frame pointer --- */

/* `mapped`: the code is in a mapping of a file; `table`: whose rows are known. */
static int by_frame_pointer(struct walk *k, bool mapped, bool table)
{
	struct unwindframe *f = &k->f;
	uint64_t bp = f->reg[UNWINDFRAME_BP], up, back;
	struct callstack_mapping m;

	if (!(f->known >> UNWINDFRAME_BP & 1))
		return CALLSTACK_NO_ROW;
	if (bp == 0 && k->called && table)
		return CALLSTACK_WHOLE;
	if (bp % WORD || bp < f->reg[UNWINDFRAME_SP])
		return CALLSTACK_NO_ROW;
	if (!unwindframe_word(f, bp, &up) || !unwindframe_word(f, bp + WORD, &back))
		return CALLSTACK_NO_ROW;
	if (back == 0)
		return k->called && table ? CALLSTACK_WHOLE : CALLSTACK_NO_ROW;
	/* code made at run time calls some of its kind, and else hardly what has no rows */
	if (mapped && !callstack_mapping_at(k->space, back - 1, &m))
		return CALLSTACK_NO_ROW;
	f->known = UINT32_C(1) << UNWINDFRAME_BP | UINT32_C(1) << UNWINDFRAME_SP |
		   UINT32_C(1) << UNWINDFRAME_PC;
	f->reg[UNWINDFRAME_BP] = up;
	f->reg[UNWINDFRAME_SP] = bp + 2 * WORD;
	f->reg[UNWINDFRAME_PC] = back;
	k->guessed |= k->exact;
	k->exact = false;
	return ON;
}

/* --- all --- */

static int step(struct walk *k)
{
	struct unwindtable_row row;
	struct callstack_mapping m;
	uint64_t sp = k->f.reg[UNWINDFRAME_SP], pc = k->f.reg[UNWINDFRAME_PC];
	uint64_t at = k->exact ? pc : pc - 1;
	bool mapped = callstack_mapping_at(k->space, at, &m);
	bool table = mapped && m.table != CALLSTACK_NO_TABLE && m.table < k->w->ntable;
	bool has_row = table && unwindtable_find(&k->w->table[m.table],
						 m.off + (at - m.start), &row);
	int rc = has_row ? by_row(k, &row) : by_frame_pointer(k, mapped, table);

	if (rc != ON)
		return rc;
	pc = k->f.reg[UNWINDFRAME_PC];
	if (pc == 0)
		return CALLSTACK_WHOLE;
	if (k->f.reg[UNWINDFRAME_SP] <= sp || pc >= USER_END)
		return CALLSTACK_NO_ROW;
	k->called = true;
	return ON;
}

void unwindwalk_sample(const struct unwindwalk *w, struct bytes space,
		       const struct callstack_sample *s, struct callstack *out)
{
	struct walk k = { .w = w, .space = space, .exact = true };
	int rc = ON;

	for (int i = 0; i < GPRS; i++)
		k.f.reg[i] = s->gpr[encoded[i]];
	k.f.reg[UNWINDFRAME_PC] = s->pc;
	k.f.known = (UINT32_C(1) << UNWINDFRAME_NREG) - 1;
	k.f.stack_at = s->gpr[ENCODED_SP];
	k.f.stack = s->stack;
	/* a system call has left the return address in rcx; else the kernel came in there */
	if (s->kernel && s->gpr[ENCODED_CX] == s->pc)
		k.exact = false;
	out->n = 0;
	while (rc == ON && out->n < CALLSTACK_DEPTH_MAX) {
		out->addr[out->n++] = k.f.reg[UNWINDFRAME_PC] - !k.exact;
		rc = step(&k);
	}
	out->guessed = k.guessed;
	out->end = rc == ON ? CALLSTACK_DEEP : (enum callstack_end)rc;
}
