/* watched.c - finds functions whose addresses other code compares with the interrupted PC
 *
 * The handler of a signal knows where the program was interrupted, and may compare that with
 * the addresses of two labels.  The C library does so, since 2.41, to find out whether a thread
 * that is to be cancelled waits in a system call; Java does so to let a load fail.  An image
 * has other addresses, of which such a handler knows nothing.  So the function stays where it
 * is.  One of these shows that a function is watched:
 *
 *   inside   code of another function forms the address of a byte in its middle, or of the
 *            padding behind it, by a lea: of an instruction, or of a bound that compilers have
 *            moved (`pc >= f && pc < f + 30` forms f + 30 alone); code that no FDE covers, that
 *            of an instruction;
 *   order    code asks whether something is above or below its entry, or how far above; by
 *            register, or by a constant, which can be a bound of any byte as well;
 *   held     a relocation puts the address of an instruction in its middle into data, or its
 *            own code forms it, as for a handler or for a callee that asks who called it, and
 *            it has no jump that could go there.  What a section of its own holds, no function
 *            jumps by: whatever its jumps are, it is watched.  The address where it stands, or
 *            that behind itself, code forms as a base (large model), or to tell where it is
 *            (sanitizers): that is no label;
 *   returns  its own code forms the address behind one of its calls, and may compare it with
 *            what the call has left below the stack (speculative load hardening), whatever
 *            its jumps are;
 *   symbol   a dynamic symbol has the address of an instruction in its middle: code of any
 *            module may read it from the GOT;
 *   constant in a program linked to a fixed address, code of another function has the address
 *            as a constant, by an instruction that can take one, and it does not look like a
 *            mask, a round number or text (watched_note_constant()).
 *
 * A jump into the middle of a function asks nothing: what arrives there goes on in the
 * original.  Words of data that no relocation names: innerwords.c.
 *
 * Tested by tests/unit/postmorph/test_analyze.c (a_function_that_others_look_for_stays).
 */
#include "postmorph/refs/watched.h"

#include "postmorph/refs/innerwords.h"

static void stay(struct text *t, uint32_t fn)
{
	if (fn != NO_FN && t->prog->fn[fn].skip == SKIP_NONE)
		t->prog->fn[fn].skip = SKIP_WATCHED;
}

/* The function in whose middle an instruction begins there; NO_FN if none does. */
static uint32_t inside_of(const struct text *t, vaddr place)
{
	if (!text_holds(t, place) || !(*text_mark(t, place) & MARK_INSN))
		return NO_FN;
	uint32_t fn = prog_find_fn(t->prog, place);

	return fn != NO_FN && t->prog->fn[fn].entry != place ? fn : NO_FN;
}

void watched_note_inside(struct text *t, vaddr place)
{
	stay(t, inside_of(t, place));
}

void watched_note_formed(struct text *t, vaddr place)
{
	enum { PADDING = 16 };
	uint32_t fn = NO_FN;
	vaddr behind = place;

	if (!text_holds(t, place))
		return;
	fn = prog_find_fn(t->prog, place);
	if (fn != NO_FN) {
		if (t->prog->fn[fn].entry != place)
			stay(t, fn);
		return;
	}
	/* what follows is a function soon: so there are no data */
	while (behind < place + PADDING && prog_find_fn(t->prog, behind) == NO_FN)
		behind++;
	for (vaddr at = place; behind < place + PADDING && fn == NO_FN && at > place - PADDING;)
		fn = prog_find_fn(t->prog, --at);
	stay(t, fn);
}

/* Letters: a short string that is copied by a register. */
static bool is_text(uint64_t value)
{
	for (; value; value >>= 8)
		if ((value & 0xff) < ' ' || (value & 0xff) > '~')
			return false;
	return true;
}

/* No address: a mask, a factor, what is narrower than one, a short string.  The opcode stands
 * behind one legacy prefix, if any, and REX. */
static bool is_number(const uint8_t *code, uint8_t len, uint64_t value)
{
	enum { OPERAND_SIZE = 0x66, REX = 0x40, WIDE = 8 };
	uint8_t i = code[0] == OPERAND_SIZE, rex = 0;

	if ((code[i] & 0xf0) == REX)
		rex = code[i++];
	if (i + 1 >= len)
		return true;
	switch (code[i]) {
	case 0x0d: case 0x25: case 0x35: case 0xa9:	/* or, and, xor, test */
	case 0x69: case 0xf7:				/* imul, test */
		return true;
	case 0x05: case 0x2d: case 0x3d: case 0xc7:	/* add, sub, cmp, mov */
		return !(rex & WIDE);
	case 0x81:					/* with or, and, xor among them */
		return !(rex & WIDE) || (0x52 >> (code[i + 1] >> 3 & 7) & 1);
	default:
		return (code[i] & 0xf8) == 0xb8 && is_text(value);
	}
}

static bool is_round(uint64_t value)
{
	enum { LOW = 0xffff, ROUND = 16, FLAGS = 3 };

	return (value & LOW) < ROUND || (value & (value + 1)) == 0 ||
	       __builtin_popcountll(value) <= FLAGS;
}

bool watched_is_number(const struct insn *insn, const uint8_t *code, uint64_t value)
{
	return is_round(value) || is_number(code, insn->len, value);
}

void watched_note_constant(struct text *t, const struct insn *insn, const uint8_t *code,
			   uint64_t value, bool own)
{
	if (!watched_is_number(insn, code, value))
		(own ? watched_note_own : watched_note_inside)(t, value);
}

void watched_note_bound(struct text *t, uint32_t by, vaddr value, bool wide)
{
	uint32_t fn = prog_find_fn(t->prog, value);

	if (fn != NO_FN && t->prog->fn[fn].entry == value)
		watched_note_order(t, value);
	else if (fn != by && wide && !is_round(value))
		watched_note_formed(t, value);
}

void watched_note_order(struct text *t, vaddr entry)
{
	stay(t, prog_find_fn(t->prog, entry));
}

void watched_note_read(struct text *t, vaddr place)
{
	enum { WIDTH = 64, FIRST = 9 };	/* of an operand; endbr64 and the entry jump */

	for (vaddr at = place; at < place + WIDTH && text_holds(t, at); at++) {
		uint32_t fn = prog_find_fn(t->prog, at);

		if (fn == NO_FN || place >= t->prog->fn[fn].entry + FIRST)
			continue;
		if (t->prog->fn[fn].skip == SKIP_NONE)
			t->prog->fn[fn].skip = SKIP_CODE_READ;
		return;
	}
}

static void note_held(struct text *t, vaddr place)
{
	if (inside_of(t, place) != NO_FN)
		vec_push(t->scratch, &t->held, place);
}

void watched_note_own(struct text *t, vaddr place)
{
	bool returns = text_holds(t, place) && *text_mark(t, place) & MARK_RETURN;

	(returns ? watched_note_inside : note_held)(t, place);
}

void watched_note_word(struct text *t, vaddr at, vaddr place)
{
	if (inside_of(t, place) == NO_FN)
		return;
	const struct section *s = image_section_at(&t->prog->img, at);
	(s && !innerwords_is_mixed(s) ? watched_note_inside : note_held)(t, place);
}

void watched_judge(struct text *t)
{
	for (uint32_t i = 0; i < t->held.n; i++) {
		uint32_t fn = prog_find_fn(t->prog, t->held.v[i]);

		if (t->prog->fn[fn].kept &&
		    !innerwords_may_be_jumped_to(t, fn, t->held.v[i]))
			stay(t, fn);
	}
}
