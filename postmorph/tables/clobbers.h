/* clobbers.h - finds out which registers a function overwrites; internal to PostMorph */
#ifndef POSTMORPH_TABLES_CLOBBERS_H
#define POSTMORPH_TABLES_CLOBBERS_H

#include "postmorph/ir/text.h"

/* Caller-saved registers that a call of `entry` is known to overwrite on some path: bit i is
 * register i.  Keeps what it finds in text.clobbers[]. */
uint16_t clobbers_of(struct text *t, vaddr entry);

#endif
