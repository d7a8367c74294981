/* cutlabels.h - labels that calculated jumps may go to keep entry jumps out; internal to
 * PostMorph */
#ifndef POSTMORPH_REFS_CUTLABELS_H
#define POSTMORPH_REFS_CUTLABELS_H

#include "postmorph/ir/text.h"

/* A function that forms an address inside of itself and has an indirect jump may go by the
 * distance between two labels, of which nothing tells where it leads: to any instruction at
 * which the stack is as it is at the jump.  Those at the function's start are marked as targets
 * of tables, so that no entry jump is laid over them. */
void cutlabels_guard(const struct text *t, const struct fn *fn);

#endif
