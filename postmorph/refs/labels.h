/* labels.h - decides which pointers to labels in functions may lead to images; internal to
 * PostMorph */
#ifndef POSTMORPH_REFS_LABELS_H
#define POSTMORPH_REFS_LABELS_H

#include "postmorph/ir/text.h"
#include "postmorph/refs/addressuse.h"

/* fn->labels, and which references to labels stay, once prog->ref[] is there. */
void labels_judge(struct text *t);

/* How the indirect jump, an instruction of a function with blocks, comes to its target: never
 * WAY_BROUGHT. */
enum jump_way labels_way(const struct text *t, const struct fn *fn, uint32_t insn);
/* Ways lead to every block but padding, from the entry and what is held; else a jump may go to
 * what was calculated before it was put where the jump fetches it. */
bool labels_all_led(const struct text *t, const struct fn *fn);

#endif
