/* watched.h - finds functions whose inner addresses other code compares with the PC; internal
 * to PostMorph */
#ifndef POSTMORPH_REFS_WATCHED_H
#define POSTMORPH_REFS_WATCHED_H

#include "postmorph/ir/text.h"

/* A lea of another function forms that address. */
void watched_note_formed(struct text *t, vaddr place);
/* Code outside of the function, if it is one, has the address of an instruction in its
 * middle. */
void watched_note_inside(struct text *t, vaddr place);
/* No address, in code linked to a fixed one: it looks like a mask, a round number or text. */
bool watched_is_number(const struct insn *insn, const uint8_t *code, uint64_t value);
/* Code linked to a fixed address has the constant, and is that of the same function if `own`;
 * if that is no number, it is the address. */
void watched_note_constant(struct text *t, const struct insn *insn, const uint8_t *code,
			   uint64_t value, bool own);
/* Code of function `by`, linked to a fixed address, asks what lies before and after that
 * address, of 64 bits if `wide`. */
void watched_note_bound(struct text *t, uint32_t by, vaddr value, bool wide);
/* Code asks what lies before and after this entry. */
void watched_note_order(struct text *t, vaddr entry);
/* Code reads or writes memory by that address, or calculates with it: if it is that of the
 * first bytes of a function, or close by, the function stays. */
void watched_note_read(struct text *t, vaddr place);
/* The function's own code forms the address.  Where one of its calls returns to, that is as
 * from outside; of other places it is judged once all jumps are known. */
void watched_note_own(struct text *t, vaddr place);
/* A relocation puts the address into the word at `at`. */
void watched_note_word(struct text *t, vaddr at, vaddr place);
void watched_judge(struct text *t);

#endif
