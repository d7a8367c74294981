/* references.h - lists every place that holds or forms the address of a function or a label;
 * internal to PostMorph */
#ifndef POSTMORPH_REFS_REFERENCES_H
#define POSTMORPH_REFS_REFERENCES_H

#include "postmorph/ir/text.h"

struct err;

/* A lea of `user` forms an address. */
void references_note(struct text *t, const struct fn *user, const struct insn *lea);
/* The same of what was found outside of all functions, or hidden in one. */
void references_note_found(struct text *t, const struct insn *lea, const uint8_t *code,
			   vaddr at);
/* The lea forms an address to compare by order or to calculate with. */
bool references_asks(const struct text *t, const struct insn *lea);
/* An instruction of a program linked to a fixed address has the constant. */
void references_note_constant(struct text *t, const struct insn *insn, const uint8_t *code,
			      vaddr at, uint64_t value);
/* `last` ends a range of `fn`. */
void references_note_end(struct text *t, const struct fn *fn, const struct insn *last);
/* Marks what 32-bit words of data may encode as stray. */
void references_mark_words(struct text *t);
/* prog->ref[], fn->pointers and fn->sealed, once all marks are there. */
int references_find(struct text *t, struct err *err);

#endif
