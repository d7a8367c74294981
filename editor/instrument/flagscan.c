/* flagscan.c - looks ahead in the original's code for who reads the flags first
 *
 * WAYS      go on through direct jumps, both ways of a branch, and into the callee of a direct
 *           call.  By the ABI no flag is read by code that is reached through a pointer or in
 *           another module, before it has written it, so a computed jump that leaves its
 *           function ends the way.  One that does not goes on where something leads inside of
 *           the function (a table, a pointer to a label), for compilers keep flags across
 *           those; if not all of that is known, flags count as read.  So they do behind a
 *           system call, which hands the flags to the program in %r11, and where the looking
 *           ahead ends.  A trap ends the way: what a handler finds in the flags of its context
 *           is not looked at.
 *
 * RETURNS   By the ABI nobody reads flags behind a call, either.  Assembly does not always keep
 *           to that: flags are live at the returns of a function if they are live behind a call
 *           of it, or of one that jumps to it, and at all returns if they are behind a call
 *           through a pointer.  A read must have been found for that where a pointer is called
 *           or jumped through, not only no end of the looking ahead; where the loader alone
 *           says what it is, flags are live at the returns of that function.  Calls that never
 *           come back are among these, followed by who knows what: that costs the callee, which
 *           does not return.
 *
 * Both what is live at returns and what is live inside of functions grows, from nothing, until
 * no more is found.
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
	/* [nfn] flags are live at its returns, behind its computed jumps; a read was found */
	bool *returns_live, *returns_read, *jumps_live, *jumps_read;
	const struct innerways *inner;
	bool all_live, changed;
};

struct look {
	const struct flagscan *s;
	int steps;
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

static bool is_dead_at_jump(struct look *l, vaddr addr)
{
	const struct flagscan *s = l->s;
	uint32_t f = prog_find_fn(s->prog, addr);

	l->read |= f == NO_FN || s->jumps_read[f];
	return f != NO_FN && !s->jumps_live[f];
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
		return insn->field != 0 || is_dead_at_jump(l, addr);
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
static void set_pointed_live(struct flagscan *s, vaddr slot, bool read)
{
	bool named = slot && s->prog->plt && plt_name(s->prog->plt, slot);
	vaddr function = slot ? constant_function(s, slot, named) : 0;

	if (function)
		set_live(s, function, read);
	else if (!named && read)
		s->all_live = s->changed = true;
}

static void set_reached_live(struct flagscan *s, vaddr target, bool read)
{
	vaddr slot = prog_stub_slot(s->prog, target);

	if (slot)
		set_pointed_live(s, slot, read);
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
			set_pointed_live(s, insn.field ? target : 0, l.read);
		else if (insn_is_branch(&insn))
			set_reached_live(s, target, l.read);
	}
	/* What runs into the next function returns from that; what ends with a call ends with
	 * one that does not come back. */
	if (f != NO_FN && s->returns_live[f] &&
	    (last == INSN_PLAIN || last == INSN_JCC || last == INSN_LOOP))
		set_live(s, addr, s->returns_read[f]);
}

/* Wherever computed jumps of function f may go on inside of it. */
static void look_behind_jumps(struct flagscan *s, uint32_t f)
{
	const struct innerways *w = s->inner;
	struct look l = { .s = s };
	bool dead = true;

	for (uint32_t i = innerways_first(w, f); i < w->n && w->way[i].fn == f; i++) {
		l.steps = MAX_STEPS;
		dead &= is_dead(&l, w->way[i].to, COUNTED, 0);
	}
	s->changed |= (!dead && !s->jumps_live[f]) || (l.read && !s->jumps_read[f]);
	s->jumps_live[f] |= !dead;
	s->jumps_read[f] |= l.read;
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
	s->jumps_live = arena_array(a, prog->nfn, sizeof(*s->jumps_live));
	s->jumps_read = arena_array(a, prog->nfn, sizeof(*s->jumps_read));
	s->inner = innerways_find(prog, known ? &s->words : NULL, a);
	for (uint32_t f = 0; f < prog->nfn; f++)
		s->jumps_live[f] = s->inner->unclear[f];
	while (s->changed) {
		s->changed = false;
		for (uint32_t i = 0; i < prog->cfi.nfde; i++) {
			const struct fde *fde = &prog->cfi.fde[i];
			uint32_t f = prog_find_fn(prog, fde->addr);

			look_at_calls(s, fde->addr, fde->len, f);
		}
		for (uint32_t f = 0; f < prog->nfn; f++)
			look_behind_jumps(s, f);
	}
	return s;
}
