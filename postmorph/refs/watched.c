/* watched.c - finds functions whose addresses other code compares with the interrupted PC
 *
 * The handler of a signal knows where the program was interrupted, and may compare that with
 * the addresses of two labels.  The C library does so, since 2.41, to find out whether a thread
 * that is to be cancelled waits in a system call; Java does so to let a load fail.  An image
 * has other addresses, of which such a handler knows nothing.  So the function stays where it
 * is.  One of these shows that a function is watched:
 *
 *   inside   code of another function, or that no FDE covers, forms the address of an
 *            instruction in its middle, by a lea;
 *   order    code asks whether something is above or below its entry, or how far above;
 *   held     a relocation puts the address of an instruction in its middle into data, and it
 *            has no jump that could go there.
 *
 * A jump into the middle of a function asks nothing: what arrives there goes on in the
 * original.  Plain words and constants of programs linked to a fixed address, which are mostly
 * numbers and text, say nothing either: that would keep one byte in twenty of large programs
 * where it is.
 *
 * Tested by tests/unit/postmorph/test_analyze.c (a_function_that_others_look_for_stays).
 */
#include "postmorph/refs/watched.h"

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

void watched_note_order(struct text *t, vaddr entry)
{
	stay(t, prog_find_fn(t->prog, entry));
}

void watched_note_held(struct text *t, vaddr place)
{
	if (inside_of(t, place) != NO_FN)
		vec_push(t->scratch, &t->held, place);
}

void watched_judge(struct text *t)
{
	for (uint32_t i = 0; i < t->held.n; i++) {
		uint32_t fn = prog_find_fn(t->prog, t->held.v[i]);

		if (t->prog->fn[fn].kept && !fn_has_open_jump(&t->prog->fn[fn]))
			stay(t, fn);
	}
}
