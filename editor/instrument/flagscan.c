/* flagscan.c - looks ahead in the original's code for who reads the flags first
 *
 * WAYS      go on through direct jumps, both ways of a branch, and into the callee of a direct
 *           call.  By the ABI no flag is read by code that is reached through a pointer or in
 *           another module, before it has written it, so a computed jump that leaves its
 *           function ends the way.  It may go on inside as well, for compilers keep flags
 *           across those: where tables are known, all that they lead to is looked at; where
 *           there may be labels (innerways.h), and behind a jump of which nothing is known, the
 *           way is open.  So are all computed jumps where something leads to what begins by
 *           reading flags: that is a label, though it stands where a function would; and a jump
 *           without a known table to what was calculated in a register.  A system call, which
 *           hands the flags to the program in %r11, is a read, as is the end of the looking
 *           ahead; a long way is open, and where something leads to one that does not write
 *           flags for long, that is a label.  A trap ends the way where nothing stands behind
 *           it: else who handles its signal may go on there, but what he finds in the flags of
 *           its context is not looked at.
 *
 * RETURNS   By the ABI nobody reads flags behind a call, either.  Assembly does not always keep
 *           to that: flags are live at the returns of a function if they are live behind a call
 *           of it, or of one that jumps to it, and at all returns if they are behind a call
 *           through a pointer, or of code without an FDE.  A read must have been found for
 *           that, not only an open way; where the loader alone says what the pointer is,
 *           flags are live at the returns of that function.  Calls that never come back are
 *           among these, followed by who knows what: that costs the callee, which does not
 *           return.
 *
 * Both what is live at returns and what is live inside of functions grows, from nothing, until
 * no more is found.
 *
 * Tested by tests/unit/editor/instrument/test_flagscan.c, and by tests/programs/counting.sh:
 * the Verifier agrees.
 */
#include "editor/instrument/flagscan.h"

#include <stdlib.h>
#include <string.h>

#include "binary/decode.h"
#include "editor/instrument/innerways.h"
#include "lib/blockmap.h"
#include "lib/err.h"
#include "lib/search.h"
#include "postmorph/ir/plt.h"
#include "postmorph/machine/flags.h"
#include "postmorph/machine/memview.h"

/* Instructions and branches of a way, as far as the Verifier goes, who would find reads that
 * are farther; and instructions of all of them, where it goes on.  Chosen, not measured. */
enum { MAX_WAY = 1000, MAX_BRANCHES = 10, MAX_STEPS = 2000 };
/* Instructions that are looked at in all, for each byte of code, and besides; programs of
 * distributions take 3 %, node all of them. */
enum { STEPS_A_BYTE = 64, MORE_STEPS = 1000000 };
enum { COUNTED = FLAGS_ALL & ~FLAGS_CF };	/* what `inc` changes */

/* What becomes of the flags; of two ways the greater one. */
enum fate { OVERWRITTEN, OPEN, READ };

struct flagscan {
	const struct prog *prog;
	struct memview_file words;	/* that the loader fills */
	/* [nfn] at its returns; where its jump tables lead */
	uint8_t *returns, *tables;
	const struct innerways *inner;
	struct listed {
		vaddr addr;
		bool by_table, direct;	/* ... whose address is in the code right there */
		bool calculated;	/* its target, maybe; of others */
	} *jump;		/* [njump] computed jumps that functions list, ascending */
	uint32_t njump;
	bool odd;		/* flagscan_leads_to_reads() */
	int64_t *left;		/* steps */
	bool all_live, changed;
};

struct look {
	const struct prog *prog;
	const struct flagscan *s;	/* NULL: only what instructions read counts */
	int steps;
};

struct way {			/* what has been gone of one */
	uint16_t flags;			/* not overwritten yet */
	uint16_t steps, branches;
};

static enum fate look_at(struct look *l, vaddr addr, struct way way);

static enum fate fate_at_return(const struct flagscan *s, vaddr addr)
{
	uint32_t f = s ? prog_find_fn(s->prog, addr) : NO_FN;

	return !s ? OPEN : s->all_live || f == NO_FN ? READ : s->returns[f];
}

/* The function of the program that the loader puts there for good; 0: none, or not known. */
static vaddr constant_function(const struct flagscan *s, vaddr slot, bool named)
{
	const struct memview_file *f = &s->words;
	uint32_t k = search_first(i, 0, f->nword, f->word[i].place < slot);
	bool constant = named || (slot >= f->relro && slot < f->relro_end);

	return constant && k < f->nword && f->word[k].place == slot ? f->word[k].value : 0;
}

static bool is_entry(const struct flagscan *s, vaddr addr)
{
	uint32_t f = addr ? prog_find_fn(s->prog, addr) : NO_FN;

	return f != NO_FN && s->prog->fn[f].entry == addr;
}

static bool is_named(const struct flagscan *s, vaddr slot)
{
	return slot && s->prog->plt && plt_name(s->prog->plt, slot);
}

static const struct listed *find_listed(const struct flagscan *s, vaddr addr)
{
	uint32_t k = search_first(i, 0, s->njump, s->jump[i].addr < addr);

	return k < s->njump && s->jump[k].addr == addr ? &s->jump[k] : NULL;
}

static enum fate greater(enum fate a, enum fate b)
{
	return a > b ? a : b;
}

/* `slot`: the jump is through that word; 0: through a register, or memory anywhere. */
static enum fate fate_at_jump(const struct flagscan *s, vaddr addr, vaddr slot)
{
	uint32_t f = s ? prog_find_fn(s->prog, addr) : NO_FN;

	if (!s)
		return OPEN;
	if (slot && (f == NO_FN || s->prog->fn[f].skip == SKIP_PLT || is_named(s, slot) ||
		     is_entry(s, constant_function(s, slot, false))))
		return OVERWRITTEN;
	const struct listed *jump = find_listed(s, addr);
	if (f == NO_FN || !(slot || jump))
		return OPEN;
	bool known = jump && jump->by_table ? jump->direct || !s->inner->unclear[f]
					    : !s->inner->unclear[f] && !s->inner->loose[f] &&
					      !(jump && jump->calculated);
	return greater(s->tables[f], known && !s->odd ? OVERWRITTEN : OPEN);
}

/* What is farther away than is looked at may read. */
static enum fate too_far(const struct look *l)
{
	return l->s ? OPEN : READ;
}

/* Behind a trap there is code of the same FDE, where who handles its signal may go on. */
static bool goes_on(const struct prog *prog, vaddr next)
{
	uint32_t fde = cfi_find(&prog->cfi, next);
	struct insn insn;
	vaddr target, end;

	if (fde == UINT32_MAX)
		return false;
	end = prog->cfi.fde[fde].addr + prog->cfi.fde[fde].len;
	while (next < end && insn_decode(image_rest(&prog->img, next), next, &insn, &target) &&
	       insn.kind == INSN_NOP)
		next += insn.len;
	return next < end;
}

/* Behind an instruction at `addr` that leads to `target` or goes on at `next`. */
static enum fate look_behind(struct look *l, const struct insn *insn, vaddr addr, vaddr target,
			     struct way way)
{
	vaddr next = addr + insn->len;
	enum fate taken;

	switch (insn->kind) {
	case INSN_JMP:
	case INSN_CALL:
		return look_at(l, target, way);
	case INSN_JCC:
	case INSN_LOOP:
		if (way.branches++ == MAX_BRANCHES)
			return too_far(l);
		taken = look_at(l, target, way);
		return taken == READ ? READ : greater(taken, look_at(l, next, way));
	case INSN_ICALL:
		return OVERWRITTEN;
	case INSN_TRAP:
		return goes_on(l->prog, next) ? look_at(l, next, way) : OVERWRITTEN;
	case INSN_IJMP:
		return fate_at_jump(l->s, addr, insn->field ? target : 0);
	case INSN_RET:
		return fate_at_return(l->s, addr);
	default:
		return l->s ? READ : OPEN;
	}
}

static enum fate look_at(struct look *l, vaddr addr, struct way way)
{
	const struct image *img = &l->prog->img;
	struct insn insn;
	vaddr target;

	for (; way.steps < MAX_WAY; way.steps++) {
		struct bytes code = image_is_exec(img, addr) ? image_rest(img, addr) :
							       (struct bytes){ 0 };

		if (l->steps-- <= 0)
			return READ;
		if (!code.p || !insn_decode(code, addr, &insn, &target) ||
		    insn_calls_system(code, insn.len))
			return l->s ? READ : OPEN;
		if (insn.kind != INSN_NOP) {
			struct flags f = flags_of((struct bytes){ code.p, insn.len });

			if (f.reads & way.flags)
				return READ;
			way.flags &= (uint16_t)~f.writes;
		}
		if (way.flags == 0)
			return OVERWRITTEN;
		if (insn.kind != INSN_PLAIN && insn.kind != INSN_NOP) {
			way.steps++;
			return look_behind(l, &insn, addr, target, way);
		}
		addr += insn.len;
	}
	return too_far(l);
}

static enum fate fate_from(const struct flagscan *s, vaddr addr)
{
	struct look l = { s->prog, s, MAX_STEPS };

	if (*s->left <= 0)
		return READ;
	enum fate fate = look_at(&l, addr, (struct way){ .flags = COUNTED });
	*s->left -= MAX_STEPS - l.steps;
	return fate;
}

/* Who has no end is taken for one that reads. */
bool flagscan_leads_to_reads(const struct prog *prog, const struct innerways *w)
{
	int64_t left = MORE_STEPS + STEPS_A_BYTE * (int64_t)prog->img.text.n;

	for (uint32_t i = 0; i < w->nnamed; i++) {
		struct look l = { prog, NULL, MAX_STEPS };

		if (left <= 0 ||
		    look_at(&l, w->named[i], (struct way){ .flags = FLAGS_ALL }) == READ)
			return true;
		left -= MAX_STEPS - l.steps;
	}
	return false;
}

bool flagscan_is_dead(const struct flagscan *s, vaddr addr)
{
	return fate_from(s, addr) == OVERWRITTEN;
}

static void grow(struct flagscan *s, uint8_t *fate, enum fate to)
{
	if (to <= *fate)
		return;
	*fate = (uint8_t)to;
	s->changed = true;
}

static void grow_returns(struct flagscan *s, vaddr callee, enum fate to)
{
	uint32_t f = prog_find_fn(s->prog, callee);

	if (f != NO_FN)
		grow(s, &s->returns[f], to);
	else if (to == READ && !s->all_live)	/* it may jump to any */
		s->all_live = s->changed = true;
}

/* Of what a call or jump through the slot reaches; 0: through a register, or other memory. */
static void grow_pointed(struct flagscan *s, vaddr slot, enum fate to)
{
	bool named = is_named(s, slot);
	vaddr function = slot ? constant_function(s, slot, named) : 0;

	if (function)
		grow_returns(s, function, to);
	else if (!named && to == READ)
		s->all_live = s->changed = true;
}

static void grow_reached(struct flagscan *s, vaddr target, enum fate to)
{
	vaddr slot = prog_stub_slot(s->prog, target);

	if (slot)
		grow_pointed(s, slot, to);
	else
		grow_returns(s, target, to);
}

/* Of the code [addr, addr + len) of function f: what its calls say of returns.  Returns of what
 * it jumps to are its own. */
static void look_at_calls(struct flagscan *s, vaddr addr, uint64_t len, uint32_t f)
{
	const struct image *img = &s->prog->img;
	uint8_t last = INSN_TRAP;		/* but for NOPs */
	struct insn insn;
	vaddr target;

	for (vaddr end = addr + len; addr < end && !s->all_live; addr += insn.len) {
		if (!insn_decode(image_rest(img, addr), addr, &insn, &target)) {
			insn.len = 1;
			continue;
		}
		last = insn.kind == INSN_NOP ? last : insn.kind;
		bool call = insn.kind == INSN_CALL || insn.kind == INSN_ICALL;
		enum fate own = f == NO_FN ? OVERWRITTEN : s->returns[f];
		enum fate to = call ? fate_from(s, addr + insn.len) : own;

		s->all_live |= --*s->left <= 0;
		if (to == OVERWRITTEN)
			continue;
		if (insn.kind == INSN_ICALL || insn.kind == INSN_IJMP)
			grow_pointed(s, insn.field ? target : 0, to);
		else if (insn_is_branch(&insn))
			grow_reached(s, target, to);
	}
	/* What runs into the next function returns from that; what ends with a call ends with
	 * one that does not come back. */
	if (f != NO_FN && (last == INSN_PLAIN || last == INSN_JCC || last == INSN_LOOP))
		grow_returns(s, addr, s->returns[f]);
}

static void look_at_tables(struct flagscan *s, uint32_t f)
{
	const struct innerways *w = s->inner;

	for (uint32_t i = innerways_first(w, f); i < w->n && w->way[i].fn == f; i++)
		if (s->tables[f] < READ)
			grow(s, &s->tables[f], fate_from(s, w->way[i].to));
}

/* Once more through all functions; back and forth, since what grows goes from one to the next
 * in either direction. */
static void look_at_all(struct flagscan *s, bool back)
{
	const struct prog *prog = s->prog;
	uint32_t nfde = prog->cfi.nfde;

	for (uint32_t i = 0; i < nfde; i++) {
		const struct fde *fde = &prog->cfi.fde[back ? nfde - 1 - i : i];

		look_at_calls(s, fde->addr, fde->len, prog_find_fn(prog, fde->addr));
	}
	for (uint32_t i = 0; i < prog->nfn; i++)
		look_at_tables(s, back ? prog->nfn - 1 - i : i);
}

static int by_address(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* [REX] OP DISP32(,REGISTER,8): the displacement, else 0. */
static vaddr indexed_operand(struct bytes code, uint8_t op, bool rex)
{
	enum { MODRM = 1, SIB = 2, DISP = 3, LEN = 7, NO_BASE = 0x04, BY_8 = 0xc5 };
	uint32_t disp;

	if (rex) {
		if (code.n != LEN + 1 || (code.p[0] & 0xf8) != 0x48)
			return 0;
		code.p++;
	} else if (code.n != LEN) {
		return 0;
	}
	if (code.p[0] != op || (code.p[MODRM] & 0xc7) != NO_BASE ||
	    (code.p[SIB] & BY_8) != BY_8)
		return 0;
	memcpy(&disp, code.p + DISP, sizeof(disp));
	return disp;
}

/* It jumps through an entry of a table of addresses, or the instruction in front of it has
 * loaded that, and has the table's address. */
static bool is_direct(const struct prog *prog, const struct fn *fn, uint32_t i)
{
	const struct block *b = &fn->block[search_first(k, 0, fn->nblock,
							fn->block[k].insn <= i) - 1];
	const struct insn *jump = &fn->insn[i];
	struct bytes code = { prog_insn_bytes(prog, jump), jump->len };
	vaddr table = indexed_operand(code, 0xff, false);

	if (b->table == NO_TABLE || fn->table[b->table].kind != BLOCKMAP_TABLE_ABS64)
		return false;
	if (!table && i > b->insn && code.n == 2) {
		struct bytes load = { prog_insn_bytes(prog, jump - 1), jump[-1].len };

		table = indexed_operand(load, 0x8b, true);
		if ((load.p[0] & 4) || (load.p[2] >> 3 & 7) != (code.p[1] & 7))
			return false;
	}
	return table && table == fn->table[b->table].addr;
}

static void list_jumps(struct flagscan *s, struct arena *a)
{
	const struct prog *prog = s->prog;
	uint32_t n = 0;

	for (uint32_t f = 0; f < prog->nfn; f++)
		n += prog->fn[f].njump;
	s->jump = arena_array(a, n, sizeof(*s->jump));
	for (uint32_t f = 0; f < prog->nfn; f++) {
		const struct fn *fn = &prog->fn[f];
		const bool *calculated = s->inner->calculated[f];

		for (uint32_t i = 0; i < fn->njump; i++) {
			const struct ijump *j = &fn->jump[i];
			s->jump[s->njump++] = (struct listed){
				prog_insn_addr(prog, &fn->insn[j->insn]),
				j->kind == JUMP_TABLE,
				is_direct(prog, fn, j->insn),
				!calculated || calculated[i] };
		}
	}
	if (n)
		qsort(s->jump, n, sizeof(*s->jump), by_address);
}

const struct flagscan *flagscan_new(const struct prog *prog, struct arena *a)
{
	struct flagscan *s = arena_alloc(a, sizeof(*s));
	struct err ignored;
	bool back = false;

	*s = (struct flagscan){ .prog = prog, .changed = true };
	/* without words all that is called through a pointer may be anything */
	bool known = memview_open(&prog->img, a, &s->words, &ignored) == 0;
	if (!known)
		s->words.nword = 0;
	s->returns = arena_array(a, prog->nfn, sizeof(*s->returns));
	s->tables = arena_array(a, prog->nfn, sizeof(*s->tables));
	s->inner = innerways_find(prog, known ? &s->words : NULL, a);
	list_jumps(s, a);
	s->odd = flagscan_leads_to_reads(prog, s->inner);
	s->left = arena_alloc(a, sizeof(*s->left));
	*s->left = MORE_STEPS + STEPS_A_BYTE * (int64_t)prog->img.text.n;
	for (; s->changed; back = !back) {
		s->changed = false;
		look_at_all(s, back);
	}
	return s;
}
