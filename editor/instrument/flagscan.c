/* flagscan.c - looks ahead in the original's code for who reads the flags first
 *
 * WAYS      go on through direct jumps, both ways of a branch, and into the callee of a direct
 *           call.  By the ABI no flag is read by code that is reached through a pointer or in
 *           another module, before it has written it: a computed jump where the stack is as at
 *           the function's entry is a tail call.  A trap ends the way: what a handler finds in
 *           the flags of its context is not looked at.  Behind any other computed jump, and a
 *           system call, which hands the flags to the program in %r11, flags count as read.
 *           So they do where the looking ahead ends.
 *
 * RETURNS   By the ABI nobody reads flags behind a call, either.  Assembly does not always keep
 *           to that: flags are live at the returns of a function if they are live behind a call
 *           of it, or of one that jumps to it, and at all returns if they are behind a call
 *           through a pointer.  Calls that never come back are among these, followed by who
 *           knows what: that costs the callee, which does not return.
 *
 * Tested by tests/unit/editor/instrument/test_flagscan.c, and by tests/programs/counting.sh:
 * the Verifier agrees.
 */
#include "editor/instrument/flagscan.h"

#include "binary/decode.h"
#include "postmorph/machine/flags.h"

/* Instructions that are looked at, branches that are; chosen, not measured.  The Verifier looks
 * farther. */
enum { MAX_STEPS = 400, MAX_BRANCHES = 6 };
enum { COUNTED = FLAGS_ALL & ~FLAGS_CF };	/* what `inc` changes */

struct flagscan {
	const struct prog *prog;
	bool *returns_live;		/* [nfn] */
	bool all_live, changed;
};

struct look {
	const struct flagscan *s;
	int steps;
};

static bool is_dead(struct look *l, vaddr addr, uint16_t flags, int branches);

static bool is_dead_at_return(const struct flagscan *s, vaddr addr)
{
	uint32_t f = prog_find_fn(s->prog, addr);

	return !s->all_live && f != NO_FN && !s->returns_live[f];
}

/* The CFA is rsp + 8 at addr. */
static bool has_frame_of_entry(const struct cfi *cfi, vaddr addr)
{
	enum { RSP = 7 };
	uint32_t f = cfi_find(cfi, addr);

	if (f == UINT32_MAX || !cfi->fde[f].understood || !cfi->fde[f].nrow)
		return false;
	const struct cfi_row *row = cfi->rows + cfi->fde[f].row;
	uint32_t i = 0;

	while (i + 1 < cfi->fde[f].nrow && row[i + 1].addr <= addr)
		i++;
	const struct cfi_state *s = &cfi->state[row[i].state];
	return !s->cfa_is_expr && s->cfa_reg == RSP && s->cfa_off == 8;
}

/* Behind an instruction at `addr` that leads to `target` or goes on at `next`. */
static bool is_dead_behind(struct look *l, const struct insn *insn, vaddr addr, vaddr target,
			   uint16_t flags, int branches)
{
	vaddr next = addr + insn->len;

	switch (insn->kind) {
	case INSN_JMP:
	case INSN_CALL:
		return is_dead(l, target, flags, branches);
	case INSN_JCC:
	case INSN_LOOP:
		return branches < MAX_BRANCHES && is_dead(l, target, flags, branches + 1) &&
		       is_dead(l, next, flags, branches + 1);
	case INSN_ICALL:
	case INSN_TRAP:
		return true;
	case INSN_IJMP:
		return insn->field != 0 || has_frame_of_entry(&l->s->prog->cfi, addr);
	case INSN_RET:
		return is_dead_at_return(l->s, addr);
	default:
		return false;
	}
}

static bool is_syscall(const uint8_t *code)
{
	return code[0] == 0x0f && (code[1] == 0x05 || code[1] == 0x34);
}

static bool is_dead(struct look *l, vaddr addr, uint16_t flags, int branches)
{
	const struct image *img = &l->s->prog->img;
	struct insn insn;
	vaddr target;

	while (l->steps-- > 0) {
		struct bytes code = image_is_exec(img, addr) ? image_rest(img, addr) :
							       (struct bytes){ 0 };

		if (!code.p || !insn_decode(code, addr, &insn, &target) ||
		    is_syscall(code.p))
			return false;
		if (insn.kind != INSN_NOP) {
			struct flags f = flags_of((struct bytes){ code.p, insn.len });

			if (f.reads & flags)
				return false;
			flags &= (uint16_t)~f.writes;
		}
		if (flags == 0)
			return true;
		if (insn.kind != INSN_PLAIN && insn.kind != INSN_NOP)
			return is_dead_behind(l, &insn, addr, target, flags, branches);
		addr += insn.len;
	}
	return false;
}

bool flagscan_is_dead(const struct flagscan *s, vaddr addr)
{
	struct look l = { .s = s, .steps = MAX_STEPS };

	return is_dead(&l, addr, COUNTED, 0);
}

static void set_live(struct flagscan *s, vaddr callee)
{
	uint32_t f = prog_find_fn(s->prog, callee);

	if (f == NO_FN || s->returns_live[f])
		return;
	s->returns_live[f] = s->changed = true;
}

/* Of the code [addr, addr + len): what its calls say of returns; `leaves`: returns of what it
 * jumps to are returns of its own, at which flags are live. */
static void look_at_calls(struct flagscan *s, vaddr addr, uint64_t len, bool leaves)
{
	const struct image *img = &s->prog->img;
	struct insn insn;
	vaddr target;

	for (vaddr end = addr + len; addr < end; addr += insn.len) {
		if (!insn_decode(image_rest(img, addr), addr, &insn, &target)) {
			insn.len = 1;
			continue;
		}
		if (leaves && insn_is_branch(&insn) && insn.kind != INSN_CALL)
			set_live(s, target);
		if (insn.kind == INSN_CALL && !flagscan_is_dead(s, addr + insn.len))
			set_live(s, target);
		if (insn.kind == INSN_ICALL && !insn.field && !s->all_live &&
		    !flagscan_is_dead(s, addr + insn.len))
			s->all_live = s->changed = true;
	}
}

const struct flagscan *flagscan_new(const struct prog *prog, struct arena *a)
{
	struct flagscan *s = arena_alloc(a, sizeof(*s));

	*s = (struct flagscan){ .prog = prog, .changed = true };
	s->returns_live = arena_array(a, prog->nfn, sizeof(*s->returns_live));
	while (s->changed) {
		s->changed = false;
		for (uint32_t i = 0; i < prog->cfi.nfde; i++) {
			const struct fde *fde = &prog->cfi.fde[i];
			uint32_t f = prog_find_fn(prog, fde->addr);

			look_at_calls(s, fde->addr, fde->len,
				      f != NO_FN && s->returns_live[f]);
		}
	}
	return s;
}
