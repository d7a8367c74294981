/* flagscan.c - looks ahead in the original's code for who reads the flags first
 *
 * WAYS      go on through direct jumps, both ways of a branch, and into the callee of a direct
 *           call.  By the ABI no flag is read by code that is reached through a pointer or in
 *           another module, before it has written it: a computed jump where the stack is as
 *           at the function's entry is a tail call, or goes on where something leads inside
 *           of the function (a table, a pointer to a label): compilers keep flags across
 *           those.  A trap ends the way: what a handler finds in the flags of its context is
 *           not looked at.  Behind any other computed jump, and a system call, which hands the
 *           flags to the program in %r11, flags count as read.  So they do where the looking
 *           ahead ends.
 *
 * RETURNS   By the ABI nobody reads flags behind a call, either.  Assembly does not always keep
 *           to that: flags are live at the returns of a function if they are live behind a call
 *           of it, or of one that jumps to it, and at all returns if they are behind a call
 *           through a pointer.  A read must have been found for that where the pointer is in
 *           memory or is jumped through, not only no end of the looking ahead; where the loader
 *           alone says what it is, flags are live at the returns of that function.  Calls that
 *           never come back are among these, followed by who knows what: that costs the callee,
 *           which does not return.
 *
 * Tested by tests/unit/editor/instrument/test_flagscan.c, and by tests/programs/counting.sh:
 * the Verifier agrees.
 */
#include "editor/instrument/flagscan.h"

#include "binary/decode.h"
#include "editor/instrument/innerways.h"
#include "lib/err.h"
#include "lib/search.h"
#include "postmorph/ir/plt.h"
#include "postmorph/machine/flags.h"
#include "postmorph/machine/memview.h"

/* Instructions that are looked at, branches that are; chosen, not measured.  The Verifier looks
 * farther. */
enum { MAX_STEPS = 400, MAX_BRANCHES = 6 };
enum { COUNTED = FLAGS_ALL & ~FLAGS_CF };	/* what `inc` changes */

struct flagscan {
	const struct prog *prog;
	struct memview_file words;	/* that the loader fills */
	bool *returns_live, *returns_read;	/* [nfn] */
	const struct innerways *inner;
	bool all_live, changed;
};

/* A jump whose ways are being followed: another look at it finds nothing new. */
struct followed {
	vaddr jump;
	uint16_t flags;			/* that are not overwritten before it */
	const struct followed *before;
};

struct look {
	const struct flagscan *s;
	int steps;
	const struct followed *followed;
	bool read;			/* it ended by a read, or may have */
};

static bool is_dead(struct look *l, vaddr addr, uint16_t flags, int branches);

static bool is_dead_at_return(struct look *l, vaddr addr)
{
	const struct flagscan *s = l->s;
	uint32_t f = prog_find_fn(s->prog, addr);

	l->read |= s->all_live || f == NO_FN || s->returns_read[f];
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

/* A tail call, or a jump to where something leads inside of the function. */
static bool is_dead_at_jump(struct look *l, vaddr addr, uint16_t flags, int branches)
{
	const struct innerways *w = l->s->inner;
	uint32_t f = prog_find_fn(l->s->prog, addr);

	if (f == NO_FN || w->unclear[f] || !has_frame_of_entry(&l->s->prog->cfi, addr)) {
		l->read = true;
		return false;
	}
	for (const struct followed *x = l->followed; x; x = x->before)
		if (x->jump == addr && (flags & ~x->flags) == 0)
			return true;
	const struct followed here = { addr, flags, l->followed };
	bool dead = branches < MAX_BRANCHES;
	l->followed = &here;
	for (uint32_t i = innerways_first(w, f); i < w->n && w->way[i].fn == f && dead; i++)
		dead = is_dead(l, w->way[i].to, flags, branches + 1);
	l->followed = here.before;
	return dead;
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
		return insn->field != 0 || is_dead_at_jump(l, addr, flags, branches);
	case INSN_RET:
		return is_dead_at_return(l, addr);
	default:
		break;
	}
	l->read = true;
	return false;
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
		    is_syscall(code.p)) {
			l->read = true;
			return false;
		}
		if (insn.kind != INSN_NOP) {
			struct flags f = flags_of((struct bytes){ code.p, insn.len });

			if (f.reads & flags) {
				l->read = true;
				return false;
			}
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

static void set_live(struct flagscan *s, vaddr callee, bool read)
{
	uint32_t f = prog_find_fn(s->prog, callee);

	if (f == NO_FN || (s->returns_live[f] && s->returns_read[f] >= read))
		return;
	s->returns_live[f] = s->changed = true;
	s->returns_read[f] |= read;
}

/* The function of the program that the loader puts there for good; 0: none, or not known. */
static vaddr constant_function(const struct flagscan *s, vaddr slot, bool named)
{
	const struct memview_file *f = &s->words;
	uint32_t k = search_first(i, 0, f->nword, f->word[i].place < slot);
	bool constant = named || (slot >= f->relro && slot < f->relro_end);

	return constant && k < f->nword && f->word[k].place == slot ? f->word[k].value : 0;
}

/* Of what a call or jump through the slot reaches; 0: through a register, or other memory. */
static void set_pointed_live(struct flagscan *s, vaddr slot, bool read, bool sure)
{
	bool named = slot && s->prog->plt && plt_name(s->prog->plt, slot);
	vaddr function = slot ? constant_function(s, slot, named) : 0;

	if (function)
		set_live(s, function, read);
	else if (!named && (read || sure))
		s->all_live = s->changed = true;
}

static void set_reached_live(struct flagscan *s, vaddr target, bool read)
{
	vaddr slot = prog_stub_slot(s->prog, target);

	if (slot)
		set_pointed_live(s, slot, read, false);
	else
		set_live(s, target, read);
}

/* Of the code [addr, addr + len) of function f: what its calls say of returns.  Returns of what
 * it jumps to are its own. */
static void look_at_calls(struct flagscan *s, vaddr addr, uint64_t len, uint32_t f)
{
	const struct image *img = &s->prog->img;
	uint8_t last = INSN_TRAP;		/* but for NOPs */
	struct insn insn;
	vaddr target;

	for (vaddr end = addr + len; addr < end; addr += insn.len) {
		if (!insn_decode(image_rest(img, addr), addr, &insn, &target)) {
			insn.len = 1;
			continue;
		}
		last = insn.kind == INSN_NOP ? last : insn.kind;
		bool call = insn.kind == INSN_CALL || insn.kind == INSN_ICALL;
		bool leaves = f != NO_FN && s->returns_live[f];
		struct look l = { .s = s, .steps = MAX_STEPS,
				  .read = !call && leaves && s->returns_read[f] };
		if (s->all_live ||
		    !(call ? !is_dead(&l, addr + insn.len, COUNTED, 0) : leaves))
			continue;
		if (insn.kind == INSN_ICALL || insn.kind == INSN_IJMP)
			set_pointed_live(s, insn.field ? target : 0, l.read,
					 call && !insn.field);
		else if (insn_is_branch(&insn))
			set_reached_live(s, target, l.read);
	}
	/* What runs into the next function returns from that; what ends with a call ends with
	 * one that does not come back. */
	if (f != NO_FN && s->returns_live[f] &&
	    (last == INSN_PLAIN || last == INSN_JCC || last == INSN_LOOP))
		set_live(s, addr, s->returns_read[f]);
}

const struct flagscan *flagscan_new(const struct prog *prog, struct arena *a)
{
	struct flagscan *s = arena_alloc(a, sizeof(*s));
	struct err ignored;

	*s = (struct flagscan){ .prog = prog, .changed = true };
	/* without words all that is called through a pointer may be anything */
	bool known = memview_open(&prog->img, a, &s->words, &ignored) == 0;
	if (!known)
		s->words.nword = 0;
	s->returns_live = arena_array(a, prog->nfn, sizeof(*s->returns_live));
	s->returns_read = arena_array(a, prog->nfn, sizeof(*s->returns_read));
	s->inner = innerways_find(prog, known ? &s->words : NULL, a);
	while (s->changed) {
		s->changed = false;
		for (uint32_t i = 0; i < prog->cfi.nfde; i++) {
			const struct fde *fde = &prog->cfi.fde[i];
			uint32_t f = prog_find_fn(prog, fde->addr);

			look_at_calls(s, fde->addr, fde->len, f);
		}
	}
	return s;
}
