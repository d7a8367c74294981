/* labels.h - which labels inside of functions may lead to their images; internal to PostMorph */
#ifndef POSTMORPH_REFS_LABELS_H
#define POSTMORPH_REFS_LABELS_H

#include "postmorph/ir/text.h"

/* fn->labels, and which references to labels stay, once prog->ref[] is there. */
void labels_judge(struct text *t);

#endif
