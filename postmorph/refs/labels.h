/* labels.h - decides which pointers to labels in functions may lead to images; internal to
 * PostMorph */
#ifndef POSTMORPH_REFS_LABELS_H
#define POSTMORPH_REFS_LABELS_H

#include "postmorph/ir/text.h"

/* fn->labels, and which references to labels stay, once prog->ref[] is there. */
void labels_judge(struct text *t);

#endif
